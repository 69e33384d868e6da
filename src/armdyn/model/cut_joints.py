"""The joints that close loops as a table: what each keeps of two frames.

A row of a closure is what two frames on two links must keep, and the wrench that keeps it. A and B
are the frames in the world, (..., 4, 4); p are origins, d = p_A - p_B. All works with floats of any
batch shape and with nodes. The wrench of a row acts on the link of A at p_A, in world axes, and its
opposite at the same point on the link of B; its power is the rate of the residual. A loop is such a
joint between a frame on one link and a frame on another.
"""

from collections.abc import Sequence
from dataclasses import field
from typing import Any

import numpy as np

from armdyn.arrays import Array, record
from armdyn.errors import LoopError, check_known
from armdyn.model.joint import Joint
from armdyn.model.transform import IDENTITY, cross, dot


@record
class FrameMotion:
    """A frame in the world that moves, with accelerations for joints at constant rates."""

    T: Array
    """The frame, (..., 4, 4)."""
    v: Array
    """Velocity of its origin, (..., 3)."""
    w: Array
    """Angular velocity, (..., 3)."""
    a: Array
    """Acceleration of its origin, (..., 3)."""
    dw: Array
    """Angular acceleration, (..., 3)."""

    def axis(self, i: int) -> Array:
        """The axis x, y or z of the frame for i = 0, 1 or 2, (..., 3)."""
        return self.T[..., :3, i]

    @property
    def p(self) -> Array:
        """The origin, (..., 3)."""
        return self.T[..., :3, 3]


@record
class Slide:
    """The origin of A stays in the plane through that of B whose normal is an axis of B."""

    n: int
    """Which axis of B: 0, 1 or 2."""

    def residual(self, A: Array, B: Array, length: float) -> Any:
        """n · d [m]."""
        return dot(B[..., :3, self.n], A[..., :3, 3] - B[..., :3, 3])

    def wrench(self, A: Array, B: Array) -> tuple[Array, Array]:
        """A force along the normal."""
        n = B[..., :3, self.n]
        return n, 0.0 * n

    def bias(self, A: FrameMotion, B: FrameMotion) -> Any:
        """The second derivative of the residual at constant rates."""
        n, d, dd = B.axis(self.n), A.p - B.p, A.v - B.v
        turning = cross(B.w, n)
        return (
            dot(n, A.a - B.a)
            + 2.0 * dot(turning, dd)
            + dot(cross(B.dw, n) + cross(B.w, turning), d)
        )


@record
class Normal:
    """An axis of A stays normal to an axis of B."""

    u: int
    """Which axis of A."""
    n: int
    """Which axis of B."""

    def residual(self, A: Array, B: Array, length: float) -> Any:
        """u · n."""
        return dot(A[..., :3, self.u], B[..., :3, self.n])

    def wrench(self, A: Array, B: Array) -> tuple[Array, Array]:
        """A moment about what is normal to both."""
        m = cross(A[..., :3, self.u], B[..., :3, self.n])
        return 0.0 * m, m

    def bias(self, A: FrameMotion, B: FrameMotion) -> Any:
        """The second derivative of the residual at constant rates."""
        u, n = A.axis(self.u), B.axis(self.n)
        changing = cross(cross(A.w, u), n) + cross(u, cross(B.w, n))
        return dot(cross(u, n), A.dw - B.dw) + dot(changing, A.w - B.w)


@record
class Distance:
    """The origins stay at one distance."""

    def residual(self, A: Array, B: Array, length: float) -> Any:
        """(d · d - length²) / 2 [m²]."""
        d = A[..., :3, 3] - B[..., :3, 3]
        return 0.5 * (dot(d, d) - length * length)

    def wrench(self, A: Array, B: Array) -> tuple[Array, Array]:
        """A force along the line between the origins."""
        d = A[..., :3, 3] - B[..., :3, 3]
        return d, 0.0 * d

    def bias(self, A: FrameMotion, B: FrameMotion) -> Any:
        """The second derivative of the residual at constant rates."""
        dd = A.v - B.v
        return dot(A.p - B.p, A.a - B.a) + dot(dd, dd)


Row = Slide | Normal | Distance


POINT: tuple[Row, ...] = (Slide(0), Slide(1), Slide(2))
"""Two origins in one place."""
PARALLEL: tuple[Row, ...] = (Normal(2, 0), Normal(2, 1))
"""Two z axes in one direction."""
ALIGNED: tuple[Row, ...] = (Normal(0, 1), Normal(1, 2), Normal(2, 0))
"""Three axes in one direction each."""


@record
class CutJoint:
    """A joint that closes a loop, between a frame on one link and a frame on another."""

    name: str
    """Name in TOML files and reports."""
    rows: tuple[Row, ...]
    """What it keeps; some of it may follow from the rest of a loop."""
    about: str
    """What it leaves free, in words."""
    has_length: bool = False
    """Whether it has a length, that between the two origins."""

    @property
    def slides(self) -> tuple[int, ...]:
        """Axes of frame b along which it slides; a rod of one length leaves no axis by itself."""
        return () if self.has_length else tuple(k for k in range(3) if Slide(k) not in self.rows)


COUPLING = CutJoint("coupling", (), "one joint follows a polynomial of the position of another")
"""No joint between links, but a joint that follows another, as by gears or cams."""
CUT_JOINTS = {
    kind.name: kind
    for kind in (
        CutJoint("revolute", (*POINT, *PARALLEL), "turns about the z axes of both frames"),
        CutJoint(
            "prismatic", (*ALIGNED, Slide(0), Slide(1)), "slides along the z axes of both frames"
        ),
        CutJoint(
            "cylindrical",
            (*PARALLEL, Slide(0), Slide(1)),
            "turns about and slides along the z axes of both frames",
        ),
        CutJoint("spherical", POINT, "turns freely about one point"),
        CutJoint(
            "planar",
            (*PARALLEL, Slide(2)),
            "slides in the plane of the x and y axes of frame b and turns about its normal",
        ),
        CutJoint(
            "distance",
            (Distance(),),
            "a light rod of one length between two balls",
            has_length=True,
        ),
        CutJoint("fixed", (*POINT, *ALIGNED), "holds the two frames together"),
        COUPLING,
    )
}
"""Every cut joint by its name."""


def cut_joint(name: str) -> CutJoint:
    """The cut joint of that name."""
    check_known("cut joint of a loop named", name, CUT_JOINTS)
    return CUT_JOINTS[name]


def polynomial(coefficients: Sequence[float], x: Any) -> Any:
    """c₀ + c₁ x + c₂ x² + ... of floats of any batch shape or of a node."""
    total: Any = 0.0
    for c in reversed(coefficients):
        total = total * x + c
    return total


def derivative(coefficients: Sequence[float]) -> tuple[float, ...]:
    """The coefficients of the derivative."""
    return tuple(k * c for k, c in enumerate(coefficients))[1:]


def composed(outer: Sequence[float], inner: Sequence[float]) -> tuple[float, ...]:
    """The coefficients of a polynomial of a polynomial."""
    total: list[float] = []
    for c in reversed(outer):
        product = [0.0] * (len(total) + len(inner) - 1 if total else 1)
        for i, a in enumerate(total):
            for j, b in enumerate(inner):
                product[i + j] += a * b
        product[0] += c
        total = product
    return tuple(total)


@record(eq=False)
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
