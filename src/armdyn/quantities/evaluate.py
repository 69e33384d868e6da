"""How a robot evaluates a quantity: what its record says of that is read here alone."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from armdyn.arrays import Array, broadcast, check_joint_vector, lost
from armdyn.formulations.coordinates import Coordinates
from armdyn.loops.coordinates import coordinates_of
from armdyn.model import RobotModel
from armdyn.quantities.program import PASSIVE_JOINTS, QUANTITIES, checked
from armdyn.quantities.quantity import WRENCH, Quantity, noun_of
from armdyn.quantities.request import Request
from armdyn.quantities.traced_robot import wrench_name

Run = Callable[..., Array]


def evaluator(
    model: RobotModel, request: Request, kernel: Callable[[Request], Any], run: Run, one: bool
) -> Run:
    """The function of arrays that evaluates a request.

    That is its kernel, for one state or for batches, or what its record has for long robots, which
    may `run` other quantities. Of a robot with loops it names the states that cannot be.
    """
    quantity = QUANTITIES[request.quantity]
    otherwise = quantity.otherwise
    if otherwise and otherwise.is_for(model) and not request.base_motion:
        checked(request, model)
        way = partial(otherwise.way, run, model, request)
        return lambda *arrays: way(*_vectors(quantity, model, request, arrays))

    def call_of(request: Request) -> Run:
        found = kernel(request)
        return found.call if one else found

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
    quantity: Quantity, model: RobotModel, request: Request, arrays: tuple[npt.ArrayLike, ...]
) -> tuple[Array, ...]:
    """Arguments as a kernel takes them, as arrays of one batch."""
    sizes = dict.fromkeys(quantity.arguments, len(model.independent))
    sizes |= {wrench_name(link): WRENCH.size or 0 for link in request.wrench}
    checked = {
        name: check_joint_vector(name, array, size, noun_of(name))
        for (name, size), array in zip(sizes.items(), arrays, strict=True)
    }
    return broadcast(**checked)


def _closed(call: Run, at: Coordinates, place: int) -> Run:
    """A function that names the loop and the state where a robot with loops cannot be."""

    def run(*arrays: npt.ArrayLike) -> Array:
        if type(arrays[0]) is np.ndarray and arrays[0].ndim == 1:
            found = call(*arrays)
            if np.vdot(found, found) < np.inf:  # the quickest way to see that all are numbers
                return found
        with np.errstate(invalid="ignore", divide="ignore"):
            found = call(*arrays)
        if lost(found, *arrays):
            at.explain(np.asarray(arrays[place], dtype=float))
        return found

    return run


def passive_joints(kernel: Callable[[Request], Any], effort: str, q: npt.ArrayLike) -> Array:
    """Two numbers for each passive joint, in the order of `PASSIVE_JOINTS`, (..., 2 P)."""
    with np.errstate(invalid="ignore", divide="ignore"):
        found: Array = kernel(Request(PASSIVE_JOINTS.name, effort=effort))(q)
    return found.reshape(*found.shape[:-2], -1)
