"""One arm in the three-dimensional view, and a new design beside it.

Links are under one frame, moved by their transforms. Those without meshes are tapered housings
between joints, and a flange.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import viser
import viser.transforms as vtf

from armdyn.arrays import Array
from armdyn.model import RobotModel
from armdyn.model.transform import any_frame, transform
from armdyn.robot import Robot
from armdyn.studio import shapes
from armdyn.studio.arm import Evaluator, Snapshot, State
from armdyn.studio.shapes import Rod, stage
from armdyn.studio.style import Colour, Style
from armdyn.studio.visuals import Visual
from armdyn.study.simplify.counterweights import LinkChange

SIDES = 40
"""Corners of a circle."""
WIDE, TALL = 1.2, 1.75
"""Radius and height of the end of a housing, in radii of its link: within the joint there."""
CHAMFER = 0.28
"""How much of its radius an edge loses."""
SMOOTH_ANGLE = 0.45
"""Faces that meet at less look like one [rad]."""


def housing(rod: Rod) -> Any:
    """The hull of both ends of a rod: round about the axis of each joint."""
    radii = rod.radius, rod.radius if rod.radius_b is None else rod.radius_b
    ends = ((rod.a, rod.axis_a), (rod.b, rod.axis_b))
    corners = [
        end + _end(axis, r, rod.b - rod.a) for (end, axis), r in zip(ends, radii, strict=True)
    ]
    return _hull(np.concatenate(corners))


def disc(radius: float, height: float) -> Any:
    """A disc about z with broken edges, its upper face in the origin."""
    rings = _rings(radius, height, 0.15 * min(radius, height))
    return _hull(rings - [0.0, 0.0, 0.5 * height])


def _end(axis: Array | None, r: float, along: Array) -> Array:
    """Corners of one end about its point, (k, 3): a drum about an axis, or a ball."""
    if axis is None:
        from trimesh.creation import icosphere  # noqa: PLC0415 (slow to import)

        return np.asarray(icosphere(3, r).vertices)
    z = axis / np.linalg.norm(axis)
    x = along - (along @ z) * z  # one corner along the rod, so that both ends fit
    if np.linalg.norm(x) < 1e-6 * np.linalg.norm(along):
        x = np.cross(z, np.eye(3)[int(np.abs(z).argmin())])
    x = x / np.linalg.norm(x)
    drum = _rings(WIDE * r, TALL * r, CHAMFER * r)
    return np.asarray(drum @ np.stack([x, np.cross(z, x), z]))


def _rings(radius: float, height: float, chamfer: float) -> Array:
    """Corners of a drum about z, (k, 3)."""
    angles = np.linspace(0, 2 * np.pi, SIDES, endpoint=False)
    circle = np.stack([np.cos(angles), np.sin(angles), 0 * angles], axis=-1)
    half = 0.5 * height
    sizes = (radius, half - chamfer), (radius - chamfer, half)
    return np.concatenate([r * circle + [0, 0, s * h] for s in (-1, 1) for r, h in sizes])


def _hull(points: Array) -> Any:
    """The mesh about points, whose corners are shared only where faces meet at a small angle."""
    import trimesh  # noqa: PLC0415 (slow to import)

    cloud: Any = trimesh.PointCloud
    hull = cloud(points).convex_hull
    return trimesh.graph.smooth_shade(hull, angle=SMOOTH_ANGLE, facet_minarea=None)


INSIDE_OPACITY = 0.4
"""Opacity of links while something within them is shown."""
INSIDE = ("centres", "ellipsoids", "velocities", "coriolis", "centrifugal")
"""What is shown within links."""


VIEWS = {
    "axes": ("axes", "Axes of the joints"),
    "centres": ("mass centres", "Centres of mass: balls of steel as heavy as the links"),
    "ellipsoids": ("inertia", "Ellipsoids with the mass and the inertia of each link"),
    "gravity": ("gravity", "What gravity does to each link, at its centre of mass"),
    "reactions": ("reactions", "The force that each link receives from the one before it"),
    "velocities": ("velocities", "How fast each centre of mass moves"),
    "coriolis": ("Coriolis", "Forces of two joints that move; 5 times as long as weights"),
    "centrifugal": ("centrifugal", "What drives links outwards; 5 times as long as weights"),
    "frames": ("frames", "Frames of the links"),
    "tool": ("tool frame", "The frame of the tool: x red, y green, z blue"),
}
"""The parts of the view besides the links, with a label and a hint."""


DETAILED_LINKS = 200
"""An arm with more links is drawn without their centres of mass and ellipsoids."""


class Drawing:
    """An arm; everything about it is under one name in the scene."""

    def __init__(
        self,
        scene: viser.SceneApi,
        name: str,
        model: RobotModel,
        pieces: Sequence[Visual],
        style: Style,
        view: Mapping[str, bool],
        *,
        link: Colour | None = None,
        offset: tuple[float, float, float] = (0.0, 0.0, 0.0),
    ):
        """Draw a robot under a name such as "/arm", with an offset from its place on the page [m].

        Links without pieces are drawn as rods in the colour `link`, or in that of the style; `view`
        says which of VIEWS are shown.
        """
        self._scene, self._name, self._model, self._style = scene, name, model, style
        self._link = link or style["link"]
        self.owned: list[tuple[int, Any]] = []
        """Everything that links and the base are drawn as, with its link."""
        self._weights = 0
        turned = stage(model).placement
        turned[:3, 3] = offset
        self._root = scene.add_frame(name, show_axes=False)
        place(self._root, turned)
        self._extras: dict[str, list[Any]] = defaultdict(list)
        """What the view shows and hides."""
        self._base = scene.add_frame(f"{name}/base", show_axes=False)
        place(self._base, model.base)
        self._links = [
            scene.add_frame(f"{name}/{i}", show_axes=False) for i in range(len(model.links))
        ]
        shown = self._visuals(pieces)
        for i in range(-1, len(model.links)):
            if i not in shown:
                self._rods(i)
            if i >= 0:
                self._joint(i, drawn=i not in shown)
                if len(model.links) <= DETAILED_LINKS:
                    self._mass(i)
        size, r = shapes.size(model), shapes.radius(model, -1)
        if -1 not in shown:
            low = shapes.floor(model)
            scene.add_cylinder(
                f"{name}/base/plate", 2.4 * r, 0.5 * r, style["base"],
                position=(0.0, 0.0, low - 0.25 * r),
            )  # fmt: skip
            if stage(model).post:
                self._post(low - 0.5 * r)
        self._tool = scene.add_frame(f"{name}/tool", show_axes=False)
        shown_frame = scene.add_frame(
            f"{name}/tool/frame", axes_length=0.1 * size, axes_radius=0.005 * size
        )
        self._extras["tool"].append(shown_frame)
        self._held = scene.add_icosphere(
            f"{name}/tool/payload", 1.0, style["payload"], subdivisions=3, visible=False
        )
        self.see(view)

    def move(self, snapshot: Snapshot) -> None:
        """Put every link in its place in the world; a payload is a ball of aluminium."""
        frames = (self._base, *self._links, self._tool)
        for handle, T in zip(frames, (snapshot.base, *snapshot.links, snapshot.tool), strict=True):
            place(handle, T)
        payload = snapshot.state.payload
        self._held.visible = payload > 0
        self._held.scale = max(shapes.ball(payload, shapes.ALUMINIUM), 1e-3)

    def see(self, view: Mapping[str, bool]) -> None:
        """Show and hide what is beside the links."""
        inside = any(view[kind] for kind in INSIDE)
        for _, handle in self.owned:
            handle.opacity = INSIDE_OPACITY if inside else None
        for kind, handles in self._extras.items():
            for handle in handles:
                handle.visible = view[kind]

    def weight(self, link: int, mass: float, position: Array) -> None:
        """A counterweight on a link: a ball of steel of its mass [kg], on a stay."""
        self._weights += 1
        k = self._weights
        self._scene.add_icosphere(
            f"{self._at(link)}/weight{k}", shapes.ball(mass), self._style["weight"],
            subdivisions=3, position=position,
        )  # fmt: skip
        length = float(np.linalg.norm(position))
        if length > shapes.radius(self._model, link):
            stay = self._scene.add_cylinder(
                f"{self._at(link)}/stay{k}", 0.22 * shapes.radius(self._model, link), length,
                self._style["weight"],
            )  # fmt: skip
            place(stay, along(position, 0.5 * position))

    def remove(self) -> None:
        """Remove the arm from the scene."""
        self._root.remove()

    def _at(self, link: int) -> str:
        return f"{self._name}/{'base' if link < 0 else link}"

    def _visuals(self, pieces: Sequence[Visual]) -> set[int]:
        """Draw what the description has, and tell for which links it has anything."""
        shown = set()
        for k, piece in enumerate(pieces):
            if piece.link not in self._model.frame_names:
                continue
            frame = self._model.frame(piece.link)
            handle = self._scene.add_mesh_simple(
                f"{self._at(frame.link)}/visual{k}", piece.vertices, piece.faces,
                color=piece.colour or self._link, side="double", flat_shading=True,
            )  # fmt: skip
            self._own(frame.link, handle, frame.placement @ piece.placement)
            shown.add(frame.link)
        return shown

    def _rods(self, link: int) -> None:
        model = self._model
        for k, rod in enumerate(shapes.rods(model, link)):
            self._body(f"{self._at(link)}/rod{k}", housing(rod), link, np.eye(4))
        if model.flange.link == link and link >= 0:
            r = shapes.radius(model, link)
            self._body(
                f"{self._at(link)}/flange", disc(1.25 * r, 0.5 * r), -1, model.flange.placement
            )

    def _body(self, name: str, body: Any, link: int, T: Array) -> None:
        colour = self._style["base"] if link < 0 else self._link
        handle = self._scene.add_mesh_simple(
            name, np.asarray(body.vertices), np.asarray(body.faces), color=colour
        )
        self._own(link, handle, T)

    def _own(self, link: int, handle: Any, T: Array) -> None:
        """Put a body of a link into its place."""
        place(handle, T)
        self.owned.append((link, handle))

    def _post(self, behind: float) -> None:
        """A post from the ground to the plate of a base that sticks out of it."""
        model = self._model
        set_up = stage(self._model)
        r = shapes.radius(self._model, -1)
        base = set_up.turn @ model.base[:3, :3]
        top = set_up.turn @ model.base[:3, 3] + base @ [0.0, 0.0, behind - 1.6 * r]
        height = float(top[2]) + 2.4 * r - set_up.ground
        # in axes of the page, under a frame that the page turns
        post = self._scene.add_box(
            f"{self._name}/post", self._style["base"], (3.2 * r, 3.2 * r, height)
        )
        back = set_up.turn.T
        middle = [top[0], top[1], set_up.ground + 0.5 * height]
        place(post, transform(back, back @ middle))

    def _joint(self, i: int, drawn: bool) -> None:
        """The barrel of a joint, where its parent has it if it slides, and its axis."""
        (wide, tall), joint = shapes.barrel(self._model, i), self._model.joints[i]
        slides = joint.type.slides
        owner, frame = (joint.parent, joint.placement) if slides else (i, np.eye(4))
        T = frame @ along(joint.axis, np.zeros(3))
        if drawn:
            name = f"{self._at(owner)}/joint{i}"
            body: Any = (
                self._scene.add_box(name, self._style["joint"], (2 * wide, 2 * wide, tall))
                if slides
                else self._scene.add_cylinder(name, wide, tall, self._style["joint"])
            )
            self._own(i, body, T)
            if not slides:  # lids, so that a joint is seen from both ends
                lid = self._scene.add_cylinder(
                    f"{self._at(owner)}/lid{i}", 0.66 * wide, 1.05 * tall, self._style["lid"]
                )
                self._own(i, lid, T)
        reach = 0.1 * shapes.size(self._model)
        axis = self._scene.add_arrows(
            f"{self._at(owner)}/axis{i}",
            np.array([[[0.0, 0.0, -reach], [0.0, 0.0, reach]]]),
            self._style["axis"],
            shaft_radius=0.03 * reach, head_radius=0.09 * reach, head_length=0.22 * reach,
        )  # fmt: skip
        place(axis, T)
        self._extras["axes"].append(axis)
        long, thick = 0.9 * reach, 0.045 * reach
        axes = self._scene.add_frame(f"{self._at(i)}/frame", axes_length=long, axes_radius=thick)
        self._extras["frames"].append(axes)

    def _mass(self, i: int) -> None:
        """Centre of mass and ellipsoid of inertia of a link."""
        body = shapes.ellipsoid(self._model.links[i].inertia)
        if body is None:
            return
        least = 3e-3 * shapes.size(self._model)
        centre = self._scene.add_icosphere(
            f"{self._at(i)}/centre",
            max(shapes.ball(self._model.links[i].inertia.mass), least), self._style["centre"],
            position=body.centre,
        )  # fmt: skip
        self._extras["centres"].append(centre)
        rx, ry, rz = np.maximum(body.radii, least).tolist()
        ellipsoid = self._scene.add_icosphere(
            f"{self._at(i)}/ellipsoid", 1.0, self._style["ellipsoid"], subdivisions=4,
            scale=(rx, ry, rz), opacity=0.45, wxyz=wxyz(body.axes), position=body.centre,
            cast_shadow=False,
        )  # fmt: skip
        self._extras["ellipsoids"].append(ellipsoid)


def place(handle: Any, T: Array) -> None:
    """Put something in the scene to a transform in its parent's frame, (4, 4)."""
    handle.wxyz, handle.position = wxyz(T[:3, :3]), T[:3, 3]


def wxyz(R: Array) -> Array:
    """The quaternion of a rotation, (4,)."""
    return vtf.SO3.from_matrix(np.asarray(R, dtype=float)).wxyz


def along(direction: Array, start: Array) -> Array:
    """A frame at a point whose z axis is along a direction."""
    z = np.asarray(direction, dtype=float) / np.linalg.norm(direction)
    return transform(any_frame(z), start)


APART = 1.1
"""Distance of the two arms, relative to their size."""


@dataclass(frozen=True, slots=True, eq=False)
class Other:
    """A robot to be seen beside another one, with the same joints."""

    robot: Robot
    evaluator: Evaluator
    builds: Sequence[LinkChange] = ()
    """The changes of its links."""
    labels: tuple[str, str] = ("before", "after")


class Beside:
    """Another robot in the scene."""

    def __init__(
        self, scene: viser.SceneApi, name: str, other: Other, style: Style, view: Mapping[str, bool]
    ):
        self.other = other
        self.snapshot: Snapshot | None = None
        """How it was shown last."""
        model = other.robot.model
        size, up = shapes.size(model), stage(model)
        self.offset = (0.0, APART * size, 0.0)
        self._drawing = Drawing(
            scene, name, model, (), style, view, link=style["after"], offset=self.offset
        )
        for build in other.builds:
            for weight in build.weights:
                self._drawing.weight(build.link, weight.mass, build.in_model(weight.position))
        under = float((up.turn @ model.base[:3, 3])[2]) - 0.16 * size
        self._labels = [
            scene.add_label(f"{name}_{text}_label", text, position=(0.0, y, under))
            for text, y in zip(other.labels, (0.0, self.offset[1]), strict=True)
        ]

    def show(self, state: State) -> None:
        """Put it into a state."""
        self.snapshot = found = self.other.evaluator(state)
        self._drawing.move(found)

    def see(self, view: Mapping[str, bool]) -> None:
        """Show and hide what is beside the links."""
        self._drawing.see(view)

    def remove(self) -> None:
        """Remove everything."""
        self._drawing.remove()
        for label in self._labels:
            label.remove()
