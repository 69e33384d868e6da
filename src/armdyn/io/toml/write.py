"""A robot as text in armdyn's own format, the tree form that `toml` reads."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.io.keys import keys_from_limits, keys_from_motor, keys_from_spring, named_place
from armdyn.io.toml.read import FORMAT
from armdyn.model import GRAVITY, Body, Drive, Frame, Inertia, Joint, Link, Loop, RobotModel
from armdyn.model.transform import IDENTITY, rotation_from_rpy, rpy_from_rotation

Entries = Iterable[tuple[str, Any]]
"""Keys and values of a table."""
_BARE = re.compile(r"[A-Za-z0-9_-]+", re.ASCII)


def toml_from_model(model: RobotModel) -> str:
    """Everything in a robot, one block a link and a joint, numbers in full precision."""
    names = [model.base_link.name, *(link.name for link in model.links)]
    blocks = [_block("", _head(model))]
    for header, T in (("[base]", model.base), ("[tool]", model.tool)):
        if not np.array_equal(T, IDENTITY):
            blocks.append(_block(header, _placement(T)))
    if model.letters:
        blocks.append(_block("[letters]", model.letters.items()))
    for link, i in zip((model.base_link, *model.links), range(-1, len(model.links)), strict=True):
        frames = [f for f in (*model.frames, model.flange) if f.link == i]
        blocks += _link_blocks(link, list({frame.name: frame for frame in frames}.values()))
    for joint, link in zip(model.joints, model.links, strict=True):
        blocks.append(_block("[[joint]]", _joint(joint, names[joint.parent + 1], link.name)))
    blocks += [_block("[[drives]]", _drive(drive)) for drive in model.drives]
    blocks += [_block("[[springs]]", keys_from_spring(model, spring)) for spring in model.springs]
    blocks += [_block("[[loops]]", _loop(model, loop)) for loop in model.loops]
    if model.assembly is not None:
        positions = zip(model.joints, model.assembly.tolist(), strict=True)
        blocks.append(_block("[assembly]", [(_text(joint.name), x) for joint, x in positions]))
    return "\n".join(blocks)


def toml_inertia(inertia: Inertia) -> str:
    """The lines of an inertia in a [[link]] or [[link.body]]."""
    return _block("", _inertia(inertia))


def _block(header: str, entries: Entries) -> str:
    pairs = list(entries)
    width = max(len(key) for key, _ in pairs)
    lines = [f"{key:{width}} = {_value(value)}" for key, value in pairs]
    return "\n".join(([header] if header else []) + lines) + "\n"


def _head(model: RobotModel) -> Entries:
    yield "format", FORMAT
    yield "name", model.name
    for key in ("title", "source", "note"):
        if getattr(model, key):
            yield key, getattr(model, key)
    if model.reduced:
        yield "reduced", True
    if model.floating:
        yield "floating", True
    if not np.array_equal(model.gravity, GRAVITY):
        yield "gravity", model.gravity
    yield "flange", model.flange.name


def _link_blocks(link: Link, frames: list[Frame]) -> Iterator[str]:
    """The link with its own body, then its other parts and the places that are none of them."""
    own = [b for b in link.bodies[:1] if b.name == link.name and _at_origin(b) and not b.payload]
    others = link.bodies[len(own) :]
    yield _block("[[link]]", _own(link.name, own, bool(others)))
    for body in others:
        yield _block("[[link.body]]", _body(body))
    told = {b.name for b in link.bodies if not b.payload}
    for frame in frames:
        if frame.name not in told and (frame.name != link.name or not _at_origin(frame)):
            place = _placement(frame.placement)
            yield _block("[[link.frame]]", [("name", frame.name), *place])


def _at_origin(part: Body | Frame) -> bool:
    return np.array_equal(part.placement, IDENTITY)


def _own(name: str, own: list[Body], parts: bool) -> Entries:
    yield "name", name
    for body in own:
        yield from [("mass", 0.0)] if parts and body.inertia.is_zero else _inertia(body.inertia)


def _body(body: Body) -> Entries:
    yield "name", body.name
    if body.payload:
        yield "payload", True
    yield from _placement(body.placement)
    yield from _inertia(body.inertia)


def _placement(T: Array) -> Entries:
    if T[:3, 3].any():
        yield "position", T[:3, 3]
    yield from _rotation(T[:3, :3], "")


def _rotation(R: Array, prefix: str) -> Entries:
    """Angles where they give back the very same rotation, else the matrix."""
    if np.array_equal(R, np.eye(3)):
        return
    rpy = rpy_from_rotation(R)
    same = np.array_equal(rotation_from_rpy(rpy), R)
    yield (f"{prefix}rpy", rpy) if same else (f"{prefix}rotation", R)


def _inertia(inertia: Inertia) -> Entries:
    if inertia.is_zero:
        return
    yield "mass", inertia.mass
    if inertia.given_about == "com" and (inertia.mass or not inertia.first_moment.any()):
        com, tensor = _as_published(inertia)
        yield "com", com
    else:
        yield "inertia_about", "origin"
        yield "first_moment", inertia.first_moment
        tensor = inertia.given_axes.T @ inertia.moment @ inertia.given_axes
    diagonal = np.diag(tensor)
    yield "inertia", diagonal if np.array_equal(tensor, np.diag(diagonal)) else tensor
    yield from _rotation(inertia.given_axes, "inertia_")


def _as_published(inertia: Inertia) -> tuple[Array, Array]:
    """Centre of mass and tensor with the fewest digits that give back the same moments."""
    com, tensor = inertia.com, inertia.tensor_as_given
    seen = np.abs(tensor) > 1e-15 * np.abs(inertia.moment).max()
    for digits in range(1, 18):
        c = _rounded(com, digits)
        J = _rounded(np.where(seen, tensor, 0.0), digits)
        if Inertia.from_com(inertia.mass, c, J, inertia.given_axes) == inertia:
            return c, J
    return com, tensor


def _rounded(values: Array, digits: int) -> Array:
    return np.reshape([float(f"{x:.{digits}g}") for x in values.flat], values.shape)


def _joint(joint: Joint, parent: str, child: str) -> Entries:
    yield "name", joint.name
    yield "type", joint.kind
    if joint.type.pitched:
        yield "pitch", joint.type.slide
    yield "parent", parent
    yield "child", child
    yield from _placement(joint.placement)
    yield "axis", joint.axis
    yield from keys_from_limits(joint.limits)
    yield from keys_from_motor(joint)
    if not joint.actuated:
        yield "actuated", False
    if joint.mimic is not None:
        m = joint.mimic
        yield "mimic", {"leader": m.leader, "multiplier": m.multiplier, "offset": m.offset}


def _drive(drive: Drive) -> Entries:
    yield "name", drive.name
    yield "joints", dict(drive.ratios)
    yield from keys_from_motor(drive)


def _loop(model: RobotModel, loop: Loop) -> Entries:
    yield "name", loop.name
    yield "type", loop.cut.name
    if loop.couples:
        yield "follower", model.joints[loop.link_a].name
        yield "leader", model.joints[loop.link_b].name
        yield "coefficients", np.array(loop.coefficients)
        return
    for end, link, T in (("a", loop.link_a, loop.frame_a), ("b", loop.link_b, loop.frame_b)):
        name, host = named_place(model, link)
        place = T if np.array_equal(host, IDENTITY) else np.linalg.inv(host) @ T
        yield end, {"link": name} | dict(_placement(place))
    if loop.cut.has_length:
        yield "length", loop.length


def _value(value: Any) -> str:
    """A value as TOML text; a matrix has a line for each row."""
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, bool | int):
        return str(value).lower()
    if isinstance(value, Mapping):
        pairs = (f"{_key(key)} = {_value(entry)}" for key, entry in value.items())
        return f"{{ {', '.join(pairs)} }}"
    if np.ndim(value) == 0:
        return repr(float(value) + 0.0)
    if np.ndim(value) == 1:
        return f"[{', '.join(_value(float(entry)) for entry in value)}]"
    return "[\n" + "".join(f"    {_value(row)},\n" for row in value) + "]"


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _text(name)


def _text(value: str) -> str:
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
