"""The robot in modified Denavit-Hartenberg frames: as data, and as formulations take it."""

import math
from dataclasses import field, replace
from typing import Any

import numpy as np

from armdyn.arrays import Array, frozen, record
from armdyn.formulations.augmented_body import augmented_body
from armdyn.graph.nodes import Node
from armdyn.model import Body, Frame, Inertia, Joint, Link, RobotModel
from armdyn.model.joint_types import JointType
from armdyn.model.robot import paths_from_parents
from armdyn.model.transform import IDENTITY, quarter_exact, rotation_z

Scalar = Any
"""A number, or an expression node where the robot is symbolic."""


@record(eq=False)
class CanonicalLink:
    """Link i with the joint that carries it; entries are numbers or nodes."""

    name: str
    """Name of the joint."""
    parent: int
    """Index of the parent link; -1 is the base."""
    type: JointType
    alpha: Scalar
    """Twist α from the parent's z axis to this one [rad]."""
    across: Array
    """Position of the joint in the parent frame, without the part r along z, shape (3,) [m]."""
    theta: Scalar
    """Angle offset θ [rad]."""
    r: Scalar
    """Offset along z [m]."""
    J: Array
    """Second moment ∫ r rᵀ dm about the frame origin, shape (3, 3) [kg m²]."""
    u: Array
    """First moment, shape (3,) [kg m]."""
    M: Scalar
    """Mass [kg]."""
    gamma: Scalar = 0.0
    """Angle γ about the parent's z axis to the common normal [rad]."""
    sign: int = 1
    """-1 where z points against the joint's own axis, so that q counts backwards."""
    gravity: Array = field(default_factory=lambda: frozen(np.zeros(3)))
    """For a joint on the base: the field of gravity in the axes before its motion [m/s²]."""


@record(eq=False)
class CanonicalRobot:
    """A tree of links in modified Denavit-Hartenberg frames."""

    name: str
    links: tuple[CanonicalLink, ...]
    snapped: float = 0.0
    """What taking numbers for exact zeros did to the torques: the largest difference measured over
    random states, relative to the largest torque of the joint; 0 where only rounding was taken."""

    @property
    def parents(self) -> tuple[int, ...]:
        """Index of the parent of each link; -1 is the base."""
        return tuple(link.parent for link in self.links)

    @property
    def paths(self) -> tuple[tuple[int, ...], ...]:
        """For each link the joints from the base up to and including its own."""
        return paths_from_parents(self.parents)


def cos_sin(angle: Scalar) -> tuple[Scalar, Scalar]:
    """Cosine and sine of a constant angle, exact for quarter turns."""
    return quarter_exact(angle) if isinstance(angle, float) else (np.cos(angle), np.sin(angle))


def is_quarter(angle: Scalar) -> bool:
    """Whether a constant angle is a whole number of quarter turns."""
    return isinstance(angle, float) and 0.0 in quarter_exact(angle)


def twist(link: CanonicalLink) -> Array:
    """The rotation Rz(γ) Rx(α) from the axes before the joint's motion to the parent's."""
    (cg, sg), (ca, sa) = cos_sin(link.gamma), cos_sin(link.alpha)
    rows = [[cg, -sg * ca, sg * sa], [sg, cg * ca, -cg * sa], [0.0, sa, ca]]
    return np.array(rows)


def with_tip_phase(robot: CanonicalRobot) -> CanonicalRobot:
    """The robot with its last frames turned about z so that their first moment lies along x.

    It costs an addition to q where θ was no offset before, and saves a component of u.
    """
    carrying = set(robot.parents)
    links = []
    for i, link in enumerate(robot.links):
        if i in carrying or not link.type.turns or not (link.u[0] and link.u[1]):
            links.append(link)
            continue
        phi = math.atan2(link.u[1], link.u[0])
        c, s = math.cos(phi), math.sin(phi)
        R = rotation_z(c, s)
        u = np.array([math.hypot(link.u[0], link.u[1]), 0.0, link.u[2]])
        J = R.T @ link.J @ R
        links.append(replace(link, theta=link.theta + phi, u=frozen(u), J=frozen(J)))
    return replace(robot, links=tuple(links))


def branches(robot: CanonicalRobot) -> dict[tuple[int, ...], CanonicalRobot]:
    """The robot cut at the base: one robot for each joint on it, by the links it carries."""
    roots, parts = [path[0] for path in robot.paths], {}
    for root in sorted(set(roots)):
        members = tuple(i for i, other in enumerate(roots) if other == root)
        place = {i: k for k, i in enumerate(members)} | {-1: -1}
        links = tuple(replace(robot.links[i], parent=place[robot.links[i].parent]) for i in members)
        parts[members] = replace(robot, links=links)
    return parts


def model_from_canonical(robot: CanonicalRobot, dtype: type = object) -> RobotModel:
    """A RobotModel on one base joint, whose entries are numbers or, as objects, nodes."""

    def clean(values: Array) -> Array:
        """An array in which nodes that are numbers are plain numbers."""
        plain = [_number(value) for value in np.ravel(values)]
        return frozen(np.array(plain, dtype=dtype).reshape(np.shape(values)))

    def inertia(link: CanonicalLink) -> Inertia:
        J = np.array(link.J, dtype=object)
        moment = (J[0, 0] + J[1, 1] + J[2, 2]) * np.eye(3) - J
        return Inertia(_number(link.M), clean(link.u), clean(moment), "origin")

    return RobotModel(
        robot.name,
        tuple(
            Joint(
                link.name,
                link.type,
                link.parent,
                clean(_placement(link)),
                frozen([0.0, 0.0, float(link.sign)]),
            )
            for link in robot.links
        ),
        tuple(Link(link.name, (Body(link.name, inertia(link), IDENTITY),)) for link in robot.links),
        base_link=Link("base", ()),
        flange=Frame("tip", len(robot.links) - 1),
        gravity=clean(robot.links[0].gravity),
    )


def _placement(link: CanonicalLink) -> Array:
    """T(across) Rz(γ) Rx(α) Rz(θ) Tz(r), shape (4, 4)."""
    R = np.array(twist(link), dtype=object)
    c, s = cos_sin(link.theta)
    T = np.array(np.eye(4), dtype=object)
    T[:3, :3] = R @ rotation_z(c, s)
    T[:3, 3] = link.across + link.r * R[:, 2]
    return T


def _number(value: Any) -> Any:
    return float(value.value) if isinstance(value, Node) and value.op == "number" else value


COMPARED_STATES = 200
"""Random states that a difference is measured over."""

_TORQUE_NOISE = 256 * np.finfo(float).eps
"""A difference this small, relative to the largest torque of the robot, is rounding."""


def torque_difference(
    model: RobotModel, robot: CanonicalRobot, states: int = COMPARED_STATES
) -> float:
    """How far the torques of a robot in canonical frames are from those of the robot itself.

    The largest difference, relative to the largest torque of the same joint, without rotors and
    friction. It is measured over random states (seeded), not bounded: a joint with a small load on
    a long arm can move by far more than what was taken for zero.
    """
    rng = np.random.default_rng(0)
    shape = (states, len(robot.links))
    q, qd, qdd = (rng.uniform(-limit, limit, size=shape) for limit in (np.pi, 2.0, 2.0))
    expected = augmented_body(model, q, qd, qdd).tau
    found = np.empty(shape)
    for members, part in branches(robot).items():
        motion = q[:, members], qd[:, members], qdd[:, members]
        found[:, members] = augmented_body(model_from_canonical(part, float), *motion).tau
    moved = np.abs(found - expected).max(axis=0)
    largest = np.abs(expected).max(axis=0)
    seen = moved > _TORQUE_NOISE * largest.max()
    return float(np.max(moved[seen] / np.maximum(largest[seen], 1e-300), initial=0.0))
