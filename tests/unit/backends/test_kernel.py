"""Every kernel against the formulas of its quantity, evaluated as they are written."""

import copy
import os
import pickle
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

import armdyn
from armdyn import Robot
from armdyn.backends.kernel import Kernel
from armdyn.backends.kernels import LARGE
from armdyn.errors import ModelError, ShapeError, SingularityError, UnknownNameError
from armdyn.formulations import kinematics as kin
from armdyn.formulations.base_parameters import base_parameters
from armdyn.formulations.composite_body import mass_matrix
from armdyn.formulations.coriolis import christoffel, coriolis_matrix
from armdyn.formulations.coupling import Coordinates
from armdyn.formulations.energy import potential_energy
from armdyn.formulations.external import reaction_wrench
from armdyn.formulations.forward_dynamics import METHODS, accelerations
from armdyn.formulations.friction import friction_terms
from armdyn.formulations.lagrange_euler import homogeneous
from armdyn.formulations.newton_euler import newton_euler
from armdyn.formulations.regressor import regressor
from armdyn.model import Connection, Inertia, Mimic, assemble
from armdyn.programs.quantities import quantity_program
from armdyn.programs.request import OPTIONS, Request
from oracles import close
from strategies import random_model

TOLERANCE = 1e-10


def coupled_tree():
    """A tree with sliding, mimicking and geared joints and friction."""
    model = random_model("RPRRPRR", 31, tree=True, rotors=True, friction=True)
    follows = {
        2: Mimic("joint1", -0.7, 0.3),
        4: Mimic("joint2", 0.4, -0.1),
        6: Mimic("joint3", 1.5),
    }
    joints = [replace(j, mimic=follows.get(i)) for i, j in enumerate(model.joints)]
    return replace(model, joints=tuple(joints))


MODELS = {
    "panda": armdyn.load("panda").model,
    "puma560": armdyn.load("puma560").model,
    "stanford": armdyn.load("stanford").model,
    "tree": random_model("RRPRRP", 4, tree=True, rotors=True, friction=True),
    "coupled": coupled_tree(),
}


class Direct:
    """The quantities of a robot from the pages of `armdyn.formulations`, in NumPy."""

    def __init__(self, model, link="tool", frame="world"):
        self.model, self.at = model, Coordinates.of(model)
        self.link, self.axes = model.frame(link), None if frame == "world" else model.frame(frame)
        self.rotors = np.array([joint.rotor.reflected for joint in model.joints])
        self.still = replace(model, gravity=np.zeros(3))

    def links(self, q, qd, qdd, model=None, wrench=None):
        motion = self.at.positions(q), self.at.rates(qd), self.at.rates(qdd)
        return self.at.torques(newton_euler(model or self.model, *motion, wrench).tau)

    def rotor(self, qdd):
        return self.at.torques(self.rotors * self.at.rates(qdd))

    def inverse_dynamics(self, q, qd, qdd, wrench=None):
        links = self.links(q, qd, qdd, wrench=wrench)
        return links + self.rotor(qdd) + self.friction_torque(qd)

    def forward_dynamics(self, q, qd, tau):
        rest = tau - self.friction_torque(qd)
        return accelerations(self.model, q, qd, rest, None, "composite_body")

    def mass_matrix(self, q):
        return self.at.matrix(mass_matrix(self.model, self.at.positions(q)) + np.diag(self.rotors))

    def coriolis_matrix(self, q, qd):
        return self.at.matrix(coriolis_matrix(self.model, self.at.positions(q), self.at.rates(qd)))

    def coriolis_vector(self, q, qd):
        return self.links(q, qd, 0 * qd, self.still)

    def gravity_vector(self, q):
        return self.links(q, 0 * q, 0 * q)

    def bias(self, q, qd):
        return self.links(q, qd, 0 * qd) + self.friction_torque(qd)

    def friction_torque(self, qd):
        return self.at.torques(friction_terms(self.model, self.at.rates(qd)).total)

    def ledger(self, q, qd, qdd):
        friction, zero = friction_terms(self.model, self.at.rates(qd)), np.zeros_like(q)
        terms = [
            self.links(q, zero, qdd, self.still),
            self.links(q, qd, zero, self.still),
            self.links(q, zero, zero),
            *map(self.at.torques, (friction.viscous, friction.coulomb, friction.stribeck)),
            self.rotor(qdd),
            zero,
        ]
        return np.stack(terms, -2)

    def kinetic_energy(self, q, qd):
        return 0.5 * np.einsum("...i,...ij,...j", qd, self.mass_matrix(q), qd)

    def potential_energy(self, q):
        return potential_energy(self.model, self.at.positions(q))

    def forward_kinematics(self, q):
        frames = kin.world_frames(self.model, self.at.positions(q))
        return homogeneous(*kin.frame_in_world(frames, self.link))

    def jacobian(self, q):
        place = self.at.positions(q)
        return self.at.columns(kin.jacobian(self.model, place, self.link, self.axes))

    def jacobian_dot(self, q, qd):
        motion = self.at.positions(q), self.at.rates(qd)
        return self.at.columns(kin.jacobian_rate(self.model, *motion, self.link, self.axes))

    def regressor(self, q, qd, qdd):
        motion = self.at.positions(q), self.at.rates(qd), self.at.rates(qdd)
        return self.at.rows(regressor(self.model, *motion))

    def base_regressor(self, q, qd, qdd):
        return self.regressor(q, qd, qdd)[..., list(base_parameters(self.model).columns)]

    def inverse_dynamics_derivatives(self, q, qd, qdd):
        of_q = slopes(lambda x: self.inverse_dynamics(x, qd, qdd), q)
        return np.stack([of_q, slopes(lambda x: self.inverse_dynamics(q, x, qdd), qd)], -3)

    def inverse_dynamics_slope(self, q, qd, qdd, dq, dqd):
        both = self.inverse_dynamics_derivatives(q, qd, qdd)
        return np.einsum("...kij,...kj->...ki", both, np.stack([dq, dqd], -2))

    def forward_dynamics_derivatives(self, q, qd, tau):
        M = self.mass_matrix(q)
        torques = self.inverse_dynamics_derivatives(q, qd, self.forward_dynamics(q, qd, tau))
        solved = -np.linalg.solve(M[..., None, :, :], torques)
        return np.concatenate([solved, np.linalg.inv(M)[..., None, :, :]], -3)


def slopes(function, x, h=2e-2):
    """Derivatives (..., i, j) by the central differences of eighth order."""
    weights = (4 / 5, -1 / 5, 4 / 105, -1 / 280)
    columns = []
    for unit in np.eye(x.shape[-1]):
        ends = [(function(x + k * h * unit), function(x - k * h * unit)) for k in range(1, 5)]
        columns.append(sum(w * (a - b) for w, (a, b) in zip(weights, ends, strict=True)) / h)
    return np.stack(columns, -1)


def states(kernel, *batch, seed=3):
    """Speeds away from zero, where dry friction has no derivative."""
    rng = np.random.default_rng(seed)
    given = {name: rng.uniform(-1.5, 1.5, (*batch, n)) for name, n in kernel.inputs.items()}
    if "qd" in given:
        given["qd"] = np.copysign(0.7 + np.abs(given["qd"]), given["qd"])
    return list(given.values())


@pytest.mark.parametrize("quantity", OPTIONS)
@pytest.mark.parametrize("name", MODELS)
def test_every_quantity_is_what_its_formulas_say(name, quantity):
    model = MODELS[name]
    kernel = Kernel(model, Request(quantity))
    given = states(kernel, 3)
    expected = getattr(Direct(model), quantity)(*given)
    assert expected.shape == (3, *kernel.shape)
    # differences are exact to about 1e-10; Stribeck curves have steep derivatives
    close(
        kernel(*given),
        expected,
        1e-7 if "derivatives" in quantity or "slope" in quantity else TOLERANCE,
    )
    exact = kernel.program(*given)
    close(kernel(*given), exact, TOLERANCE)


@pytest.mark.parametrize("quantity", OPTIONS)
def test_single_precision_is_as_good_as_it_can_be(quantity):
    model = MODELS["panda"]
    kernel = Kernel(model, Request(quantity), np.float32)
    given = states(kernel, 9)
    expected = kernel.program(*given)
    found = kernel(*given)
    assert found.dtype == np.float32
    # the condition of the mass matrix of this arm is a few thousand
    close(found, expected, 2e-3 if "forward" in quantity else 1e-5)


@pytest.mark.parametrize("frame", ["world", "tool", "link2"])
@pytest.mark.parametrize("link", ["tool", "link4", "base"])
def test_frames_of_kinematics(link, frame):
    model = MODELS["coupled"]
    robot, direct = Robot(model), Direct(model, link, frame)
    for quantity in ("jacobian", "jacobian_dot"):
        kernel = robot.kernel(quantity, link=link, frame=frame)
        given = states(kernel.__self__, 4)
        close(kernel(*given), getattr(direct, quantity)(*given), TOLERANCE)
    q = given[0]
    close(robot.kernel("forward_kinematics", link=link)(q), direct.forward_kinematics(q), TOLERANCE)


@pytest.mark.parametrize("name", ["panda", "stanford", "tree", "coupled"])
@pytest.mark.parametrize("axes", ["world", "tool"])
def test_wrenches_are_arguments(name, axes):
    model = MODELS[name]
    robot, direct = Robot(model), Direct(model)
    link = model.links[1].name
    torque, motion = (
        Kernel(model, Request(f"{way}_dynamics", wrench=("tool", link), wrench_frame=axes))
        for way in ("inverse", "forward")
    )
    assert list(torque.inputs)[3:] == ["wrench on 'tool'", f"wrench on {link!r}"]
    q, qd, qdd, *wrenches = states(torque, 4)
    on = dict(zip(("tool", link), wrenches, strict=True))
    reaction = reaction_wrench(model, direct.at.positions(q), on, axes)
    expected = direct.inverse_dynamics(q, qd, qdd, reaction)
    close(torque(q, qd, qdd, *wrenches), expected, TOLERANCE)
    close(motion(q, qd, expected, *wrenches), qdd, 1e-8)
    single = robot.kernel("inverse_dynamics", wrench="tool", wrench_frame=axes)
    alone = robot.inverse_dynamics(q, qd, qdd, wrenches[0], wrench_frame=axes)
    close(single(q, qd, qdd, wrenches[0]), alone, 1e-13)


def variable():
    """Robots and quantities that a payload or gravity can be an argument of."""
    some = [name for name, (_, offered) in OPTIONS.items() if "payload" in offered]
    few = ("inverse_dynamics", "forward_dynamics", "kinetic_energy")
    return [("stanford", q) for q in some] + [
        (n, q) for n in ("panda", "tree", "coupled") for q in few
    ]


@pytest.mark.parametrize(("name", "quantity"), variable())
def test_payload_and_gravity_are_arguments(name, quantity):
    robot = Robot(MODELS[name])
    com, tensor = (0.05, -0.1, 0.2), np.diag([0.02, 0.03, 0.04]) + 0.001
    vector, field = robot.payload_vector(1.7, com, tensor), np.array([1.0, -2.0, 3.7])
    changed = robot.with_payload(1.7, com, tensor)
    options = {"payload": True}
    if "gravity" in OPTIONS[quantity][1]:
        options["gravity"], changed = True, changed.with_gravity(field)
    kernel = Kernel(robot.model, Request(quantity, **options))
    plain, other = (Kernel(r.model, Request(quantity)) for r in (robot, changed))
    given = states(plain, 3)
    tolerance = 1e-8 if "forward" in quantity else TOLERANCE
    close(kernel(*given, *[vector, field][: len(options)]), other(*given), tolerance)
    nothing = [np.zeros(10), robot.gravity][: len(options)]
    close(kernel(*given, *nothing), plain(*given), tolerance)


@pytest.mark.parametrize("method", METHODS)
def test_methods_of_forward_dynamics(method):
    model = MODELS["tree"]
    kernel = Robot(model).kernel("forward_dynamics", method=method)
    given = states(kernel.__self__, 4)
    close(kernel(*given), Direct(model).forward_dynamics(*given), 1e-9)


def test_formulations_of_inverse_dynamics():
    model = MODELS["puma560"]
    for method in ("newton_euler", "denoc", "augmented_body", "minimal"):
        kernel = Robot(model).kernel("inverse_dynamics", method=method)
        given = states(kernel.__self__, 4)
        close(kernel(*given), Direct(model).inverse_dynamics(*given), TOLERANCE)


@pytest.mark.parametrize("quantity", ["inverse_dynamics", "forward_dynamics", "bias"])
def test_friction_is_an_option(quantity):
    robot = Robot(MODELS["puma560"])
    rubbing, smooth = (robot.kernel(quantity, friction=f) for f in (True, np.False_))
    given = states(smooth.__self__, 3)
    friction = Direct(robot.model).friction_torque(given[1])
    assert np.abs(friction).min() > 0.01
    if quantity == "forward_dynamics":
        close(rubbing(*given[:2], given[2] + friction), smooth(*given), 1e-9)
    else:
        close(rubbing(*given), smooth(*given) + friction, 1e-12)


@pytest.mark.parametrize("n", [LARGE, LARGE + 1])
def test_large_robots_take_derivatives_direction_by_direction(n):
    model = random_model(("RRPR" * 5)[:n], 9, tree=True, friction=True)
    robot, direct = Robot(model), Direct(model)
    assert robot._kernels.solves_derivatives == (n <= LARGE)
    q, qd, qdd = states(Kernel(model, Request("inverse_dynamics")), 2)
    expected = direct.inverse_dynamics_derivatives(q, qd, qdd)
    found = robot.inverse_dynamics_derivatives(q, qd, qdd)
    close(np.stack([found.dq, found.dqd], -3), expected, 1e-7)
    close(found.dqdd, direct.mass_matrix(q), TOLERANCE)
    close(robot.coriolis_matrix(q, qd), direct.coriolis_matrix(q, qd), TOLERANCE)
    close(robot.christoffel(q[0]), christoffel(model, q[0]), TOLERANCE)
    tau = direct.inverse_dynamics(q, qd, qdd)
    close(robot.forward_dynamics(q, qd, tau), qdd, 1e-7)
    M = direct.mass_matrix(q)
    slopes = robot.forward_dynamics_derivatives(q, qd, tau)
    close(M @ slopes.dq, -expected[..., 0, :, :], 1e-6)
    close(M @ slopes.dqd, -expected[..., 1, :, :], 1e-6)
    close(M @ slopes.dtau, np.broadcast_to(np.eye(n), M.shape), 1e-7)
    close(robot.regressor(q, qd, qdd), direct.regressor(q, qd, qdd), TOLERANCE)


def test_forward_dynamics_takes_the_cheaper_way():
    """Whatever the robot, no method by name takes fewer operations than the one without."""
    for model in (random_model("RR", 3), MODELS["panda"], random_model("RPRRRRR", 5)):
        robot = Robot(model)
        best = robot.kernel("forward_dynamics").__self__.program.operations.total
        others = [quantity_program(model, Request("forward_dynamics", method=m)) for m in METHODS]
        assert best <= min(program.operations.total for program in others)


def massless_tip():
    links = {"base": Inertia.zero(), "arm": Inertia.from_com(1.0, (0.5, 0, 0), np.eye(3) * 0.1)}
    links["tip"] = Inertia.zero()
    joints = [
        Connection("shoulder", "revolute", "base", "arm", axis=(0, 0, 1)),
        Connection("wrist", "revolute", "arm", "tip", axis=(0, 1, 0)),
    ]
    return assemble("weak", links, joints)


def point_on_the_axis():
    """A point mass that lies on its axis when the slide is at zero."""
    links = {
        "base": Inertia.zero(),
        "rod": Inertia.zero(),
        "bob": Inertia.from_com(1.0, (0, 0, 0), np.zeros((3, 3))),
    }
    joints = [
        Connection("turn", "revolute", "base", "rod", axis=(0, 0, 1)),
        Connection("slide", "prismatic", "rod", "bob", axis=(1, 0, 0)),
    ]
    return assemble("bob", links, joints)


def test_a_singular_mass_matrix_is_not_a_number_or_an_error():
    robot = Robot(point_on_the_axis())
    q = np.array([[0.3, 0.5], [0.3, 0.0], [-1.0, -0.2]])
    zero = np.zeros_like(q)
    kernel = robot.kernel("forward_dynamics")
    found = kernel(q, zero, zero + 1)
    assert np.isfinite(found[[0, 2]]).all()
    assert np.isnan(found[1]).any()
    close(found[0], [1 / 0.25, 1.0], 1e-12)
    single = robot.kernel("forward_dynamics", dtype="float32")(q, zero, zero + 1)
    assert np.array_equal(np.isnan(single), np.isnan(found))
    with pytest.raises(SingularityError, match=r"state 1 of the batch.*'turn'"):
        robot.forward_dynamics(q, zero, zero + 1)
    with pytest.raises(SingularityError, match="'turn'"):
        robot.forward_dynamics(q[1], zero[1], zero[1])
    slopes = robot.forward_dynamics_derivatives(q[0], zero[0], zero[0])
    assert np.isfinite(slopes.dtau).all()
    with pytest.raises(SingularityError, match="'turn'"):
        robot.forward_dynamics_derivatives(q[1], zero[1], zero[1])


def test_a_joint_that_never_moves_an_inertia_is_named():
    robot, zero = Robot(massless_tip()), np.zeros(2)
    with pytest.raises(SingularityError, match="moves no inertia"):
        robot.forward_dynamics(zero, zero, zero)
    with pytest.raises(SingularityError, match="moves no inertia"):
        robot.kernel("forward_dynamics")


def test_numbers_that_are_none_go_through_the_robot():
    robot = Robot(MODELS["tree"])
    q, qd, tau = (np.ones((3, 6)) * x for x in (0.3, 0.2, 1.0))
    q[1, 0] = np.nan
    qdd = robot.forward_dynamics(q, qd, tau)
    assert np.isnan(qdd[1]).any()
    assert np.array_equal(qdd[[0, 2]], robot.forward_dynamics(q[[0, 2]], qd[[0, 2]], tau[[0, 2]]))
    assert np.isnan(robot.forward_dynamics_derivatives(q, qd, tau).dq[1]).any()
    with np.errstate(over="ignore", invalid="ignore"):
        huge = robot.forward_dynamics(q[0], 1e200 * qd[0], tau[0])
    assert not np.isfinite(huge).all()


OTHER_PROCESS = """
import pickle, sys
robot, call, kernel, q = pickle.load(sys.stdin.buffer)
for found in (robot.mass_matrix(q), call(q), kernel(q), kernel.gufunc(q)):
    print(found.tobytes().hex())
"""


@pytest.mark.parametrize("cache", ["shared", "off"])
def test_robots_and_kernels_go_to_other_processes(cache):
    robot = armdyn.load("scara")
    call = robot.kernel("mass_matrix")
    q = np.array([0.1, -0.4, 0.2, 1.0])
    done = subprocess.run(
        [sys.executable, "-c", OTHER_PROCESS],
        input=pickle.dumps((robot, call, call.__self__, q)),
        env=os.environ | ({"ARMDYN_CACHE_DIR": "off"} if cache == "off" else {}),
        capture_output=True,
        timeout=60,
        check=True,
    )
    assert done.stdout.decode().split() == [call(q).tobytes().hex()] * 4


def test_robots_and_kernels_are_copied():
    robot = armdyn.load("scara")
    q = np.array([0.1, -0.4, 0.2, 1.0])
    single = robot.kernel("jacobian", link="tool", frame="tool", dtype="float32")
    for way in (copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))):
        assert np.array_equal(way(robot).mass_matrix(q), robot.mass_matrix(q))
        for thing in (single, single.__self__):
            other = way(thing)
            assert type(other) is type(thing)
            assert np.array_equal(other(q), single(q))
            assert other.__self__.request == single.__self__.request
            assert other(q).dtype == np.float32


def test_a_robot_keeps_its_kernels():
    robot = armdyn.load("scara")
    assert robot.kernel("mass_matrix").__self__ is robot.kernel("mass_matrix").__self__
    assert robot.kernel("bias", friction=False).__self__ is not robot.kernel("bias").__self__
    kernel = robot.kernel("mass_matrix").__self__
    assert kernel.operations == kernel.program.operations
    assert (kernel.inputs, kernel.shape, kernel.signature) == ({"q": 4}, (4, 4), "(4)->(4,4)")


@pytest.mark.parametrize(
    ("quantity", "options", "error", "message"),
    [
        ("mass_matrx", {}, UnknownNameError, r"no quantity 'mass_matrx'\. Did you mean 'mass_matrix'"),
        ("mass_matrix", {"dtype": "float16"}, UnknownNameError, "Did you mean 'float64' or 'float32'"),
        ("mass_matrix", {"dtype": "half a float"}, UnknownNameError, "Available: float32, float64"),
        ("mass_matrix", {"gravity": True}, ModelError, "mass_matrix has no option 'gravity'; it has payload"),
        ("jacobian", {"link": "link44"}, UnknownNameError, r"'link44'\. Did you mean 'link4'"),
        ("jacobian", {"frame": "tol"}, UnknownNameError, "Did you mean 'tool'"),
        ("inverse_dynamics", {"wrench": ("tol",)}, UnknownNameError, "Did you mean 'tool'"),
        ("inverse_dynamics", {"wrench": "link44"}, UnknownNameError, "Did you mean 'link4'"),
        ("forward_dynamics", {"method": "articulated"}, UnknownNameError, "Did you mean 'articulated_body'"),
        ("inverse_dynamics", {"method": "denoc", "payload": True}, ModelError, "leave the method out"),
    ],
)  # fmt: skip
def test_what_there_is_not_is_said(quantity, options, error, message):
    with pytest.raises(error, match=message):
        Robot(MODELS["panda"]).kernel(quantity, **options)


def test_arguments_have_their_names_in_messages():
    robot = Robot(MODELS["panda"])
    kernel = robot.kernel("inverse_dynamics", payload=True, gravity=True, wrench=("tool",))
    given = [np.zeros(7)] * 3 + [np.zeros(10), np.zeros(3), np.zeros(6)]
    assert kernel(*given).shape == (7,)
    names = ["q", "qd", "qdd", "payload", "gravity", "wrench on 'tool'"]
    for k, name in enumerate(names):
        wrong = [*given[:k], np.zeros(5), *given[k + 1 :]]
        with pytest.raises(
            ShapeError, match=rf"{name}: expected shape .*{len(given[k])}.*got shape \(5,\)"
        ):
            kernel(*wrong)
