"""Loops from the keys of tables."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from armdyn.arrays import Array, check_constant, check_number
from armdyn.errors import ModelError, UnknownNameError, check_all_known, require, shown
from armdyn.io.keys import PLACEMENT, placement_from_keys
from armdyn.loops.choice import closed_tree
from armdyn.model import Loop, RobotModel
from armdyn.model.cut_joints import COUPLING, cut_joint
from armdyn.model.edit import coupling_between, loop_between, with_loops
from armdyn.model.transform import transform


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
