"""Small elements that URDF is written with."""

import numpy as np
import numpy.typing as npt

from armdyn.arrays import Array
from armdyn.io.xml import Element
from armdyn.model.transform import IDENTITY, rpy_from_rotation


def element(tag: str, *children: Element | None, **attributes: str) -> Element:
    """An element with those of the children that there are."""
    return Element(tag, attributes, tuple(child for child in children if child))


def numbers(values: npt.ArrayLike) -> str:
    """The numbers in full precision, with spaces between."""
    # adding zero turns -0.0 into 0.0
    return " ".join(repr(float(value) + 0.0) for value in np.ravel(values))


def place(tag: str, T: Array) -> Element | None:
    """An element with the xyz and rpy of a transform, or None for the identity."""
    if np.array_equal(T, IDENTITY):
        return None
    return element(tag, xyz=numbers(T[:3, 3]), rpy=numbers(rpy_from_rotation(T[:3, :3])))
