"""Inverse kinematics: what is asked for, and what is said of poses that an arm cannot take."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from numbers import Integral

import numpy as np
import numpy.typing as npt

from armdyn.arrays import Array, broadcast, check_joint_vector, check_names, real
from armdyn.errors import ModelError, ShapeError, UnreachableError, check_known, counted, shown
from armdyn.formulations.cartesian import COORDINATES, default_task, task_rows
from armdyn.formulations.spatial import transpose
from armdyn.kinematics.pose_solver import PoseSolver, joint_limits, pose_solver
from armdyn.loops.coordinates import coordinates_of
from armdyn.model import RobotModel

UNREACHABLE = ("error", "nan", "nearest")
"""What becomes of a pose that is not reached."""
MOST_SOLUTIONS = 64
"""Solutions of one pose that can be asked for."""
TIGHTEST = 1e-13
"""The least tolerance: a few roundings of a metre or a radian."""
FARTHEST, FARTHEST_START = 1e12, 1e6
"""Largest position of a pose [m], and of a joint at the start [rad or m]."""
AT_LIMIT = 1e-9
"""A joint so near to its limit is at it [rad or m]."""
POLISHING = 8
"""Searches that go on from the best end for a pose that is not reached yet: next to a singular
configuration every step may do no more than halve the error."""
POLISHED_GAIN = 1e-9
"""Least gain of a step in these."""


def inverse_kinematics(
    model: RobotModel,
    functions: tuple[Callable[[Array], Array], Callable[[Array], Array]],
    T: npt.ArrayLike,
    q0: npt.ArrayLike | None,
    task: Sequence[str] | None,
    frame: str,
    most: int | None,
    tolerance: float,
    unreachable: str,
) -> Array:
    """Joints for poses, as `armdyn.Robot.inverse_kinematics` has them.

    The functions are the place and the Jacobian of a frame at joints (B, n).
    """
    check_known("frame of a task", frame, ("world", "tool"))
    check_known("answer for poses that are not reached", unreachable, UNREACHABLE)
    names = COORDINATES if task is None else check_names("task", task)
    if not TIGHTEST <= real(tolerance) <= 1:
        raise ModelError(
            f"tolerance: expected a number from {TIGHTEST:g} to 1 [m and rad], got "
            f"{shown(tolerance)}"
        )
    count = 1 if most is None else most
    whole = isinstance(count, Integral) and not isinstance(count, bool)
    if not whole or not 1 <= count <= MOST_SOLUTIONS:
        raise ModelError(f"most: expected 1 to {MOST_SOLUTIONS} solutions, got {shown(most)}")
    n = len(model.independent)
    flat = check_poses(T).reshape(*np.shape(T)[:-2], 16)
    start = None
    if q0 is not None:
        start = check_joint_vector("q0", q0, n)
        if not (np.abs(start) <= FARTHEST_START).all():
            raise ShapeError(
                f"q0: expected finite positions, up to {FARTHEST_START:g} rad or m, got {shown(q0)}"
            )
        flat, start = broadcast(T=flat, q0=start)
        start = start.reshape(-1, n)
    poses, batch = flat.reshape(-1, 4, 4), flat.shape[:-1]
    solver = pose_solver(model, *functions, task_rows(names), frame == "tool", float(tolerance))
    search, (found, errors) = solver.search, solver.solve(poses, start, count)
    missed = np.flatnonzero(~search.met(errors, tolerance))
    for _ in range(POLISHING):
        ends = search.descend(poses[missed], found[missed, 0], tolerance, POLISHED_GAIN)
        found[missed, 0], errors[missed] = ends
    missed = missed[~search.met(errors[missed], tolerance)]
    if missed.size and unreachable == "error":
        first = int(missed[0])
        raise _unreachable(solver, poses[missed[:1]], found[missed[:1], 0], first, batch)
    if unreachable == "nan":
        found[missed, 0] = np.nan
    return found.reshape(*batch, n) if most is None else found.reshape(*batch, count, n)


def check_poses(T: npt.ArrayLike) -> Array:
    """Rigid transforms (..., 4, 4), with rotations that are exact to rounding."""
    try:
        poses: Array = np.asarray(T).astype(float, casting="same_kind")
    except (TypeError, ValueError):
        raise ShapeError(f"T: expected numbers of shape (..., 4, 4), got {shown(T)}") from None
    if poses.shape[-2:] != (4, 4):
        raise ShapeError(f"T: expected poses of shape (..., 4, 4), got shape {poses.shape}")
    R = poses[..., :3, :3]
    with np.errstate(invalid="ignore", over="ignore"):
        stretch = np.abs(R @ transpose(R) - np.eye(3)).max((-1, -2), initial=0.0)
        row = np.abs(poses[..., 3, :] - [0, 0, 0, 1]).max(-1, initial=0.0)
        near = (np.abs(poses) <= FARTHEST).all((-1, -2))
        rigid = near & (stretch < 1e-6) & (row < 1e-9)
        rigid &= np.linalg.det(np.where(rigid[..., None, None], R, np.eye(3))) > 0
    if not rigid.all():
        at = tuple(int(i) for i in np.argwhere(~rigid)[0])
        raise ModelError(
            f"T{list(at) if at else ''}: expected a rigid transform, a rotation and a position (of "
            f"up to {FARTHEST:g} m) above the row 0 0 0 1, got {shown(poses[at].tolist())}"
        )
    rounded = stretch > 1e-12
    if rounded.any():  # the nearest rotations
        left, _, right = np.linalg.svd(R[rounded])
        poses[..., :3, :3][rounded] = left @ right
    return poses


def _unreachable(
    solver: PoseSolver, T: Array, q: Array, number: int, batch: tuple[int, ...]
) -> UnreachableError:
    """The error for a pose (1, 4, 4) that is the number-th of a batch, and comes nearest at q."""
    model, search = solver.model, solver.search
    errors, missing = search.error(T, q), np.zeros(6)
    missing[list(search.rows)] = errors[0, list(search.rows)]
    distance = float(np.linalg.norm(missing[:3]))
    angle = float(np.linalg.norm(missing[3:]))
    index = tuple(int(i) for i in np.unravel_index(number, batch)) if batch else ()
    words = [f"{distance:.4g} m"] * (min(search.rows) < 3) + [f"{angle:.4g} rad"] * search.turns
    which = f" {', '.join(map(str, index))} of the batch" if index else ""
    message = (
        f"{model.name!r} cannot reach the pose{which}: "
        f"the nearest that was found is {' and '.join(words)} away{_at_limits(model, q[0])}. "
    )
    free = replace(solver, search=replace(search, lower=0 * q[0] - np.inf, upper=0 * q[0] + np.inf))
    _, without = free.solve(T, q, 1)
    if search.met(without, solver.tolerance)[0]:
        message += "Without joint limits it could be reached. Choose another pose or widen them"
    elif len(model.independent) < len(search.rows):
        message += (
            f"Its {counted(len(model.independent), 'joint')} cannot move "
            f"{counted(len(search.rows), 'coordinate')} at "
            f"will: name those that matter in task=, as task={default_task(coordinates_of(model))}"
        )
    else:
        message += "Choose a pose within reach, or name the coordinates that matter in task="
    message += ', or pass unreachable="nearest"'
    return UnreachableError(message, index=index, q=q[0], distance=distance, angle=angle)


def _at_limits(model: RobotModel, q: Array) -> str:
    """Words for the joints that are at their limits."""
    lower, upper = joint_limits(model).T
    ends = [
        f"{model.joints[i].name} at its {'lower' if low else 'upper'} limit {value:.4g}"
        for i, low, high, value in zip(
            model.independent, q - lower < AT_LIMIT, upper - q < AT_LIMIT, q, strict=True
        )
        if low or high
    ]
    return f", with {', '.join(ends)}" if ends else ""
