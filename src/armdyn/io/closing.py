"""Loops: from the keys of tables, and in descriptions, which joints follow from them.

Files say where links are joined, and perhaps which joints have motors, but not which positions are
coordinates. Joints that are coupled to others follow first, then those without a motor, of these
the ones that lead no other first, and the ones farthest from the base.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from armdyn.arrays import Array, check_constant, check_number
from armdyn.errors import LoopError, ModelError, UnknownNameError, check_all_known, require, shown
from armdyn.io.keys import PLACEMENT, placement_from_keys
from armdyn.model import Loop, RobotModel
from armdyn.model.cut_joints import COUPLING, cut_joint, cycle, polynomial
from armdyn.model.edit import coupling_between, loop_between, mimic_couplings, with_loops
from armdyn.model.transform import transform

STEP = 1e-5
"""Of the differences that closures are differentiated by [rad or m]."""
DEPENDENT = 1e-6
"""What is left of a column of unit length that depends on others."""


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
) -> RobotModel:
    """The tree of a table with its loops; errors call these by their `places`."""
    if not isinstance(loops, Sequence) or isinstance(loops, str):
        raise ModelError(f"loops is a sequence of mappings, got {shown(loops)}")
    if not loops and not passive:
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
    return with_loops(model, closing, passive, positions)


def closed_tree(
    model: RobotModel, loops: Sequence[Loop], assembly: Array, motors: Collection[str] = ()
) -> RobotModel:
    """The robot with loops that are closed at the positions of its file.

    `motors` are the names of joints that have one.
    """
    if not loops:
        return model
    every = [*loops, *mimic_couplings(model)]
    order = _order(model, every, motors)
    columns = {i: _column(model, every, assembly, i) for i in order}
    passive, basis = [], list[Array]()
    for i in order:
        size = np.linalg.norm(columns[i])
        rest = columns[i] / (size or 1.0)
        for b in (*basis, *basis):
            rest = rest - (b @ rest) * b
        if size > DEPENDENT and np.linalg.norm(rest) > DEPENDENT:
            basis.append(rest / np.linalg.norm(rest))
            passive.append(model.joints[i].name)
    if not passive:
        raise LoopError(
            f"{loops[0].where} of {model.name!r} moves no joint; leave it out", loop=loops[0].name
        )
    if len(passive) == len(model.joints):
        raise LoopError(
            f"{loops[0].where} of {model.name!r} cannot move: its conditions hold all "
            f"{len(passive)} joints; are axes that should be parallel or meet exactly so?",
            loop=loops[0].name,
        )
    names = [joint.name for joint in model.joints]
    return with_loops(model, loops, passive, dict(zip(names, assembly.tolist(), strict=True)))


def _order(model: RobotModel, loops: Sequence[Loop], motors: Collection[str]) -> list[int]:
    """The joints around loops, those first that rather follow."""
    around = {i for loop in loops for i in cycle(model.paths, loop)}
    following = {loop.link_a for loop in loops if loop.couples}
    leading = {loop.link_b for loop in loops if loop.couples}
    driven = {i for i in around if model.joints[i].name in motors}
    return sorted(around, key=lambda i: (i not in following, i in driven, i in leading, -i))


def _column(model: RobotModel, loops: Sequence[Loop], q: Array, i: int) -> Array:
    """How the rows of all closures change with joint i."""
    step = STEP * np.eye(len(q))[i]
    ahead, back = (_residuals(model, loops, q + sign * step) for sign in (1, -1))
    return np.asarray((ahead - back) / (2 * STEP))


def _residuals(model: RobotModel, loops: Sequence[Loop], q: Array) -> Array:
    frames = {-1: np.eye(4)}
    for i, joint in enumerate(model.joints):
        motion = joint.type.motion(joint.axis, float(q[i]))
        frames[i] = frames[joint.parent] @ joint.placement @ motion
    rows = []
    for loop in loops:
        if loop.couples:
            rows.append(q[loop.link_a] - polynomial(loop.coefficients, q[loop.link_b]))
            continue
        A = frames[loop.link_a] @ loop.frame_a
        B = frames[loop.link_b] @ loop.frame_b
        rows += [row.residual(A, B, loop.length) for row in loop.cut.rows]
    return np.array(rows)
