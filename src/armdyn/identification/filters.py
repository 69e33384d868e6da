"""Zero-phase filters, and a cut-off that fits the motion."""

import numpy as np
from scipy.signal import butter, sosfiltfilt, welch

from armdyn.arrays import Array

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
