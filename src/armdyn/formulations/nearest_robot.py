"""The physically possible robot that has given base parameters and is nearest to another one.

Of all bodies with B π = π_b those with the least divergence from the robot as it is
(`possible_bodies`); rotors and friction, which have no bodies, keep near to what they were in the
same sense. Newton's method on the conditions of Lagrange, with steps that stay inside of what is
possible. Where no possible robot has these parameters, the nearest one to them is found.
"""

import warnings

import numpy as np
from numpy.typing import ArrayLike

from armdyn.arrays import check_constant
from armdyn.errors import ArmdynWarning
from armdyn.formulations.base_parameters import BaseParameters
from armdyn.formulations.parameters import robot_parameters, with_parameters
from armdyn.formulations.possible_bodies import PriorBodies
from armdyn.formulations.scaled_newton import Objective, constrained_newton, newton
from armdyn.formulations.springs import TENSION
from armdyn.model import RobotModel

_LARGEST_MISS = 1e-6
"""Error of base parameters, relative to the largest of their kind, that is told of."""
_STIFFNESS = 1e10
"""Weight of the base parameters against the divergence where both cannot be had."""


def with_base_parameters(model: RobotModel, base: BaseParameters, values: ArrayLike) -> RobotModel:
    """The robot nearest to a robot that has these base parameters, in the order of `base`."""
    wanted = check_constant("base parameters", values, (base.rank,))
    known = [p for p in robot_parameters(model) if p.linear][: base.matrix.shape[1]]
    N = len(model.links)
    motors = np.array([p.value for p in known[10 * N :]])
    signed = np.array(
        [p.name.endswith((".offset", f".{TENSION}")) for p in known[10 * N :]], dtype=bool
    )
    scale = np.where(motors == 0, 1.0, np.abs(motors))
    objective = Objective.plain(PriorBodies.of(model), scale, signed, np.sign(motors))
    B = base.matrix @ objective.transform
    size = np.maximum(np.linalg.norm(B, axis=1), 1e-300)
    B, right = B / size[:, None], wanted / size
    start = objective.start
    # bodies of another size first: a common factor brings most numbers near
    x = constrained_newton(objective, start, B, right)
    if np.abs(B @ x - right).max() > _LARGEST_MISS * np.abs(right).max(initial=1e-300):
        A, b = _STIFFNESS * B.T @ B, _STIFFNESS * B.T @ right
        x = newton(objective.with_data(A, b), start)
        miss = np.abs(B @ x - right)
        worst = int(miss.argmax())
        warnings.warn(
            f"robot {model.name!r}: no bodies have these base parameters; the nearest possible "
            f"robot misses {base.groupings[worst]!r:.80} by {miss[worst] * size[worst]:.3g}",
            ArmdynWarning,
            stacklevel=3,
        )
    found = objective.transform @ x
    names = [p.name for p in known]
    return with_parameters(model, dict(zip(names, found.tolist(), strict=True)))
