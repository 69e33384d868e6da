"""The search over choices: what it counts is what a graph needs."""

from dataclasses import replace

import numpy as np
import pytest

import armdyn
from armdyn.graph import Graph
from armdyn.graph.count import count
from armdyn.graph.nodes import trace
from armdyn.shorten.canonical.frames import canonical, with_tip_phase
from armdyn.shorten.canonical.model import branches
from armdyn.shorten.choice_search import searched_choices, searched_origins
from armdyn.shorten.minimal.options import options
from armdyn.shorten.minimal.torques import minimal
from armdyn.shorten.shorten import shortest_of
from armdyn.shorten.symbolic import symbolic
from support.counted_arms import ARMS
from support.processes import printed_with_two_orders_of_hashes
from support.random_robots import random_model

SEARCH_ALONE = {
    "renaud": 206,
    "renaud_full": 395,
    "puma": 270,
    "puma_full": 415,
    "stanford": 205,
    "stanford_full": 376,
    "panda": 516,
    "general": 662,
    "two_link": 22,
}
"""Torques by the structure and the search, equal values counted once."""


@pytest.mark.slow
@pytest.mark.parametrize("name", SEARCH_ALONE)
def test_counts_of_the_search(name):
    robot, graph = with_tip_phase(ARMS[name]), Graph()
    choices, cost = searched_choices(robot)[0]
    assert cost <= SEARCH_ALONE[name]
    symbols, n = symbolic(robot, graph), len(robot.links)
    states = [graph.inputs(key, n) for key in ("q", "qd", "qdd")]
    outputs = trace(graph, lambda: minimal(symbols, *states, choices).tau)
    assert count(shortest_of([outputs])).total <= cost <= count(outputs).total


@pytest.mark.parametrize(
    ("quantity", "name", "most"),
    [
        ("mass_matrix", "renaud", 128),
        ("mass_matrix", "panda", 324),
        ("forward_dynamics", "renaud", 480),
        ("forward_dynamics", "panda", 1080),
    ],
)
def test_counts_of_searched_origins(quantity, name, most):
    counts = [cost for _, cost in searched_origins(with_tip_phase(ARMS[name]), quantity)]
    assert counts == sorted(counts)
    assert counts[0] <= most


@pytest.mark.slow
def test_every_kind_of_joint_is_counted(arm):
    for robot in branches(canonical(arm.model)).values():
        assert searched_choices(robot)[0][1] > searched_choices(robot, ("q",))[0][1]
        for quantity in ("mass_matrix", "forward_dynamics"):  # point masses may need rotors
            assert searched_origins(robot, quantity, [arm.rotors] * len(robot.links))


def test_every_origin_of_a_long_robot_is_moved():
    robot = canonical(random_model("R" * 16, 1))
    ((choices, _),) = searched_origins(robot, "forward_dynamics")
    assert choices == options(robot).quick


def test_the_search_begins_with_the_regrouped_robot_too():
    choices, cost = searched_choices(with_tip_phase(canonical(armdyn.load("scara").model)))[0]
    assert choices.regrouped
    assert cost <= 61


def test_units_are_never_small():
    """A first moment that is rounding of the others is no unit, and no offset to divide by."""
    robot = ARMS["puma_full"]
    links = [replace(link, u=np.array([1e-14, 1.0, 1.0])) for link in robot.links]
    space = options(replace(robot, links=tuple(links)))
    assert ("u", 5, 0) not in space.units(space.start)
    assert space.sound(replace(space.start, force=("u", 5, 1)))
    assert not space.sound(replace(space.start, force=("u", 5, 0)))
    small = [replace(link, across=np.array([1e-14, 0.0, 0.0])) for link in robot.links]
    space = options(replace(robot, links=tuple(small)))
    assert not space.sound(space.start.with_link(3, point_mass="x"))


@pytest.mark.slow
def test_one_robot_gets_one_list_of_choices():
    script = (
        "from armdyn.shorten.choice_search import searched_choices\n"
        "from support.counted_arms import ARMS\n"
        "print(searched_choices(ARMS['stanford'])[:9])\n"
    )
    first, second = printed_with_two_orders_of_hashes(script)
    assert first == second != ""
