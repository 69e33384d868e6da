"""The search over choices: what it counts is what a graph needs."""

import pytest

from armdyn.canonical.frames import with_tip_phase
from armdyn.compiler.count import count
from armdyn.compiler.trace import trace
from armdyn.expr import Graph
from armdyn.minimal.torques import minimal
from armdyn.quantities.choice_search import searched_choices
from armdyn.quantities.symbolic import symbolic
from support.counted_arms import ARMS

SEARCH_ALONE = {
    "renaud": 206,
    "renaud_full": 395,
    "puma": 270,
    "puma_full": 415,
    "stanford": 205,
    "stanford_full": 376,
    "panda": 516,
    "general": 689,
    "two_link": 22,
}
"""Torques by the structure and the search, equal values counted once."""


@pytest.mark.parametrize("name", SEARCH_ALONE)
def test_counts_of_the_search(name):
    robot, graph = with_tip_phase(ARMS[name]), Graph()
    choices, cost = searched_choices(robot)[0]
    assert cost <= SEARCH_ALONE[name]
    symbols, n = symbolic(robot, graph), len(robot.links)
    states = [graph.inputs(key, n) for key in ("q", "qd", "qdd")]
    outputs = trace(graph, lambda: minimal(symbols, *states, choices).tau)
    assert cost <= count(outputs).total <= cost + 12
