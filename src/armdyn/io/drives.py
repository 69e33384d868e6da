"""Drives of several joints in tables: between their keys and `Drive`."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from armdyn.arrays import check_number
from armdyn.errors import ModelError, UnknownNameError, shown
from armdyn.io.friction import FRICTION_KEYS, friction_from_keys, keys_from_friction
from armdyn.model import Drive, Joint, Rotor

DRIVE_KEYS = ("name", "joints", "rotor_inertia", "gear_ratio", *FRICTION_KEYS)


def drives_from_keys(given: Any) -> tuple[Drive, ...]:
    """The drives that a sequence of mappings gives."""
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Sequence):
        raise ModelError(f"drives: expected a list of mappings, got {shown(given)}")
    return tuple(drive_from_keys(f"drive {i}", each) for i, each in enumerate(given, start=1))


def drive_from_keys(where: str, given: Any) -> Drive:
    """The drive that the keys of a table give; `where` begins the errors."""
    if not isinstance(given, Mapping):
        raise ModelError(f"{where}: expected a mapping of keys to values, got {shown(given)}")
    for key in given:
        if key not in DRIVE_KEYS:
            raise UnknownNameError(f"{where}: key", key, DRIVE_KEYS)
    name, joints = given.get("name"), given.get("joints")
    if not isinstance(name, str) or not name:
        raise ModelError(f"{where}: expected a name, got {shown(name)}")
    if not isinstance(joints, Mapping):
        raise ModelError(
            f"{where}: expected joints with the ratios that the drive turns with, as "
            f"joints = {{ joint5 = 1.0, joint6 = 1.0 }}, got {shown(joints)}"
        )
    ratios = {str(k): check_number(f"{where}: ratio of {k!r}", v) for k, v in joints.items()}
    rotor = [check_number(f"{where}: {key}", v) for key, v in _rotor(given)]
    return Drive(name, tuple(ratios.items()), Rotor(*rotor), friction_from_keys(where, given))


def _rotor(given: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    usual = Rotor()
    yield "rotor_inertia", given.get("rotor_inertia", usual.inertia)
    yield "gear_ratio", given.get("gear_ratio", usual.gear_ratio)


def keys_from_motor(owner: Joint | Drive) -> Iterator[tuple[str, float | tuple[float, ...]]]:
    """The keys of friction and rotor that are not as they would be without them."""
    yield from keys_from_friction(owner.friction)
    if owner.rotor.inertia or owner.rotor.gear_ratio != 1.0:
        yield "rotor_inertia", owner.rotor.inertia
        yield "gear_ratio", owner.rotor.gear_ratio
