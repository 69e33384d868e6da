"""Sliders for positions, velocities, accelerations and the payload; the parts of the view."""

from dataclasses import replace
from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.studio.arm import Arm, State, slider_limits
from armdyn.studio.drawing import VIEWS
from armdyn.studio.session import Panel, Session

SLIDER_STEP = 0.001
MAX_SLIDERS = 64
"""Joints that have sliders; a page with thousands would not react."""
BEYOND_ORDINARY = 2.0
"""Where sliders of velocities and accelerations end, relative to the ordinary ones of the type."""
SIDES = np.array([-1.0, 1.0])
MAX_PAYLOAD = 0.5
"""The heaviest payload, relative to the mass of the arm."""
UNITS = {"q": "", "qd": "/s", "qdd": "/s²"}


class MotionPanel(Panel):
    """The sliders of the motion and of the payload, and the parts of the view."""

    def __init__(self, session: Session):
        self._session = session
        gui = session.client.gui
        self._folders = {
            "q": gui.add_folder("Position"),
            "qd": gui.add_folder("Velocity", expand_by_default=False),
            "qdd": gui.add_folder("Acceleration", expand_by_default=False),
        }
        self._sliders: dict[str, list[Any]] = {key: [] for key in self._folders}
        self._payload: Any = None
        self._held = gui.add_folder("Payload")
        with gui.add_folder("View"):
            self._view()
        with gui.add_folder("Poses", expand_by_default=False):
            zero = gui.add_button("All zero")
            still = gui.add_button("Stop: no velocity, no acceleration")
        zero.on_click(session.guard(lambda _: self.take(State.rest(0 * session.state.q))))
        still.on_click(session.guard(lambda _: self.take(State.rest(session.state.q))))

    def enter(self, arm: Arm) -> None:
        """New sliders for another robot."""
        gui, session = self._session.client.gui, self._session
        for sliders in self._sliders.values():
            for slider in sliders:
                slider.remove()
            sliders.clear()
        if self._payload is not None:
            self._payload.remove()
        moving = arm.robot.model.independent[:MAX_SLIDERS]
        joints = [arm.robot.model.joints[i] for i in moving]
        given = np.array([joint.limits.velocity for joint in joints])
        speeds = BEYOND_ORDINARY * np.array([joint.type.speed for joint in joints])
        bends = BEYOND_ORDINARY * np.array([joint.type.acceleration for joint in joints])
        speeds = np.minimum(given, np.where(np.isfinite(given), 10, 1) * speeds)
        ends = {
            "q": slider_limits(arm.robot),
            "qd": np.outer(speeds, SIDES),
            "qdd": np.outer(bends, SIDES),
        }
        for key, folder in self._folders.items():
            start = getattr(session.state, key)
            with folder:
                for i, joint in enumerate(joints):
                    unit = joint.type.unit + UNITS[key]
                    low, high = _rounded(ends[key][i])
                    value = float(np.clip(round(start[i], 3), low, high))
                    slider = gui.add_slider(
                        joint.name, low, high, SLIDER_STEP, value,
                        hint=f"{key}{i + 1} of {joint.name} [{unit}]",
                    )  # fmt: skip
                    slider.on_update(session.guard(self._moved))
                    self._sliders[key].append(slider)
        with self._held:
            top = max(1.0, float(np.ceil(MAX_PAYLOAD * arm.mass)))
            self._payload = gui.add_slider(
                "mass [kg]", 0.0, top, 0.01, 0.0, hint="held at the tool"
            )
            self._payload.on_update(session.guard(self._moved))
        session.move(self._read())

    def take(self, state: State) -> None:
        """Put the sliders, and the arm, to a state."""
        for key, sliders in self._sliders.items():
            for slider, value in zip(sliders, getattr(state, key), strict=False):
                slider.value = float(np.clip(value, slider.min, slider.max))
        self._session.move(replace(state, payload=self._payload.value))

    def hold(self, mass: float) -> None:
        """Hold a payload [kg]."""
        self._payload.value = float(np.clip(mass, 0.0, self._payload.max))
        self._session.move(self._read())

    @property
    def payload(self) -> float:
        """What is held [kg]."""
        return 0.0 if self._payload is None else float(self._payload.value)

    def _read(self) -> State:
        state = self._session.state
        q, qd, qdd = (
            np.concatenate([[float(slider.value) for slider in sliders], rest[len(sliders) :]])
            for sliders, rest in zip(
                self._sliders.values(), (state.q, state.qd, state.qdd), strict=True
            )
        )
        return State(q, qd, qdd, self.payload)

    def _moved(self, event: Any) -> None:
        if event.client_id is not None:  # a hand, not `take`
            self._session.move(self._read())

    def _view(self) -> None:
        gui, session = self._session.client.gui, self._session
        view = session.scene.view
        for key, (label, hint) in VIEWS.items():
            box = gui.add_checkbox(label, view[key], hint=hint)

            def changed(event: Any, key: str = key) -> None:
                view[key] = event.target.value
                session.see()

            box.on_update(session.guard(changed))
        dark = gui.add_checkbox("dark", session.dark)
        dark.on_update(session.guard(lambda event: session.restyle(event.target.value)))


def _rounded(ends: Array) -> tuple[float, float]:
    """Ends of a slider with few digits, inside of the given ones."""
    step = SLIDER_STEP
    low, high = np.ceil(ends[0] / step - 1e-6) * step, np.floor(ends[1] / step + 1e-6) * step
    return round(float(low), 3), round(max(float(high), float(low) + step), 3)
