"""Shortening keeps every value, never costs more, and gives one program for one request."""

import pytest
from hypothesis import given, settings

from armdyn.graph import Graph, proved_equal
from armdyn.graph.count import count
from armdyn.shorten import shorten
from armdyn.shorten.passes import reduce
from armdyn.shorten.shorten import resubstitute, shortest_of
from support.processes import printed_with_two_orders_of_hashes
from support.random_graphs import assert_same_outputs, graphs

OPAQUE = ("div", "sqrt", "other", "trig")


@given(graphs)
@settings(max_examples=50)
def test_values_stay_and_no_count_rises(outputs):
    short = shortest_of([outputs])
    assert_same_outputs(outputs, short)
    assert count(short).total <= count(outputs).total


def _solved():
    """A pivot, a division, a root and functions of friction around sums that can be shortened."""
    g = Graph()
    x, y, z = (g.input(name) for name in "xyz")
    a = g.parameter("a", 0.7)
    pivot = g.guard(a + x * y + x * z, a)
    slope = (x * y + x * z) / pivot
    friction = (x * y + x * z).tanh() + (y * x + z * x).signed_power(0.5) + (x * x).exp()
    return [slope, slope * y + slope * z, (y + z).sign() + friction, (x * x + y * y).sqrt()]


@pytest.mark.parametrize("deep", [False, True])
def test_other_operations_are_rewired_but_never_made(deep, monkeypatch):
    monkeypatch.setattr(shorten, "STAGES", 4)
    outputs = _solved()
    result = shortest_of([outputs], deep)
    before, after = count(outputs), count(result)
    assert proved_equal(outputs, result)
    assert all(getattr(after, kind) <= getattr(before, kind) for kind in OPAQUE)
    assert after.total < before.total


def test_a_long_sum_of_many_inputs_is_left_in_time():
    """Far more cells than are compared with each other: the passes alone are run."""
    g = Graph()
    x = g.inputs("x", 2100)
    outputs = [x[i] * x[i + 1] + x[i] * x[i + 2] for i in range(2090)]
    assert count(shortest_of([outputs])).total <= 2 * len(outputs)


def test_of_several_ways_the_shortest_is_taken():
    g = Graph()
    x, y, z = (g.input(name) for name in "xyz")
    short, long = [x * (y + z)], [x * y + x * z + y.sqrt() - y.sqrt()]
    for ways in ([short, long], [long, short]):
        assert count(shortest_of(ways)).total == 2


def test_nothing_and_constants_stay():
    g = Graph()
    assert shortest_of([[]]) == []
    assert [repr(node) for node in shortest_of([[g.number(2), g.number(3)]])] == ["2", "3"]


CODE = """
from armdyn import load
from armdyn.shorten import shorten
from armdyn.shorten.shorten import shortest_of
from armdyn.graph.nodes import trace
from armdyn.graph import Graph
from armdyn.formulations.newton_euler import newton_euler
shorten.STAGES = 8
m, g = load("two_link").model, Graph()
s = [g.inputs(k, 2) for k in ("q", "qd", "qdd")]
outputs = list(trace(g, lambda *x: newton_euler(m, *x).tau, *s))
for deep in (False, True):
    result = shortest_of([outputs], deep)
    print("deep" if deep else "quick", result, *result[0].graph.nodes, sep=chr(10))
"""


def test_two_processes_shorten_to_the_same_program():
    texts = printed_with_two_orders_of_hashes(CODE)
    assert texts[0] == texts[1]
    assert "deep" in texts[0]


def test_the_deep_search_ends_when_it_is_told_to():
    told = []
    g = Graph()
    x, y, z = (g.input(name) for name in "xyz")

    def stop(*state):
        told.append(state)
        return len(told) == 2

    outputs = reduce([x * y + x * z, y * z + x])
    assert proved_equal(outputs, resubstitute(outputs, deep=True, progress=stop))
    assert len(told) == 2
