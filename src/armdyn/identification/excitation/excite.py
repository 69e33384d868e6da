"""`armdyn.excite`: the motion that shows the parameters of an arm best, within its limits."""

import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from armdyn.arrays import Array, check_number, frozen
from armdyn.errors import ExcitationError, check_known, counted, shown
from armdyn.identification.excitation.aim import aim_at
from armdyn.identification.excitation.clearance import Clearance, Obstacles, Radius, surroundings
from armdyn.identification.excitation.limits import Given, GivenRange, MotionLimits, motion_limits
from armdyn.identification.excitation.problem import (
    CRITERIA,
    FEWEST_HARMONICS,
    GRID_SHARE,
    MOST_HARMONICS,
    Problem,
    RestBasis,
)
from armdyn.identification.excitation.result import Excitation
from armdyn.identification.excitation.search import Progress, search, settled
from armdyn.robot import Robot, check_robot
from armdyn.simulation.checks import check_point, check_positive
from armdyn.simulation.trajectories.periodic import Fourier

PERIOD = 10.0
"""The period comes near this where no number of periods is given [s]."""
CLEARANCE_SLACK = 1.1
"""How much more than the clearance samples keep, so that the motion between them keeps it."""
MOST_STARTS, MOST_PERIODS, MOST_SEED = 1000, 10**6, 2**63
INITIAL_SHRINKINGS = 60
"""How often an earlier motion is made smaller until it keeps the limits of this one."""


def excite(
    robot: Robot,
    duration: float,
    *,
    parameters: str | Sequence[str] = "all",
    criterion: str = "condition",
    harmonics: int = 5,
    periods: int | None = None,
    position: GivenRange = None,
    speed: Given = None,
    acceleration: Given = None,
    torque: Given = None,
    margin: float = 0.05,
    start: npt.ArrayLike | None = None,
    clearance: float | None = None,
    table: float | None = None,
    obstacles: Obstacles = None,
    geometry: str | Path | None = None,
    radius: Radius = None,
    starts: int = 4,
    seed: int = 0,
    initial: Excitation | Fourier | None = None,
    progress: Progress | None = None,
) -> Excitation:
    """A periodic motion that starts and ends at rest and shows the parameters of an arm best.

    Args:
        robot: The robot; torques are those of its numbers, which may be rough.
        duration: How long the motion takes [s].
        parameters: "all" the robot has, "links", or names of parameters, links and joints.
        criterion: "condition" of the base regressor, columns as they are, or "d-optimal".
        harmonics: Sines and cosines of each joint, at least 2.
        periods: How often the motion repeats itself; None: a period of about 10 s.
        position: Lowest and highest positions, (n, 2), or some by name; None: the robot's.
        speed: Largest speeds, one for all joints, one each or some by name; None: the robot's.
        acceleration: Largest accelerations likewise; None: not limited.
        torque: Largest torques likewise; None: the robot's, not limited where unknown.
        margin: Share of each limit that is not used, from 0 to below 1.
        start: Where the motion starts and ends, (n,) [rad or m]; None: where it is best.
        clearance: Distance that links keep [m]; None: 0.05 if one of the next three is given.
        table: Height of a table or floor in the world, above which links stay [m].
        obstacles: Shapes that stand around, or a TOML file of them (docs/excitation.md).
        geometry: A URDF file with the shapes of links; others have capsules along their frames.
        radius: Of these capsules, one for all links or some by name [m]; None: by the reach.
        starts: How many random motions the search begins from.
        seed: Chooses them; the same seed gives the same motion.
        initial: An earlier motion to begin from as well, as that of a rough model.
        progress: Told the share done and the best condition number; True stops with the best.

    Raises:
        ExcitationError: A limit is missing, a start is in collision, or no motion is found.
    """
    from scipy.linalg import svdvals  # noqa: PLC0415 (slow to import)

    began = time.perf_counter()
    basis = _basis(check_positive("duration", duration), harmonics, periods)
    _check_count("starts", starts, 1, MOST_STARTS)
    _check_count("seed", seed, 0, MOST_SEED)
    limits = motion_limits(check_robot(robot), position, speed, acceleration, torque)
    check_known("criterion", criterion, CRITERIA)
    kept, aim = 1 - check_number("margin", margin), aim_at(robot, parameters)
    if not 0 < kept <= 1:
        raise ExcitationError(f"margin: expected a share from 0 to below 1, got {shown(margin)}")
    near, notes = surroundings(
        robot, limits, seed, clearance=clearance, table=table, obstacles=obstacles,
        geometry=geometry, radius=radius,
    )  # fmt: skip
    pose = None if start is None else _check_start(robot, start, limits.within(kept), near)
    # a single column has the condition number 1 whatever the motion
    judged = criterion if len(aim.names) > 1 else "d-optimal"
    slack = None if near is None else near.scaled(CLEARANCE_SLACK)
    problem = Problem(robot, aim, judged, basis, limits.within(kept * GRID_SHARE), pose, slack)
    first = None if initial is None else _variables(problem, initial)
    found, stopped = search(problem, starts, seed, first, progress)
    x, dense, distances = settled(problem, limits.within(kept), near, found[0].x)
    Y = aim.matrix(*(phi @ x for phi in problem.grid))
    return Excitation(
        robot=robot,
        trajectory=basis.trajectory(x, float(duration)),
        criterion=criterion,
        aim=aim.words,
        parameters=aim.names,
        singular_values=frozen(svdvals(Y.reshape(-1, Y.shape[-1]))),
        limits=limits,
        margin=margin,
        dense=dense,
        clearance=None if near is None else near.least,
        distances=distances,
        notes=notes,
        conditions=tuple(found[0].conditions),
        starts=tuple(descent.conditions[-1] for descent in found if descent.conditions),
        stopped=stopped,
        seed=seed,
        seconds=time.perf_counter() - began,
    )


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
    if near is not None and (fault := near.fault(pose)):
        raise ExcitationError(
            f"start is in collision or too near: {fault}; choose another start, a smaller "
            "clearance or radius, or give the geometry of the links"
        )
    return pose


def _variables(problem: Problem, initial: Excitation | Fourier) -> Array:
    """The variables of an earlier motion, made smaller until it keeps the limits of this one."""
    motion = getattr(initial, "trajectory", initial)
    if not isinstance(motion, Fourier) or motion.n != problem.robot.n:
        raise ExcitationError(
            f"initial: expected an earlier result of excite, or a Fourier motion of the "
            f"{counted(problem.robot.n, 'joint')} of {problem.robot.name!r}, got {shown(initial)}"
        )
    x = problem.basis.coefficients(motion)
    if problem.start is not None:
        x[0] = problem.start
    for _ in range(INITIAL_SHRINKINGS):
        z = problem.variables(x.copy())
        if np.isfinite(problem(z)[0]):
            return z
        x[1:] *= 0.9
    raise ExcitationError(
        "initial: no share of this motion keeps the limits; its first pose may be in collision, or "
        "beyond a limit"
    )


def _basis(duration: float, harmonics: int, periods: int | None) -> RestBasis:
    _check_count("harmonics", harmonics, FEWEST_HARMONICS, MOST_HARMONICS)
    count = max(1, round(duration / PERIOD)) if periods is None else periods
    _check_count("periods", count, 1, MOST_PERIODS)
    return RestBasis.of(count / duration, harmonics)


def _check_count(what: str, value: object, least: int, most: int) -> None:
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not whole or not least <= int(value) <= most:  # type: ignore[call-overload]
        why = "; one alone cannot start and end at rest" if what == "harmonics" else ""
        raise ExcitationError(
            f"{what}: expected a whole number from {least} to {most:,}, got {shown(value)}{why}"
        )
