"""What an MJCF file may have that changes torques and that a RobotModel does not hold."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

from armdyn.model.validate import Finding


def switched_on(m: Any, *features: str) -> bool:
    """Whether none of these features of MuJoCo is disabled by <flag> in the file."""
    bits = (getattr(mujoco.mjtDisableBit, f"mjDSBL_{name}", 0) for name in features)
    return not any(m.opt.disableflags & int(bit) for bit in bits)


def couplings(m: Any) -> dict[int, int]:
    """Joints that an equality makes an exactly linear function of another, with that equality.

    MuJoCo holds q - ref = c0 + c1 (q' - ref') + c2 (q' - ref')² + ... up to the fourth power.
    """
    found: dict[int, int] = {}
    for i in _equalities(m):
        leader, follower = int(m.eq_obj2id[i]), int(m.eq_obj1id[i])
        linear = m.eq_type[i] == mujoco.mjtEq.mjEQ_JOINT and not np.any(m.eq_data[i][2:5])
        if linear and leader >= 0 and follower not in found:
            found[follower] = i
    return found


def unmodelled(m: Any, path: Path, bodies: list[str], joints: list[str]) -> Iterator[Finding]:
    """Everything in a compiled model that is left out, by joint and body."""
    for text in (*_joint_terms(m, joints), *_body_terms(m, bodies), *_couplings_left(m, joints)):
        message = f"{path}: {text}; armdyn leaves it out, so its torques differ from MuJoCo's"
        yield Finding("warning", str(path), message)


def approximated(m: Any, path: Path, joints: list[str]) -> Iterator[Finding]:
    """Ball joints whose drive is not quite that of three hinges."""
    for j in np.flatnonzero(m.jnt_type == mujoco.mjtJoint.mjJNT_BALL):
        fields = ("armature", "damping", "frictionloss")
        felt = [name for name in fields if getattr(m, f"dof_{name}")[m.jnt_dofadr[j]]]
        where = f"{path}: joint {joints[j]!r} is a ball, which is read as three hinges;"
        if felt:
            message = (
                f"{where} its {' and '.join(felt)} is that of each hinge, which is MuJoCo's only "
                "where the angle of the middle hinge is 0"
            )
            yield Finding("warning", str(path), message)
        if m.jnt_limited[j]:
            yield Finding("warning", str(path), f"{where} its range is left out")


def _joint_terms(m: Any, joints: list[str]) -> Iterator[str]:
    for j, name in enumerate(joints):
        dof = m.jnt_dofadr[j]
        stiff = m.jnt_stiffness[j] or _any(m, "jnt_stiffnesspoly", j)
        if stiff and switched_on(m, "PASSIVE", "SPRING"):
            yield f"joint {name!r} has a spring (stiffness {m.jnt_stiffness[j]:g})"
        if _any(m, "dof_dampingpoly", dof) and switched_on(m, "PASSIVE", "DAMPER"):
            yield f"joint {name!r} has damping that is not linear in its speed"


def _body_terms(m: Any, bodies: list[str]) -> Iterator[str]:
    for i, name in enumerate(bodies):
        if m.body_gravcomp[i]:
            yield f"body {name!r} has its gravity compensated (gravcomp {m.body_gravcomp[i]:g})"
        if m.body_mocapid[i] >= 0:
            yield f"body {name!r} is moved from outside (mocap)"
    if m.opt.density or m.opt.viscosity:
        yield (
            f"the bodies move in a fluid (density {m.opt.density:g}, viscosity {m.opt.viscosity:g})"
        )
    if m.nflex:
        yield "there are deformable bodies (flex)"
    if m.nplugin:
        yield "there are plugins"


def _couplings_left(m: Any, joints: list[str]) -> Iterator[str]:
    for i in range(m.ntendon):
        fields = ("stiffness", "damping", "frictionloss", "armature")
        felt = [field for field in fields if _any(m, f"tendon_{field}", i)]
        if felt:
            yield f"tendon {m.tendon(i).name or i!r} has {' and '.join(felt)}"
    modelled = couplings(m).values()
    for i in _equalities(m):
        if i in modelled:
            continue
        kind = mujoco.mjtEq(m.eq_type[i]).name.removeprefix("mjEQ_").lower()
        what = f"there is an equality constraint {m.eq(i).name or i!r} of type {kind!r}"
        if m.eq_type[i] == mujoco.mjtEq.mjEQ_JOINT:
            what += f" on joint {joints[m.eq_obj1id[i]]!r} that is no linear function of one joint"
        yield what


def _equalities(m: Any) -> list[int]:
    on = switched_on(m, "CONSTRAINT", "EQUALITY")
    return [i for i in range(m.neq) if on and m.eq_active0[i]]


def _any(m: Any, field: str, index: int) -> bool:
    """Whether an entry of a field is not zero; fields that this MuJoCo lacks are."""
    return bool(np.any(getattr(m, field)[index])) if hasattr(m, field) else False
