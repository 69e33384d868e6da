"""Equalities of an MJCF file: joints that follow others, bodies that close loops, what is left.

MuJoCo holds them softly, by solref and solimp; here they are rigid.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import mujoco
import numpy as np

from armdyn.arrays import Array
from armdyn.io.closing import closed_tree
from armdyn.model import Loop, RobotModel
from armdyn.model.cut_joints import CUT_JOINTS, composed, polynomial
from armdyn.model.edit import coupling_between, loop_between
from armdyn.model.transform import rotation_from_quaternion, transform

KINDS = {int(mujoco.mjtEq.mjEQ_CONNECT): "spherical", int(mujoco.mjtEq.mjEQ_WELD): "fixed"}
"""The cut joint of each equality that closes a loop."""


def switched_on(m: Any, *features: str) -> bool:
    """Whether none of these features of MuJoCo is disabled by <flag> in the file."""
    bits = (getattr(mujoco.mjtDisableBit, f"mjDSBL_{name}", 0) for name in features)
    return not any(m.opt.disableflags & int(bit) for bit in bits)


def passive_forces(m: Any) -> bool:
    """Whether there are passive forces other than those of springs and dampers."""
    return switched_on(m, "PASSIVE") and (switched_on(m, "SPRING") or switched_on(m, "DAMPER"))


@dataclass(frozen=True)
class Couplings:
    """Joints that follow others exactly, by their numbers in the compiled model."""

    followers: dict[int, tuple[int, float, float]] = field(default_factory=dict)
    """Leader, ratio and offset of each follower: q = ratio · q_leader + offset [rad or m]."""
    curves: dict[int, tuple[int, int, tuple[float, ...]]] = field(default_factory=dict)
    """By equality: follower, leader and coefficients of the leader's powers, where they are no
    straight line."""
    held: dict[int, float] = field(default_factory=dict)
    """Joints that are held at a position."""
    left: dict[int, str] = field(default_factory=dict)
    """Equalities that no follower stands for, with what is wrong with those of joints."""

    def held_with(self, locked: Mapping[int, float]) -> dict[int, float]:
        """All joints that do not move where some are held, followers along curves included."""
        found = self.held | dict(locked)
        waiting = list(self.curves.values())
        while ready := [x for x in waiting if self._position(x[1], found) is not None]:
            for follower, leader, coefficients in ready:
                found[follower] = polynomial(coefficients, self._position(leader, found))
                waiting.remove((follower, leader, coefficients))
        return found

    def _position(self, joint: int, held: Mapping[int, float]) -> float | None:
        joint, ratio, offset = self.coordinate(joint)
        return ratio * held[joint] + offset if joint in held else None

    def coordinate(self, joint: int) -> tuple[int, float, float]:
        """The joint that follows no other and moves this one, with ratio and offset."""
        ratio, offset = 1.0, 0.0
        while joint in self.followers:
            joint, own_ratio, own_offset = self.followers[joint]
            ratio, offset = ratio * own_ratio, ratio * own_offset + offset
        return joint, ratio, offset


def read_couplings(m: Any) -> Couplings:
    """The joint equalities, in the order of the file; repeated ones are harmless if they agree.

    MuJoCo holds q - ref = c0 + c1 (q' - ref') + c2 (q' - ref')² + ... up to the fourth power.
    """
    found = Couplings()
    on = switched_on(m, "CONSTRAINT", "EQUALITY")
    for i in (i for i in range(m.neq) if on and m.eq_active0[i]):
        follower, leader = int(m.eq_obj1id[i]), int(m.eq_obj2id[i])
        if m.eq_type[i] != mujoco.mjtEq.mjEQ_JOINT:
            found.left[i] = ""
            continue
        zero = float(m.qpos0[m.jnt_qposadr[follower]])
        given = [float(c) for c in m.eq_data[i][:5]]
        if leader < 0:
            taken = not _hold(found, follower, zero + given[0])
        else:
            led = float(m.qpos0[m.jnt_qposadr[leader]])
            c = composed(given, (-led, 1.0))
            taken = not _follow(found, i, follower, leader, (c[0] + zero, *c[1:]))
        if taken:
            found.left[i] = "that contradicts the equalities before it"
    return found


def _hold(found: Couplings, joint: int, value: float) -> bool:
    """Note that a joint is held; False if it moves, or is held elsewhere."""
    follows = [follower for follower, _, _ in found.curves.values()]
    joint, ratio, offset = found.coordinate(joint)
    if joint in follows or not ratio:
        return False
    at = (value - offset) / ratio
    return bool(np.isclose(found.held.setdefault(joint, at), at, rtol=1e-9, atol=1e-12))


def _follow(
    found: Couplings, equality: int, follower: int, leader: int, c: tuple[float, ...]
) -> bool:
    """Note that a joint follows another; False if it cannot, because of what is known already."""
    roots = [found.coordinate(joint)[0] for joint in (follower, leader)]
    led = {joint: found.coordinate(lead)[0] for joint, lead, _ in found.curves.values()}
    if not any(c[1:]):
        return _hold(found, follower, c[0])
    if roots[0] in (*led, *found.held, *_led_by(led, roots[1])):
        return False
    if not any(c[2:]):
        return _joined(found, follower, leader, c[1], c[0])
    if follower != roots[0]:
        return False
    found.curves[equality] = (follower, leader, c)
    return True


def _led_by(led: Mapping[int, int], joint: int) -> list[int]:
    """A joint and those that lead it along curves; a linear circle is known elsewhere."""
    found = [joint]
    while found[-1] in led:
        found.append(led[found[-1]])
    return found if len(found) > 1 else []


def _joined(found: Couplings, follower: int, leader: int, ratio: float, offset: float) -> bool:
    """Note that a joint follows another; False if it cannot, because of what is known already."""
    joint, own_ratio, own_offset = found.coordinate(follower)
    lead, lead_ratio, lead_offset = found.coordinate(leader)
    # own_ratio q_joint + own_offset = slope q_lead + level
    slope, level = ratio * lead_ratio, ratio * lead_offset + offset
    if joint == lead:
        return np.allclose((own_ratio, own_offset), (slope, level), rtol=1e-9, atol=1e-12)
    if joint == follower:
        found.followers[follower] = (leader, ratio, offset)
    elif own_ratio:
        found.followers[joint] = (lead, slope / own_ratio, (level - own_offset) / own_ratio)
    return joint == follower or own_ratio != 0


def closed_by_equalities(
    model: RobotModel,
    m: Any,
    equalities: Sequence[int],
    couplings: Couplings,
    bodies: Sequence[str],
    joints: Sequence[str],
) -> RobotModel:
    """The tree with the loops that equalities close, and joints that follow along curves."""
    moving = {joint.name for joint in model.joints}
    loops = [_loop(model, m, i, bodies) for i in equalities]
    loops += [
        coupling_between(model, _name(m, i), joints[follower], joints[leader], coefficients)
        for i, (follower, leader, coefficients) in couplings.curves.items()
        if joints[follower] in moving
    ]
    if not loops:
        return model
    on_joint = (mujoco.mjtTrn.mjTRN_JOINT, mujoco.mjtTrn.mjTRN_JOINTINPARENT)
    actuators = zip(m.actuator_trntype, m.actuator_trnid[:, 0], strict=True)
    driven = [joints[j] for kind, j in actuators if int(kind) in on_joint]
    zeros = {joints[j]: float(m.qpos0[m.jnt_qposadr[j]]) for j in range(m.njnt)}
    at = np.array([zeros.get(joint.name, 0.0) for joint in model.joints])
    return closed_tree(model, loops, at, driven)


def _name(m: Any, i: int) -> str:
    return m.eq(i).name or f"equality {i}"


def _loop(model: RobotModel, m: Any, i: int, bodies: Sequence[str]) -> Loop:
    """A cut joint between two sites, or between two bodies.

    Of a connect there is a point on either body; of a weld one on body 2, and its frame on body 1.
    """
    ids, data = (m.eq_obj1id[i], m.eq_obj2id[i]), m.eq_data[i]
    if hasattr(m, "eq_objtype") and m.eq_objtype[i] == mujoco.mjtObj.mjOBJ_SITE:
        places = [placed(m.site_pos[site], m.site_quat[site]) for site in ids]
        ids = m.site_bodyid[ids[0]], m.site_bodyid[ids[1]]
    elif m.eq_type[i] == mujoco.mjtEq.mjEQ_CONNECT:
        places = [transform(position=data[0:3]), transform(position=data[3:6])]
    else:
        places = [placed(data[3:6], data[6:10]), transform(position=data[0:3])]
    a, b = ((bodies[body], place) for body, place in zip(ids, places, strict=True))
    return loop_between(model, _name(m, i), CUT_JOINTS[KINDS[int(m.eq_type[i])]], a, b)


def placed(position: Array, quaternion: Array) -> Array:
    """The transform of a place in a compiled model, (4, 4)."""
    return transform(rotation_from_quaternion(quaternion), position)
