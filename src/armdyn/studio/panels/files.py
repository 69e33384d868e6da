"""Robots in and files out: the catalog, uploads with their check, exports."""

import io
import tempfile
import zipfile
from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.backends.names import identifier
from armdyn.dynamics import Robot
from armdyn.io.catalog import catalog_names
from armdyn.io.csv.table import csv_from_columns
from armdyn.io.toml.write import toml_from_model
from armdyn.model.validate import Finding
from armdyn.studio import uploads
from armdyn.studio.arm import Arm, State
from armdyn.studio.panels.play import PlayPanel
from armdyn.studio.recording import Recording
from armdyn.studio.session import Panel, Session
from armdyn.studio.style import DARK, LEVELS, LIGHT
from armdyn.studio.visuals import NotDrawn

RENDER_TIMEOUT = 20.0
"""Time that a browser may take to draw a picture [s]."""


class FilesPanel(Panel):
    """Robots to open and files to save."""

    def __init__(self, session: Session, play: PlayPanel):
        self._session = session
        gui = session.client.gui
        with gui.add_folder("Robot"):
            self._catalog: Any = gui.add_dropdown("catalog", catalog_names())
            upload = gui.add_upload_button(
                "Open a URDF or TOML file", mime_type=".urdf,.xml,.toml", color="blue"
            )
        with gui.add_folder("Check"):
            self._check = gui.add_html("")
        with gui.add_folder("Export"):
            buttons = {
                "C code (zip)": lambda: c_code(self._held(), session.folder),
                "Robot (TOML)": lambda: toml(self._held()),
                "Motion or state (CSV)": lambda: csv(self._held(), session.state, play.recording),
                "Picture (PNG)": self._png,
            }
            for label, made in buttons.items():
                gui.add_button(label).on_click(session.guard(self._sent(label, made)))
        self._catalog.on_update(session.guard(self._chosen))
        upload.on_upload(session.guard(self._upload))

    def enter(self, arm: Arm) -> None:
        """Show what is suspicious about another robot."""
        if arm.robot.name in catalog_names():
            self._catalog.value = arm.robot.name
        self._check.content = check_html(arm.title, self._told(arm.findings), arm.missing)

    def refuse(self, name: str, findings: Sequence[Finding]) -> None:
        """Show why a file is not shown."""
        self._check.content = check_html(f"{name} (not loaded)", self._told(findings), ())

    def _told(self, findings: Sequence[Finding]) -> list[Finding]:
        plain = self._session.plain
        return [Finding(f.level, plain(f.where), plain(f.message)) for f in findings]

    def _chosen(self, event: Any) -> None:
        if event.client_id is not None:
            self._session.open(event.target.value)

    def _upload(self, event: Any) -> None:
        file = event.target.value
        path = uploads.keep(self._session.folder, file.name, file.content, uploads.DESCRIPTIONS)
        self._session.open(path, uploaded=True)

    def _sent(self, label: str, made: Callable[[], tuple[str, bytes]]) -> Callable[[Any], Any]:
        def send(file: tuple[str, bytes]) -> None:
            self._session.client.send_file_download(*file, save_immediately=True)

        return lambda _: self._session.jobs.start(f"exporting {label}", lambda _: made(), send)

    def _held(self) -> Robot:
        """The robot with what it holds."""
        payload, robot = self._session.state.payload, self._session.arm.robot
        return robot.with_payload(payload, physical="ignore") if payload else robot

    def _png(self) -> tuple[str, bytes]:
        client = self._session.client
        height, width = client.camera.image_height, client.camera.image_width
        image = client.get_render(height, width, transport_format="png", timeout=RENDER_TIMEOUT)
        ground = (DARK if self._session.dark else LIGHT).ground
        return png(self._session.arm.robot, image, ground)


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
    verdict = "" if items else "<div style='color:#1FA37C'>nothing to report</div>"
    return (
        "<div class='armdyn-check' style='padding:2px 12px;font-size:12px;max-height:260px;"
        f"overflow:auto;overflow-wrap:anywhere'><b>{escape(title)}</b>{verdict}"
        f"<ul style='margin:2px 0;padding-left:16px'>{items}</ul></div>"
    )


# the files that people take out of the studio, as names and bytes


def c_code(robot: Robot, folder: Path) -> tuple[str, bytes]:
    """Name and content of a ZIP file with the functions of a robot as C99."""
    with tempfile.TemporaryDirectory(dir=folder) as place:
        files = robot.export(place, "c").files
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in files:
                archive.writestr(path.name, path.read_bytes())
    return f"{identifier(robot.name)}_c.zip", packed.getvalue()


def toml(robot: Robot) -> tuple[str, bytes]:
    """Name and content of a robot in armdyn's own format."""
    return f"{identifier(robot.name)}.toml", toml_from_model(robot.model).encode()


def csv(robot: Robot, state: State, recording: Recording | None) -> tuple[str, bytes]:
    """Name and content of a table: the motion that was played last, or the state alone."""
    name = "motion"
    if recording is None:
        rows = state.q[None], state.qd[None], state.qdd[None]
        ledger = robot.ledger(*rows)
        name, recording = "state", Recording("", np.zeros(1), *rows, ledger.total, ledger.terms)
    blocks = (text for _, text in csv_from_columns(recording.columns()))
    return f"{identifier(robot.name)}_{name}.csv", "".join(blocks).encode()


def png(robot: Robot, image: Array, ground: tuple[int, int, int]) -> tuple[str, bytes]:
    """Name and content of a picture.

    The image is red, green, blue and opacity, (h, w, 4), from 0 to 255, on the colour `ground`.
    """
    from matplotlib.image import imsave  # noqa: PLC0415 (slow to import)

    cover = image[..., 3:].astype(float) / 255
    mixed = image[..., :3] * cover + np.array(ground) * (1 - cover)
    drawn = io.BytesIO()
    imsave(drawn, mixed.round().astype(np.uint8), format="png")
    return f"{identifier(robot.name)}.png", drawn.getvalue()
