"""What residuals tell: patterns that are there are told with their share, noise is not."""

import numpy as np
import pytest

from armdyn.identification.residuals import BINS, Series, residual_tests

STEP = 0.01
RNG = np.random.default_rng(3)


def told(q, qd, residual):
    t = STEP * np.arange(len(residual))
    columns = (np.asarray(x, dtype=float)[:, None] for x in (q, qd, residual, 0.0 * t))
    q, qd, tau, predicted = columns
    series = Series(t, q, qd, tau, predicted, np.ones_like(q, dtype=bool))
    (test,) = residual_tests(series, ("elbow",))
    return test


@pytest.mark.parametrize("what", ["position", "velocity"])
def test_what_is_constant_over_every_bin_is_explained_but_for_chance(what):
    x = RNG.permutation(100 * BINS) / (100 * BINS)  # the bins are shares of the samples
    levels = RNG.normal(size=BINS)
    other = RNG.uniform(-1, 1, len(x))
    states = {"position": other, "velocity": other} | {what: x}
    test = told(states["position"], states["velocity"], levels[(x * BINS).astype(int)])
    shares = {"position": test.position, "velocity": test.velocity}
    assert shares.pop(what) == pytest.approx(1, abs=1e-9)
    assert max(shares.values()) < 0.05


def test_noise_goes_with_nothing():
    test = told(*RNG.normal(size=(3, 20_000)))
    assert max(test.position, test.velocity, test.drift) < 0.01
    assert test.told == []
    assert test.noise_time < STEP


def test_friction_that_falls_with_time_is_a_drift_alone():
    t = STEP * np.arange(8000)
    qd = np.sin(7 * t)
    test = told(np.cos(7 * t), qd, np.sign(qd) * (t - t.mean()) + RNG.normal(size=len(t)))
    assert test.drift > 0.9
    assert max(test.position, test.velocity) < 0.05


def test_noise_has_the_time_over_which_it_is_correlated():
    white = RNG.normal(size=20_000)
    smooth = np.convolve(white, np.ones(9), "same")
    assert told(*RNG.normal(size=(2, 20_000)), smooth).noise_time == pytest.approx(
        4 * STEP, rel=0.3
    )
