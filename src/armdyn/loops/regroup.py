"""The inertias of a robot with loops, moved across its joints and cuts until few are left."""

import warnings
from functools import lru_cache

import numpy as np

from armdyn.arrays import Array
from armdyn.formulations.base_parameters import base_parameters
from armdyn.formulations.parameters import robot_parameters, with_parameters
from armdyn.formulations.regressor import regressor
from armdyn.loops.coordinates import coordinates_of
from armdyn.model import RobotModel

KEPT_FIRST = (4, 5, 6, 7, 8, 9, 1, 2, 3, 0)
"""The ten parameters of a link in the order in which they are kept: a moment of inertia takes one
product, a first moment four, and a mass six."""
STATES = 20
SAME_TORQUES = 1e-13
"""Largest difference of torques, as a share of what the inertias add up to, that is rounding."""
DEPENDENT = 1e-9
"""Rest of a column of unit length below which it is a combination of others."""


@lru_cache(maxsize=64)
def regrouped(model: RobotModel) -> RobotModel:
    """The robot with nothing but its base parameters: the same torques, but no bodies.

    A loop has fewer of them than its tree, because mass at a cut joint can be moved from one link
    to the other. Where it is not clear in floating point which ones they are, as in loops that
    hardly move, or torques would lose digits, it is the robot itself.
    """
    if all(loop.couples for loop in model.loops):  # a tree, which canonical frames regroup
        return model
    at = coordinates_of(model)
    with warnings.catch_warnings(record=True) as unclear:
        warnings.simplefilter("always")
        found = base_parameters(at, links=True)
    if unclear:
        return model
    given = np.array([parameter.value for parameter in robot_parameters(model)])
    values, count = given.copy(), 10 * len(model.links)
    values[:count] = 0.0
    order = [10 * i + k for i in range(len(model.links)) for k in KEPT_FIRST]
    columns = _independent(found.matrix, order)
    values[columns] = np.linalg.solve(found.matrix[:, columns], found.values)
    rng = np.random.default_rng(1)
    q = at.drawn(rng, STATES)
    qd, qdd = rng.uniform(-1.0, 1.0, (2, *q.shape))
    here = at.at(q)
    Y = here.rows(regressor(model, *here.motion(qd, qdd)))
    size = (np.abs(Y) @ np.abs(given[:count])).max()
    moved = np.abs(Y @ (values - given)[:count]).max()
    return with_parameters(model, values) if moved <= SAME_TORQUES * size else model


def _independent(matrix: Array, order: list[int]) -> list[int]:
    """The first columns of a matrix of full rank, in this order, that are a basis."""
    unit = matrix / np.maximum(np.linalg.norm(matrix, axis=0), np.finfo(float).tiny)
    kept: list[int] = []
    for k in order:
        rest = unit[:, k] - unit[:, kept] @ np.linalg.lstsq(unit[:, kept], unit[:, k])[0]
        if np.linalg.norm(rest) > DEPENDENT:
            kept.append(k)
    return kept
