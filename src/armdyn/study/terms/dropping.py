"""What may be left out of a model: parameters one by one, and terms of the sums in its program.

Torques are linear in the inertial parameters, so what a model without some of them computes is
known before there is such a model. The parameters are those of the links in canonical frames after
regrouping (`armdyn.shorten.canonical.regroup`): none of them can be made up for by others, and a
robot in which they are zero has a shorter program by itself.

Every sum a + b of a program can do without one of its terms. What that changes in the torques is
estimated for all sums at once, by the derivatives of the torques by each value of the program. Then
terms are left out, those first that cost least for the operations they save, as long as evaluation
shows errors within the tolerance; with them goes everything that was computed for them alone.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.bounds.search import Sizes, climbed
from armdyn.formulations.friction import friction_torque
from armdyn.formulations.regressor import regressor, ten_parameters
from armdyn.formulations.rotors import all_rotor_torques
from armdyn.graph.evaluate import FLOATS, evaluate, run, settle, steps_of
from armdyn.graph.nodes import Graph, Node, node_array
from armdyn.graph.operations import slopes
from armdyn.graph.printer import PLAIN, Infix
from armdyn.graph.program import Program
from armdyn.graph.visit import inside_angles, reachable, rebuilt, uses
from armdyn.io.csv.table import numbered_columns
from armdyn.kernels.kernel import Kernel
from armdyn.loops.coordinates import coordinates_of
from armdyn.model import Inertia, RobotModel
from armdyn.model.friction import TERMS
from armdyn.model.joint import Rotor
from armdyn.model.link import Body, Link
from armdyn.quantities.program import QUANTITIES, shortest_nodes, trace_robot
from armdyn.quantities.request import Request
from armdyn.quantities.traced_robot import TracedRobot
from armdyn.robot import Robot
from armdyn.shorten.canonical.frames import canonical, canonical_frames
from armdyn.shorten.canonical.regroup import regroup
from armdyn.shorten.passes import reduce
from armdyn.shorten.shorten import shortest_of
from armdyn.study.states import Motion, Over, StateSet, state_cube
from armdyn.thresholds import MOST_SHORTENED

_MOMENTS = {"Jxx": (0, 0), "Jyy": (1, 1), "Jzz": (2, 2), "Jxy": (0, 1), "Jxz": (0, 2)}
_MOMENTS |= {"Jyz": (1, 2), "MX": (0, 3), "MY": (1, 3), "MZ": (2, 3), "M": (3, 3)}
"""Places of the inertial parameters in a pseudo-inertia."""


@dataclass(frozen=True, slots=True)
class Droppable:
    """Something that a model can do without."""

    name: str
    """Jxx3, MX3, M3 of link 3 in its canonical frame; Ia3 for a rotor; "viscous of elbow"."""
    joint: int
    """The moving joint, or its link; drives are counted after the joints."""
    place: tuple[int, int] | None = None
    """For an inertial parameter: its place in the pseudo-inertia of the link."""
    term: int | None = None
    """For friction: which of the terms of friction laws."""


@dataclass(frozen=True, slots=True, eq=False)
class RegroupedModel:
    """A robot with its inertias regrouped, and what can be left out of it."""

    model: RobotModel
    pseudo: tuple[Array, ...]
    """The regrouped pseudo-inertia of each link in its canonical frame, (4, 4)."""
    frames: tuple[Array, ...]
    """The canonical frame of each link in the frame of the link."""

    @classmethod
    def of(cls, model: RobotModel) -> "RegroupedModel":
        """The regrouped inertias of a robot."""
        links = regroup(canonical(model)).links
        pseudo = (np.block([[x.J, x.u[:, None]], [x.u, np.array([x.M])]]) for x in links)
        return cls(model, tuple(pseudo), canonical_frames(model))

    def droppable(self) -> Iterator[Droppable]:
        """Everything that is not zero and can be left out."""
        for i, matrix in enumerate(self.pseudo):
            for name, place in _MOMENTS.items():
                if matrix[place]:
                    yield Droppable(f"{name}{i + 1}", i, place)
        for i, owner in enumerate(self.model.driven):
            if owner.rotor.reflected:
                yield Droppable(f"Ia{i + 1}", i)
            for k, term in enumerate(TERMS):
                if owner.friction.has(term):
                    yield Droppable(f"{term.row} of {owner.name}", i, term=k)

    def without(self, dropped: Sequence[Droppable]) -> RobotModel:
        """The robot without these; its links are no bodies but a reduced set of inertias."""
        pseudo = [matrix.copy() for matrix in self.pseudo]
        for x in dropped:
            if x.place is not None:
                pseudo[x.joint][x.place] = pseudo[x.joint][x.place[::-1]] = 0.0
        model = _without_motors(self.model, [x for x in dropped if x.place is None])
        links = tuple(
            Link(link.name, (Body(link.name, Inertia.from_pseudo(F @ matrix @ F.T)),))
            for link, F, matrix in zip(self.model.links, self.frames, pseudo, strict=True)
        )
        return replace(model, links=links, reduced=True, letters={})

    def effects(self, dropped: Sequence[Droppable], states: StateSet, velocities: bool) -> Array:
        """How leaving out each of these alone changes the torques, (k, m, n).

        Without `velocities`, those of a model without centrifugal and Coriolis terms.
        """
        found = np.empty((len(dropped), *states.q.shape))
        at, model = coordinates_of(self.model), self.model
        if not dropped:
            return found
        columns = np.stack([self._parameters(x) for x in dropped], -1)
        for part in states.parts(len(model.joints) ** 2 * 10):
            q, qd, qdd = states.at(part).motion
            v = qd if velocities else np.zeros_like(qd)
            here = at.at(q)
            Y = here.rows(regressor(model, here.q, here.rates(v), here.accelerations(v, qdd)))
            found[:, part] = -np.moveaxis(Y @ columns, -1, 0)
            rates = here.rates(qd)
            motion = here.q, here.rates(v), here.accelerations(qd, qdd)
            whole = friction_torque(model, rates) + all_rotor_torques(model, *motion)
            for k, x in enumerate(dropped):
                if x.place is None:  # what is missing without a rotor or a term of friction
                    fewer = _without_motors(model, [x])
                    less = friction_torque(fewer, rates) + all_rotor_torques(fewer, *motion)
                    found[k, part] = here.torques(less - whole)
        return found

    def _parameters(self, x: Droppable) -> Array:
        """The ten parameters of every link that one inertial parameter makes, (10 N,)."""
        ten = np.zeros((len(self.model.links), 10))
        if x.place is not None:
            alone = np.zeros((4, 4))
            F = self.frames[x.joint]
            alone[x.place] = alone[x.place[::-1]] = self.pseudo[x.joint][x.place]
            ten[x.joint] = ten_parameters(Inertia.from_pseudo(F @ alone @ F.T))
        return ten.ravel()


def _without_motors(model: RobotModel, dropped: Sequence[Droppable]) -> RobotModel:
    """The robot without these rotors and terms of friction of its joints and drives."""
    owners: list[Any] = list(model.driven)
    for x in dropped:
        owner = owners[x.joint]
        friction = owner.friction if x.term is None else owner.friction.without(TERMS[x.term])
        rotor = Rotor() if x.term is None else owner.rotor
        owners[x.joint] = replace(owner, rotor=rotor, friction=friction)
    n = len(model.joints)
    return replace(model, joints=tuple(owners[:n]), drives=tuple(owners[n:]))


def greedy(
    start: Array, effects: Array, scale: Array, tolerance: float, joints: Sequence[int] = ()
) -> list[int]:
    """What may be left out, each time the one that leaves the smallest largest error.

    Where their joints are told, those of the last joints go first, as their programs are longest,
    and of each joint those with the smallest effect.

    Args:
        start: The error of the torques before anything is left out, (m, n).
        effects: What leaving out each one adds to it, (k, m, n).
        scale: What errors of each joint are measured by, (n,).
        tolerance: The largest error allowed, relative to the scale.
        joints: The joint of each one, from 0.

    Returns:
        The places of those that are left out, in this order.
    """
    error = start / scale
    relative = effects / scale
    found = list[int]()
    alone = np.abs(relative).max((1, 2), initial=0.0)
    left = list(range(len(effects)))
    if joints:
        left.sort(key=lambda k: (-joints[k], alone[k]))
    while left:
        tried = left[:1] if joints else left
        worst = [float(np.abs(error + relative[k]).max()) for k in tried]
        place = int(np.argmin(worst))
        if worst[place] <= tolerance:
            found.append(left[place])
            error = error + relative[found[-1]]
        elif not joints:
            break
        del left[place]
    return found


LEVELS = (0.02, 0.05, 0.1, 0.2, 0.3, 0.45, 0.6, 0.8, 1.0, 1.0)
"""Shares of the tolerance that are used up one after the other, so that cheap terms go first."""
EVALUATED_NODES, FEWEST_EVALUATIONS = 100_000, 20
"""Nodes evaluated in one walk through a program; and how often the whole program is at least."""
LARGEST_COUNTED = 40
"""Operations beyond which those that go with a term are not counted any further."""
TERM_DEPTH = 5
"""How many operations deep a term is written out."""
COUNTED = ("add", "sub", "mul", "div")
"""Operations that are worth saving."""


@dataclass(frozen=True, slots=True)
class Cut:
    """A sum that becomes one of its terms."""

    node: Node
    kept: Node
    gone: Node
    errors: Array
    """Its estimated error in each torque, relative to the scale, (n,)."""
    price: float
    """The largest of them, for each operation that is saved."""

    @property
    def negative(self) -> bool:
        """Whether the term that is left is subtracted."""
        return self.node.op == "sub" and self.kept is self.node.args[1]


@dataclass(frozen=True, slots=True)
class DroppedTerm:
    """A term that a sum of the program has lost."""

    text: str
    """What it is, in inputs and numbers; three dots for what lies deeper."""
    joint: int
    """The coordinate, from 0, whose torque feels it most."""
    share: float
    """How much, relative to what errors of this joint are measured by."""


def pruned(
    outputs: Sequence[Node],
    inputs: Mapping[str, Array],
    torques: Array,
    scale: Array,
    tolerance: float,
) -> tuple[list[Node], list[DroppedTerm]]:
    """The outputs with terms left out, within the tolerance at some states, and these terms.

    The states are inputs by name, (m,) each, at which the full model has the torques (n, m); errors
    of each joint are measured by the scale (n,).
    """
    kept, dropped = list(outputs), list[DroppedTerm]()
    for level in LEVELS:
        round_ = _Round(kept, inputs, torques, scale[:, None], level * tolerance)
        round_.accept(round_.cuts())
        kept = round_.rebuilt()
        for cut in round_.taken.values():
            worst = int(cut.errors.argmax())
            text = _written(cut.gone, TERM_DEPTH).text
            dropped.append(DroppedTerm(text, worst, float(cut.errors[worst])))
    return kept, dropped


def _written(node: Node, depth: int) -> Infix:
    """An expression as text, down to some depth."""
    if node.constant:
        return PLAIN.literal(f"{float(evaluate([node], {})[0]):.3g}")
    if node.args and not depth:
        return Infix("...")
    if not node.args:
        return PLAIN.literal(repr(node))
    return PLAIN.operation(node.op, [_written(a, depth - 1) for a in node.args])


class _Round:
    """One walk through all sums of a program."""

    def __init__(
        self, outputs: list[Node], inputs: Any, torques: Array, scale: Array, tolerance: float
    ):
        self.outputs = outputs
        self.torques = torques
        self.scale = scale
        self.tolerance = tolerance
        self.nodes = reachable(outputs)
        self.left = max(FEWEST_EVALUATIONS, EVALUATED_NODES // len(self.nodes))
        """How often the program may still be evaluated."""
        self.taken: dict[int, Cut] = {}
        leaves = [node for node in self.nodes if not node.args]
        values = evaluate(leaves, inputs)
        self.leaves = {node.index: value for node, value in zip(leaves, values, strict=True)}
        self.values = self._evaluated()

    def accept(self, cuts: list[Cut]) -> None:
        """Take all cuts if the error allows; otherwise each half by itself."""
        cuts = [cut for cut in cuts if cut.node.index not in self.taken]
        if not cuts or not self.left:
            return
        self.left -= 1
        before = dict(self.taken)
        for cut in cuts:
            self.taken.setdefault(cut.node.index, cut)
        values = self._evaluated()
        found = [np.broadcast_to(values[o.index], self.torques[0].shape) for o in self.outputs]
        errors = np.abs(np.stack(found) - self.torques) / self.scale
        if errors.max() <= self.tolerance:
            return
        self.taken = before
        if len(cuts) > 1:
            self.accept(cuts[: len(cuts) // 2])
            self.accept(cuts[len(cuts) // 2 :])

    def cuts(self) -> list[Cut]:
        """Every cut that may be within the tolerance, the cheapest first."""
        slopes, saved = self._slopes(), _exclusive(self.nodes, self.outputs)
        angles, found = inside_angles(self.outputs), []
        for node in self.nodes:
            slope = slopes.get(node.index)
            if node.constant or slope is None or node.op not in ("add", "sub"):
                continue
            if node.index in angles:
                continue
            first, second = node.args
            for gone, kept in ((second, first), (first, second)):
                effect = slope * self.values[gone.index] / self.scale
                errors = np.abs(effect).max(axis=1)
                if errors.max() <= 2 * self.tolerance:
                    price = float(errors.max()) / (1 + saved[gone.index])
                    found.append(Cut(node, kept, gone, errors, price))
        return sorted(found, key=lambda cut: (cut.price, cut.node.index))

    def rebuilt(self) -> list[Node]:
        """The outputs with the cuts that were taken, in a graph of their own."""
        graph, made = Graph(), dict[int, Node]()
        for node in self.nodes:
            cut = self.taken.get(node.index)
            if cut is None:
                made[node.index] = rebuilt(node, graph, made)
            else:
                kept = made[cut.kept.index]
                made[node.index] = graph.neg(kept) if cut.negative else kept
        return [made[node.index] for node in self.outputs]

    def _evaluated(self) -> dict[int, Any]:
        """The values of all nodes, with the cuts taken so far."""
        cuts = {k: ("neg" if x.negative else "kept", [x.kept.index]) for k, x in self.taken.items()}
        steps = [(k, *cuts.get(k, (op, args))) for k, op, args in steps_of(self.nodes)]
        with np.errstate(invalid="ignore"):  # a cut may leave a loop that does not close
            return run(steps, dict(self.leaves), {**FLOATS, "kept": lambda value: value})

    def _slopes(self) -> dict[int, Array]:
        """Derivatives of the outputs by each value, (n, m) or (n, 1), through sums and products.

        What is inside a function has none: it is not cut.
        """
        found: dict[int, Array] = {}
        values: dict[int, Any] = self.values
        for node, one in zip(self.outputs, np.eye(len(self.outputs))[..., None], strict=True):
            found[node.index] = found.get(node.index, 0.0) + one
        for node in reversed(self.nodes):
            slope = found.get(node.index)
            if slope is None or node.op not in (*COUNTED, "neg"):
                continue
            partials = slopes(node.op, values[node.index], [values[a.index] for a in node.args])
            for operand, by in zip(node.args, partials, strict=True):
                found[operand.index] = found.get(operand.index, 0.0) + slope * by
        return found


def _exclusive(nodes: Sequence[Node], outputs: Sequence[Node]) -> dict[int, int]:
    """How many operations each term of a sum is the only user of, its own included."""
    used = uses(outputs)

    def size(node: Node) -> int:
        left: dict[int, int] = {}
        total, stack = 0, [node]
        while stack and total < LARGEST_COUNTED:
            at = stack.pop()
            total += at.op in COUNTED and not at.constant
            for a in at.args:
                left[a.index] = left.get(a.index, used[a.index]) - 1
                if not left[a.index]:
                    stack.append(a)
        return total

    return {a.index: size(a) for node in nodes if node.op in ("add", "sub") for a in node.args}


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
MOST_PARAMETER_STATES = 4000
MOST_PRUNING_STATES = 800
FEWEST_PRUNING_STATES = 60
"""States by which parameters and terms of sums are chosen; the result is compared at all."""
STARTS = 4
"""States from which the worst state of each joint is searched."""
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
    terms: tuple[DroppedTerm, ...] = ()
    """What sums of the program have lost."""


def kernel_of(robot: Robot, program: Program) -> Kernel:
    """A program for the torques of a robot, compiled."""
    return Kernel(robot.model, request_of(robot), "float64", robot.cache, program)


def request_of(robot: Robot) -> Request:
    """Inverse dynamics of a robot."""
    return Request("inverse_dynamics", effort=robot.search_effort)


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

    def errors(self, model: Model) -> Callable[[Motion], Array]:
        """From a motion to the errors relative to the scale, by both kernels, (m, n)."""
        kernel = kernel_of(model.robot, model.program)
        return lambda motion: (
            np.abs(kernel(*motion) - self.robot.inverse_dynamics(*motion)) / self.scale
        )

    def climbed(self, model: Model, over: Over, states: StateSet) -> StateSet | None:
        """The state in which the error of each joint is largest, by steps from some of these."""
        cube = state_cube(self.robot, over, states)
        if cube is None:
            return None
        (places, motion_at), errors = cube, self.errors(model)
        sizes, rows = errors(states.motion), []
        for i, order in enumerate(np.argsort(-sizes, axis=0, kind="stable").T):
            error: Sizes = partial(lambda i, x: errors(motion_at(x))[:, i], i)
            rows.append(climbed(error, places[order[:STARTS]]))
        q, qd, qdd = motion_at(np.array(rows))
        words = "the worst of each joint that steps from these find"
        return StateSet(q, qd, qdd, np.full(len(q), 1 / len(q)), words)

    def _some(self, states: StateSet, most: int) -> StateSet:
        """At most so many states, evenly taken, and those in which errors were too large."""
        places = np.linspace(0, len(states) - 1, min(len(states), most)).round().astype(int)
        return states.at(places).joined(self.worst)

    def _dropped(self, way: Way, some: StateSet, tolerance: float) -> tuple[Droppable, ...] | None:
        """The parameters that may be dropped; None if nothing is within the tolerance."""
        start = np.zeros_like(some.q)
        if not way.velocities:
            start = -self.robot.coriolis_vector(some.q, some.qd)
            if np.abs(start / self.scale).max() > tolerance:
                return None
        effects = self.regrouped.effects(self.droppable, some, way.velocities)
        joints = [x.joint for x in self.droppable] if way.distal else []
        places = greedy(start, effects, self.scale, way.share * tolerance, joints)
        return tuple(self.droppable[k] for k in places)

    def _model(self, dropped: tuple[Droppable, ...], velocities: bool) -> Model:
        robot = self.robot
        if dropped:
            robot = Robot(
                self.regrouped.without(dropped),
                cache=robot.cache,
                search_effort=robot.search_effort,
            )
        return Model(robot, dropped, velocities, _program(robot, self._outputs(robot, velocities)))

    def _outputs(self, robot: Robot, velocities: bool) -> list[Node]:
        """The torques as nodes."""

        def torques(s: TracedRobot, q: Array, qd: Array, qdd: Array) -> Array:
            v = qd if velocities else s.zero
            return s.torques(q, v, qdd) + s.friction(q, qd)

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
        inputs = numbered_columns(dict(zip(("q", "qd", "qdd"), some.motion, strict=True)))
        torques = self.robot.inverse_dynamics(*some.motion).T
        kept, terms = pruned(outputs, inputs, torques, self.scale, tolerance)
        program = _program(model.robot, settle(kept))
        short = program.whole.total <= MOST_SHORTENED.value
        better = _program(model.robot, settle(shortest_of([kept]) if short else reduce(kept)))
        program = min(program, better, key=lambda p: p.whole.total)
        return replace(model, program=program, terms=tuple(terms))


def _program(robot: Robot, outputs: list[Node]) -> Program:
    names = QUANTITIES["inverse_dynamics"].arguments
    return Program.from_outputs(node_array(outputs, (robot.n,)), dict.fromkeys(names, robot.n))
