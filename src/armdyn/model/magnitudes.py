"""Numbers so large or so small that products of them are lost: no robot may have them."""

from collections.abc import Iterable

import numpy as np

from armdyn.arrays import Array
from armdyn.errors import ModelError
from armdyn.model.drive import Drive
from armdyn.model.joint import Joint
from armdyn.model.link import Body
from armdyn.model.ranges import LARGEST_LENGTH, MASS_RANGE, MOMENT_RANGE


def check_magnitudes(
    joints: Iterable[Joint], drives: Iterable[Drive], bodies: Iterable[Body], gravity: Array
) -> None:
    """A ModelError if a number is so large or small that torques would lose it silently."""
    _check("gravity", "field", "m/s²", gravity, LARGEST_LENGTH)
    for joint in joints:
        where = f"joint {joint.name!r}"
        _check(where, "offset", "m", joint.placement[:3, 3], LARGEST_LENGTH)
        _check_rotor(where, joint.rotor.reflected)
    for drive in drives:
        largest = max(abs(ratio) for _, ratio in drive.ratios)
        _check_rotor(f"drive {drive.name!r}", largest**2 * drive.rotor.reflected)
    for body in bodies:
        where, inertia = f"link {body.name!r}", body.inertia
        _check(where, "mass", "kg", inertia.mass, MASS_RANGE[1])
        _check_least(where, "mass", "kg", inertia.mass, MASS_RANGE[0])
        _check(where, "placement", "m", body.placement[:3, 3], LARGEST_LENGTH)
        _check(where, "first moment", "kg m", inertia.first_moment, MASS_RANGE[1] * LARGEST_LENGTH)
        _check(where, "moment of inertia", "kg m²", inertia.moment, MOMENT_RANGE[1])
        if _size(inertia.mass) == 0:
            _check_least(where, "moment of inertia", "kg m²", inertia.moment, MOMENT_RANGE[0])


def _check_rotor(where: str, felt: float) -> None:
    _check(where, "rotor inertia times gear_ratio²", "kg m²", felt, MOMENT_RANGE[1])
    _check_least(where, "rotor inertia times gear_ratio²", "kg m²", felt, MOMENT_RANGE[0])


def _check(where: str, what: str, unit: str, value: object, largest: float) -> None:
    size = _size(value)
    if not size <= largest:
        raise ModelError(
            f"{where}: its {what} is {size:g} {unit}; up to {largest:g} can be computed with. "
            "Check the units"
        )


def _check_least(where: str, what: str, unit: str, value: object, least: float) -> None:
    size = _size(value)
    if 0 < size < least:
        raise ModelError(
            f"{where}: its {what} is {size:g} {unit}, which products with other numbers lose; from "
            f"{least:g} on it can be computed with. Check the units, or set it to 0"
        )


def _size(value: object) -> float:
    """The largest size of a number; 0 for one in letters."""
    entries = np.asarray(value)
    return 0.0 if entries.dtype == object else float(np.abs(entries).max())
