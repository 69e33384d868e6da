"""The strip at the bottom: a motion that is played, with its torques over time."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from armdyn.errors import ArmdynError
from armdyn.robot import Robot
from armdyn.studio.arm import Arm, holding
from armdyn.studio.background import Latest, Tell
from armdyn.studio.recording import Recording
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
