"""A base that moves: its motion as a function of time, and the torques that it gives at the joints.

The mass matrix does not depend on how the base moves, so an arm on a moving base is the arm on a
base at rest with one torque more at each joint,

    τ_base(q, q̇, t) = (C q̇ + g of the base at rest) - (C q̇ + g of the moving base),

what an observer on the base calls centrifugal, Coriolis, Euler's and inertial forces. Energies are
those that this observer sees, and the work of τ_base accounts for the rest.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from armdyn.arrays import Array
from armdyn.errors import ShapeError, SimulationError, shown
from armdyn.forks import cached_property
from armdyn.io.csv.base_motion import base_motion_from_csv
from armdyn.model.base_motion import BaseMotion
from armdyn.model.transform import rotation_from_vector, rotation_vector
from armdyn.robot import Robot
from armdyn.simulation.checks import check_increasing

GivenBase = (
    BaseMotion | tuple[npt.ArrayLike, BaseMotion] | Callable[[float], BaseMotion] | str | Path
)
"""A motion of the base as people give it."""


@dataclass(frozen=True, eq=False)
class SampledBase:
    """A motion of the base between samples: vectors on straight lines, rotations the short way."""

    t: Array
    """Increasing times, (m,) [s]."""
    rows: Array
    """`BaseMotion.vector` at these times, (m, 18)."""
    source: str = "base_motion"

    @classmethod
    def of(
        cls, robot: Robot, times: npt.ArrayLike, motion: BaseMotion, source: str
    ) -> "SampledBase":
        """The samples of a motion whose batch goes along times."""
        t = check_increasing(source, times, SimulationError)
        rows = motion.vector(robot.model.base[:3, :3])
        if rows.shape[:-1] not in ((), (1,), t.shape):
            raise ShapeError(
                f"{source}: a base motion of the wrong shape, {rows.shape[:-1]}; expected one "
                f"motion for each of the {len(t)} times, rotation ({len(t)}, 3, 3), vectors "
                f"({len(t)}, 3)"
            )
        return cls(t, np.broadcast_to(rows, (len(t), rows.shape[-1])), source)

    def check_span(self, first: float, last: float) -> None:
        """An error if it does not last from the first to the last time [s]."""
        if len(self.t) > 1 and (self.t[0] > first or self.t[-1] < last - 1e-12 * abs(last)):
            raise SimulationError(
                f"{self.source}: it says how the base moves from {self.t[0]:.6g} to "
                f"{self.t[-1]:.6g} s, but it is needed from {first:.6g} to {last:.6g} s"
            )

    @cached_property
    def _turns(self) -> tuple[Array, Array]:
        """Rotations, (m, 3, 3), and the turns from each to the next, (m - 1, 3) [rad]."""
        R = self.rows[:, :9].reshape(-1, 3, 3)
        return R, rotation_vector(np.swapaxes(R[:-1], -1, -2) @ R[1:])

    def __call__(self, t: npt.ArrayLike) -> BaseMotion:
        """The motion at times of any shape."""
        at = np.asarray(t, dtype=float)
        if len(self.t) == 1:
            return motion_of_rows(np.broadcast_to(self.rows[0], (*at.shape, self.rows.shape[-1])))
        i = np.clip(np.searchsorted(self.t, at, side="right") - 1, 0, len(self.t) - 2)
        share = np.asarray((at - self.t[i]) / (self.t[i + 1] - self.t[i]))[..., None]
        rows = self.rows[i] + share * (self.rows[i + 1] - self.rows[i])
        R, turns = self._turns
        rows[..., :9] = (R[i] @ rotation_from_vector(share * turns[i])).reshape(*at.shape, 9)
        return motion_of_rows(rows)


def base_function(
    robot: Robot, given: Any, first: float, last: float
) -> Callable[[Any], BaseMotion] | None:
    """A motion of the base as a function of the time [s]; None if the base stands still."""
    if given is None or (callable(given) and not isinstance(given, BaseMotion)):
        return given
    if isinstance(given, BaseMotion):
        return lambda _: given
    if isinstance(given, str | Path):
        sampled = SampledBase.of(robot, *base_motion_from_csv(given), str(given))
    elif isinstance(given, tuple | list) and len(given) == 2 and isinstance(given[1], BaseMotion):
        sampled = SampledBase.of(robot, given[0], given[1], "base_motion")
    else:
        raise SimulationError(
            "base_motion: expected an armdyn.BaseMotion, a function of the time that gives one, a "
            f"pair of times and a BaseMotion, or the name of a CSV file, got {shown(given)}"
        )
    sampled.check_span(first, last)
    return sampled


def base_torque(
    robot: Robot, motion: Callable[[Any], BaseMotion]
) -> Callable[[float, Array, Array], Array]:
    """The torques that a moving base gives at the joints at a time [s], (..., n)."""
    still, moving = (robot.kernel("bias", friction=False, base_motion=x) for x in (False, True))
    return lambda t, q, qd: still(q, qd) - moving(q, qd, vector_at(robot, motion, t, q.shape[:-1]))


def vector_at(
    robot: Robot, motion: Callable[[Any], BaseMotion], t: float, arms: tuple[int, ...]
) -> Array:
    """The motion of the base at a time [s] as `BaseMotion.vector`, for arms of a shape."""
    try:
        given = motion(t)
    except ShapeError as error:
        raise ShapeError(f"base_motion at t = {t:.6g} s: {error}") from error
    except Exception as error:
        raise SimulationError(
            f"base_motion raised {type(error).__name__} at t = {t:.6g} s: {error}"
        ) from error
    if not isinstance(given, BaseMotion):
        raise SimulationError(
            f"base_motion gave {shown(given)} at t = {t:.6g} s; expected an armdyn.BaseMotion"
        )
    vector = given.vector(robot.model.base[:3, :3])
    lead = vector.shape[:-1]
    pairs = zip(lead[::-1], arms[::-1], strict=False)
    if len(lead) > len(arms) or any(size not in (1, count) for size, count in pairs):
        raise ShapeError(
            f"base_motion: a base motion of the wrong shape, {lead}, for arms of shape {arms}; "
            "expected one motion, or one for each arm; one for each time comes with its times, "
            "base_motion=(times, motion)"
        )
    return vector


def base_rows(robot: Robot, given: Any, times: Array) -> Array | None:
    """`BaseMotion.vector` at times (m,) [s], (m, 18); None if the base stands still."""
    if given is None:
        return None
    if isinstance(given, BaseMotion):
        return SampledBase.of(robot, times, given, "base_motion").rows
    motion = base_function(robot, given, float(times[0]), float(times[-1]))
    if isinstance(motion, SampledBase):
        return motion(times).vector(robot.model.base[:3, :3])
    assert motion is not None
    return np.array([vector_at(robot, motion, t, ()) for t in times.tolist()])


def motion_of_rows(rows: Array) -> BaseMotion:
    """The motion whose `vector` is (..., 18)."""
    vectors = np.moveaxis(rows[..., 9:].reshape(*rows.shape[:-1], 3, 3), -2, 0)
    return BaseMotion(rows[..., :9].reshape(*rows.shape[:-1], 3, 3), *vectors)
