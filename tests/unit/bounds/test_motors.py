"""Bounds of motors: reached from below, never exceeded from above."""

import json

import numpy as np
import pytest

import armdyn
from armdyn.bounds.motors import MotorBounds
from armdyn.bounds.rows import StateLimits
from armdyn.bounds.search import Search
from armdyn.errors import ModelError


def bounds_of(robot, bend=2.0, **more):
    limits = StateLimits(*robot.model.ranges.T, robot.velocity_limits, np.full(robot.n, bend))
    return MotorBounds(robot, limits, **more)


def largest_of_states(robots, limits, count):
    """The largest torques of random states; speeds and accelerations at their ends in half."""
    rng, n = np.random.default_rng(7), robots[0].n
    q = rng.uniform(limits.low, limits.high, (count, n))
    v, a = rng.uniform(-1, 1, (2, count, n))
    v[::2], a[::2] = np.sign(v[::2]), np.sign(a[::2])
    state = q, v * limits.rates, a * limits.bends
    return np.max([np.abs(robot.inverse_dynamics(*state)).max(axis=0) for robot in robots], axis=0)


@pytest.fixture(scope="module")
def puma():
    return bounds_of(armdyn.load("puma560"), lifts=(0.0, 1.5))


@pytest.mark.slow
def test_no_state_exceeds_a_bound_and_its_state_reaches_it(puma):
    robot, limits = puma.robot, puma.limits
    lifting, gap = robot.with_payload(1.5, add=True), 0.002
    most = largest_of_states([robot, lifting], limits, 40_000)
    for i in range(robot.n):
        found = puma.bound(i, gap=gap)
        held = lifting if found.lift else robot
        tau = held.inverse_dynamics(found.q, found.qd, found.qdd)[i]
        assert abs(tau) == pytest.approx(found.lower, rel=1e-12)
        assert (limits.low <= found.q).all()
        assert (found.q <= limits.high).all()
        assert (np.abs(found.qd) <= limits.rates).all()
        assert most[i] <= found.upper
        assert found.lower <= found.upper <= found.lower * (1 + gap) * (1 + 1e-9)


def test_a_lever_is_at_its_worst_where_a_book_says():
    """A point at the end of a rod that turns about a level axis: m l² a + m g l, by any gap."""
    robot = armdyn.from_dh(
        [{"joint": "revolute", "a": 0.7, "mass": 2.0, "com": (0, 0, 0), "coulomb": 0.3,
          "viscous": 0.1, "limits": (-2.0, 2.0), "velocity_limit": 3.0}],
        gravity=(0, -9.81, 0),
    )  # fmt: skip
    exact = 2.0 * 0.7**2 * 2.0 + 2.0 * 9.81 * 0.7 + 0.3 + 0.1 * 3.0
    found = bounds_of(robot).bound(0, gap=1e-5)
    assert found.lower == pytest.approx(exact, rel=1e-9)
    assert exact <= found.upper <= exact * (1 + 1.1e-5)
    # its power is largest there too, at full speed
    assert found.power[0] == pytest.approx(3.0 * exact, rel=1e-9)
    assert 3.0 * exact <= found.power[1] <= 3.0 * exact * (1 + 1.1e-5)


def test_slides_and_payloads_have_bounds():
    """A telescope that swings: its torque grows with the stroke, and quadratically."""
    rows = [
        {"joint": "revolute", "alpha": np.pi / 2, "mass": 0.0, "velocity_limit": 2.0},
        {"joint": "prismatic", "mass": 3.0, "limits": (0.1, 0.9), "velocity_limit": 1.0},
    ]
    robot = armdyn.from_dh(rows, gravity=(0, -9.81, 0), name="telescope")
    found = bounds_of(robot, lifts=(0.0, 2.0))
    swing = found.bound(0, gap=0.001)
    assert swing.lift == 1
    # 5 kg at 0.9 m: m r² a + 2 m r v w + m g r
    exact = 5 * (0.9**2 * 2.0 + 2 * 0.9 * 1.0 * 2.0 + 9.81 * 0.9)
    assert swing.lower == pytest.approx(exact, rel=1e-6)
    assert exact <= swing.upper * (1 + 1e-12) <= exact * 1.0011
    most = largest_of_states([robot, robot.with_payload(2.0)], found.limits, 20_000)
    assert (most <= [swing.upper, found.bound(1).upper]).all()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "motor", "least"), [("panda", 4, 34.18), ("iiwa14", 5, 2.468), ("iiwa14", 4, 33.09)]
)
def test_states_that_searches_in_all_coordinates_miss_are_found(name, motor, least):
    """They ended at 32.76, 2.37 and, with speeds at their ends alone, at 32.70 N m."""
    found = bounds_of(armdyn.load(name)).bound(motor - 1, prove=False)
    assert least < found.lower < 1.01 * least
    assert np.isinf(found.upper)
    tau = armdyn.load(name).inverse_dynamics(found.q, found.qd, found.qdd)
    assert abs(tau[motor - 1]) == pytest.approx(found.lower, rel=1e-12)


def test_leaves_cover_the_positions_and_none_is_above_the_threshold(puma):
    """Each random state lies in a leaf of the tree."""
    found = puma.bound(2, gap=0.02)
    proof = found.proofs[1]
    rng = np.random.default_rng(1)
    at = rng.random((500, len(proof.low)))
    for x in at:
        node, low, high = 0, np.zeros(len(x)), np.ones(len(x))
        while (axis := proof.tree.axes[node]) >= 0:
            middle = 0.5 * (low[axis] + high[axis])
            node = proof.tree.halves[node] + int(x[axis] >= middle)
            (low if x[axis] >= middle else high)[axis] = middle
        assert (low <= x).all()
        assert (x <= high).all()
    assert (proof.tree.axes < 0).sum() == (proof.tree.axes >= 0).sum() + 1


def test_what_has_no_time_makes_do_with_a_larger_gap(puma):
    hurried = puma.bound(1, gap=1e-4, in_time=())
    careful = puma.bound(1, gap=1e-3)
    assert hurried.boxes < careful.boxes
    assert hurried.gap > careful.gap
    assert hurried.upper >= careful.lower


def test_a_threshold_that_is_reached_is_never_proved(puma):
    """Were the climb to stop too low, the middles of boxes would raise it."""
    row = puma.rows[0][1]
    search = Search(row, puma.limits, (0.0, 0.0), 0.01)
    right = search.reached.value
    search.reached = type(search.reached)(0.5 * right, *(
        getattr(search.reached, name) for name in ("q", "speeds", "sign")))  # fmt: skip
    threshold, _ = search.proved()
    assert right <= threshold
    assert search.reached.value > 0.99 * right


@pytest.mark.slow
def test_worst_case_tells_what_is_proved():
    robot = armdyn.load("saha_3r")
    case = armdyn.worst_case(robot, acceleration=1.0, prove=True, gap=0.002)
    assert case.proved
    assert "proved for every state" in case.report()
    for motor, demand in zip(json.loads(case.json())["motors"], case.demands, strict=True):
        assert motor["lower"] == abs(demand.torque) <= motor["upper"]
        assert 0 <= motor["gap"] <= 0.0021
        tau = robot.inverse_dynamics(*(motor["state"][name] for name in ("q", "qd", "qdd")))
        assert abs(tau[robot.joint_names.index(motor["joint"])]) == pytest.approx(motor["lower"])
    asked = armdyn.worst_case(robot, acceleration=1.0, prove=False)
    assert not asked.proved
    assert "not proved: prove=True (--prove) proves it" in asked.report()


def test_shares_of_gaps_are_checked():
    with pytest.raises(ModelError, match="gap: expected more than 0 and less than 1"):
        armdyn.worst_case(armdyn.load("two_link"), gap=0.0)
