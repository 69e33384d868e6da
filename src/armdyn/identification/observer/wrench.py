"""The wrench at a link that explains external torques, τ_ext = Jᵀ w.

It is the least-squares solution, with the smallest norm where several are equally good. Forces
count times the reach of the arm, so that the result does not depend on units. With the singular
values s of the scaled Jᵀ and the largest one S, each is inverted as s / max(s, ε S)²: exactly
above ε S, and damped below, where noise would be magnified by more than 1/(ε S).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from armdyn.arrays import Array, check_names, real
from armdyn.errors import ObserverError, shown
from armdyn.formulations.cartesian import task_rows
from armdyn.model import RobotModel

DAMPED_RATIO = 0.005
"""ε by default; a tenth of the configurations of common arms are damped with it."""
LEAST_SINGULAR_VALUE = 1e-100
"""What is below is zero, as for a frame that no joint moves."""
OBSERVABLE_SHARE = 0.95
"""Share of a component that must be in its estimate so that it counts as observable."""


@dataclass(frozen=True, slots=True)
class WrenchEstimate:
    """Force and moment of the environment on a link, batches leading."""

    wrench: Array
    """(..., 6) [N, N m]."""
    resolution: Array
    """What the estimate makes of the true wrench, (..., 6, 6): the identity where all six
    components are seen. A component that is assumed to be zero has a row of zeros."""
    deviation: Array | None
    """Standard deviation of each component, (..., 6); None if no noise is known."""

    @property
    def observable(self) -> Array:
        """Whether the torques of the joints tell each component, (..., 6)."""
        share: Array = np.diagonal(self.resolution, axis1=-2, axis2=-1)
        seen: Array = share > OBSERVABLE_SHARE
        return seen


def estimate_wrench(
    J: Array,
    torque: Array,
    variance: Array | None,
    *,
    length: float,
    task: Sequence[str] | None,
    damping: float,
) -> WrenchEstimate:
    """The wrench for a Jacobian (..., 6, n), external torques (..., n) and their variance.

    Forces count times `length`; components that are not in `task` are assumed to be zero; None:
    all six are estimated; `damping` is ε.
    """
    if not 0 <= real(damping) < 1:
        raise ObserverError(
            f"damping: expected a part of the largest singular value, from 0 to 1, got "
            f"{shown(damping)}"
        )
    rows = slice(None) if task is None else list(task_rows(check_names("task", task)))
    scale = np.array([length] * 3 + [1.0] * 3)[rows]
    U, s, Vt = np.linalg.svd(J[..., rows, :] / scale[:, None], full_matrices=False)
    least = damping * s[..., :1] + LEAST_SINGULAR_VALUE
    inverse = s / np.maximum(s, least) ** 2
    part = (U * inverse[..., None, :] @ Vt) / scale[:, None]
    seen = (U * (inverse * s)[..., None, :] @ np.swapaxes(U, -1, -2)) * scale / scale[:, None]
    whole = np.zeros((*J.shape[:-2], 6, J.shape[-1]))
    resolution = np.zeros((*J.shape[:-2], 6, 6))
    whole[..., rows, :] = part
    chosen = np.arange(6)[rows]
    resolution[..., chosen[:, None], chosen] = seen
    wrench = np.einsum("...ij,...j->...i", whole, torque)
    if variance is None:
        return WrenchEstimate(wrench, resolution, None)
    deviation = np.sqrt(np.einsum("...ij,...j->...i", whole**2, variance))
    return WrenchEstimate(wrench, resolution, deviation)


def reach_of(model: RobotModel, link: str) -> float:
    """Length of the way from the base to a frame along the joints [m]; 1 if it is zero."""
    frame = model.frame(link)
    path = model.paths[frame.link] if frame.link >= 0 else ()
    places = [model.joints[i].placement for i in path] + [frame.placement]
    return float(sum(np.linalg.norm(place[:3, 3]) for place in places)) or 1.0
