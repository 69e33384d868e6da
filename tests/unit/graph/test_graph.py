"""Nodes are shared and folded as they are built, and say so when they are misused."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from armdyn.errors import TraceError
from armdyn.graph import Graph, evaluate, proved_equal, reachable, transcribe
from armdyn.graph.count import NO_OPERATIONS, count
from armdyn.graph.differentiate import jvp
from support.random_graphs import assert_same_outputs, graphs

finite = st.floats(-1e6, 1e6, allow_nan=False)


@pytest.fixture
def g():
    return Graph()


@pytest.fixture
def x(g):
    return g.input("x")


@pytest.fixture
def y(g):
    return g.input("y")


def test_equal_expressions_are_one_node(g, x, y):
    assert x + y is y + x
    assert x * y is y * x
    assert (x + y) * 2 is 2 * (y + x)
    assert g.input("x") is x
    assert g.number(2) is g.number(2.0)
    assert x / y is x / y


IDENTITIES = {
    "0 + x = x": lambda g, x, y: (0 + x, x),
    "x + 0 = x": lambda g, x, y: (x + 0.0, x),
    "x - 0 = x": lambda g, x, y: (x - 0, x),
    "0 - x = -x": lambda g, x, y: (0 - x, -x),
    "x - x = 0": lambda g, x, y: (x - x, g.number(0)),
    "x + (-x) = 0": lambda g, x, y: (x + (-x), g.number(0)),
    "-(-x) = x": lambda g, x, y: (g.neg(-x), x),
    "+x = x": lambda g, x, y: (+x, x),
    "x + (-y) = x - y": lambda g, x, y: (x + (-y), x - y),
    "(-x) + y = y - x": lambda g, x, y: (-x + y, y - x),
    "(-x) + (-y) = -(x + y)": lambda g, x, y: (-x + -y, -(x + y)),
    "x - (-y) = x + y": lambda g, x, y: (x - (-y), x + y),
    "(-x) - y = -(x + y)": lambda g, x, y: (-x - y, -(x + y)),
    "y - x = -(x - y)": lambda g, x, y: (y - x, -(x - y)),
    "0 x = 0": lambda g, x, y: (0 * x, g.number(0)),
    "1 x = x": lambda g, x, y: (x * 1.0, x),
    "(-1) x = -x": lambda g, x, y: (-1 * x, -x),
    "(-x) y = -(x y)": lambda g, x, y: (-x * y, -(x * y)),
    "(-x) (-y) = x y": lambda g, x, y: (-x * -y, x * y),
    "(-2) x = -(2 x)": lambda g, x, y: (-2 * x, -(2 * x)),
    "0 / x = 0": lambda g, x, y: (0 / x, g.number(0)),
    "x / 1 = x": lambda g, x, y: (x / 1, x),
    "x / x = 1": lambda g, x, y: (x / x, g.number(1)),
    "(-x) / y = -(x / y)": lambda g, x, y: (-x / y, -(x / y)),
    "x / (-y) = -(x / y)": lambda g, x, y: (x / -y, -(x / y)),
    "x / 4 = 0.25 x": lambda g, x, y: (x / 4, 0.25 * x),
    "x ** 1 = x": lambda g, x, y: (x**1, x),
    "x ** 3 = x x x": lambda g, x, y: (x**3, x * x * x),
    "sin(-x) = -sin x": lambda g, x, y: ((-x).sin(), -x.sin()),
    "cos(-x) = cos x": lambda g, x, y: ((-x).cos(), x.cos()),
    "cos(y - x) = cos(x - y)": lambda g, x, y: ((y - x).cos(), (x - y).cos()),
    "sin 0 = 0": lambda g, x, y: (g.number(0).sin(), g.number(0)),
    "cos 0 = 1": lambda g, x, y: (g.number(0).cos(), g.number(1)),
    "sqrt 4 = 2": lambda g, x, y: (g.number(4).sqrt(), g.number(2)),
    "2 + 3 = 5": lambda g, x, y: (g.number(2) + 3, g.number(5)),
    "0.5 * 4 = 2": lambda g, x, y: (g.number(0.5) * 4, g.number(2)),
    "3 / 2 = 1.5": lambda g, x, y: (g.number(3) / 2, g.number(1.5)),
    "1 - 3 = -2": lambda g, x, y: (1 - g.number(3), g.number(-2)),
}


@pytest.mark.parametrize("identity", IDENTITIES)
def test_identity_is_folded_as_it_is_built(identity, g, x, y):
    left, right = IDENTITIES[identity](g, x, y)
    assert left is right


@given(finite, finite, st.sampled_from(["add", "sub", "mul", "div"]))
def test_numbers_are_folded_only_if_that_is_exact(a, b, op):
    graph = Graph()
    if op == "div" and b == 0:
        return
    with np.errstate(over="ignore", under="ignore"):
        folded = getattr(graph, op)(graph.number(a), graph.number(b))
        direct = {"add": a + b, "sub": a - b, "mul": a * b, "div": a / b if b else 0}[op]
        assert folded.constant
        assert count([folded]).total == 0
        assert float(evaluate([folded], {})[0]) == pytest.approx(direct, rel=1e-15, abs=1e-300)


def test_rounding_does_not_make_numbers_equal(g):
    assert not proved_equal([g.number(0.1) + 0.2], [g.number(0.1 + 0.2)])
    assert proved_equal([g.number(0.1) + 0.2], [0.2 + g.number(0.1)])


def test_numbers_beyond_float_stay_exact(g):
    huge = g.number(1e300) * 1e300
    assert proved_equal([huge], [g.number(10**0) * g.number(1e300) * 1e300])
    assert g.number(2**80) is g.number(2**79) * 2


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, np.float64("nan")])
def test_a_number_must_be_finite(g, value):
    with pytest.raises(TraceError, match="give finite numbers"):
        g.number(value)


def test_parameters_cost_nothing_and_whole_units_are_numbers(g, x):
    a = g.parameter("a", 0.4)
    assert count([(a * a + a.cos()) * x]).total == 1
    assert g.parameter("zero", 0.0) is g.number(0)
    assert g.parameter("one", 1.0) * x is x
    assert g.parameter("minus", -1.0) * x is -x
    assert g.values == {"a": 0.4}


def test_division_by_zero_is_refused(g, x):
    with pytest.raises(ZeroDivisionError, match="x is divided by zero"):
        x / 0


def test_a_name_is_an_input_or_a_parameter(g, x):
    with pytest.raises(TraceError, match="the name 'x' is used for an input already"):
        g.parameter("x")


def test_two_graphs_do_not_mix(x):
    with pytest.raises(TraceError, match="belongs to another graph; trace everything"):
        x + Graph().input("x")


@pytest.mark.parametrize(
    "misuse",
    [
        lambda x: 1 if x else 0,
        lambda x: x < 1,
        lambda x: max(x, 0),
        float,
        int,
        complex,
        math.sin,
        lambda x: np.array([x, x], dtype=float),
    ],
)
def test_a_node_has_no_value_to_branch_on(x, misuse):
    with pytest.raises(TraceError, match="has no value while a formulation is traced"):
        misuse(x)


@pytest.mark.parametrize("exponent", [0, -1, 0.5, "2"])
def test_only_whole_positive_powers(x, exponent):
    with pytest.raises(TraceError, match="positive integer power"):
        x**exponent


@pytest.mark.parametrize("other", ["a", None, True, 1j])
def test_a_node_combines_with_real_numbers_only(x, other):
    with pytest.raises(TypeError):
        x + other


def test_arrays_of_nodes_work_as_matrices(g, x, y):
    matrix = np.array([[x, 0], [1, y]], dtype=object)
    product = matrix @ np.array([y, 2.0], dtype=object)
    assert product[0] is x * y
    assert product[1] is y + 2 * y
    assert np.cos(matrix[0, :1])[0] is x.cos()
    assert (np.float64(2) * x) is 2 * x
    assert (np.array([1.0, 2.0]) * x)[1] is 2 * x


def test_indices_are_the_order_of_creation(g, x, y):
    (x + y) * (x - y).sin()
    assert [node.index for node in g.nodes] == list(range(len(g.nodes)))
    assert all(a.index < node.index for node in g.nodes for a in node.args)


@given(graphs)
def test_rebuilding_gives_the_same_values_and_no_more_nodes(outputs):
    rebuilt = transcribe(outputs, Graph())
    assert_same_outputs(outputs, rebuilt)
    assert len(reachable(rebuilt)) <= len(reachable(outputs))
    assert transcribe(outputs, outputs[0].graph) == outputs


def test_a_leaf_can_be_replaced(g, x, y):
    other = Graph()
    replaced = transcribe([x * y], other, lambda n: other.number(3) if n is x else None)
    assert replaced[0] is 3 * other.input("y")


DEEP = 50_000


@pytest.mark.slow
def test_deep_chains_do_not_meet_the_recursion_limit(g, x):
    node, angle = x, x
    for i in range(DEEP):
        node = node * x + 1 if i % 2 else node - 0.5
    for _ in range(DEEP):
        angle = angle + x
    outputs = [node, angle.sin()]
    assert proved_equal(outputs, transcribe(outputs, Graph()))
    assert len(reachable(outputs)) > 2 * DEEP
    assert np.isfinite(evaluate(outputs, {"x": 0.3})).all()


def test_a_signed_power_is_folded(g, x):
    assert x.signed_power(1.0) is x
    assert (-x).signed_power(0.5) is -(x.signed_power(0.5))
    assert g.number(-4).signed_power(0.5).value == -2
    assert g.number(0).signed_power(-0.5).value == 0
    assert x.signed_power(2) is x.signed_power(2.0)
    assert x.signed_power(0.5) is not x.signed_power(0.25)


def test_a_signed_power_is_told_from_others_in_the_field(g, x, y):
    assert proved_equal([x.signed_power(0.5) + y], [y + x.signed_power(0.5)])
    assert not proved_equal([x.signed_power(0.5)], [x.signed_power(0.25)])
    assert not proved_equal([x.signed_power(0.5)], [y.signed_power(0.5)])


def test_a_signed_power_has_values_and_slopes_at_zero_and_elsewhere(g, x):
    at = np.array([-2.0, 0.0, 0.25])
    root, square = x.signed_power(0.5), x.signed_power(2)
    slopes = jvp([root, square], [x], [1])
    values = evaluate([root, square, *slopes, *jvp(slopes, [x], [1])], {"x": at})
    expected = (
        np.sign(at) * np.sqrt(np.abs(at)), at * np.abs(at),
        [0.5 / np.sqrt(2), 0.0, 1.0], 2 * np.abs(at),
        [0.25 * 2**-1.5, 0.0, -2.0], [-2.0, 0.0, 2.0],
    )  # fmt: skip
    np.testing.assert_allclose(values, expected, rtol=1e-14)


def test_nothing_takes_no_operations_and_counts_add_up():
    graph = Graph()
    x, y = graph.input("x"), graph.input("y")
    assert count([]) == count([x, y]) == NO_OPERATIONS
    assert (NO_OPERATIONS.total, (count([x * y]) + NO_OPERATIONS).total) == (0, 1)


def test_a_pivot_that_is_a_number_needs_no_guard_unless_it_is_zero(g, x, y):
    assert g.guard(g.number(2), x) is g.number(2)
    assert [g.guard(a, y).op for a in (x, x + y, g.parameter("a", 2.0), g.number(0))] == 4 * [
        "guard"
    ]
    assert np.isnan(evaluate([g.guard(g.number(0), y)], {"y": 1.0})[0])
    assert evaluate([g.guard(x, y)], {"x": -2.0, "y": 1.0})[0] == -2.0
