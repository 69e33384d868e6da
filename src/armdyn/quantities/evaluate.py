"""How a robot evaluates a quantity: what its record says of that is read here alone."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from armdyn.arrays import Array, broadcast, check_joint_vector, frozen, lost
from armdyn.formulations.composite_body import mass_matrix
from armdyn.formulations.coordinates import Coordinates, StandingMap
from armdyn.formulations.forward_dynamics import ForwardMethod, accelerations
from armdyn.formulations.newton_euler import newton_euler
from armdyn.formulations.rotors import rotor_inertias, rotor_matrix, spin_momenta
from armdyn.loops.coordinates import coordinates_of
from armdyn.model import RobotModel
from armdyn.quantities.program import PASSIVE_JOINTS, QUANTITIES, checked
from armdyn.quantities.quantity import ARGUMENTS, WRENCH, Run, noun_of
from armdyn.quantities.request import Request
from armdyn.quantities.traced_robot import RequestedRobot, wrench_name


def evaluator(
    model: RobotModel, request: Request, kernel: Callable[[Request], Any], run: Run, one: bool
) -> Run:
    """The function of arrays that evaluates a request.

    That is its kernel, for one state or for batches, or what its record has for long robots, which
    may `run` other quantities. Of a robot with loops it names the states that cannot be.
    """
    quantity = QUANTITIES[request.quantity]
    otherwise = quantity.otherwise
    if request.formulation is not None or request.method is not None:
        # here, unlike in their kernels, formulations take a base that moves
        checked(replace(request, base_motion=False), model)
        return partial(in_numpy, model, request)
    if otherwise and otherwise.is_for(model) and not request.base_motion:
        if otherwise.way is None:
            return partial(in_numpy, model, request)
        checked(request, model)
        way = partial(otherwise.way, run, model, request)
        return lambda *arrays: way(*_vectors(model, request, arrays).values())

    def call_of(request: Request) -> Run:
        compiled = kernel(request)
        return compiled.call if one else compiled

    at = coordinates_of(model)
    if at.is_linear or "q" not in quantity.arguments:
        return call_of(request)
    place = quantity.arguments.index("q")
    if not at.iterates:
        return _closed(call_of(request), at, place)
    # loops that take iterations are solved by a kernel of their own, so that others are short
    call = call_of(replace(request, solved=True))
    passive = partial(passive_joints, kernel, request.effort)
    return _closed(lambda *arrays: call(*arrays, passive(arrays[place])), at, place)


def _vectors(
    model: RobotModel, request: Request, arrays: tuple[npt.ArrayLike, ...]
) -> dict[str, Array]:
    """Arguments as a kernel takes them, as arrays of one batch by their names."""
    names = [*QUANTITIES[request.quantity].arguments, *["base_motion"] * request.base_motion]
    sizes = {name: ARGUMENTS[name].length(len(model.independent)) for name in names}
    sizes |= {wrench_name(link): WRENCH.length(len(model.independent)) for link in request.wrench}
    checked = {
        name: check_joint_vector(name, array, size, noun_of(name))
        for (name, size), array in zip(sizes.items(), arrays, strict=True)
    }
    return dict(zip(sizes, broadcast(**checked), strict=True))


def _closed(call: Run, at: Coordinates, place: int) -> Run:
    """A function that names the loop and the state where a robot with loops cannot be."""

    def run(*arrays: npt.ArrayLike) -> Array:
        if type(arrays[0]) is np.ndarray and arrays[0].ndim == 1:
            result = call(*arrays)
            if np.vdot(result, result) < np.inf:  # the quickest way to see that all are numbers
                return result
        with np.errstate(invalid="ignore", divide="ignore"):
            result = call(*arrays)
        if lost(result, *arrays):
            at.explain(np.asarray(arrays[place], dtype=float))
        return result

    return run


def passive_joints(kernel: Callable[[Request], Any], effort: str, q: npt.ArrayLike) -> Array:
    """Two numbers for each passive joint, in the order of `PASSIVE_JOINTS`, (..., 2 P)."""
    with np.errstate(invalid="ignore", divide="ignore"):
        pairs: Array = kernel(Request(PASSIVE_JOINTS.name, effort=effort))(q)
    return pairs.reshape(*pairs.shape[:-2], -1)


# robots that are so long that compiling takes minutes


@dataclass(eq=False)
class NumericRobot(RequestedRobot):
    """A robot of which quantities are made in floats, (..., n), each term by a textbook."""

    model: RobotModel
    request: Request
    vectors: Mapping[str, Array]
    """Arrays of one batch by the names of the arguments."""

    def __post_init__(self) -> None:
        self.at, self.plain = coordinates_of(self.model), self.model
        self.zero = np.zeros_like(next(iter(self.vectors.values())))
        self.rotors, self.momenta = rotor_inertias(self.model), spin_momenta(self.model)

    def vector(self, name: str) -> Array:
        """An argument."""
        return self.vectors[name]

    def here(self, q: Array) -> StandingMap:
        """The map between coordinates and all joints."""
        return self.at.at(q)

    def nodes(self, values: Array) -> Array:
        """The floats themselves."""
        return values

    def aside(self, friction: Array) -> Array:
        """The terms of friction themselves."""
        return friction

    def links(self, q: Array, qd: Array, qdd: Array, weight: bool = True) -> Array:
        """Torques of the links by Newton-Euler."""
        model = self.model if weight else replace(self.model, gravity=frozen(np.zeros(3)))
        at = self.here(q)
        return at.torques(newton_euler(model, *at.motion(qd, qdd)).tau)

    def full_mass_matrix(self, q: Array, times: float = 1.0) -> Array:
        """M of all joints by composite bodies, (..., N, N)."""
        return times * (mass_matrix(self.model, self.here(q).q) + rotor_matrix(self.model))

    def accelerations(self, q: Array, qd: Array, tau: Array) -> Array:
        """As the request asks, or by articulated bodies unless joints depend on others."""
        usual: ForwardMethod = "composite_body" if self.model.is_coupled else "articulated_body"
        method = self.request.method or usual
        return accelerations(self.at, q, qd, tau, self.wrench(self.here(q).q), method)


def numeric_robot(model: RobotModel, request: Request, *arrays: npt.ArrayLike) -> NumericRobot:
    """The robot of a request with its arguments; a motion of the base goes with a formulation."""
    alone = request.formulation is not None
    checked(replace(request, base_motion=request.base_motion and not alone), model)
    return NumericRobot(model, request, _vectors(model, request, arrays))


def in_numpy(model: RobotModel, request: Request, *arrays: npt.ArrayLike) -> Array:
    """A quantity as it is built, in NumPy; motions of the base and wrenches are the last arrays."""
    quantity = QUANTITIES[request.quantity]
    robot = numeric_robot(model, request, *arrays)
    return quantity.build(robot, *map(robot.vector, quantity.arguments))
