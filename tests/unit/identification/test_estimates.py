"""Estimates from sums: least squares, the noise that is left, and how well parameters are known."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from armdyn.identification import equations as terms
from armdyn.identification import task, uncertainty
from armdyn.identification.equations import Rows
from armdyn.identification.estimate import (
    Estimate,
    Noise,
    Unknowns,
    correlation_length,
    entropic,
    repeats_of,
    weighted_least_squares,
)
from armdyn.identification.problem import Problem
from armdyn.identification.residuals import Series, kind_of_split, residual_tests
from armdyn.identification.uncertainty import (
    BLOCKS,
    Spread,
    jackknifed,
    spread_of,
    terms_lean,
)


@pytest.fixture
def rng():
    return np.random.default_rng(6)


def problem(Z, tau):
    """Of joints with columns Z (n, m, F) and torques (m, n)."""
    G = np.einsum("jma,jmb->jab", Z, Z)[None]
    g = np.einsum("jma,mj->ja", Z, tau)[None]
    return Problem((), G, g, (tau**2).sum(0)[None], np.full((1, len(Z)), len(tau)))


def stacked(Z, tau, weights):
    """The same as one system of equations."""
    roots = np.sqrt(weights)
    return np.concatenate(Z * roots[:, None, None]), (tau * roots).T.ravel()


@pytest.fixture(scope="module")
def system():
    rng = np.random.default_rng(6)
    Z = rng.normal(size=(3, 40, 5)) * [1.0, 1e-5, 1e4, 1.0, 30.0]
    return Z, rng.normal(size=(40, 3)), np.array([1.0, 100.0, 0.02])


def test_least_squares_are_those_of_the_weighted_equations_in_any_units(system):
    Z, tau, weights = system
    A, y = stacked(Z, tau, weights)
    found = Unknowns.all_of(5).solved(problem(Z, tau), weights)
    np.testing.assert_allclose(found, np.linalg.lstsq(A / A.max(0), y)[0] / A.max(0), rtol=1e-7)


def test_what_is_known_stays_and_what_data_do_not_show_stays_as_it_was(system, rng):
    Z, tau, weights = system
    A, y = stacked(Z, tau, weights)
    known = rng.normal(size=5)
    free = np.array([True, False, True, True, False])
    found = Unknowns(known, free, np.zeros(5, dtype=bool)).solved(problem(Z, tau), weights)
    np.testing.assert_array_equal(found[~free], known[~free])
    rest = y - A @ np.where(free, 0, known)
    np.testing.assert_allclose(
        A[:, free] @ found[free], A[:, free] @ np.linalg.lstsq(A[:, free], rest)[0], atol=1e-7
    )
    twins = np.concatenate([Z, 2 * Z[..., 3:4]], -1)  # the last column acts like the fourth
    known = np.array([0, 0, 0, 3.0, 0, -1.0])
    none = np.zeros(6, dtype=bool)
    found = Unknowns(known, ~none, none).solved(problem(twins, tau), weights)
    plain = Unknowns.all_of(5).solved(problem(Z, tau), weights)
    assert found[3] + 2 * found[5] == pytest.approx(plain[3])
    assert found[3] - 2 * found[5] == pytest.approx(known[3] - 2 * known[5])  # what no torque shows


def test_a_magnitude_that_comes_out_negative_is_left_out(system, rng):
    Z, _, weights = system
    true = np.array([1.0, 2e5, -3e-4, 4.0, -0.5])
    tau = np.einsum("jma,a->mj", Z, true) + 0.01 * rng.normal(size=(40, 3))
    magnitudes = np.array([True, True, True, True, False])
    found = Unknowns(np.zeros(5), np.ones(5, dtype=bool), magnitudes).solved(
        problem(Z, tau), weights
    )
    assert found[2] == 0
    rest = np.array([True, True, False, True, True])
    without = Unknowns(np.zeros(5), rest, ~rest).solved(problem(Z, tau), weights)
    np.testing.assert_allclose(found, without, rtol=1e-9)


def test_the_noise_of_each_joint_is_what_its_residuals_leave(rng):
    true = rng.normal(size=4)
    Z = rng.normal(size=(3, 4000, 4))
    levels = np.array([0.1, 2.0, 0.5])
    tau = np.einsum("jma,a->mj", Z, true) + levels * rng.normal(size=(4000, 3))
    given = problem(Z, tau)
    phi, deviation = weighted_least_squares(given)
    np.testing.assert_allclose(deviation, levels, rtol=0.05)
    np.testing.assert_allclose(phi, true, atol=0.01)
    # the unknowns take their share of the samples
    few = problem(Z[:, :8], tau[:8])
    phi, deviation = weighted_least_squares(few)
    expected = np.sqrt(few.squares(phi) / (8 - 4 / 3))
    np.testing.assert_allclose(deviation, expected, rtol=5e-3)
    noise = Noise(deviation, np.array([1.0, 2.0, 4.0]))
    np.testing.assert_allclose(1 / noise.weights, [1, 2, 4] * deviation**2)


def autoregressive(rng, b, count, columns=1):
    r = rng.normal(size=(count, columns))
    for k in range(1, count):
        r[k] += b * r[k - 1]
    return r


@pytest.mark.parametrize("b", [0.0, 0.6, 0.9])
def test_the_length_of_correlation_is_the_sum_over_all_lags(b, rng):
    """Σ bᵏ over positive and negative lags is (1 + b)/(1 - b)."""
    assert correlation_length(3 + autoregressive(rng, b, 40_000)[:, 0]) == pytest.approx(
        (1 + b) / (1 - b), rel=0.1
    )


def test_a_series_without_correlation_has_the_length_one_and_a_drift_a_quarter():
    assert correlation_length(np.ones(50)) == 1
    assert correlation_length(np.zeros(1)) == 1
    assert correlation_length(np.resize([1.0, -1.0], 50)) == 1
    drift = np.linspace(-1, 1, 400)
    assert 30 < correlation_length(drift) <= 100


def test_samples_repeat_each_other_as_long_as_their_residuals_or_the_filter_does(rng):
    def seen(*series):
        rows = [
            Rows(0.01 * np.arange(len(r)), r, r, r, np.ones(r.shape, dtype=bool), ())
            for r in series
        ]
        robot = SimpleNamespace(n=series[0].shape[1])
        model = SimpleNamespace(robot=robot, predicted=lambda rows, motors, phi: 0 * rows.tau)
        return SimpleNamespace(kept=rows, equations=model)

    white, slow = rng.normal(size=(20_000, 2)), autoregressive(rng, 0.8, 20_000, 2)
    # half a period of 95 % of the cut-off has so many samples
    np.testing.assert_allclose(repeats_of(seen(white), (), 0, 5.0), 0.5 / (0.95 * 5 * 0.01))
    np.testing.assert_allclose(repeats_of(seen(white), (), 0, 500.0), 1.0, atol=0.1)
    np.testing.assert_allclose(repeats_of(seen(slow), (), 0, 500.0), 9, rtol=0.25)
    both = np.column_stack([white[:, 0], slow[:, 0]])
    found = repeats_of(seen(both[:9000], both[9000:], both[:15]), (), 0, 500.0)
    np.testing.assert_allclose(found, [1, 9], rtol=0.25)
    np.testing.assert_array_equal(repeats_of(seen(both[:2]), (), 0, 5.0), [1, 1])
    some = seen(both)
    some.kept[0].good[:, 1] = False
    np.testing.assert_allclose(repeats_of(some, (), 0, 500.0), 1.0, atol=0.1)


# how well parameters are known


def bodiless(A, phi):
    """A problem and a prior of signed parameters alone, x being θ and φ."""
    F = len(A)
    given = Problem(
        (), A[None, None], (A @ phi)[None, None], np.array([[1e3]]), np.full((1, 1), 9.0)
    )
    objective = Unbounded(np.eye(F))
    return given, SimpleNamespace(features=np.eye(F), parameters=np.eye(F), objective=objective)


class Unbounded:
    """A quadratic objective about zero in place of that of bodies."""

    def __init__(self, T, A=0.0, b=0.0, weight=1.0):
        self.transform, self.A, self.b, self.weight = T, A, b, weight

    def weighted(self, links, others):
        return Unbounded(self.transform, self.A, self.b, links)

    def with_data(self, A, b):
        return Unbounded(self.transform, A, b, self.weight)

    start = 0.0


@pytest.fixture
def quadratic(monkeypatch):
    def solved(objective, start, free):
        return np.linalg.solve(
            objective.A + objective.weight * np.eye(len(objective.b)), objective.b
        )

    monkeypatch.setattr("armdyn.identification.estimate.newton", solved)


@pytest.mark.parametrize("weight", [0.0, 0.3, 1.0, 7.0])
def test_covariances_are_inverses_of_what_is_known(quadratic, weight, rng):
    B = rng.normal(size=(4, 3))
    A = B.T @ B
    given, prior = bodiless(A, np.array([1.0, -2.0, 0.5]))
    deviation, repeats = 0.3, 4.0
    noise = Noise(np.array([deviation]), np.array([repeats]))
    data = A / (deviation**2 * repeats)
    x = entropic(given, prior, noise.weights, weight)
    np.testing.assert_allclose((data + weight * np.eye(3)) @ x, data @ [1.0, -2.0, 0.5])
    spread = spread_of(given, prior, Estimate(x, x, noise, weight, ""), np.ones(3, dtype=bool))
    np.testing.assert_allclose(spread.prior, np.eye(3))
    np.testing.assert_allclose(spread.informed, np.linalg.inv(data + np.eye(3)))
    np.testing.assert_allclose(spread.posterior, np.linalg.inv(data + min(weight, 1) * np.eye(3)))
    # a strong prior makes nothing better known: what it changed is an error
    changed = x - entropic(given, prior, noise.weights, 1.0) if weight > 1 else np.zeros(3)
    np.testing.assert_allclose(spread.leans, changed[None])
    row = np.array([[1.0, 2.0, -1.0]])
    expected = np.hypot(np.sqrt(row @ spread.posterior @ row.T), np.abs(row @ changed))
    np.testing.assert_allclose(spread.errors(row), expected[0])


def test_what_no_data_show_is_as_uncertain_as_the_prior(quadratic):
    A = np.diag([4.0, 1.0, 0.0])
    given, prior = bodiless(A, np.array([1.0, 2.0, 0.0]))
    noise = Noise(np.ones(1), np.ones(1))
    spread = spread_of(given, prior, Estimate(np.zeros(3), None, noise, 0.0, ""), None)
    np.testing.assert_allclose(np.diag(spread.posterior), [1 / 4, 1, 1])
    rows = np.eye(3)
    # known to half of what the prior leaves: 1/√5 is, 1/√2 and 1 are not
    np.testing.assert_array_equal(spread.excited(rows), [True, False, False])
    several = Spread(spread.posterior, spread.prior, spread.informed, np.diag([3.0, 4.0, 0.0]))
    np.testing.assert_allclose(several.errors(np.array([[1.0, 1, 0]])), np.sqrt(1.25 + 9 + 16))


def leaning(monkeypatch, squares, thetas, motors):
    """The lean of the first of two problems with these squares, parameters and features."""
    monkeypatch.setattr(uncertainty, "entropic", lambda whole, *_, **__: whole.theta)
    given = []
    for cost, theta, each in zip(squares, thetas, motors, strict=True):
        whole = SimpleNamespace(theta=theta, squares=lambda phi, c=cost: np.array([c]))
        own = SimpleNamespace(
            known=np.zeros(len(theta)), parameters=np.eye(len(theta)), features=np.eye(len(theta))
        )
        given.append((SimpleNamespace(whole=whole, motors=each), own))
    (first, prior), (other, own) = given
    monkeypatch.setattr(uncertainty, "prior_of", lambda *_: own)
    noise = SimpleNamespace(weights=np.full(1, 2.0))
    return terms_lean(None, first, other, prior, noise, np.ones(len(prior.known), dtype=bool))


def test_other_terms_lean_as_far_as_they_explain_more_than_chance(monkeypatch):
    dry, fall = (0, terms.coulomb(0.02)), (0, terms.stribeck(0.02, 0.1))
    plain, rich = np.array([1.0, 5.0]), np.array([1.5, 3.0, 2.0])  # a link, and friction
    motors = ((dry,), (dry, fall))
    for gain, share in ((100.0, 1 - 1 / 200), (1.0, 0.5), (0.4, 0.0)):
        lean = leaning(monkeypatch, (gain, 0.0), (plain, rich), motors)
        np.testing.assert_allclose(lean, share * (rich[:2] - plain))
    # terms that were taken may not be there
    lean = leaning(monkeypatch, (0.0, 100.0), (rich, plain), motors[::-1])
    np.testing.assert_allclose(lean, (1 - 1 / 200) * np.array([-0.5, 2.0, -2.0]))
    # another speed of dry friction is half a step away
    beside = ((0, terms.coulomb(0.035)),)
    lean = leaning(monkeypatch, (3.0, 9.0), (plain, 2 * plain), ((dry,), beside))
    np.testing.assert_allclose(lean, 0.5 * plain)


def test_blocks_that_are_left_out_tell_errors_that_last(rng):
    """The jackknife is that of estimates without each block, and sees what is alike in it."""
    folds, m = 25, 40
    Z = rng.normal(size=(folds, m, 3)) + 1.0
    lasting = np.repeat(rng.normal(size=(folds, 1)), m, axis=1)
    y = Z @ [1.0, -2.0, 0.5] + lasting
    G, g = np.einsum("kma,kmb->kab", Z, Z), np.einsum("kma,km->ka", Z, y)
    given = Problem((), G[:, None], g[:, None], (y**2).sum(1)[:, None], np.full((folds, 1), m))
    H, b = given.normal(np.ones(1))
    phi = np.linalg.solve(H, b)
    *_, found = jackknifed(given, phi, H, np.eye(3), np.ones(1))
    without = np.array([np.linalg.solve(H - G[k], b - g[k]) for k in range(folds)]) - phi
    stretch = (2.0638985616 / 1.9599639845) ** 2  # Student of 24 degrees of freedom
    expected = without.T @ without * (folds - 1) / folds * stretch
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    white = np.linalg.inv(H) * np.mean((y - Z @ phi) ** 2)
    assert np.trace(found) > 3 * np.trace(white)
    assert len(jackknifed(given.whole, phi, H, np.eye(3), np.ones(1))) == 0
    assert len(BLOCKS) > 1


def unexcited(row, speeds=(1.0, 1.0), covariance=None):
    """Why a combination of two links, and the friction of two motors and a spring, is not shown."""
    driven = [SimpleNamespace(name="hip"), SimpleNamespace(name="knee")]
    model = SimpleNamespace(links=[0, 0], driven=driven)
    given = SimpleNamespace(robot=SimpleNamespace(model=model), speeds=np.array(speeds))
    motors = [(0, terms.VISCOUS), (1, terms.VISCOUS), (2, terms.STIFF)]
    whole = np.zeros(23)
    whole[list(row)] = 1.0
    informed = np.eye(23) if covariance is None else covariance
    spread = Spread(None, None, informed, None)
    return uncertainty.reason(given, whole, motors, spread)


def test_what_is_not_shown_has_its_reason():
    """The motor is that of the first link, or the first parameter of a motor."""
    noise = "what it adds to the torques of this motion is less than their noise"
    for row, name in (
        ([3], "hip"),
        ([9, 12], "hip"),
        ([10], "knee"),
        ([20], "hip"),
        ([21], "knee"),
    ):
        speeds = np.where(np.array(["hip", "knee"]) == name, 0.009, 1.0)
        assert unexcited(row, speeds) == f"{name} hardly moved"
        assert unexcited(row, 1.01 - speeds) != f"{name} hardly moved"
        assert unexcited(row, np.maximum(speeds, 0.011)) == noise
    assert unexcited([22], (0.001, 1.0)) == noise  # a spring has no speed
    alike = np.eye(23)
    for share, told in ((0.6, False), (0.8, True)):
        alike[3, 15] = alike[15, 3] = share
        assert (unexcited([3], covariance=alike) == noise) != told
    assert unexcited([3, 15], covariance=alike) == noise  # only others count


@pytest.mark.parametrize("folds", [3, 5])
def test_a_law_is_judged_by_the_folds_that_it_was_not_fitted_to(folds, monkeypatch):
    """Weighted mean squares, of which 1 is the noise."""
    rng = np.random.default_rng(folds)
    yy, counts = rng.uniform(1, 2, (folds, 2)), rng.integers(5, 9, (folds, 2)).astype(float)
    given = Problem((), np.zeros((folds, 2, 1, 1)), np.zeros((folds, 2, 1)), yy, counts)
    seen = []

    def fitted(some, *_, **__):
        seen.append(some.samples)
        return np.zeros(1)

    monkeypatch.setattr(task, "entropic", fitted)
    monkeypatch.setattr(task, "prior_of", lambda *_: SimpleNamespace(features=np.eye(1)))
    deviation = np.array([0.5, 2.0])
    found = task.cross_validate(None, given, Noise(deviation, np.ones(2)))
    np.testing.assert_allclose(found, (yy / deviation**2).sum(1) / counts.sum(1))
    np.testing.assert_array_equal(seen[0], counts.sum(0))
    np.testing.assert_array_equal(seen[1:], counts.sum(0) - counts)


def test_terms_are_told_in_words_with_their_speeds():
    structure = (terms.ROTOR, terms.coulomb(0.06), terms.stribeck(0.06, 0.3), terms.power(0.5))
    assert task.words(structure) == "rotor, Coulomb (0.06), Stribeck (0.06, 0.3), power 0.5"
    assert task.words(()) == ""


# residuals


def series(t, seed=0, shift=0.0):
    q = np.sin(t[:, None] * [1.0, 1.7] + seed) + shift
    qd = np.cos(t[:, None] * [1.0, 1.7] + seed) * [1.0, 1.7]
    good = np.ones(q.shape, dtype=bool)
    return Series(t, q, qd, q, 0 * q, good)


def test_a_validation_is_told_by_its_motion_its_log_and_its_day():
    t = np.linspace(0, 30, 3000)
    training = series(t)
    assert (
        kind_of_split(training, replace(training, t=t + 9.0), True)
        == "the same motion, another log"
    )
    other = series(t, shift=0.5)
    assert kind_of_split(training, other, False) == "another motion, another part of the same log"
    late = 1.7e9
    for hours, day in (
        (12 - 1e-6, ""), (12 + 1e-6, ", another day"),
        (-12 + 1e-6, ""), (-12 - 1e-6, ", another day"),
    ):  # fmt: skip
        first, then = (replace(one, t=t + late) for one in (training, other))
        gap = 3600 * hours + np.sign(hours) * 30
        then = replace(then, t=then.t + gap)
        assert kind_of_split(first, then, True) == f"another motion, another log{day}"
    undated = replace(other, t=t + 1e6)
    assert kind_of_split(training, undated, True) == "another motion, another log"


def test_a_motion_that_differs_by_less_than_a_twentieth_of_its_spread_is_the_same():
    """In each position and velocity, of states that are far from each other."""
    rng, t = np.random.default_rng(6), np.arange(40) / 10
    q, qd = rng.uniform(-1, 1, (2, 40, 3)) * [1.0, 30.0, 0.02]
    first = Series(t, q, qd, q, 0 * q, np.ones(q.shape, dtype=bool))
    for share, kind in ((0.049, "the same motion"), (0.051, "another motion")):
        moved_q, moved_qd = (x + share * x.std(axis=0) for x in (q, qd))
        other = replace(first, q=moved_q, qd=moved_qd)
        assert kind_of_split(first, other, True) == f"{kind}, another log"


def test_too_few_samples_and_perfect_fits_tell_nothing():
    for count, residual in ((95, 1.0), (400, 0.0)):
        one = series(np.linspace(0, 9, count))
        one = replace(one, tau=one.tau * residual, predicted=0 * one.q)
        for test in residual_tests(one, ("a", "b")):
            assert (test.velocity, test.position, test.drift, test.noise_time) == (0, 0, 0, 0)
            assert test.told == []
    some = series(np.linspace(0, 9, 400))
    some.good[:310, 0] = False
    first, second = residual_tests(some, ("a", "b"))
    assert first.position == 0
    assert second.position > 0.9
    assert some.residual[0, 0] == 0
    assert [line.startswith("100 % goes with its position") for line in second.told][:1] == [True]
