"""Motions to play: of a file, between two poses, of a simulation, of a log of the real arm."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from armdyn.errors import check_known
from armdyn.robot import Robot
from armdyn.studio import svg, uploads
from armdyn.studio.arm import State, slider_limits
from armdyn.studio.background import Tell
from armdyn.studio.panels.timeline import PlayedMotion, TimelinePanel
from armdyn.studio.recording import Recording, from_file, from_log, simulated, there_and_back
from armdyn.studio.session import Panel, Session

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
        gui.add_html(svg.framed(WORDS, "play"))
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
