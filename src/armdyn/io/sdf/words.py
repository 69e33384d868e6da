"""Values of SDF elements, which stand in the text of an element."""

import math
from collections.abc import Sequence

import numpy as np

from armdyn.arrays import Array
from armdyn.io.attributes import Problems
from armdyn.io.xml import XmlElement
from armdyn.model.transform import rotation_from_quaternion, rotation_from_rpy, transform

UNBOUNDED = 1e15
"""Limits beyond this are none; SDF writes 1e16."""


def word(parent: XmlElement, tag: str, default: str = "") -> str:
    """The text of the child of that name."""
    found = parent.all(tag)
    return found[0].text if found else default


def numbers(element: XmlElement, count: int, problems: Problems, where: str) -> list[float] | None:
    """The numbers in the text of an element; a problem if they are not so many finite ones."""
    parts = element.text.split()
    try:
        values = [float(part) for part in parts]
    except ValueError:
        values = []
    if len(values) != count or not all(map(math.isfinite, values)):
        problems.add(
            element,
            f"{where}: <{element.tag}> takes {count} finite numbers, got {element.text!r}",
        )
        return None
    return values


def number(
    parent: XmlElement | None, tag: str, problems: Problems, where: str, default: float = 0.0
) -> float:
    """The number in the child of that name."""
    found = () if parent is None else parent.all(tag)
    values = numbers(found[0], 1, problems, where) if found else None
    return default if values is None else values[0]


def bound(parent: XmlElement | None, tag: str, problems: Problems, where: str) -> float:
    """A limit; infinite where there is none, or a number that stands for none."""
    text = "" if parent is None else word(parent, tag)
    sign = -1.0 if tag == "lower" else 1.0
    if not text or text.lstrip("+-").lower() in ("inf", "infinity"):
        return sign * math.inf
    value = number(parent, tag, problems, where)
    if abs(value) >= UNBOUNDED or (tag in ("effort", "velocity") and value < 0):
        return sign * math.inf
    return value


def pose(parent: XmlElement, problems: Problems, where: str) -> Array:
    """The transform in <pose>, (4, 4); the identity if there is none."""
    found = parent.all("pose")
    if not found or not found[0].text:
        return np.eye(4)
    element = found[0]
    quaternion = element.attributes.get("rotation_format", "euler_rpy") == "quat_xyzw"
    values = numbers(element, 7 if quaternion else 6, problems, where)
    if values is None:
        return np.eye(4)
    return transform(_rotation(values[3:], element, problems, where), values[:3])


def _rotation(
    values: Sequence[float], element: XmlElement, problems: Problems, where: str
) -> Array:
    if len(values) == 4:
        size = math.hypot(*values)
        if size < 1e-6:
            problems.add(element, f"{where}: the quaternion in <pose> is zero")
            return np.eye(3)
        x, y, z, w = (v / size for v in values)
        return rotation_from_quaternion(np.array([w, x, y, z]))
    turn = math.pi / 180 if element.attributes.get("degrees") in ("true", "1") else 1.0
    return rotation_from_rpy([turn * v for v in values])
