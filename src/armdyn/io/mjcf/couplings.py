"""Joint equalities of an MJCF file: which joints follow which, and which equalities are left."""

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from typing import Any

import mujoco
import numpy as np

from armdyn.io.mjcf.switches import switched_on


@dataclass(frozen=True)
class Couplings:
    """Joints that follow others exactly, by their numbers in the compiled model."""

    followers: dict[int, tuple[int, float, float]] = field(default_factory=dict)
    """Leader, ratio and offset of each follower: q = ratio · q_leader + offset [rad or m]."""
    left: dict[int, str] = field(default_factory=dict)
    """Equalities that no follower stands for, with what is wrong with those of joints."""

    def without(self, taken: Collection[int]) -> "Couplings":
        """The same without equalities that something else stands for."""
        return replace(self, left={i: why for i, why in self.left.items() if i not in taken})

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
        elif leader < 0 or np.any(m.eq_data[i][2:5]):
            found.left[i] = "that is no linear function of one joint"
        else:
            offset, ratio = (float(x) for x in m.eq_data[i][:2])
            zero, led = (float(m.qpos0[m.jnt_qposadr[j]]) for j in (follower, leader))
            if not _joined(found, follower, leader, ratio, zero + offset - ratio * led):
                found.left[i] = "that contradicts the equalities before it"
    return found


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
