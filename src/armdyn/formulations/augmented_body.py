"""Renaud's augmented bodies, in world axes (intrinsic) or in the frames on the joints (extrinsic).

Link i is augmented by the masses beyond it, gathered in the origins of the joints it carries:

    m*_i = m_i + Σ m*_{i+1},   u*_i = m_i d_i + Σ m*_{i+1} p,   k*_i = Io_i - Σ m*_{i+1} S(p)²

with p = p_{i,i+1}, sums over the children. Outward, from α_0 = -g and ω_0 = a_0 = b_0 = 0 of a base
at rest (σ = 1 for a prismatic joint, 0 otherwise, and t carries it; numbers as in the paper):

    ω_i = ω_{i-1} + (1-σ) q̇ z                                             (1)
    a_i = a_{i-1} + (1-σ)(q̇ ω_{i-1}×z + q̈ z)                              (3)
    b_i = S(a_i) + S(ω_i)²   with the products δ = ω ωᵀ                     (2), (4)
    t_i = σ (2 q̇ ω_{i-1}×z + q̈ z)                                         (5)
    r_{i-1} = α_{i-1} + b_{i-1} p,   α_i = r_{i-1} + t_i                    (6)

and inward:

    n_i = Σ (n_{i+1} + p×e_{i+1}) + k* a + ω×k*ω + u*×α                     (9)
    e_i = Σ e_{i+1} + b_i u*_i + m*_i t_i                                   (7)
    f_i = e_i + m*_i r_{i-1}                                                (8)
    Γ_i = z·n_i, or z·f_i for a prismatic joint                             (10)

u* and k* are constant in the frame on joint i unless link i carries a prismatic joint. In these
frames a vector is rotated once for each link it passes.
Reference: M. Renaud, Quasi-minimal computation of the dynamic model of a robot manipulator
utilizing the Newton-Euler formalism and the notion of augmented body.
"""

import numpy as np

from armdyn.arrays import Array, record
from armdyn.formulations.kinematics import Push, Turning, joint_transforms, world_frames
from armdyn.formulations.spatial import cross, dot, per_link, rotate, rotate_back, times, transpose
from armdyn.model import RobotModel
from armdyn.model.transform import skew


@record
class AugmentedBody:
    """The augmented bodies, their motion and their loads, and the torques Γ (..., N).

    A list has one entry for each link: in the axes of the frame on its joint (extrinsic), or in
    those of the world (intrinsic). O_i is the origin of the frame on the joint. Vectors are
    (..., 3), tensors (..., 3, 3).
    """

    m_star: list[float]
    u_star: list[Array]
    """u*_i, first moment about O_i."""
    k_star: list[Array]
    """k*_i, inertia about O_i."""
    w: list[Array]
    """ω_i, angular velocity."""
    delta: list[Array]
    """δ_i = ω_i ω_iᵀ, the products of the angular velocity."""
    a: list[Array]
    """a_i, angular acceleration."""
    b: list[Array]
    """b_i, the tensor that turns an arm on link i into the acceleration of its end against O_i."""
    t: list[Array]
    """σ_i t_i, what joint i adds to the acceleration by sliding."""
    r: list[Array]
    """r_{i-1} in the entry of link i: acceleration, less gravity, of O_i if joint i were locked."""
    alpha: list[Array]
    """α_i, acceleration of O_i less gravity."""
    e: list[Array]
    """e_i, the part of f_i without m*_i r_{i-1}."""
    f: list[Array]
    """f_i, the force that link i receives from its parent; the paper needs it to slide only."""
    n: list[Array]
    """n_i, the moment that link i receives from its parent, about O_i."""
    tau: Array


def augmented_body(
    model: RobotModel, q: Array, qd: Array, qdd: Array, wrench: Push = None, turning: Turning = None
) -> AugmentedBody:
    """Joint torques of a tree, in the frames on the joints; arguments as in `newton_euler`."""
    R, P = joint_transforms(model, q)
    z = [np.broadcast_to(joint.axis, (*q.shape[:-1], 3)) for joint in model.joints]
    u = [link.inertia.first_moment for link in model.links]
    k = [link.inertia.moment for link in model.links]
    rest = np.zeros((*q.shape[:-1], 3))
    base = *(turning or (rest, rest)), rotate_back(model.base[..., :3, :3], rest - model.gravity)
    return _recursion(model, R, P, z, u, k, base, qd, qdd, wrench)


def augmented_body_intrinsic(
    model: RobotModel, q: Array, qd: Array, qdd: Array, wrench: Push = None, turning: Turning = None
) -> AugmentedBody:
    """Joint torques of a tree, in world axes (intrinsic); arguments as in `newton_euler`."""
    frames = world_frames(model, q)
    same = [np.eye(3)] * len(model.joints)
    P = [frames.O[i] - frames.link(j.parent)[1] for i, j in enumerate(model.joints)]
    bodies = [(R, link.inertia) for R, link in zip(frames.R, model.links, strict=True)]
    u = [rotate(R, body.first_moment) for R, body in bodies]
    k = [R @ body.moment @ transpose(R) for R, body in bodies]
    if wrench is not None:
        turned = [
            np.concatenate([rotate(R, wrench[..., i, :3]), rotate(R, wrench[..., i, 3:])], -1)
            for i, R in enumerate(frames.R)
        ]
        wrench = np.stack(turned, -2)
    base = *frames.of_base(turning), 0.0 * frames.base[1] - model.gravity
    return _recursion(model, same, P, frames.z, u, k, base, qd, qdd, wrench)


def _recursion(
    model: RobotModel,
    R: list[Array],
    P: list[Array],
    z: list[Array],
    u: list[Array],
    k: list[Array],
    base: tuple[Array, Array, Array],
    qd: Array,
    qdd: Array,
    wrench: Array | None,
) -> AugmentedBody:
    """The method for given axes: R rotates from those of link i to its parent's; ω_0, a_0, α_0."""
    N = len(model.joints)
    m = [link.inertia.mass for link in model.links]
    u, k = list(u), list(k)
    for i, joint in reversed(list(enumerate(model.joints))):  # (0)
        up = joint.parent
        if up >= 0:
            S = skew(P[i])
            m[up] = m[up] + m[i]
            u[up] = u[up] + m[i] * P[i]
            k[up] = k[up] - m[i] * (S @ S)
    zero = np.zeros((*qd.shape[:-1], 3))
    at_base = (*base[:2], skew(base[1]) + _centripetal(_products(base[0])), base[2])
    w, a, b, alpha, t, r, delta = per_link(7)
    for i, joint in enumerate(model.joints):
        up = joint.parent
        w_p, a_p, b_p, alpha_p = (w[up], a[up], b[up], alpha[up]) if up >= 0 else at_base
        w_p = rotate_back(R[i], w_p)  # (1a)
        turn, turn_rate = (times(joint.type.angle(x[..., i]), z[i]) for x in (qd, qdd))
        slide, slide_rate = (times(joint.type.travel(x[..., i]), z[i]) for x in (qd, qdd))
        w.append(w_p + turn)  # (1b)
        a.append(rotate_back(R[i], a_p) + cross(w_p, turn) + turn_rate)  # (3)
        delta.append(_products(w[i]))  # (2)
        b.append(skew(a[i]) + _centripetal(delta[i]))  # (4)
        t.append(2.0 * cross(w_p, slide) + slide_rate)  # (5)
        r.append(rotate_back(R[i], alpha_p + rotate(b_p, P[i])))  # (6a, b)
        alpha.append(r[i] + t[i])  # (6c)
    e = [zero if wrench is None else wrench[..., i, :3] for i in range(N)]
    n = [zero if wrench is None else wrench[..., i, 3:] for i in range(N)]
    f, gamma = [zero] * N, []
    for i, joint in reversed(list(enumerate(model.joints))):
        # at this point e[i], n[i] hold the sums over the children of link i
        moment = rotate(k[i], a[i]) + _gyroscopic(k[i], delta[i]) + cross(u[i], alpha[i])
        n[i] = n[i] + moment  # (9a)
        e[i] = e[i] + rotate(b[i], u[i]) + m[i] * t[i]  # (7a)
        f[i] = e[i] + m[i] * r[i]  # (8)
        gamma.append(dot(z[i], joint.type.combine(f[i], n[i])))  # (10)
        up = joint.parent
        if up >= 0:
            e_up = rotate(R[i], e[i])  # (7b)
            e[up] = e[up] + e_up
            n[up] = n[up] + rotate(R[i], n[i]) + cross(P[i], e_up)  # (9b)
    tau = np.stack(gamma[::-1], -1)
    return AugmentedBody(m, u, k, w, delta, a, b, t, r, alpha, e, f, n, tau)


def _products(w: Array) -> Array:
    """ω ωᵀ, (..., 3, 3)."""
    return w[..., :, None] * w[..., None, :]


def _centripetal(delta: Array) -> Array:
    """S(ω)² from the products ω ωᵀ, (..., 3, 3)."""
    xx, yy, zz = (delta[..., i, i] for i in range(3))
    xy, xz, yz = delta[..., 0, 1], delta[..., 0, 2], delta[..., 1, 2]
    rows = ((-(yy + zz), xy, xz), (xy, -(xx + zz), yz), (xz, yz, -(xx + yy)))
    return np.stack([np.stack(row, -1) for row in rows], -2)


def _gyroscopic(k: Array, delta: Array) -> Array:
    """ω × k ω from the products ω ωᵀ, (..., 3)."""
    components = []
    for x, y, z in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        diagonal = (k[..., z, z] - k[..., y, y]) * delta[..., y, z]
        products = k[..., z, y] * (delta[..., y, y] - delta[..., z, z])
        mixed = k[..., z, x] * delta[..., x, y] - k[..., y, x] * delta[..., x, z]
        components.append(diagonal + products + mixed)
    return np.stack(components, -1)
