"""An arm at q = 0 from the side: joints, links as boxes of equal inertia, masses, counterweights.

It is seen along the world axis along which it extends least.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.figures import INK
from armdyn.formulations.kinematics import frame_in_world, world_frames
from armdyn.model import RobotModel
from armdyn.simplification.counterweights import Build, shape

WEIGHT = "#D55E00"
_VIEWS = ((0, 2), (1, 2), (0, 1))
_LARGEST_DISC = 260.0
"""Area of the disc of the heaviest mass [points²]."""
_LABELLED_SHARE = 0.03
"""Counterweights lighter than this share of the heaviest mass have no label."""


@dataclass(frozen=True, slots=True, eq=False)
class Sketch:
    """The points of an arm [m]: d coordinates each, 3 in space or 2 in the plane of the picture."""

    axes: str
    """The names of the coordinates."""
    lines: Array
    """From joint to joint and to the tool, shape (lines, 2, d)."""
    joints: Array
    """Shape (n, d)."""
    boxes: Array
    """Corners of the boxes, shape (boxes, 8, d)."""
    centres: Array
    """Centres of mass, shape (bodies, d)."""
    stems: Array
    """From the joint of a link to its counterweights, shape (weights, 2, d)."""
    masses: Array
    """Shape (bodies,) [kg]."""
    weights: Array
    """Masses of the counterweights, shape (weights,) [kg]."""

    @property
    def points(self) -> Array:
        """Everything that is drawn, shape (points, d)."""
        parts = (self.lines, self.boxes, self.centres, self.stems)
        return np.concatenate([part.reshape(-1, len(self.axes)) for part in parts])

    @property
    def heaviest(self) -> float:
        """The largest mass [kg]."""
        return float(max([0.0, *self.masses, *self.weights]))

    def seen(self, view: tuple[int, int]) -> "Sketch":
        """The same with two of the coordinates."""
        names = ("lines", "joints", "boxes", "centres", "stems")
        flat = {name: getattr(self, name)[..., list(view)] for name in names}
        return replace(self, axes="".join(self.axes[k] for k in view), **flat)


def sketch_arms(
    models: tuple[RobotModel, RobotModel], builds: Sequence[Build]
) -> tuple[Sketch, Sketch]:
    """Both arms in the same plane, counterweights on the second."""
    added = {build.link: build for build in builds if build.weights}
    # a link with counterweights is drawn as it was, and they are drawn beside it
    pairs = enumerate(zip(models[0].links, models[1].links, strict=True))
    links = tuple(old if i in added else new for i, (old, new) in pairs)
    first, second = _in_space(models[0], {}), _in_space(replace(models[1], links=links), added)
    extent = np.ptp(np.concatenate([first.points, second.points]), axis=0)
    view = max(_VIEWS, key=lambda view: round(extent[view[0]] * extent[view[1]], 6))
    return first.seen(view), second.seen(view)


def _in_space(model: RobotModel, added: Mapping[int, Build]) -> Sketch:
    """An arm at q = 0 in world axes."""
    frames = world_frames(model, np.zeros(len(model.joints)))
    lines = [(frames.link(up)[1], O) for up, O in zip(model.parents, frames.O, strict=True)]
    tool = model.tool_frame
    if tool.link >= 0:
        lines.append((frames.O[tool.link], frame_in_world(frames, tool)[1]))
    shapes = enumerate(shape(link.inertia) for link in model.links)
    bodies = [(i, body) for i, body in shapes if body.mass > 0]
    weights = [(i, build, weight) for i, build in added.items() for weight in build.weights]
    unit = np.array(list(product((-0.5, 0.5), repeat=3)))
    boxes = [
        (i, (unit * body.sides) @ body.axes.T + body.com)
        for i, body in bodies
        if body.sides is not None
    ]

    def moved(i: int, positions: Array) -> Array:
        """Positions (..., 3) in the frame of link i, in the world."""
        return positions @ frames.R[i].T + frames.O[i]

    def stacked(points: Iterable[Any], *shape: int) -> Array:
        return np.array(list(points)).reshape(-1, *shape)

    return Sketch(
        "xyz",
        stacked(lines, 2, 3),
        stacked(frames.O, 3),
        stacked((moved(i, corners) for i, corners in boxes), 8, 3),
        stacked((moved(i, body.com) for i, body in bodies), 3),
        stacked(
            ((frames.O[i], moved(i, build.in_model(w.position))) for i, build, w in weights), 2, 3
        ),
        np.array([body.mass for _, body in bodies]),
        np.array([weight.mass for _, _, weight in weights]),
    )


def draw_arm(panel: Any, sketch: Sketch, colour: str, heaviest: float) -> None:
    """Draw a sketch in the plane; `heaviest` is the mass of the largest disc [kg]."""
    from matplotlib.patches import Polygon  # noqa: PLC0415 (an extra)
    from scipy.spatial import ConvexHull  # noqa: PLC0415 (slow to load)

    for box in sketch.boxes:
        outline = box[ConvexHull(box, qhull_options="QJ").vertices]  # QJ: flat boxes too
        panel.add_patch(Polygon(outline, facecolor=colour, alpha=0.10, edgecolor="none", zorder=1))
        panel.add_patch(Polygon(outline, fill=False, edgecolor=colour, linewidth=0.7, zorder=2))
    for line in sketch.lines:
        panel.plot(*line.T, color=INK, linewidth=2.2, solid_capstyle="round", zorder=3)
    areas = _LARGEST_DISC / heaviest * sketch.masses
    panel.scatter(*sketch.centres.T, s=areas, color=colour, alpha=0.75, linewidth=0, zorder=4)
    for stem, mass in zip(sketch.stems, sketch.weights, strict=True):
        panel.plot(*stem.T, color=WEIGHT, linewidth=0.8, linestyle=(0, (4, 3)), zorder=3)
        area = _LARGEST_DISC / heaviest * mass
        panel.scatter(*stem[1], s=area, color=WEIGHT, linewidth=0, zorder=5)
        if mass > _LABELLED_SHARE * heaviest:
            panel.annotate(
                f"{mass:.3g} kg", stem[1], (0, 3 + area**0.5 / 2), textcoords="offset points",
                ha="center", fontsize=8, color=WEIGHT, zorder=7,
            )  # fmt: skip
    panel.plot(
        *sketch.joints.T, "o", markersize=5, markerfacecolor="white", markeredgecolor=INK, zorder=6
    )
    panel.grid(color="#EEEEEE", linewidth=0.6, zorder=0)
    panel.set_axisbelow(True)
