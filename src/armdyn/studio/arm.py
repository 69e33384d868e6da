"""A robot in a window: compiled, with its looks and its check, and its snapshots in any state."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.formulations.ledger import Ledger
from armdyn.formulations.spatial import rotate
from armdyn.io.catalog import catalog_names
from armdyn.model import RobotModel, edit
from armdyn.model.transform import inverse
from armdyn.model.validate import Finding
from armdyn.quantities.evaluate import in_numpy
from armdyn.quantities.request import Request
from armdyn.robot import Robot
from armdyn.studio.background import Tell
from armdyn.studio.uploads import Loaded
from armdyn.studio.visuals import NotDrawn, Visual, is_mjcf, mjcf_visuals, visuals
from armdyn.thresholds import COMPILED_IN_STUDIO

KINDS = ("q", "qd", "qdd")
HELD, FRAMES = ("ledger", "mass_matrix", "reactions"), ("joint_frames", "forward_kinematics")
"""What is evaluated: what depends on the payload, and what does not."""
ROUNDING = 1e-10
"""A torque below this part of the scale of its joint is rounding, and shown as zero."""
SCALE_STATES = 16
"""States from which the scale of a joint without a limit of effort is taken."""


@dataclass(frozen=True, slots=True, eq=False)
class State:
    """A state of motion."""

    q: Array
    qd: Array
    qdd: Array
    payload: float = 0.0
    """A point mass held at the tool [kg]."""
    terms: Mapping[str, Array] | None = None
    """What the torque is made of there, where a motion that is played says it."""
    base: Array | None = None
    """Where the base is in the world, (4, 4), where a motion that is played moves it."""

    @classmethod
    def rest(cls, q: Array, payload: float = 0.0) -> "State":
        """At rest."""
        return cls(np.array(q, dtype=float), np.zeros(len(q)), np.zeros(len(q)), payload)

    @classmethod
    def read(cls, table: Any) -> "State | None":
        """The state in plain data; None if there is none."""
        try:
            q, qd, qdd = np.array([table[kind] for kind in KINDS], dtype=float)
            payload = float(table.get("payload", 0.0))
        except (TypeError, ValueError, KeyError, AttributeError):
            return None
        sound = q.ndim == 1 and np.isfinite([q, qd, qdd]).all() and 0 <= payload < np.inf
        return cls(q, qd, qdd, payload) if sound else None

    @property
    def motion(self) -> tuple[Array, Array, Array]:
        """Positions, velocities and accelerations."""
        return self.q, self.qd, self.qdd

    @property
    def table(self) -> dict[str, Any]:
        """The state as plain data."""
        rows = {kind: getattr(self, kind).tolist() for kind in KINDS}
        return rows | {"payload": float(self.payload)}


@dataclass(frozen=True, slots=True, eq=False)
class PointForces:
    """Forces in world axes and the points at which they act, (k, 3) each."""

    points: Array
    forces: Array


@dataclass(frozen=True, slots=True, eq=False)
class Snapshot:
    """An arm in one state."""

    state: State
    links: Array
    """Each link in the world, (N, 4, 4)."""
    tool: Array
    """The tool in the world, (4, 4)."""
    base: Array
    """The base in the world, (4, 4)."""
    ledger: Ledger
    """The torque that the state takes, and its terms."""
    terms: Mapping[str, Array]
    """What is shown of the torque: the ledger, or what the motion that is played says, without
    rounding."""
    total: Array
    """Their sum, (n,)."""
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
        model = robot.model
        self._kernels: dict[str, Callable[..., Array]] = {}
        if robot.n <= COMPILED_IN_STUDIO.value:
            self._kernels = {name: robot.kernel(name, payload=True) for name in HELD}
            self._kernels |= {name: robot.kernel(name) for name in FRAMES}
        self._masses = np.array([link.inertia.mass for link in model.links])
        self._centres = np.array([link.inertia.com for link in model.links])
        self._limits = robot.effort_limits
        self.scales = self._scales()
        """The size of an ordinary torque of each joint, (n,) [N m or N]: the limit of its motor,
        or what it needs in some states."""

    def __call__(self, state: State) -> Snapshot:
        """The snapshot of a state."""
        links, tool = (self._value(name, state, state.q) for name in FRAMES)
        stands = base = self.robot.model.base
        if state.base is not None:
            base = state.base
            links, tool = (base @ inverse(stands) @ T for T in (links, tool))
        ledger = self.ledger(state)
        terms = {k: self._cleaned(v) for k, v in (state.terms or ledger.terms).items()}
        total = self._cleaned(sum(terms.values(), np.zeros(self.robot.n)))
        matrix = self._value("mass_matrix", state, state.q) if self._kernels else None
        places = links[:, :3, 3]
        R = links[:, :3, :3]
        masses, centres = self._loaded(state.payload)
        centres = places + rotate(R, centres)
        weights = PointForces(centres, np.outer(masses, self.robot.model.gravity))
        # those of a base that floats are not known here
        felt = self._reactions(state, R) if state.base is None else np.zeros(places.shape)
        reactions = PointForces(places, felt)
        return Snapshot(state, links, tool, base, ledger, terms, total, matrix, weights, reactions)

    def ledger(self, state: State) -> Ledger:
        """The torque that a state takes, and its terms."""
        return Ledger(*self._value("ledger", state, *state.motion))

    def _value(self, name: str, state: State, *arguments: Array) -> Array:
        """A quantity of the robot with what it holds."""
        if not self._kernels:
            return numeric_value(self.robot.model, name, state, *arguments)
        held = (self.robot.payload_vector(state.payload),) if name in HELD else ()
        return self._kernels[name](*arguments, *held)

    def _reactions(self, state: State, R: Array) -> Array:
        """The force that each link receives, in world axes, (N, 3)."""
        if self._kernels:
            return self._value("reactions", state, *state.motion)[: len(R), :3]
        robot = holding(self.robot, state.payload)
        forces = robot.formulate("newton_euler", *state.motion, frame="joint").f
        return rotate(R, np.reshape(forces, (-1, 3)))

    def _loaded(self, payload: float) -> tuple[Array, Array]:
        """Mass and centre of mass of each link with what is held, (N,) [kg] and (N, 3) [m]."""
        tool = self.robot.model.tool_frame
        if not payload > 0 or tool.link < 0:
            return self._masses, self._centres
        masses, centres, i = self._masses.copy(), self._centres.copy(), tool.link
        moment = masses[i] * centres[i] + payload * tool.placement[:3, 3]
        masses[i] += payload
        centres[i] = moment / masses[i]
        return masses, centres

    def _cleaned(self, torque: Array) -> Array:
        """A torque without rounding."""
        return np.where(np.abs(torque) > ROUNDING * self.scales, torque, 0.0)

    def _scales(self) -> Array:
        if np.isfinite(self._limits).all():
            return self._limits
        rng, n = np.random.default_rng(0), self.robot.n
        count = SCALE_STATES if self._kernels else 2
        states = (State(*rng.uniform(-1, 1, (3, n))) for _ in range(count))
        sizes = [sum(map(np.abs, self.ledger(state).terms.values())) for state in states]
        needed = np.max(sizes, axis=0)
        needed = np.maximum(needed, 1e-6 * (needed.max() or 1.0))
        return np.where(np.isfinite(self._limits), self._limits, needed)


def numeric_value(model: RobotModel, name: str, state: State, *arguments: Array) -> Array:
    """A quantity of a robot that is not compiled, with what it holds."""
    if state.payload > 0:
        model = edit.with_payload(model, state.payload, add=True)
    return in_numpy(model, Request(name), *arguments)


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
    source: str = ""
    """The catalog name or the file that it came from, or what else it is."""
    in_catalog: bool = False
    """Whether the source is a name in the catalog."""

    @property
    def title(self) -> str:
        """Its title, or its name."""
        return self.robot.model.title or self.robot.name

    @property
    def faults(self) -> tuple[Finding, ...]:
        """The errors of its check: a robot with any of them cannot exist as it is described."""
        return tuple(finding for finding in self.findings if finding.level == "error")

    @property
    def mass(self) -> float:
        """Mass of everything that moves [kg]."""
        return sum(link.inertia.mass for link in self.robot.model.links)


def arm_of(loaded: Loaded, source: str, file: Path | None, uploaded: bool, tell: Tell) -> Arm:
    """Compile a robot and read its looks from its file, if there is one.

    `source` is what people call the place that it came from. For a file that was uploaded from a
    browser, no other file is read. Where the robot could not be loaded, its error is raised.
    """
    robot = loaded.robot
    if robot is None:
        assert loaded.error is not None
        raise loaded.error
    pieces, missing = _looks(loaded, file, uploaded)
    how = "compiling" if robot.n <= COMPILED_IN_STUDIO.value else "drawing"
    tell(f"{how} {robot.name}")
    missing = list(dict.fromkeys(missing))
    found = tuple(pieces), tuple(missing), tuple(loaded.findings)
    return Arm(robot, Evaluator(robot), *found, source, source in catalog_names() and file is None)


def holding(robot: Robot, payload: float) -> Robot:
    """The robot with a payload [kg] at its tool, whether or not it could exist without."""
    return robot.with_payload(payload, add=True, physical="ignore") if payload > 0 else robot


def branches(model: RobotModel) -> bool:
    """Whether several chains hang on the base or on a link."""
    parents = [joint.parent for joint in model.joints]
    return len({*parents}) < len(parents) and not model.loops


def _looks(
    loaded: Loaded, file: Path | None, uploaded: bool
) -> tuple[list[Visual], list[NotDrawn]]:
    """What the links look like, from the file or the archive that the robot came in."""
    described = loaded.file or file
    if described is None:
        return [], []
    # MJCF that came from a browser was checked to name files of its archive alone
    if (not uploaded or loaded.archive) and is_mjcf(described):
        return mjcf_visuals(described), []
    return visuals(described, meshes=not uploaded, within=loaded.archive)


def slider_limits(robot: Robot) -> Array:
    """Where the sliders of the positions end, (n, 2): at the limits, where there are any."""
    low, high = robot.model.ranges.T
    reach = np.array([joint.type.reach for joint in robot.model.coordinate_joints])
    return np.stack([low, high], -1) + np.where(high > low, 0.0, reach)[:, None] * [-1.0, 1.0]


def pose(robot: Robot) -> Array:
    """A first pose, bent a little, so that no term of the torque is zero without need.

    One with legs or several arms stands upright, as it is described.
    """
    low, high = slider_limits(robot).T
    if branches(robot.model):
        return np.clip(np.zeros(robot.n), low, high)
    bent = np.array([0.0 if i == 0 else 0.5 * (-1) ** i for i in range(robot.n)])
    turns = np.array([joint.type.turns for joint in robot.model.coordinate_joints])
    wanted = np.where(turns, bent, 0.5 * (low + high))
    return np.clip(wanted, low + 0.1 * (high - low), high - 0.1 * (high - low))
