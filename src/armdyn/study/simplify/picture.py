"""A design as a picture: mass matrix, gravity and torques before and after, and both arms.

Arms are seen at q = 0, those with loops as they are assembled, along the world axis along which
they extend least: joints, links as boxes of equal inertia, masses, counterweights.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise, product
from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.formulations.kinematics import world_frames
from armdyn.loops.coordinates import coordinates_of
from armdyn.model import RobotModel
from armdyn.report import panels as pictures
from armdyn.report.figures import GREY, INK, PALE, draw_limit, time_axis
from armdyn.report.portrait import link_lines
from armdyn.study.simplify.comparison import Comparison
from armdyn.study.simplify.counterweights import LinkChange, shape

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
    figure = pictures.sheet(10.5, height, title, counts, 0.075)
    pictures.key_row(figure, 0.84, 0.3, {"before": pictures.BEFORE, "after": pictures.AFTER})
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
        if np.abs(ends).max() <= pictures.DRAWN_ZERO * e.scale:
            continue
        sides = zip((-0.19, 0.19), ends / e.scale, (pictures.BEFORE, pictures.AFTER), strict=True)
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
    pictures.panel_title(
        panel, "Mass matrix over the workspace", "from lowest to highest; a line is a constant"
    )


def _draw_loads(panel: Any, comparison: Comparison) -> None:
    """Torques of gravity; or force and moment on the base, as shares of what they were."""
    if comparison.shaking is None:
        pictures.before_after_bars(panel, comparison.gravity, comparison.joints)
        panel.set_ylim(0, 1.08 * max(float(g.max()) for g in comparison.gravity) or 1.0)
        panel.set_ylabel(f"[{' or '.join(dict.fromkeys(comparison.units))}]")
        pictures.panel_title(panel, "Largest gravity torque")
        return
    before, after = comparison.shaking
    shares = 100 * after / np.where(before > 0, before, 1.0)
    after = np.where(shares > 100 * pictures.DRAWN_ZERO, after, 0.0)
    rows = zip(("force", "moment"), ("N", "N·m"), before, after, strict=True)
    names = [f"{what}\n{b:.3g} → {a:.3g} {unit}" for what, unit, b, a in rows]
    pictures.before_after_bars(panel, (np.full(2, 100.0), shares), names)
    panel.set_ylabel("[%]")
    pictures.panel_title(panel, "Shaking of the base")


def _draw_torque(panel: Any, comparison: Comparison, i: int, last: bool) -> None:
    for report, colour in zip(comparison.torques, (pictures.BEFORE, pictures.AFTER), strict=True):
        panel.plot(report.trajectory.t, report.total[:, i], color=colour, linewidth=1.6)
    first = comparison.torques[0]
    values = np.array([report.total[:, i] for report in comparison.torques])
    draw_limit(panel, first.trajectory.t, values, first.limits[i])
    before, after = (peaks[i] for peaks in comparison.peaks)
    unit = comparison.units[i]
    kind = "Force" if unit == "N" else "Torque"
    pictures.panel_title(
        panel, f"{kind}, {comparison.joints[i]}", f"peak {before:.3g} → {after:.3g} {unit}"
    )
    panel.set_ylabel(f"[{unit}]")
    time_axis(panel, first.trajectory.t, last)


def _draw_arms(
    place: Any, models: tuple[RobotModel, RobotModel], changes: Sequence[LinkChange]
) -> None:
    """Both arms from the side, to the same scale."""
    panels = place.subgridspec(1, 2, wspace=0.05).subplots()
    (across, up), sketches = _sketch_arms(models, changes)
    points = np.concatenate([_all_points(points) for points, *_ in sketches])
    masses = np.concatenate([m for _, *both in sketches for m in both])
    heaviest = masses.max(initial=0.0) or 1.0
    for panel, sketch, colour in zip(panels, sketches, (GREY, pictures.AFTER), strict=True):
        _draw_arm(panel, sketch, colour, heaviest)
        # the same for two panels of one size, so that both are to one scale
        panel.update_datalim([points.min(axis=0), points.max(axis=0)])
        panel.set_aspect("equal", adjustable="datalim")
        panel.set_xlabel(f"{across} [m]")
    panels[0].set_ylabel(f"{up} [m]")
    panels[1].tick_params(labelleft=False)
    weights = "orange: counterweights" if any(change.weights for change in changes) else ""
    pose = "as assembled" if models[0].loops else "at q = 0"
    pictures.panel_title(panels[0], "The arm before", f"{pose}, links as boxes of equal inertia")
    pictures.panel_title(panels[1], "The arm after", weights)


Sketch = tuple[dict[str, Array], Array, Array]
"""Points of an arm by what they are [m], masses of its bodies and of its counterweights [kg]."""


def _all_points(points: Mapping[str, Array]) -> Array:
    """Everything that is drawn but joints, which are ends of lines, shape (points, d)."""
    return np.concatenate([x.reshape(-1, x.shape[-1]) for k, x in points.items() if k != "joints"])


def _sketch_arms(
    models: tuple[RobotModel, RobotModel], builds: Sequence[LinkChange]
) -> tuple[list[str], list[Sketch]]:
    """The names of two axes, and both arms in their plane, counterweights on the second."""
    added = {build.link: build for build in builds if build.weights}
    # a link with counterweights is drawn as it was, and they are drawn beside it
    pairs = enumerate(zip(models[0].links, models[1].links, strict=True))
    links = tuple(old if i in added else new for i, (old, new) in pairs)
    sketches = _in_space(models[0], {}), _in_space(replace(models[1], links=links), added)
    every = np.concatenate([_all_points(points) for points, *_ in sketches])
    extent = np.ptp(every, axis=0)
    view = list(max(pictures.VIEWS, key=lambda view: round(extent[list(view)].prod(), 6)))
    seen = [({k: x[..., view] for k, x in at.items()}, m, w) for at, m, w in sketches]
    return ["xyz"[k] for k in view], seen


def _in_space(model: RobotModel, added: Mapping[int, LinkChange]) -> Sketch:
    """An arm at q = 0 in world axes; one with loops as it is assembled."""
    frames = world_frames(model, coordinates_of(model).assembly)
    shapes = enumerate(shape(link.inertia) for link in model.links)
    bodies = [(i, body) for i, body in shapes if body.mass > 0]
    weights = [(i, build, weight) for i, build in added.items() for weight in build.weights]
    unit = np.array(list(product((-0.5, 0.5), repeat=3)))

    def moved(i: int, positions: Array) -> Array:
        """Positions (..., 3) in the frame of link i, in the world."""
        return positions @ frames.R[i].T + frames.O[i]

    boxes = [
        moved(i, (unit * body.sides) @ body.axes.T + body.com)
        for i, body in bodies
        if body.sides is not None
    ]
    stems = [(frames.O[i], moved(i, build.in_model(w.position))) for i, build, w in weights]
    points: dict[str, Any] = {
        "lines": [pair for line in link_lines(model, frames) for pair in pairwise(line)],
        "joints": frames.O,
        "boxes": boxes,
        "centres": [moved(i, body.com) for i, body in bodies],
        "stems": stems,  # from the joint of a link to its counterweights
    }
    ends = {"lines": (2, 3), "boxes": (8, 3), "stems": (2, 3)}
    arrays = {k: np.array(list(x)).reshape(-1, *ends.get(k, (3,))) for k, x in points.items()}
    return (
        arrays,
        np.array([body.mass for _, body in bodies]),
        np.array([weight.mass for _, _, weight in weights]),
    )


def _labels(
    points: Mapping[str, Array], weights: Array, heaviest: float
) -> Iterator[tuple[Array, Array, str, float]]:
    """Place, direction away from the joint, words and area of the disc of each label.

    Weights that are seen in one place have one label.
    """
    stems = points["stems"]
    near = _SAME_PLACE * np.ptp(_all_points(points), axis=0).max()
    left = [k for k, mass in enumerate(weights) if mass > _LABELLED_SHARE * heaviest]
    while left:
        place = stems[left[0]][1]
        here = [k for k in left if np.linalg.norm(stems[k][1] - place) <= near]
        left = [k for k in left if k not in here]
        way = place - stems[here[0]][0]
        length = float(np.linalg.norm(way))
        away = way / length if length > near else np.array([0.0, 1.0])
        masses = weights[here]
        text = " + ".join(f"{mass:.3g}" for mass in masses) + " kg"
        yield place, away, text, _LARGEST_DISC / heaviest * float(masses.max())


def _draw_arm(panel: Any, sketch: Sketch, colour: str, heaviest: float) -> None:
    """Draw a sketch in the plane; `heaviest` is the mass of the largest disc [kg]."""
    from matplotlib.patches import Polygon  # noqa: PLC0415 (an extra)
    from scipy.spatial import ConvexHull  # noqa: PLC0415 (slow to load)

    points, masses, weights = sketch
    for box in points["boxes"]:
        outline = box[ConvexHull(box, qhull_options="QJ").vertices]  # QJ: flat boxes too
        panel.add_patch(Polygon(outline, facecolor=colour, alpha=0.10, edgecolor="none", zorder=1))
        panel.add_patch(Polygon(outline, fill=False, edgecolor=colour, linewidth=0.7, zorder=2))
    for line in points["lines"]:
        panel.plot(*line.T, color=INK, linewidth=2.2, solid_capstyle="round", zorder=3)
    areas = _LARGEST_DISC / heaviest * masses
    panel.scatter(*points["centres"].T, s=areas, color=colour, alpha=0.75, linewidth=0, zorder=4)
    for stem, mass in zip(points["stems"], weights, strict=True):
        panel.plot(*stem.T, color=WEIGHT, linewidth=0.8, linestyle=(0, (4, 3)), zorder=3)
        area = _LARGEST_DISC / heaviest * mass
        panel.scatter(*stem[1], s=area, color=WEIGHT, linewidth=0, zorder=5)
    for place, away, text, area in _labels(points, weights, heaviest):
        along = away * (3 + area**0.5 / 2)
        sides = np.where(np.abs(away) < _LEVEL_SINE, 0, np.sign(away)).astype(int)
        panel.annotate(
            text, place, along, textcoords="offset points", fontsize=8, color=WEIGHT, zorder=7,
            ha=("center", "left", "right")[sides[0]], va=("center", "bottom", "top")[sides[1]],
            bbox={"facecolor": "white", "alpha": 0.7, "pad": 0.5, "linewidth": 0},
        )  # fmt: skip
    panel.margins(_MARGIN_OF_LABELS)
    look: Any = {"markersize": 5, "markerfacecolor": "white", "markeredgecolor": INK}
    panel.plot(*points["joints"].T, "o", **look, zorder=6)
    panel.grid(color="#EEEEEE", linewidth=0.6, zorder=0)
    panel.set_axisbelow(True)
