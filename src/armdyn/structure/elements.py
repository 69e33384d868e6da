"""The elements of the equations of motion, and what is known about each."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Status = Literal["zero", "constant", "varies"]


@dataclass(frozen=True, slots=True)
class StructureElement:
    """One element of D, h or g."""

    status: Status
    joints: tuple[int, ...] = ()
    """The joints it depends on, counted from 1."""
    reason: str = ""
    """Why it is zero, constant, or constant up to rounding."""
    low: float = 0.0
    """Lowest value over random configurations within the limits."""
    high: float = 0.0
    rounding: bool = False
    """Whether it varies in symbols, but only by rounding with the numbers of this robot."""
    parameters: tuple[str, ...] = ()
    """Inertial parameters that are zero, each of which would undo the status."""


ElementRow = tuple[StructureElement, ...]
ElementGrid = tuple[ElementRow, ...]


@dataclass(frozen=True, slots=True)
class ElementTables:
    """The elements of D, h and g of a robot, over all its moving joints."""

    robot: str
    title: str
    """What people call the robot."""
    joints: tuple[str, ...]
    mimics: tuple[str, ...]
    """Joints that follow another one; here they count as joints of their own."""
    D: ElementGrid
    """Mass matrix with rotors: D[i][j]."""
    h: tuple[ElementGrid, ...]
    """Christoffel symbols h[i][k][m] = h[i][m][k]."""
    g: ElementRow
    """Torques of gravity."""

    @property
    def counts(self) -> dict[str, dict[str, int]]:
        """How many different elements of D, h and g are zero, constant or vary."""
        n = range(len(self.joints))
        each: dict[str, Iterable[StructureElement]] = {
            "D": (self.D[i][j] for i in n for j in n[i:]),
            "h": (self.h[i][k][m] for i in n for k in n for m in n[k:]),
            "g": self.g,
        }
        found = {name: Counter(e.status for e in elements) for name, elements in each.items()}
        return {
            name: {status: count[status] for status in ("zero", "constant", "varies")}
            for name, count in found.items()
        }
