"""Files to take away: C code, the description, tables, pictures."""

from collections.abc import Callable
from typing import Any

from armdyn.robot import Robot
from armdyn.studio.exports import c_code, csv, png, toml, warning
from armdyn.studio.panel import Panel
from armdyn.studio.panels.timeline import TimelinePanel
from armdyn.studio.recording import Recording
from armdyn.studio.session import Session
from armdyn.studio.style import DARK, LIGHT

RENDER_TIMEOUT = 20.0
"""Time that a browser may take to draw a picture [s]."""


class ExportsPanel(Panel):
    """A button a kind of file; each has the payload that is held."""

    def __init__(self, session: Session, timeline: TimelinePanel):
        self._session = session
        buttons = {
            "C code (zip)": lambda: c_code(self._held(), session.folder, warning(session.arm)),
            "Robot (TOML)": lambda: toml(self._held(), warning(session.arm)),
            "Motion or state (CSV)": lambda: self._table(timeline.recording),
            "Picture (PNG)": self._png,
        }
        for label, made in buttons.items():
            button = session.client.gui.add_button(label)
            button.on_click(session.guard(self._sent(label, made)))

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
