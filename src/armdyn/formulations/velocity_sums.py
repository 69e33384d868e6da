"""Coriolis and centrifugal torques in the sums that the generalised d'Alembert equations print.

Notation of `dalembert`. Equation (4.3) prints four sums: ω×(ω×p*) and β×p* of the links before s,
then the same two of link s with c̄_s. Equation (4.4) prints two: of the ordered pairs, and of the
products with w_s. Of a product of two velocities, q̇_p q̇_p is centrifugal, and other pairs are
Coriolis; so is the slide of a joint on a link that turns, which belongs to the terms with β.
"""

from dataclasses import dataclass

import numpy as np

from armdyn.arrays import Array
from armdyn.formulations.spatial import cross, per_link, times
from armdyn.model import RobotModel


@dataclass(frozen=True, slots=True)
class VelocitySums:
    """Torques of the sums of one equation in the order of print, (..., number of sums, N)."""

    centrifugal: Array
    """What the square of one joint velocity causes."""
    coriolis: Array
    """What the product of two joint velocities causes."""


@dataclass(frozen=True, slots=True)
class LinkMotion:
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


def translational_sums(motion: LinkMotion, Jv: Array) -> VelocitySums:
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
