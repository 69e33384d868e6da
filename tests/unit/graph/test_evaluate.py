"""The finite field knows exactly the identities that hold, and floats follow NumPy."""

import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from armdyn.errors import TraceError
from armdyn.graph import FiniteField, Graph, evaluate, proved_equal, reachable
from armdyn.graph.evaluate import FLOATS, run, run_for, settle, steps_of
from armdyn.graph.field import (
    OTHER_PRIME,
    PRIME,
    circle_point,
    mirrored,
    number_residue,
    rank,
    square_root,
    sum_of_angles,
)
from armdyn.graph.visit import inside_angles
from support.random_graphs import graphs

whole = st.integers(-40, 40)


@pytest.fixture
def g():
    return Graph()


def test_evaluation_broadcasts(g):
    x, y = g.input("x"), g.input("y")
    values = {"x": np.arange(3.0), "y": np.ones((2, 1))}
    (result,) = evaluate([(x + y).sin() * 2 - x / y], values)
    np.testing.assert_array_equal(
        result, np.sin(values["x"] + 1) * 2 - values["x"] + 0 * values["y"]
    )


def test_parameters_have_their_own_value_unless_one_is_given(g):
    a = g.parameter("a", 0.5)
    assert evaluate([a * a], {})[0] == 0.25
    assert evaluate([a * a], {"a": 3.0})[0] == 9.0


def test_a_symbol_without_a_value_is_named(g):
    with pytest.raises(TraceError, match="the input 'x' has no value"):
        evaluate([g.input("x") + 1], {})
    with pytest.raises(TraceError, match="the parameter 'a' has no value"):
        evaluate([g.parameter("a") + 1], {})


def trigonometry():
    g = Graph()
    p, q, x = g.input("q1"), g.input("q2"), g.input("x")
    a = g.parameter("a")
    s, c = np.sin, np.cos
    return {
        "circle": (c(p) * c(p) + s(p) * s(p), g.number(1)),
        "cosine of a sum": (c(p + q), c(p) * c(q) - s(p) * s(q)),
        "sine of a difference": (s(p - q), s(p) * c(q) - c(p) * s(q)),
        "double angle": (s(2 * p), 2 * s(p) * c(p)),
        "multiple and sum": (c(3 * p), c(p + p + p)),
        "negative multiple": (s(-2 * p - q), -s(p + q + p)),
        "offset by a parameter": (c(p + a), c(p) * c(a) - s(p) * s(a)),
        "offset by a number": (s((p + 0.5) + q), s(p + 0.5) * c(q) + c(0.5 + p) * s(q)),
        "distributive law": (x * (p + q), x * p + x * q),
        "binomial": ((x + p) * (x + p), x * x + 2 * x * p + p * p),
        "quotients": (x / p + q / p, (x + q) / p),
        "a root squared": (np.sqrt(x) * np.sqrt(x) / p, x / p),
        "roots of many": (
            sum(np.sqrt(x + k) for k in range(3)) * (np.sqrt(x) - np.sqrt(x + 2)),
            x - (x + 2) + np.sqrt(x + 1) * (np.sqrt(x) - np.sqrt(x + 2)),
        ),
        "a sum of quotients": (1 / p - 1 / q, (q - p) / (p * q)),
    }


@pytest.mark.parametrize("name", trigonometry())
def test_an_identity_is_proved(name):
    left, right = trigonometry()[name]
    assert proved_equal([left], [right])


@pytest.mark.parametrize(
    "different",
    [
        lambda p, q: (np.cos(p), np.sin(p)),
        lambda p, q: (np.cos(p + q), np.cos(p) * np.cos(q)),
        lambda p, q: (np.cos(p), np.cos(q)),
        lambda p, q: (p * q, p * q + 2.0**-900),
        lambda p, q: (np.sqrt(p), np.sqrt(q)),
        lambda p, q: (np.cos(p), p.graph.number(1)),
        lambda p, q: (np.cos(p * q), p.graph.number(1)),
        lambda p, q: (np.sin(0.5 * p), np.sin(0.25 * p)),
        lambda p, q: (np.sin(p + 0.5), np.sin(p + 0.5000000000000001)),
    ],
)
def test_what_differs_is_told_apart(g, different):
    left, right = different(g.input("q1"), g.input("q2"))
    assert not proved_equal([left], [right])


@given(whole, whole)
def test_whole_multiples_of_an_angle_add_up(m, n):
    g = Graph()
    q = g.input("q")
    assert proved_equal([(m * q + n * q).cos()], [((m + n) * q).cos()])


def test_opposite_angles_are_mirrored_where_nothing_folds_them(g):
    p, q = g.input("p"), g.input("q")
    turned = g.make("neg", (p,)), g.make("sub", (q, g.make("neg", (p,))))
    for raw, angle in zip(turned, (-p, q + p), strict=True):
        for function in ("sin", "cos"):
            assert proved_equal([g.make(function, (raw,))], [g.function(function, angle)])


@given(graphs)
def test_residues_depend_on_names_alone(outputs):
    first = FiniteField(3).values(outputs)
    assert first == FiniteField(3).values(outputs)
    assert all(0 <= r < PRIME for r in first)


@given(graphs, st.integers(0, 100))
def test_residues_of_all_nodes_agree_with_those_of_one(outputs, seed):
    field = FiniteField(seed)
    all_nodes = field.residues(reachable(outputs), inside_angles(outputs))
    assert field.values(outputs) == [all_nodes[node.index] for node in outputs]


def test_an_expression_that_divides_by_zero_is_named(g):
    x, y = g.input("x"), g.input("y")
    zero = (x + y) * (x + y) - x * x - 2 * x * y - y * y
    with pytest.raises(ZeroDivisionError, match="divides by what is always zero"):
        FiniteField().values([x / zero])


def test_a_constant_pivot_that_vanishes_is_told_from_other_constants_without_a_value(g):
    a, x = g.parameter("a", 1e-17), g.input("x")
    with pytest.raises(ZeroDivisionError, match="pivot that vanishes"):
        settle([x / g.guard(a, g.parameter("scale", 2.0))])
    root = g.parameter("b", -2.0).sqrt()
    assert settle([x * root]) == [x * root]
    assert settle([x * g.guard(g.parameter("sound", 1.0 + 1e-9), g.number(1))])[0].op == "mul"


def test_graphs_of_the_same_names_are_compared_by_value():
    a, b = Graph(), Graph()
    assert proved_equal([a.input("x") + a.input("y")], [b.input("y") + b.input("x")])


def test_a_number_taken_from_an_angle_is_its_negative_added():
    graph = Graph()
    x = 0.7 * graph.input("x")
    added = graph.apply("add", [x, graph.number(-0.3)])
    assert proved_equal([np.sin(x - 0.3), np.cos(x - 0.3)], [np.sin(added), np.cos(added)])


def test_rounding_is_not_taken_for_a_plain_number():
    """2⁶¹ is 1 modulo the first prime, so that prime alone takes 2⁻⁶⁰ for 2."""
    g = Graph()
    x = g.input("x")
    assert FiniteField().values([2.0**-60 * x]) == FiniteField().values([2 * x])
    assert not proved_equal([2.0**-60 * x], [2 * x])
    assert not proved_equal([x], [2.0**61 * x])


@given(graphs)
def test_only_outputs_are_kept_while_steps_run(outputs):
    steps = steps_of(reachable(outputs))
    places = [node.index for node in outputs]
    values = {n.index: float(n.index) for n in reachable(outputs) if not n.args}
    whole = run(steps, dict(values), FLOATS)
    assert run_for(places, steps, values, FLOATS) == [whole[k] for k in places]
    assert set(values) == set(places)


@pytest.mark.parametrize("prime", [PRIME, OTHER_PRIME])
def test_fields_have_primes_in_which_minus_one_has_no_root(prime):
    assert sympy.isprime(prime)
    assert prime % 4 == 3


def test_points_of_the_circle_are_turned_as_angles_are():
    for prime in (PRIME, OTHER_PRIME):
        a, b = (circle_point(half, prime) for half in (12345678901, 987654321))
        assert all((c * c + s * s) % prime == 1 for c, s in (a, b, sum_of_angles(a, b, prime)))
        assert sum_of_angles(sum_of_angles(a, b, prime), mirrored(b, prime), prime) == a
        assert sum_of_angles(a, (1, 0), prime) == a
        half = circle_point(3, prime)  # cos = -4/5, sin = 3/5
        assert [5 * x % prime for x in half] == [prime - 4, 3]
        assert number_residue(0.75, prime) * 4 % prime == 3
        assert {square_root(k * k, prime) for k in (7, prime - 7)} <= {7, prime - 7}
        assert square_root(prime - 49, prime) is None


@pytest.mark.parametrize("prime", [PRIME, 2**29 - 33])
def test_the_rank_of_a_product_is_the_number_of_its_inner_columns(prime):
    rng = np.random.default_rng(0)
    for rows, inner, columns in ((5, 3, 6), (6, 2, 4), (4, 4, 4), (3, 3, 7)):
        left, right = (
            [[int(x) for x in row] for row in rng.integers(0, 2**28, shape)]
            for shape in ((rows, inner), (inner, columns))
        )
        right = [[0, *row] for row in right]
        product = [
            [sum(a * r[k] for a, r in zip(row, right, strict=True)) % prime
             for k in range(columns + 1)]
            for row in left
        ]  # fmt: skip
        assert rank(product, prime) == inner
        assert rank(list(zip(*product, strict=True)), prime) == inner
    assert rank([[0, 3]], prime) == rank([[0], [5]], prime) == 1
