"""What springs add to the features: their stiffness, and its product with the free length.

A spring counts as one more motor after those of joints and drives; its terms are never chosen, as
a spring is there or not.
"""

from collections.abc import Iterator

import numpy as np

from armdyn.arrays import Array
from armdyn.formulations.springs import STIFFNESS, TENSION, spring_columns
from armdyn.identification.friction_terms import FrictionFeature
from armdyn.loops.coordinates import coordinates_of
from armdyn.model import RobotModel, Spring

STIFF = FrictionFeature("spring", (STIFFNESS,))
TENSE = FrictionFeature("free length of a spring", (TENSION,), signed=True)
_STATES = 16


def spring_features(model: RobotModel) -> tuple[tuple[int, FrictionFeature], ...]:
    """The features of the springs, in the order of `spring_columns`."""
    first = len(model.driven)
    return tuple(
        (k, feature)
        for k, spring in enumerate(model.springs, start=first)
        for feature in ((STIFF, TENSE) if spring.free_length else (STIFF,))
    )


def spring_torques_at(model: RobotModel, q: Array) -> Iterator[Array]:
    """The columns of the springs at the coordinates, (m, n) each."""
    if model.springs:
        here = coordinates_of(model).at(q)
        for column in spring_columns(model, model.springs, here.q):
            yield here.torques(column)


def joints_felt(model: RobotModel) -> list[Array]:
    """For each of `spring_features` the coordinates at which it is felt, (n,) of truths."""
    q = np.random.default_rng(2).uniform(-1, 1, (_STATES, len(model.independent)))
    found = [np.abs(column).max(axis=0) for column in spring_torques_at(model, q)]
    return [size > 1e-12 * size.max(initial=1e-300) for size in found]


def spring_value(spring: Spring, feature: FrictionFeature) -> float:
    """What a spring has of a feature."""
    return spring.stiffness * (1.0 if feature is STIFF else spring.free_length)
