"""Where the tool or a link is, and how it moves with the joints."""

from dataclasses import replace
from functools import partial

import numpy as np

from armdyn.arrays import Array
from armdyn.formulations import kinematics as kin
from armdyn.formulations.lagrange_euler import homogeneous
from armdyn.model import Frame
from armdyn.quantities.otherwise import IN_NUMPY
from armdyn.quantities.quantity import Quantity
from armdyn.quantities.traced_robot import TracedRobot


def _forward_kinematics(s: TracedRobot, q: Array) -> Array:
    frames = kin.world_frames(s.plain, s.here(q).q)
    return homogeneous(*kin.frame_in_world(frames, s.plain.frame(s.request.link)))


def _jacobian(s: TracedRobot, q: Array) -> Array:
    return s.here(q).columns(kin.jacobian(s.plain, s.here(q).q, *frames_of(s)))


def _jacobian_dot(s: TracedRobot, q: Array, qd: Array) -> Array:
    at, frames = s.here(q), frames_of(s)
    J = kin.jacobian(s.plain, at.q, *frames)
    return at.columns_rate(J, kin.jacobian_rate(s.plain, at.q, at.rates(qd), *frames), qd)


def _frame_motion(s: TracedRobot, q: Array, qd: Array, qdd: Array) -> Array:
    at, frames = s.here(q), frames_of(s)
    rates, J = at.rates(qd), kin.jacobian(s.plain, at.q, *frames)
    J_rate = kin.jacobian_rate(s.plain, at.q, rates, *frames)
    return np.stack([J @ rates, J @ at.accelerations(qd, qdd) + J_rate @ rates])


def _link_frames(s: TracedRobot, q: Array) -> Array:
    frames = kin.world_frames(s.plain, s.here(q).q)
    places = [kin.frame_in_world(frames, s.plain.frame(link.name)) for link in s.model.links]
    return np.stack([homogeneous(*place) for place in places])


def _joint_frames(s: TracedRobot, q: Array) -> Array:
    frames = kin.world_frames(s.plain, s.here(q).q)
    return np.stack([homogeneous(R, O) for R, O in zip(frames.R, frames.O, strict=True)])


def _link_jacobians(s: TracedRobot, q: Array) -> Array:
    at, axes = s.here(q), frames_of(s)[1]
    each = [kin.jacobian(s.plain, at.q, s.plain.frame(x.name), axes) for x in s.model.links]
    return np.stack([at.columns(J) for J in each])


def frames_of(s: TracedRobot) -> tuple[Frame, Frame | None]:
    """The frame that moves, and the one whose axes are meant; None: those of the world."""
    axes = s.request.frame
    return s.plain.frame(s.request.link), None if axes == "world" else s.plain.frame(axes)


_of_frame = partial(Quantity, options=("link", "frame"), otherwise=IN_NUMPY)
FORWARD_KINEMATICS = Quantity(
    "forward_kinematics",
    "The frame of {link} in the world.",
    ("q",),
    _forward_kinematics,
    symbol="T",
    result="homogeneous transform, lengths in m: columns x, y, z, origin",
    shape=(4, 4),
    options=("link",),
    exported=True,
    otherwise=IN_NUMPY,
)
JACOBIAN = _of_frame(
    "jacobian",
    "Geometric Jacobian of {link} in {frame} axes: (v, omega) = J qd.",
    ("q",),
    _jacobian,
    symbol="J",
    result="three linear rows [m/s], then three angular [rad/s], for each unit of qd",
    shape=(6, "n"),
    exported=True,
)
JACOBIAN_DOT = _of_frame(
    "jacobian_dot",
    "Derivative in time of the Jacobian of {link} in {frame} axes.",
    ("q", "qd"),
    _jacobian_dot,
    symbol="Jd",
    result="three linear rows, then three angular",
    shape=(6, "n"),
)
FRAME_MOTION = _of_frame(
    "frame_motion",
    "Velocity and acceleration of {link} in {frame} axes: J qd, and J qdd + dJ/dt qd.",
    ("q", "qd", "qdd"),
    _frame_motion,
    symbol="V",
    result="velocity, then acceleration: linear [m/s, m/s^2], then angular [rad/s, rad/s^2]",
    shape=(2, 6),
)
LINK_FRAMES = Quantity(
    "link_frames",
    "The frame that every link is named after, in the world.",
    ("q",),
    _link_frames,
    symbol="Ts",
    result="homogeneous transforms, lengths in m: columns x, y, z, origin",
    shape=("N", 4, 4),
)
JOINT_FRAMES = replace(
    LINK_FRAMES,
    name="joint_frames",
    doc="The frame on the joint of every link in the world, in which reactions in joint axes are.",
    build=_joint_frames,
)
LINK_JACOBIANS = Quantity(
    "link_jacobians",
    "Geometric Jacobians of the frames of every link in {frame} axes: (v, omega) = J qd.",
    ("q",),
    _link_jacobians,
    symbol="Js",
    result="three linear rows [m/s], then three angular [rad/s], for each unit of qd",
    shape=("N", 6, "n"),
    options=("frame",),
)
