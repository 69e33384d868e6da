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
    tool: str | None = None
    gravity: npt.ArrayLike | None = None
    base: npt.ArrayLike | None = None
    physical: Physical = "error"
    fix_root: bool = False
    expand: bool = True
    """Whether macros of xacro are expanded, which evaluates expressions of the file."""


DEFAULT_OPTIONS = LoadOptions()
