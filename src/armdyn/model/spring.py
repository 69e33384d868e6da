"""Springs between points of two links."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np

from armdyn.arrays import Array, frozen
from armdyn.errors import ModelError
from armdyn.model.ranges import LARGEST_LENGTH, MASS_RANGE


@dataclass(frozen=True, slots=True, eq=False)
class Spring:
    """A linear spring whose energy is ½ k (|p - a| - l)².

    Points are in the frames of their links, whose origins are on the joints.
    """

    link: int
    """Index of the link on which the point p is; -1 is the base."""
    point: Array
    """p in the frame of that link, shape (3,) [m]."""
    other: int
    """Index of the link on which the anchor a is; -1 is the base."""
    anchor: Array
    """a in the frame of the other link, shape (3,) [m]."""
    stiffness: float
    """k [N/m]."""
    free_length: float = 0.0
    """l [m]; 0 is an ideal spring, as a wire over a pulley makes one, and a negative one is wound
    with a tension of its own."""
    name: str = ""

    def moved(self, host: Callable[[int], tuple[int, Array]]) -> "Spring":
        """The spring with its ends on other links: the new one, and the old one's place in it."""
        (link, P), (other, A) = host(self.link), host(self.other)
        point = frozen(P[:3, :3] @ self.point + P[:3, 3])
        anchor = frozen(A[:3, :3] @ self.anchor + A[:3, 3])
        return replace(self, link=link, point=point, other=other, anchor=anchor)

    @property
    def fault(self) -> str:
        """Why no robot can have this spring; empty if one can."""
        if self.link == self.other:
            return "both ends are on one link, so that it does nothing"
        for end, place in (("point", self.point), ("anchor", self.anchor)):
            if not (np.abs(place) <= LARGEST_LENGTH).all():
                return f"its {end} is farther than {LARGEST_LENGTH:g} m away, {place.tolist()}"
        if not 0 <= self.stiffness <= MASS_RANGE[1]:
            return f"its stiffness must be finite and not negative, got {self.stiffness!r}"
        if not abs(self.free_length) <= LARGEST_LENGTH:
            return f"its free_length must be finite, got {self.free_length!r}"
        return ""


def check_springs(robot: str, springs: Sequence[Spring], taken: Collection[str]) -> None:
    """A ModelError if a robot cannot have these springs beside the names that it has."""
    names = set(taken)
    for spring in springs:
        where = f"spring {spring.name!r} of {robot!r}"
        if not spring.name or spring.name in names:
            raise ModelError(
                f"{where}: a joint, drive, link or spring has this name; give each its own"
                if spring.name
                else f"{where}: it has no name"
            )
        names.add(spring.name)
        if spring.fault:
            raise ModelError(f"{where}: {spring.fault}")
