"""`armdyn.excite`: the motion that shows the parameters of an arm best, within its limits."""

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from armdyn.arrays import Array, check_number, frozen
from armdyn.dynamics import Robot, check_robot
from armdyn.errors import ExcitationError, check_known, shown
from armdyn.identification.excitation.aim import Aim, aim_at
from armdyn.identification.excitation.basis import (
    FEWEST_HARMONICS,
    MOST_HARMONICS,
    RestBasis,
)
from armdyn.identification.excitation.clearance import Clearance
from armdyn.identification.excitation.criterion import CRITERIA
from armdyn.identification.excitation.limits import (
    Given,
    GivenRange,
    MotionLimits,
    motion_limits,
)
from armdyn.identification.excitation.problem import GRID_SHARE, Problem
from armdyn.identification.excitation.result import Excitation
from armdyn.identification.excitation.search import Found, Progress, search
from armdyn.identification.excitation.shapes import (
    check_length,
    link_solids,
    obstacle_solids,
    table_solid,
)
from armdyn.identification.excitation.verify import settled
from armdyn.simulation.checks import check_point, check_positive
from armdyn.simulation.trajectories.periodic import Fourier

PERIOD = 10.0
"""The period comes near this where no number of periods is given [s]."""
CLEARANCE = 0.05
"""Clearance where there are surroundings or a geometry and none is given [m]."""
CLEARANCE_SLACK = 1.1
"""How much more than the clearance samples keep, so that the motion between them keeps it."""
MOST_STARTS = 1000


def excite(
    robot: Robot,
    duration: float,
    *,
    harmonics: int = 5,
    periods: int | None = None,
    criterion: str = "condition",
    parameters: str | Sequence[str] = "all",
    position: GivenRange = None,
    speed: Given = None,
    acceleration: Given = None,
    torque: Given = None,
    margin: float = 0.05,
    start: npt.ArrayLike | None = None,
    clearance: float | None = None,
    table: float | None = None,
    obstacles: str | Path | Sequence[Mapping[str, Any]] | None = None,
    geometry: str | Path | None = None,
    radius: float | Mapping[str, float] | None = None,
    starts: int = 4,
    seed: int = 0,
    initial: Excitation | Fourier | None = None,
    progress: Progress | None = None,
) -> Excitation:
    """A periodic motion that starts and ends at rest and shows the parameters of an arm best.

    Args:
        robot: The robot; torques are those of its numbers, which may be rough.
        duration: How long the motion takes [s].
        harmonics: Sines and cosines of each joint, at least 2.
        periods: How often the motion repeats itself; None: a period of about 10 s.
        criterion: "condition": least condition number of the base regressor, columns as they are;
            "d-optimal": least volume of the ellipsoid of confidence.
        parameters: What is to be found: "all" that the robot has (links, rotors, friction),
            "links", or names of parameters, links and joints, the others being known.
        position: Lowest and highest positions, (n, 2), or some by name; None: the robot's.
        speed: Largest speeds, one for all joints, one each, or some by name; None: the robot's.
        acceleration: Largest accelerations likewise; None: not limited.
        torque: Largest torques likewise; None: the robot's efforts, not limited where unknown.
        margin: Share of each limit that is not used, from 0 to below 1.
        start: Where the motion starts and ends, (n,) [rad or m]; None: where it is best.
        clearance: Distance that links keep from each other and from what is around [m]; None: 0.05
            with a table, obstacles or a geometry, else distances are not looked at.
        table: Height of a table or floor in the world [m]; links stay above it.
        obstacles: Shapes that stand around, or a TOML file of them (docs/excitation.md).
        geometry: A URDF file with the shapes of the links; others get capsules along their frames.
        radius: Of these capsules, one for all links or some by name [m]; None: by the reach.
        starts: Random motions from which the search begins.
        seed: Chooses them; the same seed gives the same motion.
        initial: An earlier motion to begin from as well, as that of a rough model.
        progress: Told the share that is done and the best condition number; returns True to stop
            with the best motion so far.

    Raises:
        ExcitationError: A limit is missing, the start is in collision, nothing is to be identified,
            or no motion keeps all limits.
    """
    began = time.perf_counter()
    duration = check_positive("duration", duration)
    _check_count("harmonics", harmonics, FEWEST_HARMONICS, MOST_HARMONICS)
    _check_count("starts", starts, 1, MOST_STARTS)
    _check_count("seed", seed, 0, 2**63)
    if periods is not None:
        _check_count("periods", periods, 1, 10**6)
    check_known("criterion", criterion, CRITERIA)
    kept = 1 - _check_margin(margin)
    limits = motion_limits(check_robot(robot), position, speed, acceleration, torque)
    aim = aim_at(robot, parameters)
    near, notes = _clearance(robot, limits, clearance, table, obstacles, geometry, radius, seed)
    pose = None if start is None else _check_start(robot, start, limits.within(kept), near)
    count = periods or max(1, round(duration / PERIOD))
    basis = RestBasis.of(count / duration, harmonics)
    problem = Problem(
        robot,
        aim,
        # a single column has the condition number 1 whatever the motion
        criterion if len(aim.names) > 1 else "d-optimal",
        basis,
        limits.within(kept * GRID_SHARE),
        pose,
        None if near is None else near.scaled(CLEARANCE_SLACK),
    )
    first = None if initial is None else _variables(problem, initial)
    found = search(problem, starts, seed, first, progress)
    design = settled(problem, limits.within(kept), near, found.z, duration)
    return _result(robot, aim, criterion, limits, margin, design, near, notes, found, seed, began)


def _result(
    robot: Robot,
    aim: Aim,
    criterion: str,
    limits: MotionLimits,
    margin: float,
    design: Any,
    near: Clearance | None,
    notes: tuple[str, ...],
    found: Found,
    seed: int,
    began: float,
) -> Excitation:
    from scipy.linalg import svdvals  # noqa: PLC0415 (slow to import)

    Y = aim.matrix(*design.samples)
    values = svdvals(Y.reshape(-1, Y.shape[-1]))
    return Excitation(
        robot,
        design.trajectory,
        criterion,
        aim.words,
        aim.names,
        frozen(values),
        limits,
        margin,
        design.dense,
        None if near is None else near.least,
        design.distances,
        notes,
        found.conditions,
        found.starts,
        found.stopped,
        seed,
        time.perf_counter() - began,
    )


def _clearance(
    robot: Robot,
    limits: MotionLimits,
    clearance: float | None,
    table: float | None,
    obstacles: Any,
    geometry: Any,
    radius: Any,
    seed: int,
) -> tuple[Clearance | None, tuple[str, ...]]:
    """The pairs that keep a distance, and what is to be said of them; None: none."""
    if clearance is None and table is None and obstacles is None and geometry is None:
        if radius is not None:
            raise ExcitationError(
                "radius: it is that of links which keep a distance; give clearance= or table= too"
            )
        return None, ("distances between links, and to what is around, are not looked at",)
    least = CLEARANCE if clearance is None else check_length("clearance", clearance)
    links, notes = link_solids(robot, geometry, radius)
    around = [] if table is None else [table_solid(table)]
    solids = [*links, *around, *obstacle_solids(obstacles)]
    ranges = np.stack([limits.lower, limits.upper], -1)
    found = Clearance.of(robot, solids, least, ranges, seed)
    if found.left_out:
        notes.append(f"touch by construction and are not looked at: {'; '.join(found.left_out)}")
    if found.lowered:
        notes.append(f"always near each other, and keep less: {'; '.join(found.lowered)}")
    return found, tuple(notes)


def _check_start(
    robot: Robot, start: npt.ArrayLike, limits: MotionLimits, near: Clearance | None
) -> Array:
    pose = check_point("start", start, robot)
    for name, q, low, high in zip(robot.joint_names, pose, limits.lower, limits.upper, strict=True):
        if not low < q < high:
            raise ExcitationError(
                f"start: {name} is at {q:g}, not between {low:.6g} and {high:.6g}, its limits of "
                "position less the margin"
            )
    tau = robot.inverse_dynamics(pose, 0 * pose, 0 * pose)
    for name, found, limit in zip(robot.joint_names, tau, limits.torque, strict=True):
        if abs(found) >= limit:
            raise ExcitationError(
                f"start: {name} needs {abs(found):.4g} to rest there, more than the {limit:.4g} "
                "that it may give"
            )
    if near is not None:
        near.check(pose, "start")
    return pose


def _variables(problem: Problem, initial: Excitation | Fourier) -> Array:
    """The variables of an earlier motion, made smaller until it keeps the limits of this one."""
    motion = getattr(initial, "trajectory", initial)
    if not isinstance(motion, Fourier) or motion.n != problem.robot.n:
        raise ExcitationError(
            f"initial: expected an earlier result of excite, or a Fourier motion of the "
            f"{problem.robot.n} joints of {problem.robot.name!r}, got {shown(initial)}"
        )
    x = problem.basis.coefficients(motion)
    if problem.start is not None:
        x[0] = problem.start
    for _ in range(60):
        z = problem.variables(x.copy())
        if np.isfinite(problem(z)[0]):
            return z
        x[1:] *= 0.9
    raise ExcitationError(
        "initial: no share of this motion keeps the limits; its first pose may be in collision, or "
        "beyond a limit"
    )


def _check_count(what: str, value: object, least: int, most: int) -> None:
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not whole or not least <= int(value) <= most:  # type: ignore[call-overload]
        why = "; one alone cannot start and end at rest" if what == "harmonics" else ""
        raise ExcitationError(
            f"{what}: expected a whole number from {least} to {most:,}, got {shown(value)}{why}"
        )


def _check_margin(margin: object) -> float:
    number = check_number("margin", margin)
    if not 0 <= number < 1:
        raise ExcitationError(f"margin: expected a share from 0 to below 1, got {shown(margin)}")
    return number
