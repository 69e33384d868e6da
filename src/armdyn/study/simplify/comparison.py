"""Two arms with the same joints, before and after a design: mass matrix, gravity, torques, picture.

Arms are drawn at q = 0, those with loops as they are assembled, along the world axis along which
they extend least: joints, links as boxes of equal inertia, masses, counterweights.
"""

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations_with_replacement, product
from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.formulations.kinematics import world_frames
from armdyn.graph.count import Operations
from armdyn.io.csv.trajectory import SampledMotion
from armdyn.loops.coordinates import coordinates_of
from armdyn.model import RobotModel
from armdyn.report.figures import GREY, PALE, draw_limit, time_axis
from armdyn.report.panels import (
    AFTER,
    BEFORE,
    DRAWN_ZERO,
    before_after_bars,
    key_row,
    panel_title,
    sheet,
)
from armdyn.report.portrait import draw_side, link_lines, side_view
from armdyn.robot import Robot
from armdyn.study.operations.count import count_operations
from armdyn.study.simplify.counterweights import LinkChange, shape
from armdyn.study.simplify.goals import element_name
from armdyn.study.states import reference_trajectory, workspace
from armdyn.study.terms.torques import TorqueReport, torque_report


@dataclass(frozen=True, slots=True)
class ValueRange:
    """The values of a quantity over the workspace."""

    low: float
    high: float
    mean: float
    variation: float
    """Highest less lowest value."""


@dataclass(frozen=True, slots=True)
class ElementRange:
    """An element D_ij of the mass matrix before and after."""

    element: str
    """Such as D12."""
    scale: float
    """√(D_ii D_jj) of the means before, in which a variation is measured."""
    before: ValueRange
    after: ValueRange


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """The dynamics of an arm before and after a design; pairs are (before, after)."""

    joints: tuple[str, ...]
    units: tuple[str, ...]
    elements: tuple[ElementRange, ...]
    """The upper triangle of the mass matrix, row by row."""
    gravity: Sequence[Array]
    """Largest torque of gravity on each joint, shape (n,) [N m or N]."""
    condition: Sequence[ValueRange]
    """Condition number of the mass matrix."""
    operations: Sequence[Operations]
    """Of the torque, links only."""
    torques: Sequence[TorqueReport]
    shaking: Sequence[Array] | None
    """Largest force [N] and moment [N m] by which the trajectory shakes the base, (2,), if asked:
    what the ground carries less what it carries at rest there."""
    seconds: float

    @property
    def peaks(self) -> Sequence[Array]:
        """Largest torque of each joint along the trajectory, shape (n,) [N m or N]."""
        return [np.abs(report.total).max(axis=0) for report in self.torques]


def compare_designs(
    before: Robot, after: Robot, motion: SampledMotion | None = None, *, shaking: bool = False
) -> Comparison:
    """Compare two arms with the same joints, by default along `reference_trajectory`."""
    began = time.perf_counter()
    robots = (before, after)
    model = before.model
    q = workspace(model)
    along = motion or reference_trajectory(model)
    masses = [robot.mass_matrix(q) for robot in robots]
    own = np.diag(masses[0].mean(axis=0))
    torques = [torque_report(robot, along) for robot in robots]
    return Comparison(
        before.joint_names,
        torques[0].units,
        tuple(
            ElementRange(
                element_name((model.independent[i], model.independent[j])),
                math.sqrt(abs(own[i] * own[j])),
                *(_range(D[:, i, j]) for D in masses),
            )
            for i, j in combinations_with_replacement(range(len(own)), 2)
        ),
        [np.abs(robot.gravity_vector(q)).max(axis=0) for robot in robots],
        [_range(np.linalg.cond(D)) for D in masses],
        [count_operations(robot) for robot in robots],
        torques,
        [_shaking(robot, along) for robot in robots] if shaking else None,
        time.perf_counter() - began,
    )


def _shaking(robot: Robot, motion: SampledMotion) -> Array:
    moving = robot.reactions(motion.q, motion.qd, motion.qdd, base_wrench=True)[:, 0]
    still = robot.reactions(motion.q, 0 * motion.qd, 0 * motion.qdd, base_wrench=True)[:, 0]
    sizes = np.linalg.norm((moving - still).reshape(-1, 2, 3), axis=-1)
    return np.asarray(sizes.max(axis=0))


def _range(values: Array) -> ValueRange:
    low, high = float(values.min()), float(values.max())
    return ValueRange(low, high, float(values.mean()), high - low)


WEIGHT = "#D55E00"
_LARGEST_DISC = 260.0
"""Area of the disc of the heaviest mass [points²]."""
_SAME_PLACE = 0.06
"""Weights nearer to each other than this share of the picture have one label."""
_LEVEL_SINE = 0.3
"""A label is beside a weight, or above or below, where the other direction is less than this."""
_MARGIN_OF_LABELS = 0.2
"""What is left around an arm, in parts of its extent."""
_LABELLED_SHARE = 0.03
"""Counterweights lighter than this share of the heaviest mass have no label."""


def draw_design(
    title: str,
    models: tuple[RobotModel, RobotModel],
    changes: Sequence[LinkChange],
    comparison: Comparison,
) -> Any:
    """The figure of a design: both arms, and what is different."""
    n = len(comparison.joints)
    columns = 2 if n == 4 else min(n, 3)
    rows = -(-n // columns)
    heights = [2.3, 3.5, *[1.6] * rows]
    height = sum(heights) + 0.7 * (len(heights) - 1) + 1.6
    old, new = comparison.operations
    counts = f"multiplications and additions of the torque: {old.total} before, {new.total} after"
    figure = sheet(10.5, height, title, counts, 0.075)
    key_row(figure, 0.84, 0.3, {"before": BEFORE, "after": AFTER})
    grid = figure.add_gridspec(
        len(heights), 1, height_ratios=heights, left=0.075, right=0.98, top=1 - 1.15 / height,
        bottom=0.5 / height, hspace=0.7 * len(heights) / sum(heights),
    )  # fmt: skip
    top = grid[0].subgridspec(1, 2, width_ratios=[2, 1], wspace=0.2)
    _draw_elements(figure.add_subplot(top[0]), comparison)
    _draw_loads(figure.add_subplot(top[1]), comparison)
    _draw_arms(grid[1], models, changes)
    below = [grid[2 + row].subgridspec(1, columns, wspace=0.26) for row in range(rows)]
    for i in range(n):
        panel = figure.add_subplot(below[i // columns][i % columns])
        _draw_torque(panel, comparison, i, last=i + columns >= n)
    return figure


def _draw_elements(panel: Any, comparison: Comparison) -> None:
    """The range of each element, measured in √(Dii Djj); those that are always zero left out."""
    panel.axhline(0.0, color=PALE, linewidth=0.8, zorder=0)
    shown: list[str] = []
    for e in comparison.elements:
        ends = np.array([(r.low, r.high) for r in (e.before, e.after)])
        if np.abs(ends).max() <= DRAWN_ZERO * e.scale:
            continue
        sides = zip((-0.19, 0.19), ends / e.scale, (BEFORE, AFTER), strict=True)
        for shift, (low, high), colour in sides:
            x = len(shown) + shift
            panel.bar(x, high - low, 0.34, bottom=low, color=colour, zorder=2)
            # so that a constant is seen as a line
            panel.hlines((low, high), x - 0.17, x + 0.17, color=colour, linewidth=2, zorder=2)
        shown.append(e.element)
    panel.set_xticks(range(len(shown)), shown)
    panel.set_xlim(-0.6, len(shown) - 0.4)
    panel.tick_params(axis="x", length=0)
    panel.use_sticky_edges = False
    panel.margins(y=0.06)
    panel.set_ylabel("Dij / √(Dii Djj) before")
    panel_title(
        panel, "Mass matrix over the workspace", "from lowest to highest; a line is a constant"
    )


def _draw_loads(panel: Any, comparison: Comparison) -> None:
    """Torques of gravity; or force and moment on the base, as shares of what they were."""
    if comparison.shaking is None:
        before_after_bars(panel, comparison.gravity, comparison.joints)
        panel.set_ylim(0, 1.08 * max(float(g.max()) for g in comparison.gravity) or 1.0)
        panel.set_ylabel(f"[{' or '.join(dict.fromkeys(comparison.units))}]")
        panel_title(panel, "Largest gravity torque")
        return
    before, after = comparison.shaking
    shares = 100 * after / np.where(before > 0, before, 1.0)
    after = np.where(shares > 100 * DRAWN_ZERO, after, 0.0)
    rows = zip(("force", "moment"), ("N", "N·m"), before, after, strict=True)
    names = [f"{what}\n{b:.3g} → {a:.3g} {unit}" for what, unit, b, a in rows]
    before_after_bars(panel, (np.full(2, 100.0), shares), names)
    panel.set_ylabel("[%]")
    panel_title(panel, "Shaking of the base")


def _draw_torque(panel: Any, comparison: Comparison, i: int, last: bool) -> None:
    for report, colour in zip(comparison.torques, (BEFORE, AFTER), strict=True):
        panel.plot(report.trajectory.t, report.total[:, i], color=colour, linewidth=1.6)
    first = comparison.torques[0]
    values = np.array([report.total[:, i] for report in comparison.torques])
    draw_limit(panel, first.trajectory.t, values, first.limits[i])
    before, after = (peaks[i] for peaks in comparison.peaks)
    unit = comparison.units[i]
    kind = "Force" if unit == "N" else "Torque"
    panel_title(panel, f"{kind}, {comparison.joints[i]}", f"peak {before:.3g} → {after:.3g} {unit}")
    panel.set_ylabel(f"[{unit}]")
    time_axis(panel, first.trajectory.t, last)


@dataclass(frozen=True, slots=True, eq=False)
class _Sketch:
    """An arm in the world [m], with the masses of its bodies and counterweights [kg]."""

    joints: Array
    lines: list[Array]
    boxes: list[Array]
    """Corners of bodies of equal inertia, (8, 3) each."""
    centres: list[tuple[Array, float]]
    stems: list[tuple[Array, float]]
    """From the joint of a link to a counterweight, (2, 3)."""

    @property
    def points(self) -> Array:
        """Everything that is drawn, (points, 3)."""
        ends = [x.reshape(-1, 3) for x, _ in (*self.centres, *self.stems)]
        return np.concatenate([*self.lines, *self.boxes, *ends])

    @classmethod
    def of(cls, model: RobotModel, changes: Sequence[LinkChange] = ()) -> "_Sketch":
        """An arm at q = 0, one with loops as it is assembled, and counterweights beside it."""
        frames = world_frames(model, coordinates_of(model).assembly)
        corners = np.array([*product((-0.5, 0.5), repeat=3)])

        def moved(i: int, positions: Array) -> Array:
            """Positions (..., 3) in the frame of link i, in the world."""
            return positions @ frames.R[i].T + frames.O[i]

        boxes, centres = [], []
        for i, body in enumerate(shape(link.inertia) for link in model.links):
            if body.mass > 0:
                centres.append((moved(i, body.com), body.mass))
                if body.sides is not None:
                    boxes.append(moved(i, (corners * body.sides) @ body.axes.T + body.com))
        stems = [
            (np.array([frames.O[x.link], moved(x.link, x.in_model(weight.position))]), weight.mass)
            for x in changes
            for weight in x.weights
        ]
        return cls(np.array(frames.O), link_lines(model, frames), boxes, centres, stems)


def _draw_arms(
    place: Any, models: tuple[RobotModel, RobotModel], changes: Sequence[LinkChange]
) -> None:
    """Both arms from the side, to the same scale."""
    panels = place.subgridspec(1, 2, wspace=0.05).subplots()
    added = {change.link for change in changes if change.weights}
    # a link with counterweights is drawn as it was, and they are drawn beside it
    pairs = enumerate(zip(models[0].links, models[1].links, strict=True))
    links = tuple(old if i in added else new for i, (old, new) in pairs)
    sketches = _Sketch.of(models[0]), _Sketch.of(replace(models[1], links=links), changes)
    points = np.concatenate([sketch.points for sketch in sketches])
    view = side_view(points)
    heaviest = max((mass for x in sketches for _, mass in (*x.centres, *x.stems)), default=1.0)
    for panel, sketch, colour in zip(panels, sketches, (GREY, AFTER), strict=True):
        _draw_arm(panel, sketch, view, colour, _LARGEST_DISC / heaviest)
        # the same for two panels of one size, so that both are to one scale
        panel.update_datalim([points[:, view].min(axis=0), points[:, view].max(axis=0)])
    panels[1].set_ylabel("")
    panels[1].tick_params(labelleft=False)
    pose = "as assembled" if models[0].loops else "at q = 0"
    panel_title(panels[0], "The arm before", f"{pose}, links as boxes of equal inertia")
    panel_title(panels[1], "The arm after", "orange: counterweights" if added else "")


def _draw_arm(panel: Any, sketch: _Sketch, view: list[int], colour: str, disc: float) -> None:
    """Draw a sketch in the plane of two axes, a mass of 1 kg as a `disc` [points²]."""
    from matplotlib.patches import Polygon  # noqa: PLC0415 (an extra)
    from scipy.spatial import ConvexHull  # noqa: PLC0415 (slow to load)

    for box in (corners[:, view] for corners in sketch.boxes):
        outline = box[ConvexHull(box, qhull_options="QJ").vertices]  # QJ: flat boxes too
        panel.add_patch(Polygon(outline, facecolor=colour, alpha=0.10, edgecolor="none", zorder=1))
        panel.add_patch(Polygon(outline, fill=False, edgecolor=colour, linewidth=0.7, zorder=2))
    draw_side(panel, sketch.lines, sketch.joints, view)
    for at, mass in sketch.centres:
        look: Any = {"color": colour, "alpha": 0.75, "linewidth": 0, "zorder": 4}
        panel.scatter(*at[view], s=disc * mass, **look)
    for stem, mass in sketch.stems:
        panel.plot(*stem[:, view].T, color=WEIGHT, linewidth=0.8, linestyle=(0, (4, 3)), zorder=3)
        panel.scatter(*stem[1, view], s=disc * mass, color=WEIGHT, linewidth=0, zorder=5)
    _label(panel, sketch, view, disc)
    panel.margins(_MARGIN_OF_LABELS)


def _label(panel: Any, sketch: _Sketch, view: list[int], disc: float) -> None:
    """The masses of counterweights; those that are seen in one place have one label."""
    near = _SAME_PLACE * np.ptp(sketch.points[:, view], axis=0).max()
    least = _LABELLED_SHARE * _LARGEST_DISC / disc
    left = [(stem[:, view], mass) for stem, mass in sketch.stems if mass > least]
    while left:
        joint, place = left[0][0]
        here = [np.linalg.norm(stem[1] - place) <= near for stem, _ in left]
        masses = [mass for (_, mass), same in zip(left, here, strict=True) if same]
        left = [x for x, same in zip(left, here, strict=True) if not same]
        length = float(np.linalg.norm(place - joint))
        away = (place - joint) / length if length > near else np.array([0.0, 1.0])
        sides = np.where(np.abs(away) < _LEVEL_SINE, 0, np.sign(away)).astype(int)
        panel.annotate(
            " + ".join(f"{mass:.3g}" for mass in masses) + " kg", place,
            away * (3 + (disc * max(masses)) ** 0.5 / 2), textcoords="offset points", fontsize=8,
            color=WEIGHT, zorder=7, ha=("center", "left", "right")[sides[0]],
            va=("center", "bottom", "top")[sides[1]],
            bbox={"facecolor": "white", "alpha": 0.7, "pad": 0.5, "linewidth": 0},
        )  # fmt: skip
