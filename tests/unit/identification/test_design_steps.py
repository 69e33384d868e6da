"""The steps of the design of a motion: its basis, what is made small, the search, what it keeps."""

import math

import numpy as np
import pytest

import armdyn
from armdyn.errors import ExcitationError
from armdyn.identification.excitation import excite
from armdyn.identification.excitation import problem as problems
from armdyn.identification.excitation import search as searches
from armdyn.identification.excitation.limits import MotionLimits, motion_limits
from armdyn.identification.excitation.problem import (
    CRITERIA,
    Problem,
    RestBasis,
    aim_at,
    condition_number,
    eigen,
    gram,
)
from armdyn.identification.excitation.search import Descent, Stopped, _start, search, settled
from armdyn.simulation.trajectories import fourier
from support.arms import ARMS
from support.programs import EvaluatedRobot


@pytest.fixture
def rng():
    return np.random.default_rng(6)


@pytest.fixture(scope="module", params=[2, 5])
def basis(request):
    return RestBasis.of(0.4, request.param)


def test_every_motion_of_the_basis_starts_at_rest_and_is_a_fourier_series(basis, rng):
    H = len(basis.sines)
    assert basis.size == 2 * H - 1
    for part in (basis.sines, basis.cosines):
        np.testing.assert_allclose(part.T @ part, np.eye(H - 1), atol=1e-14)
    x = rng.normal(size=(basis.size, 3))
    t = np.linspace(0, 2.5, 41)
    motion = basis.trajectory(x, 2.5)
    assert (motion.frequency, motion.duration, motion.n) == (0.4, 2.5, 3)
    for phi, values in zip(basis.at(t), motion(t), strict=True):
        assert phi.shape == (41, basis.size)
        np.testing.assert_allclose(phi @ x, values, atol=1e-11)
    for end in (motion(0.0), motion(2.5)):
        np.testing.assert_allclose(end.q, x[0], atol=1e-13)
        np.testing.assert_allclose([end.qd, end.qdd], np.zeros((2, 3)), atol=1e-11)


def test_a_motion_has_the_coefficients_that_made_it(basis, rng):
    x = rng.normal(size=(basis.size, 3))
    np.testing.assert_allclose(basis.coefficients(basis.trajectory(x, 1.0)), x, atol=1e-13)


def test_the_coefficients_of_another_motion_are_those_of_the_nearest(basis, rng):
    """With fewer harmonics or more: what is left is across the amplitudes of the basis."""
    H = len(basis.sines)
    for count in (H - 1, H + 2):
        amplitudes = rng.normal(size=(2, count, 2))
        given = fourier([0.3, -0.2], *amplitudes, 0.4, periods=1)
        x = basis.coefficients(given)
        np.testing.assert_allclose(x[0], given(0.0).q, atol=1e-13)
        near, whole = basis.trajectory(x, 2.5), np.zeros((2, max(H, count), 2))
        whole[:, :count] = amplitudes
        for mine, theirs, columns in zip(
            (near.a, near.b), whole, (basis.sines, basis.cosines), strict=True
        ):
            np.testing.assert_allclose(columns.T @ (mine - theirs[:H]), 0, atol=1e-12)


# what is made small


@pytest.mark.parametrize("most", [1, 60, 10**6])
def test_the_gram_matrix_is_the_mean_of_products_in_blocks_of_any_height(most, monkeypatch, rng):
    monkeypatch.setattr(problems, "MOST_OF_A_BLOCK", most)
    Y = rng.normal(size=(11, 3, 4))
    rows = Y.reshape(33, 4)
    np.testing.assert_allclose(gram(Y), rows.T @ rows / 11, atol=1e-14)
    values, vectors = eigen(gram(Y))
    assert condition_number(values) == pytest.approx(np.linalg.cond(rows))
    np.testing.assert_allclose((vectors * values) @ vectors.T, gram(Y), atol=1e-13)


def test_a_matrix_without_full_rank_has_no_condition_number():
    assert condition_number(np.array([0.0, 1.0])) == math.inf
    assert condition_number(np.array([-1e-18, 1.0])) == math.inf
    assert condition_number(np.array([1e-4, 1.0])) == pytest.approx(100)


@pytest.mark.parametrize(
    ("name", "p"), [("condition", 1.0), ("condition", 7.0), ("d-optimal", 3.0)]
)
def test_slopes_of_criteria_are_those_of_differences(name, p, rng):
    A = rng.normal(size=(5, 9))
    G, way = A @ A.T, rng.normal(size=(5, 5))
    way = way + way.T
    _, slope = CRITERIA[name](*eigen(G), p)
    ahead, behind = (CRITERIA[name](*eigen(G + h * way), p)[0] for h in (1e-6, -1e-6))
    assert np.sum(slope * way) == pytest.approx((ahead - behind) / 2e-6, rel=1e-6)


def test_the_smooth_condition_falls_to_the_logarithm_of_the_condition_number():
    values, vectors = eigen(np.diag([0.5, 1.0, 3.0, 8.0]))
    found = [CRITERIA["condition"](values, vectors, p)[0] for p in (1.0, 4.0, 40.0, 1000.0)]
    assert (np.diff(found) < 0).all()
    assert found[-1] == pytest.approx(math.log(4), rel=1e-3)
    # with power 1 it is the mean of the traces of G and of its inverse
    expected = math.log(12.5 * (2 + 1 + 1 / 3 + 1 / 8)) / 2
    assert found[0] == pytest.approx(expected)
    assert CRITERIA["d-optimal"](values, vectors, 1.0)[0] == pytest.approx(-math.log(12) / 4)


# limits


def test_shares_are_one_at_the_limits_and_the_middle_has_none(rng):
    low, high = np.array([-2.0, 0.5]), np.array([1.0, 3.5])
    limits = MotionLimits(low, high, *rng.uniform(1, 2, (3, 2)))
    rates = limits.speed, limits.acceleration, limits.torque
    at = limits.shares(high, *rates)
    assert list(at) == ["position", "speed", "acceleration", "torque"]
    for share in at.values():
        np.testing.assert_allclose(share, 1.0)
    np.testing.assert_allclose(limits.shares(low, *rates)["position"], -1.0)
    np.testing.assert_allclose(limits.middle + limits.room, high)
    part = limits.within(0.8)
    np.testing.assert_allclose(part.middle, limits.middle)
    np.testing.assert_allclose(part.room, 0.8 * limits.room)
    for share in limits.shares(part.lower, part.speed, part.acceleration, part.torque).values():
        np.testing.assert_allclose(np.abs(share), 0.8)


def test_a_joint_limits_the_one_that_it_follows():
    """Coordinates at their limits: every joint keeps its own, and some are at theirs."""
    free = ARMS["hand"].robot
    names = [joint.name for joint in free.model.joints]
    ranges = {name: (-1.0 - 0.1 * k, 0.8 + 0.05 * k) for k, name in enumerate(names)}
    speeds = {name: 2.0 - 0.2 * k for k, name in enumerate(names)}
    robot = EvaluatedRobot(free.with_limits(position=ranges, velocity=speeds).model)
    limits = motion_limits(robot, None, None, None, None)
    low, high = np.array(list(ranges.values())).T
    ratios, offsets = map(np.array, robot.model.coupling)
    for own in (limits.lower, limits.upper):
        joints = ratios @ own + offsets
        assert ((joints >= low - 1e-12) & (joints <= high + 1e-12)).all()
        edge = np.isclose(joints, low, atol=1e-12) | np.isclose(joints, high, atol=1e-12)
        assert (np.abs(ratios[edge]).sum(0) > 0).all()
    most = np.abs(ratios) @ limits.speed
    top = np.array(list(speeds.values()))
    leaders = np.isclose(np.abs(ratios) * limits.speed, top[:, None]).any(0)
    assert (most[np.count_nonzero(ratios, axis=1) == 1] <= top.max() + 1e-12).all()
    assert leaders.all()
    np.testing.assert_array_equal(motion_limits(robot, None, 0.3, None, None).speed, 0.3)


# the search


def quadratic(x):
    H = np.diag([1.0, 10.0, 0.1]) + 0.05
    return 0.5 * float(x @ H @ x), H @ x


def test_the_search_finds_the_minimum_and_learns_the_curvature():
    descent, steps = Descent(np.array([1.0, -2.0, 3.0])), []
    descent.run(quadratic, 100, 1e-14, lambda: steps.append(descent.x))
    np.testing.assert_allclose(descent.x, 0, atol=1e-5)
    assert len(steps) < 40
    values = [quadratic(x)[0] for x in steps]
    assert (np.diff(values) <= 0).all()
    np.testing.assert_allclose(
        descent.inverse, np.linalg.inv(np.diag([1.0, 10.0, 0.1]) + 0.05), rtol=0.1, atol=0.1
    )


def test_a_step_learns_what_it_saw_of_the_curvature(rng):
    """The secant equation: the inverse Hessian takes the change of the slope to the step."""
    descent = Descent(np.zeros(3))
    for step in rng.normal(size=(4, 3)):
        change = quadratic(step)[1]
        descent._learn(step, change)
        np.testing.assert_allclose(descent.inverse @ change, step, atol=1e-12)
        np.testing.assert_allclose(descent.inverse, descent.inverse.T, atol=1e-12)
    assert np.linalg.eigvalsh(descent.inverse).min() > 0
    before = descent.inverse
    descent._learn(np.array([1.0, 0, 0]), np.array([-1.0, 0, 0]))  # a saddle teaches nothing
    assert descent.inverse is before


def test_the_search_stays_in_the_domain_of_its_cost_and_goes_to_its_edge():
    def barrier(x):
        left = 1 - x
        if not left.min() > 0:
            return math.inf, np.zeros_like(x)
        return float(-5 * x.sum() - 0.01 * np.log(left).sum()), -5 + 0.01 / left

    descent = Descent(np.array([0.0, 0.5]))
    descent.run(barrier, 200, 1e-12, lambda: None)
    np.testing.assert_allclose(descent.x, 1 - 0.01 / 5, rtol=1e-3)


def test_the_first_step_is_small_and_no_way_uphill_is_tried():
    seen = []

    def cost(x):
        seen.append(x)
        return 100 * float(x @ x), 200 * x

    descent = Descent(np.array([1.0, 0.5]))
    descent._step(cost, *cost(descent.x))
    assert np.abs(seen[1] - seen[0]).max() == pytest.approx(searches.FIRST_STEP)
    assert len(seen) == 2
    uphill = Descent(np.array([1.0, 0.5]), inverse=-1e-9 * np.eye(2))
    for slope in (200 * uphill.x, np.zeros(2)):
        assert uphill._step(cost, 125.0, slope) is None
    assert Descent(np.zeros(2))._step(cost, 0.0, np.zeros(2)) is None
    assert len(seen) == 2


def test_a_search_ends_after_steps_that_gain_nothing():
    steps = []
    descent = Descent(np.array([1.0]))
    descent.run(lambda x: (-float(x[0]), -np.ones(1)), 50, 1e9, lambda: steps.append(0))
    assert len(steps) == searches.CONVERGED_STEPS - 1
    descent.run(lambda x: (-float(x[0]), -np.ones(1)), 7, 0.0, lambda: steps.append(0))
    assert len(steps) == searches.CONVERGED_STEPS + 6


ARM = {"position": [(-2.0, 1.5), (-1.5, 2.0)], "speed": [2.0, 3.0], "acceleration": 12.0}


@pytest.fixture(scope="module")
def problem():
    robot = armdyn.load("two_link")
    limits = motion_limits(robot, *ARM.values(), None).within(0.95)
    return Problem(
        robot, aim_at(robot, "links"), "condition", RestBasis.of(0.25, 2), limits, None, None
    )


def test_a_random_start_goes_half_as_far_as_the_first_limit_of_each_joint(problem, rng):
    limits = problem.limits
    for _ in range(2):
        x = problem.coefficients(_start(problem, rng))
        peaks = [np.abs(phi[:, 1:] @ x[1:]).max(0) for phi in problem.grid]
        room = limits.room - np.abs(x[0] - limits.middle)
        assert (np.abs(x[0] - limits.middle) <= 0.6 * limits.room + 1e-12).all()
        most = (room, limits.speed, limits.acceleration)
        share = np.max([peak / size for peak, size in zip(peaks, most, strict=True)], axis=0)
        np.testing.assert_allclose(share, 0.5, rtol=1e-9)


def test_starts_are_told_apart_and_the_best_comes_first(problem, monkeypatch):
    monkeypatch.setattr(searches, "FIRST_STAGES", ((1, 0.1, 6), (2, 0.02, 5)))
    monkeypatch.setattr(searches, "LAST_STAGES", ((4, 0.004, 8),))
    told = []
    found, stopped = search(problem, 3, 1, None, lambda *step: told.append(step))
    assert not stopped
    assert len(found) == 3
    finalists, others = found[:2], found[2:]
    assert finalists[0].value <= finalists[1].value
    for descent in found:
        assert descent.value == pytest.approx(problem.value(descent.x))
    # those that went on were the best of all after the first stages
    assert [len(d.conditions) > 11 for d in found] == [True, True, False]
    first = [d.conditions[10] for d in finalists]
    assert max(first) <= others[0].conditions[-1] * (1 + 1e-9)
    shares, best = np.array(told).T
    assert (np.diff(shares) >= 0).all()
    assert 0 < shares[0] <= 1 / 40
    assert shares[-1] == pytest.approx(1.0, abs=8 / 49)
    np.testing.assert_array_equal(best, np.minimum.accumulate(best))
    assert best[-1] <= min(min(d.conditions) for d in found) * (1 + 1e-12)
    again, stopped = search(problem, 3, 1, found[0].x, lambda *step: len(told) > 0)
    assert stopped
    assert len(again) == 1
    assert again[0].conditions[0] == pytest.approx(found[0].conditions[-1], rel=0.2)
    assert issubclass(Stopped, Exception)


def test_a_motion_that_passes_a_limit_between_its_samples_is_made_smaller(problem, rng):
    x = rng.normal(size=(problem.basis.size, 2))
    x[0] = problem.limits.middle
    peaks = [np.abs(phi[:, 1:] @ x[1:]).max(0) for phi in problem.basis.at(np.linspace(0, 4, 9001))]
    rooms = problem.limits.room, problem.limits.speed, problem.limits.acceleration
    most = max((p / r).max() for p, r in zip(peaks, rooms, strict=True))
    x[1:] *= 1.5 / most
    kept, dense, distances = settled(problem, problem.limits, None, problem.variables(x.copy()))
    shares = problem.limits.shares(*dense.motion, dense.tau)
    worst = max(np.abs(share).max() for share in shares.values())
    assert searches.SHRINKING - 1e-3 < worst <= 1
    np.testing.assert_allclose(kept[0], x[0])
    ratio = kept[1:] / x[1:]
    np.testing.assert_allclose(ratio, ratio[0, 0])
    assert distances is None
    period = 1 / problem.basis.frequency
    assert (dense.t[0], dense.t[-1]) == (0.0, pytest.approx(period))
    assert len(dense.t) == searches.FINER * len(problem.grid.q) + 1
    np.testing.assert_allclose(dense.tau, problem.robot.inverse_dynamics(*dense.motion))
    inside = problem.variables(np.vstack([x[:1], 0.5 * kept[1:]]))
    np.testing.assert_allclose(
        settled(problem, problem.limits, None, inside)[0][1:], 0.5 * kept[1:]
    )


def test_a_period_lasts_about_ten_seconds_unless_told():
    for duration, periods, frequency in (
        (20.0, None, 2 / 20),
        (26.0, None, 3 / 26),
        (4.0, None, 1 / 4),
        (30.0, 7, 7 / 30),
    ):
        basis = excite._basis(duration, 3, periods)
        assert basis.frequency == pytest.approx(frequency)
        assert basis.sines.shape == (3, 2)
    for wrong in (1, 51, 2.0, True):
        with pytest.raises(
            ExcitationError, match="harmonics.*: expected a whole number from 2 to 50"
        ):
            excite._basis(10.0, wrong, None)


def test_a_start_is_between_the_limits(problem):
    for pose, words in (
        (problem.limits.lower, "start: joint1 is at -1.9"),
        (problem.limits.upper * [0, 1], "start: joint2 is at 1.9"),
    ):
        with pytest.raises(ExcitationError, match=words):
            excite._check_start(problem.robot, pose, problem.limits)
    inside = 0.99 * problem.limits.upper + 0.01 * problem.limits.lower
    np.testing.assert_array_equal(
        excite._check_start(problem.robot, inside, problem.limits), inside
    )


@pytest.fixture(scope="module")
def designed():
    """A short search: what it tells is what it did."""
    robot = armdyn.load("two_link")
    steps = []
    found = armdyn.excite(
        robot, 8.0, **ARM, torque={"joint1": 300.0}, parameters="links", harmonics=2, starts=1,
        margin=0.1, progress=lambda *_: len(steps) >= 12 or steps.append(0),
    )  # fmt: skip
    return robot, found


def test_a_design_tells_what_it_uses_of_each_limit(designed):
    robot, found = designed
    q, qd, qdd = found.trajectory(np.linspace(0, 8, 4001))
    tau = robot.inverse_dynamics(q, qd, qdd)
    low, high = np.array(ARM["position"]).T
    used = {
        "position": np.abs(q - (low + high) / 2) / ((high - low) / 2),
        "speed": np.abs(qd) / ARM["speed"],
        "acceleration": np.abs(qdd) / 12.0,
        "torque": np.abs(tau) / [300.0, np.inf],
    }
    for what, share in used.items():
        np.testing.assert_allclose(found.shares[what], share.max(0), rtol=1e-3, atol=1e-12)
        assert (share.max(0) <= 0.9).all()
        np.testing.assert_allclose(list(found.data()["used"][what].values()), found.shares[what])
    rows = found.sections()[1].rows
    for i, (name, units, reach, limits, speed, acceleration, torque, most) in enumerate(rows):
        assert (name, units) == (robot.joint_names[i], "rad, N·m")
        numbers = np.array([reach.split(" to "), limits.split(" to ")], dtype=float)
        np.testing.assert_allclose(
            numbers, [(q[:, i].min(), q[:, i].max()), (low[i], high[i])], rtol=1e-3
        )
        for cell, values, bound in (
            (speed, qd, ARM["speed"][i]),
            (acceleration, qdd, 12.0),
            (torque, tau, [300, 0][i]),
        ):
            value, _, of = cell.partition(" of ")
            assert float(value) == pytest.approx(np.abs(values[:, i]).max(), rel=2e-3)
            assert of == (f"{bound:.4g}" if bound else "")
        largest = max(share.max(0)[i] for share in used.values())
        assert float(most.rstrip(" %")) == pytest.approx(100 * largest, rel=1e-2)


def test_a_design_tells_how_it_was_found(designed):
    robot, found = designed
    Y = np.concatenate(robot.base_regressor(*found.trajectory(np.arange(0, 8, 0.01)), links=True))
    s = np.linalg.svd(Y, compute_uv=False)
    assert found.condition == pytest.approx(s[0] / s[-1], rel=1e-3)
    np.testing.assert_allclose(
        found.singular_values / found.singular_values[0], s / s[0], rtol=1e-2
    )
    data = found.data()
    assert (data["duration"], data["frequency"], data["steps"]) == (
        8.0,
        1 / 8,
        len(found.conditions),
    )
    text = found.report()
    assert "1 period of 8 s with 2 harmonics up to 0.25 Hz" in text
    assert "1 start (seed 0)" in text
    assert "a margin of 10 % is kept; torque not limited" in text
    assert found.stopped
    assert found.starts == (found.conditions[-1],)
