"""Links: what moves together, and the parts it was made of."""

from dataclasses import dataclass, field

from armdyn.arrays import Array
from armdyn.model.inertia import Inertia
from armdyn.model.transform import IDENTITY


@dataclass(frozen=True, slots=True, eq=False)
class Body:
    """A part of a link as its description gave it: a link of the file, or a payload."""

    name: str
    inertia: Inertia
    """In its own frame."""
    placement: Array = field(default_factory=lambda: IDENTITY)
    """Its frame in the frame on the joint of the link, shape (4, 4)."""
    payload: bool = False
    """Whether it can be put down again."""


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """A named place on a link."""

    name: str
    link: int
    """Index of the link; -1 is the base."""
    placement: Array = field(default_factory=lambda: IDENTITY)
    """The frame in the frame on the joint of the link, shape (4, 4)."""


@dataclass(frozen=True, slots=True, eq=False)
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
