"""Checks of the samples that an observer is given."""

import numpy as np
import numpy.typing as npt

from armdyn.arrays import Array, broadcast, check_joint_vector
from armdyn.errors import ObserverError, ShapeError, shown


def check_samples(n: int, **vectors: npt.ArrayLike) -> tuple[Array, ...]:
    """Finite vectors (..., n) of one batch shape."""
    checked = {k: check_joint_vector(k, v, n) for k, v in vectors.items()}
    for name, values in checked.items():
        if not np.isfinite(values).all():
            at = tuple(int(i) for i in np.argwhere(~np.isfinite(values))[0])
            where = f"entry {at[0] if len(at) == 1 else at}"
            raise ObserverError(
                f"{name}: {where} is {values[at]}; leave out samples that are not finite: the "
                "time since the last one may be as long as it was"
            )
    found = tuple(checked.values())
    return found if len({v.shape for v in found}) == 1 else broadcast(**checked)


def check_period(h: npt.ArrayLike | None, batch: tuple[int, ...] | None = None) -> Array:
    """The time of a step for all arms, (1,), or for each of a batch, (..., 1)."""
    if h is None:
        raise ObserverError("h: give the time since the last sample [s]")
    try:
        period = np.asarray(h, dtype=float)
    except (TypeError, ValueError):
        period = np.array(np.nan)
    if batch is not None and period.shape not in ((), batch):
        one_each = f", or one for each arm, shape {batch}" if batch else ""
        raise ShapeError(f"h: expected a number [s]{one_each}; got shape {period.shape}")
    if not (np.isfinite(period) & (period > 0)).all():
        raise ObserverError(
            f"h: expected a positive time since the last sample [s], got {shown(h)}; samples must "
            "come in the order of time, each once"
        )
    return period.reshape(*period.shape, 1)


def check_times(t: npt.ArrayLike) -> Array:
    """Times that increase, (m,)."""
    try:
        times = np.asarray(t, dtype=float)
    except (TypeError, ValueError):
        times = np.empty(0)
    if times.ndim != 1 or not times.size or not np.isfinite(times).all():
        raise ObserverError(f"t: expected finite times of shape (m,) [s], got {shown(t)}")
    back = np.flatnonzero(np.diff(times) <= 0)
    if back.size:
        k = int(back[0]) + 1
        word = "stands still" if times[k] == times[k - 1] else "goes backwards"
        raise ObserverError(
            f"t: time {word} at row {k}, from {times[k - 1]:.9g} to {times[k]:.9g} s; sort the "
            "rows, and leave out those that come twice"
        )
    return times
