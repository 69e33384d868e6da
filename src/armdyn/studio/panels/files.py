"""Robots in and files out: the catalog, uploads with their check, exports."""

from collections.abc import Callable, Sequence
from html import escape
from typing import Any

from armdyn.dynamics import Robot
from armdyn.io.catalog import catalog_names
from armdyn.model.validate import Finding
from armdyn.studio import exports, uploads
from armdyn.studio.arm import Arm
from armdyn.studio.panels.play import PlayPanel
from armdyn.studio.session import Panel, Session
from armdyn.studio.style import DARK, LEVELS, LIGHT

RENDER_TIMEOUT = 20.0
"""Time that a browser may take to draw a picture [s]."""


class FilesPanel(Panel):
    """Robots to open and files to save."""

    def __init__(self, session: Session, play: PlayPanel):
        self._session, self._play = session, play
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
                "C code (zip)": self._c,
                "Robot (TOML)": self._toml,
                "Motion or state (CSV)": self._csv,
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

    def _sent(self, label: str, made: Callable[[], tuple[str, bytes]]) -> Callable[[Any], None]:
        def send(_: Any) -> None:
            self._session.jobs.start(
                f"exporting {label}",
                lambda _: made(),
                lambda file: self._session.client.send_file_download(
                    file[0], file[1], save_immediately=True
                ),
            )

        return send

    def _held(self) -> Robot:
        """The robot with what it holds."""
        payload, robot = self._session.state.payload, self._session.arm.robot
        return robot.with_payload(payload, physical="ignore") if payload else robot

    def _c(self) -> tuple[str, bytes]:
        return exports.c_code(self._held(), self._session.folder)

    def _toml(self) -> tuple[str, bytes]:
        return exports.toml(self._held())

    def _csv(self) -> tuple[str, bytes]:
        return exports.csv(self._held(), self._session.state, self._play.recording)

    def _png(self) -> tuple[str, bytes]:
        client = self._session.client
        height, width = client.camera.image_height, client.camera.image_width
        image = client.get_render(height, width, transport_format="png", timeout=RENDER_TIMEOUT)
        ground = (DARK if self._session.dark else LIGHT).ground
        return exports.png(self._session.arm.robot, image, ground)


def check_html(title: str, findings: Sequence[Finding], missing: Sequence[str]) -> str:
    """A check report as HTML, everything in it escaped."""
    items = "".join(
        f"<li style='margin:3px 0'><span style='color:{LEVELS[f.level]};font-weight:650'>{f.level}"
        f"</span> <b>{escape(f.where)}</b>: {escape(f.message)}</li>"
        for f in findings
    )
    if missing:
        names = ", ".join(missing[:6]) + (", ..." if len(missing) > 6 else "")
        items += (
            f"<li><span style='color:{LEVELS['note']};font-weight:650'>note</span> drawn without "
            f"its meshes ({escape(names)}): files that a description names are read only for one "
            "given on the command line, as far as they are there and can be read</li>"
        )
    verdict = "" if items else "<div style='color:#1FA37C'>nothing to report</div>"
    return (
        "<div class='armdyn-check' style='padding:2px 12px;font-size:12px;max-height:260px;"
        f"overflow:auto;overflow-wrap:anywhere'><b>{escape(title)}</b>{verdict}"
        f"<ul style='margin:2px 0;padding-left:16px'>{items}</ul></div>"
    )
