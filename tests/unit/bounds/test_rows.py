"""Torques as polynomials: they are those of the robot, and their errors hold."""

import re

import numpy as np
import pytest

import armdyn
from armdyn.bounds.boxes import Tensor, boxes, controls
from armdyn.bounds.polynomials import Monomials, Polynomial, Turn
from armdyn.bounds.rows import StateLimits, torque_rows
from armdyn.errors import ModelError
from support.programs import kept_program


def limits_of(arm):
    rng = np.random.default_rng(arm.seed)
    low = rng.uniform(-2, 0, arm.robot.n)
    return StateLimits(
        low, low + rng.uniform(0.5, 3, arm.robot.n), *rng.uniform(0.5, 2, (2, arm.robot.n))
    )


def value(row, limits, q, v, a):
    """The polynomial at positions, and at shares of speeds and accelerations."""
    total = 0.0
    for entry, functions, number in zip(row.entries, row.functions, row.numbers, strict=True):
        rates = row.rates[entry]
        term = number * np.prod(
            [v[..., j] for j in rates] if len(rates) == 2 else [a[..., j] for j in rates], axis=0
        )
        for j, slides, f in zip(row.joints, row.slides, functions, strict=True):
            c, s = np.cos(q[..., j]), np.sin(q[..., j])
            middle, half = limits.stroke(j)
            x = (q[..., j] - middle) / half
            term = term * ((1, x, x * x) if slides else (1, c, s, c * c, c * s))[f]
        total = total + term
    return total


def test_rows_are_the_torques_of_every_arm_or_are_refused(arm, monkeypatch):
    monkeypatch.setattr("armdyn.bounds.rows.quantity_program", kept_program)
    robot, limits, rng = arm.robot, limits_of(arm), np.random.default_rng([arm.seed, 5])
    try:
        rows = torque_rows(robot.model, limits)
    except ModelError as error:
        assert re.search("no bound is proved|nothing is proved", str(error))  # noqa: PT017
        # a screw turns and slides by the same number, and a follower may turn by any multiple
        assert "H" in arm.kinds or any(m != int(m) for _, _, m, _ in arm.mimics)
        return
    q = rng.uniform(limits.low, limits.high, (30, robot.n))
    v, a = rng.uniform(-1, 1, (2, 30, robot.n))
    tau = robot.inverse_dynamics(q, v * limits.rates, a * limits.bends, friction=False)
    for i, row in enumerate(rows):
        found = value(row, limits, q, v, a)
        assert np.abs(found - tau[:, i]).max() <= row.error + 1e-13 * row.scale
        assert row.error <= 1e-9 * max(row.scale, 1.0)


def test_errors_of_polynomials_hold_in_exact_arithmetic():
    """(0.1 c + s)³ (0.1 c - s), by doubles and by rational numbers."""
    from fractions import Fraction

    frame = Monomials([False])
    c, s = Turn(frame, {0: 1.0}, 0.0, 0.0).circle()
    tenth = Polynomial.number(frame, 0.1)
    a, b = tenth.times(c).plus(s), tenth.times(c).plus(s, -1.0)
    found = a.times(a).times(a).times(b)
    t = Fraction(0.1)
    # with s² = 1 - c²: -1 + 2 c² - c⁴ + t⁴ c⁴ + 2 t (t² c² - 1 + c²) c s
    exact = {0: -1, 2: 2, 4: t**4 - 1, (3, 1): 2 * t * (t**2 + 1), (1, 1): -2 * t}
    terms = {}
    for key, number in zip(found.keys, found.numbers, strict=True):
        power, sine = int(key) & 7, int(key) >> 3
        terms[(power, sine) if sine else power] = Fraction(number)
    assert terms.keys() == exact.keys()
    error = sum(abs(terms[k] - exact[k]) for k in exact)
    assert 0 < error <= found.error < 1e-13


def test_the_error_of_a_row_holds_the_distance_between_kernel_and_book():
    """A robot whose numbers are rounded: thousands of states stay within the error."""
    robot = armdyn.load("puma560")
    limits = StateLimits(*robot.limits.T, np.full(6, 3.0), np.full(6, 9.0))
    q, v, a = np.random.default_rng(0).uniform(-1, 1, (3, 4000, 6))
    q = robot.limits[:, 0] + 0.5 * (q + 1) * np.ptp(robot.limits, axis=1)
    qd, qdd = v * limits.rates, a * limits.bends
    kernel = robot.inverse_dynamics(q, qd, qdd, friction=False)
    book = robot.inverse_dynamics(q, qd, qdd, friction=False, formulation="newton_euler")
    rows = torque_rows(robot.model, limits)
    for i, row in enumerate(rows):
        assert np.abs(kernel - book)[:, i].max() <= 2 * row.error
        assert row.error < 1e-9 * row.scale


@pytest.mark.parametrize("half", [1.2, 0.5, 0.01])
@pytest.mark.parametrize("kind", [3, 4, 5])
def test_arcs_lie_in_the_hull_of_their_control_points(kind, half):
    """In every direction some control point is at least as far as the arc."""
    rng = np.random.default_rng(kind)
    middle = rng.uniform(-3, 3, 40)
    points = controls(kind, middle, np.full(40, half))
    q = middle[:, None] + half * np.linspace(-1, 1, 101)
    c, s = np.cos(q), np.sin(q)
    curve = (q**0, q, q * q) if kind == 3 else (q**0, c, s, c * c, c * s)
    curve = np.stack(curve[: points.shape[-1]], -1)
    directions = rng.normal(size=(300, points.shape[-1]))
    far = (curve @ directions.T).max(axis=1)
    assert (far <= (points @ directions.T).max(axis=1) + 1e-12).all()
    # and it is not far away: second order
    assert ((points @ directions.T).max(axis=1) - far).max() <= 8 * half**2


def test_boxes_cover_their_parents():
    low, high = np.array([-2.8973]), np.array([1.7628])
    for depth in (1, 3, 9):
        deep = np.full((2**depth, 1), depth)
        middle, half = boxes(low, high, deep, np.arange(2**depth)[:, None])
        assert (middle - half)[0] <= low
        assert (middle + half)[-1] >= high
        assert ((middle + half)[:-1] >= (middle - half)[1:]).all()


def test_a_tensor_at_control_points_is_the_sum_of_its_terms():
    robot = armdyn.load("saha_3r")
    rng = np.random.default_rng(3)
    limits = StateLimits(np.full(3, -1.0), np.full(3, 1.0), np.ones(3), np.ones(3))
    for row in torque_rows(robot.model, limits):
        tensor = Tensor(row)
        points = [rng.normal(size=(2, k, 5 if k == 5 else 3)) for k in tensor.kinds]
        found = tensor.values(points)
        wanted = np.zeros_like(found)
        for entry, functions, number in zip(row.entries, row.functions, row.numbers, strict=True):
            term = np.full((2, 1), number)
            for point, f in zip(points, functions, strict=True):
                term = (point[:, :, None, f] * term[:, None]).reshape(2, -1)
            wanted[:, entry] += term
        assert found == pytest.approx(wanted, abs=1e-12)
