"""The loops of a DH table: cut joints between frames of its links."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from armdyn.arrays import Array, check_constant, check_number
from armdyn.errors import ModelError, check_known, shown
from armdyn.model import Loop, RobotModel
from armdyn.model.cut_joints import COUPLING, cut_joint
from armdyn.model.edit import coupling_between, loop_between, with_loops
from armdyn.model.transform import transform

KEYS = ("name", "type", "a", "b", "length")
COUPLED = ("name", "type", "follower", "leader", "coefficients")


def closed_by_rows(
    model: RobotModel,
    loops: Sequence[Mapping[str, Any]],
    passive: Sequence[str],
    assembly: Mapping[str, float] | None,
) -> RobotModel:
    """The tree of a table with its loops."""
    if not isinstance(loops, Sequence) or isinstance(loops, str):
        raise ModelError(f"loops is a sequence of mappings, got {shown(loops)}")
    if not loops and not passive:
        return model
    given = {} if assembly is None else assembly
    if not isinstance(given, Mapping):
        raise ModelError(f"assembly maps names of joints to positions, got {shown(assembly)}")
    places = {name: check_number(f"assembly: {name}", x) for name, x in given.items()}
    found = [_loop(model, f"loop {i}", loop) for i, loop in enumerate(loops, start=1)]
    return with_loops(model, found, passive, places)


def _loop(model: RobotModel, where: str, loop: Mapping[str, Any]) -> Loop:
    if not isinstance(loop, Mapping):
        raise ModelError(f"{where}: expected a mapping, got {shown(loop)}")
    coupled = loop.get("type") == COUPLING.name
    for key in loop:
        check_known(f"key (in {where})", key, COUPLED if coupled else KEYS)
    if coupled:
        name, *joints = (str(loop.get(key, "")) for key in ("name", "follower", "leader"))
        given = loop.get("coefficients", ())
        shape = (len(given),) if isinstance(given, Sequence | np.ndarray) else (1,)
        coefficients = check_constant(f"{where}: coefficients", given, shape)
        return coupling_between(model, name or where, joints[0], joints[1], coefficients.tolist())
    ends = [_end(f"{where}: {key}", loop.get(key)) for key in ("a", "b")]
    length = check_number(f"{where}: length", loop.get("length", 0.0))
    kind = cut_joint(loop.get("type", "revolute"))
    return loop_between(model, str(loop.get("name", where)), kind, ends[0], ends[1], length)


def _end(where: str, end: Any) -> tuple[str, Array]:
    """A link, and a point or a transform in the frame of its row."""
    if not isinstance(end, Sequence) or len(end) != 2 or not isinstance(end[0], str):
        raise ModelError(
            f"{where}: expected a link and a place in its frame, as ('link2', (0.5, 0, 0)) or with "
            f"a 4x4 transform, got {shown(end)}"
        )
    if np.shape(end[1]) == (3,):
        return end[0], transform(position=check_constant(where, end[1], (3,)))
    return end[0], check_constant(where, end[1], (4, 4))
