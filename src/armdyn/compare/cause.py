"""A cause of a difference: what another library makes of a robot, as a change to it."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from armdyn.arrays import Array
from armdyn.model import Body, Joint, Link, RobotModel

Edit = Callable[[RobotModel], RobotModel]


@dataclass(frozen=True, eq=False)
class Cause:
    """A reason for a difference."""

    name: str
    """A word or two, for programs."""
    text: str
    """What the library does, to follow its name."""
    slots: frozenset[str]
    """What it decides about."""
    edit: Edit = field(default=lambda model: model)
    rigid: bool = False
    """Whether the links are concerned, and not only friction and rotors."""
    signs: Array | None = None
    """What the position of each joint is multiplied by, (N,)."""
    uncouples: bool = False
    """Whether joints that follow others are on their own."""
    adds: Array | None = None
    """A torque of the library's own, (m, N)."""


def each_joint(change: Callable[[Joint], Joint]) -> Edit:
    """A change to every joint."""
    return lambda model: replace(model, joints=tuple(map(change, model.joints)))


def each_body(change: Callable[[Body], Body]) -> Edit:
    """A change to every part of every moving link."""

    def link(given: Link) -> Link:
        return Link(given.name, tuple(map(change, given.bodies)))

    return lambda model: replace(model, links=tuple(map(link, model.links)))
