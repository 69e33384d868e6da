"""Stiffness and damping of transmissions from encoders on both of their sides.

Links whose motion is known need the torques σ, so that their transmissions wind up by

    θ - q = σ/K - D σ̇/K² + δ q̇ + c

where δ is how much later the link is read than the motor, one for each run, and c where its
encoder has its zero. All of 1/K, D/K², δ and c are linear: they are fitted together, over runs and
joints. What a motion does not show is told apart from what it shows by the interval.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from armdyn.arrays import Array
from armdyn.errors import IdentificationError, require
from armdyn.records import record
from armdyn.report.result import Result, Section, parts_of
from armdyn.robot import Robot
from armdyn.simulation.trajectories.smooth import smoothed

SIGMAS = 3.0
"""Standard deviations that a value is away from zero, or it is not determined."""
SHIFTS = 4
"""Times that links are shifted by the skew that is found."""
HIDDEN = 1e-9
"""Share of a column, squared, that others leave of it, below which a motion does not show it."""


class EncoderLog(NamedTuple):
    """A run with encoders on both sides, at m instants evenly spaced."""

    t: npt.ArrayLike
    """Times, (m,) [s]."""
    q: npt.ArrayLike
    """Positions of the links, (m, n) [rad or m]."""
    theta: npt.ArrayLike
    """Positions of the motors, seen from the links, (m, n); not a number where there are none."""


@record(eq=False)
class TransmissionEstimate(Result):
    """What encoders on both sides tell of transmissions; NaN where a motion does not show it."""

    robot: Robot
    """The robot with the stiffness and damping that were found."""
    joints: tuple[str, ...]
    """Those with two encoders, k of them."""
    stiffness: Array
    """(k,) [N m/rad or N/m]."""
    stiffness_error: Array
    """Standard deviations, (k,)."""
    damping: Array
    """(k,) [N m s/rad or N s/m]."""
    damping_error: Array
    """Standard deviations, (k,)."""
    skew: Array
    """How much later links are read than motors, of each run [s]."""
    skew_error: Array
    """Standard deviations [s]."""
    explained: Array
    """Share of the variance of the wind-up that is explained, (k,)."""

    def sections(self) -> tuple[Section, ...]:
        """A row for each joint, and the skew of each run."""

        def cell(value: float, error: float) -> str:
            return f"{value:.4g} ± {error:.2g}" if np.isfinite(value) else "not determined"

        columns = self.stiffness, self.stiffness_error, self.damping, self.damping_error
        rows = [
            (name, cell(k, dk), cell(d, dd), f"{100 * share:.1f}")
            for name, k, dk, d, dd, share in zip(self.joints, *columns, self.explained, strict=True)
        ]
        skews = zip(self.skew, self.skew_error, strict=True)
        lines = [
            f"run {i}: links {1e3 * x:.3f} ± {1e3 * e:.2g} ms late"
            for i, (x, e) in enumerate(skews)
        ]
        known = "joints", "stiffness", "stiffness_error", "damping", "damping_error"
        data = parts_of(self, *known, "skew", "skew_error", "explained")
        heads = ("joint", "stiffness", "damping", "explained %")
        return (Section("Transmissions [N m/rad, N m s/rad]", lines, heads, rows, data=data),)


def identify_transmissions(
    robot: Robot, runs: EncoderLog | Sequence[EncoderLog], cutoff: float
) -> TransmissionEstimate:
    """Stiffness and damping of the transmissions whose two sides were recorded.

    Args:
        robot: The robot, whose links are known; its rotors are needed, and nothing of its
            transmissions.
        runs: One run or several.
        cutoff: Frequency above which encoders tell nothing but noise [Hz].

    Raises:
        IdentificationError: No joint has two encoders, or different ones in different runs.
    """
    logs = [runs] if isinstance(runs, EncoderLog) else list(runs)
    require(logs, "runs", "at least one", runs, IdentificationError)
    kept = [np.isfinite(np.asarray(run.theta, dtype=float)).all(0) for run in logs]
    there = kept[0]
    same = there.any() and all(np.array_equal(there, other) for other in kept)
    require(same, "theta", "the same motors in every run, at least one", kept, IdentificationError)
    names = [name for name, has in zip(robot.joint_names, there, strict=True) if has]
    links = robot.with_elasticity(dict.fromkeys(names, 1.0)).elastic.links
    k, R = len(names), len(logs)
    late = np.zeros(R)
    for _ in range(SHIFTS):  # torques of links that are read late come late as well
        parts = [_rows(links, *pair, there, cutoff) for pair in zip(logs, late, strict=True)]
        A, b = _equations(parts)
        values, errors = _fit(np.concatenate(A), np.concatenate(b), sum(x.instants for x in parts))
        late += np.nan_to_num(values[2 * k : 2 * k + R])
    # of torques that noise alone seems to vary, nothing is known
    seen = np.max([x.torque.std(0) / x.noise for x in parts], 0) * np.abs(values[:k])
    errors[:k][seen < SIGMAS] = np.inf
    shares = np.ones(k)
    for i in range(k):
        off = [y - block @ values for block, y in zip(A[i::k], b[i::k], strict=True)]
        whole = sum(float(np.sum((y - y.mean()) ** 2)) for y in b[i::k])
        shares[i] -= sum(float(np.var(x) * len(x)) for x in off) / whole if whole else 0.0
    skew_error = errors[2 * k : 2 * k + R]
    values = np.where(np.abs(values) > SIGMAS * errors, values, np.nan)
    softness, lag = values[:k], values[k : 2 * k]
    K = np.where(softness > 0, 1.0 / softness, np.nan)
    K_error = errors[:k] * K**2
    D = np.where(lag > 0, lag * K**2, np.nan)
    D_error = np.abs(D) * np.hypot(errors[k : 2 * k] / lag, 2.0 * K_error / K)
    found = {name: float(x) for name, x in zip(names, K, strict=True) if np.isfinite(x)}
    taken = {n: float(x) for n, x in zip(names, D, strict=True) if n in found and np.isfinite(x)}
    better = robot.with_elasticity(found, taken) if found else robot
    return TransmissionEstimate(
        better, tuple(names), K, K_error, D, D_error, late, skew_error, shares
    )


class _Run(NamedTuple):
    """What a run says, at instants away from its ends, (m, k) each."""

    wound: Array
    """θ - q as measured."""
    torque: Array
    rate: Array
    """Of the torque."""
    speed: Array
    noise: Array
    """Standard deviation of the wind-up below the cutoff, (k,)."""
    instants: float
    """How many of them are independent."""


def _equations(parts: Sequence[_Run]) -> tuple[list[Array], list[Array]]:
    """Rows of each run and joint for 1/K and D/K² of joints, δ of runs and c of both."""
    k, R = parts[0].wound.shape[1], len(parts)
    A, b = [], []
    for r, part in enumerate(parts):
        for i in range(k):
            block = np.zeros((len(part.wound), 2 * k + R + R * k))
            block[:, i], block[:, k + i] = part.torque[:, i], -part.rate[:, i]
            block[:, 2 * k + r], block[:, 2 * k + R + r * k + i] = part.speed[:, i], 1.0
            A.append(block)
            b.append(part.wound[:, i])
    return A, b


def _rows(links: Robot, run: EncoderLog, late: float, there: Array, cutoff: float) -> _Run:
    """What a run says whose links are read later than its motors by a time [s]."""
    t, measured = np.asarray(run.t, dtype=float), np.asarray(run.q, dtype=float)
    theta = np.where(there, np.asarray(run.theta, dtype=float), 0.0)
    now = t - t[0]
    links_at, motors_at = (smoothed(t, rows, cutoff) for rows in (measured, theta))
    q, qd, qdd, jerk, snap = links_at.derivatives(now + late)
    smooth = not any(owner.friction.jumps for owner in links.model.driven)
    torques = links.inverse_dynamics_rates(q, qd, qdd, jerk, snap, smooth)
    calm = motors_at(now).q
    rough = theta - calm - measured + links_at(now).q
    # filters and splines know nothing beyond the ends
    inside = np.abs(now - 0.5 * now[-1]) < 0.5 * now[-1] - 2.0 / cutoff - abs(late)
    band = 2.0 * cutoff * now[-1] / (len(now) - 1)
    noise = rough[inside].std(0) * np.sqrt(band / (1.0 - band)) + np.finfo(float).tiny
    told = calm - q, torques[:, 0], torques[:, 1], qd
    wound, torque, rate, speed = (x[inside][:, there] for x in told)
    instants = 2.0 * cutoff * float(np.ptp(now[inside]))
    return _Run(wound, torque, rate, speed, noise[there], instants)


def _fit(A: Array, b: Array, instants: float) -> tuple[Array, Array]:
    """Least squares with standard deviations, infinite for what the columns do not tell apart."""
    size = np.linalg.norm(A, axis=0)
    scaled = A / np.where(size > 0, size, 1.0)
    spectrum, axes = np.linalg.eigh(scaled.T @ scaled)
    shown = spectrum > HIDDEN * spectrum[-1]
    inverse = (axes[:, shown] / spectrum[shown]) @ axes[:, shown].T
    x = inverse @ (scaled.T @ b)
    hidden = (axes[:, ~shown] ** 2).sum(-1) > HIDDEN**0.5
    free = max(instants - A.shape[1], 1.0)
    noise = np.sum((b - scaled @ x) ** 2) / free
    errors = np.sqrt(noise * np.diag(inverse))
    errors[hidden | (size == 0)] = np.inf
    return x / np.where(size > 0, size, 1.0), errors / np.where(size > 0, size, 1.0)
