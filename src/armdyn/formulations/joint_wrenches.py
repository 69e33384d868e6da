"""What every joint carries, by few operations: the same forces as Newton-Euler's, with Renaud's b.

The matrix b_i = S(ω̇_i) + S(ω_i)² turns an arm on link i into the acceleration of its end. With m,
u and Σ the mass, first moment and second moment ∫ r rᵀ dm of a link about the origin of the frame
on its joint, P the origin of this frame in that of the parent and R its rotation, outward

    v̇_i = Rᵀ (v̇_{i-1} + b_{i-1} P) + 2 ω_i×q̇ Z + q̈ Z              (the last two: sliding joints)
    F = m v̇_i + b_i u,    N = vee(b_i Σ - (b_i Σ)ᵀ) + u × v̇_i

where vee takes the vector out of a skew matrix; with the second moment Σ_C about the centre of mass
c, N = vee(b_i Σ_C - (b_i Σ_C)ᵀ) + c × F. Inward these are summed as in `newton_euler`, or
all in world axes, which turns every F and N once and nothing on the way to the base. Reference for
b: M. Renaud 1987.
"""

import numpy as np

from armdyn.arrays import Array, record
from armdyn.formulations.kinematics import Turning, joint_transform, joint_transforms, world_frames
from armdyn.formulations.spatial import cross, per_link, rotate, rotate_back, skew, times
from armdyn.model import Inertia, RobotModel

ROUNDING = 4e-15
"""What is left of a zero among second moments that were carried to another point."""


@record
class LinkMotion:
    """How links move, in the axes of the frames on their joints, (..., 3) each."""

    w: list[Array]
    """Angular velocity."""
    wd: list[Array]
    """Angular acceleration."""
    vd: list[Array]
    """Acceleration of the origin, less gravity."""
    b: list[Array]
    """(..., 3, 3)."""
    base: tuple[Array, Array]
    """v̇_0 and b_0 of the base, in its own axes."""


def link_motion(
    model: RobotModel, q: Array, qd: Array, qdd: Array, turning: Turning = None
) -> LinkMotion:
    """The motion of all links of a tree; arguments as in `newton_euler`."""
    zero = np.zeros((*q.shape[:-1], 3))
    w0, wd0 = turning or (zero, zero)
    vd0 = rotate_back(model.base[:3, :3], zero - model.gravity)
    b0 = _b(w0, wd0)
    w, wd, vd = per_link(3)
    b: list[Array] = []
    for i, joint in enumerate(model.joints):
        up = joint.parent
        parent = (w[up], wd[up], vd[up], b[up]) if up >= 0 else (w0, wd0, vd0, b0)
        (R, P), Z = joint_transform(joint, q[..., i]), joint.axis
        Rw, Rwd = rotate_back(R, parent[0]), rotate_back(R, parent[1])
        turn, turn_rate = (times(joint.type.angle(x[..., i]), Z) for x in (qd, qdd))
        slide, slide_rate = (times(joint.type.travel(x[..., i]), Z) for x in (qd, qdd))
        w.append(Rw + turn)
        wd.append(Rwd + turn_rate + cross(Rw, turn))
        carried = rotate_back(R, parent[2] + rotate(parent[3], P))
        vd.append(carried + 2.0 * cross(Rw, slide) + slide_rate)
        b.append(_b(w[i], wd[i]))
    return LinkMotion(w, wd, vd, b, (vd0, b0))


@record
class JointWrenches:
    """Force and moment on each link from its parent, about the origin of the frame on its joint."""

    f: list[Array]
    n: list[Array]
    base: tuple[Array, Array]
    """What the base receives from the ground, about its origin."""


def joint_wrenches(
    model: RobotModel, q: Array, motion: LinkMotion, wrench: Array | None = None, *, world: bool
) -> JointWrenches:
    """What links and base receive, in world axes, or each in the axes of the frame on its joint.

    `wrench` is what links exert, as in `newton_euler`.
    """
    rotations, origins = _steps(model, q, world)
    f, n = [], []
    for i, link in enumerate(model.links):
        F, N = _inertial(link.inertia, motion.b[i], motion.vd[i])
        if wrench is not None:
            F, N = F + wrench[..., i, :3], N + wrench[..., i, 3:]
        f.append(rotate(rotations[i], F) if world else F)
        n.append(rotate(rotations[i], N) if world else N)
    f0, n0 = _inertial(model.base_link.inertia, motion.base[1], motion.base[0])
    if world:
        f0, n0 = (rotate(model.base[:3, :3], x) for x in (f0, n0))
    for i, joint in reversed(list(enumerate(model.joints))):
        up, f_up, n_up = joint.parent, f[i], n[i]
        if not world:
            f_up, n_up = rotate(rotations[i], f_up), rotate(rotations[i], n_up)
        n_up = n_up + cross(origins[i], f_up)
        if up >= 0:
            f[up], n[up] = f[up] + f_up, n[up] + n_up
        else:
            f0, n0 = f0 + f_up, n0 + n_up
    return JointWrenches(f, n, (f0, n0))


def _steps(model: RobotModel, q: Array, world: bool) -> tuple[list[Array], list[Array]]:
    """Rotations of links, and ways to them from their parents, in the world or in the parents."""
    rotations, ways = joint_transforms(model, q)
    if not world:
        return rotations, ways
    frames, before = world_frames(model, q), model.parents
    return frames.R, [rotate(frames.link(i)[0], P) for i, P in zip(before, ways, strict=True)]


def _b(w: Array, wd: Array) -> Array:
    x, y, z = (w[..., k] for k in range(3))
    xx, yy, zz, xy, xz, yz = x * x, y * y, z * z, x * y, x * z, y * z
    rows = ((-yy - zz, xy, xz), (xy, -xx - zz, yz), (xz, yz, -xx - yy))
    return np.stack([np.stack(row, -1) for row in rows], -2) + skew(wd)


def _inertial(body: Inertia, b: Array, vd: Array) -> tuple[Array, Array]:
    """F and N of a body, about its centre of mass where that is the shorter way."""
    origin = body.pseudo[:3, :3]
    if body.has_com:
        centred = origin - body.mass * np.outer(body.com, body.com)
        centred = np.where(np.abs(centred) <= ROUNDING * np.abs(origin).max(), 0.0, centred)
        few = np.count_nonzero(centred)
        if few <= 3 or few < np.count_nonzero(origin):
            F = body.mass * (vd + rotate(b, body.com))
            return F, _turning_moment(centred, b) + cross(body.com, F)
    u = body.first_moment
    return body.mass * vd + rotate(b, u), _turning_moment(origin, b) + cross(u, vd)


def _turning_moment(second: Array, b: Array) -> Array:
    """vee(b Σ - (b Σ)ᵀ) with the second moments Σ."""
    (Sxx, Sxy, Sxz), (_, Syy, Syz), (_, _, Szz) = second
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = (
        (b[..., i, 0], b[..., i, 1], b[..., i, 2]) for i in range(3)
    )
    x = Sxy * zx - Sxz * yx + Syz * (zz - yy) + Syy * zy - Szz * yz
    y = Syz * xy - Sxy * zy + Sxz * (xx - zz) + Szz * xz - Sxx * zx
    z = Sxz * yz - Syz * xz + Sxy * (yy - xx) + Sxx * yx - Syy * xy
    return np.stack([x, y, z], -1)
