"""Direct dynamics: accelerations by one of three methods, with rotors and coupled joints."""

import warnings
from functools import lru_cache
from typing import Literal

import numpy as np

from armdyn.arrays import RELATIVE_PIVOT, Array
from armdyn.errors import ArmdynWarning, ModelError, check_known
from armdyn.formulations.articulated_body import articulated_body
from armdyn.formulations.composite_body import mass_matrix
from armdyn.formulations.coordinates import Coordinates
from armdyn.formulations.denoc_forward import denoc_forward
from armdyn.formulations.newton_euler import newton_euler
from armdyn.formulations.rotors import all_rotor_torques, rotor_matrix, spin_matrix
from armdyn.formulations.solve import check_pivots, solve_mass_matrix, with_unit_diagonal
from armdyn.formulations.springs import spring_torques
from armdyn.model import RobotModel

ForwardMethod = Literal["composite_body", "articulated_body", "denoc"]
METHODS = ("composite_body", "articulated_body", "denoc")
MAX_CONDITION = 1e16
"""Condition number of a mass matrix beyond which accelerations may have no correct digit."""
MOST_CONDITIONED = 100
"""Joints up to which the condition number is looked at."""


def warn_of_condition(at: Coordinates) -> None:
    """Warn if the mass matrix is so badly conditioned that accelerations mean little."""
    condition = _condition(at)
    if condition > MAX_CONDITION:
        warnings.warn(
            f"the mass matrix of {at.model.name!r} has the condition number {condition:.0e}: its "
            "joints move inertias of too different sizes, and accelerations may have no correct "
            "digit. Check the units of its masses and inertias",
            ArmdynWarning,
            stacklevel=2,
        )


@lru_cache(maxsize=64)
def _condition(at: Coordinates) -> float:
    """The lower condition number of the mass matrix in two arbitrary configurations.

    It is 0 where the matrix is singular in any units, which is an error of its own.
    """
    model = at.model
    if len(model.independent) > MOST_CONDITIONED:
        return 0.0
    here = at.at(at.drawn(np.random.default_rng(0), 2))
    M = here.matrix(_mass_matrix(model, here.q))
    if np.abs(np.linalg.eigvalsh(with_unit_diagonal(M))).min() < RELATIVE_PIVOT:
        return 0.0
    values = np.abs(np.linalg.eigvalsh(M))
    least = np.minimum(values.min(-1), np.diagonal(M, axis1=-2, axis2=-1).min(-1))
    return float(np.min(np.divide(values.max(-1), least, out=np.zeros(2), where=least > 0)))


def accelerations(
    at: Coordinates, q: Array, qd: Array, tau: Array, wrench: Array | None, method: ForwardMethod
) -> Array:
    """Accelerations (..., n) of the coordinates that torques less friction cause, with springs."""
    check_known("method of forward dynamics", method, METHODS)
    warn_of_condition(at)
    model = at.model
    names = [joint.name for joint in model.coordinate_joints]
    check_uncoupled(model, method)
    here = at.at(q)
    tau = tau - here.torques(spring_torques(model, model.springs, here.q))
    motion = here.motion(qd, np.zeros_like(qd))
    # accelerations of joints that follow others are not zero where loops make them follow
    bias = newton_euler(model, *motion, wrench).tau + all_rotor_torques(model, *motion)
    rest = tau - here.torques(bias)
    if method == "composite_body":
        M = here.matrix(_mass_matrix(model, here.q))
        return solve_mass_matrix(M, rest, names)
    with np.errstate(divide="ignore", invalid="ignore"):
        pivots, qdd = (
            denoc_forward(model, q, rest)
            if method == "denoc"
            else articulated_body(model, q, qd, tau, wrench)
        )
    check_pivots(pivots, names)
    return qdd


def _mass_matrix(model: RobotModel, q: Array) -> Array:
    """M of links and rotors of all joints, (..., N, N)."""
    return mass_matrix(model, q) + rotor_matrix(model) + spin_matrix(model, q)


def check_uncoupled(model: RobotModel, method: str) -> None:
    """A ModelError if a method cannot take the joints of this robot that depend on others."""
    if method != "composite_body" and model.is_coupled:
        how = "have rotors that spin" if not model.drives else "share drives"
        how = how if model.coupling is None else "mimic others"
        how = "close loops" if model.loops else how
        raise ModelError(
            f"method {method!r} is for independent joints, and some joints of {model.name!r} "
            f"{how}; use method='composite_body'"
        )
