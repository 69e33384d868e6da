"""The table of operations: slopes, parities, rounding and free places are those of the values."""

import numpy as np
import pytest

from armdyn.graph import Graph, evaluate
from armdyn.graph.count import Operations, count, tally
from armdyn.graph.evaluate import HALF_BIT, ROUNDED
from armdyn.graph.operations import FAR_ANGLE, FUNCTIONS, OPERATIONS, angle_sum, guard, slopes

STEP = 1e-6
every_operation = pytest.mark.parametrize("op", OPERATIONS.values(), ids=lambda op: op.name)


def operands_of(op):
    """Numbers that the operation is smooth at, (arity, 6)."""
    x = np.array([-1.9, -0.8, -0.3, 0.4, 0.7, 1.6])
    if op.name == "angle":
        return np.array([np.sin(x), np.cos(x)])
    if op.name == "sqrt":
        return np.abs(x[None])
    if op.name == "signed_power":
        return np.array([x, np.full(6, 1.7)])
    return np.array([x, x[::-1] + 0.35])[: op.arity]


def differences(op, operands):
    """The slopes by differences; a power has none by its exponent, which is a number."""
    found = np.zeros_like(operands)
    for k in range(1 if op.name == "signed_power" else op.arity):
        step = STEP * np.eye(op.arity)[k][:, None]
        found[k] = (op.value(*(operands + step)) - op.value(*(operands - step))) / (2 * STEP)
    return found


@every_operation
def test_slopes_are_those_of_differences_for_numbers_and_for_nodes(op):
    operands = operands_of(op)
    expected, value = differences(op, operands), op.value(*operands)
    found = np.broadcast_arrays(*slopes(op.name, value, operands), value)[:-1]
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-8)
    graph = Graph()
    x, y = graph.input("x1"), graph.input("x2")
    second = graph.number(1.7) if op.name == "signed_power" else y
    args = (x, second)[: op.arity]
    nodes = op.partials(graph, graph.make(op.name, args), *args)
    traced = evaluate(nodes, {f"x{k}": row for k, row in enumerate(operands, 1)})
    np.testing.assert_allclose(np.broadcast_arrays(*traced, value)[:-1], found, rtol=1e-14)


@every_operation
def test_rounding_is_half_a_bit_beside_what_operands_bring(op):
    operands = operands_of(op)
    errors = 1e-15 * np.arange(1, op.arity + 1)[:, None] * np.ones(6)
    value, error = ROUNDED[op.name](*zip(operands, errors, strict=True))
    assert np.array_equal(value, op.value(*operands))
    own = HALF_BIT * value if op.cost else 0.0 * value
    brought = differences(op, operands) * errors
    np.testing.assert_allclose(error, np.sqrt(own**2 + (brought**2).sum(0)), rtol=1e-7)
    assert 1.0 + HALF_BIT == 1.0 < 1.0 + 2.1 * HALF_BIT


@every_operation
def test_an_operation_is_commutative_odd_or_even_as_its_values_are(op):
    x, *more = operands_of(op)
    if op.arity == 2:
        symmetric = np.array_equal(op.value(x, *more), op.value(*more, x), equal_nan=True)
        assert op.commutative == symmetric
    if op.name in FUNCTIONS:
        with np.errstate(invalid="ignore"):
            there, back = op.value(x), op.value(-x)
        assert op.parity == int(np.allclose(there, back)) - int(np.allclose(there, -back))
        np.testing.assert_allclose([FUNCTIONS[op.name](v) for v in x], there, rtol=1e-14)


def test_a_sum_of_angles_rounds_like_a_small_one_however_far_they_are():
    rng = np.random.default_rng(0)
    for size in (5.0, 20.0, 30.0, 100.0, 1e6):
        a, b = rng.uniform(0.5 * size, size, (2, 200))
        found = angle_sum(a, b)
        sine = np.sin(a) * np.cos(b) + np.cos(a) * np.sin(b)
        assert np.abs(np.sin(found) - sine).max() < 2.5e-15
        near = a + b <= FAR_ANGLE
        assert np.array_equal(found[near], (a + b)[near])
        assert np.abs(found[~near]).max(initial=0.0) <= 2 * np.pi
    assert np.spacing(FAR_ANGLE) / 2 <= 4e-15
    assert isinstance(angle_sum(1.0, 2.0), float)


def test_a_pivot_is_refused_where_it_is_rounding_of_its_scale():
    for scale in (1e-9, 1.0, -3.0, 1e8):
        assert guard(2e-13 * scale, scale) == 2e-13 * scale
        assert np.isnan(guard(0.5e-13 * scale, scale))
        assert np.isnan(guard(0.0, scale))


def test_a_tally_counts_what_is_written():
    found = tally(lambda x, y: x @ y, 3, 3)
    assert found == Operations(3, 2)
    assert tally(lambda x: [np.sin(x[0]), np.cos(x[0]), -x[1]], 2) == Operations(0, 0, trig=1)
    assert tally(lambda x: [1.0 / x[0], x[0] / 2.0, 2.0 * x[0] - 1.0], 1) == Operations(1, 1, div=2)
    assert tally(lambda x: (2.0 * 3.0) * x[0] + np.ones(2) * x[0], 1) == Operations(3, 2)


def test_operations_add_up_and_are_taken_away_kind_by_kind():
    g = Graph()
    x, y = g.inputs("x", 2)
    parts = [x * y, (x - y).sqrt(), y.sin() / x, x.cos() + y.exp()]
    counts = [count([part]) for part in parts]
    assert [c.total for c in counts] == [1, 1, 0, 1]
    assert counts[2] == Operations(0, 0, div=1, trig=1)
    assert sum(counts[1:], counts[0]) == count(parts) == Operations(1, 2, 1, 2, 1, 1)
    assert count(parts) - counts[3] == Operations(1, 1, 1, 1, 1, 0)
    assert count([x.sin(), x.cos()]).trig == 1
