"""What joints at rest do, as a convex problem with one solution; impacts at stops."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from armdyn.simulation.forces import Setup
from armdyn.simulation.system import System, impact, least_constraint
from support.simulation_laws import gantry

seeds = st.integers(0, 2**32 - 1)


def mass_matrix(rng, n):
    """Positive definite, of joints that differ by orders of magnitude."""
    A = rng.normal(size=(n, n + 2)) * 10 ** rng.uniform(-1.5, 0.5, (n, 1))
    return A @ A.T


def problem(seed):
    """Joints of every kind: in motion, dry, at a lower stop and at an upper one."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 8))
    kind = rng.integers(4, size=n)
    low = np.where(kind == 0, 0.0, -rng.uniform(0, 2, n))
    high = np.where(kind == 0, 0.0, rng.uniform(0, 2, n))
    low, high = np.where(kind == 2, -np.inf, low), np.where(kind == 3, np.inf, high)
    return mass_matrix(rng, n), 2 * rng.normal(size=n), low, high


@given(seeds)
def test_each_joint_is_held_within_its_levels_or_moves_against_one(seed):
    M, b, low, high = problem(seed)
    a = least_constraint(M, b, low, high)
    held = b - M @ a
    slack = 1e-9 * (1 + np.abs(b).max())
    assert (low - slack <= held).all()
    assert (held <= high + slack).all()
    np.testing.assert_allclose(held[a > 0], high[a > 0], rtol=0, atol=slack)
    np.testing.assert_allclose(held[a < 0], low[a < 0], rtol=0, atol=slack)


@given(seeds)
def test_the_order_of_joints_does_not_matter(seed):
    M, b, low, high = problem(seed)
    order = np.random.default_rng(seed + 1).permutation(len(b))
    a = least_constraint(M, b, low, high)
    other = least_constraint(M[np.ix_(order, order)], b[order], low[order], high[order])
    np.testing.assert_allclose(other, a[order], rtol=1e-8, atol=1e-8 * np.abs(a).max())
    np.testing.assert_array_equal(other == 0, a[order] == 0)


@given(seeds)
def test_no_other_acceleration_has_less_constraint(seed):
    M, b, low, high = problem(seed)

    def constraint(a):
        level = np.where(a > 0, high, np.where(a < 0, low, 0.0))
        return 0.5 * a @ M @ a - b @ a + level @ a

    a = least_constraint(M, b, low, high)
    rng = np.random.default_rng(seed)
    for size in (1e-3, 0.1, 3.0):
        step = size * rng.normal(size=len(b))
        step = np.where((low == -np.inf) & (a + step < 0), -a, step)
        step = np.where((high == np.inf) & (a + step > 0), -a, step)
        assert constraint(a + step) >= constraint(a) - 1e-9


@given(seeds)
def test_joints_that_nothing_holds_obey_newton(seed):
    M, b, *_ = problem(seed)
    none = np.zeros(len(b))
    expected = np.linalg.solve(M, b)
    np.testing.assert_allclose(
        least_constraint(M, b, none, none), expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max()
    )


def test_a_torque_at_the_level_does_not_move_a_joint_and_one_above_does():
    M, level = np.array([[2.0]]), np.array([1.5])
    assert least_constraint(M, level, -level, level) == 0
    np.testing.assert_allclose(least_constraint(M, level + 1e-6, -level, level), 5e-7, rtol=1e-8)


def landing(seed):
    """Velocities of joints some of which run into their stops and some rest there."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 7))
    stops = rng.integers(-1, 2, n).astype(float)
    v = np.where(
        stops != 0, stops * rng.uniform(0, 2, n) * (rng.random(n) < 0.7), rng.normal(size=n)
    )
    return mass_matrix(rng, n), v, stops


@given(seeds, st.floats(0, 1))
def test_an_impact_throws_back_and_never_gives_energy(seed, bounce):
    M, v, stops = landing(seed)
    after = impact(M, v, stops, bounce)
    assert (stops * after <= -bounce * stops * v + 1e-9).all()
    energy = 0.5 * v @ M @ v
    assert 0.5 * after @ M @ after <= energy * (1 + 1e-12) + 1e-12
    blow = M @ (after - v)
    scale = 1e-9 * (1 + np.abs(M).max())
    np.testing.assert_allclose(blow[stops == 0], 0, atol=scale)
    assert (stops * blow <= scale).all()


@given(seeds)
def test_a_perfect_bounce_of_one_joint_keeps_the_energy_of_the_arm(seed):
    M, v, _ = landing(seed)
    v[0] = 1.3
    after = impact(M, v, np.eye(len(v))[0], 1.0)
    np.testing.assert_allclose(after[0], -1.3, rtol=1e-9)
    np.testing.assert_allclose(after @ M @ after, v @ M @ v, rtol=1e-9)


def test_an_inelastic_joint_stops_exactly():
    M, v, _ = landing(11)
    v[0] = -0.7
    assert impact(M, v, -np.eye(len(v))[0])[0] == 0


def test_what_is_watched_is_the_speed_of_slip_what_friction_can_still_hold_and_the_way_to_a_stop():
    row = {"coulomb": 1.5, "limits": [-1.0, 2.0]}
    robot, rest, inf = gantry(row, row), np.zeros(2), np.inf
    options = ("DOP853", None, None, True, True, 0.0, 1e-9, 1e-9, None)
    for push, q, qd, expected in (
        ((0, 0), (0.3, 1.6), (0.7, -0.4), ((0.7, 0.4), (inf, inf), (inf, inf), (1.3, 0.4))),
        ((0.4, 9), (-0.2, 2.0), (0, 0), ((inf, inf), (1.9, 10.5), (1.1, inf), (inf, inf))),
        ((-9, -0.4), (-1.0, 1.9), (0, 0), ((inf, inf), (inf, 1.1), (10.5, 1.9), (inf, inf))),
    ):
        system = System(Setup(robot, rest, rest, 1.0, np.array(push), None, None, *options))
        state = system.start(np.array(q), np.array(qd, dtype=float))
        system.settle(0.0, state)
        found = system.watched(0.0, state)
        np.testing.assert_allclose(found, expected, atol=1e-6)
        room = np.isfinite(found[1:3])
        slack = found[1:3][room] - np.array(expected)[1:3][room]
        assert (slack > 0).all()  # rounding starts no motion
