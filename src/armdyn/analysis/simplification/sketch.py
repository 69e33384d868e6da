"""An arm at q = 0 from the side: joints, links as boxes of equal inertia, masses, counterweights.

It is seen along the world axis along which it extends least.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from armdyn.analysis.plots import GREY, INK
from armdyn.analysis.simplification.counterweights import Build, shape
from armdyn.arrays import Array
from armdyn.model import RobotModel
from armdyn.model.transform import joint_motion

WEIGHT = "#D55E00"
_VIEWS = ((0, 2), (1, 2), (0, 1))
_AREA = 260.0
"""Area of the disc of the heaviest mass [points²]."""


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
    """Shape (n,), of the heaviest mass in the picture."""
    weights: Array
    """Counterweights, shape (k, 2)."""
    weight_masses: Array


def places(models: tuple[RobotModel, RobotModel], builds: Sequence[Build]) -> tuple[Sketch, Sketch]:
    """Both arms in the same plane, counterweights on the second."""
    arms = [_arm(models[0], ()), _arm(models[1], builds)]
    points = np.concatenate([points for arm in arms for points in arm.points if len(points)])
    extent = np.ptp(points, axis=0)
    a, b = max(_VIEWS, key=lambda view: round(extent[view[0]] * extent[view[1]], 6))
    heaviest = max(float(masses.max(initial=0.0)) for arm in arms for masses in arm.masses) or 1.0
    first, second = (arm.seen((a, b), heaviest) for arm in arms)
    return first, second


def limits(sketches: Sequence[Sketch]) -> tuple[Array, Array]:
    """Lowest and highest coordinates of everything drawn, with a margin."""
    points = np.concatenate(
        [part for s in sketches for part in (*s.lines, *s.boxes, s.centres, s.weights)]
    )
    low, high = points.min(axis=0), points.max(axis=0)
    margin = 0.06 * float((high - low).max()) or 0.1
    return low - margin, high + margin


@dataclass(frozen=True, slots=True, eq=False)
class _Arm:
    """An arm in space, world axes."""

    lines: list[Array]
    joints: Array
    boxes: list[Array]
    centres: Array
    weights: Array
    masses: tuple[Array, Array]

    @property
    def points(self) -> list[Array]:
        return [*self.lines, *self.boxes, self.centres, self.weights]

    def seen(self, view: tuple[int, int], heaviest: float) -> Sketch:
        flat = [*view]
        return Sketch(
            ("xyz"[view[0]], "xyz"[view[1]]),
            tuple(line[:, flat] for line in self.lines),
            self.joints[:, flat],
            tuple(box[:, flat] for box in self.boxes),
            self.centres[:, flat],
            self.masses[0] / heaviest,
            self.weights[:, flat],
            self.masses[1] / heaviest,
        )


def _arm(model: RobotModel, builds: Sequence[Build]) -> _Arm:
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
    pairs = [
        (_moved(frames[build.link], build.in_model(weight.position)), weight.mass)
        for build in builds
        for weight in build.weights
    ]
    return _Arm(
        lines,
        np.array(origins),
        boxes,
        np.array(centres).reshape(-1, 3),
        np.array([place for place, _ in pairs]).reshape(-1, 3),
        (np.array(masses), np.array([mass for _, mass in pairs])),
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
    panel.scatter(
        *sketch.centres.T, s=_AREA * sketch.masses, color=colour, alpha=0.75, linewidth=0, zorder=4
    )
    panel.scatter(
        *sketch.weights.T, s=_AREA * sketch.weight_masses, color=WEIGHT, linewidth=0, zorder=5
    )
    panel.plot(
        *sketch.joints.T, "o", markersize=5, markerfacecolor="white", markeredgecolor=INK, zorder=6
    )
    panel.grid(color="#EEEEEE", linewidth=0.6, zorder=0)
    panel.set_axisbelow(True)
    if len(sketch.weights):
        panel.plot([], [], "o", color=WEIGHT, label="counterweight")
        panel.legend(frameon=False, loc="best", fontsize=8, labelcolor=GREY)


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
