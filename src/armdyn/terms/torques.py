"""Joint torques along a trajectory, split into the terms they are made of."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from armdyn.arrays import Array, check_joint_vector
from armdyn.errors import TrajectoryError, counted
from armdyn.forks import cached_property
from armdyn.io.csv.trajectory import SampledMotion
from armdyn.model.friction import FRICTION_ROWS
from armdyn.robot import Robot
from armdyn.simulation.base import GivenBase, base_rows, motion_of_rows
from armdyn.simulation.hand import Hand
from armdyn.simulation.limits import Excess, effort_limits, excesses
from armdyn.terms.reactions import Reactions

State = tuple[Array, Array, Array]
"""q, q̇ and q̈ of some instants, (k, n) each."""
CHUNK = 2048
"""Instants computed at once, so that the arrays of every formulation stay small."""


@dataclass(frozen=True, eq=False)
class TorqueReport:
    """The torques of a robot along a trajectory of m instants."""

    arm: Robot = field(repr=False)
    robot: str
    """The name of the robot."""
    title: str
    """What people call the robot."""
    joints: tuple[str, ...]
    units: tuple[str, ...]
    """"N·m" for a joint that turns, "N" for one that slides."""
    trajectory: SampledMotion
    total: Array
    """What the actuators give, shape (m, n) [N m or N]."""
    terms: dict[str, Array]
    """The terms by name, each (m, n); they add up to the total."""
    formulation: str
    friction: bool
    """Whether friction is in the total."""
    limits: Array
    """Highest torque of each joint, (n,) [N m or N]; infinite where it is not known."""
    excesses: tuple[Excess, ...] = ()
    """Where the motion or the torque goes beyond a limit of a joint."""
    reactions: Reactions | None = None
    """What ground and joints carry, if asked."""

    def __repr__(self) -> str:
        rows, n = self.total.shape
        return (
            f"<TorqueReport of {self.robot!r}, {counted(rows, 'instant')}, {counted(n, 'joint')}>"
        )

    @cached_property
    def hand(self) -> Hand:
        """Pose, velocity and acceleration of the tool."""
        return Hand.of(self.arm, self.trajectory.q, self.trajectory.qd, self.trajectory.qdd)

    @property
    def acting(self) -> dict[str, Array]:
        """The terms that are more than rounding somewhere."""
        rounding = 1e-12 * np.abs(self.total).max()
        return {name: v for name, v in self.terms.items() if np.abs(v).max() > rounding}

    @property
    def residual(self) -> float:
        """Largest difference between the total and the sum of the terms [N m or N]."""
        return float(np.abs(self.total - sum(self.terms.values())).max())

    def columns(self) -> dict[str, Array]:
        """The table t, tau1..n, inertial1..n, ..., the hand, and reactions, column by column."""
        table = {"t": self.trajectory.t}
        for name, values in {"tau": self.total, **self.terms}.items():
            table |= {f"{name}{i + 1}": values[:, i] for i in range(values.shape[1])}
        table |= self.hand.columns()
        return table if self.reactions is None else table | self.reactions.columns()

    def summary(self) -> dict[str, Any]:
        """Peak and RMS of every joint and term, as plain data."""
        t = self.trajectory.t
        peaks = np.abs(self.total).argmax(0)
        return {
            "robot": self.robot,
            "trajectory": {
                "file": self.trajectory.source,
                "rows": len(t),
                "duration": float(t[-1] - t[0]),
                "computed": list(self.trajectory.computed),
            },
            "formulation": self.formulation,
            "friction": self.friction,
            "residual": self.residual,
            "excesses": [excess.data() for excess in self.excesses],
            "joints": [
                {
                    "name": name,
                    "unit": self.units[i],
                    "limit": float(self.limits[i]) if np.isfinite(self.limits[i]) else None,
                    "peak_time": float(t[peaks[i]]),
                    **_extremes(t, self.total[:, i]),
                    "terms": {term: _extremes(t, v[:, i]) for term, v in self.terms.items()},
                }
                for i, name in enumerate(self.joints)
            ],
            "hand": self._hand_summary(),
            "reactions": [] if self.reactions is None else self.reactions.summary(),
        }

    def _hand_summary(self) -> dict[str, Any]:
        """Largest speed and acceleration of the hand, with their times."""
        t, found = self.trajectory.t, {}
        for name, twist in (
            ("speed", self.hand.velocity),
            ("acceleration", self.hand.acceleration),
        ):
            for part, columns in (("linear", slice(3)), ("angular", slice(3, 6))):
                size = np.linalg.norm(twist[:, columns], axis=-1)
                peak = {"peak": float(size.max()), "peak_time": float(t[size.argmax()])}
                found[f"{part}_{name}"] = peak
        return found


def torque_report(
    robot: Robot,
    trajectory: SampledMotion,
    *,
    friction: bool = True,
    formulation: str | None = None,
    reactions: bool = False,
    external_wrench: ArrayLike | None = None,
    wrench_link: str = "tool",
    wrench_frame: str = "world",
    base_motion: GivenBase | None = None,
    progress: Callable[[int], None] | None = None,
) -> TorqueReport:
    """The torques that drive a robot along a trajectory, and their terms; `reactions` if asked.

    A formulation gives the total only: the terms are always those of the ledger. The wrench of the
    environment is that of the trajectory, or (6,) or (m, 6) here; the motion of the base is given
    as to `armdyn.simulate`, or as a BaseMotion with one sample for each instant. `progress` is
    called with the number of instants computed since the last call.
    """
    rows, n = trajectory.q.shape
    if n != robot.n:
        raise TrajectoryError(
            f"the trajectory moves {counted(n, 'joint')}, but {robot.name!r} has {robot.n}: "
            f"{', '.join(robot.joint_names)}"
        )
    where = {"wrench_link": wrench_link, "wrench_frame": wrench_frame}
    moving = base_rows(robot, base_motion, trajectory.t)
    chunks = list(_chunks(trajectory, _wrench(trajectory, external_wrench), where, moving))
    total = np.empty((rows, n))
    terms: dict[str, Array] = {}
    for part, state, on, base in chunks:
        total[part] = _torques(robot, state, on | base, friction, formulation)
        for name, values in _terms(robot, state, on, total[part] if base else None, friction):
            kept = terms.setdefault(name, np.zeros((rows, n)))
            if values.any():  # untouched zeros take no memory
                kept[part] = values
        if progress is not None:
            progress(len(state[0]))
    joints = [robot.model.joints[i] for i in robot.model.independent]
    return TorqueReport(
        robot,
        robot.name,
        robot.model.title or robot.name,
        robot.joint_names,
        tuple(joint.type.torque_unit for joint in joints),
        trajectory,
        total,
        terms,
        formulation or "minimal (compiled)",
        friction,
        effort_limits(robot.model),
        excesses(robot.model, trajectory.t, trajectory.q, trajectory.qd, total),
        _reactions(robot, trajectory, chunks) if reactions else None,
    )


Chunk = tuple[slice, State, dict[str, Any], dict[str, Any]]
"""Which instants, their states, and what acts: the wrench with its options, and the base."""


def _chunks(
    trajectory: SampledMotion, wrench: Array | None, where: dict[str, Any], moving: Array | None
) -> Iterator[Chunk]:
    for start in range(0, len(trajectory), CHUNK):
        part = slice(start, start + CHUNK)
        state = trajectory.q[part], trajectory.qd[part], trajectory.qdd[part]
        on = where if wrench is None else where | {"external_wrench": wrench[part]}
        yield (
            part,
            state,
            on,
            {} if moving is None else {"base_motion": motion_of_rows(moving[part])},
        )


def _reactions(robot: Robot, trajectory: SampledMotion, chunks: list[Chunk]) -> Reactions:
    rows = 1 + len(robot.model.links)
    carried = np.empty((2, len(trajectory), rows, 6))
    for part, state, on, base in chunks:
        for axes, frame in zip(carried, ("world", "joint"), strict=True):
            found = robot.reactions(*state, frame=frame, base_wrench=True, **(on | base))
            axes[part] = found[..., :rows, :]  # those of cut joints come behind
    return Reactions.of(robot.model, trajectory.t, carried[0], carried[1])


def _torques(
    robot: Robot, state: State, on: dict[str, Any], friction: bool, formulation: str | None = None
) -> Array:
    return robot.inverse_dynamics(*state, friction=friction, formulation=formulation, **on)


def _terms(
    robot: Robot, state: State, on: dict[str, Any], moved: Array | None, friction: bool
) -> Iterator[tuple[str, Array]]:
    """The terms by name; `moved` are the torques on a base that moves, None if it stands still."""
    for name, values in robot.ledger(*state, **on).terms.items():
        yield name, values if friction or name not in FRICTION_ROWS else np.zeros(values.shape)
    if moved is not None:
        yield "base", moved - _torques(robot, state, on, friction)


def _wrench(trajectory: SampledMotion, given: ArrayLike | None) -> Array | None:
    """The wrench at each instant, (m, 6); None if there is none."""
    if given is None:
        return trajectory.wrench
    if trajectory.wrench is not None:
        raise TrajectoryError(
            f"{trajectory.source or 'the trajectory'} has a wrench already, in the columns fx to "
            "nz; leave out the other one"
        )
    wrench = check_joint_vector("external_wrench", given, 6, "components (force, moment)")
    if wrench.shape not in ((6,), (len(trajectory), 6)) or not np.isfinite(wrench).all():
        raise TrajectoryError(
            f"external_wrench: expected 6 finite numbers, or 6 for each of the {len(trajectory)} "
            f"instants, got shape {wrench.shape}"
        )
    return np.broadcast_to(wrench, (len(trajectory), 6))


def _extremes(t: Array, values: Array) -> dict[str, float]:
    """The value of largest magnitude, and the root of the mean square over time."""
    peak = float(values[np.abs(values).argmax()])
    if len(t) == 1:
        return {"peak": peak, "rms": abs(peak)}
    square = np.square(values)
    integral = 0.5 * (square[1:] + square[:-1]) @ np.diff(t)
    return {"peak": peak, "rms": float(np.sqrt(integral / (t[-1] - t[0])))}
