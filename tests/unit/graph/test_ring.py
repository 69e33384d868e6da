"""The laws of trigonometric polynomials: a commutative ring with derivatives, in a normal form."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from armdyn.graph.division import take_out
from armdyn.graph.ring import Ring, evaluate

RING = Ring(("phi1", "phi2"), ("a", "b"))
fractions = st.fractions(-3, 3, max_denominator=4)
multiples = st.dictionaries(st.sampled_from([0, 1]), st.integers(-2, 2))


@st.composite
def terms(draw):
    angle = draw(multiples)
    turned = draw(st.sampled_from([RING.cos, RING.sin]))(angle)
    powers = RING.symbol("a") ** draw(st.integers(0, 2)) * RING.symbol("b") ** draw(
        st.integers(0, 2)
    )
    return draw(fractions) * powers * turned


polynomials = st.lists(terms(), max_size=3).map(lambda parts: sum(parts, RING.number(0)))


def divide(x, y):
    quotient, count = take_out(x, y, 1)
    return quotient if count else None


def value(x, angles=(0.7, -1.9), a=1.3, b=0.4):
    return float(evaluate(x, angles, {"a": a, "b": b}))


@pytest.mark.slow
@given(polynomials, polynomials, polynomials)
def test_a_commutative_ring(x, y, z):
    assert x + y == y + x
    assert x * y == y * x
    assert (x + y) + z == x + (y + z)
    assert (x * y) * z == x * (y * z)
    assert x * (y + z) == x * y + x * z
    assert x - x == 0
    assert not x - x
    assert x * 1 == x + 0 == x


@pytest.mark.slow
@given(polynomials, polynomials)
def test_arithmetic_is_that_of_the_values(x, y):
    np.testing.assert_allclose(value(x + y), value(x) + value(y), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(value(x * y), value(x) * value(y), rtol=1e-12, atol=1e-12)


@given(multiples, multiples)
def test_cosines_and_sines(u, v):
    cos, sin = RING.cos, RING.sin
    both = {k: u.get(k, 0) + v.get(k, 0) for k in (0, 1)}
    assert cos(u) ** 2 + sin(u) ** 2 == 1
    assert cos(both) == cos(u) * cos(v) - sin(u) * sin(v)
    assert sin(both) == sin(u) * cos(v) + cos(u) * sin(v)
    angle = 0.7 * u.get(0, 0) - 1.9 * u.get(1, 0)
    np.testing.assert_allclose([value(cos(u)), value(sin(u))], [np.cos(angle), np.sin(angle)])


@given(polynomials, polynomials, st.sampled_from([0, 1]), st.sampled_from("ab"))
def test_product_rule(x, y, place, name):
    for slope, at in (("slope_of_angle", place), ("slope_of_symbol", name)):
        left = getattr(x * y, slope)(at)
        assert left == getattr(x, slope)(at) * y + x * getattr(y, slope)(at)


@given(polynomials)
def test_slopes_are_derivatives(x):
    e = 1e-5
    by_angle = (value(x, (0.7 + e, -1.9)) - value(x, (0.7 - e, -1.9))) / (2 * e)
    by_symbol = (value(x, a=1.3 + e) - value(x, a=1.3 - e)) / (2 * e)
    np.testing.assert_allclose(value(x.slope_of_angle(0)), by_angle, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(value(x.slope_of_symbol("a")), by_symbol, rtol=1e-6, atol=1e-6)


@given(polynomials)
def test_what_is_split_adds_up(x):
    total = RING.number(0)
    for (harmonic, monomial), coefficient in x.split(["a"]).items():
        assert coefficient.constant
        assert "a" not in coefficient.symbols()
        function = type(x)(RING, {harmonic: {monomial: Fraction(1)}})
        total = total + function * coefficient
    assert total == x


@given(polynomials, polynomials)
def test_division_undoes_multiplication(x, y):
    if y:
        assert divide(x * y, y) == x


@given(polynomials, polynomials)
def test_a_quotient_is_one(x, y):
    if y and (quotient := divide(x, y)) is not None:
        assert quotient * y == x


def test_division_sees_through_sums_of_angles():
    cos, sin = RING.cos, RING.sin
    last = {0: -1, 1: 1}
    assert divide(cos({0: 1}) - cos(last) * cos({1: 1}), sin(last)) == sin({1: 1})
    assert divide(cos({0: 1}), sin(last)) is None
    assert divide(RING.symbol("a"), RING.symbol("b")) is None
    assert divide(sin({0: 2}), sin({0: 1})) == 2 * cos({0: 1})
    assert divide(sin({0: 1}), sin({0: 2})) is None


@given(st.integers(0, 3), st.integers(0, 3))
def test_a_factor_is_taken_out_as_often_as_it_goes(times, most):
    S, rest = RING.sin({0: 1}), RING.symbol("a") + RING.cos({0: 1})
    left, count = take_out(S**times * rest, S, most)
    assert count == min(times, most)
    assert left == S ** (times - count) * rest


def test_a_budget_is_the_number_of_products_of_terms():
    ring = Ring(("phi",), ("a", "b"))
    two, three = ring.symbol("a") + ring.cos({0: 1}), ring.symbol("b") + ring.sin({0: 2}) + 1
    assert (len(two), len(three)) == (2, 3)
    ring.budget = 6
    assert len(two * three) > 3
    with pytest.raises(OverflowError, match="beyond the budget"):
        two * 1
