"""What an MJCF file may have that changes torques and that a RobotModel does not hold."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

from armdyn.io.mjcf.couplings import Couplings
from armdyn.io.mjcf.drives import Drives
from armdyn.io.mjcf.switches import passive_forces, switched_on
from armdyn.model.validate import Finding


def unmodelled(
    m: Any, path: Path, bodies: list[str], joints: list[str], drives: Drives, couplings: Couplings
) -> Iterator[Finding]:
    """Everything in a compiled model that is left out, by joint and body."""
    for text in (
        *_joint_terms(m, joints, drives),
        *_body_terms(m, bodies),
        *_tendon_terms(m, drives),
        *_actuator_terms(m),
        *_equalities_left(m, joints, couplings),
    ):
        message = f"{path}: {text}; armdyn leaves it out, so its torques differ from MuJoCo's"
        yield Finding("warning", str(path), message)


def approximated(m: Any, path: Path, joints: list[str], drives: Drives) -> Iterator[Finding]:
    """Ball joints whose drive is not quite that of three hinges."""
    for j in np.flatnonzero(m.jnt_type == mujoco.mjtJoint.mjJNT_BALL):
        fields = ("armature", "damping", "frictionloss")
        felt = [name for name in fields if getattr(drives, name)[j]]
        where = f"{path}: joint {joints[j]!r} is a ball, which is read as three hinges;"
        if felt:
            message = (
                f"{where} its {' and '.join(felt)} is that of each hinge, which is MuJoCo's only "
                "where the angle of the middle hinge is 0"
            )
            yield Finding("warning", str(path), message)
        if m.jnt_limited[j]:
            yield Finding("warning", str(path), f"{where} its range is left out")


def _joint_terms(m: Any, joints: list[str], drives: Drives) -> Iterator[str]:
    for j, name in enumerate(joints):
        stiff = m.jnt_stiffness[j] or _any(m, "jnt_stiffnesspoly", j)
        if stiff and switched_on(m, "PASSIVE", "SPRING"):
            yield f"joint {name!r} has a spring (stiffness {m.jnt_stiffness[j]:g})"
        if drives.nonlinear[j]:
            yield f"joint {name!r} has damping that is not linear in its speed"


def _body_terms(m: Any, bodies: list[str]) -> Iterator[str]:
    compensated = passive_forces(m) and switched_on(m, "GRAVITY")
    for i, name in enumerate(bodies):
        if m.body_gravcomp[i] and compensated and _has_passive_joint(m, i):
            yield f"body {name!r} has its gravity compensated (gravcomp {m.body_gravcomp[i]:g})"
        if m.body_mocapid[i] >= 0:
            yield f"body {name!r} is moved from outside (mocap)"
    if (m.opt.density or m.opt.viscosity) and passive_forces(m):
        yield (
            f"the bodies move in a fluid (density {m.opt.density:g}, viscosity {m.opt.viscosity:g})"
        )
    if m.nflex:
        yield "there are deformable bodies (flex)"
    if m.nplugin:
        yield "there are plugins"


def _has_passive_joint(m: Any, body: int) -> bool:
    """Whether a joint that carries a body has its compensation as a passive force."""
    active = getattr(m, "jnt_actgravcomp", np.zeros(m.njnt))
    while body:
        if not np.all(active[m.body_jntadr[body] :][: m.body_jntnum[body]]):
            return True
        body = m.body_parentid[body]
    return False


def _tendon_terms(m: Any, drives: Drives) -> Iterator[str]:
    springs = switched_on(m, "PASSIVE", "SPRING")
    for t in range(m.ntendon):
        stiff = _any(m, "tendon_stiffness", t) or _any(m, "tendon_stiffnesspoly", t)
        felt = ["stiffness"] * (springs and stiff) + drives.tendons_left.get(t, [])
        if felt:
            yield f"tendon {m.tendon(t).name or t!r} has {' and '.join(felt)}"


def _actuator_terms(m: Any) -> Iterator[str]:
    """Actuators that act whatever the controls are; the others give the torque that is asked."""
    gains = (mujoco.mjtGain.mjGAIN_FIXED, mujoco.mjtGain.mjGAIN_AFFINE)
    for i in np.flatnonzero(m.actuator_biastype != mujoco.mjtBias.mjBIAS_NONE):
        idle = int(m.actuator_gaintype[i]) in gains and not np.any(m.actuator_gainprm[i][:3])
        without_input = hasattr(m, "actuator_ctrlnum") and not m.actuator_ctrlnum[i]
        if without_input or (idle and np.any(m.actuator_biasprm[i])):
            yield f"actuator {m.actuator(i).name or i!r} acts without a control"


def _equalities_left(m: Any, joints: list[str], couplings: Couplings) -> Iterator[str]:
    for i, fault in couplings.left.items():
        kind = mujoco.mjtEq(m.eq_type[i]).name.removeprefix("mjEQ_").lower()
        what = f"there is an equality constraint {m.eq(i).name or i!r} of type {kind!r}"
        yield f"{what} on joint {joints[m.eq_obj1id[i]]!r} {fault}" if fault else what


def _any(m: Any, field: str, index: int) -> bool:
    """Whether an entry of a field is not zero; fields that this MuJoCo lacks are."""
    return bool(np.any(getattr(m, field)[index])) if hasattr(m, field) else False
