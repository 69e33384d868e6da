"""The rows of a closure: what two frames on two links must keep, and the wrench that keeps it.

A and B are the frames in the world, (..., 4, 4); p are origins, d = p_A - p_B. All works with
floats of any batch shape and with nodes. The wrench of a row acts on the link of A at p_A, in world
axes, and its opposite at the same point on the link of B; its power is the rate of the residual.
"""

from dataclasses import dataclass
from typing import Any

from armdyn.arrays import Array
from armdyn.model.transform import cross, dot


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
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
