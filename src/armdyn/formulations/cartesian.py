"""The equations of motion in Cartesian coordinates of the tool.

With Ẋ = J q̇ for m ≤ n independent task coordinates,

    M_x = (J M⁻¹ Jᵀ)⁻¹,   J̄ = M⁻¹ Jᵀ M_x,   V_x = J̄ᵀ V - M_x J̇ q̇,   G_x = J̄ᵀ G
    F = M_x Ẍ + V_x + G_x

which for a square J are J⁻ᵀ M J⁻¹, J⁻ᵀ (V - M J⁻¹ J̇ q̇) and J⁻ᵀ G. Where J loses rank the force is
unbounded; damping λ replaces J M⁻¹ Jᵀ by J M⁻¹ Jᵀ + λ² 1.
Reference: J. Craig, Introduction to Robotics, section 6.9; O. Khatib, 1987.
"""

from collections.abc import Callable

import numpy as np

from armdyn.arrays import Array, real, record
from armdyn.errors import ShapeError, SingularityError, check_known, counted, shown
from armdyn.formulations.coordinates import Coordinates
from armdyn.formulations.kinematics import jacobian
from armdyn.formulations.spatial import rotate, rotate_back, transpose

COORDINATES = ("x", "y", "z", "rx", "ry", "rz")
"""Task coordinates: velocities along and turning rates about the axes."""
LARGEST_DAMPING = 1e100
"""Damping whose square still is a number."""


@record
class Cartesian:
    """F = M Ẍ + V + G for m task coordinates of the tool: M is (..., m, m), V and G (..., m)."""

    M: Array
    V: Array
    G: Array
    task: tuple[str, ...]
    """The m coordinates, of "x", "y", "z", "rx", "ry", "rz"."""


def default_task(at: Coordinates) -> tuple[str, ...]:
    """The first coordinates that are independent in general position: x, y for a planar arm."""
    here = at.at(at.drawn(np.random.default_rng(0), 3))
    J = here.columns(jacobian(at.model, here.q, at.model.tool_frame))
    rows: tuple[int, ...] = ()
    for i in range(6):
        ranks = np.linalg.matrix_rank(J[:, [*rows, i], :], tol=1e-9)
        if ranks.max() > len(rows):
            rows = (*rows, i)
    return tuple(COORDINATES[i] for i in rows)


def task_rows(task: tuple[str, ...]) -> tuple[int, ...]:
    """Rows of the Jacobian for named task coordinates."""
    if not task:
        raise ShapeError(f"task names no coordinate; choose from {', '.join(COORDINATES)}")
    for name in task:
        check_known("task coordinate", name, COORDINATES)
    return tuple(map(COORDINATES.index, task))


def check_damping(damping: float) -> float:
    """Damping as a float, or a ShapeError if it is no number that can be squared."""
    if not (0 <= real(damping) <= LARGEST_DAMPING):
        raise ShapeError(
            f"damping must be a number from 0 to {LARGEST_DAMPING:g}, got {shown(damping)}"
        )
    return float(damping)


def check_task(task: tuple[str, ...], joints: int) -> None:
    """A SingularityError if a robot has fewer joints than task coordinates."""
    if len(task) > joints:
        raise SingularityError(
            f"{counted(joints, 'joint')} cannot move the "
            f"{counted(len(task), 'task coordinate')} {', '.join(task)} "
            "independently; name fewer in task="
        )


def check_rank(J: Array, task: tuple[str, ...], batch: int) -> None:
    """A SingularityError if the task coordinates cannot all be moved independently.

    J has the states of a batch in which that is in doubt.
    """
    m, n = J.shape[-2:]
    check_task(task, n)
    finite = np.isfinite(J).all((-1, -2), keepdims=True)
    values = np.linalg.svd(np.where(finite, J, np.eye(m, n)), compute_uv=False)
    singular = values[..., -1] < 1e-9 * values[..., 0]
    if singular.any():
        raise singular_task(task, f"at {int(singular.sum())} of {counted(batch, 'state')}")


def singular_task(task: tuple[str, ...], where: str) -> SingularityError:
    """The error that says where the Cartesian form does not exist."""
    return SingularityError(
        f"the Jacobian of ({', '.join(task)}) is singular {where}: the Cartesian form does not "
        "exist there. Choose another configuration, fewer task coordinates, or pass damping= for "
        "a damped inverse"
    )


def task_columns(
    run: Callable[..., Array],
    q: Array,
    qd: Array,
    frame: str,
    task: tuple[str, ...],
    damping: float = 0.0,
    batch: int | None = None,
) -> Array:
    """The columns of M, V and G, (..., m, m + 2), for states of a batch or some of it.

    `run` evaluates the terms of the joints by name.
    """
    J = run("jacobian", q, frame=frame)
    Jd = run("jacobian_dot", q, qd, frame=frame)
    terms = run("mass_matrix", q), run("coriolis_vector", q, qd), run("gravity_vector", q)
    batch = q[..., 0].size if batch is None else batch
    form = task_dynamics(qd, (J, Jd), terms, task, damping, batch)
    return np.concatenate([form.M, form.V[..., None], form.G[..., None]], -1)


def task_dynamics(
    qd: Array,
    jacobians: tuple[Array, Array],
    terms: tuple[Array, Array, Array],
    task: tuple[str, ...],
    damping: float,
    batch: int,
) -> Cartesian:
    """The Cartesian form, from J and J̇ (..., 6, n) and the terms M, V and G of the joints.

    The states are those of a batch, or some of it.
    """
    rows = task_rows(task)
    J, Jd = (jacobian[..., rows, :] for jacobian in jacobians)
    if not damping:
        check_rank(J, task, batch)
    M, V, G = terms
    Minv_Jt = np.linalg.solve(M, transpose(J))
    Mx = np.linalg.inv(J @ Minv_Jt + damping**2 * np.eye(len(rows)))
    J_bar = Minv_Jt @ Mx
    Vx = rotate_back(J_bar, V) - rotate(Mx, rotate(Jd, qd))
    return Cartesian(Mx, Vx, rotate_back(J_bar, G), task)
