"""A robot as it is traced: what quantities are made of, by the fewest operations."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from armdyn.arrays import Array, frozen
from armdyn.errors import SingularityError
from armdyn.forks import cached_property
from armdyn.formulations.coordinates import Coordinates, StandingMap
from armdyn.formulations.external import exerted_wrench
from armdyn.formulations.friction import friction_torque
from armdyn.formulations.joint_wrenches import LinkMotion
from armdyn.formulations.kinematics import Turning, world_frames, wrench_torques
from armdyn.formulations.newton_euler import NewtonEuler, newton_euler
from armdyn.formulations.regressor import wrench_columns
from armdyn.formulations.rotors import (
    rotor_inertias,
    rotor_matrix,
    rotor_torques,
    spin_loads,
    spin_matrix,
    spin_momenta,
    spin_torques,
)
from armdyn.formulations.solve import solve_ltdl
from armdyn.formulations.springs import spring_torques, spring_wrenches
from armdyn.graph.count import Operations, count
from armdyn.graph.differentiate import gradient, jacobian, jvp
from armdyn.graph.evaluate import settle
from armdyn.graph.nodes import Graph, Node, node_array, trace
from armdyn.graph.program import Program
from armdyn.graph.visit import reachable, transcribe
from armdyn.loops.coordinates import coordinates_of
from armdyn.loops.regroup import regrouped
from armdyn.model import RobotModel
from armdyn.model.edit import without_rounding
from armdyn.quantities.formulations import FORMULATIONS, Torques, moving
from armdyn.quantities.quantity import ARGUMENTS, WRENCH
from armdyn.quantities.request import Request
from armdyn.shorten.canonical.frames import (
    ZERO_TOLERANCE,
    CanonicalRobot,
    canonical,
    with_tip_phase,
)
from armdyn.shorten.constant import cleared
from armdyn.shorten.minimal.mass import minimal_mass_matrix
from armdyn.shorten.minimal.options import options
from armdyn.shorten.minimal.slopes import torque_slopes
from armdyn.shorten.minimal.torques import minimal
from armdyn.shorten.parts import MASS_MATRIX, Part, forward_dynamics, symmetric
from armdyn.shorten.run_time import (
    designed,
    heavier,
    loaded,
    payload_in_link,
    weighed,
    weightless,
)
from armdyn.shorten.shortest import QUICK, BaseBranch, SearchBudget
from armdyn.shorten.symbolic import symbolic

NUMBERS = ("payload", "gravity", "base_motion")
"""Options that are arguments at run time, after those of the quantity."""


class RequestedRobot(ABC):
    """The robot of a request, in the forms that quantities are made of.

    Vectors of the coordinates are nodes of shape (n,), or floats (..., n); what the formulations
    take and give belongs to all N moving joints, and `here` goes between the two.
    """

    model: RobotModel
    request: Request
    at: Coordinates
    zero: Array
    """Coordinates at rest."""
    plain: RobotModel
    """The model, of nodes with zeros where conversions left rounding, so that they fold."""
    rotors: Array
    """Inertias in the order of `rotor_inertias`."""
    momenta: Array
    """Angular momenta of rotors that spin, as `spin_momenta` has them."""

    @abstractmethod
    def vector(self, name: str) -> Array:
        """An argument."""

    @abstractmethod
    def here(self, q: Array) -> StandingMap:
        """The map between coordinates and all joints at positions."""

    @abstractmethod
    def nodes(self, values: Array) -> Array:
        """Every entry a node, or the floats themselves."""

    @abstractmethod
    def aside(self, friction: Array) -> Array:
        """Terms of friction; of nodes, symbols that are put in at the end."""

    @abstractmethod
    def links(self, q: Array, qd: Array, qdd: Array, weight: bool = True) -> Array:
        """Torques of the links at the coordinates."""

    @abstractmethod
    def full_mass_matrix(self, q: Array, times: float = 1.0) -> Array:
        """M of all joints as if no rotor spun; with `times`, that of a robot so much heavier."""

    @abstractmethod
    def accelerations(self, q: Array, qd: Array, tau: Array) -> Array | None:
        """M⁻¹ (τ - C q̇ - g) for torques less friction; None if it is left to those who ask."""

    @property
    def described(self) -> RobotModel:
        """The plain model as it stands, with the arguments that are not inertias in it."""
        return self.standing[0]

    @cached_property
    def standing(self) -> tuple[RobotModel, Turning]:
        """The robot as `described`, and how its base turns."""
        model = self.plain
        if self.request.gravity:
            model = replace(model, gravity=self.vector("gravity"))
        if not self.request.base_motion:
            return model, None
        return moving(model, self.vector("base_motion"), self.request.formulation)

    def formulated(self, q: Array, qd: Array, qdd: Array) -> Torques:
        """The links by the formulation of the request, over all joints."""
        (model, turning), at = self.standing, self.here(q)
        assert self.request.formulation is not None
        formulation = FORMULATIONS[self.request.formulation]
        return formulation(model, *at.motion(qd, qdd), wrench=self.wrench(at.q), turning=turning)

    def torques(self, q: Array, qd: Array, qdd: Array, weight: bool = True) -> Array:
        """Torques of links and rotors at the coordinates; springs go with the weight."""
        tau = self.links(q, qd, qdd, weight) + self.rotor_torques(q, qd, qdd)
        tau = tau + self.spin_torques(q, qd, qdd)
        return tau + self.springs(q) if weight else tau

    def springs(self, q: Array) -> Array:
        """Torques against the springs at the coordinates."""
        if not self.model.springs:
            return self.zero
        at = self.here(q)
        return at.torques(spring_torques(self.plain, self.plain.springs, at.q))

    def rotor_torques(self, q: Array, qd: Array, qdd: Array) -> Array:
        """Torques of the rotors at the coordinates."""
        at = self.here(q)
        return at.torques(rotor_torques(self.model, at.accelerations(qd, qdd), self.rotors))

    def spin_torques(self, q: Array, qd: Array, qdd: Array) -> Array:
        """What the coordinates need because rotors spin, without those torques."""
        if not self.model.spins:
            return self.zero
        at, (model, turning) = self.here(q), self.standing
        return at.torques(spin_torques(model, *at.motion(qd, qdd), self.momenta, turning))

    def recursion(
        self, q: Array, qd: Array, qdd: Array, *, loads: bool, more: Array | None = None
    ) -> NewtonEuler:
        """Newton-Euler of the links, with the wrenches of the request if these loads are asked.

        What links exert besides is `more`, as formulations take it.
        """
        model, turning = self.standing
        motion = self.here(q).motion(qd, qdd)
        payload = self.vector("payload") if self.request.payload else None
        exerted = self.exerted(motion) if loads else None
        if more is not None:
            exerted = more if exerted is None else exerted + more
        if payload is not None:
            # these are the nodes of the call below, so the motion is computed once
            outward = newton_euler(model, *motion, turning=turning)
            exerted = held_wrench(model, outward, payload, exerted)
        return newton_euler(model, *motion, exerted, turning)

    def mass_matrix(self, q: Array, times: float = 1.0) -> Array:
        """M at the coordinates, rotors included; `times` as in `full_mass_matrix`."""
        at = self.here(q)
        M = self.full_mass_matrix(q, times)
        if self.model.spins:
            M = M + spin_matrix(self.plain, at.q, times * self.momenta)
        return at.matrix(M)

    def friction(self, q: Array, qd: Array) -> Array:
        """Friction at the coordinates, if the request wants it, put aside."""
        return self.aside(self.friction_torque(q, qd)) if self.request.friction else self.zero

    def friction_torque(self, q: Array, qd: Array) -> Array:
        """Friction at the coordinates."""
        at = self.here(q)
        return at.torques(friction_torque(self.model, at.rates(qd)))

    def loads(self, q: Array) -> Array:
        """Torques against the wrenches that the request has."""
        if not self.request.wrench:
            return self.zero
        at = self.here(q)
        frames = world_frames(self.described, at.q)
        full = wrench_torques(self.described, frames, self.wrench(at.q)) + 0.0 * at.q
        return at.torques(full)

    def exerted(self, motion: tuple[Array, Array, Array]) -> Array | None:
        """What links exert on the environment, springs and rotors in a motion of all joints."""
        model, turning = self.standing
        wrenches = [self.wrench(motion[0])]
        if model.springs:
            wrenches.append(spring_wrenches(self.plain, self.plain.springs, motion[0])[:-1])
        if model.spins:
            wrenches.append(spin_loads(model, *motion, self.momenta, turning).wrench)
        some = [wrench for wrench in wrenches if wrench is not None]
        return sum(some[1:], some[0]) if some else None

    def wrench(self, q: Array) -> Array | None:
        """What each link exerts on the environment, as formulations take it; q of all joints."""
        if not self.request.wrench:
            return None
        on = {link: self.vector(wrench_name(link)) for link in self.request.wrench}
        return exerted_wrench(self.described, q, on, self.request.wrench_frame)


@dataclass(eq=False)
class TracedRobot(RequestedRobot):
    """The robot of a request in a graph of its own, by the fewest operations."""

    model: RobotModel
    request: Request
    arguments: tuple[str, ...] = ()
    """The vectors of coordinates that the quantity is a function of."""
    graph: Graph = field(default_factory=Graph)
    budget: SearchBudget = QUICK
    snap: float = ZERO_TOLERANCE
    """What counts as an exact zero or quarter turn, see `canonical`."""
    as_in_books: bool = False
    """Whether quantities are left as they are written, and their parts are those of textbooks."""

    def __post_init__(self) -> None:
        self.at = coordinates_of(self.model)
        self.n = len(self.model.independent)
        self.zero = np.zeros(self.n)
        self.put_aside: dict[str, Node] = {}
        """Terms by the names of the symbols that stand for them: those of friction, and positions
        of passive joints that are solved for. A term may have symbols of earlier ones in it."""
        self.groups: dict[str, str] = {}
        """The group of terms, "friction" or "rotors", of the symbols that are counted apart."""
        self.in_plane: Callable[..., Array] | None = None
        """Writes torques in axes of the plane that all links move in, where they are to be so."""
        self._cut: dict[bool, tuple[BaseBranch, ...]] = {}
        self._stood: dict[tuple[int, ...], StandingMap] = {}

    @cached_property
    def inputs(self) -> dict[str, int]:
        """Length of each argument, in order."""
        numbers = [name for name in NUMBERS if getattr(self.request, name)]
        sizes = {name: ARGUMENTS[name].length(self.n) for name in (*self.arguments, *numbers)}
        sizes |= {wrench_name(link): WRENCH.length(self.n) for link in self.request.wrench}
        sizes |= {"passive": 2 * len(self.model.passive)} if self.request.solved else {}
        return sizes | ({"design": len(self.request.design)} if self.request.design else {})

    def here(self, q: Array) -> StandingMap:
        """The map between coordinates and all joints at positions that are nodes."""
        key = tuple(node.index for node in self.nodes(q))
        if key not in self._stood:
            passive = self.vector("passive") if self.request.solved else None
            self._stood[key] = here = self.at.at(q, passive)
            self.put_aside |= here.solved
        return self._stood[key]

    def positions(self, q: Array) -> list[Node]:
        """The coordinates, and the symbols of passive joints that have some there."""
        return [*q, *self.here(q).unknown]

    def by_positions(self, outputs: Iterable[Node], q: Array) -> Array:
        """The derivatives of nodes by coordinates that are symbols, (m, n)."""
        nodes = list(outputs)
        columns = [self.along(nodes, q, list(unit)) for unit in np.eye(len(q))]
        return np.array(columns, dtype=object).T

    def along(self, outputs: Sequence[Node], q: Array, dq: Sequence[Any]) -> list[Node]:
        """The derivatives of nodes along a direction of coordinates that are symbols."""
        here, direction = self.here(q), list(dq)
        if here.unknown:
            direction += list(self.nodes(here.slopes @ np.array(direction, dtype=object)))
        return jvp(outputs, self.positions(q), direction)

    def gradient(self, output: Node, q: Array) -> Array:
        """The derivatives of one node by coordinates that are symbols, (n,)."""
        here = self.here(q)
        found = np.array(gradient(output, self.positions(q)), dtype=object)
        if not here.unknown:
            return found
        return self.nodes(found[: len(q)] + found[len(q) :] @ here.slopes)

    def following(self) -> dict[str, dict[str, Node]]:
        """The derivatives of passive joints that are solved for, by the names of their symbols."""
        slopes = {}
        for key, here in self._stood.items():
            names = [self.graph.nodes[k].name for k in key]
            rows = self.nodes(here.slopes) if here.unknown else ()
            for symbol, row in zip(here.unknown, rows, strict=True):
                slopes[symbol.name] = dict(zip(names, row, strict=True))
        return slopes

    def vector(self, name: str) -> Array:
        """An argument as nodes."""
        return self.graph.inputs(name, self.inputs[name])

    # the robot in its forms

    @cached_property
    def numbers(self) -> CanonicalRobot:
        """The robot in canonical frames."""
        tree = regrouped(self.model)
        return cleared(with_tip_phase(canonical(tree, self.snap)), tree)

    @cached_property
    def design(self) -> dict[str, Node]:
        """The numbers of the robot that are an argument, by their names."""
        names = self.request.design
        return dict(zip(names, self.vector("design"), strict=True)) if names else {}

    @cached_property
    def runtime(self) -> CanonicalRobot | None:
        """The robot with symbols for numbers that are arguments; None if there are none."""
        if not (self.request.payload or self.request.gravity or self.design):
            return None
        numbers = canonical(self.model)
        robot = symbolic(numbers, self.graph)
        if self.design:
            robot = designed(robot, numbers, self.design)
        if self.request.gravity:
            still = canonical(replace(self.model, gravity=frozen(np.zeros(3))))
            robot = weighed(self.model, symbolic(still, self.graph), self.vector("gravity"))
        if self.request.payload:
            robot = loaded(self.model, robot, self.vector("payload"))
        return robot

    @cached_property
    def plain(self) -> RobotModel:
        """The model with zeros where conversions left rounding, so that they fold."""
        return without_rounding(self.model)

    @cached_property
    def rotors(self) -> Array:
        """Inertias in the order of `rotor_inertias` as parameters; zero stays a number."""
        nodes, design = [], self.design
        for i, inertia in enumerate(rotor_inertias(self.model).tolist(), start=1):
            nodes.append(self.graph.parameter(f"Ia{i}") if inertia else self.graph.number(0))
            self.graph.values |= {f"Ia{i}": inertia} if inertia else {}
            if f"N{i}" in design:
                ratio = design[f"N{i}"]
                nodes[-1] = ratio * ratio * self.model.driven[i - 1].rotor.inertia
            nodes[-1] = design.get(f"Ia{i}", nodes[-1])
        return np.array(nodes, dtype=object)

    @cached_property
    def momenta(self) -> Array:
        """Angular momenta of rotors that spin, as `spin_momenta` has them."""
        momenta = spin_momenta(self.model, self.rotors)
        for i, owner in enumerate(self.model.driven):
            if owner.rotor.spins and f"N{i + 1}" in self.design:
                momenta[i] = self.design[f"N{i + 1}"] * owner.rotor.inertia
        return momenta

    def stand_in(self, term: Node, graph: Graph, group: str = "") -> Node:
        """A symbol in a graph for a term of a group that is put in at the end."""
        symbol = graph.input(f"aside {len(self.put_aside)}")
        self.put_aside[symbol.name] = term
        self.groups[symbol.name] = group
        return symbol

    def nodes(self, values: Array) -> Array:
        """Every entry a node."""
        return trace(self.graph, lambda: values)

    def spin_slopes(self, q: Array, qd: Array, qdd: Array) -> Array:
        """Their derivatives by q, and half those of their velocity terms by q̇, (2, n, n)."""
        if not self.model.spins:
            return np.zeros((2, self.n, self.n))
        of_rates = self.nodes(self.spin_torques(q, qd, self.zero))
        of_q = self.by_positions(self.nodes(self.spin_torques(q, qd, qdd)), q)
        return self.nodes(np.stack([of_q, 0.5 * np.asarray(jacobian(of_rates, list(qd)))]))

    def links(self, q: Array, qd: Array, qdd: Array, weight: bool = True) -> Array:
        """Torques of the links at the coordinates, by the fewest operations."""
        at = self.here(q)
        if self.request.base_motion:
            return at.torques(self.recursion(q, qd, qdd, loads=False).tau)
        motion = {"q": at.q, "qd": at.rates(qd), "qdd": at.accelerations(qd, qdd)}
        motion = {name: v for name, v in motion.items() if name == "q" or v.dtype == object}
        if self.runtime is not None and not self.as_in_books:
            robot = self.runtime if weight else weightless(self.runtime)
            # the minimal formulation makes use of the number 0 in place of a vector at rest
            v, a = (motion.get(name, 0.0) for name in ("qd", "qdd"))
            return at.torques(minimal(robot, motion["q"], v, a, options(robot).quick).tau)
        if self.in_plane is not None:
            return at.torques(self.in_plane(regrouped(self.plain), at, qd, qdd, weight))
        tau = np.empty(len(self.model.joints), dtype=object)
        for branch in self._branches(weight):
            part = Part("torques", tuple(motion))
            tau[branch.members] = branch.shortest(part, motion, self.rotors, self.budget)
        return at.torques(tau)

    def full_mass_matrix(self, q: Array, times: float = 1.0) -> Array:
        """The same of all joints, as if no rotor spun."""
        motion = {"q": self.here(q).q}
        if self.runtime is not None and not self.as_in_books:
            M = minimal_mass_matrix(heavier(self.runtime, times), motion["q"])
        else:
            M = np.zeros((len(self.model.joints),) * 2, dtype=object)
            for branch in self._branches(weight=False):
                lower = branch.times(times).shortest(MASS_MATRIX, motion, self.rotors, self.budget)
                M[np.ix_(branch.members, branch.members)] = symmetric(lower)
        return M + rotor_matrix(self.model, times * self.rotors)

    def accelerations(self, q: Array, qd: Array, tau: Array) -> Array | None:
        """M⁻¹ (τ - C q̇ - g) by the fewest operations; None if no such program is searched for.

        Torques are those less friction.
        """
        rest = tau - self.loads(q) - self.springs(q)
        apart = self.model.is_coupled or self.request.base_motion or self.request.method
        if apart or self.runtime is not None or self.as_in_books:
            return None
        qdd = np.empty(len(self.model.joints), dtype=object)
        for branch in self._branches(weight=True):
            some = [rotor.op == "parameter" for rotor in self.rotors[branch.members]]
            given = {"q": q, "qd": qd, "tau": rest}
            part = forward_dynamics(some)
            qdd[branch.members] = branch.shortest(part, given, self.rotors, self.budget)
        return qdd

    def _branches(self, weight: bool) -> tuple[BaseBranch, ...]:
        if weight not in self._cut:
            if self.as_in_books:
                robot = self.runtime or symbolic(self.numbers, self.graph)
                cut = BaseBranch.of_books(robot if weight else weightless(robot))
            else:
                robot = self.numbers if weight else weightless(self.numbers)
                cut = BaseBranch.all_of(robot, self.graph)
            self._cut[weight] = cut
        return self._cut[weight]

    @property
    def is_constant(self) -> bool:
        """Whether the numbers of links make the mass matrix of a branch in the graph constant."""
        return any(branch.matrix is not None for cut in self._cut.values() for branch in cut)

    def slopes(self, q: Array, qd: Array, qdd: Array) -> Array:
        """∂τ/∂q and C at the coordinates by composite bodies, (2, n, n), without friction.

        As in books they are by differentiation, C = ½ ∂(C q̇)/∂q̇, which is quadratic in q̇.
        """
        if self.as_in_books:
            of_q = self.by_positions(self.nodes(self.torques(q, qd, qdd)), q)
            of_rates = self.nodes(self.torques(q, qd, self.zero, weight=False))
            C = 0.5 * np.asarray(jacobian(of_rates, list(qd)))
            return self.nodes(np.stack([of_q, C]))
        at, spins = self.here(q), self.spin_slopes(q, qd, qdd)
        plain = self.runtime is None and self.at.is_linear
        if plain and all(branch.matrix is not None for branch in self._branches(weight=True)):
            of_q = self.by_positions(self.nodes(self.torques(q, qd, qdd)), q)
            return self.nodes(np.stack([of_q, 0.0 * of_q + spins[1]]))
        robot = self.runtime or symbolic(self.numbers, self.graph)
        both = self.nodes(np.array(torque_slopes(robot, *at.motion(qd, qdd)), dtype=object))
        if self.at.is_linear:
            both = np.stack([at.matrix(each) for each in both])
            both[0] = both[0] + self.by_positions(self.nodes(self.springs(q)), q)
            return self.nodes(both + spins if self.model.spins else both)
        C = at.coriolis(self.nodes(self.full_mass_matrix(q)), both[1], qd)
        C = C + spins[1] if self.model.spins else C
        of_q = self.by_positions(self.nodes(self.torques(q, qd, qdd)), q)
        return self.nodes(np.stack([of_q, C]))

    def aside(self, friction: Array) -> Array:
        """Symbols for terms of friction, which are counted apart and put in at the end."""
        symbols = self.nodes(friction)
        for place, node in np.ndenumerate(symbols):
            if not node.constant:
                symbols[place] = self.stand_in(node, self.graph, "friction")
        return symbols

    def solve(self, M: Array, b: Array) -> Array:
        """M⁻¹ b, b (n,) or (n, k); where the mass matrix is singular, not a number."""
        # coupled joints know no tree, so their matrix has no zeros
        whole = [tuple(range(k + 1)) for k in range(len(M))]
        paths = whole if self.model.is_coupled else self.model.paths
        return solve_ltdl(paths, self.nodes(M), self.nodes(b), self.graph.guard)

    def built(self, what: str, build: Callable[[], Array]) -> Array:
        """An array of nodes; `what` names it in errors."""
        with self.naming(what):
            return self.nodes(build())

    def ways(self, what: str, build: Callable[[], Array]) -> list[Array]:
        """The same in one or two ways: links that move in one plane are written in its axes too."""
        ways = [self.built(what, build)]
        self.in_plane = self.at.in_plane
        return [*ways, self.built(what, build)] if self.in_plane else ways

    def program(self, what: str, outputs: Array, inputs: Mapping[str, int]) -> Program:
        """The program of outputs with what is aside put in, with the length of each argument."""
        self.groups |= {rotor.name: "rotors" for rotor in self.rotors if rotor.name}
        nodes = list(outputs.flat)

        def without(*groups: str) -> Operations:
            names = {name for name, group in self.groups.items() if group in groups}
            there = names & {x.name for x in reachable([*nodes, *self.put_aside.values()])}
            return count(settle(self.whole(nodes, zeros=names))) if there else program.whole

        def split() -> tuple[Operations, Operations]:
            smooth = without("friction")
            try:
                return without("friction", "rotors"), smooth
            except ZeroDivisionError:  # links that are singular have no count without rotors
                return smooth, smooth

        with self.naming(what):
            settled = node_array(settle(self.whole(nodes)), outputs.shape)
            program = Program.from_outputs(settled, inputs)
            return replace(program, split=split)

    def whole(self, outputs: Iterable[Node], zeros: Set[str] = frozenset()) -> list[Node]:
        """The outputs with the terms that are put aside in place of the symbols for them.

        In the terms of a later step of an integrator there are symbols of earlier ones. Symbols
        that are named as zeros are that.
        """
        if not self.put_aside and not zeros:
            return list(outputs)
        graph = Graph()
        nodes = dict.fromkeys(zeros, graph.number(0))
        for name, term in self.put_aside.items():
            if name not in nodes:
                (nodes[name],) = transcribe([term], graph, lambda node: nodes.get(node.name))
        return transcribe(outputs, graph, lambda node: nodes.get(node.name))

    @contextmanager
    def naming(self, what: str) -> Iterator[None]:
        """Errors that name what is built where a mass matrix is singular at every state."""
        try:
            yield
        except ZeroDivisionError:
            raise SingularityError(
                f"{what}: the mass matrix is singular whatever the configuration, because "
                f"a joint of {self.model.name!r} moves no inertia; give its link a mass, or the "
                "joint a rotor inertia"
            ) from None


def wrench_name(link: str) -> str:
    """Name of the argument that is the wrench on a link."""
    return f"wrench on {link!r}"


# numbers that are known at run time


def held_wrench(
    model: RobotModel, outward: NewtonEuler | LinkMotion, payload: Array, exerted: Array | None
) -> Array:
    """What links exert, (N, 6), with a payload at the tool that moves with its link."""
    at = model.flange.link
    force, moment = wrench_columns(outward.w[at], outward.wd[at], outward.vd[at])
    held = np.concatenate([force, moment]) @ payload_in_link(model, payload)
    rows = np.array(np.zeros((len(model.joints), 6)) if exerted is None else exerted, dtype=object)
    rows[at] = rows[at] + held
    return rows
