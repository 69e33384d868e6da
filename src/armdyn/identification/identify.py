"""`armdyn.identify`: from measured motion to a model that can be trusted."""

import time
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from armdyn.errors import IdentificationError, check_known
from armdyn.identification.conclude import conclude
from armdyn.identification.data import LogOptions, Progress, unheard
from armdyn.identification.methods import METHODS
from armdyn.identification.result import Identification
from armdyn.identification.task import check_enough, prepare, search_choices
from armdyn.robot import Robot, check_robot

Friction = Literal["choose", "keep", "none"]


MORE_DATA = (
    "record at least ten seconds of motion of all joints, and look for columns that keep one value "
    "or have the wrong unit"
)
"""What to do about data without a solution."""


def identify(
    robot: Robot,
    data: Any,
    validate: Any = None,
    *,
    method: str = METHODS[0],
    cutoff: float | None = None,
    friction: Friction = "choose",
    links: bool = True,
    prior_weight: float | Sequence[float] | None = None,
    columns: Mapping[str, str | Sequence[str]] | None = None,
    degrees: bool = False,
    gains: npt.ArrayLike | None = None,
    rate: float | None = None,
    time_unit: str | None = None,
    progress: Progress | None = None,
) -> Identification:
    """Find the parameters of a robot from logs of its motion.

    Args:
        robot: What is known: the geometry, and masses and inertias as a first guess.
        data: A .csv, .parquet or .npz file, or arrays t, q, tau and, where known, qd and qdd, in a
            mapping or as attributes; or a list of these.
        validate: Other data of the same kind; or the share of each log that is held out, 0.3 being
            its end and -0.3 its beginning; False: none. None: the last 30 %.
        method: One of `METHODS`.
        cutoff: Of torques and equations [Hz]; None: chosen from the motion.
        friction: "choose": the terms that serve held-out blocks best; "keep": those that the robot
            has; "none": no rotors and no friction.
        links: Whether the links are to be found; else they are as they are.
        prior_weight: Of the prior, or several to choose from; None: from 0.001 to 1000.
        columns: Names of columns for "t", "q", "qd", "qdd", "tau" or "current".
        degrees: Whether angles are in degrees.
        gains: Torque by current of each drive, or what torques are multiplied with, (n,).
        rate: Samples a second of logs without time stamps.
        time_unit: Unit of the time stamps: "s", "ms", "us" or "ns".
        progress: Told what is done, how many samples it has worked on, and how many there are.

    Raises:
        LogError: A log cannot be read.
        IdentificationError: The data are too few, or a setting is wrong.
    """
    began = time.perf_counter()
    check_robot(robot)
    check_known("method", method, METHODS)
    check_known("friction", friction, ("choose", "keep", "none"))
    progress = progress or unheard
    options = LogOptions(columns, degrees, gains, rate, time_unit)
    where = "data"
    try:
        task = prepare(robot, data, validate, options, cutoff, friction, progress, method, links)
        where, sums = task.training.logs[0].where, task.training.sums()
        held = task.validation.sums() if task.validation is not None else None
        check_enough(task, sums)
        choices = search_choices(task, sums, friction, prior_weight)
        return conclude(task, sums, held, choices, began)
    except np.linalg.LinAlgError as error:
        raise IdentificationError(
            f"{where}: the equations of these data cannot be solved ({error}); {MORE_DATA}"
        ) from error
