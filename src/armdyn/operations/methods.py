"""What can be counted: each quantity by each of the methods that compute it."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from armdyn.arrays import Array
from armdyn.formulations.articulated_body import articulated_body
from armdyn.formulations.augmented_body import augmented_body
from armdyn.formulations.composite_body import mass_matrix
from armdyn.formulations.coriolis import coriolis_matrix
from armdyn.formulations.denoc_forward import denoc_forward
from armdyn.formulations.solve import solve_ltdl
from armdyn.model import RobotModel
from armdyn.quantities.formulations import FORMULATIONS, NEED_COM
from armdyn.quantities.program import QUANTITIES as RECORDS

CENTRED = ("newton_euler", *NEED_COM)
"""Formulations whose count means nothing on regrouped links, which have no centre of mass."""


@dataclass(frozen=True, slots=True)
class Method:
    """One way to compute one quantity."""

    quantity: str
    name: str
    vectors: tuple[str, ...]
    """The joint vectors it takes, each of length N."""
    function: Callable[..., Array] | None
    """The function (model, *vectors); None for the program that is compiled and exported."""
    record: str
    """The name of the quantity's record."""
    regroups: bool = True
    """Whether it takes links that have first moments and no mass."""


def _torques(formulation: str, model: RobotModel, q: Array, qd: Array, qdd: Array) -> Array:
    return FORMULATIONS[formulation](model, q, qd, qdd).tau


def _bias(model: RobotModel, q: Array, qd: Array) -> Array:
    return augmented_body(model, q, qd, np.zeros(len(model.joints))).tau


def _gravity(model: RobotModel, q: Array) -> Array:
    return _bias(model, q, np.zeros(len(model.joints)))


def _solved(model: RobotModel, q: Array, qd: Array, tau: Array) -> Array:
    return solve_ltdl(model.paths, mass_matrix(model, q), tau - _bias(model, q, qd))


def _articulated(model: RobotModel, q: Array, qd: Array, tau: Array) -> Array:
    return articulated_body(model, q, qd, tau)[1]


def _denoc(model: RobotModel, q: Array, qd: Array, tau: Array) -> Array:
    return denoc_forward(model, q, tau - _bias(model, q, qd))[1]


def _method(
    quantity: str, name: str, function: Callable[..., Array] | None, regroups: bool = True
) -> Method:
    record = RECORDS[quantity]
    return Method(record.counted_as, name, record.arguments, function, record.name, regroups)


_TEXTBOOK = (
    *(
        _method("inverse_dynamics", name, partial(_torques, name), name not in CENTRED)
        for name in FORMULATIONS
        if name != "minimal"
    ),
    _method("mass_matrix", "composite_body", mass_matrix),
    _method("coriolis_matrix", "composite_body", coriolis_matrix),
    _method("gravity_vector", "augmented_body", _gravity),
    _method("forward_dynamics", "composite_body", _solved),
    _method("forward_dynamics", "articulated_body", _articulated),
    _method("forward_dynamics", "denoc", _denoc),
)
COMPARED = tuple(dict.fromkeys(method.quantity for method in _TEXTBOOK))
"""The quantities that textbooks compute in several ways, by their names in counts."""
QUANTITIES = (*COMPARED, *(r.counted_as for r in RECORDS.values() if r.counted_as not in COMPARED))
"""Every quantity by its name in counts."""
_PROGRAMS = tuple(_method(name, "minimal", None) for name in RECORDS)
METHODS = tuple(
    method
    for quantity in QUANTITIES
    for method in (*_TEXTBOOK, *_PROGRAMS)
    if method.quantity == quantity
)
