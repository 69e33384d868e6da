"""Angles known by sine and cosine, in sums: nothing is called for them, and what cancels is gone."""

import numpy as np
import pytest

from armdyn.graph import Graph, evaluate, proved_equal, reachable

SUMS = {
    "one": lambda a, b, x, y: a,
    "the opposite": lambda a, b, x, y: -a,
    "with another angle": lambda a, b, x, y: a + x,
    "taken from another angle": lambda a, b, x, y: x - a,
    "of two that are known": lambda a, b, x, y: a + b,
    "their difference": lambda a, b, x, y: b - a,
    "twice": lambda a, b, x, y: a + x + a,
    "thrice taken away": lambda a, b, x, y: x - a - a - a,
    "the opposite of a sum": lambda a, b, x, y: -(a + x - b),
    "a sum taken from a sum": lambda a, b, x, y: (x - a) - (y - b - b),
    "with a parameter": lambda a, b, x, y: (a + a.graph.parameter("c", 0.3)) - b,
    "what cancels": lambda a, b, x, y: (a + x - y) + b - (x + x),
}


@pytest.fixture
def angles():
    """Two angles of a graph by sine and cosine, two others, and what they are."""
    g = Graph()
    p, q, x, y = (g.input(name) for name in ("p", "q", "x", "y"))
    return [g.angle(p.sin(), p.cos()), g.angle(q.sin(), q.cos()), x, y], [p, q, x, y]


@pytest.mark.parametrize("name", SUMS)
def test_sine_and_cosine_of_a_sum_are_made_of_what_is_known(name, angles):
    known, plain = (SUMS[name](*these) for these in angles)
    found = [known.sin(), known.cos()]
    assert proved_equal(found, [plain.sin(), plain.cos()])
    assert not {"angle"} & {node.op for node in reachable(found)}
    values = {"p": 0.7, "q": -1.1, "x": 0.4, "y": 0.2}
    np.testing.assert_allclose(*evaluate([known, plain], values), rtol=0, atol=1e-15)


def test_what_is_added_and_taken_away_is_gone(angles):
    a, b, x, y = angles[0]
    assert (a + x) - x is a
    assert (a + b) - a is b
    assert (x - a) + a is x
    assert a.graph.neg(-a) is a
    assert a + x + b is b + (x + a)
    assert a - a is a.graph.number(0)
    assert (a + x) - (x + a) is a.graph.number(0)
    assert a + x is not a + y
