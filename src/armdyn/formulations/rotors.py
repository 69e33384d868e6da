"""Rotors: what motors add to the links, those included that turn with several joints.

With S = [1; R], where R holds the ratios of the drives, rotors turn at S q̇ behind their gears and
add Sᵀ J S to the mass matrix, J diagonal, the inertias times the squares of the gear ratios N.

One whose axis and carrier are known is also a body, which spins against link k at ṡ = N S_r q̇ about
the unit vector a. It is a body of revolution with its centre of mass on a, so its angle has no
effect. Link k holds it, locked, in its mass and tensor. With its inertia I = J_r / N² it adds

    T = ½ I ṡ² + I ṡ (a·ω_k)
    n_k = I (s̈ a + ṡ ω_k×a)                 the moment that its carrier needs
    τ = N S_rᵀ I (s̈ + a·ω̇_k)                what its motor gives
    M = Sᵀ J S + Σ H (S_rᵀ w + wᵀ S_r),  H = N I,  w = a·(angular Jacobian of k)

where H, the angular momentum for each unit of S q̇, is zero for rotors that are not known to spin.

Reference: B. Siciliano, L. Sciavicco, L. Villani and G. Oriolo, Robotics, 2009, section 7.5.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from armdyn.arrays import Array, record
from armdyn.formulations.kinematics import Turning, joint_transform, joint_transforms
from armdyn.formulations.spatial import cross, dot, rotate, rotate_back, times
from armdyn.model import RobotModel
from armdyn.model.edit import exact_near


def rotor_inertias(model: RobotModel) -> Array:
    """J: rotor inertias felt behind the gears, of the joints and then of the drives, (N + m,)."""
    return np.array([owner.rotor.reflected for owner in model.driven])


def rotor_matrix(model: RobotModel, inertias: Sequence[object] | Array | None = None) -> Array:
    """Sᵀ J S for inertias in the order of `rotor_inertias`; None: those of the robot, (N, N)."""
    J = rotor_inertias(model) if inertias is None else np.asarray(inertias)
    joints, drives = np.split(J, [len(model.joints)])
    R = model.drive_ratios
    return np.diag(joints) + R.T @ (drives[:, None] * R) if model.drives else np.diag(joints)


def rotor_torques(model: RobotModel, qdd: Array, inertias: Array | None = None) -> Array:
    """Sᵀ J S q̈ at all joints, (..., N)."""
    J = rotor_inertias(model) if inertias is None else inertias
    joints, drives = np.split(J, [len(model.joints)])
    own, R = joints * qdd, model.drive_ratios
    return own + (drives * (qdd @ R.T)) @ R if model.drives else own


def all_rotor_torques(
    model: RobotModel, q: Array, qd: Array, qdd: Array, turning: Turning = None
) -> Array:
    """What the rotors of a robot need, those that spin included, at all joints, (..., N)."""
    return rotor_torques(model, qdd) + spin_torques(model, q, qd, qdd, turning=turning)


# rotors that spin


def spin_momenta(model: RobotModel, inertias: Array | None = None) -> Array:
    """H for inertias in the order of `rotor_inertias`; None: those of the robot, (N + m,)."""
    J = rotor_inertias(model) if inertias is None else inertias
    pairs = zip(J, (owner.rotor for owner in model.driven), strict=True)
    return np.array(
        [x * (1.0 / rotor.gear_ratio) if rotor.spins else 0.0 * x for x, rotor in pairs]
    )


@record
class Spin:
    """A rotor that spins."""

    place: int
    """Its place among those of joints and drives."""
    link: int
    """The carrier."""
    axis: Array
    """a in the axes of the frame on the joint of the carrier, (3,)."""
    ratios: tuple[tuple[int, float], ...]
    """S_r: joints, and how much the output of the gear turns with each."""

    def rate(self, rates: Array) -> Any:
        """S_r q̇ or S_r q̈, (...)."""
        return sum(ratio * rates[..., i] for i, ratio in self.ratios)


def spins(model: RobotModel) -> Iterator[Spin]:
    """The rotors that spin."""
    S = np.vstack([np.eye(len(model.joints)), model.drive_ratios])
    for place, owner in enumerate(model.driven):
        if owner.rotor.spins:
            frame = model.frame(owner.rotor.carrier)
            axis = exact_near(frame.placement[:3, :3] @ np.array(owner.rotor.axis))
            only = np.flatnonzero(S[place]).tolist()
            yield Spin(place, frame.link, axis, tuple((i, float(S[place, i])) for i in only))


@record
class SpinLoads:
    """What rotors need because they spin, without Sᵀ J S q̈, (..., 3) and (..., N)."""

    links: list[Array]
    """n of each link, in the axes of the frame on its joint."""
    base: Array
    """n of the base, in its axes."""
    motors: Array
    """What the motors give."""

    @property
    def wrench(self) -> Array:
        """What the links exert, (..., N, 6), as formulations take it."""
        rows = np.stack(self.links, -2)
        return np.concatenate([0.0 * rows, rows], -1)


def spin_loads(
    model: RobotModel,
    q: Array,
    qd: Array,
    qdd: Array,
    momenta: Array | None = None,
    turning: Turning = None,
) -> SpinLoads:
    """Moments on the carriers and torques of the motors; arguments as in `newton_euler`.

    The momenta are those of `spin_momenta`; None: of the robot.
    """
    H = spin_momenta(model) if momenta is None else momenta
    N, zero = len(model.joints), np.zeros((*q.shape[:-1], 3))
    n = [zero] * (N + 1)  # the base is the last, as link -1
    w, wd = ([*n[:N], v] for v in turning or (zero, zero))
    R = joint_transforms(model, q)[0]
    for i, joint in enumerate(model.joints):
        Rw, Z = rotate_back(R[i], w[joint.parent]), joint.axis
        turn, turn_rate = (times(joint.type.angle(x[..., i]), Z) for x in (qd, qdd))
        w[i] = Rw + turn
        wd[i] = rotate_back(R[i], wd[joint.parent]) + turn_rate + cross(Rw, turn)
    motors = [np.zeros(q.shape[:-1])] * N
    for spin in spins(model):
        k, h = spin.link, H[spin.place]
        a = np.broadcast_to(spin.axis, zero.shape)
        n[k] = n[k] + times(h * spin.rate(qdd), a) + times(h * spin.rate(qd), cross(w[k], a))
        for i, ratio in spin.ratios:
            motors[i] = motors[i] + ratio * (h * dot(a, wd[k]))
    return SpinLoads(n[:N], n[N], np.stack(motors, -1))


def spin_torques(
    model: RobotModel,
    q: Array,
    qd: Array,
    qdd: Array,
    momenta: Array | None = None,
    turning: Turning = None,
) -> Array:
    """What all joints need for that, (..., N); arguments as in `spin_loads`."""
    if not model.spins:
        return np.zeros(q.shape)
    loads = spin_loads(model, q, qd, qdd, momenta, turning)
    n, R = [*loads.links, loads.base], joint_transforms(model, q)[0]
    tau = [loads.motors[..., i] for i in range(len(R))]
    for i, joint in reversed(list(enumerate(model.joints))):
        tau[i] = tau[i] + dot(joint.axis, joint.type.combine(0.0 * n[i], n[i]))
        n[joint.parent] = n[joint.parent] + rotate(R[i], n[i])
    return np.stack(tau, -1)


def spin_matrix(model: RobotModel, q: Array, momenta: Array | None = None) -> Array:
    """Σ H (S_rᵀ w + wᵀ S_r) at q (..., N), (..., N, N); momenta as in `spin_loads`."""
    H = spin_momenta(model) if momenta is None else momenta
    M = np.zeros((*q.shape, q.shape[-1]), dtype=np.result_type(q, H))
    for spin in spins(model):
        row = H[spin.place] * turning_row(model, q, spin.link, spin.axis)
        for i, ratio in spin.ratios:
            M[..., i, :] = M[..., i, :] + ratio * row
            M[..., :, i] = M[..., :, i] + ratio * row
    return M


def turning_row(model: RobotModel, q: Array, link: int, axis: Array) -> Array:
    """w: how much each joint turns a link about an axis in the frame on its joint, (..., N)."""
    a = np.broadcast_to(axis, (*q.shape[:-1], 3))
    w = [0.0 * a[..., 0]] * len(model.joints)
    for j in reversed(model.paths[link] if link >= 0 else ()):
        joint = model.joints[j]
        w[j] = dot(joint.axis, joint.type.combine(0.0 * a, a))
        a = rotate(joint_transform(joint, q[..., j])[0], a)
    return np.stack(w, -1)
