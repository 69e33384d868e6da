"""From the samples of a log to a motion with rates and torques, ready for the equations.

Samples are cleaned (what is missing, doubled or out of order), cut where there are gaps, put on a
regular grid, filtered without delay and differentiated. Pieces overlap, so that a log of any length
is worked on in bounded memory; the ends of each piece, where the filter has not settled, go.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.interpolate import make_interp_spline
from scipy.signal import butter, sosfiltfilt, welch
from scipy.spatial import cKDTree

from armdyn.arrays import Array, record
from armdyn.io.log import Log, Samples, unwrapped

ORDER = 4
"""Order of the Butterworth filter, which runs forwards and backwards."""
HARMONICS = 5.0
"""The cut-off in frequencies below which nearly all of the motion is."""
_MOTION_SHARE = 0.98
"""How much of the power of the velocities of a joint is below that frequency."""
_NYQUIST_SHARE = 0.8
"""Highest cut-off, as a share of half of the sampling rate."""


def low_pass(x: Array, cutoff: float, rate: float) -> Array:
    """The columns of x (m, ...) without what is above the cut-off [Hz], not delayed."""
    if cutoff >= 0.98 * 0.5 * rate or not x.size:
        return x
    sections = butter(ORDER, 2 * cutoff / rate, output="sos")
    pad = min(len(x) - 1, int(3 * rate / cutoff))
    return np.ascontiguousarray(sosfiltfilt(sections, x, axis=0, padlen=pad))


def choose_cutoff(q: Array, rate: float) -> float:
    """A cut-off [Hz] for positions (m, n), several times the highest frequency of the motion.

    That is the frequency below which 98 % of the power of the velocities is, noise taken off, in
    the joint where it is highest.
    """
    qd = np.diff(q, axis=0) * rate
    count = min(len(qd), max(256, int(20 * rate)))
    f, power = welch(qd, rate, nperseg=count, axis=0, detrend="constant")
    floor = np.median(power[len(f) // 2 :], axis=0)
    power = np.maximum(power - 3 * floor, 0.0)
    total = power.sum(axis=0)
    highest = 0.0
    for j in np.flatnonzero(total > 1e-4 * total.max(initial=0.0)):
        place = np.searchsorted(np.cumsum(power[:, j]), _MOTION_SHARE * total[j])
        highest = max(highest, float(f[min(place, len(f) - 1)]))
    least = 4 * HARMONICS * rate / max(len(q), 1)
    return float(np.clip(HARMONICS * highest, least, _NYQUIST_SHARE * 0.5 * rate))


PIECE = 2**15
"""Samples that are worked on at once."""
GAP = 5.5
"""Periods without a sample that end a piece; fewer are filled by interpolation."""
_END = 1.5
"""What is dropped at each end, in periods of the cut-off."""
_OVERLAP = 4.0
"""The same where a long piece is cut."""
_STAGE, _KEPT = 20.0, 10.0
"""Samples a period of the cut-off at which equations are written, and that are kept."""
SPIKE = 10.0
"""How many times all that lasts a number is that is none."""
LEAST_RUN = 5
"""Equal torques in a row, at the largest there is, that are saturation."""


@record
class Cutoffs:
    """Cut-off frequencies [Hz]."""

    equations: float
    """Of torques, and of the equations that explain them."""
    motion: float
    """Of positions and rates, before equations are written with them."""


@record(eq=False)
class Piece:
    """A piece of a log on a regular grid, at the rate at which equations are written."""

    t: Array
    q: Array
    qd: Array
    qdd: Array
    tau: Array
    """Filtered, (m, n)."""
    good: Array
    """Which torques are to be used, (m, n)."""
    kept: slice
    """The samples that are left after the equations have been filtered."""
    rate: float
    """Samples a second [Hz]."""


@dataclass
class Health:
    """What was found in the samples of a log, and done about it."""

    rows: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    """Rows or samples by their fault, as "doubled", "missing", "gaps" or "jitter"."""
    saturated: Array | None = None
    """Samples of each joint at the largest torque there is, (n,)."""
    worst_jitter: float = 0.0
    """Largest deviation of a step from the usual one, as a share of it."""
    duration: float = 0.0
    """Time that was worked on [s]."""


def pieces(log: Log, cutoffs: Cutoffs, health: Health, limits: Array) -> Iterator[Piece]:
    """The pieces of a log, each filtered and differentiated; `limits` are those of the torques."""
    lowest = min(cutoffs.equations, cutoffs.motion)
    for samples, first, last in _chunks(log, lowest, health):
        piece = _prepared(samples, log.period, cutoffs, (first, last), health, limits)
        if piece is not None:
            yield piece


def _chunks(log: Log, cutoff: float, health: Health) -> Iterator[tuple[Samples, bool, bool]]:
    """Samples without gaps, at most so many, and whether they begin and end where a part does."""
    overlap = int(2 * _OVERLAP / cutoff / log.period)
    size = max(PIECE, 4 * overlap)
    rest, first = None, True
    for block in log.blocks():
        health.rows += len(block)
        rest = block if rest is None else rest.joined(block)
        rest = _cleaned(rest, log, health)
        while True:
            steps = np.diff(rest.t)
            gap = next(iter(np.flatnonzero((steps > GAP * log.period) | (steps < 0)) + 1), size + 1)
            if gap <= size:
                health.counts["gaps"] += 1
                yield rest[:gap], first, True
                rest, first = rest[gap:], True
            elif len(rest) > size:
                yield rest[:size], first, False
                rest, first = rest[size - overlap :], False
            else:
                break
    if rest is not None and len(rest):
        yield rest, first, True


def spikes(samples: Samples) -> Array:
    """Which rows have a number far beyond all that lasts for three rows, (m,)."""
    found = np.zeros(len(samples), dtype=bool)
    if len(samples) < LEAST_RUN:
        return found
    for x in (samples.q, samples.tau):
        ends = np.pad(x, ((2, 2), (0, 0)), mode="reflect")
        lasting = np.median([ends[k : k + len(x)] for k in range(5)], axis=0)
        found |= (np.abs(x - lasting) > SPIKE * np.abs(lasting).max(axis=0)).any(axis=1)
    return found


def _cleaned(samples: Samples, log: Log, health: Health) -> Samples:
    """Without rows that have something missing, come twice or step back a little, or spikes.

    Positions go on over whole turns.
    """
    period = log.period
    columns = [samples.t[:, None], samples.q, samples.tau]
    columns += [part for part in (samples.qd, samples.qdd) if part is not None]
    finite = np.logical_and.reduce([np.isfinite(part).all(axis=1) for part in columns])
    if not finite.all():
        health.counts["missing"] += int((~finite).sum())
        samples = samples[finite]
    steps = np.diff(samples.t)
    back = (steps < 0) & (steps > -100 * period)
    if back.any():
        health.counts["backwards"] += int(back.sum())
        samples = samples[np.argsort(samples.t, kind="stable")]
        steps = np.diff(samples.t)
    twice = np.abs(steps) < 1e-6 * period
    if twice.any():
        health.counts["doubled"] += int(twice.sum())
        samples = samples[np.concatenate([[True], ~twice])]
    if (far := spikes(samples)).any():
        health.counts["spikes"] += int(far.sum())
        samples = samples[~far]
    q, jumps = unwrapped(samples.q, log.turns)
    health.counts["jumps"] += jumps
    return replace(samples, q=q)


def _prepared(
    samples: Samples,
    period: float,
    cutoffs: Cutoffs,
    whole: tuple[bool, bool],
    health: Health,
    limits: Array,
) -> Piece | None:
    rate, cutoff = 1.0 / period, cutoffs.equations
    ends = [(_END if at_end else _OVERLAP) / cutoff for at_end in whole]
    if len(samples) < 8 or samples.t[-1] - samples.t[0] <= sum(ends) + 4 * period:
        return None
    steps = np.diff(samples.t) / period
    off = np.abs(steps - 1.0)
    near = off < 0.5
    health.counts["jitter"] += int((off[near] > 0.02).sum())
    health.counts["filled"] += int(np.round(steps[~near] - 1.0).clip(0).sum())
    health.worst_jitter = max(health.worst_jitter, float(off[near].max(initial=0.0)))
    u = np.arange(samples.t[0], samples.t[-1] + 1e-6 * period, period)
    regular = len(u) == len(samples) and np.abs(u - samples.t).max() < 1e-3 * period

    step = max(1, int(rate / (_STAGE * cutoff)))
    motion = min(cutoffs.motion, 0.45 * rate)
    thin = u[::step]

    def smooth(x: Array, below: float) -> Array:
        grid = x if regular else np.asarray(make_interp_spline(samples.t, x, k=3)(u))
        return low_pass(grid, below, rate)[::step]

    saturated = _saturated(samples.tau, limits)
    counts = saturated.sum(axis=0)
    health.saturated = counts if health.saturated is None else health.saturated + counts
    health.duration += float(u[-1] - u[0] - sum(ends))
    good = _away_from(saturated, samples.t, u, 1.0 / cutoff)
    q = smooth(samples.q, motion)
    tau = smooth(samples.tau, cutoff)
    qd, qdd = (None if x is None else smooth(x, motion) for x in (samples.qd, samples.qdd))
    if qd is None:
        curve = make_interp_spline(thin, q, k=5)
        qd = curve.derivative(1)(thin)
        qdd = curve.derivative(2)(thin) if qdd is None else qdd
    elif qdd is None:
        qdd = make_interp_spline(thin, qd, k=5).derivative(1)(thin)
    again = max(1, int(rate / step / (_KEPT * cutoff)))
    inside = (thin >= u[0] + ends[0]) & (thin <= u[-1] - ends[1])
    first, last = np.flatnonzero(inside)[[0, -1]]
    kept = slice(int(first), int(last) + 1, again)
    return Piece(thin, q, qd, qdd, tau, good[::step], kept, rate / step)


def _saturated(tau: Array, limits: Array) -> Array:
    """Which torques stand at their largest value for several samples, or at a known limit."""
    # a limit that is passed by far is none of the drive, as a 0 in a description
    holds = np.abs(tau).max(axis=0, initial=0.0) <= 1.02 * limits
    found = (np.abs(tau) >= 0.999 * limits) & holds
    for j, column in enumerate(tau.T):
        for extreme in (column.max(), column.min()):
            at = column == extreme
            if abs(extreme) < 0.5 * np.abs(column).max() or at.mean() > 0.5:
                continue
            edges = np.diff(at.astype(int), prepend=0, append=0)
            for start, stop in np.flatnonzero(edges).reshape(-1, 2):
                if stop - start >= LEAST_RUN:
                    found[start:stop, j] = True
    return found


def _away_from(bad: Array, t: Array, u: Array, distance: float) -> Array:
    """Which of the times u are farther than a distance [s] from samples that are bad."""
    good = np.ones((len(u), bad.shape[1]), dtype=bool)
    for j in np.flatnonzero(bad.any(axis=0)):
        nearest, _ = cKDTree(t[bad[:, j], None]).query(u[:, None])
        good[:, j] = nearest > distance
    return good
