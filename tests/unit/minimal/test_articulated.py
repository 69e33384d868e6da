"""Articulated bodies with few operations: the accelerations of the others, and the counts."""

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import armdyn
from armdyn.canonical.frames import canonical, with_tip_phase
from armdyn.compiler.count import count
from armdyn.compiler.program import Program
from armdyn.compiler.trace import trace
from armdyn.errors import SingularityError
from armdyn.expr import Graph, proved_equal
from armdyn.formulations.articulated_body import articulated_body
from armdyn.formulations.composite_body import mass_matrix
from armdyn.formulations.newton_euler import newton_euler
from armdyn.minimal.articulated import minimal_articulated_body
from armdyn.minimal.mass import minimal_mass_matrix
from armdyn.minimal.options import options
from armdyn.minimal.torques import minimal
from armdyn.model import Connection, Inertia, assemble
from armdyn.model.transform import rotation_about, transform
from armdyn.quantities.registry import quantity_program
from armdyn.quantities.request import Request
from armdyn.quantities.run_time import payload_vector
from armdyn.quantities.symbolic import symbolic
from support.counted_arms import ARMS
from support.peers import close, pin_model
from support.random_robots import kinds, random_model, random_states, robots, seeds, special_model

pytestmark = pytest.mark.slow


def reflected(model):
    return np.array([joint.rotor.reflected for joint in model.joints])


def accelerations(model, state, **given):
    return minimal_articulated_body(canonical(model), *state, reflected(model), **given)


@settings(max_examples=40)
@given(robots, seeds, st.sampled_from([(), (2,), (2, 3)]))
def test_trees_accelerate_as_by_the_plain_form(model, seed, batch):
    state = random_states(model, seed, batch)
    close(accelerations(model, state), articulated_body(model, *state)[1])


@settings(max_examples=20)
@given(kinds, seeds, st.booleans())
def test_rotors_are_felt_by_their_joints_only(letters, seed, tree):
    model = random_model(letters, seed, tree=tree, rotors=True)
    state = random_states(model, seed)
    close(accelerations(model, state), articulated_body(model, *state)[1])


@pytest.mark.parametrize("seed", range(25))
def test_special_geometry_accelerates_as_by_the_mass_matrix(seed):
    model = special_model(seed)
    q, qd, tau = random_states(model, seed, (2,))
    rest = tau - newton_euler(model, q, qd, np.zeros_like(q)).tau
    expected = np.linalg.solve(mass_matrix(model, q), rest[..., None])[..., 0]
    space = options(canonical(model))
    for choices in (None, space.start, space.quick):
        close(accelerations(model, (q, qd, tau), choices=choices), expected)


def test_a_long_chain_accelerates_as_in_pinocchio():
    model = random_model("R" * 60, 3)
    q, qd, tau = random_states(model, 4)
    other, data = pin_model(model)
    close(accelerations(model, (q, qd, tau)), pin.aba(other, data, q, qd, tau))


@settings(max_examples=20)
@given(robots, seeds)
def test_pivots_are_what_the_joints_feel_and_scales_are_constant(model, seed):
    asked = []
    for state in (random_states(model, seed), random_states(model, seed + 1)):
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


@pytest.mark.thorough
def test_the_shortest_program_is_never_longer_than_by_the_mass_matrix():
    for letters in ("RR", "RRR", "RPRPRPRP", "R" * 9, "R" * 16):
        model = random_model(letters, 2, rotors=True)
        ways = [Request("forward_dynamics", formulation=m) for m in (None, "composite_body")]
        shortest, composite = (quantity_program(model, way).operations.total for way in ways)
        assert shortest <= composite


def test_payload_gravity_and_wrench_known_at_run_time():
    robot = armdyn.load("panda")
    rng = np.random.default_rng(0)
    q, qd, tau = random_states(robot.model, 5)
    body = 2.1, np.array([0.02, -0.03, 0.1]), np.diag([0.02, 0.03, 0.025])
    field, wrench = rng.normal(size=3), rng.normal(size=6)
    request = Request("forward_dynamics", payload=True, gravity=True, wrench=("tool",))
    program = quantity_program(robot.model, request)
    loaded = robot.with_payload(*body).with_gravity(field)
    expected = loaded.forward_dynamics(q, qd, tau, external_wrench=wrench)
    close(program(q, qd, tau, payload_vector(*body), field, wrench), expected)
