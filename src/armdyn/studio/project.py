"""A project: robot, looks, state and poses of a window in one file, to go on another day."""

import io
import json
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.errors import DescriptionError, shown
from armdyn.io.regular import MAX_BYTES, read_regular
from armdyn.io.toml.write import toml_from_model
from armdyn.studio.arm import Arm, State
from armdyn.studio.visuals import Visual

FORMAT = 1
TABLE, ROBOT = "project.json", "robot.toml"
ENDING = ".armdyn.zip"
MAX_POSES = 200
MAX_PIECES = 200
MAX_LOOKS = MAX_BYTES
"""Bytes of the looks of all links."""


@dataclass(frozen=True, slots=True, eq=False)
class Project:
    """What is kept of a window besides its robot."""

    state: State | None
    poses: Mapping[str, State] = field(default_factory=dict)
    view: Mapping[str, bool] = field(default_factory=dict)
    pieces: tuple[Visual, ...] = ()


def packed(arm: Arm, project: Project) -> bytes:
    """The content of a project file; looks that are too large for it are left out."""
    table: dict[str, Any] = {
        "format": FORMAT,
        "state": None if project.state is None else project.state.table,
        "poses": {name: state.table for name, state in project.poses.items()},
        "view": dict(project.view),
        "pieces": [
            {"link": p.link, "placement": p.placement.tolist(), "colour": p.colour}
            for p in arm.pieces
        ],
    }
    looks = {
        f"looks/{k}.{kind}": values.tobytes()
        for k, piece in enumerate(arm.pieces)
        for kind, values in (
            ("corners", piece.vertices.astype("<f4")),
            ("triangles", piece.faces.astype("<i4")),
        )
    }
    if sum(map(len, looks.values())) > MAX_LOOKS:
        looks, table["pieces"] = {}, []
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(TABLE, json.dumps(table, indent=1))
        archive.writestr(ROBOT, toml_from_model(arm.robot.model))
        for name, content in looks.items():
            archive.writestr(name, content)
    return file.getvalue()


def read_project(place: Path, n: int) -> Project:
    """The project in an unpacked archive, of a robot with n coordinates.

    Raises:
        DescriptionError: It is none, or its numbers do not fit the robot.
    """
    path = place / TABLE

    def refusal(reason: str) -> DescriptionError:
        return DescriptionError(f"{TABLE}: {reason}")

    try:
        table = json.loads(read_regular(path, refusal))
    except (ValueError, RecursionError) as error:
        raise refusal(f"this is no JSON: {error}") from None
    if not isinstance(table, dict) or table.get("format") != FORMAT:
        found = table.get("format") if isinstance(table, dict) else table
        raise refusal(f"expected a project of format {FORMAT}, got {shown(found)}")
    poses = table.get("poses", {})
    view = table.get("view", {})
    if not isinstance(poses, dict) or not isinstance(view, dict) or len(poses) > MAX_POSES:
        raise refusal(f"poses and view are tables, of at most {MAX_POSES} poses")
    state = table.get("state")
    return Project(
        None if state is None else _state("state", state, n),
        {str(name)[:40]: _state(f"pose {name!r}", value, n) for name, value in poses.items()},
        {str(key): value is True for key, value in view.items()},
        tuple(_pieces(place, table.get("pieces", []), refusal)),
    )


def _state(where: str, given: Any, n: int) -> State:
    state = State.read(given)
    if state is None or len(state.q) != n:
        raise DescriptionError(
            f"{TABLE}: {where}: expected q, qd and qdd of {n} numbers each, and a payload of 0 or "
            "more"
        )
    return state


def _pieces(place: Path, given: Any, refusal: Any) -> list[Visual]:
    """The looks; those that do not fit together are refused."""
    if not isinstance(given, list) or len(given) > MAX_PIECES:
        raise refusal(f"pieces are a list, of at most {MAX_PIECES}")

    def numbers(k: int, kind: str, dtype: str) -> Array:
        data = read_regular(place / "looks" / f"{k}.{kind}", refusal, MAX_LOOKS)
        return np.frombuffer(data, dtype).reshape(-1, 3)

    try:
        return [
            _piece(entry, numbers(k, "corners", "<f4"), numbers(k, "triangles", "<i4"))
            for k, entry in enumerate(given)
        ]
    except (KeyError, ValueError, TypeError) as error:
        raise refusal(f"its looks cannot be read: {error}") from None


def _piece(entry: Any, vertices: Array, faces: Array) -> Visual:
    placement = np.array(entry["placement"], dtype=float)
    if placement.shape != (4, 4):
        raise ValueError("a placement has 4 rows of 4 numbers")
    if not np.isfinite(vertices).all() or not np.isfinite(placement).all():
        raise ValueError("a corner is not finite")
    if len(faces) and not 0 <= faces.min() <= faces.max() < len(vertices):
        raise ValueError("a triangle has a corner that is not there")
    colour = entry["colour"]
    shade = None if colour is None else tuple(int(np.clip(c, 0, 255)) for c in colour)
    if shade is not None and len(shade) != 3:
        raise ValueError("a colour has three numbers")
    return Visual(str(entry["link"]), placement, vertices, faces, shade)
