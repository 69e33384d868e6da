"""What may be asked of a file when a robot is read from it."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy.typing as npt

from armdyn.model import RobotModel
from armdyn.model.validate import Finding, Physical

Reading = tuple[RobotModel, tuple[Finding, ...]]
"""A robot, and what its owner should know about the description it was read from."""


@dataclass(frozen=True, slots=True, eq=False)
class LoadOptions:
    """What to make of a description; see `armdyn.load`."""

    locked: Mapping[str, float] | None = None
    """Joints held at a value [rad or m]; they become fixed."""
    tool: str | None = None
    """The link, body, site or frame that is the flange; None: the file's, or the end of the
    longest chain."""
    gravity: npt.ArrayLike | None = None
    """Field of gravity in world axes [m/s²]; None: the file's, or (0, 0, -9.81)."""
    base: npt.ArrayLike | None = None
    """4x4 transform of the base in the world; None: the file's, or the identity."""
    physical: Physical = "error"
    """What to do about inertias that cannot exist or are missing: "error", "warn" or "ignore"."""
    fix_root: bool = False
    """Whether a floating or planar joint at the root is taken as fixed."""


DEFAULT_OPTIONS = LoadOptions()
