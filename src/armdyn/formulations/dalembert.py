"""Generalised d'Alembert equations of motion, extended to prismatic joints.

Vectors in world axes: z of joint i through the point p_{i-1} that stays on its parent, p*_k to the
next such point, c̄_s from the joint of link s to its centre of mass r̄_s. I_s is in the frame on
joint s. ρ = 1 for a revolute joint and 0 for a prismatic one.

    Jv_si = z×(r̄_s - p_{i-1}) (R) or z (P),    Jw_si = ρ_i ˢR_0 z
    D_rot_ij = Σ_s Jw_siᵀ I_s Jw_sj,    D_tran_ij = Σ_s m_s Jv_si·Jv_sj,  s ≥ max(i, j)   (4.2)
    ω_k = Σ_{p≤k} ρ_p q̇_p z,    β_k = Σ_{p≤k} ω_{p-1}×ρ_p q̇_p z
    A(k, x) = ω_k×(ω_k×x) + β_k×x + 2(1-ρ_k) q̇_k ω_k×z
    h_tran_i = Σ_{s≥i} m_s [Σ_{k<s} A(k, p*_k) + A(s, c̄_s)]·Jv_si                        (4.3)
    h_rot_i  = Σ_{s≥i} Jw_siᵀ I_s Σ_{j<k≤s} (q̇_j Jw_sj)×(q̇_k Jw_sk) + (Jw_si×w_s)ᵀ I_s w_s  (4.4)
    c_i = -g·Σ_{s≥i} m_s Jv_si                                                           (4.5)
    τ = (D_rot + D_tran) q̈ + h_tran + h_rot + c                                           (4.1)

The last term of A is what a sliding joint adds; without it these are the published equations, with
the sums starting at s = i. "s ≥ i" and "k < s" follow the path from the base in a tree.

Coriolis and centrifugal torques are in print as sums: (4.3) has four, ω×(ω×p*) and β×p* of the
links before s, then the same two of link s with c̄_s; (4.4) has two, of the ordered pairs, and of
the products with w_s. Of a product of two velocities, q̇_p q̇_p is centrifugal, and other pairs are
Coriolis; so is the slide of a joint on a link that turns, which belongs to the terms with β.
Reference: K. Fu, R. Gonzalez, C. Lee, Robotics, 1987, section 3.4; numbers of I. Milićević,
D. Golubović, N. Slavković, Transformation matrix approach to dynamics of manipulative robots.
"""

import numpy as np

from armdyn.arrays import Array, record
from armdyn.formulations.kinematics import Push, world_frames, wrench_torques
from armdyn.formulations.newton_euler_tables import check_centred
from armdyn.formulations.spatial import cross, per_link, rotate, rotate_back, times
from armdyn.model import RobotModel


@record
class VelocitySums:
    """Torques of the sums of one equation in the order of print, (..., number of sums, N)."""

    centrifugal: Array
    """What the square of one joint velocity causes."""
    coriolis: Array
    """What the product of two joint velocities causes."""


@record
class ConvectiveMotion:
    """How the links move; a list has one vector for each link, in world axes, (..., 3)."""

    model: RobotModel
    qd: Array
    z: list[Array]
    """z_{i-1} in the entry of joint i, direction of its axis."""
    p: list[Array]
    """p_{i-1} in the entry of joint i: the point of its axis that stays on the parent."""
    r: list[Array]
    """r̄_s, the centre of mass of link s."""
    w: list[Array]
    """ω_s, angular velocity of link s."""
    beta: list[Array]
    """β_s, angular acceleration of link s at zero joint accelerations."""

    def arm_accelerations(self, k: int, arm: Array) -> tuple[Array, Array]:
        """A(k, arm) in two: ω×(ω×arm), and β×arm with the slide of joint k."""
        w = self.w[k]
        slide = self.model.joints[k].type.travel(self.qd[..., k])
        coriolis = cross(self.beta[k], arm) + 2.0 * cross(w, times(slide, self.z[k]))
        return cross(w, cross(w, arm)), coriolis


@record
class DAlembert(ConvectiveMotion):
    """The terms of the equations; link indices come before joint indices.

    D is (..., N, N), the torques h, c and τ are (..., N).
    """

    Jv: Array
    """Velocity of the centre of mass of link s for each joint, world axes, (..., N, N, 3)."""
    Jw: Array
    """Angular velocity of link s for each joint, (..., N, N, 3), axes of the frame on joint s."""
    D_rot: Array
    D_tran: Array
    h_rot: Array
    h_tran: Array
    c: Array
    tau: Array

    @property
    def D(self) -> Array:
        """The inertial matrix, (..., N, N)."""
        return self.D_rot + self.D_tran

    @property
    def h_tran_sums(self) -> VelocitySums:
        """The four sums of (4.3), of which `h_tran` is the sum."""
        return translational_sums(self, self.Jv)

    @property
    def h_rot_sums(self) -> VelocitySums:
        """The two sums of (4.4), of which `h_rot` is the sum."""
        return rotational_sums(self.model, self.qd, self.Jw)


def dalembert(model: RobotModel, q: Array, qd: Array, qdd: Array, wrench: Push = None) -> DAlembert:
    """Joint torques of a tree of links; arguments as in `newton_euler`."""
    check_centred(model, "dalembert")
    frames, N = world_frames(model, q), len(model.joints)
    z, P, R = frames.z, frames.P, frames.R
    zero = np.zeros((*q.shape[:-1], 3))
    m = np.array([link.inertia.mass for link in model.links])
    I = np.stack([link.inertia.moment_about_com for link in model.links])
    Jv = [[zero] * N for _ in range(N)]
    Jw = [[zero] * N for _ in range(N)]
    r = [frames.O[s] + rotate(R[s], model.links[s].inertia.com) for s in range(N)]
    for s in range(N):
        for i in model.paths[s]:
            combine = model.joints[i].type.combine
            Jv[s][i] = combine(z[i], cross(z[i], r[s] - P[i]))
            Jw[s][i] = combine(zero, rotate_back(R[s], z[i]))
    v, w = (np.stack([np.stack(row, -2) for row in J], -3) for J in (Jv, Jw))
    D_rot = np.einsum("...sia,sab,...sjb->...ij", w, I, w)  # (4.2)
    D_tran = np.einsum("s,...sia,...sja->...ij", m, v, v)

    motion = ConvectiveMotion(model, qd, z, P, r, *_turning(model, z, qd))
    convective = np.stack(_convective_accelerations(motion), -2)
    h_tran = np.einsum("s,...sa,...sia->...i", m, convective, v)  # (4.3)
    spin = np.einsum("...sia,...i->...sa", w, qd)
    pairs = ordered_pairs(model, w, qd)
    h_rot = np.einsum("...sia,sab,...sb->...i", w, I, pairs)  # (4.4)
    h_rot = h_rot + np.einsum("...sia,sab,...sb->...i", cross(w, spin[..., None, :]), I, spin)
    c = -np.einsum("...a,s,...sia->...i", model.gravity, m, v)  # (4.5)
    tau = rotate(D_rot + D_tran, qdd) + h_tran + h_rot + c + wrench_torques(model, frames, wrench)
    vectors = model, qd, z, P, r, motion.w, motion.beta
    return DAlembert(*vectors, v, w, D_rot, D_tran, h_rot, h_tran, c, tau)


def _turning(model: RobotModel, z: list[Array], qd: Array) -> tuple[list[Array], list[Array]]:
    """ω and β of each link."""
    omega, beta = per_link(2)
    for s, joint in enumerate(model.joints):
        up = joint.parent
        w_p, beta_p = (omega[up], beta[up]) if up >= 0 else (np.zeros_like(z[s]),) * 2
        turn = times(joint.type.angle(qd[..., s]), z[s])
        omega.append(w_p + turn)
        beta.append(beta_p + cross(w_p, turn))
    return omega, beta


def _convective_accelerations(motion: ConvectiveMotion) -> list[Array]:
    """Acceleration of each centre of mass at zero joint accelerations: the bracket of (4.3)."""
    P, (at_joint, result) = motion.p, per_link(2)
    for s, joint in enumerate(motion.model.joints):
        up, step = joint.parent, np.zeros_like(P[s])
        if up >= 0:
            step = at_joint[up] + np.add(*motion.arm_accelerations(up, P[s] - P[up]))
        at_joint.append(step)
        result.append(step + np.add(*motion.arm_accelerations(s, motion.r[s] - P[s])))
    return result


def translational_sums(motion: ConvectiveMotion, Jv: Array) -> VelocitySums:
    """The four sums of (4.3)."""
    model, P, zero = motion.model, motion.p, np.zeros_like(motion.p[0])
    before: list[tuple[Array, Array]] = []
    sums, squares = per_link(2)
    for s, joint in enumerate(model.joints):
        up, arm = joint.parent, motion.r[s] - P[s]
        first, second = before[up] if up >= 0 else (zero, zero)
        if up >= 0:
            steps = motion.arm_accelerations(up, P[s] - P[up])
            first, second = first + steps[0], second + steps[1]
        before.append((first, second))
        sums.append(np.stack([first, second, *motion.arm_accelerations(s, arm)], -2))
        first = third = zero
        for p in model.paths[s]:
            turn = times(model.joints[p].type.angle(motion.qd[..., p]), motion.z[p])
            first = first + cross(turn, cross(turn, P[s] - P[p]))
            third = third + cross(turn, cross(turn, arm))
        squares.append(np.stack([first, zero, third, zero], -2))
    m = np.array([link.inertia.mass for link in model.links])
    whole, centrifugal = (
        np.einsum("s,...ska,...sia->...ki", m, np.stack(each, -3), Jv) for each in (sums, squares)
    )
    return VelocitySums(centrifugal, whole - centrifugal)


def rotational_sums(model: RobotModel, qd: Array, Jw: Array) -> VelocitySums:
    """The two sums of (4.4)."""
    I = np.stack([link.inertia.moment_about_com for link in model.links])
    first = np.einsum("...sia,sab,...sb->...i", Jw, I, ordered_pairs(model, Jw, qd))
    spin = np.einsum("...sia,...i->...sa", Jw, qd)
    gyroscopic = cross(spin, np.einsum("sab,...sb->...sa", I, spin))  # a·(b×c) = (a×b)·c
    squares = np.einsum("...spa,...p->...sa", cross(Jw, Jw @ I), qd * qd)
    second, centrifugal = (np.einsum("...sia,...sa->...i", Jw, x) for x in (gyroscopic, squares))
    pair = (0.0 * first, centrifugal), (first, second - centrifugal)
    return VelocitySums(*(np.stack(two, -2) for two in pair))


def ordered_pairs(model: RobotModel, Jw: Array, qd: Array) -> Array:
    """Σ_{j<k≤s} (q̇_j Jw_sj)×(q̇_k Jw_sk) of each link, (..., N, 3), by a running sum over j."""
    sums = []
    for s, path in enumerate(model.paths):
        total = before = np.zeros_like(Jw[..., s, 0, :])
        for k in path:
            turn = times(qd[..., k], Jw[..., s, k, :])
            total = total + cross(before, turn)
            before = before + turn
        sums.append(total)
    return np.stack(sums, -2)
