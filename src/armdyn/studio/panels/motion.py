"""The parts of the view, and poses."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from armdyn.studio.arm import State, pose
from armdyn.studio.drawing import VIEWS
from armdyn.studio.panel import Panel
from armdyn.studio.panels.joints import within
from armdyn.studio.session import Session


class MotionPanel(Panel):
    """What is seen beside the links, and poses to go to."""

    def __init__(self, session: Session):
        self._session = session
        self._boxes: dict[str, Any] = {}
        gui = session.client.gui
        with gui.add_folder("Show"):
            self._view()
        with gui.add_folder("Poses"):
            first = gui.add_button("First pose")
            zero = gui.add_button("All joints at zero")
            still = gui.add_button("Stop: no velocity, no acceleration")
        first.on_click(session.guard(lambda _: self._rest(pose(session.arm.robot))))
        zero.on_click(session.guard(lambda _: self._rest(0 * session.state.q)))
        still.on_click(session.guard(lambda _: self._rest(session.state.q)))

    def see(self, view: Mapping[str, bool]) -> None:
        """Let the boxes say what is seen."""
        for key, box in self._boxes.items():
            if box.value != view[key]:
                box.value = view[key]

    def _rest(self, q: np.ndarray[Any, Any]) -> None:
        """Go to a pose, as far as the joints let it, and rest there."""
        session = self._session
        session.take(within(session.arm.robot, State.rest(q, session.state.payload)))

    def _view(self) -> None:
        gui, session = self._session.client.gui, self._session
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
