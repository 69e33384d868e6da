"""The picture of a balance by springs: the arm with them, and the torques before and after."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.figures import GREY, INK, PALE
from armdyn.formulations.kinematics import frame_in_world, world_frames
from armdyn.formulations.springs import spring_vectors
from armdyn.loops.coordinates import coordinates_of
from armdyn.model import RobotModel
from armdyn.model.spring import Spring

BEFORE, AFTER, SPRING = "#B8B8B8", "#0072B2", "#D55E00"
_VIEWS = ((0, 2), (1, 2), (0, 1))
_COILS = 9


def draw_balance(model: RobotModel, springs: Sequence[Spring], gravity: Array, left: Array) -> Any:
    """The figure of a balance."""
    from matplotlib.figure import Figure  # noqa: PLC0415 (an extra)

    figure = Figure(figsize=(10.5, 4.6), facecolor="white")
    arm, bars = figure.subplots(1, 2, width_ratios=[1.1, 1])
    figure.subplots_adjust(left=0.07, right=0.98, top=0.8, bottom=0.14, wspace=0.22)
    title = f"{model.title or model.name}, balanced by springs"
    figure.text(0.07, 0.94, title, fontsize=13, weight="bold", color=INK, va="center")
    _draw_arm(arm, model, springs)
    _draw_torques(bars, model, gravity, left)
    return figure


def _draw_torques(panel: Any, model: RobotModel, gravity: Array, left: Array) -> None:
    names = [model.joints[i].name for i in model.independent]
    units = dict.fromkeys(model.joints[i].type.torque_unit for i in model.independent)
    largest = float(np.abs(gravity).max()) or 1.0
    for shift, values, colour, word in ((-0.19, gravity, BEFORE, "without springs"),
                                        (0.19, left, AFTER, "with springs")):  # fmt: skip
        peaks = np.abs(values).max(axis=0)
        panel.bar(np.arange(len(names)) + shift, peaks, 0.34, color=colour, zorder=2, label=word)
        for k, value in enumerate(peaks):
            if value <= 1e-9 * largest:
                panel.text(k + shift, 0, "0", ha="center", va="bottom", fontsize=7, color=GREY)
    panel.set_xticks(range(len(names)), names)
    if max(map(len, names)) * len(names) > 30:
        panel.tick_params(axis="x", labelrotation=30, labelsize=7)
    panel.tick_params(axis="x", length=0)
    panel.set_ylabel(f"[{' or '.join(units)}]")
    panel.set_ylim(0, 1.15 * largest)
    panel.legend(frameon=False, loc="upper right", fontsize=8)
    panel.set_title("Largest torque of gravity", fontsize=10, weight="bold", color=INK, pad=6)


def _draw_arm(panel: Any, model: RobotModel, springs: Sequence[Spring]) -> None:
    """The arm in the middle of its ranges, seen along the axis along which it extends least."""
    at = coordinates_of(model)
    frames = world_frames(model, at.positions(model.ranges.mean(axis=1)))
    joints = np.array(frames.O)
    starts = [frames.link(up)[1] for up in model.parents]
    lines = [np.array(pair) for pair in zip(starts, joints, strict=True)]
    lines.append(np.array([frames.link(model.flange.link)[1],
                           frame_in_world(frames, model.tool_frame)[1]]))  # fmt: skip
    ends = [np.array(spring_vectors(frames, spring)[1:]) for spring in springs]
    points = np.concatenate([joints, *lines, *ends])
    narrow = int(np.argmin(np.ptp(points, axis=0)))
    view = list(next(v for v in _VIEWS if narrow not in v))
    for line in lines:
        panel.plot(*line[:, view].T, color=INK, linewidth=3, solid_capstyle="round", zorder=2)
    for spring, pair in zip(springs, ends, strict=True):
        stem = np.array([joints[spring.link], pair[0]])[:, view]
        panel.plot(*stem.T, color=SPRING, linewidth=0.8, linestyle="--", zorder=2)
        _draw_spring(panel, pair[:, view])
    panel.plot(*joints[:, view].T, "o", color="white", markeredgecolor=INK, markersize=7, zorder=4)
    panel.grid(color=PALE, linewidth=0.4)
    panel.set_aspect("equal", adjustable="datalim")
    panel.margins(0.12)
    panel.set_xlabel(f"{'xyz'[view[0]]} [m]")
    panel.set_ylabel(f"{'xyz'[view[1]]} [m]")
    panel.set_title("The arm and its springs", fontsize=10, weight="bold", color=INK, pad=6)
    panel.set_title("in the middle of its ranges", loc="right", fontsize=8, color=GREY, pad=6)


def _draw_spring(panel: Any, ends: Array) -> None:
    """A zigzag from the link to the anchor, which is a square."""
    way = ends[1] - ends[0]
    length = float(np.linalg.norm(way))
    across = np.array([-way[1], way[0]]) / (length or 1.0) * min(0.06 * length, 0.02)
    steps = np.linspace(0, 1, 2 * _COILS + 1)[:, None]
    swing = np.where(np.arange(2 * _COILS + 1) % 2, 1.0, -1.0)[:, None]
    swing[[0, -1]] = 0.0
    panel.plot(*(ends[0] + steps * way + swing * across).T, color=SPRING, linewidth=1.2, zorder=3)
    panel.plot(*ends[1], "s", color=SPRING, markersize=6, zorder=5)
    panel.plot(*ends[0], "o", color=SPRING, markersize=4, zorder=5)
