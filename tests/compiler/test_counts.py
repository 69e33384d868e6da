"""Operation counts: multiplications and additions of an evaluation, which may only go down.

The arms are those of `patterns`: a number that is not zero is a symbol, so each count holds for
every arm with the same zeros. Each program is proved equal to Renaud's recursion on that arm.
"""

from dataclasses import replace

import numpy as np
import pytest

import armdyn
from armdyn.formulations.augmented_body import augmented_body
from armdyn.formulations.composite_body import mass_matrix
from armdyn.graph import Graph, proved_equal
from armdyn.graph.count import count
from armdyn.graph.nodes import trace
from armdyn.shorten.canonical.frames import is_quarter
from armdyn.shorten.canonical.model import model_from_canonical
from armdyn.shorten.parts import MASS_MATRIX, TORQUES, WEIGHT, forward_dynamics
from armdyn.shorten.run_time import weightless
from armdyn.shorten.symbolic import mapped, symbolic
from support.counted_arms import ARMS, minimal_outputs, prepared

COUNTS = {
    "renaud": {"inverse_dynamics": 206, "mass_matrix": 111, "gravity": 17, "forward_dynamics": 421},
    "renaud_full": {"inverse_dynamics": 392, "mass_matrix": 200, "gravity": 49},
    "puma": {"inverse_dynamics": 268, "mass_matrix": 135, "gravity": 21},
    "puma_full": {"inverse_dynamics": 412, "mass_matrix": 226, "gravity": 49},
    "stanford": {"inverse_dynamics": 202, "mass_matrix": 86, "gravity": 17},
    "stanford_full": {"inverse_dynamics": 374, "mass_matrix": 168, "gravity": 47},
    "panda": {"inverse_dynamics": 514, "mass_matrix": 307, "gravity": 84, "forward_dynamics": 1007},
    "general": {"inverse_dynamics": 662, "mass_matrix": 582, "gravity": 112},
    "two_link": {"inverse_dynamics": 22, "mass_matrix": 4, "gravity": 4, "forward_dynamics": 27},
}
"""What is reached; mass matrices of the first arms by programs that come with armdyn."""


@pytest.mark.parametrize(("name", "quantity"), [(n, q) for n in COUNTS for q in COUNTS[n]])
def test_shortest_programs(name, quantity):
    outputs = minimal_outputs(arm(name, quantity), part(name, quantity))
    assert count(outputs).total <= COUNTS[name][quantity]
    if quantity != "forward_dynamics":
        assert proved_equal(outputs, reference(name, quantity, outputs[0].graph))


@pytest.mark.parametrize("quantity", COUNTS["panda"])
@pytest.mark.parametrize("name", ["general", "panda"])
def test_the_count_is_one_of_the_pattern_and_not_of_the_last_bits(name, quantity):
    robot, rng = arm(name, quantity), np.random.default_rng(3)
    shares = [lambda: rng.uniform(0.6, 1.4)] * 6 + [lambda: rng.choice(np.nextafter(1, [0, 2]))] * 6
    arms = [robot, *(scaled(robot, share) for share in shares)]
    assert len({count(minimal_outputs(one, part(name, quantity))).total for one in arms}) == 1


def scaled(robot, share):
    """The robot with other numbers where they are free."""
    return mapped(
        robot,
        lambda _, value: value * share(),
        lambda _, angle: angle if is_quarter(angle) else angle * share(),
    )


def arm(name, quantity):
    """The arm; its mass matrix does not know of gravity."""
    return weightless(ARMS[name]) if quantity == "mass_matrix" else ARMS[name]


def part(name, quantity):
    """The part of that name, without rotors."""
    parts = {"inverse_dynamics": TORQUES, "mass_matrix": MASS_MATRIX, "gravity": WEIGHT}
    return parts.get(quantity) or forward_dynamics(np.zeros(len(ARMS[name].links)))


def reference(name, quantity, graph):
    """The same quantity by Renaud's recursion, or by composite bodies, on the same symbols."""
    robot = prepared(arm(name, quantity))
    model, n = model_from_canonical(symbolic(robot, graph)), len(robot.links)
    if quantity == "mass_matrix":
        return trace(graph, lambda q: mass_matrix(model, q), graph.inputs("q", n))[
            np.tril_indices(n)
        ]
    given = {key: graph.inputs(key, n) for key in part(name, quantity).vectors}
    states = [given.get(key, np.zeros(n)) for key in ("q", "qd", "qdd")]
    return trace(graph, lambda: augmented_body(model, *states).tau)


def paper(robot):
    """Renaud's own recursion on a robot, with symbols."""
    graph = Graph()
    model = model_from_canonical(symbolic(robot, graph))
    inputs = [graph.inputs(name, len(robot.links)) for name in ("q", "qd", "qdd")]
    return trace(graph, lambda *s: augmented_body(model, *s).tau, *inputs)


def test_the_paper_as_written():
    """181 + 127 in the paper, which counts two products twice."""
    operations = count(paper(ARMS["renaud"]))
    assert (operations.mul, operations.add) == (179, 127)


def test_the_paper_after_its_quick_examination():
    """The first moments y5 and z6 act as y5 - z6 only: 164 + 115 in the paper."""
    *others, link5, link6 = ARMS["renaud"].links
    merged = np.array([0.0, link5.u[1] - link6.u[2], 0.0])
    links = (*others, replace(link5, u=merged), replace(link6, u=np.zeros(3)))
    operations = count(paper(replace(ARMS["renaud"], links=links)))
    assert (operations.mul, operations.add) == (164, 115)


CATALOG = {
    "two_link": (22, 4, 4, 27),
    "saha_3r": (71, 22, 4, 82),
    "scara": (60, 20, 0, 84),
    "renaud_6r": (206, 111, 17, 421),
    "puma560": (260, 120, 21, 454),
    "stanford": (189, 72, 21, 346),
    "ur5": (203, 79, 9, 322),
    "ur5e": (220, 97, 12, 388),
    "z1": (376, 180, 33, 625),
    "panda": (509, 305, 84, 1000),
    "iiwa14": (345, 191, 56, 682),
    "gen3": (528, 333, 84, 1041),
}
"""Torques, mass matrix, gravity and forward dynamics of robots with their own numbers."""


@pytest.mark.parametrize("name", CATALOG)
def test_robots_of_the_catalog(name):
    quantities = "inverse_dynamics", "mass_matrix", "gravity", "forward_dynamics"
    counts = [armdyn.count_operations(armdyn.load(name), quantity).total for quantity in quantities]
    assert all(found <= most for found, most in zip(counts, CATALOG[name], strict=True)), counts
