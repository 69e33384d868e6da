"""An arm at q = 0 from the side: joints, links as boxes of equal inertia, masses, counterweights.

It is seen along the world axis along which it extends least.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.figures import INK
from armdyn.model import RobotModel
from armdyn.model.transform import joint_motion
from armdyn.simplification.counterweights import Build, shape

WEIGHT = "#D55E00"
_VIEWS = ((0, 2), (1, 2), (0, 1))
_AREA = 260.0
"""Area of the disc of the heaviest mass [points²]."""
_LABELLED = 0.03
"""Counterweights lighter than this share of the heaviest mass have no label."""


@dataclass(frozen=True, slots=True, eq=False)
class Sketch:
    """An arm in the plane of the picture [m]."""

    axes: tuple[str, str]
    lines: tuple[Array, ...]
    """From joint to joint and to the tool, shape (2, 2) each."""
    joints: Array
    """Shape (n, 2)."""
    boxes: tuple[Array, ...]
    """Corners of the boxes, shape (8, 2) each."""
    centres: Array
    """Centres of mass, shape (n, 2)."""
    masses: Array
    """Shape (n,) [kg]."""
    stems: tuple[Array, ...]
    """From the joint of a link to its counterweights, shape (2, 2) each."""
    weights: Array
    """Masses of the counterweights, shape (k,) [kg]."""
    heaviest: float
    """[kg]."""


def places(models: tuple[RobotModel, RobotModel], builds: Sequence[Build]) -> tuple[Sketch, Sketch]:
    """Both arms in the same plane, counterweights on the second."""
    added = {build.link: build for build in builds if build.weights}
    # a link with counterweights is drawn as it was, and they are drawn beside it
    links = [
        old if i in added else new
        for i, (old, new) in enumerate(zip(models[0].links, models[1].links, strict=True))
    ]
    arms = [_arm(models[0], {}), _arm(replace(models[1], links=tuple(links)), added)]
    extent = np.ptp(np.concatenate([arm.points for arm in arms]), axis=0)
    a, b = max(_VIEWS, key=lambda view: round(extent[view[0]] * extent[view[1]], 6))
    heaviest = max(float(m.max(initial=0.0)) for arm in arms for m in (arm.masses, arm.weights))
    first, second = (arm.seen((a, b), heaviest or 1.0) for arm in arms)
    return first, second


def corners(sketches: Sequence[Sketch]) -> tuple[Array, Array]:
    """Lowest and highest coordinates of everything drawn."""
    points = np.concatenate(
        [part for s in sketches for part in (*s.lines, *s.boxes, s.centres, *s.stems)]
    )
    return points.min(axis=0), points.max(axis=0)


@dataclass(frozen=True, slots=True, eq=False)
class _Arm:
    """An arm in space, world axes."""

    lines: list[Array]
    joints: Array
    boxes: list[Array]
    centres: Array
    masses: Array
    stems: list[Array]
    weights: Array

    @property
    def points(self) -> Array:
        return np.concatenate([*self.lines, *self.boxes, self.centres, *self.stems])

    def seen(self, view: tuple[int, int], heaviest: float) -> Sketch:
        flat = [*view]
        return Sketch(
            ("xyz"[view[0]], "xyz"[view[1]]),
            tuple(line[:, flat] for line in self.lines),
            self.joints[:, flat],
            tuple(box[:, flat] for box in self.boxes),
            self.centres[:, flat],
            self.masses,
            tuple(stem[:, flat] for stem in self.stems),
            self.weights,
            heaviest,
        )


def _arm(model: RobotModel, added: Mapping[int, Build]) -> _Arm:
    frames: list[Array] = []
    for joint in model.joints:
        up = frames[joint.parent] if joint.parent >= 0 else model.base
        frames.append(up @ joint.placement @ joint_motion(joint.kind, joint.axis, 0.0))
    origins = [T[:3, 3] for T in frames]
    starts = [origins[up] if up >= 0 else model.base[:3, 3] for up in model.parents]
    lines = [np.array(pair) for pair in zip(starts, origins, strict=True)]
    tool = model.tool_frame
    if tool.link >= 0:
        lines.append(np.array([origins[tool.link], (frames[tool.link] @ tool.placement)[:3, 3]]))
    boxes, centres, masses = [], [], []
    for T, link in zip(frames, model.links, strict=True):
        body = shape(link.inertia)
        if body.mass > 0:
            centres.append(_moved(T, body.com))
            masses.append(body.mass)
            if body.sides is not None:
                corners = np.array(list(product((-0.5, 0.5), repeat=3))) * body.sides
                boxes.append(np.array([_moved(T, body.com + body.axes @ c) for c in corners]))
    weights = [(i, build, weight) for i, build in added.items() for weight in build.weights]
    return _Arm(
        lines,
        np.array(origins),
        boxes,
        np.array(centres).reshape(-1, 3),
        np.array(masses),
        [
            np.array([origins[i], _moved(frames[i], build.in_model(weight.position))])
            for i, build, weight in weights
        ],
        np.array([weight.mass for _, _, weight in weights]),
    )


def _moved(T: Array, position: Array) -> Array:
    moved: Array = T[:3, :3] @ position + T[:3, 3]
    return moved


def draw_arm(panel: Any, sketch: Sketch, colour: str) -> None:
    """Draw a sketch."""
    from matplotlib.patches import Polygon  # noqa: PLC0415 (an extra)

    for box in sketch.boxes:
        outline = _hull(box)
        panel.add_patch(Polygon(outline, facecolor=colour, alpha=0.10, edgecolor="none", zorder=1))
        panel.add_patch(Polygon(outline, fill=False, edgecolor=colour, linewidth=0.7, zorder=2))
    for line in sketch.lines:
        panel.plot(*line.T, color=INK, linewidth=2.2, solid_capstyle="round", zorder=3)
    areas = _AREA / sketch.heaviest * sketch.masses
    panel.scatter(*sketch.centres.T, s=areas, color=colour, alpha=0.75, linewidth=0, zorder=4)
    for stem, mass in zip(sketch.stems, sketch.weights, strict=True):
        panel.plot(*stem.T, color=WEIGHT, linewidth=0.8, linestyle=(0, (4, 3)), zorder=3)
        area = _AREA / sketch.heaviest * mass
        panel.scatter(*stem[1], s=area, color=WEIGHT, linewidth=0, zorder=5)
        if mass > _LABELLED * sketch.heaviest:
            panel.annotate(
                f"{mass:.3g} kg", stem[1], (0, 3 + area**0.5 / 2), textcoords="offset points",
                ha="center", fontsize=8, color=WEIGHT, zorder=7,
            )  # fmt: skip
    panel.plot(
        *sketch.joints.T, "o", markersize=5, markerfacecolor="white", markeredgecolor=INK, zorder=6
    )
    panel.grid(color="#EEEEEE", linewidth=0.6, zorder=0)
    panel.set_axisbelow(True)


def _hull(points: Array) -> Array:
    """The convex outline of points in the plane, counterclockwise (Andrew 1979)."""
    order = points[np.lexsort(points.T[::-1])]

    def half(row: Array) -> list[Array]:
        chain: list[Array] = []
        for p in row:
            while len(chain) > 1 and _turn(chain[-2], chain[-1], p) <= 0:
                chain.pop()
            chain.append(p)
        return chain[:-1]

    return np.array([*half(order), *half(order[::-1])])


def _turn(a: Array, b: Array, c: Array) -> float:
    u, v = b - a, c - a
    return float(u[0] * v[1] - u[1] * v[0])
