"""One arm in the three-dimensional view: its links under one frame, moved by their transforms."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import viser
import viser.transforms as vtf

from armdyn.arrays import Array
from armdyn.model import RobotModel
from armdyn.studio import shapes
from armdyn.studio.style import Colour, Style
from armdyn.studio.visuals import Visual

INSIDE_OPACITY = 0.4
"""Opacity of links while their centres of mass or ellipsoids are shown."""


VIEWS = {
    "axes": ("axes", "Axes of the joints"),
    "centres": ("mass centres", "Centres of mass of the links"),
    "ellipsoids": ("inertia", "Ellipsoids with the mass and the inertia of each link"),
    "gravity": ("gravity", "What gravity does to each link, at its centre of mass"),
    "reactions": ("reactions", "The force that each link receives from the one before it"),
    "frames": ("frames", "Frames of the links"),
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
        """Draw a robot under a name such as "/arm", with an offset from its place [m].

        Links without pieces are drawn as rods in the colour `link`, or in that of the style; `view`
        says which of VIEWS are shown.
        """
        self._scene, self._name, self._model, self._style = scene, name, model, style
        self._link = link or style.link
        self._bodies: list[Any] = []
        self._root = scene.add_frame(name, show_axes=False, position=offset)
        self._extras: dict[str, list[Any]] = defaultdict(list)
        """What the view shows and hides."""
        base = scene.add_frame(f"{name}/base", show_axes=False)
        _place(base, model.base)
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
            scene.add_cylinder(
                f"{name}/base/plate", 2.4 * r, 0.5 * r, style.base,
                position=(0.0, 0.0, shapes.floor(model) - 0.25 * r),
            )  # fmt: skip
        self._tool = scene.add_frame(
            f"{name}/tool", axes_length=0.1 * size, axes_radius=0.005 * size
        )
        self._held = scene.add_icosphere(
            f"{name}/tool/payload", 1.0, style.payload, subdivisions=3, visible=False
        )
        self.see(view)

    def move(self, links: Sequence[Array], tool: Array, payload: float) -> None:
        """Put every link in its place in the world; a payload is a ball of aluminium."""
        for handle, T in zip(self._links, links, strict=True):
            _place(handle, T)
        _place(self._tool, tool)
        self._held.visible = payload > 0
        self._held.scale = max((payload / 2700 / (4 / 3 * np.pi)) ** (1 / 3), 1e-3)

    def see(self, view: Mapping[str, bool]) -> None:
        """Show and hide what is beside the links."""
        inside = view["centres"] or view["ellipsoids"]
        for handle in self._bodies:
            handle.opacity = INSIDE_OPACITY if inside else None
        for kind, handles in self._extras.items():
            for handle in handles:
                handle.visible = view[kind]

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
            _place(handle, frame.placement @ piece.placement)
            self._bodies.append(handle)
            shown.add(frame.link)
        return shown

    def _rods(self, link: int) -> None:
        from trimesh import creation  # noqa: PLC0415 (slow to import)

        for k, rod in enumerate(shapes.rods(self._model, link)):
            along = rod.b - rod.a
            length = float(np.linalg.norm(along))
            mesh = creation.capsule(length, rod.radius, count=(24, 24))
            low = mesh.vertices[:, 2].min() + rod.radius  # where its axis begins
            handle = self._scene.add_mesh_simple(
                f"{self._at(link)}/rod{k}", mesh.vertices - (0.0, 0.0, low), mesh.faces,
                color=self._style.base if link < 0 else self._link,
            )  # fmt: skip
            _place(handle, _along(along, rod.a))
            self._bodies.append(handle)

    def _joint(self, i: int, drawn: bool) -> None:
        """The barrel of a joint, and its axis."""
        barrel, joint = shapes.barrel(self._model, i), self._model.joints[i]
        owner, place = (joint.parent, joint.placement) if barrel.slides else (i, np.eye(4))
        T = place @ _along(barrel.axis, np.zeros(3))
        if drawn:
            name, wide, tall = f"{self._at(owner)}/joint{i}", barrel.radius, barrel.height
            body: Any = (
                self._scene.add_box(name, self._style.joint, (2 * wide, 2 * wide, tall))
                if barrel.slides
                else self._scene.add_cylinder(name, wide, tall, self._style.joint)
            )
            _place(body, T)
            self._bodies.append(body)
        reach = 0.1 * shapes.size(self._model)
        axis = self._scene.add_arrows(
            f"{self._at(owner)}/axis{i}",
            np.array([[[0.0, 0.0, -reach], [0.0, 0.0, reach]]]),
            self._style.axis,
            shaft_radius=0.03 * reach, head_radius=0.09 * reach, head_length=0.22 * reach,
        )  # fmt: skip
        _place(axis, T)
        self._extras["axes"].append(axis)
        long, thick = 0.9 * reach, 0.045 * reach
        frame = self._scene.add_frame(f"{self._at(i)}/frame", axes_length=long, axes_radius=thick)
        self._extras["frames"].append(frame)

    def _mass(self, i: int) -> None:
        """Centre of mass and ellipsoid of inertia of a link."""
        body = shapes.ellipsoid(self._model.links[i].inertia)
        if body is None:
            return
        centre = self._scene.add_icosphere(
            f"{self._at(i)}/centre", 0.55 * shapes.radius(self._model, i), self._style.centre,
            position=body.centre,
        )  # fmt: skip
        self._extras["centres"].append(centre)
        least = 1e-3 * shapes.size(self._model)
        rx, ry, rz = np.maximum(body.radii, least).tolist()
        ellipsoid = self._scene.add_icosphere(
            f"{self._at(i)}/ellipsoid", 1.0, self._style.ellipsoid, subdivisions=4,
            scale=(rx, ry, rz), opacity=0.45, wxyz=_wxyz(body.axes), position=body.centre,
            cast_shadow=False,
        )  # fmt: skip
        self._extras["ellipsoids"].append(ellipsoid)


def _place(handle: Any, T: Array) -> None:
    handle.wxyz, handle.position = _wxyz(T[:3, :3]), T[:3, 3]


def _wxyz(R: Array) -> Array:
    return vtf.SO3.from_matrix(np.asarray(R, dtype=float)).wxyz


def _along(direction: Array, start: Array) -> Array:
    """A frame at a point whose z axis is along a direction."""
    z = np.asarray(direction, dtype=float) / np.linalg.norm(direction)
    helper = np.eye(3)[int(np.abs(z).argmin())]
    x = np.cross(helper, z)
    x /= np.linalg.norm(x)
    T = np.eye(4)
    T[:3, :3] = np.column_stack([x, np.cross(z, x), z])
    T[:3, 3] = start
    return T
