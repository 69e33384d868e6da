"""The search for the shortest program whose torques are within a tolerance of the full model."""

from dataclasses import dataclass, replace

import numpy as np

from armdyn.arrays import Array
from armdyn.graph.evaluate import settle
from armdyn.graph.nodes import Node, node_array
from armdyn.graph.program import Program
from armdyn.kernels.kernel import Kernel
from armdyn.quantities.program import QUANTITIES, shortest_nodes, trace_robot
from armdyn.quantities.request import Request
from armdyn.quantities.traced_robot import TracedRobot
from armdyn.robot import Robot
from armdyn.shorten.passes import reduce
from armdyn.shorten.shorten import shorten
from armdyn.terms.dropping import Droppable, RegroupedModel, distal_first, greedy
from armdyn.terms.fresh_states import chosen_states, joined
from armdyn.terms.pruning import PruningStates, pruned
from armdyn.terms.states import StateSet
from armdyn.thresholds import MOST_SHORTENED


@dataclass(frozen=True, slots=True)
class Way:
    """How parameters are dropped before terms of sums are."""

    share: float = 1.0
    """Which part of the tolerance they may use."""
    distal: bool = False
    """Whether those of the last joints go first, and not those that matter least."""
    velocities: bool = True
    """Whether there are centrifugal and Coriolis terms."""


FEW_WAYS = (Way(), Way(velocities=False))
WAYS = (*FEW_WAYS, Way(share=0.2), Way(distal=True))
"""What is tried; the shortest program is taken."""
MOST_TRIED = 60
"""Parameters beyond which fewer ways are tried: programs take long to write then."""
SCALE_ROUNDING = 1e-9
"""A torque that is smaller, relative to the largest of all joints, is rounding."""
MOST_PARAMETER_STATES, MOST_PRUNING_STATES, FEWEST_PRUNING_STATES = 4000, 800, 60
"""States by which parameters and terms of sums are chosen; the result is compared at all."""
PRUNED_NUMBERS = 4_000_000
"""Numbers in the derivatives of torques by the values of a program; larger ones are not pruned."""


@dataclass(frozen=True, slots=True)
class Model:
    """An approximate model: a robot with fewer parameters, and a program for its torques."""

    robot: Robot
    dropped: tuple[Droppable, ...]
    velocities: bool
    """Whether there are centrifugal and Coriolis terms."""
    program: Program

    @property
    def kernel(self) -> Kernel:
        """The program compiled."""
        robot = self.robot
        return Kernel(robot.model, request_of(robot), "float64", robot.cache, self.program)


def request_of(robot: Robot) -> Request:
    """Inverse dynamics of a robot."""
    return Request("inverse_dynamics", effort=robot.effort)


class Search:
    """Looks for the shortest program within a tolerance."""

    def __init__(self, robot: Robot, reference: Array, parameters_only: bool):
        self.robot, self.parameters_only = robot, parameters_only
        self.regrouped = RegroupedModel.of(robot.model)
        self.droppable = tuple(self.regrouped.droppable())
        scale = np.maximum(reference, SCALE_ROUNDING * reference.max(initial=0.0))
        self.scale = np.where(scale > 0, scale, 1.0)
        """What errors of each joint are measured by, (n,)."""
        self.full = self._model((), True)
        tried = FEW_WAYS if len(self.droppable) > MOST_TRIED else WAYS
        self.ways = tuple(way for way in tried if way.velocities or not parameters_only)
        self.worst: list[StateSet] = []
        """States in which the errors of earlier choices were too large."""

    def best(self, states: StateSet, tolerance: float) -> Model:
        """The shortest program whose errors at these states are within the tolerance.

        The next time the way that was best is the only one that is tried.
        """
        found = [(self.full, self.ways)]
        tried = set[tuple[frozenset[Droppable], bool]]()
        some = self._some(states, MOST_PARAMETER_STATES)
        for way in self.ways:
            dropped = self._dropped(way, some, tolerance)
            if dropped is None or (key := (frozenset(dropped), way.velocities)) in tried:
                continue
            tried.add(key)
            model = self._model(dropped, way.velocities)
            if not self.parameters_only:
                model = self._shorter(model, states, tolerance)
            found.append((model, (way,)))
        model, self.ways = min(found, key=lambda pair: pair[0].program.whole.total)
        return model

    def errors(self, model: Model, states: StateSet) -> Array:
        """Errors relative to the scale, by evaluation of both kernels, (m, n)."""
        motion = states.q, states.qd, states.qdd
        return np.abs(model.kernel(*motion) - self.robot.inverse_dynamics(*motion)) / self.scale

    def _some(self, states: StateSet, most: int) -> StateSet:
        """At most so many states, evenly taken, and those in which errors were too large."""
        places = np.linspace(0, len(states) - 1, min(len(states), most)).round().astype(int)
        return joined(chosen_states(states, places), *self.worst)

    def _dropped(self, way: Way, some: StateSet, tolerance: float) -> tuple[Droppable, ...] | None:
        """The parameters that may be dropped; None if nothing is within the tolerance."""
        start = np.zeros_like(some.q)
        if not way.velocities:
            start = -self.robot.coriolis_vector(some.q, some.qd)
            if np.abs(start / self.scale).max() > tolerance:
                return None
        effects = self.regrouped.effects(self.droppable, some, way.velocities)
        if way.distal:
            joints = [x.joint for x in self.droppable]
            places = distal_first(start, effects, self.scale, tolerance, joints)
        else:
            places = greedy(start, effects, self.scale, way.share * tolerance)
        return tuple(self.droppable[k] for k in places)

    def _model(self, dropped: tuple[Droppable, ...], velocities: bool) -> Model:
        robot = self.robot
        if dropped:
            robot = Robot(self.regrouped.without(dropped), cache=robot.cache, effort=robot.effort)
        return Model(robot, dropped, velocities, _program(robot, self._outputs(robot, velocities)))

    def _outputs(self, robot: Robot, velocities: bool) -> list[Node]:
        """The torques as nodes."""

        def torques(s: TracedRobot, q: Array, qd: Array, qdd: Array) -> Array:
            v = qd if velocities else s.zero
            moving = s.links(q, v, qdd) + s.rotor_torques(q, v, qdd)
            return moving + s.springs(q) + s.friction(q, qd)

        traced = trace_robot(robot.model, request_of(robot))
        quantity = replace(QUANTITIES["inverse_dynamics"], build=torques)
        return settle(traced.whole(shortest_nodes(traced, quantity).flat))

    def _shorter(self, model: Model, states: StateSet, tolerance: float) -> Model:
        """The model with terms of sums left out of its program, where that is affordable."""
        outputs = self._outputs(model.robot, model.velocities)
        size = len(outputs) * len(model.program.instructions)
        most = min(MOST_PRUNING_STATES, PRUNED_NUMBERS // max(1, size))
        if most < FEWEST_PRUNING_STATES:
            return model
        some = self._some(states, most)
        motion = {"q": some.q, "qd": some.qd, "qdd": some.qdd}
        inputs = {f"{k}{i + 1}": v[:, i] for k, v in motion.items() for i in range(v.shape[1])}
        torques = self.robot.inverse_dynamics(some.q, some.qd, some.qdd).T
        kept = pruned(outputs, PruningStates(inputs, torques, self.scale), tolerance)
        program = _program(model.robot, settle(kept))
        short = program.whole.total <= MOST_SHORTENED.value
        better = _program(model.robot, settle(shorten(kept) if short else reduce(kept)))
        program = min(program, better, key=lambda p: p.whole.total)
        return Model(model.robot, model.dropped, model.velocities, program)


def _program(robot: Robot, outputs: list[Node]) -> Program:
    names = QUANTITIES["inverse_dynamics"].arguments
    return Program.from_outputs(node_array(outputs, (robot.n,)), dict.fromkeys(names, robot.n))
