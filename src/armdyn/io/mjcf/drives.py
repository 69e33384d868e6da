"""Armature, damping and friction loss that joints feel: their own, of actuators and of tendons.

An actuator behind a gear adds its armature and damping times gear² to its joint or tendon. A
tendon whose length changes by c q̇ of one coordinate adds armature and damping times c² to it, and
friction loss times |c|; with several coordinates it couples them, which a RobotModel cannot say.
Whatever else changes torques and a RobotModel does not hold is told.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np

from armdyn.arrays import Array
from armdyn.io.mjcf.equalities import Couplings, passive_forces, switched_on


@dataclass(frozen=True)
class Drives:
    """What the joints feel, by their numbers in the compiled model."""

    armature: Array
    """Inertia (njnt,) [kg m² or kg]."""
    damping: Array
    """Viscous coefficient (njnt,) [N m s/rad or N s/m]."""
    frictionloss: Array
    """Dry friction (njnt,) [N m or N]."""
    nonlinear: Array
    """Whether damping has powers of the speed, which are left out (njnt,)."""
    tendons_left: dict[int, list[str]]
    """Tendons that move with several coordinates, and their fields that are left out."""


def read_drives(m: Any, couplings: Couplings) -> Drives:
    """What the joints of a compiled model feel, where <flag> does not switch it off."""
    damped = switched_on(m, "PASSIVE", "DAMPER")
    factors = {
        "armature": 1.0,
        "damping": float(damped),
        "dampingpoly": float(damped),
        "frictionloss": float(switched_on(m, "CONSTRAINT", "FRICTIONLOSS")),
    }
    joints = {name: factor * _felt(m, "dof", name) for name, factor in factors.items()}
    tendons = {name: factor * _felt(m, "tendon", name) for name, factor in factors.items()}
    left: dict[int, list[str]] = {}
    for t in range(m.ntendon):
        arms = _moment_arms(m, t, couplings)
        if arms is None or len(arms) > 1:
            left[t] = [name for name, values in tendons.items() if np.any(values[t])]
            continue
        for j, c in arms.items():
            for name, values in joints.items():
                values[j] += tendons[name][t] * (abs(c) if name == "frictionloss" else c**2)
    nonlinear = np.any(joints.pop("dampingpoly"), axis=-1)
    return Drives(**joints, nonlinear=nonlinear, tendons_left=left)


def _felt(m: Any, target: str, name: str) -> Array:
    """A field of the joints or tendons with what actuators add to it; zeros if there is none."""
    first = m.jnt_dofadr if target == "dof" else np.arange(m.ntendon)
    shape = (len(first), 1) if name == "dampingpoly" else (len(first),)
    has_own, actuated = hasattr(m, f"{target}_{name}"), hasattr(m, f"actuator_{name}")
    felt: Array = np.array(getattr(m, f"{target}_{name}")[first]) if has_own else np.zeros(shape)
    T = mujoco.mjtTrn
    kinds = {"dof": (T.mjTRN_JOINT, T.mjTRN_JOINTINPARENT), "tendon": (T.mjTRN_TENDON,)}
    for i, kind in enumerate(m.actuator_trntype if actuated else ()):
        if int(kind) in kinds[target]:
            added = getattr(m, f"actuator_{name}")[i]
            felt[m.actuator_trnid[i, 0]] += m.actuator_gear[i, 0] ** 2 * added
    return felt


def _moment_arms(m: Any, t: int, couplings: Couplings) -> dict[int, float] | None:
    """How the length of a tendon changes with each coordinate; None unless that is constant."""
    arms: dict[int, float] = {}
    for w in range(m.tendon_adr[t], m.tendon_adr[t] + m.tendon_num[t]):
        if m.wrap_type[w] != mujoco.mjtWrap.mjWRAP_JOINT:
            return None
        joint, ratio, _ = couplings.coordinate(int(m.wrap_objid[w]))
        arms[joint] = arms.get(joint, 0.0) + ratio * float(m.wrap_prm[w])
    return {joint: arm for joint, arm in arms.items() if arm}


def unmodelled(
    m: Any, bodies: list[str], joints: list[str], drives: Drives, equalities: Mapping[int, str]
) -> Iterator[str]:
    """Everything in a compiled model that is left out, by joint and body.

    `equalities` are those that nothing stands for, with what is wrong with those of joints.
    """
    for text in (
        *_joint_terms(m, joints, drives),
        *_body_terms(m, bodies),
        *_tendon_terms(m, drives),
        *_actuator_terms(m),
        *_equalities_left(m, joints, equalities),
    ):
        yield f"{text}; armdyn leaves it out, so its torques differ from MuJoCo's"


def approximated(m: Any, joints: list[str], drives: Drives) -> Iterator[str]:
    """Ball joints whose drive is not quite that of three hinges."""
    for j in np.flatnonzero(m.jnt_type == mujoco.mjtJoint.mjJNT_BALL):
        fields = ("armature", "damping", "frictionloss")
        felt = [name for name in fields if getattr(drives, name)[j]]
        where = f"joint {joints[j]!r} is a ball, which is read as three hinges;"
        if felt:
            yield (
                f"{where} its {' and '.join(felt)} is that of each hinge, which is MuJoCo's only "
                "where the angle of the middle hinge is 0"
            )
        if m.jnt_limited[j]:
            yield f"{where} its range is left out"


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


def _equalities_left(m: Any, joints: list[str], left: Mapping[int, str]) -> Iterator[str]:
    for i, fault in left.items():
        kind = mujoco.mjtEq(m.eq_type[i]).name.removeprefix("mjEQ_").lower()
        what = f"there is an equality constraint {m.eq(i).name or i!r} of type {kind!r}"
        yield f"{what} on joint {joints[m.eq_obj1id[i]]!r} {fault}" if fault else what


def _any(m: Any, field: str, index: int) -> bool:
    """Whether an entry of a field is not zero; fields that this MuJoCo lacks are."""
    return bool(np.any(getattr(m, field)[index])) if hasattr(m, field) else False
