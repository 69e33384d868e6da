"""A window: its panels, its own robot, state and temporary folder, which no other knows."""

import logging
import secrets
import tempfile
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import viser

from armdyn.errors import ArmdynError
from armdyn.io.catalog import catalog_path
from armdyn.io.files import read_model
from armdyn.model.validate import Finding
from armdyn.robot import Robot
from armdyn.studio import uploads
from armdyn.studio.arm import Arm, Snapshot, State, arm_of, pose
from armdyn.studio.background import Job, Jobs, Latest, Tell
from armdyn.studio.drawing import Other
from armdyn.studio.scene import HOME, Direction, Scene
from armdyn.studio.style import DARK, LIGHT
from armdyn.studio.uploads import limit_uploads
from armdyn.studio.wire import Wire

MOST_WINDOWS = 16
"""Windows that are remembered; of more, those that were opened or asked for last."""


@dataclass(slots=True, eq=False)
class Memory:
    """What one window had last."""

    name: str = field(default_factory=lambda: secrets.token_urlsafe(12))
    """What a page must know to get it back."""
    arm: Arm | None = None
    original: Arm | None = None
    """The arm before it was edited."""
    poses: Mapping[str, State] = field(default_factory=dict)
    view: Mapping[str, bool] = field(default_factory=dict)
    """Which parts of the view are seen."""


class Memories:
    """The memories of the last windows; every method may be called from any thread.

    The address of a page has robot and state; a file that was sent, an edited arm and poses do not
    fit into it. They are kept here under a name that nobody guesses, which the address has instead.
    """

    def __init__(self) -> None:
        self._kept: OrderedDict[str, Memory] = OrderedDict()
        self._lock = threading.Lock()

    def new(self) -> Memory:
        """The memory of a new window."""
        memory = Memory()
        with self._lock:
            self._kept[memory.name] = memory
            while len(self._kept) > MOST_WINDOWS:
                self._kept.popitem(last=False)
        return memory

    def find(self, name: object) -> Memory | None:
        """The memory of that name, if it is still there."""
        with self._lock:
            found = self._kept.get(name) if isinstance(name, str) else None
            if found is not None:
                self._kept.move_to_end(found.name)
            return found


class Panel:
    """A part of the page, in the order in which they are laid out; it ignores most events."""

    early = False
    """Whether it shows a state before the view does: numbers are there before the picture."""

    def __init__(self, session: "Session"):
        self._session, self._gui = session, session.client.gui
        session.panels.append(self)

    def _button(self, label: str, press: Callable[[], None], **look: Any) -> Any:
        """A button; errors of what it does are shown."""
        button = self._gui.add_button(label, **look)
        button.on_click(self._session.guard(lambda _: press()))
        return button

    def enter(self, arm: Arm) -> None:
        """Begin with another robot."""

    def vary(self, arm: Arm) -> None:
        """Go on with other numbers of the same arm; by default as with another robot."""
        self.enter(arm)

    def show(self, snapshot: Snapshot) -> None:
        """Show the arm in a state."""

    def hold(self, payload: float) -> None:
        """Another payload is held [kg]."""

    def touch(self) -> None:
        """Someone takes the arm by hand: what moves it by itself stops."""

    def select(self, joint: int) -> None:
        """A joint is chosen on the page."""

    def see(self, view: Mapping[str, bool]) -> None:
        """Other parts of the view are seen."""

    def refuse(self, name: str, findings: Sequence[Finding]) -> None:
        """Show why a file is not shown."""

    def close(self) -> None:
        """End with the window."""


LONGEST_PICTURE = 1.0
"""Time that a page may take to draw a picture before the next one is sent [s]."""
SAME_ERROR_DELAY = 3.0
"""Time after which the same error is shown again [s]."""
WIDE = ".mantine-Modal-content{flex-basis:min(1060px,92vw)!important}"
"""The style of a window over the page that has a table or a picture."""
_LOG = logging.getLogger("armdyn")


class Session:
    """One window of the studio."""

    def __init__(self, client: viser.ClientHandle, dark: bool, memories: Memories):
        """A window that is remembered among others."""
        self.client, self.dark = client, dark
        self.memories = memories
        self.memory = self.memories.new()
        self._folder = tempfile.TemporaryDirectory(
            prefix="armdyn-studio-", ignore_cleanup_errors=True
        )
        self.folder = Path(self._folder.name)
        self.panels: list[Panel] = []
        self.scene = Scene(client)
        self.memory.view = self.scene.view
        limit_uploads(client, self.fail)
        self.page = Wire(self.fail)
        """Our own line to the page."""
        self.jobs = Jobs(self._status, self.fail)
        self.drawing = threading.RLock()
        """Held while the view or a panel changes."""
        self._now: tuple[Arm, State] | None = None
        self._latest = Latest(self._draw)
        self._closed = False
        self._failed = ("", 0.0)
        self._pictures = 0
        self._seen = threading.Event()
        """Set when the page has drawn the last picture."""
        self._seen.set()
        self.page.on("drawn", self._see)
        self.page.on("cancel", lambda message: self.jobs.cancel(message.get("job")))

    @property
    def arm(self) -> Arm:
        """The arm that is shown."""
        assert self._now is not None
        return self._now[0]

    @property
    def robot(self) -> Robot:
        """Its robot."""
        return self.arm.robot

    @property
    def state(self) -> State:
        """Its state of motion."""
        assert self._now is not None
        return self._now[1]

    def build(self, lay_out: Callable[["Session"], None]) -> None:
        """Lay out the page, and let our own part of it know which window it belongs to."""
        self.restyle(self.dark)
        self.page.show(memory=self.memory.name)
        self.client.gui.add_html(f"<span class='armdyn-window' data-key='{self.page.key}'></span>")
        lay_out(self)

    def open(
        self,
        source: str | Path,
        show: Callable[[Arm, uploads.Loaded], None] | None = None,
        *,
        uploaded: bool = False,
    ) -> None:
        """Load a robot of the catalog or a file that was uploaded, beside the page.

        The robot that is shown stays if that fails. Nothing else is read for a window. `show` shows
        the other one; None: in its first pose.
        """
        read: Callable[..., uploads.Loaded] = partial(uploads.open_upload, Path(source))
        if not uploaded:
            path = catalog_path(str(source))
            read = partial(uploads.open_robot, source, partial(read_model, path))
        name = Path(source).name

        def work(tell: Tell) -> tuple[Arm, uploads.Loaded]:
            tell(f"loading {name}")
            loaded = read(tell=tell)
            if loaded.robot is None:
                for panel in self.panels:
                    panel.refuse(name, loaded.findings)
            file = Path(source) if uploaded else None
            return arm_of(loaded, name, file, uploaded, tell), loaded

        done = show or (lambda arm, _: self.enter(arm))
        self.jobs.start("loading", work, lambda opened: done(*opened), name)

    def study(
        self, name: str, work: Callable[[Robot, Tell], Any], done: Callable[[Any], None]
    ) -> None:
        """Start a job about the robot, which ends if another robot comes."""
        robot = self.robot

        def finish(result: Any) -> None:
            if robot is self.robot:
                done(result)

        self.jobs.start(name, lambda tell: work(robot, tell), finish, self.arm.title)

    def enter(self, arm: Arm, state: State | None = None, *, variant: bool = False) -> None:
        """Show a robot, in its first pose unless a state is given; jobs of the last one end.

        A variant is the arm that was shown, with other numbers.
        """
        for job in self.jobs.running:
            if job.thread is not threading.current_thread():
                self.jobs.cancel(job.number)
        if state is None or len(state.q) != arm.robot.n:
            state = State.rest(pose(arm.robot))
        with self.drawing:
            self._now, self.memory.arm = (arm, state), arm
            self.scene.enter(arm, state)
            for panel in self.panels:
                (panel.vary if variant else panel.enter)(arm)
        self._latest.ask()

    def move(self, state: State) -> None:
        """Take another state; the next picture shows it."""
        if self._now is not None and len(state.q) == self._now[0].robot.n:
            self._now = self._now[0], state
            self._latest.ask()

    def take(self, state: State) -> None:
        """Take a state that someone chose by hand, so that nothing else moves the arm."""
        for panel in self.panels:
            panel.touch()
        self.move(replace(state, terms=None))

    def hold(self, payload: float) -> None:
        """Hold a payload [kg]."""
        self.move(replace(self.state, payload=payload, terms=None))
        for panel in self.panels:
            panel.hold(payload)

    def ask(self) -> None:
        """Show the state again."""
        self._latest.ask()

    def select(self, joint: int) -> None:
        """Choose a joint, for panels that are about one."""
        for panel in self.panels:
            panel.select(joint)

    def restyle(self, dark: bool) -> None:
        """Dark or light."""
        self.dark, style = dark, DARK if dark else LIGHT
        self.page.show(dark=dark)
        self.client.gui.configure_theme(
            dark_mode=dark, show_logo=False, show_share_button=False, brand_color=style["brand"],
        )  # fmt: skip
        with self.drawing:
            self.scene.restyle(style)

    def see(self, view: Mapping[str, bool]) -> None:
        """Show and hide parts of the view; those that are not named stay as they are."""
        with self.drawing:
            self.scene.view.update({key: view[key] for key in self.scene.view.keys() & view})
            self.scene.see()
        for panel in self.panels:
            panel.see(self.scene.view)

    def look(self, direction: Direction = HOME, state: State | None = None) -> None:
        """Look at the arm in a state, or as it is, from a direction of the page."""
        with self.drawing:
            self.scene.look(direction, state)

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

    def lay_over(self, title: str, html: str) -> None:
        """Open a wide window over the page."""
        gui = self.client.gui
        with gui.add_modal(title) as modal:
            gui.add_html(f"<style>{WIDE}</style>{html}")
            gui.add_button("Close").on_click(self.guard(lambda _: modal.close()))

    def plain(self, text: str) -> str:
        """Text without the path of the temporary folder."""
        return text.replace(f"{self.folder}/", "")

    def close(self) -> None:
        """End the jobs, and remove the folder."""
        self._closed = True
        self.jobs.close()
        self._latest.stop()
        self.page.close()
        for panel in self.panels:
            panel.close()
        self._folder.cleanup()

    def _see(self, message: dict[str, Any]) -> None:
        """The page has drawn a picture."""
        if message.get("picture") == self._pictures:
            self._seen.set()

    def _draw(self) -> None:
        # a page that is slow gets fewer pictures, and does not fall behind
        self._seen.wait(LONGEST_PICTURE if self.page.connected else 0.0)
        try:
            with self.drawing:
                if self._now is None or self._closed:
                    return
                arm, state = self._now
                self._pictures += 1
                self._seen.clear()
                snapshot = arm.evaluator(state)
                for panel in self.panels:
                    if panel.early:
                        panel.show(snapshot)
                self.scene.show(snapshot)
                for panel in self.panels:
                    if not panel.early:
                        panel.show(snapshot)
                self.page.show(picture=self._pictures)
        except Exception as error:
            self.fail(error)

    def _status(self, jobs: list[Job]) -> None:
        """Show the running jobs."""
        self.page.show(
            jobs=[{"id": j.number, "step": j.step.replace("_", " "), "of": j.robot} for j in jobs]
        )

    @contextmanager
    def _reached(self) -> Iterator[None]:
        """Guard messages to a page that may be closed: an error there must not end a thread."""
        try:
            yield
        except Exception as error:
            _LOG.debug("a window that is closed was spoken to", exc_info=error)
