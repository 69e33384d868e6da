"""Closed loops: what follows from them, against an elimination of its own and against energy."""

from dataclasses import replace

import numpy as np
import pytest

import armdyn
from armdyn.errors import LoopError, SingularityError, TomlError
from armdyn.formulations.composite_body import mass_matrix
from armdyn.formulations.kinematics import world_frames
from armdyn.formulations.newton_euler import newton_euler
from armdyn.graph.field import proved_equal
from armdyn.graph.nodes import Graph
from armdyn.io.toml.read import read_toml
from armdyn.loops.closure import closure_of
from armdyn.loops.coordinates import coordinates_of
from armdyn.loops.rows import closure_bias, closure_matrix, residuals
from armdyn.loops.steps import LinearDyad
from armdyn.model import FrictionLaw
from armdyn.model.transform import rotation_about, transform
from armdyn.quantities.program import quantity_program
from armdyn.quantities.request import Request
from support.loops import FIVE_BAR, PARALLELOGRAM_ARM, dyad_arm
from support.programs import EvaluatedRobot

KINDS = ("RRR", "RPR", "RRP", "PRR", "one_branch", "PP")
"""What is passive around a loop: its two joints and the pin."""


def read(tmp_path, text):
    file = tmp_path / "robot.toml"
    file.write_text(text)
    return read_toml(file)[0]


def states(model, count=4):
    rng = np.random.default_rng(3)
    at = coordinates_of(model)
    n = len(model.independent)
    q = at.closure.assembly[list(model.independent)] + rng.uniform(-0.1, 0.1, (count, n))
    return at, q, *rng.uniform(-2.0, 2.0, (2, count, n))


def eliminated(model, q, qd, qdd):
    """Torques at the actuated joints by multipliers, from the rows of the closure alone."""
    tau = newton_euler(model, q, qd, qdd).tau
    A, passive, active = closure_matrix(model, q), list(model.passive), list(model.independent)
    force = np.linalg.lstsq(A[:, passive].T, tau[passive], rcond=1e-10)[0]
    return tau[active] - A[:, active].T @ force


@pytest.mark.parametrize("kind", KINDS)
def test_dyads_close_their_loop_in_any_orientation(kind):
    model = dyad_arm(kind)
    at, *motion = states(model)
    for q, qd, qdd in zip(*motion, strict=True):
        here = at.at(q)
        rates, changes = here.rates(qd), here.accelerations(qd, qdd)
        A = closure_matrix(model, here.q)
        assert np.abs(residuals(model, here.q)).max() < 1e-14
        assert np.abs(A @ rates).max() < 1e-13
        assert np.abs(A @ changes + closure_bias(model, here.q, rates)).max() < 1e-12
        np.testing.assert_allclose(here.G @ qd, rates, atol=1e-13)
        np.testing.assert_allclose(here.G_rate(qd) @ qd + here.G @ qdd, changes, atol=1e-12)
        work = np.arange(1.0, 1 + len(rates))
        np.testing.assert_allclose(here.torques(work), here.G.T @ work, atol=1e-12)
        motion_all = here.q, rates, changes
        tau = newton_euler(model, *motion_all).tau
        np.testing.assert_allclose(here.torques(tau), eliminated(model, *motion_all), atol=1e-10)
        M = here.matrix(mass_matrix(model, here.q))
        assert np.linalg.eigvalsh(M).min() > 0


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_the_ground_carries_the_weight_whatever_loops_and_springs_pull(kind):
    """Forces between links, and between a link and the base, are the arm's own affair."""
    plain = EvaluatedRobot(dyad_arm(kind))
    spring = {"link": plain.model.links[1].name, "point": (0.1, 0.05, 0.02), "stiffness": 300.0}
    robot = plain.with_springs([spring | {"anchor": (0.3, -0.2, 0.1)}])
    model, rest = robot.model, np.zeros(robot.n)
    base = robot.reactions(robot.start, rest, rest, base_wrench=True)[0]
    frames = world_frames(model, robot.all_joints(robot.start))
    bodies = [(model.base[:3, :3], model.base[:3, 3], model.base_link.inertia)]
    links = zip(frames.R, frames.O, model.links, strict=True)
    bodies += [(R, O, link.inertia) for R, O, link in links]
    weights = [(O + R @ body.com - model.base[:3, 3], body.mass * robot.gravity)
               for R, O, body in bodies]  # fmt: skip
    np.testing.assert_allclose(base[:3], -sum(w for _, w in weights), atol=1e-9)
    np.testing.assert_allclose(base[3:], -sum(np.cross(r, w) for r, w in weights), atol=1e-9)


def test_a_loop_ends_at_links_that_are_there():
    model = dyad_arm(KINDS[0])
    for place in (-2, len(model.links)):
        (loop, *others) = model.loops
        with pytest.raises(LoopError, match=f"there is no link {place} for its end b"):
            replace(model, loops=(replace(loop, link_b=place), *others))


@pytest.mark.parametrize("kind", KINDS)
def test_the_mode_of_the_assembly_is_kept(kind):
    model = dyad_arm(kind)
    closure = closure_of(model)
    start = closure.assembly[list(model.independent)]
    found = coordinates_of(model).positions(start)
    np.testing.assert_allclose(np.cos(found - closure.assembly), 1.0, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_closed_forms_are_proved_exactly(kind):
    """With true roots in a finite field the residuals of the closure are exactly zero."""
    model = dyad_arm(kind, tilt=False)
    graph = Graph()
    q = graph.inputs("q", len(model.independent))
    missing = residuals(model, coordinates_of(model).at(q).q)
    nodes = [graph.node(x) for x in missing]
    assert sum(node.op != "number" for node in nodes) == 2
    assert proved_equal(nodes, [graph.number(0)] * len(nodes))


def test_parallelograms_are_linear_and_stay_so_where_their_links_are_parallel(tmp_path):
    model = read(tmp_path, PARALLELOGRAM_ARM)
    (dyad,) = closure_of(model).steps
    assert isinstance(dyad, LinearDyad)
    at = coordinates_of(model)
    flat = at.positions(np.array([0.4, 0.4]))  # both links along one line
    assert np.abs(residuals(model, flat)).max() < 1e-15


def test_an_antiparallelogram_is_no_parallelogram(tmp_path):
    crossed = PARALLELOGRAM_ARM[: PARALLELOGRAM_ARM.index("[assembly]")] + (
        "[assembly]\nq_link1 = 1.1\nq_crank = 2.4\nq_coupler = -2.15\nq_forearm = -2.15\n"
    )
    model = read(tmp_path, crossed)
    (dyad,) = closure_of(model).steps
    assert not isinstance(dyad, LinearDyad)
    plain = coordinates_of(read(tmp_path, PARALLELOGRAM_ARM)).positions(np.array([1.1, 2.4]))
    here = coordinates_of(model).positions(np.array([1.1, 2.4]))
    assert np.abs(residuals(model, here)).max() < 1e-14
    assert np.abs(np.sin(here - plain)).max() > 0.1


@pytest.fixture(scope="module")
def five_bar(tmp_path_factory):
    file = tmp_path_factory.mktemp("loops") / "five_bar.toml"
    file.write_text(FIVE_BAR)
    return armdyn.load(file)


@pytest.mark.slow
def test_power_is_what_changes_the_energy(five_bar):
    q, qd, qdd = np.array([2.2, 0.8]), np.array([0.7, -1.2]), np.array([2.0, 1.0])
    tau = five_bar.inverse_dynamics(q, qd, qdd, friction=False)

    def energy(t):
        x, v = q + qd * t + qdd * t * t / 2, qd + qdd * t
        return five_bar.kinetic_energy(x, v) + five_bar.potential_energy(x)

    h = 1e-4
    slope = (8 * (energy(h) - energy(-h)) - (energy(2 * h) - energy(-2 * h))) / (12 * h)
    assert tau @ qd == pytest.approx(slope, abs=1e-9)
    rates = five_bar._at.at(q).rates(qd)
    viscous = np.array([joint.friction.viscous for joint in five_bar.model.joints])
    lost = (five_bar.inverse_dynamics(q, qd, qdd) - tau) @ qd
    assert lost == pytest.approx(viscous @ rates**2, abs=1e-12)
    np.testing.assert_allclose(five_bar.friction_torque(qd, q) @ qd, viscous @ rates**2, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["delta", "four_bar"])
def test_friction_of_actuated_joints_is_a_function_of_their_rates(name):
    smooth = armdyn.load(name).model
    n, actuated, passive = len(smooth.independent), smooth.independent, smooth.passive[0]
    rough = with_friction(smooth, actuated)
    qd = np.linspace(-1.5, 1.0, n)
    torques = [quantity_program(m, Request("friction_torque"))(qd) for m in (smooth, rough)]
    np.testing.assert_allclose(torques, [0.0 * qd, 0.3 * qd + 0.2 * np.sign(qd)], rtol=1e-15)
    assert armdyn.count_operations(rough, "friction_torque").total == 3 * n
    with pytest.raises(LoopError, match=r"friction of .* depends .* give q as well"):
        quantity_program(with_friction(smooth, (passive,)), Request("friction_torque"))


def with_friction(model, places):
    law = FrictionLaw(0.3, 0.2, 0.2)
    joints = [replace(j, friction=law) if i in places else j for i, j in enumerate(model.joints)]
    return replace(model, joints=tuple(joints))


@pytest.mark.slow
def test_derivatives_are_those_of_differences(five_bar):
    q, qd, qdd = np.array([2.2, 0.8]), np.array([0.7, -1.2]), np.array([2.0, 1.0])
    found = five_bar.inverse_dynamics_derivatives(q, qd, qdd)
    h = 1e-3 * np.eye(2)

    def slope(f):
        near = [8 * (f(x) - f(-x)) - (f(2 * x) - f(-2 * x)) for x in h]
        return np.stack(near, -1) / 12e-3

    by_q = slope(lambda x: five_bar.inverse_dynamics(q + x, qd, qdd))
    np.testing.assert_allclose(found.dq, by_q, atol=1e-7)
    by_qd = slope(lambda x: five_bar.inverse_dynamics(q, qd + x, qdd))
    np.testing.assert_allclose(found.dqd, by_qd, atol=1e-9)
    M_rate = (five_bar.mass_matrix(q + 1e-5 * qd) - five_bar.mass_matrix(q - 1e-5 * qd)) / 2e-5
    skew = M_rate - 2 * five_bar.coriolis_matrix(q, qd)
    np.testing.assert_allclose(skew + skew.T, 0.0, atol=1e-8)


@pytest.mark.slow
def test_base_parameters_are_fewer_than_those_of_the_tree(five_bar):
    assert five_bar.base_parameters(links=True).rank == 11
    weightless = five_bar.with_gravity((0, 0, 0)).base_parameters(links=True)
    assert weightless.rank == 7
    motion = np.array([2.2, 0.8]), np.array([0.7, -1.2]), np.array([2.0, 1.0])
    Y, base = five_bar.base_regressor(*motion), five_bar.base_parameters()
    np.testing.assert_allclose(Y @ base.values, five_bar.inverse_dynamics(*motion), atol=1e-11)


@pytest.mark.slow
def test_singular_configurations_are_named(five_bar):
    with pytest.raises(SingularityError, match="loop 'pin' of 'five_bar' cannot be closed with"):
        five_bar.all_joints([1.0068, 1.8752])
    batch = [[2.3, 0.7], [1.0068, 1.8752]]
    with pytest.raises(SingularityError, match=r"cannot be closed .*\(state 1\).* type 2"):
        five_bar.mass_matrix(batch)
    with pytest.raises(SingularityError, match="cannot be closed"):
        five_bar.inverse_dynamics([1.0068, 1.8752], [0.0, 0.0], [0.0, 0.0])
    measure = five_bar.singularity(batch)
    assert measure.type2[1, 0] == 0 < measure.type2[0, 0]
    assert measure.kind.tolist()[0] == 0
    assert measure.kind.tolist()[1] >= 2


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[0.47, 0.0, 0.0]", "[5.47, 0.0, 0.0]", "'pin' of 'five_bar' cannot be closed near the"),
        ("[0.47, 0.0, 0.0]", "[0.47, 0.0, 0.1]", "'pin' of 'five_bar' cannot be closed near"),
        ("[0.47, 0.0, 0.0]", "[0.47, 0.0, 0.0], rpy = [0.3, 0.0, 0.0]", "cannot be closed near"),
        (
            'name = "pin"\ntype = "revolute"',
            'name = "pin"\ntype = "fixed"',
            "cannot be closed near",
        ),
        ("viscous = 0.3", "actuated = false", "1 more must be actuated, of 'q_link1'"),
    ],
)
def test_what_cannot_move_is_refused_by_name(tmp_path, old, new, message):
    file = tmp_path / "robot.toml"
    file.write_text(FIVE_BAR.replace(old, new))
    with pytest.raises(LoopError, match=message):
        armdyn.load(file)


def test_axes_that_are_not_parallel_lock_the_loop(tmp_path):
    file = tmp_path / "robot.toml"
    tilted = FIVE_BAR.replace(
        "position = [0.31, 0.0, 0.0]", "position = [0.31, 0.0, 0.0]\nrpy = [0.0, 1e-3, 0.0]"
    )
    file.write_text(
        tilted.replace('name = "pin"\ntype = "revolute"', 'name = "pin"\ntype = "spherical"')
    )
    with pytest.raises((LoopError, TomlError), match="cannot move|cannot be closed"):
        armdyn.load(file)


def test_mounting_an_arm_elsewhere_turns_its_forces(tmp_path):
    model = dyad_arm("RRR")
    turned = transform(rotation_about(np.array([0.6, 0.0, 0.8]), 0.7))
    _, q, qd, qdd = states(model, 1)
    other = replace(model, base=turned @ model.base, gravity=turned[:3, :3] @ model.gravity)
    here = [coordinates_of(m).at(q[0]) for m in (model, other)]
    tau = [
        h.torques(newton_euler(m, h.q, h.rates(qd[0]), h.accelerations(qd[0], qdd[0])).tau)
        for m, h in zip((model, other), here, strict=True)
    ]
    np.testing.assert_allclose(*tau, atol=1e-12)


def test_equations_tell_the_closure(five_bar):
    notes = " ".join(armdyn.equations(five_bar).notes)
    assert "the coordinates are the actuated joints q1, q3; q2, q4 are passive" in notes
    assert "loop pin: 0.35 cos(q1) - 0.28 + 0.52 cos(q1 + q2)" in notes
