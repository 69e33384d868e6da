"""The features of MuJoCo that <flag> in a file switches off."""

from typing import Any

import mujoco


def switched_on(m: Any, *features: str) -> bool:
    """Whether none of these features of MuJoCo is disabled by <flag> in the file."""
    bits = (getattr(mujoco.mjtDisableBit, f"mjDSBL_{name}", 0) for name in features)
    return not any(m.opt.disableflags & int(bit) for bit in bits)


def passive_forces(m: Any) -> bool:
    """Whether there are passive forces other than those of springs and dampers."""
    return switched_on(m, "PASSIVE") and (switched_on(m, "SPRING") or switched_on(m, "DAMPER"))
