"""What can be counted: each quantity by each of the methods that compute it."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from armdyn.arrays import Array
from armdyn.formulations.articulated_body import articulated_body
from armdyn.formulations.augmented_body import augmented_body
from armdyn.formulations.composite_body import mass_matrix
from armdyn.formulations.coriolis import coriolis_matrix
from armdyn.formulations.denoc_forward import denoc_forward
from armdyn.formulations.ltdl import solve_ltdl
from armdyn.model import RobotModel
from armdyn.quantities.formulations import FORMULATIONS, NEED_COM

QUANTITIES = ("inverse_dynamics", "mass_matrix", "coriolis", "gravity", "forward_dynamics")
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
    """The function (model, *vectors); None for the minimal formulation, which is searched for."""
    regroups: bool = True
    """Whether it takes links that have first moments and no mass."""


def _torques(name: str) -> Callable[..., Array]:
    def torques(model: RobotModel, q: Array, qd: Array, qdd: Array) -> Array:
        return FORMULATIONS[name](model, q, qd, qdd).tau

    return torques


def _gravity(model: RobotModel, q: Array) -> Array:
    rest = np.zeros(len(model.joints))
    return augmented_body(model, q, rest, rest).tau


def _bias(model: RobotModel, q: Array, qd: Array) -> Array:
    return augmented_body(model, q, qd, np.zeros(len(model.joints))).tau


def _solved(model: RobotModel, q: Array, qd: Array, tau: Array) -> Array:
    return solve_ltdl(model, mass_matrix(model, q), tau - _bias(model, q, qd))


def _articulated(model: RobotModel, q: Array, qd: Array, tau: Array) -> Array:
    return articulated_body(model, q, qd, tau).qdd


def _denoc(model: RobotModel, q: Array, qd: Array, tau: Array) -> Array:
    return denoc_forward(model, q, tau - _bias(model, q, qd)).qdd


_MOTION, _STATE, _DRIVEN = ("q", "qd", "qdd"), ("q", "qd"), ("q", "qd", "tau")
METHODS = (
    *(
        Method("inverse_dynamics", name, _MOTION, _torques(name), name not in CENTRED)
        for name in FORMULATIONS
        if name != "minimal"
    ),
    Method("inverse_dynamics", "minimal", _MOTION, None),
    Method("mass_matrix", "composite_body", ("q",), mass_matrix),
    Method("mass_matrix", "minimal", ("q",), None),
    Method("coriolis", "composite_body", _STATE, coriolis_matrix),
    Method("gravity", "augmented_body", ("q",), _gravity),
    Method("gravity", "minimal", ("q",), None),
    Method("forward_dynamics", "composite_body", _DRIVEN, _solved),
    Method("forward_dynamics", "articulated_body", _DRIVEN, _articulated),
    Method("forward_dynamics", "denoc", _DRIVEN, _denoc),
    Method("forward_dynamics", "minimal", _DRIVEN, None),
)
