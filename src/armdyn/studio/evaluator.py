"""States of motion of a robot, and snapshots of it there."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from armdyn.arrays import Array
from armdyn.formulations.kinematics import frame_in_world, world_frames
from armdyn.formulations.ledger import Ledger
from armdyn.formulations.spatial import rotate
from armdyn.formulations.textbook_terms import TextbookTerms
from armdyn.loops.coordinates import coordinates_of
from armdyn.model import edit
from armdyn.model.transform import transform
from armdyn.robot import Robot
from armdyn.simulation.limits import effort_limits

COMPILED_JOINTS = 40
"""Joints beyond which an arm is not compiled, so that it is there within seconds."""
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

    @classmethod
    def rest(cls, q: Array, payload: float = 0.0) -> "State":
        """At rest."""
        return cls(np.array(q, dtype=float), np.zeros(len(q)), np.zeros(len(q)), payload)


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
        if robot.n <= COMPILED_JOINTS:
            held = ("ledger", "mass_matrix", "reactions")
            self._kernels = {name: robot.kernel(name, payload=True) for name in held}
            self._kernels |= {
                name: robot.kernel(name) for name in ("joint_frames", "forward_kinematics")
            }
        self._masses = np.array([link.inertia.mass for link in model.links])
        self._centres = np.array([link.inertia.com for link in model.links])
        self._limits = effort_limits(model)
        self.scales = self._scales()
        """The size of an ordinary torque of each joint, (n,) [N m or N]: the limit of its motor,
        or what it needs in some states."""

    def __call__(self, state: State) -> Snapshot:
        """The snapshot of a state."""
        links, tool = self._frames(state.q)
        ledger = self.ledger(state)
        terms = {k: self._cleaned(v) for k, v in (state.terms or ledger.terms).items()}
        total = self._cleaned(sum(terms.values(), np.zeros(self.robot.n)))
        matrix = None
        if self._kernels:
            held = self.robot.payload_vector(state.payload)
            matrix = self._kernels["mass_matrix"](state.q, held)
        places, R = links[:, :3, 3], links[:, :3, :3]
        masses, centres = self._loaded(state.payload)
        centres = places + rotate(R, centres)
        weights = PointForces(centres, np.outer(masses, self.robot.model.gravity))
        reactions = PointForces(places, self._reactions(state, R))
        return Snapshot(state, links, tool, ledger, terms, total, matrix, weights, reactions)

    def ledger(self, state: State) -> Ledger:
        """The torque that a state takes, and its terms."""
        motion = state.q, state.qd, state.qdd
        if self._kernels:
            held = self.robot.payload_vector(state.payload)
            return Ledger(*self._kernels["ledger"](*motion, held))
        at = coordinates_of(self._holding(state.payload).model)
        return Ledger(*TextbookTerms(at).ledger(*motion))

    def _frames(self, q: Array) -> tuple[Array, Array]:
        if self._kernels:
            return self._kernels["joint_frames"](q), self._kernels["forward_kinematics"](q)
        model = self.robot.model
        frames = world_frames(model, coordinates_of(model).positions(q))
        links = [transform(R, O) for R, O in zip(frames.R, frames.O, strict=True)]
        return np.array(links), transform(*frame_in_world(frames, model.tool_frame))

    def _reactions(self, state: State, R: Array) -> Array:
        """The force that each link receives, in world axes, (N, 3)."""
        motion = state.q, state.qd, state.qdd
        if self._kernels:
            held = self.robot.payload_vector(state.payload)
            return self._kernels["reactions"](*motion, held)[: len(R), :3]
        found = self._holding(state.payload).formulate("newton_euler", *motion, frame="joint")
        return rotate(R, np.reshape(found.f, (-1, 3)))

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

    def _holding(self, payload: float) -> Robot:
        if not payload > 0:
            return self.robot
        return Robot(edit.with_payload(self.robot.model, payload, (0, 0, 0), None))

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
