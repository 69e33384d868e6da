"""A robot in modified Denavit-Hartenberg frames, whatever it was described in.

Frame i has its z axis on joint i and its x axis on the common normal towards the next joint, so the
frame of link i in the frame of its parent is

    T(across) Rz(γ) Rx(α) Rz(θ + turn·q) Tz(r + slide·q)

for the turn and the slide of its joint type, with across = (a, 0, 0) and γ = 0 for the child that
gave the parent its x axis; another child of it has its own γ and across (Khalil and Kleinfinger
1986). What dynamics leaves free is used: frame 1 lies on joint 1 whatever carries it, a sliding
axis passes through the origin of the next frame, antiparallel axes are made parallel by counting q
backwards (`sign`), and axes nearly parallel keep a position across with more than one component.
"""

import math
from dataclasses import replace

import numpy as np

from armdyn.arrays import Array, frozen, real
from armdyn.errors import ModelError, shown
from armdyn.model.robot import RobotModel
from armdyn.model.transform import frame_of, inverse, transform
from armdyn.shorten.canonical.model import CanonicalLink as CanonicalLink
from armdyn.shorten.canonical.model import CanonicalRobot as CanonicalRobot
from armdyn.shorten.canonical.model import cos_sin as cos_sin
from armdyn.shorten.canonical.model import is_quarter as is_quarter
from armdyn.shorten.canonical.model import torque_difference
from armdyn.shorten.canonical.model import twist as twist
from armdyn.shorten.canonical.model import with_tip_phase as with_tip_phase

LARGEST_TOLERANCE = 1e-2
"""The largest tolerance that can be asked for; anything above it is no rounding."""
ZERO_TOLERANCE = 1e-13
"""Below this a number counts as zero: an angle [rad], or a length or inertia relative to the
largest one."""
TORQUE_TOLERANCE = 1e-12
"""How far a torque may move by default, relative to the largest torque of its joint."""

_FLOAT_ROUNDING = 4e-15
"""Below this a number counts as zero at every tolerance."""
FARTHEST_ORIGIN = 1e3
"""An origin so many radii of gyration away from its link is put beside the centre of mass instead:
the moments of inertia of the link would be lost beside mass times distance squared."""


def canonical(model: RobotModel, tolerance: float = ZERO_TOLERANCE) -> CanonicalRobot:
    """The robot in modified Denavit-Hartenberg frames, with the same coordinates q.

    Args:
        model: The robot; rotors and friction are not part of the result.
        tolerance: What to take for an exact zero or quarter turn: an angle [rad], or a length or
            inertia relative to the largest. A robot file with 1.5708 needs 1e-5; what that does to
            the torques is measured, and in the `snapped` of the result. At the default or below
            nothing is taken for zero that would move a torque by more than 1e-12.
    """
    return _built(model, tolerance)[0]


def canonical_frames(model: RobotModel) -> tuple[Array, ...]:
    """The frame of each link of `canonical(model)` in the link's own, (4, 4) each."""
    return tuple(map(frozen, _built(model, ZERO_TOLERANCE)[1].frames))


def _built(model: RobotModel, tolerance: float) -> "tuple[CanonicalRobot, _Builder]":
    if not 0 <= real(tolerance) <= LARGEST_TOLERANCE:
        raise ModelError(
            "what is taken for an exact zero must lie between 0 and "
            f"{LARGEST_TOLERANCE:g}, got {shown(tolerance)}"
        )
    builder = _Builder(model, tolerance)
    robot = builder.robot()
    if builder.taken <= _FLOAT_ROUNDING:
        return robot, builder
    moved = torque_difference(model, robot)
    if tolerance <= ZERO_TOLERANCE and moved > TORQUE_TOLERANCE:
        builder = _Builder(model, _FLOAT_ROUNDING)
        return builder.robot(), builder
    return replace(robot, snapped=moved), builder


class _Builder:
    """The frames of one robot in its position q = 0.

    Directions are seen from the base, points from the link that they belong to: a short link at the
    end of a long arm would lose its digits among those of the arm.
    """

    def __init__(self, model: RobotModel, tolerance: float):
        self.model = model
        self.tolerance = max(tolerance, _FLOAT_ROUNDING)
        self.taken = 0.0
        """The largest number that was taken for zero, relative or [rad]."""
        self.rest: list[Array] = []
        self.z: list[Array] = []
        self.own_z: list[Array] = []
        """The axes seen from their links."""
        self.sign: list[int] = []
        for joint in model.joints:
            up = joint.parent
            T = (self.rest[up] if up >= 0 else np.eye(4)) @ joint.placement
            z = T[:3, :3] @ joint.axis
            flip = up >= 0 and sine(self.z[up], z) <= self.tolerance and self.z[up] @ z < 0
            self.sign.append(-1 if flip else 1)
            self.rest.append(T)
            self.z.append(-z if flip else z)
            self.own_z.append(-joint.axis if flip else joint.axis)
        self.axes: list[Array] = []
        """The axes of the canonical frames, seen from the base, once `robot` has been called."""
        self.frames: list[Array] = []
        """The canonical frames, seen from their links."""
        self.origins = self._origins()
        lengths = [np.abs(T[:3, 3] - self.rest[0][:3, 3]).max() for T in self.rest]
        lengths += [np.abs(link.inertia.com).max() for link in model.links]
        self.size = float(max(lengths)) or 1.0

    def robot(self) -> CanonicalRobot:
        links = []
        for i, joint in enumerate(self.model.joints):
            up = joint.parent
            before, gamma, alpha = self._before(i)
            x = self._x(i, before)
            theta = self._angle(before[:, 0], x, self.z[i])
            gravity = np.zeros(3)
            if up < 0:
                before, theta, gravity = self._on_base(i, x)
            self.axes.append(frame_of(x, self.z[i]))
            turned = self.rest[i][:3, :3].T @ self.axes[i]
            self.frames.append(transform(turned, self.origins[i]))
            across, r = self._across(i) if up >= 0 else (np.zeros(3), 0.0)
            J, u, M = self._inertia(i)
            links.append(
                CanonicalLink(
                    joint.name,
                    up,
                    joint.type,
                    alpha,
                    frozen([self._snap(v, self.size) for v in across]),
                    theta,
                    self._snap(r, self.size),
                    J,
                    u,
                    M,
                    gamma,
                    self.sign[i],
                    frozen(gravity),
                )
            )
        return CanonicalRobot(self.model.name, tuple(links))

    # where the frames are

    def _origins(self) -> list[Array]:
        """Origins O_i in their own links, from the tips to the base."""
        origins: list[Array] = [np.zeros(3)] * len(self.z)
        for i in reversed(range(len(self.z))):
            child = self._first_child(i)
            up = self.model.joints[i].parent
            if child is not None:
                point = self._above(child, origins[child])
                origins[i] = self._foot(i, child, point) if self._turns(i) else point
            elif self._turns(i) and up >= 0 and self._turns(up):
                origins[i] = self._foot(i, up, self._below(i, np.zeros(3)))
        return self._drag_sliding_tips(origins)

    def _drag_sliding_tips(self, origins: list[Array]) -> list[Array]:
        """A sliding last axis may be anywhere: put it through the origin of its parent."""
        for i, joint in enumerate(self.model.joints):
            up = joint.parent
            if self._turns(i) or self._first_child(i) is not None or up < 0:
                continue
            if self._first_child(up) == i and self._turns(up):
                above = self.model.joints[up].parent
                if above >= 0:
                    origins[up] = self._foot(up, above, self._below(up, origins[above]))
            origins[i] = self._below(i, origins[up])
        return origins

    def _above(self, i: int, point: Array) -> Array:
        """A point of link i, seen from its parent."""
        T = self.model.joints[i].placement
        return T[:3, :3] @ point + T[:3, 3]

    def _below(self, i: int, point: Array) -> Array:
        """A point of the parent of link i, seen from link i."""
        T = self.model.joints[i].placement
        return T[:3, :3].T @ (point - T[:3, 3])

    def _across(self, i: int) -> tuple[Array, float]:
        """How axis i lies in the frame of its parent, and the offset r along it."""
        joint = self.model.joints[i]
        up, O = joint.parent, self._above(i, self.origins[i])
        z = joint.placement[:3, :3] @ self.own_z[i]
        # the point of axis i nearest to the axis of its parent
        entry = closest(O, z, self.own_z[up], self.origins[up], self.tolerance)
        across = self.frames[up][:3, :3].T @ (entry - self.origins[up])
        return across, float((O - entry) @ z)

    def _turns(self, i: int) -> bool:
        return self.model.joints[i].type.turns

    def _first_child(self, i: int) -> int | None:
        children = self.model.children[i]
        return children[0] if children else None

    def _foot(self, i: int, other: int, point: Array) -> Array:
        """The point of axis i nearest to another axis through a point, seen from link i."""
        z, inertia = self.own_z[i], self.model.links[i].inertia
        direction = self.rest[i][:3, :3].T @ self.z[other]
        foot = closest(np.zeros(3), z, direction, point, self.tolerance)
        reach = math.sqrt(np.abs(inertia.moment).max() / inertia.mass) if inertia.mass > 0 else 0.0
        if reach and np.linalg.norm(foot) > FARTHEST_ORIGIN * reach:
            return z * (z @ inertia.com)
        return foot

    # how they are turned

    def _before(self, i: int) -> tuple[Array, float, float]:
        """Axes before the motion of joint i, with γ and α."""
        up, z = self.model.joints[i].parent, self.z[i]
        if up < 0:
            return frame_of(self._any_normal(i), z), 0.0, 0.0
        x_up, z_up = self.axes[up][:, 0], self.z[up]
        if sine(z_up, z) <= self.tolerance:
            self._take(sine(z_up, z))
            return frame_of(normal_to(x_up, z), z), 0.0, 0.0
        x = common_normal(z_up, z)
        x = -x if x @ x_up < -1e-9 else x
        gamma = self._angle(x_up, x, z_up)
        return frame_of(x, z), gamma, self._angle(z_up, z, x)

    def _x(self, i: int, before: Array) -> Array:
        """The x axis of frame i: the common normal with the first child, or none of its own."""
        child, z = self._first_child(i), self.z[i]
        x = before[:, 0]
        if child is None:
            return x
        if sine(z, self.z[child]) > self.tolerance:
            x = common_normal(z, self.z[child])
        else:
            offset = self._above(child, self.origins[child]) - self.origins[i]
            offset = self.rest[i][:3, :3] @ offset
            if np.linalg.norm(offset - z * (z @ offset)) > self.tolerance * self.size:
                x = normal_to(offset, z)
        return -x if x @ before[:, 0] < -1e-9 else x

    def _on_base(self, i: int, x: Array) -> tuple[Array, float, Array]:
        """Axes of the base for joint i, θ, and gravity in them, with one horizontal component."""
        axes = frame_of(x, self.z[i])
        g = axes.T @ self.model.base[:3, :3].T @ self.model.gravity
        size = max(float(np.linalg.norm(g)), 1e-300)
        g = np.array([self._snap(v, size) for v in g])
        if not self._turns(i) or not (g[0] and g[1]):
            return axes, 0.0, g
        phi = math.atan2(g[1], g[0])
        turned = np.array([math.hypot(g[0], g[1]), 0.0, g[2]])
        return axes, -phi, turned

    def _any_normal(self, i: int) -> Array:
        z = self.z[i]
        guess = self.rest[i][:3, 0]
        guess = guess - z * (z @ guess)
        if np.linalg.norm(guess) < 0.5:
            guess = np.cross(z, np.eye(3)[int(np.argmin(np.abs(z)))])
        return guess / np.linalg.norm(guess)

    def _angle(self, a: Array, b: Array, axis: Array) -> float:
        """The angle from a to b about an axis normal to both, quarter turns exact."""
        angle, off = turn_about(axis, a, b, self.tolerance)
        self._take(off)
        return angle

    # what they carry

    def _inertia(self, i: int) -> tuple[Array, Array, float]:
        T = inverse(self.frames[i])
        pseudo = T @ self.model.links[i].inertia.pseudo @ T.T
        J = pseudo[:3, :3]
        u = pseudo[:3, 3]
        M = float(pseudo[3, 3])
        moved = abs(M) * float(T[:3, 3] @ T[:3, 3])  # of a point mass there is no other measure
        second = max(float(np.abs(J).max()), moved) or 1.0
        first = math.sqrt(abs(M) * second) or 1.0
        J = np.array([[self._snap(v, second) for v in row] for row in 0.5 * (J + J.T)])
        return frozen(J), frozen([self._snap(v, first) for v in u]), M

    def _snap(self, value: float, scale: float) -> float:
        if abs(value) > self.tolerance * scale:
            return float(value)
        self._take(abs(value) / scale)
        return 0.0

    def _take(self, value: float) -> None:
        self.taken = max(self.taken, value)


PARALLEL_SINE = 1e-2
"""Sine of the angle below which two axes have no usable common normal."""


def sine(a: Array, b: Array) -> float:
    """The sine of the angle between two unit vectors."""
    return float(np.linalg.norm(np.cross(a, b)))


def closest(O: Array, z: Array, other: Array, point: Array, tolerance: float) -> Array:
    """The point of a line along z nearest to another; for parallel ones to the point on it."""
    angle = sine(z, other)
    if angle <= max(tolerance, PARALLEL_SINE):
        return O + z * (z @ (point - O))
    return O + z * (np.cross(point - O, other) @ np.cross(z, other)) / angle**2


def common_normal(a: Array, b: Array) -> Array:
    """The unit normal of two unit vectors, to rounding even where they are nearly parallel."""
    normal = np.cross(a, b)
    for _ in range(2):
        normal = normal_to(normal_to(normal, a), b)
    return normal


def normal_to(vector: Array, axis: Array) -> Array:
    """The direction of a vector less its part along an axis, which rounding brings back once."""
    for _ in range(2):
        vector = vector - axis * (axis @ vector)
        vector = vector / np.linalg.norm(vector)
    return vector


def turn_about(axis: Array, a: Array, b: Array, tolerance: float) -> tuple[float, float]:
    """The angle from a to b about an axis normal to both, and how far from a quarter turn it was.

    Within the tolerance it is that quarter turn; beyond, the second number is 0.
    """
    angle = math.atan2(float(np.cross(a, b) @ axis), float(a @ b))
    quarter = round(angle / (math.pi / 2)) * (math.pi / 2)
    off = abs(angle - quarter)
    return (quarter, off) if off <= tolerance else (angle, 0.0)
