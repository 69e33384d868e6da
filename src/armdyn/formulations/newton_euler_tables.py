"""Newton-Euler for chains, with each link's frame at its far end: in base axes and in link axes.

z = z_{i-1} is the axis of joint i, p* leads from O_{i-1} to O_i and s from O_i to the centre of
mass; a joint is revolute (R) or prismatic (P). In base axes (Table 1), from ω_0 = ω̇_0 = 0 and
v̇_0 = -g:

    ω_i  = ω_{i-1} + z q̇                                               (R)
    ω̇_i = ω̇_{i-1} + z q̈ + ω_{i-1}×z q̇                                 (R)
    v̇_i = v̇_{i-1} + ω̇_i×p* + ω_i×(ω_i×p*) + z q̈ + 2 ω_i×z q̇            (last two: P)
    ā_i  = v̇_i + ω̇_i×s + ω_i×(ω_i×s),    F_i = m ā,    N_i = I ω̇ + ω×Iω
    f_i  = f_{i+1} + F_i
    n_i  = n_{i+1} + p*×f_{i+1} + (p*+s)×F_i + N_i                      (about O_{i-1})
    τ_i  = n_i·z (R) or f_i·z (P)

Table 2 has the same equations with every vector in the axes of its own link, so that s, I and p* of
a revolute joint are constants and only ω, ω̇, v̇, f, n are rotated from link to link.
Reference: K. Fu, R. Gonzalez, C. Lee, Robotics, 1987, section 3.3; tables of I. Milićević,
D. Golubović, N. Slavković, Transformation matrix approach to dynamics of manipulative robots.
"""

from dataclasses import dataclass

import numpy as np

from armdyn.arrays import Array
from armdyn.errors import ModelError, TopologyError
from armdyn.formulations.kinematics import world_frames
from armdyn.formulations.lagrange_euler import far_end
from armdyn.formulations.spatial import cross, dot, per_link, rotate, rotate_back, times
from armdyn.model import RobotModel
from armdyn.model.transform import inverse, rotation_about


@dataclass(frozen=True, slots=True)
class NewtonEulerTable:
    """Motion and load of each link (lists by link), and the torques."""

    w: list[Array]
    """Angular velocity ω_i."""
    wd: list[Array]
    """Angular acceleration ω̇_i."""
    vd: list[Array]
    """Acceleration of O_i, the far end of link i, less gravity."""
    a: list[Array]
    """Acceleration of the centre of mass less gravity, ā_i."""
    f: list[Array]
    """Force on link i by link i-1."""
    n: list[Array]
    """Moment on link i by link i-1, about O_{i-1}."""
    tau: Array
    """Joint torques, (..., N)."""


def newton_euler_base(
    model: RobotModel, q: Array, qd: Array, qdd: Array, wrench: Array | None = None
) -> NewtonEulerTable:
    """Joint torques of a chain in base axes (Table 1); arguments as in `newton_euler`."""
    check_chain(model, "newton_euler_base")
    check_centred(model, "newton_euler_base")
    frames, N = world_frames(model, q), len(model.joints)
    w, wd, vd, a, F, M = per_link(6)
    reach = []
    w_p = wd_p = np.zeros((*q.shape[:-1], 3))
    vd_p = w_p - model.gravity
    for i, joint in enumerate(model.joints):
        R, z, body = frames.R[i], frames.z[i], model.links[i].inertia
        O_i = frames.O[i] + rotate(R, far_end(model, i)[:3, 3])
        p, s = O_i - frames.P[i], frames.O[i] + rotate(R, body.com) - O_i
        zqd, zqdd = times(qd[..., i], z), times(qdd[..., i], z)
        w_i, wd_i = (w_p, wd_p) if joint.prismatic else (w_p + zqd, wd_p + zqdd + cross(w_p, zqd))
        vd_i = vd_p + cross(wd_i, p) + cross(w_i, cross(w_i, p))
        if joint.prismatic:
            vd_i = vd_i + zqdd + 2.0 * cross(w_i, zqd)
        a.append(vd_i + cross(wd_i, s) + cross(w_i, cross(w_i, s)))
        F.append(body.mass * a[i])
        Iw, Iwd = (rotate(R, rotate(body.moment_about_com, rotate_back(R, x))) for x in (w_i, wd_i))
        M.append(cross(p + s, F[i]) + Iwd + cross(w_i, Iw))
        reach.append((p, frames.O[i] - frames.P[i]))
        w_p, wd_p, vd_p = w_i, wd_i, vd_i
        w.append(w_i)
        wd.append(wd_i)
        vd.append(vd_i)
    f_n, n_n = np.zeros_like(w_p), np.zeros_like(w_p)
    f, n, tau = per_link(3)
    for i in range(N - 1, -1, -1):
        p, origin = reach[i]
        n_i = n_n + cross(p, f_n) + M[i]
        f_i = f_n + F[i]
        if wrench is not None:
            load = rotate(frames.R[i], wrench[..., i, :3])
            f_i, n_i = (
                f_i + load,
                n_i + rotate(frames.R[i], wrench[..., i, 3:]) + cross(origin, load),
            )
        tau.append(dot(frames.z[i], f_i if model.joints[i].prismatic else n_i))
        f.append(f_i)
        n.append(n_i)
        f_n, n_n = f_i, n_i
    return NewtonEulerTable(w, wd, vd, a, f[::-1], n[::-1], np.stack(tau[::-1], -1))


def newton_euler_link(
    model: RobotModel, q: Array, qd: Array, qdd: Array, wrench: Array | None = None
) -> NewtonEulerTable:
    """Joint torques of a chain in link axes (Table 2); arguments as in `newton_euler`."""
    check_chain(model, "newton_euler_link")
    check_centred(model, "newton_euler_link")
    N = len(model.joints)
    first = model.base[:3, :3] @ model.joints[0].placement[:3, :3]
    w, wd, vd, a, F, M = per_link(6)
    geometry = []
    w_p = wd_p = np.zeros((*q.shape[:-1], 3))
    vd_p = rotate_back(first, w_p - model.gravity)
    for i, joint in enumerate(model.joints):
        E, z0 = far_end(model, i), joint.axis
        body = model.links[i].inertia.moved(inverse(E))
        s, I = body.com, body.moment_about_com
        turn = np.eye(3) if joint.prismatic else rotation_about(z0, q[..., i])
        R = np.broadcast_to(turn @ E[:3, :3], (*q.shape[:-1], 3, 3))  # ^{i-1}R_i
        z, origin = E[:3, :3].T @ z0, E[:3, :3].T @ E[:3, 3]
        p = origin + times(q[..., i], z) if joint.prismatic else origin
        zqd, zqdd = times(qd[..., i], z0), times(qdd[..., i], z0)
        if joint.prismatic:
            w_i, wd_i = rotate_back(R, w_p), rotate_back(R, wd_p)
        else:
            w_i, wd_i = rotate_back(R, w_p + zqd), rotate_back(R, wd_p + zqdd + cross(w_p, zqd))
        rotated = rotate_back(R, vd_p + zqdd) if joint.prismatic else rotate_back(R, vd_p)
        vd_i = rotated + cross(wd_i, p) + cross(w_i, cross(w_i, p))
        if joint.prismatic:
            vd_i = vd_i + 2.0 * cross(w_i, times(qd[..., i], z))
        a.append(vd_i + cross(wd_i, s) + cross(w_i, cross(w_i, s)))
        F.append(body.mass * a[i])
        M.append(cross(p + s, F[i]) + rotate(I, wd_i) + cross(w_i, rotate(I, w_i)))
        geometry.append((R, p, z, p - origin, E[:3, :3]))
        w_p, wd_p, vd_p = w_i, wd_i, vd_i
        w.append(w_i)
        wd.append(wd_i)
        vd.append(vd_i)
    f_n, n_n = np.zeros_like(w_p), np.zeros_like(w_p)
    f, n, tau = per_link(3)
    for i in range(N - 1, -1, -1):
        R, p, z, slide, axes = geometry[i]
        # f_{i+1} and n_{i+1} arrive in the axes of link i
        n_i = n_n + cross(p, f_n) + M[i]
        f_i = f_n + F[i]
        if wrench is not None:
            load = rotate_back(axes, wrench[..., i, :3])
            f_i, n_i = f_i + load, n_i + rotate_back(axes, wrench[..., i, 3:]) + cross(slide, load)
        tau.append(dot(z, f_i if model.joints[i].prismatic else n_i))
        f.append(f_i)
        n.append(n_i)
        f_n, n_n = rotate(R, f_i), rotate(R, n_i)
    return NewtonEulerTable(w, wd, vd, a, f[::-1], n[::-1], np.stack(tau[::-1], -1))


def check_chain(model: RobotModel, formulation: str) -> None:
    """Nothing for a serial chain; a TopologyError that names the branching link for a tree."""
    if model.is_chain:
        return
    branches = [i for i in range(len(model.joints)) if len(model.children[i]) > 1]
    where = model.links[branches[0]].name if branches else model.base_link.name
    raise TopologyError(
        f"formulation {formulation!r} is written for serial chains, and {model.name!r} branches at "
        f"link {where!r}; use 'newton_euler', which handles trees"
    )


def check_centred(model: RobotModel, formulation: str) -> None:
    """Nothing if every link has a centre of mass; otherwise a ModelError that names the link."""
    for link in model.links:
        if not link.inertia.has_com:
            raise ModelError(
                f"formulation {formulation!r} needs centres of mass, and link {link.name!r} of "
                f"{model.name!r} has a first moment without mass (a reduced parameter set); use "
                "'newton_euler' or 'augmented_body'"
            )
