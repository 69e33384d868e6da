"""Rates of links and their moments in the shortest form, against their definitions in numbers."""

from itertools import permutations, product

import numpy as np
import pytest

from armdyn.model.transform import skew
from armdyn.shorten.minimal.constants import Constants
from armdyn.shorten.minimal.torques import (
    constants_turned,
    moment,
    rates_from_acceleration,
    rates_from_column,
    rates_turned,
)

RNG = np.random.default_rng(4)
SQUARES = ("xz", "yz", "xyz")
QUARTERS = [
    R
    for order in permutations(range(3))
    for signs in product((1, -1), repeat=3)
    if np.linalg.det(R := np.eye(3, dtype=int)[list(order)] * np.array(signs)) > 0
]


def assert_rates(rates, w, wd):
    """What the class says of its fields."""
    b = skew(wd) + skew(w) @ skew(w)
    np.testing.assert_allclose(rates.w, w, atol=1e-13)
    np.testing.assert_allclose(rates.wd, wd, atol=1e-13)
    np.testing.assert_allclose(rates.b, b, atol=1e-13)
    np.testing.assert_allclose(rates.difference, np.subtract.outer(*[np.diag(b)] * 2), atol=1e-13)
    assert rates.wxwy == pytest.approx(w[0] * w[1])


def ways(w, wd):
    """The rates in every way they can be found."""
    column = (skew(wd) + skew(w) @ skew(w))[:, 2]
    for squares in SQUARES:
        yield rates_from_acceleration(tuple(w), tuple(wd), squares)
        for doubled in ("", "x", "y", "xy"):
            yield rates_from_column(tuple(w), tuple(column), wd[2], squares, doubled)


def test_rates_are_what_they_are_called_in_all_axes_that_quarter_turns_reach():
    assert len(QUARTERS) == 24
    w, wd = RNG.normal(size=(2, 3))
    for rates in ways(w, wd):
        assert_rates(rates, w, wd)
        for R in QUARTERS:
            assert_rates(rates_turned(rates, R.tolist()), R.T @ w, R.T @ wd)


def test_moments_are_those_of_second_moments_and_turn_with_their_axes():
    """vee(b J - (b J)ᵀ); what is about z is told apart as the spin."""
    w, wd = RNG.normal(size=(2, 3))
    b = skew(wd) + skew(w) @ skew(w)
    J = (root := RNG.normal(size=(3, 3))) @ root.T
    J[2, 2] = 0.0
    odd = b @ J - (b @ J).T
    expected = np.array([odd[2, 1], odd[0, 2], odd[1, 0]])
    u, v = RNG.normal(size=(2, 3))
    none = (0.0, 0.0, 0.0)
    rest = (1.3, none, none, 0.2, 0.4, none)
    fixed = Constants(J.tolist(), J[0, 0] + J[1, 1], tuple(u), tuple(v), *rest)
    for rates in ways(w, wd):
        np.testing.assert_allclose(moment(fixed, rates), expected, atol=1e-12)
    c, s = np.cos(0.7), np.sin(0.7)
    R = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    for rates in ways(R @ w, R @ wd):
        turned = constants_turned(fixed, (c, s))
        np.testing.assert_allclose(np.array(turned.J, dtype=float), R @ J @ R.T, atol=1e-13)
        np.testing.assert_allclose(turned.force_u, R @ u, atol=1e-14)
        np.testing.assert_allclose(turned.moment_u, R @ v, atol=1e-14)
        np.testing.assert_allclose(moment(turned, rates), R @ expected, atol=1e-12)
