"""Derivatives on the graph: against complex step, and forward against reverse exactly."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given

from armdyn.errors import GraphError, TraceError
from armdyn.graph import Graph, evaluate, proved_equal
from armdyn.graph.count import count
from armdyn.graph.differentiate import gradient, jacobian, jvp, vjp
from armdyn.graph.operations import FUNCTIONS, OPERATIONS
from support.peers import close
from support.random_robots import seeds

STEP = 1e-30
BINARY = ("add", "sub", "mul", "div")


def random_outputs(seed, size=25, inputs=4):
    """A graph in which every operation can occur and no denominator vanishes."""
    rng, g = np.random.default_rng(seed), Graph()
    symbols = list(g.inputs("x", inputs))
    pool = [*symbols, g.number(0.7), g.parameter("p", 1.3)]
    for _ in range(size):
        a, b = (pool[i] for i in rng.integers(len(pool), size=2))
        match rng.integers(8):
            case 0:
                pool.append(a + b)
            case 1:
                pool.append(a - b)
            case 2 | 3:
                pool.append(a * b)
            case 4:
                pool.append(a / (2 + np.sin(b)))
            case 5:
                pool.append(np.sqrt(2 + np.cos(a)))
            case 6:
                pool.append(np.sin(a))
            case 7:
                pool.append(np.cos(-b))
    return g, symbols, pool[-5:]


@given(seed=seeds)
def test_directional_derivative_is_that_of_complex_step(seed):
    _, symbols, outputs = random_outputs(seed)
    rng = np.random.default_rng(seed)
    x, t = rng.uniform(-1, 1, size=(2, len(symbols)))
    values = {s.name: v for s, v in zip(symbols, x + 1j * STEP * t, strict=True)}
    expected = np.array([v.imag / STEP for v in evaluate(outputs, values)])
    real = {s.name: v for s, v in zip(symbols, x, strict=True)}
    close(evaluate(jvp(outputs, symbols, t.tolist()), real), expected, 1e-11)


@given(seed=seeds)
def test_forward_and_reverse_are_one_jacobian_exactly(seed):
    _, symbols, outputs = random_outputs(seed)
    forward, reverse = (
        jacobian(outputs, symbols),
        np.array([gradient(y, symbols) for y in outputs], dtype=object),
    )
    assert forward.shape == reverse.shape == (len(outputs), len(symbols))
    assert proved_equal(forward.ravel(), reverse.ravel())


@given(seed=seeds)
def test_weighted_directional_derivative_is_the_same_from_both_sides(seed):
    g, symbols, outputs = random_outputs(seed)
    w, t = g.inputs("w", len(outputs)), g.inputs("t", len(symbols))
    from_the_left = sum(np.array(vjp(outputs, symbols, list(w))) * t)
    from_the_right = sum(np.array(jvp(outputs, symbols, list(t))) * w)
    assert proved_equal([g.node(from_the_left)], [g.node(from_the_right)])


@given(seed=seeds)
def test_gradient_costs_a_few_times_the_function_whatever_the_number_of_variables(seed):
    # Baur and Strassen; a product: itself, two products and two sums for the operands
    _, symbols, outputs = random_outputs(seed, size=60, inputs=20)
    once = count(outputs[-1:])
    both = count([outputs[-1], *gradient(outputs[-1], symbols)])
    limit = 5 * once.total + 7 * once.div + 4 * once.sqrt + 5 * once.trig
    assert both.total + both.div + both.sqrt + both.trig <= limit


def test_every_operation_of_the_graph_has_derivatives():
    assert set(OPERATIONS) == {*BINARY, "neg", "guard", "angle_sum", "signed_power", *FUNCTIONS} | {
        "angle"
    }
    assert all(op.partials is not None for op in OPERATIONS.values())


def test_parameters_can_be_differentiated_by():
    g = Graph()
    x, p = g.input("x"), g.parameter("p", 3.0)
    assert proved_equal(jvp([p * p * x], [p], [1]), [2 * p * x])
    assert proved_equal(gradient(p * p * x, [p]), [2 * p * x])


def test_what_does_not_depend_on_the_symbol_has_derivative_zero():
    g = Graph()
    x, y = g.inputs("x", 2)
    zero = g.number(0)
    assert jvp([np.sin(y), g.number(2)], [x], [1]) == [zero, zero]
    assert gradient(np.sin(y), [x, y]) == [zero, np.cos(y)]
    assert jvp([x * y], [x, y], [0, 0]) == [zero]
    assert vjp([x * y], [x, y], [0]) == [zero, zero]


def test_nothing_to_differentiate_is_no_error():
    x = Graph().input("x")
    assert jvp([], [x], [1]) == []
    assert vjp([x], [], [1]) == []


@pytest.mark.slow
def test_an_expression_deeper_than_any_stack():
    g = Graph()
    x = g.input("x")
    y = x
    for _ in range(20_000):
        y = np.sin(y)
    (forward,), (reverse,) = jvp([y], [x], [1]), gradient(y, [x])
    close(evaluate([forward], {"x": 0.4}), evaluate([reverse], {"x": 0.4}), 1e-12)


def test_wrong_requests_are_named():
    g, other = Graph(), Graph()
    x, y = g.inputs("x", 2)
    with pytest.raises(TraceError, match=r"by inputs and parameters, not by mul\(x1, x2\)"):
        jvp([x * y], [x * y], [1])
    with pytest.raises(TraceError, match="given twice: x1, x1"):
        gradient(x, [x, x])
    with pytest.raises(TraceError, match="belongs to another graph"):
        gradient(x, [other.input("x")])
    with pytest.raises(TraceError, match="direction: expected 2 nodes or numbers, got 1"):
        jvp([x], [x, y], [1])
    with pytest.raises(TraceError, match="weights: expected a node or a number, got 'one'"):
        vjp([x], [x], ["one"])


def test_an_operation_without_derivative_is_named(monkeypatch):
    x = Graph().input("x")
    monkeypatch.setitem(OPERATIONS, "sin", replace(OPERATIONS["sin"], partials=None))
    with pytest.raises(GraphError, match="operation 'sin' of %1 has no derivative"):
        gradient(np.sin(x), [x])
