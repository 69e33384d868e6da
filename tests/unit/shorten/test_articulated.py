"""Articulated bodies with few operations: the accelerations of the others, and the counts."""

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest

import armdyn
from armdyn.errors import SingularityError
from armdyn.formulations.articulated_body import articulated_body
from armdyn.formulations.composite_body import mass_matrix
from armdyn.formulations.newton_euler import newton_euler
from armdyn.graph import Graph, proved_equal
from armdyn.graph.count import count
from armdyn.graph.nodes import trace
from armdyn.graph.program import Program
from armdyn.model import Connection, Inertia, assemble
from armdyn.model.transform import rotation_about, transform
from armdyn.quantities import dynamics
from armdyn.quantities.program import quantity_program
from armdyn.quantities.request import Request
from armdyn.shorten.canonical.frames import canonical, with_tip_phase
from armdyn.shorten.minimal.articulated import minimal_articulated_body
from armdyn.shorten.minimal.mass import minimal_mass_matrix
from armdyn.shorten.minimal.options import options
from armdyn.shorten.minimal.torques import minimal
from armdyn.shorten.run_time import payload_vector
from armdyn.shorten.symbolic import symbolic
from support.arms import Arm
from support.counted_arms import ARMS
from support.peers import close, pin_model
from support.programs import EvaluatedRobot, kept_program
from support.random_robots import random_model, random_states

pytestmark = pytest.mark.slow


def reflected(model):
    return np.array([joint.rotor.reflected for joint in model.joints])


def accelerations(model, state, **given):
    return minimal_articulated_body(canonical(model), *state, reflected(model), **given)


def test_trees_accelerate_as_by_the_plain_form_and_by_the_mass_matrix(arm):
    model = arm.model
    q, qd, tau = random_states(model, arm.seed, (2, 3))
    M = mass_matrix(model, q) + np.diag(reflected(model))
    rest = tau - newton_euler(model, q, qd, np.zeros_like(q)).tau
    expected = np.linalg.solve(M, rest[..., None])[..., 0]
    tolerance = 1e-13 * np.linalg.cond(M).max()
    close(articulated_body(model, q, qd, tau)[1], expected, tolerance)
    space = options(canonical(model))
    for choices in (None, space.start, space.quick):
        close(accelerations(model, (q, qd, tau), choices=choices), expected, tolerance)


def test_a_long_chain_accelerates_as_in_pinocchio():
    model = random_model("R" * 60, 3)
    q, qd, tau = random_states(model, 4)
    other, data = pin_model(model)
    close(accelerations(model, (q, qd, tau)), pin.aba(other, data, q, qd, tau))


def test_pivots_are_what_the_joints_feel_and_scales_are_constant(arm):
    model = arm.model
    asked = []
    for state in (random_states(model, 1), random_states(model, 2)):
        accelerations(model, state, guard=lambda *pair: asked.append(pair) or pair[0])
        pivots = [pivot for pivot, _ in asked[: -1 - len(model.joints) : -1]]
        np.testing.assert_allclose(pivots, articulated_body(model, *state)[0], rtol=1e-9)
    one, other = np.split(np.array([scale for _, scale in asked]), 2)
    assert (one > 0).all()
    np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("name", ["puma", "stanford_full", "panda"])
def test_every_robot_with_these_zeros_obeys_its_equation_of_motion(name):
    graph, n = Graph(), len(ARMS[name].links)
    robot = symbolic(ARMS[name], graph)
    q, qd, tau = (graph.inputs(key, n) for key in ("q", "qd", "tau"))
    rotors = np.array([graph.parameter(f"rotor{i}") if i % 2 else 0.0 for i in range(n)])
    qdd = trace(graph, lambda: minimal_articulated_body(robot, q, qd, tau, rotors))
    inertia = minimal_mass_matrix(robot, q) + np.diag(rotors)
    needed = trace(graph, lambda: inertia @ qdd + minimal(robot, q, qd, 0.0).tau)
    assert proved_equal(list(needed), list(tau))


def wrist(body):
    """Axes z, y, z through one point, all mass on the last link."""
    quarter = rotation_about(np.array([1.0, 0.0, 0.0]), np.pi / 2)
    names = ["base", "link1", "link2", "link3"]
    connections = [
        Connection(f"joint{i + 1}", "revolute", *names[i : i + 2], transform(turn, np.zeros(3)))
        for i, turn in enumerate((np.eye(3), quarter, quarter.T))
    ]
    return assemble("wrist", dict.fromkeys(names, Inertia.zero()) | {"link3": body}, connections)


def test_a_state_in_which_nothing_resists_is_not_a_number():
    body = Inertia.from_com(1.3, np.array([0.1, 0.2, 0.3]), np.diag([0.1, 0.12, 0.14]))
    program, _ = program_of(wrist(body))
    still, torques = np.zeros(3), np.array([0.3, 0.2, 0.1])
    assert np.isfinite(program([0.4, 1.0, 0.7], still, torques)).all()
    with np.errstate(invalid="ignore"):
        assert np.isnan(program([0.4, 0.0, 0.7], still, torques)[0])


def test_slides_that_come_into_line_leave_nothing_to_resist_the_first():
    """All mass is on the last link, behind a hinge that turns its slide."""
    names, along = ["base", "link1", "link2", "link3"], transform(None, (0.3, 0.1, 0.2))
    turned = transform(rotation_about(np.array([0.6, 0.0, 0.8]), 0.7))
    slides = (np.cos(0.3), np.sin(0.3), 0.0)
    joints = [
        Connection("joint1", "prismatic", *names[:2], turned, axis=(1.0, 0.0, 0.0)),
        Connection("joint2", "revolute", *names[1:3], along),
        Connection("joint3", "prismatic", *names[2:], along, axis=slides),
    ]
    body = Inertia.from_com(1.3, np.array([0.1, 0.2, 0.3]), np.diag([0.1, 0.12, 0.14]))
    links = dict.fromkeys(names, Inertia.zero()) | {"link3": body}
    program, _ = program_of(assemble("slides", links, joints))
    still, torques = np.zeros(3), np.array([0.3, 0.2, 0.1])
    assert np.isfinite(program([0.4, 1.0, 0.7], still, torques)).all()
    with np.errstate(invalid="ignore"):
        assert np.isnan(program([0.4, -0.3, 0.7], still, torques)[0])


def test_a_joint_that_moves_nothing_is_named():
    model = wrist(Inertia.zero())
    with pytest.raises(SingularityError, match="nothing resists a motion of 'joint3'"):
        accelerations(model, random_states(model, 0))


def program_of(model, rotors=0.0):
    """The program of the formulation, and its multiplications and additions."""
    graph, n = Graph(), len(model.joints)
    robot = symbolic(with_tip_phase(canonical(model)), graph)
    inputs = {"q": n, "qd": n, "tau": n}
    states = [graph.inputs(*item) for item in inputs.items()]
    felt = np.full(n, rotors)
    outputs = trace(
        graph,
        lambda: minimal_articulated_body(
            robot, *states, felt, lambda *pair: graph.guard(*map(graph.node, pair))
        ),
    )
    return Program.from_outputs(outputs, inputs), count(outputs).total


@pytest.mark.parametrize(("name", "most"), [("panda", 1084), ("iiwa14", 736), ("ur5e", 589)])
def test_counts_of_arms_may_only_go_down(name, most):
    assert program_of(armdyn.load(name).model)[1] <= most


@pytest.mark.parametrize(("rotors", "slope"), [(0.0, 367), (0.3, 409)])
def test_each_joint_of_a_general_chain_takes_as_many(rotors, slope):
    few, many = (program_of(random_model("R" * n, 1), rotors)[1] for n in (10, 15))
    assert many - few <= 5 * slope


def never_longer(model):
    """Whether the shortest program for accelerations is no longer than by the mass matrix."""
    ways = [Request("forward_dynamics", method=m) for m in (None, "composite_body")]
    shortest, composite = (kept_program(model, way).operations.total for way in ways)
    return shortest <= composite


@pytest.mark.arms(where=lambda arm: not arm.model.is_coupled)
def test_the_shortest_program_is_never_longer_than_by_the_mass_matrix(arm):
    assert never_longer(arm.model)


@pytest.mark.thorough(reason="long robots")
@pytest.mark.parametrize("joints", [9, 16])
def test_the_shortest_program_of_a_long_chain_is_not_longer_either(joints):
    assert never_longer(random_model("R" * joints, 2, rotors=True))


def test_payload_gravity_and_wrench_known_at_run_time():
    robot = EvaluatedRobot(armdyn.load("panda").model)
    rng = np.random.default_rng(0)
    q, qd, tau = random_states(robot.model, 5)
    body = 2.1, np.array([0.02, -0.03, 0.1]), np.diag([0.02, 0.03, 0.025])
    field, wrench = rng.normal(size=3) - (0, 0, 3.7), rng.normal(size=6)
    request = Request("forward_dynamics", payload=True, gravity=True, wrench=("tool",))
    program = quantity_program(robot.model, request)
    loaded = robot.with_payload(*body).with_gravity(field)
    expected = loaded.forward_dynamics(q, qd, tau, external_wrench=wrench)
    close(program(q, qd, tau, payload_vector(*body), field, wrench), expected)


def test_short_arms_with_a_payload_known_at_run_time_are_solved_by_the_mass_matrix(monkeypatch):
    def operations(gravity):  # programs of the last robots are kept, so each has its own number
        model = armdyn.load("panda").with_gravity((0, 0, -gravity)).model
        return quantity_program(model, Request("forward_dynamics", payload=True)).operations.total

    by_mass_matrix = operations(9.80)
    monkeypatch.setattr(dynamics, "MOST_COMPOSITE", replace(dynamics.MOST_COMPOSITE, value=0))
    assert by_mass_matrix < operations(9.81)


def test_a_rotor_alone_may_resist_a_joint():
    """Two axes in one line with a link between them that has no mass."""
    rows = ((1, -0.5, 0.0), (2, -0.5, 0.0), (0, 0.0, 0.21), (1, -0.5, -0.5))
    arm = Arm(
        "in_line", "rotors keep it regular", 28041, "RRRH", rows, bodies="points", rotors=True
    )
    q, qd, qdd = arm.states(5)
    tau = arm.robot.inverse_dynamics(q, qd, qdd)
    close(arm.robot.forward_dynamics(q, qd, tau), qdd, 1e-9)
    with pytest.raises(SingularityError, match="joint2"):
        replace(arm, rotors=False).robot.forward_dynamics(q, qd, tau)
