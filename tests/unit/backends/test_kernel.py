"""Every kernel against the formulas of its quantity, evaluated as they are written."""

import numpy as np
import pytest

from armdyn import Robot
from armdyn.backends.kernel import Kernel
from armdyn.backends.table import WHOLE_DERIVATIVES as LARGE
from armdyn.formulations.base_parameters import base_parameters
from armdyn.formulations.external import exerted_wrench
from armdyn.formulations.forward_dynamics import METHODS
from armdyn.formulations.parameters import robot_parameters
from armdyn.quantities.registry import QUANTITIES, quantity_program
from armdyn.quantities.request import Request
from support.peers import close
from support.random_robots import random_model
from support.textbook_quantities import MODELS, TextbookQuantities, states_of

TOLERANCE = 1e-10


@pytest.mark.slow
@pytest.mark.parametrize("quantity", QUANTITIES)
@pytest.mark.parametrize("name", MODELS)
def test_every_quantity_is_what_its_formulas_say(name, quantity):
    model = MODELS[name]
    kernel = Kernel(model, Request(quantity))
    given = states_of(kernel, 3)
    expected = getattr(TextbookQuantities(model), quantity)(*given)
    assert expected.shape == (3, *kernel.shape)
    n, m = len(model.independent), len(TextbookQuantities(model).task)
    N, links = len(model.joints), base_parameters(model, links=True)
    p = sum(parameter.linear for parameter in robot_parameters(model))
    sizes = {"n": n, "N": N, "10 N": 10 * N, "p": p, "link rank": links.rank}
    sizes |= {"rank": base_parameters(model).rank, "3 n": 3 * n, "N + L": N + len(model.loops)}
    sizes |= {"m": m, "m + 2": m + 2, "(n + 1) (n + 2) / 2": (n + 1) * (n + 2) // 2}
    assert tuple(sizes.get(k, k) for k in QUANTITIES[quantity].shape) == kernel.shape
    # differences are exact to about 1e-10; Stribeck curves have steep derivatives
    close(
        kernel(*given),
        expected,
        1e-7 if "derivatives" in quantity or "slope" in quantity else TOLERANCE,
    )
    exact = kernel.program(*given)
    close(kernel(*given), exact, TOLERANCE)


@pytest.mark.slow
@pytest.mark.parametrize("quantity", QUANTITIES)
def test_single_precision_is_as_good_as_it_can_be(quantity):
    model = MODELS["panda"]
    kernel = Kernel(model, Request(quantity), np.float32)
    given = states_of(kernel, 9)
    expected = kernel.program(*given)
    found = kernel(*given)
    assert found.dtype == np.float32
    if quantity == "cartesian":  # one of the states is too close to a singular one
        given_up = np.isnan(found).all((-1, -2))
        assert given_up.tolist() == [True] + [False] * 8
        found, expected = found[1:], expected[1:]
    # the condition of the mass matrix of this arm is a few thousand
    close(found, expected, 2e-3 if QUANTITIES[quantity].solves else 1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("frame", ["world", "tool", "link2"])
@pytest.mark.parametrize("link", ["tool", "link4", "base"])
def test_frames_of_kinematics(link, frame):
    model = MODELS["coupled"]
    robot, direct = Robot(model), TextbookQuantities(model, link, frame)
    for quantity in ("jacobian", "jacobian_dot"):
        kernel = robot.kernel(quantity, link=link, frame=frame)
        given = states_of(kernel.__self__, 4)
        close(kernel(*given), getattr(direct, quantity)(*given), TOLERANCE)
    q = given[0]
    close(robot.kernel("forward_kinematics", link=link)(q), direct.forward_kinematics(q), TOLERANCE)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["panda", "stanford", "tree", "coupled"])
@pytest.mark.parametrize("axes", ["world", "tool"])
def test_wrenches_are_arguments(name, axes):
    model = MODELS[name]
    robot, direct = Robot(model), TextbookQuantities(model)
    link = model.links[1].name
    torque, motion = (
        Kernel(model, Request(f"{way}_dynamics", wrench=("tool", link), wrench_frame=axes))
        for way in ("inverse", "forward")
    )
    assert list(torque.inputs)[3:] == ["wrench on 'tool'", f"wrench on {link!r}"]
    q, qd, qdd, *wrenches = states_of(torque, 4)
    on = dict(zip(("tool", link), wrenches, strict=True))
    reaction = exerted_wrench(model, direct.at.positions(q), on, axes)
    expected = direct.inverse_dynamics(q, qd, qdd, reaction)
    close(torque(q, qd, qdd, *wrenches), expected, TOLERANCE)
    close(motion(q, qd, expected, *wrenches), qdd, 1e-8)
    single = robot.kernel("inverse_dynamics", wrench="tool", wrench_frame=axes)
    alone = robot.inverse_dynamics(q, qd, qdd, wrenches[0], wrench_frame=axes)
    close(single(q, qd, qdd, wrenches[0]), alone, 1e-13)


def variable():
    """Robots and quantities that a payload or gravity can be an argument of."""
    some = [name for name, record in QUANTITIES.items() if "payload" in record.options]
    few = ("inverse_dynamics", "forward_dynamics", "kinetic_energy")
    return [("stanford", q) for q in some] + [
        (n, q) for n in ("panda", "tree", "coupled") for q in few
    ]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "quantity"), variable())
def test_payload_and_gravity_are_arguments(name, quantity):
    robot = Robot(MODELS[name])
    com, tensor = (0.05, -0.1, 0.2), np.diag([0.02, 0.03, 0.04]) + 0.001
    vector, field = robot.payload_vector(1.7, com, tensor), np.array([1.0, -2.0, 3.7])
    changed = robot.with_payload(1.7, com, tensor)
    options = {"payload": True}
    if "gravity" in QUANTITIES[quantity].options:
        options["gravity"], changed = True, changed.with_gravity(field)
    kernel = Kernel(robot.model, Request(quantity, **options))
    plain, other = (Kernel(r.model, Request(quantity)) for r in (robot, changed))
    given = states_of(plain, 3)
    tolerance = 1e-8 if QUANTITIES[quantity].solves else TOLERANCE
    close(kernel(*given, *[vector, field][: len(options)]), other(*given), tolerance)
    nothing = [np.zeros(10), robot.gravity][: len(options)]
    close(kernel(*given, *nothing), plain(*given), tolerance)


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_methods_of_forward_dynamics(method):
    model = MODELS["tree"]
    kernel = Robot(model).kernel("forward_dynamics", method=method)
    given = states_of(kernel.__self__, 4)
    close(kernel(*given), TextbookQuantities(model).forward_dynamics(*given), 1e-9)


@pytest.mark.slow
def test_formulations_of_inverse_dynamics():
    model = MODELS["puma560"]
    for method in ("newton_euler", "denoc", "augmented_body", "minimal"):
        kernel = Robot(model).kernel("inverse_dynamics", method=method)
        given = states_of(kernel.__self__, 4)
        close(kernel(*given), TextbookQuantities(model).inverse_dynamics(*given), TOLERANCE)


@pytest.mark.slow
@pytest.mark.parametrize("quantity", ["inverse_dynamics", "forward_dynamics", "bias"])
def test_friction_is_an_option(quantity):
    robot = Robot(MODELS["puma560"])
    rubbing, smooth = (robot.kernel(quantity, friction=f) for f in (True, np.False_))
    given = states_of(smooth.__self__, 3)
    friction = TextbookQuantities(robot.model).friction_torque(given[1])
    assert np.abs(friction).min() > 0.01
    if quantity == "forward_dynamics":
        close(rubbing(*given[:2], given[2] + friction), smooth(*given), 1e-9)
    else:
        close(rubbing(*given), smooth(*given) + friction, 1e-12)


@pytest.mark.thorough
@pytest.mark.slow
def test_large_robots_take_derivatives_direction_by_direction():
    n = LARGE + 1
    model = random_model(("RRPR" * 5)[:n], 9, tree=True, friction=True)
    robot, direct = Robot(model), TextbookQuantities(model)
    assert not robot._table.solves_derivatives
    assert Robot(random_model("R" * LARGE, 9))._table.solves_derivatives
    q, qd, qdd = states_of(Kernel(model, Request("inverse_dynamics")), 2)
    expected = direct.inverse_dynamics_derivatives(q, qd, qdd)
    found = robot.inverse_dynamics_derivatives(q, qd, qdd)
    close(np.stack([found.dq, found.dqd], -3), expected, 1e-7)
    close(found.dqdd, direct.mass_matrix(q), TOLERANCE)
    close(robot.coriolis_matrix(q, qd), direct.coriolis_matrix(q, qd), TOLERANCE)
    close(robot.christoffel(q), direct.christoffel(q), TOLERANCE)
    form = robot.configuration_space(q)
    columns = np.concatenate([form.M, form.B, form.C, form.G[..., None]], -1)
    close(columns, direct.configuration_space(q), TOLERANCE)
    tau = direct.inverse_dynamics(q, qd, qdd)
    close(robot.forward_dynamics(q, qd, tau), qdd, 1e-7)
    M = direct.mass_matrix(q)
    slopes = robot.forward_dynamics_derivatives(q, qd, tau)
    close(M @ slopes.dq, -expected[..., 0, :, :], 1e-6)
    close(M @ slopes.dqd, -expected[..., 1, :, :], 1e-6)
    close(M @ slopes.dtau, np.broadcast_to(np.eye(n), M.shape), 1e-7)
    close(robot.regressor(q, qd, qdd), direct.regressor(q, qd, qdd), TOLERANCE)


@pytest.mark.slow
def test_forward_dynamics_takes_the_cheaper_way():
    """Whatever the robot, no method by name takes fewer operations than the one without."""
    for model in (random_model("RR", 3), MODELS["panda"], random_model("RPRRRRR", 5)):
        robot = Robot(model)
        best = robot.kernel("forward_dynamics").__self__.program.operations.total
        others = [
            quantity_program(model, Request("forward_dynamics", formulation=m)) for m in METHODS
        ]
        assert best <= min(program.operations.total for program in others)
