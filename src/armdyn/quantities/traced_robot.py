"""A robot as it is traced: what most quantities are made of, by the fewest operations."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np

from armdyn.arrays import Array
from armdyn.errors import SingularityError
from armdyn.formulations.external import exerted_wrench
from armdyn.formulations.friction import friction_torque
from armdyn.formulations.kinematics import world_frames, wrench_torques
from armdyn.formulations.newton_euler import NewtonEuler
from armdyn.formulations.rotors import rotor_matrix, rotor_torques
from armdyn.formulations.solve import solve_ltdl
from armdyn.formulations.springs import spring_torques, spring_wrenches
from armdyn.graph.count import count
from armdyn.graph.program import Program
from armdyn.loops.planar_torques import is_planar, planar_torques
from armdyn.loops.regroup import regrouped
from armdyn.loops.standing import StandingLoops
from armdyn.quantities.finish import finished_program, node_array
from armdyn.quantities.recursion import recursion
from armdyn.quantities.traced_model import TracedModel
from armdyn.quantities.traced_model import wrench_name as wrench_name
from armdyn.shorten.branch import Branch
from armdyn.shorten.minimal.mass import minimal_mass_matrix
from armdyn.shorten.minimal.options import options
from armdyn.shorten.minimal.slopes import torque_slopes
from armdyn.shorten.minimal.torques import minimal
from armdyn.shorten.parts import MASS_MATRIX, Part, forward_dynamics, symmetric
from armdyn.shorten.passes import reduce
from armdyn.shorten.run_time import weightless
from armdyn.shorten.shorten import shortest_of
from armdyn.shorten.symbolic import symbolic

MOST_SHORTENED, MOST_PASSED = 700, 6000
"""Operations of a quantity beyond which it goes through the passes alone by default, and beyond
which it is left as it is written."""


@dataclass(eq=False)
class TracedRobot(TracedModel):
    """The robot of a request in a graph of its own.

    Vectors of the coordinates are nodes of shape (n,); what the formulations take and give belongs
    to all N moving joints, and `here` goes between the two.
    """

    def torques(self, q: Array, qd: Array, qdd: Array, weight: bool = True) -> Array:
        """Torques of links and rotors at the coordinates; springs go with the weight."""
        tau = self.links(q, qd, qdd, weight) + self.rotor_torques(q, qd, qdd)
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

    def links(self, q: Array, qd: Array, qdd: Array, weight: bool = True) -> Array:
        """Torques of the links at the coordinates, by the fewest operations."""
        at = self.here(q)
        if self.request.base_motion:
            return at.torques(self.recursion(q, qd, qdd, loads=False).tau)
        motion = {"q": at.q, "qd": at.rates(qd), "qdd": at.accelerations(qd, qdd)}
        motion = {name: v for name, v in motion.items() if name == "q" or v.dtype == object}
        if self.runtime is not None:
            robot = self.runtime if weight else weightless(self.runtime)
            # the minimal formulation makes use of the number 0 in place of a vector at rest
            v, a = (motion.get(name, 0.0) for name in ("qd", "qdd"))
            return at.torques(minimal(robot, motion["q"], v, a, options(robot).quick).tau)
        if self.in_plane:
            assert isinstance(at, StandingLoops)
            return at.torques(planar_torques(regrouped(self.plain), at, qd, qdd, weight))
        tau = np.empty(len(self.model.joints), dtype=object)
        for branch in self._branches(weight):
            part = Part("torques", tuple(motion))
            tau[branch.members] = branch.shortest(part, motion, self.rotors, self.budget)
        return at.torques(tau)

    def recursion(
        self, q: Array, qd: Array, qdd: Array, *, loads: bool, more: Array | None = None
    ) -> NewtonEuler:
        """Newton-Euler of the links, with the wrenches of the request if these loads are asked.

        What links exert besides is `more`, as formulations take it.
        """
        model, turning = self.standing
        at = self.here(q)
        motion = at.q, at.rates(qd), at.accelerations(qd, qdd)
        payload = self.vector("payload") if self.request.payload else None
        exerted = self.exerted(motion[0]) if loads else None
        if more is not None:
            exerted = more if exerted is None else exerted + more
        return recursion(model, motion, exerted, turning, payload)

    def mass_matrix(self, q: Array, times: float = 1.0) -> Array:
        """M at the coordinates, rotors included; with `times`, that of a robot so much heavier."""
        return self.here(q).matrix(self.full_mass_matrix(q, times))

    def full_mass_matrix(self, q: Array, times: float = 1.0) -> Array:
        """The same of all joints."""
        motion = {"q": self.here(q).q}
        if self.runtime is not None:
            links = (
                replace(link, J=times * link.J, u=times * link.u, M=times * link.M)
                for link in self.runtime.links
            )
            M = minimal_mass_matrix(replace(self.runtime, links=tuple(links)), motion["q"])
        else:
            M = np.zeros((len(self.model.joints),) * 2, dtype=object)
            for branch in self._branches(weight=False):
                lower = branch.times(times).shortest(MASS_MATRIX, motion, self.rotors, self.budget)
                M[np.ix_(branch.members, branch.members)] = symmetric(lower)
        return M + rotor_matrix(self.model, times * self.rotors)

    def accelerations(self, q: Array, qd: Array, tau: Array) -> Array | None:
        """M⁻¹ (τ - C q̇ - g) by the fewest operations; None if no such program is searched for.

        Torques are those less what springs need.
        """
        if self.runtime is not None or self.model.is_coupled or self.request.base_motion:
            return None
        qdd = np.empty(len(self.model.joints), dtype=object)
        for branch in self._branches(weight=True):
            some = [rotor.op == "parameter" for rotor in self.rotors[branch.members]]
            given = {"q": q, "qd": qd, "tau": tau}
            part = forward_dynamics(some)
            qdd[branch.members] = branch.shortest(part, given, self.rotors, self.budget)
        return qdd

    def _branches(self, weight: bool) -> tuple[Branch, ...]:
        if weight not in self._cut:
            robot = self.numbers if weight else weightless(self.numbers)
            self._cut[weight] = Branch.all_of(robot, self.graph)
        return self._cut[weight]

    def slopes(self, q: Array, qd: Array, qdd: Array) -> Array:
        """∂τ/∂q and C at the coordinates by composite bodies, (2, n, n), without friction."""
        at = self.here(q)
        motion = at.q, at.rates(qd), at.accelerations(qd, qdd)
        robot = self.runtime or symbolic(self.numbers, self.graph)
        both = self.nodes(np.array(torque_slopes(robot, *motion), dtype=object))
        if self.at.is_linear:
            both = np.stack([at.matrix(each) for each in both])
            both[0] = both[0] + self.by_positions(self.nodes(self.springs(q)), q)
            return self.nodes(both)
        C = at.coriolis(self.nodes(self.full_mass_matrix(q)), both[1], qd)
        of_q = self.by_positions(self.nodes(self.torques(q, qd, qdd)), q)
        return self.nodes(np.stack([of_q, C]))

    def friction(self, q: Array, qd: Array) -> Array:
        """Friction at the coordinates, if the request wants it, put aside."""
        return self.aside(self.friction_torque(q, qd)) if self.request.friction else self.zero

    def aside(self, friction: Array) -> Array:
        """Symbols for terms of friction, which are counted apart and put in at the end."""
        symbols = self.nodes(friction)
        for place, node in np.ndenumerate(symbols):
            if not node.constant:
                symbols[place] = self.stand_in(node, self.graph, frictional=True)
        return symbols

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

    def exerted(self, q: Array) -> Array | None:
        """The same with what links exert on springs."""
        wrench = self.wrench(q)
        if not self.model.springs:
            return wrench
        springs = spring_wrenches(self.plain, self.plain.springs, q)[:-1]
        return springs if wrench is None else wrench + springs

    def wrench(self, q: Array) -> Array | None:
        """What each link exerts on the environment, as formulations take it; q of all joints."""
        if not self.request.wrench:
            return None
        on = {link: self.vector(wrench_name(link)) for link in self.request.wrench}
        return exerted_wrench(self.described, q, on, self.request.wrench_frame)

    def solve(self, M: Array, b: Array) -> Array:
        """M⁻¹ b, b (n,) or (n, k); where the mass matrix is singular, not a number."""
        # coupled joints know no tree, so their matrix has no zeros
        whole = [tuple(range(k + 1)) for k in range(len(M))]
        paths = whole if self.model.is_coupled else self.model.paths
        return solve_ltdl(paths, self.nodes(M), self.nodes(b), self.graph.guard)

    def outputs(self, what: str, build: Callable[[], Array], *, whole: bool = False) -> Array:
        """An array of nodes; with `whole` passes look for what its entries have in common.

        Friction is aside; `what` names the array in errors.
        """
        with self._naming(what):
            built = self.nodes(build())
            self.in_plane = whole and self._has_closed_forms and is_planar(self.model)
            other = self.nodes(build()) if self.in_plane else built
        size = count(built.flat).total if whole else 0
        if not whole or (size > MOST_PASSED and not self.budget.deep):
            return built
        try:
            if self.budget.deep or size <= MOST_SHORTENED:
                ways = [built] if other is built else [built, other]
                short = shortest_of([list(way.flat) for way in ways], self.budget.deep)
            else:
                short = reduce(built.flat)
        except ZeroDivisionError:  # what divides by zero at every state has no values to compare
            return built
        return node_array(short, built.shape)

    @property
    def _has_closed_forms(self) -> bool:
        """Whether joints follow from loops that are solved without iterations."""
        return not (self.at.is_linear or self.at.iterates)

    def program(self, what: str, outputs: Array, inputs: Mapping[str, int]) -> Program:
        """The program of outputs with friction put in, with the length of each argument."""
        rotors = {rotor.name for rotor in self.rotors if rotor.name}
        with self._naming(what):
            return finished_program(
                outputs, inputs, self.put_aside, friction=self.frictional, rotors=rotors
            )

    @contextmanager
    def _naming(self, what: str) -> Iterator[None]:
        try:
            yield
        except ZeroDivisionError:
            raise SingularityError(
                f"{what}: the mass matrix is singular whatever the configuration, because "
                f"a joint of {self.model.name!r} moves no inertia; give its link a mass, or the "
                "joint a rotor inertia"
            ) from None
