"""Robots to open, and what is suspicious about them; projects in and out."""

import io
import json
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.errors import DescriptionError, shown
from armdyn.export.names import identifier
from armdyn.io.catalog import catalog_names
from armdyn.io.regular import MAX_BYTES, read_regular
from armdyn.io.toml.write import toml_from_model
from armdyn.model.validate import Finding
from armdyn.studio import uploads
from armdyn.studio.arm import Arm, State
from armdyn.studio.panels.move import PosesPanel
from armdyn.studio.session import Panel, Session
from armdyn.studio.style import GOOD, LEVELS
from armdyn.studio.visuals import NotDrawn, Visual


class FilesPanel(Panel):
    """The choice of a robot.

    Zip files have a URDF or MJCF with all that it names, or a project that was saved here.
    """

    def __init__(self, session: Session, poses: PosesPanel):
        super().__init__(session)
        self._poses, gui = poses, self._gui
        self._catalog: Any = gui.add_dropdown("robot", catalog_names())
        upload = gui.add_upload_button(
            "Open a URDF or TOML file", mime_type=".urdf,.xml,.toml", color="blue"
        )
        self._catalog.on_update(session.guard(self._chosen))
        upload.on_upload(session.guard(partial(self._upload, uploads.DESCRIPTIONS)))
        archive = gui.add_upload_button(
            "Open a zip with meshes, or a project", mime_type=".zip,application/zip",
            hint="A URDF or MJCF with its meshes, or a project that was saved here",
        )  # fmt: skip
        hint = "Robot, looks, state and poses in one file"
        self._button("Save the project", self._save, hint=hint)
        archive.on_upload(session.guard(partial(self._upload, (".zip",))))

    def enter(self, arm: Arm) -> None:
        """Let the choice be the robot that is shown."""
        names = catalog_names()
        self._catalog.options = names if arm.in_catalog else (arm.source, *names)
        self._catalog.value = arm.source

    def refuse(self, name: str, findings: Sequence[Finding]) -> None:
        """The robot that stays is the one that is chosen."""
        self._catalog.value = self._session.arm.source

    def _chosen(self, event: Any) -> None:
        arm = self._session.arm
        if event.client_id is None:
            return
        try:
            self._session.open(event.target.value)
        finally:
            # what is shown stays chosen until the other one is there
            self._catalog.value = arm.source

    def _upload(self, endings: tuple[str, ...], event: Any) -> None:
        file = event.target.value
        path = uploads.keep(self._session.folder, file.name, file.content, endings)
        self._session.open(path, self._show, uploaded=True)

    def _show(self, arm: Arm, loaded: uploads.Loaded) -> None:
        """Show what was opened, with the rest of the project that it may be."""
        session, place = self._session, loaded.archive
        if place is None or not (place / TABLE).is_file():
            session.enter(arm)
            return
        project = read_project(place, arm.robot.n)
        session.enter(replace(arm, pieces=project.pieces))
        session.see(project.view)
        self._poses.put(dict(project.poses))
        if project.state is not None:
            session.take(project.state)

    def _save(self) -> None:
        session = self._session
        project = Project(session.state, self._poses.poses, session.scene.view)
        name = identifier(session.robot.name) + ENDING
        content = packed(session.arm, project)
        session.client.send_file_download(name, content, save_immediately=True)


FORMAT = 1
TABLE, ROBOT = "project.json", "robot.toml"
ENDING = ".armdyn.zip"
MAX_POSES = 200
MAX_PIECES = 200
MAX_LOOKS = MAX_BYTES
"""Bytes of the looks of all links."""


@dataclass(frozen=True, slots=True, eq=False)
class Project:
    """What is kept of a window besides its robot, in one file, to go on another day."""

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


class CheckPanel(Panel):
    """The report of the check, of the robot or of a file that is not shown."""

    def __init__(self, session: Session):
        super().__init__(session)
        self._html = self._gui.add_html("")

    def enter(self, arm: Arm) -> None:
        """Show what is suspicious about another robot."""
        self._html.content = check_html(arm.title, self._told(arm.findings), arm.missing)

    def refuse(self, name: str, findings: Sequence[Finding]) -> None:
        """Show why a file is not shown."""
        self._html.content = check_html(f"{name} (not loaded)", self._told(findings), ())

    def _told(self, findings: Sequence[Finding]) -> list[Finding]:
        plain = self._session.plain
        return [Finding(f.level, plain(f.where), plain(f.message)) for f in findings]


def check_html(title: str, findings: Sequence[Finding], missing: Sequence[NotDrawn]) -> str:
    """A check report as HTML, everything in it escaped."""
    items = "".join(
        f"<li style='margin:3px 0'><span style='color:{LEVELS[f.level]};font-weight:650'>{f.level}"
        f"</span> <b>{escape(f.where)}</b>: {escape(f.message)}</li>"
        for f in findings
    )
    for reason in dict.fromkeys(mesh.reason for mesh in missing):
        names = [mesh.name for mesh in missing if mesh.reason == reason]
        few = ", ".join(names[:6]) + (", ..." if len(names) > 6 else "")
        items += (
            f"<li><span style='color:{LEVELS['note']};font-weight:650'>note</span> drawn without "
            f"<b>{escape(few)}</b>: {escape(reason)}</li>"
        )
    verdict = "" if items else f"<div style='color:{GOOD}'>nothing to report</div>"
    return (
        "<div class='armdyn-check' style='padding:2px 12px;font-size:12px;max-height:260px;"
        f"overflow:auto;overflow-wrap:anywhere'><b>{escape(title)}</b>{verdict}"
        f"<ul style='margin:2px 0;padding-left:16px'>{items}</ul></div>"
    )
