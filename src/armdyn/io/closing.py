"""Loops from the keys of tables, and from those of files beside a URDF."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from armdyn.arrays import Array, check_constant, check_number
from armdyn.errors import (
    DescriptionError,
    LoopError,
    ModelError,
    UnknownNameError,
    check_all_known,
    check_installed,
    require,
    shown,
)
from armdyn.io.keys import PLACEMENT, placement_from_keys
from armdyn.io.regular import read_regular
from armdyn.loops.choice import closed_tree
from armdyn.model import Connection, Loop, RobotModel
from armdyn.model.cut_joints import COUPLING, cut_joint
from armdyn.model.edit import coupling_between, loop_between, with_loops
from armdyn.model.joint_types import described_type
from armdyn.model.transform import IDENTITY, transform

PAIRED = {"3d": "spherical", "6d": "fixed"}
"""The cut joint of each type of a closure that is written beside a URDF file."""
BESIDE = ("closed_loop", "type", "name_mot", "joint_name", "joint_type", "assembly")
"""Keys of such a file."""
RETYPED = {"SPHERICAL": "spherical", "FIXED": "fixed"}
"""The type of each joint that such a file has in place of that of the URDF."""


def loop_keys(kind: object) -> tuple[str, ...]:
    """What a table may say about a loop that a joint of this type closes."""
    coupled = ("follower", "leader", "coefficients")
    return ("name", "type", *(coupled if kind == COUPLING.name else ("a", "b", "length")))


def loop_from_keys(model: RobotModel, where: str, given: Any) -> Loop:
    """The loop that the keys of a table give; `where` begins the errors.

    An end is a mapping with a link, position and rpy or rotation, or a pair of a link and a point
    or a 4x4 transform.
    """
    require(isinstance(given, Mapping), where, "a mapping", given, ModelError)
    kind = given.get("type", "revolute")
    check_all_known(f"key (in {where})", given, loop_keys(kind))
    name = str(given.get("name", where))
    if kind == COUPLING.name:
        for key in ("follower", "leader"):
            if not isinstance(given.get(key), str):
                raise ModelError(f"{where}: the key {key!r} is missing; expected a joint")
        numbers = given.get("coefficients")
        if not isinstance(numbers, Sequence | np.ndarray):
            raise ModelError(f"{where}: coefficients: expected numbers in brackets")
        values = check_constant(f"{where}: coefficients", numbers, (len(numbers),)).tolist()
        return coupling_between(model, name, given["follower"], given["leader"], values)
    a, b = (_end(where, key, given.get(key)) for key in ("a", "b"))
    length = check_number(f"{where}: length", given.get("length", 0.0))
    return loop_between(model, name, cut_joint(kind), a, b, length)


def _end(where: str, key: str, end: Any) -> tuple[str, Array]:
    """A link, and a place in its frame, (4, 4)."""
    if end is None:
        raise ModelError(
            f"{where}: the end {key!r} is missing; expected a link and a place on it, as "
            f'{key} = {{ link = "coupler", position = [0.6, 0.0, 0.0] }}'
        )
    where = f"{where}: {key}"
    if isinstance(end, Mapping):
        check_all_known(f"{where}: key", end, ("link", *PLACEMENT))
        end = (end.get("link"), placement_from_keys(where, end))
    if not isinstance(end, Sequence) or len(end) != 2 or not isinstance(end[0], str):
        raise ModelError(
            f"{where}: expected a link and a place in its frame, as ('link2', (0.5, 0, 0)) or with "
            f"a 4x4 transform, got {shown(end)}"
        )
    if np.shape(end[1]) == (3,):
        return end[0], transform(position=check_constant(where, end[1], (3,)))
    return end[0], check_constant(where, end[1], (4, 4))


def closed_by_keys(
    model: RobotModel,
    loops: Sequence[Mapping[str, Any]],
    passive: Sequence[str],
    assembly: Mapping[str, float] | None,
    places: Sequence[str] = (),
    coordinates: Sequence[str] | None = None,
) -> RobotModel:
    """The tree of a table with its loops; errors call these by their `places`.

    Where coordinates are named, no passive joints are.
    """
    if not isinstance(loops, Sequence) or isinstance(loops, str):
        raise ModelError(f"loops is a sequence of mappings, got {shown(loops)}")
    if not loops and not passive:
        if coordinates is not None:
            raise ModelError("coordinates are named, and there are no loops that leave a choice")
        return model
    given = {} if assembly is None else assembly
    if not isinstance(given, Mapping):
        raise ModelError(f"assembly maps names of joints to positions, got {shown(assembly)}")
    positions = {name: check_number(f"assembly: {name}", x) for name, x in given.items()}
    names = places or [f"loop {i + 1}" for i in range(len(loops))]
    closing = []
    for where, loop in zip(names, loops, strict=True):
        try:
            closing.append(loop_from_keys(model, where, loop))
        except UnknownNameError as fault:
            fault.args = (str(fault) if where in str(fault) else f"{where}: {fault}",)
            raise
    if coordinates is None:
        return with_loops(model, closing, passive, positions)
    if passive:
        raise ModelError(f"give coordinates or actuated = false (of {passive[0]!r}), not both")
    names = [joint.name for joint in model.joints]
    check_all_known(f"joint in the assembly of {model.name!r} named", positions, names)
    near = np.array([positions.get(name, 0.0) for name in names])
    return closed_tree(model, closing, [near], coordinates=coordinates)


def loops_beside(loops: object) -> object:
    """Loops that stand beside a URDF file: those of a YAML file, or what they are already."""
    loops = _from_yaml(Path(loops)) if isinstance(loops, str | Path) else loops
    if isinstance(loops, Mapping):
        check_all_known("key of loops named", loops, BESIDE)
    return loops


def retyped(joints: Sequence[Connection], loops: object) -> list[Connection]:
    """The joints of a URDF file, some of another type: URDF has no balls."""
    if not isinstance(loops, Mapping):
        return list(joints)
    names, kinds = (loops.get(key) or [] for key in ("joint_name", "joint_type"))
    lists = isinstance(names, Sequence) and isinstance(kinds, Sequence)
    same = lists and len(names) == len(kinds)
    require(same, "joint_type", "a type for each joint_name", kinds, ModelError)
    check_all_known("joint in joint_name named", names, [joint.name for joint in joints])
    check_all_known("joint_type named", kinds, RETYPED)
    given = dict(zip(names, kinds, strict=True))
    return [
        Connection(x.name, described_type(RETYPED[given[x.name]]), x.parent, x.child, x.placement)
        if x.name in given
        else x
        for x in joints
    ]


def closed_by_pairs(
    model: RobotModel,
    loops: object,
    links: Mapping[str, str],
    coordinates: Sequence[str] | None = None,
) -> RobotModel:
    """The tree of a URDF file with the loops that are written beside it.

    Args:
        model: The tree.
        loops: What a YAML file holds, or loops as a table has them. The keys are `closed_loop`,
            pairs of frames, `type`, "3d" or "6d" for each, `name_mot`, the joints with motors, and
            `assembly`, positions near which all fits.
        links: Links by the names of the joints that carry them, which name frames as well.
        coordinates: Names of the coordinates; None: the joints with motors, or what suits best.
    """
    if not isinstance(loops, Mapping):
        require(isinstance(loops, Sequence) and loops, "loops", "some loops", loops, ModelError)
        assert isinstance(loops, Sequence)
        closing = [loop_from_keys(model, f"loop {i}", x) for i, x in enumerate(loops, start=1)]
        return closed_tree(model, closing, [np.zeros(len(model.joints))], coordinates=coordinates)
    closing = [loop_from_keys(model, keys["name"], keys) for keys in _paired(loops, links)]
    names = [joint.name for joint in model.joints]
    assembly = loops.get("assembly") or {}
    require(isinstance(assembly, Mapping), "assembly", "positions by joint", assembly, ModelError)
    check_all_known(f"joint in the assembly of {model.name!r} named", assembly, names)
    near = np.array([check_number(f"assembly: {x}", assembly.get(x, 0.0)) for x in names])
    motors = _motors(names, loops.get("name_mot"))
    asked = (motors or None) if coordinates is None else coordinates
    robot = closed_tree(model, closing, [near], motors, asked)
    free = [j.name for j in robot.coordinate_joints if j.name not in motors]
    if motors and coordinates is None and free:
        raise LoopError(
            f"the loops of {model.name!r} leave {', '.join(free)} free, which name_mot has not: it "
            f"names {', '.join(motors)}. Add what has a motor, lock what has none, or name the "
            "coordinates that are meant"
        )
    return robot


def _from_yaml(path: Path) -> object:
    """What a YAML file holds."""
    check_installed("yaml", "loops", f"reading loops from {path}")
    import yaml  # noqa: PLC0415

    try:
        return yaml.safe_load(read_regular(path, partial(DescriptionError, file=path)))
    except (yaml.YAMLError, UnicodeDecodeError) as reason:
        message = " ".join(str(reason).split())
        raise DescriptionError(f"this is no YAML: {message}", file=path) from reason


def _paired(loops: Mapping[str, Any], links: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """The keys of each loop."""
    pairs, kinds = loops.get("closed_loop") or [], loops.get("type") or []
    lists = isinstance(pairs, Sequence) and isinstance(kinds, Sequence | str)
    require(pairs and lists, "closed_loop", "pairs of frames", pairs, ModelError)
    kinds = [kinds] * len(pairs) if isinstance(kinds, str) else kinds or ["6d"] * len(pairs)
    if len(kinds) != len(pairs):
        raise ModelError(f"type: expected one for each of {len(pairs)} loops, got {len(kinds)}")
    for pair, kind in zip(pairs, kinds, strict=True):
        names = [x for x in pair if isinstance(x, str)] if isinstance(pair, Sequence) else []
        require(len(names) == 2, "closed_loop", "pairs of names of frames", pair, ModelError)
        if str(kind).lower() not in PAIRED:
            raise ModelError(f"type: expected '3d' or '6d', got {shown(kind)}")
        a, b = ((links.get(end, end), IDENTITY) for end in pair)
        yield {"name": f"{pair[0]} {pair[1]}", "type": PAIRED[str(kind).lower()], "a": a, "b": b}


def _motors(names: Sequence[str], given: Any) -> list[str]:
    """The joints that have motors; a word stands for all joints with it in their names."""
    if given is None:
        return []
    found: list[str] = []
    for word in [given] if isinstance(given, str) else given:
        alike = [word] if word in names else [name for name in names if str(word) in name]
        if not alike:
            raise UnknownNameError("joint in name_mot named", str(word), names)
        found += (name for name in alike if name not in found)
    return found
