"""The elements of D, h and g in numbers, over random configurations within the limits."""

from dataclasses import dataclass

import numpy as np

from armdyn.arrays import Array
from armdyn.formulations.augmented_body import augmented_body
from armdyn.formulations.composite_body import mass_matrix
from armdyn.formulations.coriolis import christoffel
from armdyn.model import RobotModel

CONFIGURATIONS = 256
"""Random configurations over which ranges are measured."""
CANCELLATION = 1e-12
"""Largest variation, relative to the size of an element, that counts as rounding."""


@dataclass(frozen=True, slots=True, eq=False)
class Ranges:
    """Lowest and highest values of the elements of D, h or g."""

    low: Array
    high: Array
    rounding: Array
    """Where the variation is no more than rounding, booleans."""


def ranges(model: RobotModel) -> list[Ranges]:
    """The ranges of D, h and g."""
    lower, upper = np.transpose([joint.range for joint in model.joints])
    q = np.random.default_rng(0).uniform(lower, upper, (CONFIGURATIONS, len(lower)))
    rest = np.zeros_like(q)
    D = mass_matrix(model, q) + np.diag([joint.rotor.reflected for joint in model.joints])
    root = np.sqrt(np.abs(np.einsum("pii->pi", D)).max(0))
    mass = sum(abs(link.inertia.mass) for link in model.links)
    sizes = (
        root[:, None] * root,
        root[:, None, None] * np.maximum(root[:, None], root),
        # by Cauchy and Schwarz no g_i is larger
        np.linalg.norm(model.gravity) * np.sqrt(mass) * root,
    )
    found = []
    tables = D, christoffel(model, q), augmented_body(model, q, rest, rest).tau
    for values, size in zip(tables, sizes, strict=True):
        low, high = values.min(0), values.max(0)
        found.append(Ranges(low, high, np.less_equal(high - low, CANCELLATION * size)))
    return found
