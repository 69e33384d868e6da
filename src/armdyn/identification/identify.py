"""`armdyn.identify`: from measured motion to a model that can be trusted; and its special cases."""

import ctypes
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from importlib import import_module
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from armdyn.arrays import check_truth, real
from armdyn.errors import IdentificationError, check_known, shown
from armdyn.identification.conclude import conclude
from armdyn.identification.data import HELD_OUT, Data, Progress, open_logs, pilot, split, unheard
from armdyn.identification.equations import OFFSET, Equations, Rows
from armdyn.identification.estimate import METHODS
from armdyn.identification.preparation import Cutoffs
from armdyn.identification.result import Identification
from armdyn.identification.task import Task, check_enough, choose_terms, prepare
from armdyn.io.log import Log
from armdyn.robot import Robot, check_robot

Friction = Literal["choose", "keep", "none"]
MORE_DATA = (
    "record at least ten seconds of motion of all joints, and look for columns that keep one value "
    "or have the wrong unit"
)
"""What to do about data without a solution."""
STRONG_WEIGHT = 10.0
"""Weight of a prior that is a model and not a guess."""
LEAST_POSES = 6
BLAS = {
    "numpy.linalg._umath_linalg": "scipy_openblas_{}_num_threads64_",
    "scipy.linalg._fblas": "scipy_openblas_{}_num_threads",
}
"""Modules that link OpenBLAS, as wheels of NumPy and SciPy do, and the functions of its threads."""


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Let OpenBLAS compute on one thread: matrices here are too small for others to be of use."""
    restore: list[Callable[[], object]] = []
    for module, name in BLAS.items():
        with suppress(ImportError, OSError, AttributeError):  # another build, or another BLAS
            library = ctypes.CDLL(str(import_module(module).__file__))
            get, change = (getattr(library, name.format(what)) for what in ("get", "set"))
            restore.append(partial(change, get()))
            change(1)
    try:
        yield
    finally:
        for undo in restore:
            undo()


@one_blas_thread()
def identify(
    robot: Robot,
    data: Any,
    validate: Any = None,
    *,
    method: str = METHODS[0],
    project: bool = False,
    cutoff: float | None = None,
    friction: Friction = "choose",
    links: bool = True,
    prior_weight: float = 1.0,
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
        method: "entropic", whose links can all exist, "least_squares" or "robust".
        project: Whether the base parameters of the last two become the nearest possible robot.
        cutoff: Of torques and equations [Hz]; None: chosen from the motion.
        friction: "choose": the terms that serve held-out blocks best; "keep": those that the robot
            has; "none": no rotors and no friction.
        links: Whether the links are to be found; else they are as they are.
        prior_weight: What the robot as it was given counts for in the method "entropic".
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
    check_truth("project", project)
    weight = _check_weight(prior_weight)
    options: Any = {"columns": columns, "degrees": degrees, "gains": gains}
    options |= {"rate": rate, "time_unit": time_unit}
    logs, held = open_logs(robot, data, "data", **options), []
    share = HELD_OUT if validate is None else validate
    apart = not isinstance(share, bool | int | float)
    if apart:
        held = open_logs(robot, validate, "validate", **options)
    elif share is not False:
        logs, held = split(logs, float(share))
    where = logs[0].where
    try:
        training = prepare(robot, logs, held, cutoff, friction, progress or unheard)
        other = training.with_logs(held) if held else None
        task = Task(training, other, apart, method, project, links, weight)
        sums = training.sums()
        check_enough(training, sums)
        return conclude(task, sums, choose_terms(task, sums, friction), began)
    except np.linalg.LinAlgError as error:
        raise IdentificationError(
            f"{where}: the equations of these data cannot be solved ({error}); {MORE_DATA}"
        ) from error


def _check_weight(given: object) -> float:
    if not 0 < real(given) < np.inf:
        raise IdentificationError(f"prior_weight: expected a number above 0, got {shown(given)}")
    return real(given)


# special cases


def identify_friction(
    robot: Robot, data: Any, validate: Any = None, **options: Any
) -> Identification:
    """Find rotors and friction, the links being as they are; arguments as in `identify`."""
    return identify(robot, data, validate, links=False, **options)


def update_model(robot: Robot, data: Any, validate: Any = None, **options: Any) -> Identification:
    """Change a model as far as little data ask for it; arguments as in `identify`.

    The model counts as known: its terms of friction are kept, if it has any, and the weight of the
    prior is 10 unless another is given.
    """
    frictionless = all(owner.friction.is_zero for owner in check_robot(robot).model.driven)
    usual = {"friction": "choose" if frictionless else "keep", "prior_weight": STRONG_WEIGHT}
    return identify(robot, data, validate, **usual | options)


def identify_gravity(
    robot: Robot,
    poses: Any,
    validate: Any = None,
    *,
    offset: bool = False,
    prior_weight: float = 1.0,
    columns: Mapping[str, str | Sequence[str]] | None = None,
    degrees: bool = False,
    gains: npt.ArrayLike | None = None,
    progress: Progress | None = None,
) -> Identification:
    """Find what gravity shows, from positions and torques of poses at rest.

    A row of `poses` is one pose; time does not matter. Dry friction holds an arm at rest, so each
    pose is best measured twice, reached from both sides, and both rows given.

    Args:
        robot: What is known.
        poses: A file or arrays q and tau, or a list of these.
        validate: Other poses of the same kind; None or False: none.
        offset: Whether each joint has a constant torque as well.
        prior_weight: What the robot as it was given counts for.
        columns: As in `identify`, like the rest.
        degrees: Whether angles are in degrees.
        gains: Torque by current of each drive.
        progress: Told what is done.
    """
    began, weight = time.perf_counter(), _check_weight(prior_weight)
    structure = (OFFSET,) if offset else ()
    equations = Equations(check_robot(robot), structure, np.ones(len(robot.model.driven)))
    options: Any = {"columns": columns, "degrees": degrees, "gains": gains, "rate": 1.0}

    def read(given: Any, name: str) -> Data:
        """The poses as data of which nothing is filtered, and that have no rates."""
        logs = open_logs(robot, given, name, **options)
        found = Data(logs, equations, Cutoffs(np.inf, np.inf), progress or unheard, passes=1)
        found.cache = [_rows_at_rest(equations, log) for log in logs]
        found.health.rows = sum(map(len, found.cache))
        return found

    training = read(poses, "poses")
    other = None if validate is None or validate is False else read(validate, "validate")
    sums = training.sums()
    if sums.samples < LEAST_POSES:
        raise IdentificationError(
            f"{training.logs[0].where}: {sums.samples} poses are too few; take {LEAST_POSES} or "
            "more"
        )
    task = Task(training, other, apart=True, weight=weight, still=True)
    return conclude(task, sums, choose_terms(task, sums, "all"), began)


def _rows_at_rest(equations: Equations, log: Log) -> Rows:
    samples = pilot(log, 2**40)
    zero, place = np.zeros_like(samples.q), np.arange(len(samples), dtype=float)
    Z = tuple(equations.features(samples.q, zero, zero))
    return Rows(place, samples.q, zero, samples.tau, np.isfinite(samples.tau), Z)
