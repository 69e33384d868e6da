"""Springs in tables: between their keys and `Spring`."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from armdyn.arrays import Array, check_constant, check_number, frozen
from armdyn.errors import ModelError, UnknownNameError, shown
from armdyn.model import RobotModel, Spring
from armdyn.model.transform import IDENTITY, inverse

SPRING_KEYS = ("name", "link", "point", "other", "anchor", "stiffness", "free_length")
BASE = "base"
"""What the base is called where no link has that name."""


def with_springs(model: RobotModel, given: Any) -> RobotModel:
    """The robot with springs in place of those it has; each is a mapping, or a `Spring`."""
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Sequence):
        raise ModelError(f"springs: expected a list of mappings, got {shown(given)}")
    springs = []
    for i, each in enumerate(given, start=1):
        if isinstance(each, Spring):
            _check_link(model, f"spring {i}", each)
            springs.append(each if each.name else replace(each, name=f"spring{i}"))
        else:
            springs.append(spring_from_keys(model, f"spring {i}", each, f"spring{i}"))
    return replace(model, springs=tuple(springs))


def spring_from_keys(model: RobotModel, where: str, given: Any, name: str = "") -> Spring:
    """The spring that the keys of a table give; `where` begins the errors."""
    if not isinstance(given, Mapping):
        raise ModelError(f"{where}: expected a mapping of keys to values, got {shown(given)}")
    for key in given:
        if key not in SPRING_KEYS:
            raise UnknownNameError(f"{where}: key", key, SPRING_KEYS)
    name = given.get("name", name)
    if not isinstance(name, str) or not name:
        raise ModelError(f"{where}: expected a name, got {shown(name)}")
    missing = [key for key in ("link", "stiffness") if key not in given]
    if missing:
        raise ModelError(
            f"{where}: {missing[0]!r} is missing; expected a link, a point on it, the link that it "
            "is tied to, an anchor there and a stiffness [N/m]"
        )
    (link, point), (other, anchor) = (
        _end(model, where, given.get(at, BASE), key, given.get(key, (0.0, 0.0, 0.0)))
        for at, key in (("link", "point"), ("other", "anchor"))
    )
    stiffness, length = (
        check_number(f"{where}: {key}", given.get(key, 0.0)) for key in ("stiffness", "free_length")
    )
    return Spring(link, point, other, anchor, stiffness, length, name)


def keys_from_spring(model: RobotModel, spring: Spring) -> Iterator[tuple[str, Any]]:
    """The keys that `spring_from_keys` reads, points in the frames that links are named after."""
    yield "name", spring.name
    for at, key, link, place in (
        ("link", "point", spring.link, spring.point),
        ("other", "anchor", spring.other, spring.anchor),
    ):
        name = (model.links[link] if link >= 0 else model.base_link).name
        T = inverse(_place(model, link, name))
        yield at, name
        yield key, place if np.array_equal(T, IDENTITY) else T[:3, :3] @ place + T[:3, 3]
    yield "stiffness", spring.stiffness
    if spring.free_length:
        yield "free_length", spring.free_length


def _place(model: RobotModel, link: int, name: str) -> Array:
    """The frame of a name on a link, which is at the joint if the description has no other."""
    found = (f.placement for f in model.frames if f.name == name and f.link == link)
    return next(found, IDENTITY)


def _end(model: RobotModel, where: str, name: Any, key: str, point: Any) -> tuple[int, Array]:
    """The link of an end and its place in the frame on the joint of that link."""
    place = check_constant(f"{where}: {key}", point, (3,))
    known = {BASE: (-1, IDENTITY)} | {
        link.name: (i, IDENTITY) for i, link in enumerate((model.base_link, *model.links), start=-1)
    }
    known |= {frame.name: (frame.link, frame.placement) for frame in model.frames}
    if not isinstance(name, str) or name not in known:
        raise UnknownNameError(f"{where}: link of {model.name!r} named", str(name), known)
    link, T = known[name]
    return link, frozen(T[:3, :3] @ place + T[:3, 3])


def _check_link(model: RobotModel, where: str, spring: Spring) -> None:
    last = len(model.links) - 1
    if not (-1 <= spring.link <= last and -1 <= spring.other <= last):
        raise ModelError(
            f"{where}: {model.name!r} has the links 0 to {last} and the base, -1, got the links "
            f"{spring.link} and {spring.other}"
        )
