"""Play-back of a motion, with plots that follow the time cursor."""

import threading
import time
from html import escape
from typing import Any

import numpy as np

from armdyn.dynamics import Robot
from armdyn.errors import check_known
from armdyn.studio import svg, uploads
from armdyn.studio.arm import Arm, slider_limits
from armdyn.studio.background import Tell
from armdyn.studio.panels.motion import MotionPanel
from armdyn.studio.recording import Recording, from_file, simulated, there_and_back
from armdyn.studio.session import Panel, Session
from armdyn.studio.style import LINES

PLAY_PERIOD, PLOT_PERIOD = 1 / 25, 1 / 10
"""Time between two states that are played, and between two plots [s]."""
SOURCES = ("Move there and back", "Simulate: let go", "Simulate: held by springs")


class PlayPanel(Panel):
    """A motion that is played, and the time that it has reached."""

    def __init__(self, session: Session, motion: MotionPanel):
        self._session, self._motion = session, motion
        gui = session.client.gui
        self.recording: Recording | None = None
        self._time, self._playing, self._ended = 0.0, threading.Event(), threading.Event()
        with gui.add_folder("Motion"):
            upload = gui.add_upload_button("Trajectory file (CSV)", mime_type=".csv,text/csv")
            self._source = gui.add_dropdown("or", SOURCES)
            self._seconds = gui.add_slider("seconds", 0.5, 20.0, 0.1, 3.0)
            make = gui.add_button("Compute")
        with gui.add_folder("Play-back"):
            self._button = gui.add_button("Play", disabled=True)
            self._slider: Any = gui.add_slider("time [s]", 0.0, 1.0, 0.001, 0.0, disabled=True)
            self._speed = gui.add_slider("speed", 0.1, 3.0, 0.1, 1.0)
            self._plots = gui.add_html("")
        upload.on_upload(session.guard(self._upload))
        make.on_click(session.guard(self._compute))
        self._button.on_click(session.guard(self._toggle))
        self._slider.on_update(session.guard(self._sought))
        threading.Thread(target=self._run, daemon=True, name="armdyn-studio-player").start()

    def enter(self, arm: Arm) -> None:
        """Another robot has no motion yet."""
        self.recording = None  # first, so that the pause leaves the new robot where it is
        self.pause()
        self._button.disabled = self._slider.disabled = True
        words = "Choose a motion: it is played on the arm, and its torques are plotted here."
        self._plots.content = svg.framed(words, "plots")

    def close(self) -> None:
        """End the player."""
        self._ended.set()
        self._playing.set()

    def take(self, recording: Recording) -> None:
        """Play another motion from its start."""
        self.recording, self._time = recording, 0.0
        self._slider.max = max(round(recording.duration, 3), 0.001)
        self._button.disabled = self._slider.disabled = False
        self._show()
        self._session.move(recording.at(0.0, self._motion.payload))
        self._play()

    def pause(self) -> None:
        """Stop, and leave the sliders where the arm is."""
        playing = self._playing.is_set()
        self._playing.clear()
        self._button.label = "Play"
        if playing and self.recording is not None:
            self._show()
            self._motion.take(self.recording.at(self._time, self._motion.payload))

    def _play(self) -> None:
        self._button.label = "Pause"
        self._playing.set()

    def _toggle(self, _: Any) -> None:
        if self._playing.is_set():
            self.pause()
        elif self.recording is not None:
            if self._time >= self.recording.duration:
                self._time = 0.0
            self._play()

    def _sought(self, event: Any) -> None:
        if event.client_id is None or self.recording is None:
            return
        self._time = float(event.target.value)
        self._session.move(self.recording.at(self._time, self._motion.payload))
        self._show(put=False)

    def _upload(self, event: Any) -> None:
        file = event.target.value
        path = uploads.keep(self._session.folder, file.name, file.content, uploads.TABLES)
        held = self._held()
        self._session.jobs.start("computing torques", lambda _: from_file(held, path), self.take)

    def _held(self) -> Robot:
        """The robot with what it holds."""
        robot, payload = self._session.arm.robot, self._motion.payload
        return robot.with_payload(payload) if payload else robot

    def _compute(self, _: Any) -> None:
        session, seconds = self._session, float(self._seconds.value)
        held, state = self._held(), session.state
        check_known("motion", self._source.value, SOURCES)
        choice = SOURCES.index(self._source.value)

        def work(tell: Tell) -> Recording:
            if choice:
                return simulated(held, state, seconds, choice == 2, tell)
            low, high = slider_limits(held).T
            return there_and_back(held, state.q, np.clip(low + high - state.q, low, high), seconds)

        self.pause()
        if not session.jobs.start("computing the motion", work, self.take):
            session.tell("One moment", "The last motion is still being computed.")

    def _run(self) -> None:
        """Move the arm and the cursor while there is something to play."""
        plotted = before = time.monotonic()
        while True:
            waited = not self._playing.is_set()
            self._playing.wait()
            if self._ended.is_set():
                return
            now = time.monotonic()
            step = 0.0 if waited else (now - before) * float(self._speed.value)
            before, plot = now, now - plotted > PLOT_PERIOD
            plotted = now if plot else plotted
            try:
                with self._session.drawing:  # no other robot enters meanwhile
                    self._advance(step, plot)
            except Exception as error:
                self._playing.clear()
                self._session.fail(error)
            self._ended.wait(PLAY_PERIOD)

    def _advance(self, step: float, plot: bool) -> None:
        recording = self.recording
        if recording is None:
            return
        self._time = min(self._time + step, recording.duration)
        self._session.move(recording.at(self._time, self._motion.payload))
        if plot:
            self._show()
        if self._time >= recording.duration:
            self.pause()

    def _show(self, put: bool = True) -> None:
        """Plot the motion with the cursor at the time; also put the slider there."""
        if put:
            self._slider.value = round(self._time, 3)
        if self.recording is not None:
            names = self._session.arm.robot.joint_names
            self._plots.content = plots(self.recording, names, self._time)


def plots(recording: Recording, names: tuple[str, ...], at: float) -> str:
    """Positions and torques over time with a cursor, as HTML."""
    cursor = float(recording.t[0]) + at
    colours = {name: LINES[i % len(LINES)] for i, name in enumerate(names)}
    pictures = [
        svg.curves(recording.t, values, names, title, cursor, limits)
        for values, title, limits in (
            (recording.tau, "torques [N·m, N]", recording.limits),
            (recording.q, "positions [rad, m]", None),
            (recording.qd, "velocities [rad/s, m/s]", None),
        )
    ]
    note = f"<div style='font-size:11px;opacity:.7'>{escape(recording.note)}</div>"
    head = f"<b>{escape(recording.title)}</b>, {recording.duration:.3g} s"
    return svg.framed(head + svg.legend(colours) + "".join(pictures) + note, "plots")
