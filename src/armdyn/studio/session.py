"""A window: its own robot, state and temporary folder, which no other window knows."""

import logging
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from html import escape
from pathlib import Path
from typing import Any

import viser

from armdyn.dynamics import Robot
from armdyn.errors import ArmdynError, counted
from armdyn.io.catalog import catalog_path
from armdyn.io.files import read_model
from armdyn.model.validate import Finding
from armdyn.studio import uploads
from armdyn.studio.arm import Arm, Snapshot, State, arm_of, pose
from armdyn.studio.background import Jobs, Latest, Tell
from armdyn.studio.beside import Other
from armdyn.studio.scene import Scene
from armdyn.studio.style import DARK, LIGHT
from armdyn.studio.transfers import limit_uploads

SPELT_JOINTS = 12
"""An arm with at most so many joints has their kinds spelt out."""
SAME_ERROR_DELAY = 3.0
"""Time after which the same error is shown again [s]."""
_LOG = logging.getLogger("armdyn")


class Panel:
    """A part of the page; by default it ignores every event."""

    def enter(self, arm: Arm) -> None:
        """Begin with another robot."""

    def show(self, snapshot: Snapshot) -> None:
        """Show the arm in a state."""

    def refuse(self, name: str, findings: Sequence[Finding]) -> None:
        """Show why a file is not shown."""

    def close(self) -> None:
        """End with the window."""


class Session:
    """One window of the studio."""

    def __init__(self, client: viser.ClientHandle, dark: bool = False):
        self.client, self.dark = client, dark
        self._folder = tempfile.TemporaryDirectory(
            prefix="armdyn-studio-", ignore_cleanup_errors=True
        )
        self.folder = Path(self._folder.name)
        self.panels: list[Panel] = []
        self.scene = Scene(client)
        limit_uploads(client, self.fail)
        self.jobs = Jobs(self._status, self.fail)
        self.drawing = threading.RLock()
        """Held while the view or a panel changes."""
        self._now: tuple[Arm, State] | None = None
        self._latest = Latest(self._draw)
        self._closed = False
        self._failed = ("", 0.0)
        self._head: Any = None
        self._progress: Any = None
        self._doing: Any = None
        self._cancel: Any = None

    @property
    def arm(self) -> Arm:
        """The robot."""
        assert self._now is not None
        return self._now[0]

    @property
    def state(self) -> State:
        """Its state of motion."""
        assert self._now is not None
        return self._now[1]

    def build(self, lay_out: Callable[["Session"], list[Panel]]) -> None:
        """Lay out the page: the running jobs at the top, then the panels."""
        self.restyle(self.dark)
        self._head = self.client.gui.add_html("")
        self._progress = self.client.gui.add_progress_bar(100, animated=True, visible=False)
        self._doing = self.client.gui.add_html("", visible=False)
        self._cancel = self.client.gui.add_button("Cancel", visible=False)
        self._cancel.on_click(self.guard(lambda _: self.jobs.cancel()))
        self.panels = lay_out(self)

    def open(self, source: str | Path, *, uploaded: bool = False) -> None:
        """Load a robot of the catalog or a file that was uploaded, beside the page.

        The robot that is shown stays if that fails. Nothing else is read for a window.
        """
        read: Callable[..., uploads.Loaded] = partial(uploads.open_upload, Path(source))
        if not uploaded:
            path = catalog_path(str(source))
            read = partial(uploads.open_robot, source, partial(read_model, path))

        def work(tell: Tell) -> Arm:
            tell(f"loading {Path(source).name}")
            loaded = read(tell=tell)
            if loaded.robot is None:
                for panel in self.panels:
                    panel.refuse(Path(source).name, loaded.findings)
            return arm_of(loaded, Path(source) if uploaded else None, uploaded, tell)

        if not self.jobs.start("loading", work, self.enter):
            self.tell("One moment", "Another robot is still being loaded.")

    def study(
        self, name: str, work: Callable[[Robot, Tell], Any], done: Callable[[Any], None]
    ) -> None:
        """Start a job about the robot; its result is dropped if another robot came meanwhile."""
        robot = self.arm.robot

        def finish(result: Any) -> None:
            if robot is self.arm.robot:
                done(result)

        self.jobs.start(name, lambda tell: work(robot, tell), finish)

    def enter(self, arm: Arm) -> None:
        """Show a robot in its first pose."""
        with self.drawing:
            self._now = arm, State.rest(pose(arm.robot))
            self._name(arm)
            self.scene.enter(arm, self.state)
            for panel in self.panels:
                panel.enter(arm)
        self._latest.ask()

    def move(self, state: State) -> None:
        """Take another state; the next picture shows it."""
        if self._now is not None and len(state.q) == self._now[0].robot.n:
            self._now = self._now[0], state
            self._latest.ask()

    def restyle(self, dark: bool) -> None:
        """Dark or light."""
        self.dark, style = dark, DARK if dark else LIGHT
        self.client.gui.configure_theme(
            dark_mode=dark, show_logo=False, show_share_button=False, brand_color=style.brand,
        )  # fmt: skip
        with self.drawing:
            self.scene.restyle(style)

    def see(self) -> None:
        """Show and hide parts, as the view says."""
        with self.drawing:
            self.scene.see()

    def look(self, direction: tuple[float, float, float]) -> None:
        """Look at the arm from a direction of the page."""
        with self.drawing:
            self.scene.look(direction)

    def compare(self, other: Other | None) -> None:
        """Show another robot beside the arm, or no longer."""
        with self.drawing:
            self.scene.compare(other)
        self._latest.ask()

    def guard(self, function: Callable[..., None]) -> Callable[..., None]:
        """A callback whose errors are shown and end nothing else."""

        def guarded(event: Any) -> None:
            try:
                function(event)
            except Exception as error:
                self.fail(error)

        return guarded

    def fail(self, error: BaseException) -> None:
        """Show an error to the one who made it."""
        if self._closed:
            return
        if isinstance(error, ArmdynError):
            title, body = "This does not work", self.plain(str(error))
        else:
            title = "Something went wrong in the studio"
            body = f"{type(error).__name__}: {error}. Please report it; the page goes on."
            _LOG.error("an error in the studio", exc_info=error)
        now, (last, when) = time.monotonic(), self._failed
        if body != last or now - when > SAME_ERROR_DELAY:  # not thirty times a second
            self._failed = body, now
            with self._reached():
                self.client.add_notification(title, body, color="red", auto_close_seconds=30)

    def tell(self, title: str, body: str) -> None:
        """Show a short message."""
        with self._reached():
            self.client.add_notification(title, body, auto_close_seconds=6)

    def plain(self, text: str) -> str:
        """Text without the path of the temporary folder."""
        return text.replace(f"{self.folder}/", "")

    def close(self) -> None:
        """End the jobs, and remove the folder."""
        self._closed = True
        self.jobs.close()
        self._latest.stop()
        for panel in self.panels:
            panel.close()
        self._folder.cleanup()

    def _draw(self) -> None:
        try:
            with self.drawing:
                if self._now is None or self._closed:
                    return
                arm, state = self._now
                snapshot = arm.evaluator(state)
                self.scene.show(snapshot)
                for panel in self.panels:
                    panel.show(snapshot)
        except Exception as error:
            self.fail(error)

    def _name(self, arm: Arm) -> None:
        letters = "".join(joint.type.letter for joint in arm.robot.model.joints)
        kinds = f" ({letters})" if len(letters) <= SPELT_JOINTS else ""
        self._head.content = (
            f"<div class='armdyn-head' style='padding:2px 12px 6px'>"
            f"<div style='font-weight:650;font-size:15px'>{escape(arm.title)}</div>"
            f"<div style='font-size:12px;opacity:.65'>{counted(arm.robot.n, 'joint')}{kinds}, "
            f"{arm.mass:.3g} kg moving</div></div>"
        )

    def _status(self, now: list[str]) -> None:
        """Show the running jobs."""
        if self._cancel is None or self._closed:
            return
        said = "; ".join(escape(what.replace("_", " ")) for what in now)
        with self._reached():
            for handle in (self._progress, self._doing, self._cancel):
                handle.visible = bool(now)
            self._doing.content = (
                f"<div class='armdyn-status' style='padding:2px 12px;font-size:12px'>{said} …</div>"
            )

    @contextmanager
    def _reached(self) -> Iterator[None]:
        """Guard messages to a page that may be closed: an error there must not end a thread."""
        try:
            yield
        except Exception as error:
            _LOG.debug("a window that is closed was spoken to", exc_info=error)
