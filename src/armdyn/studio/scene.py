"""The three-dimensional view of one window: the arm, a new design beside it, forces, the ground."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import viser

from armdyn.arrays import Array
from armdyn.formulations.kinematics import world_frames
from armdyn.formulations.newton_euler import newton_euler
from armdyn.formulations.spatial import rotate
from armdyn.loops.coordinates import coordinates_of
from armdyn.model import RobotModel
from armdyn.studio import shapes
from armdyn.studio.arm import Arm, PointForces, Snapshot, State, branches, pose
from armdyn.studio.drawing import VIEWS, Beside, Drawing, Other
from armdyn.studio.shapes import stage
from armdyn.studio.style import LIGHT, Style


@dataclass(frozen=True, slots=True, eq=False)
class Effects:
    """Vectors at the centres of mass of the links, in world axes, (N, 3) each."""

    points: Array
    velocities: Array
    """[m/s]."""
    centrifugal: Array
    """Minus mass times what each joint alone would accelerate the centre by, q̇ constant [N]."""
    coriolis: Array
    """The same of each two joints together [N]."""


def effects(model: RobotModel, q: Array, qd: Array) -> Effects:
    """The effects of velocities: inertial forces of all joints together, and of each joint alone.

    At constant q̇, d²c/dt² of a centre c(q) is Σ ∂²c/∂q_j∂q_k q̇_j q̇_k: terms with j = k are
    centrifugal, the others are those of Coriolis. At rest, accelerations q̇ give the velocities.
    """
    at, rest = coordinates_of(model), np.zeros(len(q))
    rates = np.vstack([qd, np.diag(qd), rest])
    bends = np.zeros((len(q) + 2, len(q)))
    bends[-1] = qd
    motion = at.at(np.broadcast_to(q, rates.shape)).motion(rates, bends)
    found = newton_euler(replace(model, gravity=np.zeros(3)), *motion)
    together, *alone, _ = np.stack(found.F, axis=-2)
    frames = world_frames(model, at.positions(q))
    R = np.reshape(frames.R, (-1, 3, 3))
    O = np.reshape(frames.O, (-1, 3))
    coms = np.array([link.inertia.com for link in model.links])
    turning, sliding = (np.stack(rows, axis=-2)[-1] for rows in (found.wd, found.vd))
    moving = sliding + np.cross(turning, coms)
    own = np.sum(alone, axis=0)
    forces = (rotate(R, -force) for force in (own, together - own))
    return Effects(O + rotate(R, coms), rotate(R, moving), *forces)


Direction = tuple[float, float, float]
HOME: Direction = (0.7, -0.62, 0.35)
"""Where the camera stands at first, seen from the arm."""
FORCE_ZOOM = 5.0
"""How many times longer arrows of Coriolis and centrifugal forces are than those of weights."""
BENEATH = 0.6
"""How far the ground is below what hangs, in sizes of the arm."""
WEIGHT_ARROW = 0.32
"""Length of the arrow of the weight of an arm on earth, relative to the size of the arm."""


class Scene:
    """The view; every method may be called from any thread that holds the window's lock."""

    def __init__(self, client: viser.ClientHandle):
        self._client, self._style = client, LIGHT
        self.view = dict.fromkeys(VIEWS, False) | {"axes": True}
        self._arm: Arm | None = None
        self._drawing: Drawing | None = None
        self._beside: Beside | None = None
        self._arrows: dict[str, Any] = {}
        self._last: Snapshot | None = None
        self._drawn = 0
        self.drawn: Callable[[list[tuple[int, Any]]], None] = lambda _: None
        """Called with the links and the bodies of an arm that was drawn."""

    def enter(self, arm: Arm, state: State) -> None:
        """Show another robot, from a place from which all of it is seen."""
        self.compare(None)
        self._arm, self._last = arm, None
        self._draw()
        self.look(state=state)

    def restyle(self, style: Style) -> None:
        """Paint everything anew."""
        self._style = style
        beside = None if self._beside is None else self._beside.other
        self.compare(None)
        if self._arm is not None:
            self._draw()
        self.compare(beside)
        if self._last is not None:
            self.show(self._last)

    def show(self, snapshot: Snapshot) -> None:
        """Put the arm into a state."""
        if self._drawing is None:
            return
        self._last = snapshot
        state = snapshot.state
        with self._client.atomic():
            self._drawing.move(snapshot)
            if self._beside is not None:
                self._beside.show(state)
            self._point("gravity", snapshot.weights)
            self._point("reactions", snapshot.reactions)
            self._flow(snapshot)

    def see(self) -> None:
        """Show and hide what `view` says."""
        for drawing in (self._drawing, self._beside):
            if drawing is not None:
                drawing.see(self._seen)
        if self._last is not None:
            self.show(self._last)

    def compare(self, other: Other | None) -> None:
        """Show another robot beside the arm with the masses of both, or no longer."""
        if self._beside is not None:
            self._beside.remove()
            self._beside = None
        if other is not None and self._arm is not None:
            name = self.name("after")
            self._beside = Beside(self._client.scene, name, other, self._style, self._seen)
        self.see()
        if self._beside is not None:
            self.look()

    @property
    def beside(self) -> Snapshot | None:
        """The other robot as it was shown last."""
        return None if self._beside is None else self._beside.snapshot

    @property
    def _seen(self) -> dict[str, bool]:
        """What is to be seen now: two arms are compared by where their masses are."""
        return self.view if self._beside is None else self.view | {"centres": True}

    def name(self, what: str) -> str:
        """A name that was never used: a browser remembers where the last thing of a name was."""
        self._drawn += 1
        return f"/{what}{self._drawn}"

    def _draw(self) -> None:
        assert self._arm is not None
        if self._drawing is not None:
            self._drawing.remove()
        for handle in self._arrows.values():
            handle.remove()
        self._arrows = {}
        scene, style = self._client.scene, self._style
        model, pieces = self._arm.robot.model, self._arm.pieces
        size = shapes.size(model)
        low = min(stage(model).ground, lowest(self._arm))
        cell = float(10.0 ** np.round(np.log10(size) - 0.8))
        scene.add_grid(
            "/ground", 40 * cell, 40 * cell, cell_size=cell, section_size=5 * cell,
            cell_color=style["cell"], section_color=style["section"], infinite_grid=True,
            fade_distance=8 * size, position=(0.0, 0.0, low),
        )  # fmt: skip
        self._drawing = Drawing(scene, self.name("arm"), model, pieces, style, self.view)
        self.drawn(self._drawing.owned)

    def look(self, direction: Direction = HOME, state: State | None = None) -> None:
        """Look at the whole arm in a state, or as it is, and at one beside it."""
        if state is None and self._last is not None:
            state = self._last.state
        if self._arm is None or state is None:
            return
        seen, model = self._arm.evaluator(state), self._arm.robot.model
        set_up, size = stage(model), shapes.size(model)
        beside = np.array((0.0, 0.0, 0.0) if self._beside is None else self._beside.offset)
        places = set_up.on_page(np.array([model.base, *seen.links, seen.tool])[:, :3, 3])
        places = np.concatenate([places, places + beside])
        centre = 0.5 * (places.min(0) + places.max(0))
        away = 1.45 * max(float(np.ptp(places, axis=0).max()), 0.6 * size)
        if set_up.post:  # it swings all about its base
            centre = set_up.on_page(model.base[:3, 3]) + 0.5 * beside
            away = 1.8 * size + 0.7 * float(np.linalg.norm(beside))
        camera = self._client.camera
        camera.up_direction = (0.0, 0.0, 1.0)
        camera.position = centre + away * np.array(direction)
        camera.look_at = centre

    def _flow(self, snapshot: Snapshot) -> None:
        """Arrows of velocities and of what they bring about, longer than weights are."""
        assert self._arm is not None
        state, model = snapshot.state, self._arm.robot.model
        kinds = ("velocities", "coriolis", "centrifugal")
        if not any(self.view[kind] or kind in self._arrows for kind in kinds):
            return
        found = effects(replace(model, base=snapshot.base), state.q, state.qd)
        weight = 9.81 * max(self._arm.mass, 1e-9)
        speed = 0.5 * np.sqrt(9.81 * shapes.size(model))
        for kind in kinds:
            vectors = getattr(found, kind)
            scaled = vectors * (weight / speed if kind == "velocities" else FORCE_ZOOM)
            self._point(kind, PointForces(found.points, scaled))

    def _point(self, kind: str, acting: PointForces) -> None:
        """Arrows of forces, longer than nothing so that they can be drawn."""
        assert self._arm is not None
        if not self.view[kind]:
            if kind in self._arrows:
                self._arrows.pop(kind).remove()
            return
        model = self._arm.robot.model
        size = shapes.size(model)
        length = acting.forces * (WEIGHT_ARROW * size / (9.81 * max(self._arm.mass, 1e-9)))
        points: Array = np.stack([acting.points, acting.points + length], axis=1)
        seen = np.linalg.norm(length, axis=1) > 0.01 * size
        points = points[seen] if seen.any() else np.zeros((1, 2, 3)) - [[[0, 0, 0], [0, 0, 1e-6]]]
        points = stage(model).on_page(points)
        if kind in self._arrows and len(self._arrows[kind].points) == len(points):
            self._arrows[kind].points = points.astype(np.float32)
            return
        self._arrows[kind] = self._client.scene.add_arrows(
            f"/{kind}", points, self._style[kind],
            shaft_radius=0.008 * size, head_radius=0.022 * size, head_length=0.05 * size,
        )  # fmt: skip


def lowest(arm: Arm) -> float:
    """How low the ground is of one with legs, or of one that hangs [m]; infinite for an arm.

    One with legs stands in its first pose; one with loops below its base, as a delta, hangs.
    """
    model = arm.robot.model
    if not branches(model) and not model.loops:
        return np.inf
    links = arm.evaluator(State.rest(pose(arm.robot))).links
    points = [links[:, :3, 3]]
    for piece in arm.pieces:
        if piece.link in model.frame_names:
            frame = model.frame(piece.link)
            owner = model.base if frame.link < 0 else links[frame.link]
            T = owner @ frame.placement @ piece.placement
            points.append(piece.vertices @ T[:3, :3].T + T[:3, 3])
    low = float(stage(model).on_page(np.concatenate(points))[:, 2].min())
    hangs = model.loops and low < stage(model).ground
    return low - BENEATH * shapes.size(model) if hangs else low
