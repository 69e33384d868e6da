"""Where the tool or a link is, how it moves with the joints, and the dynamics that it feels."""

from functools import partial

import numpy as np

from armdyn.arrays import Array
from armdyn.formulations import cartesian
from armdyn.formulations import kinematics as kin
from armdyn.formulations.lagrange_euler import homogeneous
from armdyn.formulations.spatial import rotate
from armdyn.graph.nodes import Node
from armdyn.model import Frame, RobotModel
from armdyn.quantities.quantity import IN_NUMPY, Otherwise, Run, quantity
from armdyn.quantities.request import Request
from armdyn.quantities.traced_robot import TracedRobot
from armdyn.thresholds import COMPILED_CARTESIAN

_frames = quantity(
    symbol="Ts",
    result="homogeneous transforms, lengths in m: columns x, y, z, origin",
    shape=("N", 4, 4),
)
_of_frame = partial(quantity, options=("link", "frame"), otherwise=IN_NUMPY)


@quantity(
    symbol="T",
    result="homogeneous transform, lengths in m: columns x, y, z, origin",
    shape=(4, 4),
    options=("link",),
    exported=True,
    otherwise=IN_NUMPY,
)
def _forward_kinematics(s: TracedRobot, q: Array) -> Array:
    """The frame of {link} in the world."""
    frames = kin.world_frames(s.plain, s.here(q).q)
    return homogeneous(*kin.frame_in_world(frames, s.plain.frame(s.request.link)))


@_of_frame(
    symbol="J",
    result="three linear rows [m/s], then three angular [rad/s], for each unit of qd",
    shape=(6, "n"),
    exported=True,
)
def _jacobian(s: TracedRobot, q: Array) -> Array:
    """Geometric Jacobian of {link} in {frame} axes: (v, omega) = J qd."""
    return s.here(q).columns(kin.jacobian(s.plain, s.here(q).q, *_frames_of(s)))


@_of_frame(symbol="Jd", result="three linear rows, then three angular", shape=(6, "n"))
def _jacobian_dot(s: TracedRobot, q: Array, qd: Array) -> Array:
    """Derivative in time of the Jacobian of {link} in {frame} axes."""
    at, frames = s.here(q), _frames_of(s)
    J = kin.jacobian(s.plain, at.q, *frames)
    return at.columns_rate(J, kin.jacobian_rate(s.plain, at.q, at.rates(qd), *frames), qd)


@_of_frame(
    symbol="V",
    result="velocity, then acceleration: linear [m/s, m/s^2], then angular [rad/s, rad/s^2]",
    shape=(2, 6),
)
def _frame_motion(s: TracedRobot, q: Array, qd: Array, qdd: Array) -> Array:
    """Velocity and acceleration of {link} in {frame} axes: J qd, and J qdd + dJ/dt qd."""
    at, frames = s.here(q), _frames_of(s)
    rates, J = at.rates(qd), kin.jacobian(s.plain, at.q, *frames)
    J_rate = kin.jacobian_rate(s.plain, at.q, rates, *frames)
    acceleration = rotate(J, at.accelerations(qd, qdd)) + rotate(J_rate, rates)
    return np.stack([rotate(J, rates), acceleration], -2)


@_frames
def _link_frames(s: TracedRobot, q: Array) -> Array:
    """The frame that every link is named after, in the world."""
    frames = kin.world_frames(s.plain, s.here(q).q)
    places = [kin.frame_in_world(frames, s.plain.frame(link.name)) for link in s.model.links]
    return np.stack([homogeneous(*place) for place in places])


@_frames
def _joint_frames(s: TracedRobot, q: Array) -> Array:
    """The frame on the joint of every link in the world, in which reactions in joint axes are."""
    frames = kin.world_frames(s.plain, s.here(q).q)
    return np.stack([homogeneous(R, O) for R, O in zip(frames.R, frames.O, strict=True)])


@quantity(
    symbol="Js",
    result="three linear rows [m/s], then three angular [rad/s], for each unit of qd",
    shape=("N", 6, "n"),
    options=("frame",),
)
def _link_jacobians(s: TracedRobot, q: Array) -> Array:
    """Geometric Jacobians of the frames of every link in {frame} axes: (v, omega) = J qd."""
    at, axes = s.here(q), _frames_of(s)[1]
    each = [kin.jacobian(s.plain, at.q, s.plain.frame(x.name), axes) for x in s.model.links]
    return np.stack([at.columns(J) for J in each])


def _frames_of(s: TracedRobot) -> tuple[Frame, Frame | None]:
    """The frame that moves, and the one whose axes are meant; None: those of the world."""
    axes = s.request.frame
    return s.plain.frame(s.request.link), None if axes == "world" else s.plain.frame(axes)


# the equations of motion in coordinates of the tool


def _cartesian_in_numpy(
    run: Run, model: RobotModel, request: Request, q: Array, qd: Array
) -> Array:
    return cartesian.task_columns(run, q, qd, request.frame, request.task)


@quantity(
    symbol="X",
    result="columns of M (m), V and G",
    shape=("m", "m + 2"),
    terms=("links", "rotors", "coriolis", "gravity"),
    options=("payload", "gravity", "frame", "task"),
    solves=True,
    otherwise=Otherwise(_cartesian_in_numpy, COMPILED_CARTESIAN),
)
def _cartesian(s: TracedRobot, q: Array, qd: Array) -> Array:
    """The Cartesian form F = M a + V + G of the tool in {frame} axes, side by side.

    Not a number where the Jacobian is nearly singular.
    """
    # the columns of M_x, then V_x and G_x, (m, m + 2), see `armdyn.formulations.cartesian`.
    # V_x = M_x (J M⁻¹ V - J̇ q̇) and G_x = M_x J M⁻¹ G, so that M⁻¹ Jᵀ is all that is solved for
    task = s.request.task or cartesian.default_task(s.at)
    cartesian.check_task(task, s.n)
    rows = list(cartesian.task_rows(task))
    at, frames = s.here(q), _frames_of(s)
    motion = at.q, at.rates(qd)
    full = kin.jacobian(s.plain, motion[0], *frames)
    J = s.nodes(at.columns(full)[rows])
    drift = kin.jacobian_rate(s.plain, *motion, *frames) @ motion[1]
    drift = (drift + full @ at.accelerations(qd, s.zero))[rows]
    V = s.torques(q, qd, s.zero, weight=False)
    G = s.torques(q, s.zero, s.zero)
    try:
        regular = _regular(J)
    except ZeroDivisionError:
        raise cartesian.singular_task(task, "at every state") from None
    Minv_Jt = s.solve(s.mass_matrix(q), J.T)
    Mx = _inverse(J @ Minv_Jt, regular)
    Vx, Gx = Mx @ (V @ Minv_Jt - drift), Mx @ (G @ Minv_Jt)
    return np.concatenate([Mx, Vx[:, None], Gx[:, None]], -1)


def _regular(J: Array) -> Node:
    """The number 1 where J is surely regular, not a number elsewhere.

    With the singular values σ of J, tr J Jᵀ = Σ σ² and tr (J Jᵀ)⁻¹ = Σ σ⁻². So (σ_min / σ_max)² is
    at least the inverse of their product.
    """
    A = J @ J.T
    least = 1.0 / np.trace(_inverse(A))
    guarded: Node = least.graph.guard(least, np.trace(A))
    return guarded / least


def _inverse(A: Array, one: Node | float = 1.0) -> Array:
    """A⁻¹ = L⁻¹ D⁻¹ L⁻ᵀ of a symmetric matrix of nodes A = Lᵀ D L, of which one half is read.

    `one` is a node for the number 1, where that marks states without an inverse.
    """
    A, Y, m = A.copy(), np.array(np.eye(len(A)), dtype=object), len(A)
    D_inverse = np.empty(m, dtype=object)
    L = np.zeros_like(A)
    for k in reversed(range(m)):
        D_inverse[k] = one / A[k, k]
        L[k, :k] = A[k, :k] * D_inverse[k]
        A[:k, :k] = A[:k, :k] - np.outer(L[k, :k], A[k, :k])
    for k in range(m):
        Y[k, :k] = -L[k, :k] @ Y[:k, :k]
    inverse = (Y * D_inverse) @ Y.T
    return np.where(np.tri(m, dtype=bool), inverse, inverse.T)
