"""A robot about to be traced: its inputs as nodes, its numbers as parameters."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from armdyn.arrays import Array, frozen
from armdyn.canonical.frames import CanonicalRobot, canonical, with_tip_phase
from armdyn.compiler.program import Program
from armdyn.compiler.trace import trace
from armdyn.errors import SingularityError
from armdyn.expr.evaluate import settle
from armdyn.expr.graph import Graph
from armdyn.formulations.coupling import Coordinates
from armdyn.formulations.external import reaction_wrench
from armdyn.formulations.friction import friction_torque
from armdyn.formulations.kinematics import world_frames, wrench_torques
from armdyn.formulations.solve import solve_ltdl
from armdyn.minimal.mass import minimal_mass_matrix
from armdyn.minimal.options import options
from armdyn.minimal.slopes import torque_slopes
from armdyn.minimal.torques import minimal
from armdyn.model import RobotModel
from armdyn.quantities.quantity import ARGUMENTS, WRENCH
from armdyn.quantities.request import Request
from armdyn.quantities.run_time import loaded, weighed, weightless
from armdyn.quantities.symbolic import symbolic

CONVERSION_ROUNDING = 4e-15
"""What conversions leave of an exact zero."""


@dataclass(eq=False)
class TracedRobot:
    """The robot of a request in a graph of its own.

    Vectors of the coordinates are nodes of shape (n,); what the formulations take and give belongs
    to all N moving joints, and `at` goes between the two.
    """

    model: RobotModel
    request: Request
    arguments: tuple[str, ...] = ()
    """The vectors of coordinates that the quantity is a function of."""
    graph: Graph = field(default_factory=Graph)

    def __post_init__(self) -> None:
        self.at = Coordinates.of(self.model)
        self.n = len(self.model.independent)

    @cached_property
    def inputs(self) -> dict[str, int]:
        """Length of each argument, in order."""
        numbers = [name for name in ("payload", "gravity") if getattr(self.request, name)]
        sizes = {name: ARGUMENTS[name].size or self.n for name in (*self.arguments, *numbers)}
        return sizes | {wrench_name(link): WRENCH.size or 0 for link in self.request.wrench}

    def vector(self, name: str) -> Array:
        """An argument as nodes."""
        return self.graph.inputs(name, self.inputs[name])

    @cached_property
    def zero(self) -> Array:
        """A vector of coordinates at rest."""
        return np.zeros(self.n)

    # the robot in its two forms

    @cached_property
    def robot(self) -> CanonicalRobot:
        """The robot in canonical frames, its numbers parameters of the graph."""
        numbers = canonical(self.model)
        runtime = self.request.payload or self.request.gravity
        robot = symbolic(numbers if runtime else with_tip_phase(numbers), self.graph)
        if self.request.gravity:
            still = canonical(replace(self.model, gravity=frozen(np.zeros(3))))
            robot = weighed(self.model, symbolic(still, self.graph), self.vector("gravity"))
        if self.request.payload:
            robot = loaded(self.model, robot, self.vector("payload"))
        return robot

    @cached_property
    def plain(self) -> RobotModel:
        """The model with zeros where conversions left rounding, so that they fold."""
        joints = tuple(
            replace(j, placement=_clean(j.placement), axis=_clean(j.axis))
            for j in self.model.joints
        )
        return replace(self.model, joints=joints, base=_clean(self.model.base))

    @cached_property
    def rotors(self) -> Array:
        """Rotor inertias felt at the joints, (N,)."""
        return np.array([joint.rotor.reflected for joint in self.model.joints])

    # what most quantities are made of

    def torques(self, q: Array, qd: Array, qdd: Array, weight: bool = True) -> Array:
        """Torques of links and rotors at the coordinates."""
        rotors = self.at.torques(self.rotors * self.at.rates(qdd))
        return self.links(q, qd, qdd, weight) + rotors

    def links(self, q: Array, qd: Array, qdd: Array, weight: bool = True) -> Array:
        """Torques of the links at the coordinates, by the fewest operations."""
        robot, at = self.robot if weight else weightless(self.robot), self.at
        # the minimal formulation makes use of the number 0 in place of a vector at rest
        v, a = (r if r.dtype == object else 0.0 for r in map(at.rates, (qd, qdd)))
        return at.torques(minimal(robot, at.positions(q), v, a, options(robot).quick).tau)

    def mass_matrix(self, q: Array) -> Array:
        """M at the coordinates, rotors included."""
        M = minimal_mass_matrix(self.robot, self.at.positions(q)) + np.diag(self.rotors)
        return self.at.matrix(M)

    def slopes(self, q: Array, qd: Array, qdd: Array) -> Array:
        """∂τ/∂q and C at the coordinates by composite bodies, (2, n, n), without friction."""
        motion = self.at.positions(q), self.at.rates(qd), self.at.rates(qdd)
        both = self.nodes(np.array(torque_slopes(self.robot, *motion), dtype=object))
        return self.nodes(np.stack([self.at.matrix(each) for each in both]))

    def friction(self, qd: Array) -> Array:
        """Friction at the coordinates, if the request wants it."""
        return self.friction_torque(qd) if self.request.friction else self.zero

    def friction_torque(self, qd: Array) -> Array:
        """Friction at the coordinates."""
        return self.at.torques(friction_torque(self.model, self.at.rates(qd)))

    def loads(self, q: Array) -> Array:
        """Torques against the wrenches that the request has."""
        if not self.request.wrench:
            return self.zero
        q = self.at.positions(q)
        frames = world_frames(self.plain, q)
        return self.at.torques(wrench_torques(self.plain, frames, self.wrench(q)) + 0.0 * q)

    def wrench(self, q: Array) -> Array | None:
        """What each link exerts on the environment, as formulations take it; q of all joints."""
        if not self.request.wrench:
            return None
        on = {link: self.vector(wrench_name(link)) for link in self.request.wrench}
        return reaction_wrench(self.plain, q, on, self.request.wrench_frame)

    def solve(self, M: Array, b: Array) -> Array:
        """M⁻¹ b, b (n,) or (n, k); where the mass matrix is singular, not a number."""
        # coupled joints know no tree, so their matrix has no zeros
        coupled = self.at.K is not None
        paths = [tuple(range(k + 1)) for k in range(len(M))] if coupled else self.model.paths
        return solve_ltdl(paths, self.nodes(M), self.nodes(b), self.graph.guard)

    def nodes(self, values: Array) -> Array:
        """Every entry a node."""
        return trace(self.graph, lambda: values)

    def program(
        self, what: str, entries: Callable[[], Array], inputs: Mapping[str, int]
    ) -> Program:
        """The program of entries, with the length of each argument; `what` names it in errors."""
        try:
            outputs = self.nodes(entries())
            settled = np.array(settle(outputs.flat), dtype=object).reshape(outputs.shape)
        except ZeroDivisionError:
            raise SingularityError(
                f"{what}: the mass matrix is singular whatever the configuration, because "
                f"a joint of {self.model.name!r} moves no inertia; give its link a mass, or the "
                "joint a rotor inertia"
            ) from None
        return Program.from_outputs(settled, inputs)


def wrench_name(link: str) -> str:
    """Name of the argument that is the wrench on a link."""
    return f"wrench on {link!r}"


def _clean(values: Array) -> Array:
    near = np.round(values)
    exact = np.where(np.abs(values - near) <= CONVERSION_ROUNDING, near, values)
    return frozen(np.where(np.abs(near) <= 1.0, exact, values))
