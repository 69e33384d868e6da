"""How much of an estimate is noise, and the thresholds above which it is contact.

A sample of the observer has a = exp(-K h). Noise of the torques with standard deviation σ, whose
correlation decays as exp(-t/T), so that b = exp(-h/T) from one sample to the next, and white noise
of the velocities with the standard deviations s have in the estimate r of joint i the variance

    σ_i² (1 - a)(1 + b) / (2 (1 - a b))  +  2 (1 - a)² / (h² (1 + a)) Σ_j (M_ij s_j)²

Both follow from the autocovariance of what r' = r + (1 - a)(d - r) filters. For white noise of the
torques, b = 0, the first is σ² (1 - a)/2; a constant error of the model, b = 1, keeps its σ².
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri

from armdyn.arrays import Array
from armdyn.errors import ObserverError, shown

LEAST_SAMPLES = 100
"""Samples without contact from which noise can be told."""
LEAST_DEVIATION = 1e-12
"""What is less is rounding, as of a simulation without noise [N m or N]."""


@dataclass(frozen=True, slots=True)
class Noise:
    """Noise of the samples of each joint."""

    torque: Array
    """Standard deviation of the torques that the model does not explain, (n,) [N m or N]."""
    time: Array
    """Correlation time of these, (n,) [s]; 0: white."""
    velocity: Array
    """Standard deviation of the velocities, (n,)."""

    @classmethod
    def of_estimates(cls, r: Array, gain: Array, h: float) -> "Noise":
        """The noise behind estimates r (..., m, n) without contact, velocities being exact.

        With D the mean square of d = r + (r' - r)/(1 - a) and R that of r, the variance above and
        that of d, σ² (1 + b)/2, give a b = 1 - (1 - a) D/R. Noise that changes its sign from sample
        to sample, as that of velocities does, counts as white noise with the same R.
        """
        gap = -np.expm1(-gain * h)
        axes = tuple(range(r.ndim - 1))
        ahead, before = r[..., 1:, :], r[..., :-1, :]
        D = np.mean((before + (ahead - before) / gap) ** 2, axis=axes)
        R = np.maximum(np.mean(ahead**2, axis=axes), LEAST_DEVIATION**2)
        b = np.clip((1 - gap * D / R) / np.maximum(1 - gap, 1e-9), 0.0, 1 - 1e-9)
        torque = np.sqrt(2 * R * (1 - (1 - gap) * b) / (gap * (1 + b)))
        with np.errstate(divide="ignore"):
            time = -h / np.log(b)
        return cls(torque, time, np.zeros_like(torque))

    def variance(self, gain: Array, h: Array, mass_matrix: Array | None) -> Array:
        """Of the estimate of each joint, (..., n), for samples at distances h (..., 1)."""
        gap = -np.expm1(-gain * h)
        with np.errstate(divide="ignore"):
            decay = h / self.time  # infinite where the noise is white
        found: Array = self.torque**2 * gap * (1 + np.exp(-decay))
        found = found / (-2 * np.expm1(-gain * h - decay))
        if mass_matrix is None:
            return found
        momentum = np.einsum("...ij,j->...i", mass_matrix**2, self.velocity**2)
        return found + 2 * gap**2 / (h**2 * (2 - gap)) * momentum


def threshold_factor(false_alarms: float, n: int) -> float:
    """Standard deviations that Gaussian noise exceeds in one of n joints this often.

    For noise that the joints have in common it is exceeded less often, after Šidák.
    """
    one = -math.expm1(math.log1p(-false_alarms) / n)
    return -float(ndtri(one / 2))


def check_settings(
    what: str, given: npt.ArrayLike, n: int, unit: str, *, zero: bool = False
) -> Array:
    """A positive number for each joint, (n,), from one for all or for each; an ObserverError."""
    try:
        values = np.array(np.broadcast_to(np.asarray(given, dtype=float), (n,)))
    except (TypeError, ValueError):
        values = np.full(n, np.nan)
    if np.asarray(given).dtype.kind == "b" or not (np.isfinite(values) & (values >= 0)).all():
        values = np.full(n, np.nan)
    if np.isnan(values).any() or not (zero or (values > 0).all()):
        least = "not negative" if zero else "positive"
        raise ObserverError(
            f"{what}: expected a number that is {least}, or {n} of them, one for each joint "
            f"[{unit}], got {shown(given)}"
        )
    return values
