"""The elements of the equations of motion, and what is known about each."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from armdyn.arrays import Array

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


@dataclass(frozen=True, slots=True, eq=False)
class Structure:
    """The elements of D, h and g of a robot, over all its moving joints."""

    robot: str
    title: str
    """What people call the robot."""
    joints: tuple[str, ...]
    mimics: tuple[str, ...]
    """Joints that follow another one; here they count as joints of their own."""
    D: Array
    """Mass matrix with rotors, (n, n)."""
    h: Array
    """Christoffel symbols h[i, k, m] = h[i, m, k], (n, n, n)."""
    g: Array
    """Torques of gravity, (n,)."""

    def __repr__(self) -> str:
        parts = (f"{k}: {c['zero']} of {sum(c.values())} zero" for k, c in self.counts.items())
        return f"<Structure of {self.robot!r}, {', '.join(parts)}>"

    def different(self) -> Iterator[tuple[str, tuple[int, ...], StructureElement]]:
        """Each different element with its letter and its place, counted from 1."""
        for letter, table in (("D", self.D), ("h", self.h), ("g", self.g)):
            for place, element in np.ndenumerate(table):
                if not is_mirror(place):
                    yield letter, tuple(i + 1 for i in place), element

    @property
    def counts(self) -> dict[str, dict[str, int]]:
        """How many different elements of D, h and g are zero, constant or vary."""
        counts = {letter: dict.fromkeys(get_args(Status), 0) for letter in "Dhg"}
        for letter, _, element in self.different():
            counts[letter][element.status] += 1
        return counts


def is_mirror(place: tuple[int, ...]) -> bool:
    """Whether the element is equal to another one by symmetry: D_ji = D_ij, h_imk = h_ikm."""
    return len(place) > 1 and place[-2] > place[-1]
