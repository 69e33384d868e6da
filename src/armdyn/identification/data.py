"""The data of an identification: logs that are opened, split, filtered and summed up."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.errors import IdentificationError, require
from armdyn.identification.equations import Equations, Rows
from armdyn.identification.preparation import Cutoffs, Health, low_pass, pieces, spikes
from armdyn.identification.problem import Sums
from armdyn.io.log import Log, Samples, open_log, unwrapped
from armdyn.robot import Robot

HELD_OUT = 0.3
"""Share of each log that is held out if no other data are given to validate with."""
CACHED_BYTES = 2**28
"""Equations that are kept in memory for methods that go over the data again [bytes]."""

LARGEST_POSITION, LARGEST_TORQUE, LEAST_TORQUE = 1e6, 1e12, 1e-12
"""Beyond which positions [rad or m] and torques [N m or N] are none of an arm."""

Progress = Callable[[str, int, int], None]
"""Told what is done, how many samples it has worked on, and how many there are; 0 of 0: none."""


def unheard(_what: str, _done: int, _total: int) -> None:
    """Progress that nobody wants to know of."""


def open_logs(robot: Robot, data: Any, name: str, **options: Any) -> list[Log]:
    """The log, or several, of a robot; options are those of `armdyn.io.log.open_log`."""
    each = data if isinstance(data, list | tuple) else [data]
    if not each:
        raise IdentificationError(f"{name}: there is no log")
    turns = [joint.type.turns for joint in robot.model.coordinate_joints]
    return [open_log(one, robot.joint_names, turns, name=name, **options) for one in each]


def split(logs: Sequence[Log], share: float) -> tuple[list[Log], list[Log]]:
    """The logs in two parts: so much of the end of each is held out, or of the beginning if < 0."""
    expected = "other data, a share of each log (0.3: the last 30 %; -0.3: the first), or False"
    require(0 < abs(share) < 1, "validate", expected, share, IdentificationError)
    training, held = [], []
    for log in logs:
        cut = int(((1 - share) if share > 0 else -share) * log.source.rows)
        parts = log.part(0, cut), log.part(cut, None)
        training.append(parts[share < 0])
        held.append(parts[share > 0])
    return training, held


def pilot(log: Log, most: int = 60_000) -> Samples:
    """The first samples of a log, without those that have something missing."""
    found: Samples | None = None
    for block in log.blocks():
        found = block if found is None else found.joined(block)
        if len(found) >= most:
            break
    if found is None:
        raise IdentificationError(f"{log.where}: there are no samples")
    some = found[:most]
    finite = np.isfinite(some.q).all(axis=1) & np.isfinite(some.tau).all(axis=1)
    some = some[finite]
    some = some[~spikes(some)]
    return replace(some, q=unwrapped(some.q, log.turns)[0])


def check_sizes(log: Log, names: Sequence[str]) -> None:
    """Refuse numbers that no arm has, and a torque that is always zero."""
    samples = pilot(log)
    columns = (("position", samples.q, LARGEST_POSITION), ("torque", samples.tau, LARGEST_TORQUE))
    for what, values, most in columns:
        peak = np.abs(values).max(axis=0, initial=0.0)
        for j in np.flatnonzero(peak > most)[:1].tolist():
            raise IdentificationError(
                f"{log.where}: the {what} of {names[j]} goes to {peak[j]:.3g}, which no arm has; "
                "check its column and its unit"
            )
    dead = [names[j] for j in np.flatnonzero(peak < LEAST_TORQUE).tolist()] if len(samples) else []
    if dead:
        raise IdentificationError(
            f"{log.where}: the torque of {', '.join(dead)} is zero throughout; check the columns, "
            "the gains and the sensors, or lock joints that are not used"
        )


def motor_speeds(samples: Samples, period: float, cutoff: float, ratios: Array) -> Array:
    """Root mean square of the rate of each motor in some samples, (motors,)."""
    qd = samples.qd
    if qd is None or not np.isfinite(qd).all():
        qd = np.gradient(low_pass(samples.q, cutoff, 1 / period), period, axis=0)
    rms = np.sqrt(np.mean((qd @ ratios.T) ** 2, axis=0))
    return np.asarray(np.maximum(rms, 1e-4 * max(float(rms.max(initial=0.0)), 1e-6)))


@dataclass
class Data:
    """Logs with the equations that are written on them; it counts how often it is gone over."""

    logs: Sequence[Log]
    equations: Equations
    cutoffs: Cutoffs
    progress: Progress
    health: Health = field(default_factory=Health)
    passes: int = 0
    cache: list[Rows] | None = None
    """The equations, where they are few enough to be kept for the next time."""

    def with_logs(self, logs: Sequence[Log]) -> "Data":
        """Other logs with the same equations and filters."""
        return Data(logs, self.equations, self.cutoffs, self.progress)

    def rows(self) -> Iterator[Rows]:
        """The equations, piece by piece."""
        if self.cache is not None:
            yield from self.cache
            return
        self.passes += 1
        self.health = Health()
        limits = self.equations.robot.effort_limits
        cache: list[Rows] | None = []
        size = 0
        total = sum(log.rows for log in self.logs)
        for log in self.logs:
            self.progress(f"reading {log.where}", self.health.rows, total)
            for piece in pieces(log, self.cutoffs, self.health, limits):
                found = self.equations.rows(piece, self.cutoffs.equations)
                self.progress(f"reading {log.where}", self.health.rows, total)
                size += sum(Z.nbytes for Z in found.Z)
                cache = None if cache is None or size > CACHED_BYTES else [*cache, found]
                yield found
        self.cache = cache

    def sums(self, weights: Callable[[Rows], Array] | None = None) -> Sums:
        """The sums over all of it."""
        found = Sums(self.equations)
        for rows in self.rows():
            found.add(rows, None if weights is None else weights(rows))
        return found
