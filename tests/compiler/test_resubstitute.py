"""Resubstitution keeps every value, never costs more, and finds what rules would have to list."""

import numpy as np
import pytest
from hypothesis import given, settings

from armdyn import load
from armdyn.formulations.newton_euler import newton_euler
from armdyn.graph import Graph, field
from armdyn.graph.count import count
from armdyn.graph.field import PRIME
from armdyn.graph.nodes import trace
from armdyn.shorten import shorten
from armdyn.shorten.shorten import resubstitute
from support.random_graphs import assert_same_outputs, graphs


def traced(name):
    robot = load(name)
    graph = Graph()
    states = [graph.inputs(k, robot.n) for k in ("q", "qd", "qdd")]
    return list(trace(graph, lambda *x: newton_euler(robot.model, *x).tau, *states))


@given(graphs)
def test_values_stay_and_the_count_does_not_rise(outputs):
    reduced = resubstitute(outputs)
    assert_same_outputs(outputs, reduced)
    assert count(reduced).total <= count(outputs).total
    assert count(reduced).div <= count(outputs).div
    assert count(reduced).trig <= count(outputs).trig


@given(graphs)
@settings(max_examples=10)
def test_the_deep_search_keeps_values_and_is_never_worse(outputs):
    plain = resubstitute(outputs)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shorten, "STAGES", 20)
        deep = resubstitute(outputs, deep=True)
    assert_same_outputs(outputs, deep)
    assert count(deep).total <= count(plain).total


def _identities():
    g = Graph()
    x, y, z, q = (g.input(name) for name in ("x", "y", "z", "q"))
    a, b = g.parameter("a", 0.7), g.parameter("b", 1.9)
    c, s = q.cos(), q.sin()
    return {
        "distributive law": ([x * y + x * z], 2),
        "square of a sum": ([x * x + 2 * (x * y) + y * y], 2),
        "difference of squares": ([x * x - y * y], 3),
        "constants merged": ([a * (b * x)], 1),
        "constant factored": ([a * x + b * x], 1),
        "ratio of constants": ([a * x, b * (a * x) / a], 2),
        "circle": ([(c * c + s * s) * x], 0),
        "one value written twice": ([x * (y + z), x * y + x * z], 2),
        "an inner sum serves two": ([x + y + z, x - (y + q) + z], 4),
        "a sum known already": ([x + y, y + z, x + y + z + z + y], 4),
        "everything cancels": ([(x + y) * (x - y) - x * x + y * y], 0),
    }


@pytest.mark.parametrize("name", list(_identities()))
def test_an_identity_is_found(name):
    outputs, at_most = _identities()[name]
    assert count(resubstitute(outputs)).total <= at_most


@pytest.mark.parametrize(
    ("robot", "at_most"), [("two_link", 33), ("saha_3r", 132), ("renaud_6r", 374)]
)
def test_newton_euler_as_traced_loses_operations(robot, at_most):
    outputs = traced(robot)
    reduced = resubstitute(outputs)
    assert count(reduced).total <= at_most
    rng = np.random.default_rng(0)
    point = {n.name: rng.uniform(-2, 2) for n in outputs[0].graph.nodes if n.op == "input"}
    assert_same_outputs(outputs, reduced, **point)


def test_the_result_is_the_same_every_time():
    first, second = (resubstitute(traced("saha_3r")) for _ in range(2))
    assert [repr(n) for n in first[0].graph.nodes] == [repr(n) for n in second[0].graph.nodes]


def test_a_tiny_constant_is_not_divided_by():
    g = Graph()
    x, tiny, a = g.input("x"), g.number(6.1e-17), g.parameter("a", 0.7)
    outputs = [tiny * x, a * x + a * (tiny * x)]
    assert_same_outputs(outputs, resubstitute(outputs))


def test_progress_of_the_deep_search_ends_at_its_total():
    told = []
    g = Graph()
    x, y = g.input("x"), g.input("y")
    resubstitute([x * y + x], deep=True, progress=lambda *x: told.append(x))
    assert [done for done, _, _ in told] == list(range(1, told[-1][1] + 1))
    assert told[-1][2] == 2


def test_constant_outputs_stay():
    g = Graph()
    outputs = [g.number(3), g.parameter("a") * g.parameter("b")]
    assert resubstitute(outputs) == outputs


def test_arithmetic_on_arrays_of_residues_is_that_of_integers():
    rng = np.random.default_rng(1)
    ends = [0, 1, PRIME - 1, PRIME // 2, 2**31, 2**31 - 1]
    a = [int(x) for x in rng.integers(0, PRIME, 500)] + ends
    b = [int(x) for x in rng.integers(0, PRIME, 500)] + ends[::-1]
    x, y = np.array(a, dtype=np.uint64), np.array(b, dtype=np.uint64)
    pairs = list(zip(a, b, strict=True))
    assert field.add(x, y).tolist() == [(i + j) % PRIME for i, j in pairs]
    assert field.sub(x, y).tolist() == [(i - j) % PRIME for i, j in pairs]
    assert field.mul(x, y).tolist() == [i * j % PRIME for i, j in pairs]
    assert field.unsigned(x).tolist() == [min(i, -i % PRIME) for i in a]
    roots, others = field.roots(x), field.roots(field.sub(field.ZERO, x))
    squares = [[int(r) ** 2 % PRIME for r in found] for found in (roots, others)]
    for i, square, opposite in zip(a, *squares, strict=True):  # of i and -i one has a root
        assert {square, -opposite % PRIME} == {i, 0}
