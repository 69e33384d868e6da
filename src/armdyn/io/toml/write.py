"""A robot as text in armdyn's own format, the tree form that `toml` reads."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import astuple

import numpy as np

from armdyn.arrays import Array
from armdyn.io.dh import MAGNITUDES
from armdyn.io.keys import keys_from_motor, keys_from_spring, named_place
from armdyn.io.toml.read import FORMAT
from armdyn.model import (
    GRAVITY,
    Body,
    Drive,
    Frame,
    Inertia,
    Joint,
    Limits,
    Link,
    Loop,
    RobotModel,
    Spring,
)
from armdyn.model.transform import IDENTITY, rotation_from_rpy, rpy_from_rotation

Entries = Iterable[tuple[str, str]]
"""Keys and values of a table, the values as TOML text."""


def toml_from_model(model: RobotModel) -> str:
    """Everything in a robot, one block a link and a joint, numbers in full precision."""
    names = [model.base_link.name, *(link.name for link in model.links)]
    blocks = [_block("", _head(model))]
    for header, T in (("[base]", model.base), ("[tool]", model.tool)):
        if not np.array_equal(T, IDENTITY):
            blocks.append(_block(header, _placement(T)))
    if model.letters:
        letters = ((key, _text(value)) for key, value in model.letters.items())
        blocks.append(_block("[letters]", letters))
    for link, i in zip((model.base_link, *model.links), range(-1, len(model.links)), strict=True):
        frames = [f for f in (*model.frames, model.flange) if f.link == i]
        blocks += _link_blocks(link, list({frame.name: frame for frame in frames}.values()))
    for joint, link in zip(model.joints, model.links, strict=True):
        parent = names[joint.parent + 1]
        blocks.append(_block("[[joint]]", _joint(joint, parent, link.name)))
    blocks += [_block("[[drives]]", _drive(drive)) for drive in model.drives]
    blocks += [_block("[[springs]]", _spring(model, spring)) for spring in model.springs]
    return "\n".join([*blocks, *_loop_blocks(model)])


def toml_inertia(inertia: Inertia) -> str:
    """The lines of an inertia in a [[link]] or [[link.body]]."""
    return _block("", _inertia(inertia))


def _block(header: str, entries: Entries) -> str:
    pairs = list(entries)
    width = max(len(key) for key, _ in pairs)
    lines = [f"{key:{width}} = {value}" for key, value in pairs]
    return "\n".join(([header] if header else []) + lines) + "\n"


def _head(model: RobotModel) -> Entries:
    yield "format", str(FORMAT)
    yield "name", _text(model.name)
    for key in ("title", "source", "note"):
        if getattr(model, key):
            yield key, _text(getattr(model, key))
    if model.reduced:
        yield "reduced", "true"
    if not np.array_equal(model.gravity, GRAVITY):
        yield "gravity", _array(model.gravity)
    yield "flange", _text(model.flange.name)


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
            yield _block("[[link.frame]]", [("name", _text(frame.name)), *place])


def _at_origin(part: Body | Frame) -> bool:
    return np.array_equal(part.placement, IDENTITY)


def _own(name: str, own: list[Body], parts: bool) -> Entries:
    yield "name", _text(name)
    for body in own:
        yield from [("mass", "0.0")] if parts and body.inertia.is_zero else _inertia(body.inertia)


def _body(body: Body) -> Entries:
    yield "name", _text(body.name)
    if body.payload:
        yield "payload", "true"
    yield from _placement(body.placement)
    yield from _inertia(body.inertia)


def _placement(T: Array) -> Entries:
    if T[:3, 3].any():
        yield "position", _array(T[:3, 3])
    yield from _rotation(T[:3, :3], "")


def _rotation(R: Array, prefix: str) -> Entries:
    """Angles where they give back the very same rotation, else the matrix."""
    if np.array_equal(R, np.eye(3)):
        return
    rpy = rpy_from_rotation(R)
    if np.array_equal(rotation_from_rpy(rpy), R):
        yield f"{prefix}rpy", _array(rpy)
    else:
        yield f"{prefix}rotation", _array(R)


def _inertia(inertia: Inertia) -> Entries:
    if inertia.is_zero:
        return
    yield "mass", _number(inertia.mass)
    if inertia.given_about == "com" and (inertia.mass or not inertia.first_moment.any()):
        com, tensor = _as_published(inertia)
        yield "com", _array(com)
    else:
        yield "inertia_about", _text("origin")
        yield "first_moment", _array(inertia.first_moment)
        tensor = inertia.given_axes.T @ inertia.moment @ inertia.given_axes
    diagonal = np.diag(tensor)
    yield "inertia", _array(diagonal if np.array_equal(tensor, np.diag(diagonal)) else tensor)
    yield from _rotation(inertia.given_axes, "inertia_")


def _as_published(inertia: Inertia) -> tuple[Array, Array]:
    """Centre of mass and tensor with the fewest digits that give back the same moments."""
    com, tensor = inertia.com, inertia.tensor_as_given
    seen = np.abs(tensor) > 1e-15 * np.abs(inertia.moment).max()
    for digits in range(1, 18):
        c, J = _rounded(com, digits), _rounded(np.where(seen, tensor, 0.0), digits)
        if Inertia.from_com(inertia.mass, c, J, inertia.given_axes) == inertia:
            return c, J
    return com, tensor


def _rounded(values: Array, digits: int) -> Array:
    return np.reshape([float(f"{x:.{digits}g}") for x in values.flat], values.shape)


def _joint(joint: Joint, parent: str, child: str) -> Entries:
    yield "name", _text(joint.name)
    yield "type", _text(joint.kind)
    if joint.type.pitched:
        yield "pitch", _number(joint.type.slide)
    yield "parent", _text(parent)
    yield "child", _text(child)
    yield from _placement(joint.placement)
    yield "axis", _array(joint.axis)
    yield from _limits(joint.limits)
    yield from _motor(joint)
    if not joint.actuated:
        yield "actuated", "false"
    if joint.mimic is not None:
        m = joint.mimic
        yield (
            "mimic",
            f"{{ leader = {_text(m.leader)}, multiplier = {_number(m.multiplier)}, "
            f"offset = {_number(m.offset)} }}",
        )


def _motor(owner: Joint | Drive) -> Entries:
    for key, value in keys_from_motor(owner):
        yield key, _array(np.array(value)) if isinstance(value, tuple) else _number(value)


def _drive(drive: Drive) -> Entries:
    ratios = ", ".join(f"{_text(joint)} = {_number(ratio)}" for joint, ratio in drive.ratios)
    yield "name", _text(drive.name)
    yield "joints", f"{{ {ratios} }}"
    yield from _motor(drive)


def _spring(model: RobotModel, spring: Spring) -> Entries:
    for key, value in keys_from_spring(model, spring):
        as_text = _text if isinstance(value, str) else _number
        yield key, _array(value) if isinstance(value, np.ndarray) else as_text(value)


def _loop_blocks(model: RobotModel) -> Iterator[str]:
    """The loops of a robot, and one configuration in which they are closed."""
    for loop in model.loops:
        if loop.couples:
            yield _block("[[loops]]", list(_coupling(model, loop)))
            continue
        ends = (("a", loop.link_a, loop.frame_a), ("b", loop.link_b, loop.frame_b))
        entries = [("name", _text(loop.name)), ("type", _text(loop.cut.name))]
        for end, link, T in ends:
            name, host = named_place(model, link)
            place = T if np.array_equal(host, IDENTITY) else np.linalg.inv(host) @ T
            keys = [("link", _text(name)), *_placement(place)]
            entries.append((end, f"{{ {', '.join(f'{key} = {v}' for key, v in keys)} }}"))
        entries += [("length", _number(loop.length))] if loop.cut.has_length else []
        yield _block("[[loops]]", entries)
    if model.assembly is not None:
        positions = zip(model.joints, model.assembly.tolist(), strict=True)
        yield _block("[assembly]", [(_text(j.name), _number(x)) for j, x in positions])


def _coupling(model: RobotModel, loop: Loop) -> Entries:
    yield "name", _text(loop.name)
    yield "type", _text(loop.cut.name)
    yield "follower", _text(model.joints[loop.link_a].name)
    yield "leader", _text(model.joints[loop.link_b].name)
    yield "coefficients", _array(np.array(loop.coefficients))


def _limits(limits: Limits) -> Entries:
    lower, upper = np.isfinite(limits.lower), np.isfinite(limits.upper)
    if lower and upper:
        yield "limits", _array(np.array([limits.lower, limits.upper]))
    elif lower or upper:
        yield ("lower", _number(limits.lower)) if lower else ("upper", _number(limits.upper))
    for key, value in zip(MAGNITUDES, astuple(limits)[2:], strict=True):
        if np.isfinite(value):
            yield key, _number(value)


def _text(value: str) -> str:
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _number(value: float) -> str:
    return repr(float(value) + 0.0)


def _array(values: Array) -> str:
    """Numbers in brackets; a matrix has a line for each row."""
    if values.ndim == 1:
        return f"[{', '.join(map(_number, values))}]"
    return "[\n" + "".join(f"    {_array(row)},\n" for row in values) + "]"
