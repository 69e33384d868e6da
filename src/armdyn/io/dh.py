"""Denavit-Hartenberg tables, standard and modified, by keyword columns, and their loops."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from armdyn.arrays import Array, check_choice, check_truth, frozen
from armdyn.errors import ModelError, check_all_known, check_known, require, shown
from armdyn.io.closing import closed_by_keys
from armdyn.io.keys import (
    BODY_KEYS,
    FRICTION_KEYS,
    GEOMETRY,
    JOINT_KEYS,
    ShapeReader,
    checked_keys,
    inertia_from_keys,
    joint_from_keys,
)
from armdyn.io.options import Reading
from armdyn.model import GRAVITY, Connection, Inertia, assemble
from armdyn.model.assemble import check_name
from armdyn.model.joint_types import JOINT_TYPES, JointType, joint_type
from armdyn.model.transform import quarter_exact, rotation_z, transform
from armdyn.model.validate import Finding, Physical, physical_warnings

COLUMNS = ("joint", *GEOMETRY, *BODY_KEYS, *JOINT_KEYS, "name", "link", "parent", "actuated")
"""Of a row; b and γ lead from the frame of a link with several branches to where one begins."""


def read_dh(
    rows: Sequence[Mapping[str, Any]],
    convention: Literal["standard", "modified"] = "standard",
    *,
    gravity: npt.ArrayLike = GRAVITY,
    base: npt.ArrayLike | None = None,
    tool: npt.ArrayLike | None = None,
    name: str = "robot",
    source: str = "",
    reduced: bool = False,
    physical: Physical = "error",
    loops: Sequence[Mapping[str, Any]] = (),
    assembly: Mapping[str, float] | None = None,
    places: Sequence[str] = (),
    shapes: ShapeReader | None = None,
) -> Reading:
    """A robot from its Denavit-Hartenberg table, with what is odd about the numbers.

    Standard (Paul): A_i = Rz(θ) Tz(d) Tx(a) Rx(α), frame i at the far end of link i.
    Modified (Craig, Khalil): T_i = Rx(α) Tx(a) Rz(θ) Tz(d), α and a of row i being α_{i-1} and
    a_{i-1}, frame i on joint i. The joint variable q is added to θ (revolute) or d (prismatic);
    helical: q to θ and pitch·q to d. A row follows the one before, or the link that it names as its
    parent; with b and γ there, Rz(γ) Tz(b) comes before T_i (Khalil and Kleinfinger). Errors call
    rows by their `places`; `shapes` reads shapes of links.
    """
    check_choice("convention", convention, ("standard", "modified"))
    if not isinstance(rows, Sequence) or isinstance(rows, str) or not len(rows):
        raise ModelError(f"a DH table is a sequence of at least one row, got {shown(rows)}")
    links: dict[str, Inertia] = {"base": Inertia.zero()}
    connections = []
    placements = {}
    parent = "base"
    findings: list[Finding] = []
    for i, row in enumerate(rows, start=1):
        where = places[i - 1] if places else f"DH row {i}"
        _check_columns(where, row)
        link = check_name(f"{where}: link", row.get("link", f"link{i}"))
        if link in links:
            raise ModelError(f"{where}: the link name {link!r} is taken; give each link its own")
        across, along, branch = _steps(where, row, convention)
        parent = row.get("parent", parent)
        check_known(f"link before it (in {where}) named", parent, links)
        modified = convention == "modified"
        before = branch @ (across @ along if modified else np.eye(4))
        placements[link] = frozen(np.eye(4) if modified else along @ across)
        links[link] = inertia_from_keys(where, row, shapes)
        joint = check_name(f"{where}: name", row.get("name", f"joint{i}"))
        ends, parts = (parent, link), joint_from_keys(where, row)
        connections.append(Connection(joint, _kind(where, row), *ends, frozen(before), **parts))
        findings += (Finding("warning", where, f"{where}: {text}") for text in _oddities(row))
        parent = link
    if not findings:
        findings += _nothing_moves(name, rows, links)
    model = assemble(
        name,
        links,
        connections,
        placements=placements,
        tool_transform=tool,
        base=base,
        gravity=gravity,
        source=source,
        reduced=reduced,
    )
    pairs = zip(connections, rows, strict=True)
    passive = [c.name for c, row in pairs if not check_truth("actuated", row.get("actuated", True))]
    model = closed_by_keys(model, loops, passive, assembly)
    return model, (*findings, *physical_warnings(model, physical))


def _kind(where: str, row: Mapping[str, Any]) -> JointType:
    pitch = checked_keys(where, {k: v for k, v in row.items() if v is not None}, ("pitch",))
    try:
        return joint_type(row["joint"], pitch.get("pitch"))
    except ModelError as fault:
        raise ModelError(f"{where}: {fault}") from fault


def _oddities(row: Mapping[str, Any]) -> Iterator[str]:
    """Numbers of a row that are legal, but look like a mistake."""
    keys = ("alpha", "theta", "a", "d", "mass", "offset")
    given = {key: float(row.get(key, 0.0)) for key in keys}
    for key in ("alpha", "theta"):
        if abs(given[key]) > 2 * math.pi:
            yield f"{key} = {given[key]:g} is more than a full turn; are these degrees?"
    for key in ("a", "d"):
        if abs(given[key]) > 20:
            yield f"{key} = {given[key]:g} m is longer than a house; are these millimetres?"
    com = np.asarray(row.get("com", 0.0), dtype=float)
    if not given["mass"] and com.any():
        yield f"com = {com.tolist()} has no effect, since there is no mass; give the mass"
    if given["offset"] and not any(key in row for key in FRICTION_KEYS if key != "offset"):
        yield (
            f"offset = {given['offset']:g} is a constant torque, in a row without other friction; "
            "the offset of a position is added to theta or d"
        )


def _nothing_moves(
    name: str, rows: Sequence[Mapping[str, Any]], links: Mapping[str, Inertia]
) -> Iterator[Finding]:
    """A warning if there is neither a mass nor a rotor, so that all torques are zero."""
    heavy = any(inertia.mass or inertia.moment.any() for inertia in links.values())
    if not heavy and not any(row.get("rotor_inertia") for row in rows):
        text = "no row has a mass, com or inertia: links without inertia need no torque to move"
        yield Finding("warning", name, f"robot {name!r}: {text}")


def _check_columns(where: str, row: Mapping[str, Any]) -> None:
    require(isinstance(row, Mapping), where, "a mapping of columns to numbers", row, ModelError)
    check_all_known(f"DH column (in {where})", row, COLUMNS)
    moving = [name for name, kind in JOINT_TYPES.items() if kind.moves]
    check_choice(f"{where}: joint", row.get("joint"), moving)


def _steps(where: str, row: Mapping[str, Any], convention: str) -> tuple[Array, Array, Array]:
    """The constant transforms of a row.

    Across to the next axis, Tx(a) Rx(α), along it, Rz(θ) Tz(d), and to a branch, Rz(γ) Tz(b).
    """
    numbers = {key: value for key, value in row.items() if key != "pitch"}
    x = dict.fromkeys(GEOMETRY, 0.0) | checked_keys(where, numbers, GEOMETRY)
    if convention != "modified" and (x["gamma"] or x["b"]):
        raise ModelError(f"{where}: gamma and b are of the modified convention")
    ca, sa = quarter_exact(x["alpha"])
    across = transform(np.array([[1, 0, 0], [0, ca, -sa], [0, sa, ca]]), (x["a"], 0, 0))
    along = transform(rotation_z(*quarter_exact(x["theta"])), (0, 0, x["d"]))
    return across, along, transform(rotation_z(*quarter_exact(x["gamma"])), (0, 0, x["b"]))
