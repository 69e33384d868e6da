"""Loops: joints that close a tree, each between a frame on one link and a frame on another."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from armdyn.arrays import Array
from armdyn.errors import LoopError
from armdyn.model.cut_joints import COUPLING, CutJoint
from armdyn.model.joint import Joint
from armdyn.model.transform import IDENTITY


@dataclass(frozen=True, slots=True, eq=False)
class Loop:
    """A cut joint: frame a on link a and frame b on link b stay together as it says."""

    name: str
    cut: CutJoint
    link_a: int
    """Index of the link that carries frame a; -1 is the base."""
    link_b: int
    """Index of the link that carries frame b; -1 is the base."""
    frame_a: Array = field(default_factory=lambda: IDENTITY)
    """Frame a in the frame on the joint of link a, shape (4, 4)."""
    frame_b: Array = field(default_factory=lambda: IDENTITY)
    """Frame b in the frame on the joint of link b, shape (4, 4)."""
    length: float = 0.0
    """Distance of the two origins, of a cut joint that has one [m]."""
    coefficients: tuple[float, ...] = ()
    """Of a coupling, where the joints of links a and b count: q_a = c₀ + c₁ q_b + c₂ q_b² + ..."""

    @property
    def couples(self) -> bool:
        """Whether it couples the positions of two joints, whose links need not meet."""
        return self.cut == COUPLING

    @property
    def conditions(self) -> int:
        """How many conditions it sets."""
        return 1 if self.couples else len(self.cut.rows)

    @property
    def where(self) -> str:
        """What it is called in errors."""
        return f"loop {self.name!r}"

    @property
    def fault(self) -> str:
        """Why no robot can have this loop; empty if one can."""
        if self.couples or self.coefficients:
            return self._coupling_fault
        if self.link_a == self.link_b:
            return "both ends are on one link, so there is nothing to close"
        if not (np.isfinite(self.frame_a).all() and np.isfinite(self.frame_b).all()):
            return "a frame is not finite"
        if self.cut.has_length and not 0 < self.length < np.inf:
            return f"its length is a positive number of metres, got {self.length!r}"
        if self.length and not self.cut.has_length:
            return f"a {self.cut.name} cut joint has no length, got {self.length!r}"
        return ""

    @property
    def _coupling_fault(self) -> str:
        if not self.couples:
            return f"a {self.cut.name} cut joint has no coefficients"
        if self.link_a == self.link_b:
            return "a joint cannot follow itself"
        if not np.isfinite(self.coefficients).all():
            return f"its coefficients are finite numbers, got {list(self.coefficients)}"
        if not any(self.coefficients[1:]):
            return (
                "a joint follows another by coefficients c0, c1, ... of its powers, one of which "
                f"after c0 is not zero, got {list(self.coefficients)}; lock a joint that stands"
            )
        return ""


def check_loops(
    joints: Sequence[Joint], loops: Sequence[Loop], paths: Sequence[tuple[int, ...]]
) -> None:
    """Refuse loops that are none, and joints without a motor that nothing moves.

    `paths` has for each link the joints from the base to it.
    """
    passive = [joint.name for joint in joints if not joint.actuated]
    if not loops:
        for name in passive:
            raise LoopError(
                f"joint {name!r} is not actuated, and there is no loop that moves it; close one "
                "by [[loops]], or leave actuated = false out"
            )
        return
    seen: list[str] = []
    for loop in loops:
        if loop.name in seen:
            raise LoopError(f"two loops are named {loop.name!r}; give each its own name")
        seen.append(loop.name)
        _check_loop(joints, loop, paths)
    _check_couplings(joints, [loop for loop in loops if loop.couples])
    for joint in joints:
        if joint.mimic is not None:
            raise LoopError(
                f"joint {joint.name!r} mimics {joint.mimic.leader!r} and the robot has loops; "
                "write what it follows as a loop, or the loops as joints that mimic others"
            )
    if len(passive) == len(joints):
        raise LoopError("no joint is actuated; the coordinates of a robot are its actuated joints")


def _check_couplings(joints: Sequence[Joint], couplings: Sequence[Loop]) -> None:
    """Refuse a joint that follows two others, that follows and has a motor, or follows itself."""
    leaders: dict[int, int] = {}
    for loop in couplings:
        name = joints[loop.link_a].name
        if loop.link_a in leaders:
            raise LoopError(f"{loop.where}: joint {name!r} follows another one", loop=loop.name)
        if joints[loop.link_a].actuated:
            raise LoopError(f"{loop.where}: joint {name!r} follows, and is actuated; it cannot be")
        leaders[loop.link_a] = loop.link_b
        leader = loop.link_b
        while leader in leaders:
            leader = leaders[leader]
            if leader == loop.link_a:
                raise LoopError(f"{loop.where}: joint {name!r} follows itself", loop=loop.name)


def _check_loop(joints: Sequence[Joint], loop: Loop, paths: Sequence[tuple[int, ...]]) -> None:
    """Refuse a loop that is none, or around which no joint is passive."""
    if loop.fault:
        raise LoopError(f"{loop.where}: {loop.fault}", loop=loop.name)
    for end, link in (("a", loop.link_a), ("b", loop.link_b)):
        if not (0 if loop.couples else -1) <= link < len(joints):
            raise LoopError(f"{loop.where}: there is no link {link} for its end {end}")
    around = cycle(paths, loop)
    if all(joints[i].actuated for i in around):
        names = ", ".join(repr(joints[i].name) for i in around) or "no joint"
        raise LoopError(
            f"{loop.where}: every joint around it is actuated ({names}), so none can follow; "
            "set actuated = false for the joints without a motor",
            loop=loop.name,
        )


def cycle(paths: Sequence[tuple[int, ...]], loop: Loop) -> tuple[int, ...]:
    """The joints of the tree around a loop: those that move one of its ends and not the other.

    Of a coupling these are the two joints.
    """
    if loop.couples:
        return tuple(sorted((loop.link_a, loop.link_b)))
    a, b = (set(paths[link]) if link >= 0 else set() for link in (loop.link_a, loop.link_b))
    return tuple(sorted(a ^ b))
