"""Equalities of an MJCF file that join two bodies: `connect` and `weld` close loops.

MuJoCo holds them softly, by solref and solimp; here they are rigid.
"""

from collections.abc import Sequence
from typing import Any

import mujoco
import numpy as np

from armdyn.arrays import Array
from armdyn.io.closing import closed_tree
from armdyn.io.mjcf.couplings import Couplings
from armdyn.model import Loop, RobotModel
from armdyn.model.cut_joints import CUT_JOINTS
from armdyn.model.edit import coupling_between, loop_between
from armdyn.model.transform import rotation_from_quaternion, transform

KINDS = {int(mujoco.mjtEq.mjEQ_CONNECT): "spherical", int(mujoco.mjtEq.mjEQ_WELD): "fixed"}
"""The cut joint of each equality that closes a loop."""


def closing_equalities(m: Any, couplings: Couplings) -> list[int]:
    """The equalities that close loops."""
    return [i for i in couplings.left if int(m.eq_type[i]) in KINDS]


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
    driven = [
        j
        for kind, (j, _) in zip(m.actuator_trntype, m.actuator_trnid, strict=True)
        if _on_joint(kind)
    ]
    zeros = {joints[j]: float(m.qpos0[m.jnt_qposadr[j]]) for j in range(m.njnt)}
    at = np.array([zeros.get(joint.name, 0.0) for joint in model.joints])
    return closed_tree(model, loops, at, [joints[j] for j in driven])


def _on_joint(kind: int) -> bool:
    return int(kind) in (mujoco.mjtTrn.mjTRN_JOINT, mujoco.mjtTrn.mjTRN_JOINTINPARENT)


def _loop(model: RobotModel, m: Any, i: int, bodies: Sequence[str]) -> Loop:
    kind = KINDS[int(m.eq_type[i])]
    ends = _at_sites(m, i, bodies) if _between_sites(m, i) else _at_bodies(m, i, bodies)
    return loop_between(model, _name(m, i), CUT_JOINTS[kind], *ends)


def _name(m: Any, i: int) -> str:
    return m.eq(i).name or f"equality {i}"


def _between_sites(m: Any, i: int) -> bool:
    return hasattr(m, "eq_objtype") and m.eq_objtype[i] == mujoco.mjtObj.mjOBJ_SITE


Ends = tuple[tuple[str, Array], tuple[str, Array]]


def _at_sites(m: Any, i: int, bodies: Sequence[str]) -> Ends:
    ends = [
        (
            bodies[m.site_bodyid[site]],
            transform(rotation_from_quaternion(m.site_quat[site]), m.site_pos[site]),
        )
        for site in (m.eq_obj1id[i], m.eq_obj2id[i])
    ]
    return ends[0], ends[1]


def _at_bodies(m: Any, i: int, bodies: Sequence[str]) -> Ends:
    """Of a connect a point on either body; of a weld one on body 2, and its frame on body 1."""
    names, data = [bodies[k] for k in (m.eq_obj1id[i], m.eq_obj2id[i])], m.eq_data[i]
    if m.eq_type[i] == mujoco.mjtEq.mjEQ_CONNECT:
        places = [transform(position=data[0:3]), transform(position=data[3:6])]
    else:
        turned = transform(rotation_from_quaternion(data[6:10]), data[3:6])
        places = [turned, transform(position=data[0:3])]
    return (names[0], places[0]), (names[1], places[1])
