"""A robot in a window: compiled, with its looks and its check, and its snapshots in any state."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.dynamics import Robot
from armdyn.formulations.coupling import Coordinates
from armdyn.formulations.kinematics import frame_in_world, world_frames
from armdyn.formulations.ledger import Ledger
from armdyn.formulations.spatial import rotate
from armdyn.formulations.textbook_terms import TextbookTerms
from armdyn.model import edit
from armdyn.model.transform import transform
from armdyn.model.validate import Finding
from armdyn.studio.background import Tell
from armdyn.studio.uploads import Loaded
from armdyn.studio.visuals import NotDrawn, Visual, visuals

COMPILED_JOINTS = 40
"""Joints beyond which an arm is not compiled, so that it is there within seconds."""


@dataclass(frozen=True, slots=True, eq=False)
class State:
    """A state of motion, as the sliders give it."""

    q: Array
    qd: Array
    qdd: Array
    payload: float = 0.0
    """A point mass held at the tool [kg]."""

    @classmethod
    def rest(cls, q: Array) -> "State":
        """At rest, without payload."""
        return cls(np.array(q, dtype=float), np.zeros(len(q)), np.zeros(len(q)))


@dataclass(frozen=True, slots=True, eq=False)
class PointForces:
    """Forces in world axes and the points at which they act, (k, 3) each."""

    points: Array
    forces: Array


@dataclass(frozen=True, slots=True, eq=False)
class Snapshot:
    """An arm in one state."""

    state: State
    links: tuple[Array, ...]
    """Each link in the world, (4, 4)."""
    tool: Array
    """The tool in the world, (4, 4)."""
    ledger: Ledger
    """The torque and its terms."""
    mass_matrix: Array | None
    """(n, n); None for an arm that is not compiled."""
    weights: PointForces
    """The weight of each link, at its centre of mass [N]."""
    reactions: PointForces
    """The force on each link from its parent, at the joint [N]."""


class Evaluator:
    """Makes snapshots of a robot; its kernels are compiled once, for every payload."""

    def __init__(self, robot: Robot):
        self.robot = robot
        self._at = Coordinates.of(robot.model)
        self._kernels: tuple[Any, ...] = ()
        if robot.n <= COMPILED_JOINTS:
            names = ("ledger", "mass_matrix", "reactions")
            self._kernels = tuple(robot.kernel(name, payload=True) for name in names)

    def __call__(self, state: State) -> Snapshot:
        """The snapshot of a state."""
        motion, mass_matrix = (state.q, state.qd, state.qdd), None
        robot = self.robot
        if state.payload > 0:
            robot = Robot(edit.with_payload(robot.model, state.payload, (0, 0, 0), None))
        if self._kernels:
            held = robot.payload_vector(state.payload)
            ledger = Ledger(*self._kernels[0](*motion, held))
            mass_matrix = self._kernels[1](state.q, held)
            received = self._kernels[2](*motion, held)[: len(robot.model.links), :3]
        else:
            ledger = Ledger(*TextbookTerms(robot.model).ledger(*motion))
            received = None
        frames = world_frames(self.robot.model, self._at.positions(state.q))
        R, O = np.reshape(frames.R, (-1, 3, 3)), np.reshape(frames.O, (-1, 3))
        if received is None:
            received = rotate(
                R, np.reshape(robot.formulate("newton_euler", *motion, frame="joint").f, (-1, 3))
            )
        masses = [link.inertia.mass for link in robot.model.links]
        centres = O + rotate(R, np.array([link.inertia.com for link in robot.model.links]))
        return Snapshot(
            state,
            tuple(transform(R, O) for R, O in zip(frames.R, frames.O, strict=True)),
            transform(*frame_in_world(frames, self.robot.model.tool_frame)),
            ledger,
            mass_matrix,
            PointForces(centres, np.outer(masses, robot.model.gravity)),
            PointForces(O, received),
        )


@dataclass(frozen=True, slots=True, eq=False)
class Arm:
    """A robot in a window."""

    robot: Robot
    evaluator: Evaluator
    pieces: tuple[Visual, ...] = ()
    """The looks of its links, from its description."""
    missing: tuple[NotDrawn, ...] = ()
    """Meshes that are not drawn."""
    findings: tuple[Finding, ...] = ()
    """What its check found."""

    @property
    def title(self) -> str:
        """Its title, or its name."""
        return self.robot.model.title or self.robot.name

    @property
    def mass(self) -> float:
        """Mass of everything that moves [kg]."""
        return sum(link.inertia.mass for link in self.robot.model.links)


def arm_of(loaded: Loaded, file: Path | None, uploaded: bool, tell: Tell) -> Arm:
    """Compile a robot and read its looks from its file, if there is one.

    For a file that was uploaded from a browser, no other file is read. Where the robot could not
    be loaded, its error is raised.
    """
    robot = loaded.robot
    if robot is None:
        assert loaded.error is not None
        raise loaded.error
    pieces, missing = _looks(loaded, file, uploaded)
    tell(f"compiling {robot.name}" if robot.n <= COMPILED_JOINTS else f"drawing {robot.name}")
    missing = list(dict.fromkeys(missing))
    return Arm(robot, Evaluator(robot), tuple(pieces), tuple(missing), tuple(loaded.findings))


def _looks(
    loaded: Loaded, file: Path | None, uploaded: bool
) -> tuple[list[Visual], list[NotDrawn]]:
    """What the links look like, from the file or the archive that the robot came in."""
    if loaded.file is not None:
        return visuals(loaded.file, meshes=False, within=loaded.archive)
    return ([], []) if file is None else visuals(file, meshes=not uploaded)


def slider_limits(robot: Robot) -> Array:
    """Where the sliders of the positions end, (n, 2): at the limits, where there are any."""
    low, high = robot.model.ranges.T
    reach = np.array([robot.model.joints[i].type.reach for i in robot.model.independent])
    return np.stack([low, high], -1) + np.where(high > low, 0.0, reach)[:, None] * [-1.0, 1.0]


def pose(robot: Robot) -> Array:
    """A first pose, bent a little, so that no term of the torque is zero without need."""
    low, high = slider_limits(robot).T
    bent = np.array([0.0 if i == 0 else 0.5 * (-1) ** i for i in range(robot.n)])
    turns = np.array([robot.model.joints[i].type.turns for i in robot.model.independent])
    wanted = np.where(turns, bent, 0.5 * (low + high))
    return np.clip(wanted, low + 0.1 * (high - low), high - 0.1 * (high - low))
