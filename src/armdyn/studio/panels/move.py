"""The arm taken by hand, poses to go to and to keep, steps back and forth, what is seen."""

import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import viser.transforms as vtf

from armdyn.arrays import Array
from armdyn.kinematics.pose_search import PoseSearch
from armdyn.model import RobotModel
from armdyn.robot import Robot
from armdyn.studio import shapes
from armdyn.studio.arm import Arm, Snapshot, State, pose
from armdyn.studio.drawing import VIEWS, place
from armdyn.studio.panels.joints import within
from armdyn.studio.scene import HOME
from armdyn.studio.session import Panel, Session
from armdyn.studio.shapes import stage

PULL_TOLERANCE = 1e-5
"""How near a tool comes to a handle that it can reach [m and rad]."""
LEAST_GAIN = 1e-6
"""A pull ends with a step that gains less, relative to what is missing."""
SMALLEST_LEVER = 0.02
"""A link is not turned by a point nearer to its axis, relative to the size of the arm."""
LARGEST_TURN = 0.5
"""How far a joint is turned by one pull [rad]."""


def follow(robot: Robot, T: Array, q: Array) -> tuple[Array, bool]:
    """Positions near q, (n,), that bring the tool as near to T as it gets, and whether it is there.

    An arm with fewer than six joints follows the place of T alone.
    """
    low, high = robot.model.ranges.T
    rows = tuple(range(6 if robot.n >= 6 else 3))
    search = PoseSearch(
        robot.forward_kinematics, robot.jacobian, low, high, rows, size=shapes.size(robot.model)
    )
    found, error = search.descend(
        T[None], np.array(q, dtype=float)[None], PULL_TOLERANCE, LEAST_GAIN
    )
    return found[0], bool(search.met(error, 10 * PULL_TOLERANCE)[0])


def coordinate(model: RobotModel, link: int) -> int | None:
    """The coordinate that moves a link, from 0: that of its joint, or of the next below it."""
    while link >= 0:
        if link in model.independent:
            return list(model.independent).index(link)
        link = model.joints[link].parent
    return None


def turned(
    model: RobotModel, link: int, T: Array, grabbed: Array, wanted: Array, q: Array
) -> Array:
    """Positions (n,) in which a point of a link has gone towards another, by its joint alone.

    T is the link in the world, (4, 4); the points are in the world, (3,) [m].
    """
    k = coordinate(model, link)
    if k is None:
        return q
    joint = model.joints[model.independent[k]]
    axis = T[:3, :3] @ model.joints[link].axis
    if joint.type.turns:
        lever = np.cross(axis, grabbed - T[:3, 3])
        if np.linalg.norm(lever) < SMALLEST_LEVER * shapes.size(model):
            return q
        way = float(lever @ (wanted - grabbed) / (lever @ lever))
        way = float(np.clip(way, -LARGEST_TURN, LARGEST_TURN))
    else:
        way = float(axis @ (wanted - grabbed))
    low, high = model.ranges[k]
    moved = np.array(q, dtype=float)
    moved[k] = np.clip(moved[k] + way, low, high)
    return moved


HANDLE_SIZE = 0.16
"""Size of the handle, relative to the arm."""


class HandPanel(Panel):
    """A handle at the tool, and links that can be dragged."""

    def __init__(self, session: Session):
        super().__init__(session)
        self._box = self._gui.add_checkbox(
            "drag the tool", False, hint="A handle at the tool: the arm follows it"
        )
        self._note = self._gui.add_html("")
        self._handle: Any = None
        self._held = False
        self._last: Snapshot | None = None
        self._box.on_update(session.guard(lambda _: self._offer()))
        session.scene.drawn = self._attach

    def enter(self, arm: Arm) -> None:
        """Another arm has another handle."""
        self._last = None
        self._forget()

    def show(self, snapshot: Snapshot) -> None:
        """Leave the handle at the tool, unless someone holds it."""
        self._last = snapshot
        if self._box.value and self._handle is None:
            self._offer()
        elif self._handle is not None and not self._held:
            place(self._handle, self._on_page(snapshot.tool))

    def _on_page(self, T: Array) -> Array:
        return stage(self._session.robot.model).placement @ T

    def _forget(self) -> None:
        if self._handle is not None:
            self._handle.remove()
        self._handle, self._held, self._note.content = None, False, ""

    def _offer(self) -> None:
        """Show the handle, or hide it."""
        self._forget()
        if not self._box.value or self._last is None:
            return
        model = self._session.robot.model
        self._handle = self._session.client.scene.add_transform_controls(
            self._session.scene.name("handle"), HANDLE_SIZE * shapes.size(model),
            disable_rotations=self._session.robot.n < 6, depth_test=False,
        )  # fmt: skip
        place(self._handle, self._on_page(self._last.tool))
        self._handle.on_update(self._pulled)

    async def _pulled(self, event: Any) -> None:
        """Let the arm follow the handle; this keeps the order of events, as threads do not."""
        guarded = self._session.guard(lambda _: self.pull(_pose(event.target), event.phase))
        guarded(event)

    def pull(self, T: Array, phase: str = "update") -> None:
        """Take the tool to a pose of the page, (4, 4), as near as it gets."""
        self._held = phase != "end"
        arm, state = self._session.arm, self._session.state
        turn = stage(arm.robot.model).placement
        found, there = follow(arm.robot, turn.T @ T, state.q)
        note = "" if there else "The tool gets no nearer: out of reach, or at a limit of a joint."
        self._note.content = f"<div style='padding:2px 12px;font-size:12px'>{note}</div>"
        self._session.take(State.rest(found, state.payload))

    def _attach(self, bodies: list[tuple[int, Any]]) -> None:
        """Let the bodies of a drawing be dragged and clicked."""
        for link, body in bodies:
            joint = coordinate(self._session.robot.model, link)
            if joint is not None:
                body.on_drag(self._dragger(link))
                body.on_click(self._session.guard(lambda _, j=joint: self._session.select(j)))

    def _dragger(self, link: int) -> Callable[[Any], Any]:
        def move(event: Any) -> None:
            self.turn(link, np.array(event.start_position), np.array(event.end_position))

        async def dragged(event: Any) -> None:
            if event.phase == "update":
                self._session.guard(move)(event)

        return dragged

    def turn(self, link: int, grabbed: Array, wanted: Array) -> None:
        """Turn a link about its joint, so that a point of it goes to another; both on the page."""
        if self._last is None:
            return
        model, state = self._session.robot.model, self._session.state
        back = stage(model).turn.T
        q = turned(model, link, self._last.links[link], back @ grabbed, back @ wanted, state.q)
        self._session.take(State.rest(q, state.payload))


def _pose(handle: Any) -> Array:
    return np.asarray(vtf.SE3(np.array([*handle.wxyz, *handle.position])).as_matrix())


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
