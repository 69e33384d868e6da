"""Links: what moves together, the parts it was made of, and springs between them."""

import math
from collections.abc import Callable, Mapping
from dataclasses import field, replace

import numpy as np

from armdyn.arrays import Array, frozen, record
from armdyn.model.inertia import LARGEST_LENGTH, MASS_RANGE, Inertia
from armdyn.model.transform import IDENTITY


@record(eq=False)
class Body:
    """A part of a link as its description gave it: a link of the file, or a payload."""

    name: str
    inertia: Inertia
    """In its own frame."""
    placement: Array = field(default_factory=lambda: IDENTITY)
    """Its frame in the frame on the joint of the link, shape (4, 4)."""
    payload: bool = False
    """Whether it can be put down again."""


@record(eq=False)
class Frame:
    """A named place on a link."""

    name: str
    link: int
    """Index of the link; -1 is the base."""
    placement: Array = field(default_factory=lambda: IDENTITY)
    """The frame in the frame on the joint of the link, shape (4, 4)."""


@record(eq=False)
class LinkParts:
    """What a description puts on a link, all in the frame of the link."""

    bodies: tuple[Body, ...]
    places: tuple[tuple[str, Array], ...]
    """Names and placements, (4, 4), of its frames."""


@record(eq=False)
class Link:
    """Everything that moves with one joint, fixed joints merged."""

    name: str
    bodies: tuple[Body, ...]
    """The original parts, kept for reports."""
    inertia: Inertia = field(init=False)
    """The inertia of all parts together, in the frame on the joint that carries the link."""

    def __post_init__(self) -> None:
        if len(self.bodies) == 1 and self.bodies[0].placement is IDENTITY:
            total = self.bodies[0].inertia
        else:
            total = sum((b.inertia.moved(b.placement) for b in self.bodies), Inertia.zero())
        object.__setattr__(self, "inertia", total)


@record(eq=False)
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
        if not self.name:
            return "it has no name"
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


@record
class JointSpring:
    """A linear spring that joints wind up, whose energy is ½ k (Σ r q - l)²."""

    ratios: tuple[tuple[str, float], ...]
    """The joints that wind it, and how much each does."""
    stiffness: float
    """k [N m/rad, or N/m of slides]."""
    free_length: float = 0.0
    """l, where it is slack [rad or m]."""
    name: str = ""

    def moved(self, host: Callable[[int], tuple[int, Array]]) -> "JointSpring":
        """The spring itself: joints are where they were."""
        return self

    def held(self, values: Mapping[str, float]) -> "JointSpring":
        """The spring where some of its joints are held at values."""
        turned = sum(ratio * values.get(joint, 0.0) for joint, ratio in self.ratios)
        left = tuple(pair for pair in self.ratios if pair[0] not in values)
        return replace(self, ratios=left, free_length=self.free_length - turned)

    @property
    def fault(self) -> str:
        """Why no robot can have this spring; empty if one can."""
        if not self.name:
            return "it has no name"
        if not self.ratios or not all(math.isfinite(r) and r for _, r in self.ratios):
            return f"its joints need finite ratios other than 0, got {dict(self.ratios)}"
        if not 0 <= self.stiffness <= MASS_RANGE[1]:
            return f"its stiffness must be finite and not negative, got {self.stiffness!r}"
        if not math.isfinite(self.free_length):
            return f"its free_length must be finite, got {self.free_length!r}"
        return ""
