"""What is taken away to show to others: a report, and a film of a motion."""

from collections.abc import Callable
from typing import Any

from armdyn.errors import StudioError
from armdyn.studio.background import Tell
from armdyn.studio.exports import named, png, warning
from armdyn.studio.film import film
from armdyn.studio.panel import Panel
from armdyn.studio.panels.exports import RENDER_TIMEOUT
from armdyn.studio.recording import Recording
from armdyn.studio.report import report_html
from armdyn.studio.session import Session
from armdyn.studio.style import DARK, LIGHT


class TakeawayPanel(Panel):
    """Buttons that make a report and a film beside the page."""

    def __init__(self, session: Session, recording: Callable[[], Recording | None]):
        self._session, self._recording = session, recording
        gui = session.client.gui
        report = gui.add_button(
            "Report (HTML)", hint="Pictures, equations, limits, check and C code in one file"
        )
        gif = gui.add_button("Film of the motion (GIF)", hint="The motion that was played last")
        report.on_click(session.guard(lambda _: self._report()))
        gif.on_click(session.guard(lambda _: self._film()))

    def _report(self) -> None:
        session = self._session
        arm, state = session.arm, session.state

        def work(tell: Tell) -> str:
            tell("taking a picture")
            return report_html(arm, state, self._view(), session.folder, tell)

        name = named(arm.robot, "_report.html", warning(arm))
        session.study(
            "writing a report", lambda _, tell: work(tell),
            lambda text: self._send(name, text.encode()),
        )  # fmt: skip

    def _film(self) -> None:
        robot, recording = self._session.arm.robot, self._recording()
        if recording is None:
            raise StudioError("there is no motion yet: choose or compute one in the tab Play")
        name = named(robot, ".gif", warning(self._session.arm))

        def work(tell: Tell) -> bytes:
            return film(robot, recording, tell)

        self._session.study(
            "making a film", lambda _, tell: work(tell), lambda made: self._send(name, made)
        )

    def _view(self) -> bytes | None:
        """What is seen now; None if the browser does not draw it in time."""
        client, ground = self._session.client, DARK if self._session.dark else LIGHT
        height, width = client.camera.image_height, client.camera.image_width
        try:
            image: Any = client.get_render(
                height, width, transport_format="png", timeout=RENDER_TIMEOUT
            )
        except (TimeoutError, RuntimeError):
            return None
        arm = self._session.arm
        return png(arm.robot, image, ground.ground, warning(arm))[1]

    def _send(self, name: str, content: bytes) -> None:
        self._session.client.send_file_download(name, content, save_immediately=True)
