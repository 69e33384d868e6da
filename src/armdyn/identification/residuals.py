"""What the model leaves of the torques, and what that still contains."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from armdyn.arrays import Array, record
from armdyn.identification.equations import Motor
from armdyn.identification.estimate import correlation_length
from armdyn.identification.problem import Sums, problem_of
from armdyn.report.result import parts_of, plain_data

BINS = 24
"""Bins of positions and velocities over which residuals are averaged."""
TOLD = 0.15
"""Share of the residuals' variance from which on a pattern in them is told."""
_SAME_MOTION = 0.05
"""Distance to the training, in units of its spread, of a motion that repeats it."""
_DAY = 12 * 3600.0
"""Time between logs that makes them of different days [s]."""


@record(eq=False)
class Series:
    """Samples of a log, for pictures and tests: t (m,), the rest (m, n)."""

    t: Array
    q: Array
    qd: Array
    tau: Array
    """Measured, filtered."""
    predicted: Array
    """By the model, filtered alike."""
    good: Array

    @property
    def residual(self) -> Array:
        """What the model does not explain; where torques were not usable, zero."""
        return np.where(self.good, self.tau - self.predicted, 0.0)


@record(eq=False)
class Fit:
    """How well a model explains the torques of some data."""

    name: str
    relative_error: float
    """|residual| / |torque| over all joints, a fraction."""
    per_joint: Array
    """The same of each joint, (n,)."""
    rms: Array
    """Root mean square of the residuals of each joint, (n,) [N m or N]."""
    samples: int
    duration: float
    """Time that was used [s]."""
    series: Series

    def data(self) -> dict[str, Any]:
        """The errors as plain data."""
        names = ("relative_error", "per_joint", "rms", "samples", "duration")
        return plain_data(parts_of(self, *names))

    def __repr__(self) -> str:
        return f"<Fit of {self.name}: {100 * self.relative_error:.2f} %>"


def fit_of(name: str, sums: Sums, motors: Sequence[Motor], phi: Array, duration: float) -> Fit:
    """The errors of an estimate φ from sums over all samples, with those samples that were kept."""
    predicted = np.concatenate([sums.equations.predicted(rows, motors, phi) for rows in sums.kept])
    names = ("t", "q", "qd", "tau", "good")
    kept = {name: np.concatenate([getattr(rows, name) for rows in sums.kept]) for name in names}
    problem = problem_of(sums, motors).whole
    squares = problem.squares(phi)
    total = problem.yy.sum(axis=0)
    count = np.maximum(problem.samples, 1)
    return Fit(
        name,
        float(np.sqrt(squares.sum() / max(total.sum(), 1e-300))),
        np.sqrt(squares / np.maximum(total, 1e-300)),
        np.sqrt(squares / count),
        int(problem.samples.max()),
        duration,
        Series(predicted=predicted, **kept),
    )


@record
class ResidualTest:
    """What share of the variance of a joint's residuals something explains."""

    joint: str
    velocity: float
    position: float
    drift: float
    """Of a friction that changes with time, as a drive that warms up has."""
    noise_time: float
    """Correlation time of the residuals [s]."""

    @property
    def told(self) -> list[str]:
        """The patterns that are worth a word."""
        shares = {
            "its velocity: another friction law": self.velocity,
            "its position: gear ripple, a spring, cables, or wrong geometry": self.position,
            "friction that drifts: temperature": self.drift,
        }
        return [f"{100 * x:.0f} % goes with {what}" for what, x in shares.items() if x > TOLD]


def residual_tests(series: Series, joints: tuple[str, ...]) -> tuple[ResidualTest, ...]:
    """The tests of each joint."""
    found = []
    step = float(np.median(np.diff(series.t))) if len(series.t) > 1 else 0.0
    for j, name in enumerate(joints):
        good = series.good[:, j]
        r, q, qd = (x[good, j] for x in (series.residual, series.q, series.qd))
        if len(r) < 4 * BINS or not r.any():
            found.append(ResidualTest(name, 0.0, 0.0, 0.0, 0.0))
            continue
        length = correlation_length(r)
        t = series.t[good]
        drift = np.sign(qd) * (t - t.mean())
        slope = float(drift @ r) ** 2 / max(float(drift @ drift) * float(r @ r), 1e-300)
        by_rate, by_place = (_share(x, r, length) for x in (qd, q))
        noise_time = max(length - 1, 0.0) / 2 * step
        found.append(ResidualTest(name, by_rate, by_place, slope, noise_time))
    return tuple(found)


def _share(x: Array, r: Array, length: float) -> float:
    """Share of the variance of r that means over bins of x explain, less what chance gives."""
    edges = np.quantile(x, np.linspace(0, 1, BINS + 1)[1:-1])
    place = np.searchsorted(edges, x)
    counts = np.bincount(place, minlength=BINS)
    means = np.bincount(place, r, minlength=BINS) / np.maximum(counts, 1)
    total = float(np.sum((r - r.mean()) ** 2))
    explained = float(np.sum(counts * (means - r.mean()) ** 2)) / max(total, 1e-300)
    chance = min((BINS - 1) * min(length, 4.0) / len(r), 0.9)
    return max(0.0, (explained - chance) / (1 - chance))


def kind_of_split(training: Series, validation: Series, apart: bool) -> str:
    """What sort of validation it was, in words; `apart`: it is another log."""
    between = max(validation.t[0] - training.t[-1], training.t[0] - validation.t[-1])
    dated = min(training.t[0], validation.t[0]) > 1e8
    states = [np.concatenate([s.q, s.qd], axis=1) for s in (training, validation)]
    spread = np.maximum(states[0].std(axis=0), 1e-9)
    some = [s[:: max(1, len(s) // 4000)] / spread for s in states]
    distance, _ = cKDTree(some[0]).query(some[1])
    same = float(np.median(distance)) / np.sqrt(some[0].shape[1]) < _SAME_MOTION
    day = ", another day" if dated and between > _DAY else ""
    where = "another log" if apart else "another part of the same log"
    return f"{'the same motion' if same else 'another motion'}, {where}{day}"
