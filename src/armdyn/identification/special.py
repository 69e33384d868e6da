"""Short calls for special cases: friction alone, gravity from poses at rest, little data."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from armdyn.errors import IdentificationError, check_known
from armdyn.identification.conclude import conclude
from armdyn.identification.data import Data, LogOptions, Progress, pilot, unheard
from armdyn.identification.equations import Equations, Rows
from armdyn.identification.friction_terms import OFFSET, Structure
from armdyn.identification.identify import identify
from armdyn.identification.payload import identify_payload
from armdyn.identification.preparation import Cutoffs
from armdyn.identification.result import Identification
from armdyn.identification.task import Task, search_choices
from armdyn.robot import Robot, check_robot

SPECIAL = ("friction", "payload", "gravity")
STRONG_WEIGHTS = (1.0, 10.0, 100.0, 1000.0)
"""Weights of a prior that is a model and not a guess."""
LEAST_POSES = 6


def identify_friction(
    robot: Robot, data: Any, validate: Any = None, **options: Any
) -> Identification:
    """Find rotors and friction, the links being as they are; arguments as in `identify`."""
    return identify(robot, data, validate, **options | {"links": False})


def update_model(robot: Robot, data: Any, validate: Any = None, **options: Any) -> Identification:
    """Change a model as far as little data ask for it; arguments as in `identify`.

    The model counts as known: its terms of friction are kept, if it has any, and the weight of the
    prior is at least 1.
    """
    frictionless = all(owner.friction.is_zero for owner in robot.model.driven)
    usual: dict[str, Any] = {
        "friction": "choose" if frictionless else "keep",
        "prior_weight": STRONG_WEIGHTS,
    }
    given = {key: value for key, value in options.items() if value is not None}
    return identify(robot, data, validate, **usual | given)


@dataclass
class _Poses(Data):
    """Poses at rest: nothing is filtered, and there are no rates."""

    _rows: Rows | None = field(default=None)

    def rows(self) -> Iterator[Rows]:
        """All of them at once."""
        if self._rows is None:
            self.passes = 1
            parts = []
            for log in self.logs:
                samples = pilot(log, 2**40)
                zero = np.zeros_like(samples.q)
                Z = tuple(self.equations.features(samples.q, zero, zero))
                good = np.isfinite(samples.tau)
                place = np.arange(len(samples), dtype=float)
                parts.append(Rows(place, samples.q, zero, samples.tau, good, Z))
                self.health.rows += len(samples)
            names = ("t", "q", "qd", "tau", "good")
            t, q, qd, tau, good = (
                np.concatenate([getattr(part, name) for part in parts]) for name in names
            )
            Z = tuple(np.concatenate(each) for each in zip(*(p.Z for p in parts), strict=True))
            self._rows = Rows(t, q, qd, tau, good, Z)
        yield self._rows


def identify_gravity(
    robot: Robot,
    poses: Any,
    validate: Any = None,
    *,
    offset: bool = False,
    prior_weight: Any = None,
    columns: Any = None,
    degrees: bool = False,
    gains: Any = None,
    progress: Progress | None = None,
    **_: Any,
) -> Identification:
    """Find what gravity shows, from positions and torques of poses at rest.

    A row of `poses` is one pose; time does not matter. Dry friction holds an arm at rest, so each
    pose is best measured twice, reached from both sides, and both rows given.

    Args:
        robot: What is known.
        poses: A file or arrays q and tau, or a list of these.
        validate: Other poses of the same kind; None: none.
        offset: Whether each joint has a constant torque as well.
        prior_weight: Of the prior, or several to choose from.
        columns: As in `identify`, like the rest.
        degrees: Whether angles are in degrees.
        gains: Torque by current of each drive.
        progress: Told what is done.
    """
    began = time.perf_counter()
    check_robot(robot)
    said = progress or unheard
    options = LogOptions(columns, degrees, gains, 1.0)
    structure: Structure = (OFFSET,) if offset else ()
    equations = Equations(robot, structure, np.ones(len(robot.model.driven)))
    cutoffs = Cutoffs(np.inf, np.inf)
    training = _Poses(options.open(robot, poses, "poses"), equations, cutoffs, said)
    other = None
    if validate is not None and not isinstance(validate, bool | float | int):
        other = _Poses(options.open(robot, validate, "validate"), equations, cutoffs, said)
    task = Task(
        robot, "entropic", True, equations, cutoffs, training, other, True, said, still=True
    )
    sums = training.sums()
    if sums.samples < LEAST_POSES:
        raise IdentificationError(
            f"{training.logs[0].where}: {sums.samples} poses are too few; take {LEAST_POSES} or "
            "more"
        )
    choices = search_choices(task, sums, "all", prior_weight)
    return conclude(task, sums, other.sums() if other is not None else None, choices, began)


def by_name(only: str | None) -> Callable[..., Any]:
    """The function for a special case; None: the usual one."""
    if only is None:
        return identify
    check_known("special case", only, SPECIAL)
    functions: dict[str, Callable[..., Any]] = {
        "friction": identify_friction,
        "payload": _payload_of_one,
        "gravity": identify_gravity,
    }
    return functions[only]


def _payload_of_one(robot: Robot, data: Any, validate: Any = None, **options: Any) -> Any:
    """The payload of loaded runs; those to validate with are taken for the unloaded ones."""
    unloaded = None if isinstance(validate, bool | float | int) else validate
    return identify_payload(robot, data, unloaded, **options)
