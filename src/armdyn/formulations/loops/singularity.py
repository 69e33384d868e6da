"""Singular configurations of robots with loops, named after Gosselin and Angeles.

Type 1: the tool loses a direction, its Jacobian loses rank. Type 2: the passive joints are not
determined by the actuated ones; two ways to assemble the robot meet there. Type 3: both.

Reference: C. Gosselin, J. Angeles, Singularity analysis of closed-loop kinematic chains, 1990.
"""

from dataclasses import dataclass

import numpy as np

from armdyn.arrays import Array
from armdyn.errors import SingularityError
from armdyn.formulations.loops.coordinates import LoopCoordinates

SINGULAR = 1e-6
"""How small a measure is in a singular configuration."""
NEARLY = 1e-5
"""The same where numbers are lost: inertias grow with the square of its inverse, so that pivots of
the mass matrix are nothing but rounding beside each other."""


@dataclass(frozen=True, slots=True)
class LoopSingularity:
    """How far a robot with loops is from singular configurations."""

    type1: Array
    """Smallest over largest singular value of the tool's Jacobian in its task, (...)."""
    type2: Array
    """For each loop the determinant of its passive joints as a share of the largest it could have,
    (..., loops); 0 where it cannot be closed."""

    @property
    def kind(self) -> Array:
        """0 where it is regular, else the type 1, 2 or 3, (...)."""
        first = self.type1 < SINGULAR
        second = (self.type2 < SINGULAR).any(-1)
        return first + 2 * second


def explained(at: LoopCoordinates, q: Array) -> None:
    """Raise an error that names the loop and the state where a robot cannot be, or is singular.

    It is asked where numbers were lost; if no loop is the cause, nothing happens.
    """
    model = at.model
    determinants = at.at(q).type2
    bad = ~(determinants > NEARLY)
    if not bad.any():
        return
    *index, k = np.argwhere(bad)[0].tolist()
    loop = model.loops[at.closure.order[k]]
    state = q[tuple(index)] if index else q
    where = f" (state {', '.join(map(str, index))})" if index else ""
    position = ", ".join(
        f"{model.joints[i].name} = {x:.6g}" for i, x in zip(model.independent, state, strict=True)
    )
    if determinants[(*index, k)] == 0.0:
        raise SingularityError(
            f"{loop.where} of {model.name!r} cannot be closed with {position}{where}: its links do "
            "not meet there. The way from the assembly goes through a singular configuration of "
            "type 2"
        )
    raise SingularityError(
        f"{loop.where} of {model.name!r} is singular (type 2) with {position}{where}: its passive "
        "joints are not determined by the actuated ones"
    )
