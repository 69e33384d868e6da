"""Armature, damping and friction loss that joints feel: their own, of actuators and of tendons.

An actuator behind a gear adds its armature and damping times gear² to its joint or tendon. A
tendon whose length changes by c q̇ of one coordinate adds armature and damping times c² to it, and
friction loss times |c|; with several coordinates it couples them, which a RobotModel cannot say.
"""

from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np

from armdyn.arrays import Array
from armdyn.io.mjcf.couplings import Couplings
from armdyn.io.mjcf.switches import switched_on


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
