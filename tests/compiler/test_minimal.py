"""The minimal formulation computes the torques, whatever is chosen, as numbers and as proofs."""

import random
from dataclasses import replace
from functools import partial

import numpy as np
import pinocchio as pin
import pytest

import armdyn
from armdyn.formulations.augmented_body import augmented_body
from armdyn.formulations.composite_body import mass_matrix
from armdyn.formulations.newton_euler import newton_euler
from armdyn.graph import Graph, proved_equal
from armdyn.graph.nodes import trace
from armdyn.graph.program import Program
from armdyn.model.transform import rotation_about, transform
from armdyn.shorten.canonical.frames import CanonicalRobot, canonical, with_tip_phase
from armdyn.shorten.canonical.model import branches, model_from_canonical
from armdyn.shorten.canonical.regroup import axis_in_parent, regroup
from armdyn.shorten.minimal.mass import minimal_mass_matrix
from armdyn.shorten.minimal.options import options
from armdyn.shorten.minimal.torques import minimal
from armdyn.shorten.parts import TORQUES
from armdyn.shorten.search import search
from armdyn.shorten.symbolic import symbolic
from support.counted_arms import ARMS, minimal_outputs
from support.peers import close, pin_model
from support.random_robots import random_model, random_states, special_model
from support.regrouped import parameter_names

CATALOG = ("renaud_6r", "puma560", "stanford", "panda", "two_link", "scara", "ur5e", "gen3")


def any_choices(robot, seed, wide=False):
    """A set of choices drawn at random, place by place."""
    space, draw = options(robot, wide=wide), random.Random(seed)
    choices = space.start
    for place in space.places:
        choices = draw.choice(place(choices))
    return choices


def test_any_choices_give_torques_gravity_and_mass_matrix(arm):
    model = arm.model
    q, qd, qdd = random_states(model, arm.seed, (2,))
    tau, weight = (newton_euler(model, q, *rates).tau for rates in ((qd, qdd), (0 * q, 0 * q)))
    M = mass_matrix(model, q)
    for robot in (canonical(model), with_tip_phase(canonical(model))):
        drawn = [any_choices(robot, seed, wide) for seed in range(3) for wide in (False, True)]
        for choices in (None, options(robot).quick, *drawn):
            close(minimal(robot, q, qd, qdd, choices).tau, tau, 1e-11)
            close(minimal(robot, q, 0.0, 0.0, choices).tau, weight, 1e-11)
            close(minimal_mass_matrix(robot, q, choices), M, 1e-11)


def test_an_offset_that_cancels_is_not_divided_by():
    """A length that is not zero by its symbols, but is by its numbers."""
    model = next(m for m in map(special_model, range(4000)) if cancels(canonical(m)))
    (part, *_) = [p for p in branches(canonical(model)).values() if cancels(p)]
    n = len(part.links)
    program = Program.from_outputs(
        np.array(minimal_outputs(part, TORQUES)), {"q": n, "qd": n, "qdd": n}
    )
    q, qd, qdd = np.random.default_rng(1).uniform(-1, 1, size=(3, 4, n))
    close(program(q, qd, qdd), minimal(part, q, qd, qdd).tau, 1e-9)


def cancels(robot):
    """Whether some offset has a component that is rounding of the others."""
    for link in robot.links:
        p = np.abs(np.asarray(axis_in_parent(link)[1], dtype=float))
        if link.parent >= 0 and ((p > 0) & (p < 1e-12 * p.max())).any():
            return True
    return False


@pytest.mark.parametrize("name", CATALOG)
def test_catalog_against_pinocchio(name):
    model = armdyn.load(name).model
    robot = with_tip_phase(canonical(model))
    other, data = pin_model(model)
    other.armature = np.zeros(len(model.joints))
    for seed in range(4):
        q, qd, qdd = random_states(model, seed)
        expected = pin.rnea(other, data, q, qd, qdd)
        close(minimal(robot, q, qd, qdd).tau, expected, 1e-10)
        close(minimal(robot, q, qd, qdd, any_choices(robot, seed)).tau, expected, 1e-10)


def traced(robot, choices=None):
    """Torques by the minimal formulation and by augmented bodies, in one graph."""
    graph, n = Graph(), len(robot.links)
    symbols = symbolic(robot, graph)
    states = [graph.inputs(name, n) for name in ("q", "qd", "qdd")]
    mine = trace(graph, lambda *s: minimal(symbols, *s, choices).tau, *states)
    model = model_from_canonical(symbols)
    return mine, trace(graph, lambda *s: augmented_body(model, *s).tau, *states)


@pytest.mark.parametrize("name", ARMS)
@pytest.mark.parametrize("seed", [None, 0, 1, 2])
def test_proved_equal_to_augmented_bodies(name, seed):
    robot = ARMS[name]
    choices = None if seed is None else any_choices(robot, seed)
    assert proved_equal(*traced(robot, choices))


def test_proved_equal_on_arbitrary_geometry(arm):
    for part in branches(canonical(arm.model)).values():
        assert proved_equal(*traced(part))


def turning_about_one_point():
    """A weightless arm whose first two axes meet, not in the origin of the second frame."""
    links = list(canonical(random_model("RRR", 1)).links)
    for i, (alpha, a, r) in enumerate([(0.0, 0.0, 0.0), (np.pi / 2, 0.0, 0.2), (0.0, 0.3, 0.1)]):
        across, none = np.array([a, 0.0, 0.0]), np.zeros(3)
        links[i] = replace(
            links[i], alpha=alpha, gamma=0.0, theta=0.0, across=across, r=r, gravity=none
        )
    return CanonicalRobot("weightless", tuple(links))


@pytest.mark.parametrize("name", [*ARMS, "weightless"])
def test_regrouping_of_symbols_is_proved(name):
    robot, graph = ARMS[name] if name in ARMS else turning_about_one_point(), Graph()
    symbols = symbolic(robot, graph)
    states = [graph.inputs(key, len(robot.links)) for key in ("q", "qd", "qdd")]
    models = model_from_canonical(symbols), model_from_canonical(regroup(symbols))
    whole, grouped = (
        trace(graph, lambda *s, m=m: augmented_body(m, *s).tau, *states) for m in models
    )
    assert proved_equal(whole, grouped)
    assert parameter_names(regroup(symbols)) == parameter_names(regroup(robot))


@pytest.mark.parametrize("name", ["renaud", "stanford", "puma_full", "general"])
@pytest.mark.parametrize("seed", [None, 0, 1])
def test_mass_matrix_is_proved(name, seed):
    robot, graph = ARMS[name], Graph()
    choices = None if seed is None else any_choices(robot, seed)
    symbols, q = symbolic(robot, graph), graph.inputs("q", len(robot.links))
    mine = trace(graph, lambda x: minimal_mass_matrix(symbols, x, choices), q)
    model = model_from_canonical(symbols)
    other = trace(graph, lambda x: mass_matrix(model, x), q)
    assert proved_equal(mine.ravel(), other.ravel())


def test_a_wrong_constant_is_not_proved():
    mine, other = traced(ARMS["renaud"])
    assert not proved_equal([mine[0] + mine[1], *mine[1:]], other)


def vary(place, at):
    """The pairs of digits that differ from one in a place."""
    return [(*at[:place], digit, *at[place + 1 :]) for digit in range(10)]


SLOPE = [(9, 9)], [partial(vary, 0), partial(vary, 1)]
"""Where to begin, and the places to choose in."""


def test_search_goes_down_and_is_deterministic():
    def cost(at):
        return abs(at[0] - 3) + abs(at[0] + at[1] - 7)

    found = search(*SLOPE, cost)
    assert next(iter(found.items())) == ((3, 4), 0)
    assert len(found) <= 100


def test_a_search_leaves_a_local_minimum():
    def cost(at):
        return 0 if at == (2, 2) else 5 if 2 in at else 1 if at == (9, 9) else 3

    told = []
    assert min(search(*SLOPE, cost).values()) == 0
    deep = search(*SLOPE, cost, deep=True, progress=lambda *at: told.append(at))
    assert next(iter(deep.values())) == 0
    assert deep == search(*SLOPE, cost, deep=True)
    lowest = [best for _, _, best in told]
    assert lowest == sorted(lowest, reverse=True)
    assert len(lowest) > 2


@pytest.mark.parametrize("angle", [2.9e-13, 1e-9, 1e-5, 1e-3, 3.14159265359])
def test_almost_parallel_axes(angle):
    model = random_model("RRR", 6)
    z = model.joints[0].axis
    normal = np.cross(z, (1.0, 0.0, 0.0))
    almost = rotation_about(normal / np.linalg.norm(normal), angle)
    joints = list(model.joints)
    joints[1] = replace(joints[1], placement=transform(almost, (0.1, 0.2, 0.3)), axis=z)
    model = replace(model, joints=tuple(joints))
    q, qd, qdd = random_states(model, 2, (10,))
    tau = minimal(canonical(model), q, qd, qdd).tau
    close(tau, newton_euler(model, q, qd, qdd).tau, 1e-12)
