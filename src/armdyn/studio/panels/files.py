"""Robots in and files out: the catalog, uploads with their check, exports."""

from collections.abc import Callable, Sequence
from html import escape
from typing import Any

from armdyn.dynamics import Robot
from armdyn.io.catalog import catalog_names
from armdyn.model.validate import Finding
from armdyn.studio import uploads
from armdyn.studio.arm import Arm
from armdyn.studio.exports import c_code, csv, png, toml, warning
from armdyn.studio.panels.timeline import TimelinePanel
from armdyn.studio.recording import Recording
from armdyn.studio.session import Panel, Session
from armdyn.studio.style import DARK, LEVELS, LIGHT
from armdyn.studio.visuals import NotDrawn

RENDER_TIMEOUT = 20.0
"""Time that a browser may take to draw a picture [s]."""


class FilesPanel(Panel):
    """Robots to open and files to save."""

    def __init__(self, session: Session, timeline: TimelinePanel):
        self._session = session
        gui = session.client.gui
        with gui.add_folder("Robot"):
            self._catalog: Any = gui.add_dropdown("robot", catalog_names())
            upload = gui.add_upload_button(
                "Open a URDF or TOML file", mime_type=".urdf,.xml,.toml", color="blue"
            )
        with gui.add_folder("Check"):
            self._check = gui.add_html("")
        with gui.add_folder("Export"):
            buttons = {
                "C code (zip)": lambda: c_code(self._held(), session.folder, warning(session.arm)),
                "Robot (TOML)": lambda: toml(self._held(), warning(session.arm)),
                "Motion or state (CSV)": lambda: self._table(timeline.recording),
                "Picture (PNG)": self._png,
            }
            for label, made in buttons.items():
                gui.add_button(label).on_click(session.guard(self._sent(label, made)))
        self._catalog.on_update(session.guard(self._chosen))
        upload.on_upload(session.guard(self._upload))

    def enter(self, arm: Arm) -> None:
        """Show what is suspicious about another robot."""
        names = catalog_names()
        self._catalog.options = names if arm.in_catalog else (arm.source, *names)
        self._catalog.value = arm.source
        self._check.content = check_html(arm.title, self._told(arm.findings), arm.missing)

    def refuse(self, name: str, findings: Sequence[Finding]) -> None:
        """Show why a file is not shown; the robot that stays is the one that is chosen."""
        self._catalog.value = self._session.arm.source
        self._check.content = check_html(f"{name} (not loaded)", self._told(findings), ())

    def _told(self, findings: Sequence[Finding]) -> list[Finding]:
        plain = self._session.plain
        return [Finding(f.level, plain(f.where), plain(f.message)) for f in findings]

    def _chosen(self, event: Any) -> None:
        arm = self._session.arm
        if event.client_id is None:
            return
        try:
            self._session.open(event.target.value)
        finally:
            # what is shown stays chosen until the other one is there
            self._catalog.value = arm.source

    def _upload(self, event: Any) -> None:
        file = event.target.value
        path = uploads.keep(self._session.folder, file.name, file.content, uploads.DESCRIPTIONS)
        self._session.open(path, uploaded=True)

    def _sent(self, label: str, made: Callable[[], tuple[str, bytes]]) -> Callable[[Any], Any]:
        def send(file: tuple[str, bytes]) -> None:
            self._session.client.send_file_download(*file, save_immediately=True)

        def start(_: Any) -> None:
            self._session.study(f"exporting {label}", lambda *_: made(), send)

        return start

    def _held(self) -> Robot:
        """The robot with what it holds."""
        payload, robot = self._session.state.payload, self._session.arm.robot
        return robot.with_payload(payload, physical="ignore") if payload else robot

    def _table(self, recording: Recording | None) -> tuple[str, bytes]:
        session = self._session
        return csv(self._held(), session.state, recording, warning(session.arm))

    def _png(self) -> tuple[str, bytes]:
        client = self._session.client
        height, width = client.camera.image_height, client.camera.image_width
        image = client.get_render(height, width, transport_format="png", timeout=RENDER_TIMEOUT)
        ground = (DARK if self._session.dark else LIGHT).ground
        arm = self._session.arm
        return png(arm.robot, image, ground, warning(arm))


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
