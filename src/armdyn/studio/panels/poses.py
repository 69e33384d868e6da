"""Poses to go to and to keep, steps back and forth, places to look from, parts of the view."""

import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from armdyn.studio.arm import Arm, Snapshot, State, pose
from armdyn.studio.drawing import VIEWS
from armdyn.studio.panels.joints import within
from armdyn.studio.scene import HOME
from armdyn.studio.session import Panel, Session

PAUSE = 0.6
"""A state that stays for so long is one to come back to [s]."""
MOST_STEPS = 100
MOST_POSES = 50
DIRECTIONS = {
    "3D": HOME,
    "front": (1.0, 0.0, 0.0),
    "side": (0.0, -1.0, 0.0),
    "top": (0.02, 0.0, 1.0),
}
"""Where the camera stands, seen from the arm."""


class PosesPanel(Panel):
    """Undo and redo, a list of poses, and presets of the camera."""

    def __init__(self, session: Session):
        super().__init__(session)
        gui = self._gui
        self._camera = gui.add_button_group("look from", tuple(DIRECTIONS))
        self._steps = gui.add_button_group("step", ("Undo", "Redo"))
        self._name: Any = gui.add_text("name", "", hint="What the pose is to be called")
        self._button("Keep this pose", lambda: self.keep(self._name.value))
        self._list: Any = gui.add_dropdown("kept poses", ("none yet",))
        self._button("Go there", self._go)
        self.poses: dict[str, State] = {}
        self._undo: list[State] = []
        self._redo: list[State] = []
        self._now: State | None = None
        self._when = 0.0
        guard = session.guard
        self._camera.on_click(guard(lambda _: session.look(DIRECTIONS[self._camera.value])))
        self._steps.on_click(guard(lambda _: self.step(self._steps.value == "Undo")))
        undo = gui.add_command("Undo the last move", hotkey="Z", modifier="cmd/ctrl")
        redo = gui.add_command("Redo the last move", hotkey="Z", modifier="cmd/ctrl+shift")
        undo.on_trigger(guard(lambda _: self.step(back=True)))
        redo.on_trigger(guard(lambda _: self.step(back=False)))

    def enter(self, arm: Arm) -> None:
        """Another arm has other poses."""
        self._undo, self._redo, self._now = [], [], None
        self.put({})

    def vary(self, arm: Arm) -> None:
        """The same joints have the same poses."""

    def show(self, snapshot: Snapshot) -> None:
        """Remember where the arm rested before it moved on."""
        state, now = snapshot.state, time.monotonic()
        if self._now is not None and state.table != self._now.table:
            if now - self._when > PAUSE:
                self._undo = [*self._undo, self._now][-MOST_STEPS:]
                self._redo = []
            self._when = now
        elif self._now is None:
            self._when = now
        self._now = state

    def step(self, back: bool) -> None:
        """Go to the state before, or to the one that was left."""
        there, other = (self._undo, self._redo) if back else (self._redo, self._undo)
        if there and self._now is not None:
            other.append(self._now)
            self._now = state = there.pop()
            self._session.take(state)

    def keep(self, name: str) -> None:
        """Keep the present pose under a name."""
        words = " ".join(str(name).split())[:40] or f"pose {len(self.poses) + 1}"
        if len(self.poses) < MOST_POSES or words in self.poses:
            self.put({**self.poses, words: self._session.state})
            self._list.value = words
            self._name.value = ""
        else:
            self._session.tell("Enough", f"{MOST_POSES} poses are kept; give one a name again.")

    def put(self, poses: dict[str, State]) -> None:
        """Have other poses in the list."""
        self.poses = self._session.memory.poses = poses
        self._list.options = tuple(poses) or ("none yet",)

    def _go(self) -> None:
        if self._list.value in self.poses:
            self._session.take(self.poses[self._list.value])


class MotionPanel(Panel):
    """What is seen beside the links, and poses to go to."""

    def __init__(self, session: Session):
        super().__init__(session)
        self._boxes: dict[str, Any] = {}
        gui = self._gui
        with gui.add_folder("Show"):
            self._view()
        with gui.add_folder("Poses"):
            self._button("First pose", lambda: self._rest(pose(session.robot)))
            self._button("All joints at zero", lambda: self._rest(0 * session.state.q))
            still = "Stop: no velocity, no acceleration"
            self._button(still, lambda: self._rest(session.state.q))

    def see(self, view: Mapping[str, bool]) -> None:
        """Let the boxes say what is seen."""
        for key, box in self._boxes.items():
            if box.value != view[key]:
                box.value = view[key]

    def _rest(self, q: np.ndarray[Any, Any]) -> None:
        """Go to a pose, as far as the joints let it, and rest there."""
        session = self._session
        session.take(within(session.robot, State.rest(q, session.state.payload)))

    def _view(self) -> None:
        gui, session = self._gui, self._session
        view = session.scene.view
        for key, (label, hint) in VIEWS.items():
            box = self._boxes[key] = gui.add_checkbox(label, view[key], hint=hint)

            def changed(event: Any, key: str = key) -> None:
                if event.target.value != view[key]:
                    session.see({key: event.target.value})

            box.on_update(session.guard(changed))
        dark = gui.add_checkbox("dark page", session.dark, hint="Light on dark, or dark on light")
        dark.on_update(session.guard(lambda event: session.restyle(event.target.value)))
        session.page.on("dark", session.guard(lambda message: self._darken(dark, message)))

    def _darken(self, box: Any, message: dict[str, Any]) -> None:
        box.value = message.get("dark") is True
        self._session.restyle(box.value)
