"""An arm as a picture and as a page: links, joints and axes, centres of mass, base and tool."""

import io
from collections.abc import Callable
from dataclasses import astuple
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from armdyn.arrays import Array, check_joint_vector, lost
from armdyn.errors import ShapeError, shown
from armdyn.formulations.kinematics import WorldFrames, frame_in_world, world_frames
from armdyn.html import html_table
from armdyn.loops.coordinates import coordinates_of
from armdyn.loops.rows import cut_lines, end_frames
from armdyn.model import RobotModel
from armdyn.report.figures import COLOURS, INK, PALE, legend_row, styled_figure
from armdyn.report.panels import VIEWS, sheet
from armdyn.shorten.canonical.dh_table import dh_table

LINK, TURNS, SLIDES, MASS = "#9A9A9A", COLOURS["inertial"], COLOURS["coulomb"], COLOURS["gravity"]
CUT = COLOURS["coriolis"]
"""The colour of cut joints, which close loops."""
AXES = ("#C0392B", "#27AE60", "#2C6FBB")
"""Colours of the axes of a frame: x, y, z."""
AXIS_SHARE, FRAME_SHARE = 0.11, 0.14
"""Lengths of a joint axis and of the axes of a frame, relative to the arm."""
MOST_JOINTS_DRAWN = 30
"""Joints of a robot beyond which a notebook shows it by its tables alone."""


def draw_portrait(model: RobotModel, q: ArrayLike | None = None) -> Any:
    """The figure of an arm at q, (n,) [rad or m].

    None: the middle of its ranges, or where its loops are assembled.
    """
    at = coordinates_of(model)
    n = len(model.independent)
    if q is None:  # amid its ranges, or as its loops are assembled
        middle = np.asarray(model.ranges.mean(axis=1))
        q = at.assembly[list(model.independent)] if model.loops else middle
    given = check_joint_vector("q", q, n)
    if given.shape != (n,) or not np.isfinite(given).all():
        raise ShapeError(f"q: a picture has one configuration of {n} numbers, got {shown(q)}")
    positions = at.positions(given)
    if lost(positions, given):
        at.explain(given)
    frames = world_frames(model, positions)
    tool_turned, tool = frame_in_world(frames, model.tool_frame)
    pins = [end for _, end in cut_lines(model, frames)]
    points = np.array([frames.base[1], *frames.O, *frames.P, *pins, tool])
    centre = 0.5 * (points.min(0) + points.max(0))
    size = float(np.ptp(points, axis=0).max()) or 1.0
    place = ", ".join(f"{value + 0.0:.3g}" for value in given)
    figure = sheet(6.4, 6.0, model.title or model.name, f"q = ({place})"[:110], 0.05, 0.26)
    axes = figure.add_axes((0.02, 0.06, 0.96, 0.84), projection="3d")
    x, y = np.meshgrid(*(middle + size * np.linspace(-0.6, 0.6, 7) for middle in centre[:2]))
    ground = np.full(x.shape, float(frames.base[1][2]))
    axes.plot_wireframe(x, y, ground, color=PALE, linewidth=0.5, zorder=0)
    *links, last = link_lines(model, frames)
    for line in links:
        axes.plot(*line.T, color=LINK, linewidth=4.5, solid_capstyle="round", zorder=2)
    axes.plot(*last.T, color=LINK, linewidth=3.0, zorder=2)
    _draw_joints(axes, model, frames, AXIS_SHARE * size)
    heaviest = max((link.inertia.mass for link in model.links), default=0.0) or 1.0
    look: Any = {"color": MASS, "alpha": 0.45, "linewidth": 0, "depthshade": False, "zorder": 3}
    for i, inertia in enumerate(link.inertia for link in model.links):
        if inertia.mass > 0:
            R, O = frames.link(i)
            axes.scatter(*(O + R @ inertia.com), s=160 * inertia.mass / heaviest, **look)
    _draw_frame(axes, np.asarray(frames.base[0]), frames.base[1], FRAME_SHARE * size)
    _draw_frame(axes, tool_turned, tool, FRAME_SHARE * size)
    _set_room(axes, centre, size)
    _draw_legend(figure, model)
    return figure


def link_lines(model: RobotModel, frames: WorldFrames) -> list[Array]:
    """The lines of an arm: of each link to its joints, to cuts of loops and to the tool, (k, 3)."""
    parents = (frames.link(joint.parent)[1] for joint in model.joints)
    lines: list[Any] = [*zip(parents, frames.P, frames.O, strict=True), *cut_lines(model, frames)]
    flange = frames.link(model.tool_frame.link)[1]
    lines.append((flange, frame_in_world(frames, model.tool_frame)[1]))
    return [np.array(line, dtype=float) for line in lines]


def side_view(points: Array) -> list[int]:
    """The axes of the plane in which points (m, 3) extend most."""
    extent = np.ptp(points, axis=0)
    return list(max(VIEWS, key=lambda view: round(extent[list(view)].prod(), 6)))


def draw_side(panel: Any, lines: list[Array], joints: Array, view: list[int]) -> None:
    """Draw links and joints, points (..., 3) in the world, in the plane of two axes."""
    for line in lines:
        panel.plot(*line[:, view].T, color=INK, linewidth=2.4, solid_capstyle="round", zorder=3)
    look: Any = {"markersize": 5.5, "markerfacecolor": "white", "markeredgecolor": INK}
    panel.plot(*joints[:, view].T, "o", **look, zorder=6)
    panel.grid(color="#EEEEEE", linewidth=0.6)
    panel.set_axisbelow(True)
    panel.set_aspect("equal", adjustable="datalim")
    panel.set(xlabel=f"{'xyz'[view[0]]} [m]", ylabel=f"{'xyz'[view[1]]} [m]")


def _draw_joints(axes: Any, model: RobotModel, frames: WorldFrames, length: float) -> None:
    from matplotlib.patheffects import withStroke  # noqa: PLC0415 (an extra)

    def ring(at: Array, beside: Array, name: str, colour: str, side: str) -> None:
        look = {"s": 42, "color": "white", "edgecolor": colour, "linewidth": 1.8}
        axes.scatter(*at, **look, depthshade=False, zorder=5)
        text = axes.text(*beside, name, fontsize=7, color=colour, ha=side, va="center", zorder=6)
        text.set_path_effects([withStroke(linewidth=2.0, foreground="white")])

    for i, joint in enumerate(model.joints):
        colour = TURNS if joint.type.turns else SLIDES
        ends = frames.P[i] + np.outer((-length, length), frames.z[i])
        axes.plot(*ends.T, color=colour, linewidth=1.6, zorder=4)
        beyond = frames.P[i] + 1.25 * length * frames.z[i]
        ring(frames.P[i], beyond, joint.name, colour, "center")
    for loop in (loop for loop in model.loops if not loop.couples):
        place = end_frames(frames, loop)[0][:3, 3]
        ring(place, place, f"  {loop.name}", CUT, "left")


def _draw_frame(axes: Any, R: Array, O: Array, length: float) -> None:
    for k, colour in enumerate(AXES):
        axes.plot(*np.array([O, O + length * R[:, k]]).T, color=colour, linewidth=2.0, zorder=6)


def _set_room(axes: Any, centre: Array, size: float) -> None:
    axes.set_box_aspect((1, 1, 1), zoom=1.0)
    for name, middle in zip("xyz", centre, strict=True):
        ends = middle - 0.62 * size, middle + 0.62 * size
        axes.set(**{f"{name}lim": ends, f"{name}label": f"{name} [m]"})
        axis = getattr(axes, f"{name}axis")
        axis.set_pane_color((1, 1, 1, 0))
        axis._axinfo["grid"]["linewidth"] = 0
    axes.tick_params(labelsize=7)
    axes.view_init(elev=22, azim=-58)


def _draw_legend(figure: Any, model: RobotModel) -> None:
    from matplotlib.lines import Line2D  # noqa: PLC0415 (an extra)

    turns = {joint.type.turns for joint in model.joints}
    colours = {"joint that turns": TURNS} if True in turns else {}
    colours |= {"joint that slides": SLIDES} if False in turns else {}
    colours |= {"cut joint": CUT} if any(not loop.couples for loop in model.loops) else {}
    colours["centre of mass, area as the mass"] = MASS
    lines = {
        name: Line2D([], [], color=colour, marker="o", linewidth=0 if colour == MASS else 1.5)
        for name, colour in colours.items()
    }
    legend_row(figure, 0.05, 0.74, lines, fontsize=8)


def robot_html(model: RobotModel) -> str:
    """Joints, DH table and picture of a robot, for notebooks."""
    columns = ("joint", "kind", "parent", "lower", "upper", "velocity", "effort", "link")
    parents = (model.base_link.name, *(link.name for link in model.links))
    rows = [
        (
            *(joint.name, joint.kind, parents[joint.parent + 1]),
            *(f"{value:.5g}" for value in astuple(joint.limits)[:4]),
            *(link.name, f"{link.inertia.mass:.5g}"),
        )
        for joint, link in zip(model.joints, model.links, strict=True)
    ]
    title = f"{model.title or model.name} [rad, m, s, N m, N]"
    page = html_table((*columns, "mass [kg]"), rows, title, texts=3)
    page += dh_table(model)._repr_html_()
    few = len(model.joints) <= MOST_JOINTS_DRAWN
    return page + figure_html(lambda: draw_portrait(model)) if few else page


def figure_html(draw: Callable[[], Any], form: str = "png") -> str:
    """A figure as an image inside a page; nothing where matplotlib is not installed."""
    if find_spec("matplotlib") is None:
        return ""
    from base64 import b64encode  # noqa: PLC0415 (rarely needed)

    stream, kind = io.BytesIO(), {"svg": "svg+xml"}.get(form, form)
    styled_figure(draw, save=(stream, form, 110))
    code = b64encode(stream.getvalue()).decode()
    return f'<div><img src="data:image/{kind};base64,{code}" style="max-width:100%"/></div>'
