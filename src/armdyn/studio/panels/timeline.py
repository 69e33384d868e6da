"""Where motions come from, and the strip at the bottom: one that is played, with its torques."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from armdyn.errors import ArmdynError, check_known
from armdyn.robot import Robot
from armdyn.studio import marks, uploads
from armdyn.studio.arm import Arm, State, holding, slider_limits
from armdyn.studio.background import Latest, Tell
from armdyn.studio.recording import Recording, from_file, from_log, simulated, there_and_back
from armdyn.studio.session import Panel, Session
from armdyn.studio.wire import index, number

PLAY_PERIOD = 1 / 25
"""Time between two states that are played [s]."""
SLOWEST, FASTEST = 0.05, 10.0
"""Speeds at which a motion is played, relative to the true one."""


@dataclass(frozen=True, slots=True)
class PlayedMotion:
    """How a motion is made, for whatever the robot holds."""

    name: str
    make: Callable[[Robot, Tell], Recording]


class TimelinePanel(Panel):
    """A motion that is played, and the time that it has reached."""

    def __init__(self, session: Session):
        super().__init__(session)
        self._motion: PlayedMotion | None = None
        self.recording: Recording | None = None
        self._time, self._speed = 0.0, 1.0
        self._view: tuple[int, float, float] | None = None
        """The joint and the times that the page shows."""
        self._playing, self._before = threading.Event(), 0.0
        self._player = Latest(self._advance, PLAY_PERIOD)
        page = session.page
        page.on("play", lambda _: self._toggle())
        page.on("seek", self._seek)
        page.on("speed", self._faster)
        page.on("curve", self._look)
        page.on("forget", lambda _: self._forget())

    def enter(self, arm: Arm) -> None:
        """Another robot has no motion yet."""
        self._forget()

    def close(self) -> None:
        """End the player."""
        self._player.stop()

    def touch(self) -> None:
        """The arm stays where it is."""
        if self._playing.is_set():
            self.pause()

    def hold(self, payload: float) -> None:
        """Compute the motion again with what is held now."""
        if self._motion is not None:
            self.make(self._motion, play=False)

    def vary(self, arm: Arm) -> None:
        """Compute the motion again for the other numbers."""
        self.hold(self._session.state.payload)

    def make(self, motion: PlayedMotion, play: bool = True) -> None:
        """Compute a motion beside the page, and play it from its start, or stay at the time."""
        session, payload = self._session, self._session.state.payload
        self.pause()

        def work(robot: Robot, tell: Tell) -> Recording:
            tell(motion.name)
            try:
                return motion.make(holding(robot, payload), tell)
            except ArmdynError:
                if not play:  # what is plotted is not of this arm
                    self._forget()
                raise

        def done(recording: Recording) -> None:
            self._take(motion, recording, play)

        session.study("computing the motion", work, done)

    def pause(self) -> None:
        """Stop, and leave the arm where it is."""
        with self._session.drawing:  # between two steps, so that the time told is that of the arm
            self._playing.clear()
            self._tell()

    def _take(self, motion: PlayedMotion, recording: Recording, play: bool) -> None:
        with self._session.drawing:
            self._motion, self.recording = motion, recording
            self._time = 0.0 if play else min(self._time, recording.duration)
            joint = recording.hardest if self._view is None else self._view[0]
            self._view = joint, 0.0, recording.duration
            self._move()
            self._curve()
            if play:
                self._play()
            self._tell()

    def _forget(self) -> None:
        self._motion = self.recording = self._view = None
        self._time = 0.0
        self._playing.clear()
        self._session.page.show(motion=None, curve=None)

    def _toggle(self) -> None:
        if self._playing.is_set():
            self.pause()
        elif self.recording is not None:
            if self._time >= self.recording.duration:
                self._time = 0.0
            self._play()
            self._tell()

    def _seek(self, message: dict[str, Any]) -> None:
        if self.recording is not None:
            self._time = number(message, "time", 0.0, self.recording.duration)
            self._move()
            self._tell()

    def _faster(self, message: dict[str, Any]) -> None:
        self._speed = number(message, "value", SLOWEST, FASTEST)
        self._tell()

    def _look(self, message: dict[str, Any]) -> None:
        """The page shows another joint, or other times."""
        recording = self.recording
        if recording is not None:
            joint = index(message, "joint", recording.q.shape[1])
            start = number(message, "from", 0.0, recording.duration)
            self._view = joint, start, number(message, "to", start, recording.duration)
            self._curve()

    def _move(self) -> None:
        """Put the arm where the motion is."""
        if self.recording is not None:
            session = self._session
            session.move(self.recording.at(self._time, session.state.payload))

    def _curve(self) -> None:
        if self.recording is not None and self._view is not None:
            self._session.page.show(curve=self.recording.curve(*self._view))

    def _tell(self) -> None:
        recording = self.recording
        if recording is not None:
            self._session.page.show(
                motion={
                    "title": recording.title,
                    "note": recording.note,
                    "duration": recording.duration,
                    "time": round(self._time, 4),
                    "speed": self._speed,
                    "playing": self._playing.is_set(),
                }
            )

    def _play(self) -> None:
        """Go on from the time that is reached."""
        self._before = time.monotonic()
        self._playing.set()
        self._player.ask()

    def _advance(self) -> None:
        """Move the arm and the cursor, and again while there is something to play."""
        try:
            with self._session.drawing:  # no other robot enters meanwhile
                recording, now = self.recording, time.monotonic()
                if recording is None or not self._playing.is_set():
                    return
                step, self._before = (now - self._before) * self._speed, now
                self._time = min(self._time + step, recording.duration)
                self._move()
                if self._time >= recording.duration:
                    self._playing.clear()
                self._tell()
                self._player.ask()
        except Exception as error:
            self._playing.clear()
            self._session.fail(error)


SOURCES = (
    *("Move there and back", "Simulate: let go", "Simulate: held by springs"),
    "Simulate: let go, base and all",
)
WORDS = (
    "A motion is played on the arm and plotted at the bottom, always for what is held. In a "
    "simulation the limits of the joints are stops. One that lets the base go moves it too, and so "
    "does a file that says where it is."
)


class PlayPanel(Panel):
    """Where motions come from."""

    def __init__(self, session: Session, timeline: TimelinePanel):
        super().__init__(session)
        self._timeline, gui = timeline, self._gui
        with gui.add_folder("Make a motion"):
            self._source = gui.add_dropdown("motion", SOURCES)
            self._seconds = gui.add_slider("duration [s]", 0.5, 20.0, 0.1, 3.0)
            self._button("Compute and play", self._compute)
        with gui.add_folder("Open a motion"):
            upload = gui.add_upload_button(
                "Trajectory (CSV)", mime_type=".csv,text/csv",
                hint="Columns t, q1, q2, ... and, if known, qd1, ..., qdd1, ...",
            )  # fmt: skip
            log = gui.add_upload_button(
                "Log of the real arm (CSV)", mime_type=".csv,text/csv,.log",
                hint="Columns t, q1, ..., tau1, ...: measured torques are plotted over the model",
            )  # fmt: skip
        gui.add_html(marks.framed(WORDS, "play"))
        upload.on_upload(session.guard(partial(self._upload, from_file)))
        log.on_upload(session.guard(partial(self._upload, from_log)))

    def _upload(self, read: Callable[[Robot, Path], Recording], event: Any) -> None:
        file = event.target.value
        path = uploads.keep(self._session.folder, file.name, file.content, uploads.TABLES)
        self._timeline.make(
            PlayedMotion(f"reading {path.name}", lambda robot, _: read(robot, path))
        )

    def _compute(self) -> None:
        state, seconds = self._session.state, float(self._seconds.value)
        check_known("motion", self._source.value, SOURCES)
        choice = SOURCES.index(self._source.value)
        self._timeline.make(PlayedMotion(SOURCES[choice], partial(_motion, choice, state, seconds)))


def _motion(choice: int, state: State, seconds: float, robot: Robot, tell: Tell) -> Recording:
    """A motion that is made here, of one of the sources."""
    if choice:
        return simulated(robot, state, seconds, choice == 2, tell, floats=choice == 3)
    low, high = slider_limits(robot).T
    return there_and_back(robot, state.q, np.clip(low + high - state.q, low, high), seconds)
