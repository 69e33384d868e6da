"""`armdyn.spring_balance`: springs that carry the weight of an arm, and what they leave."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from armdyn.arrays import Array, check_number, frozen
from armdyn.errors import ModelError, check_known, shown
from armdyn.formulations.kinematics import world_frames
from armdyn.formulations.springs import spring_torques, spring_vectors
from armdyn.loops.coordinates import coordinates_of
from armdyn.loops.rows import limbs
from armdyn.model import RobotModel
from armdyn.model.spring import Spring
from armdyn.report.figures import INK, PALE, save_picture
from armdyn.report.panels import VIEWS, before_after_bars, panel_title, sheet
from armdyn.report.result import Result, Section, zero
from armdyn.robot import Robot, check_robot
from armdyn.study.simplify.spring_balance import (
    EXACT_BALANCE,
    BalanceProblem,
    balance,
    gravity_torques,
    spring_places,
)
from armdyn.study.states import workspace

SPRING, _COILS = "#D55E00", 9


def draw_balance(model: RobotModel, springs: Sequence[Spring], gravity: Array, left: Array) -> Any:
    """The figure of a balance: the arm with its springs, and the torques before and after."""
    figure = sheet(10.5, 4.6, f"{model.title or model.name}, balanced by springs", "", 0.07)
    arm, bars = figure.subplots(1, 2, width_ratios=[1.1, 1])
    figure.subplots_adjust(left=0.07, right=0.98, top=0.8, bottom=0.14, wspace=0.22)
    _draw_arm(arm, model, springs)
    joints = model.coordinate_joints
    peaks = [np.abs(values).max(axis=0) for values in (gravity, left)]
    words = "without springs", "with springs"
    before_after_bars(bars, peaks, [joint.name for joint in joints], words)
    bars.set_ylabel(f"[{' or '.join(dict.fromkeys(j.type.torque_unit for j in joints))}]")
    bars.set_ylim(0, 1.15 * (float(peaks[0].max()) or 1.0))
    bars.legend(frameon=False, loc="upper right", fontsize=8)
    panel_title(bars, "Largest torque of gravity")
    return figure


def _draw_arm(panel: Any, model: RobotModel, springs: Sequence[Spring]) -> None:
    """The arm in the middle of its ranges, seen along the axis along which it extends least."""
    at = coordinates_of(model)
    frames = world_frames(model, at.positions(model.ranges.mean(axis=1)))
    joints = np.array(frames.O)
    lines = [np.array(line) for line in limbs(model, frames)]
    ends = [np.array(spring_vectors(frames, spring)[1:]) for spring in springs]
    points = np.concatenate([joints, *lines, *ends])
    narrow = int(np.argmin(np.ptp(points, axis=0)))
    view = list(next(v for v in VIEWS if narrow not in v))
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
    panel_title(panel, "The arm and its springs", "in the middle of its ranges")


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


CONFIGURATIONS = 64
"""Configurations at which springs are found: four times as many torques as numbers of springs."""


@dataclass(frozen=True, slots=True, eq=False)
class SpringBalance(Result):
    """An arm with springs against its weight; torques are over the workspace."""

    robot: Robot = field(repr=False)
    springs: tuple[Spring, ...]
    gravity: Array = field(repr=False)
    """Torques of gravity, (m, n) [N m or N]."""
    left: Array = field(repr=False)
    """The same with the springs, at configurations that were not used to find them."""
    lengths: Array = field(repr=False)
    """Of the springs, (m, springs) [m]."""

    @property
    def exact(self) -> bool:
        """Whether gravity is balanced in every configuration."""
        return bool(np.abs(self.left).max() <= EXACT_BALANCE * np.abs(self.gravity).max())

    @property
    def reason(self) -> str:
        """The outcome in a sentence."""
        if not self.gravity.any():
            return "gravity needs no torque as the arm is"
        if self.exact:
            return "springs balance gravity in every configuration"
        share = np.sqrt(np.mean(self.left**2) / np.mean(self.gravity**2))
        slides = [j.name for j in self.robot.model.joints if j.type.slides]
        because = ""
        if slides and self.springs:
            because = (
                f"; the pull of a spring changes along a slide ({', '.join(slides)}), and weight "
                "does not"
            )
        elif any(spring.free_length for spring in self.springs):
            because = "; exact balances take springs of free length 0"
        return f"springs leave {100 * share:.3g} % of the torque of gravity (RMS){because}"

    def torques(self, q: Any) -> Array:
        """What springs add to the torques that hold the arm at q (..., n), (..., n) [N m or N]."""
        return _torques(self.robot.model, self.springs, np.asarray(q, dtype=float))

    def sections(self) -> tuple[Section, ...]:
        """The springs, and torques before and after."""
        robot = self.robot
        names = [link.name for link in robot.model.links] + [robot.model.base_link.name]
        springs = [
            {
                "link": names[s.link],
                "point": s.point.tolist(),
                "other": names[s.other],
                "anchor": s.anchor.tolist(),
                "stiffness": s.stiffness,
                "free_length": s.free_length,
                "shortest": float(lengths.min()),
                "longest": float(lengths.max()),
                "largest_force": float(s.stiffness * np.abs(lengths - s.free_length).max()),
            }
            for s, lengths in zip(self.springs, self.lengths.T, strict=True)
        ]
        rows = tuple(
            (
                *(x["link"], _place(x["point"]), x["other"], _place(x["anchor"])),
                f"{x['stiffness']:.4g}",
                f"{x['shortest']:.3g} to {x['longest']:.3g}",
                f"{x['largest_force']:.4g}",
            )
            for x in springs
        )
        ends = "ends in the frames of the links, whose origins are on their joints"
        columns = ("link", "at [m]", "to", "at [m]", "N/m", "length [m]", "force [N]")
        head = {"robot": robot.name, "exact": self.exact, "reason": self.reason}
        return (
            Section(f"{robot.model.title or robot.name}: {self.reason}", (), data=head),
            Section("Springs" if springs else "", (ends,), columns, rows, 4, {"springs": springs}),
            self._torque_section(),
        )

    def _torque_section(self) -> Section:
        model, largest = self.robot.model, float(np.abs(self.gravity).max()) or 1.0
        units = [joint.type.torque_unit for joint in model.coordinate_joints]
        both = self.gravity, self.left
        sizes = [
            *(np.abs(values).max(axis=0) for values in both),
            *(np.sqrt(np.mean(values**2, axis=0)) for values in both),
        ]
        table = list(zip(self.robot.joint_names, units, *sizes, strict=True))
        keys = ("joint", "unit", "peak_before", "peak_after", "rms_before", "rms_after")
        return Section(
            "Torques of gravity",
            (f"over {len(self.gravity)} random configurations of the workspace",),
            ("joint", "", "largest before", "after", "RMS before", "after"),
            tuple((name, unit, *(zero(x, largest) for x in row)) for name, unit, *row in table),
            2,
            {"gravity": [dict(zip(keys, row, strict=True)) for row in table]},
        )

    def plot(self, path: str | Path) -> None:
        """Draw the arm with its springs, and the torques before and after."""
        save_picture(path, draw_balance, self.robot.model, self.springs, self.gravity, self.left)


def spring_balance(
    robot: Robot,
    between: Iterable[tuple[str, str]] | None = None,
    *,
    free_length: float = 0.0,
    reach: float | None = None,
) -> SpringBalance:
    """Find springs that carry the weight of an arm, exactly if that is possible.

    Args:
        robot: The robot. It stays as it is, and springs that it has are left aside; with_springs
            makes the one with those that are found.
        between: The links between which springs may be, pairs of the name of a link and of one that
            carries it, or "base"; None: from every link to the base.
        free_length: Of every spring [m]; 0: ideal springs, without which no balance is exact.
        reach: How far from their joints springs may be attached, along each axis [m]; None: the
            length of the longest link.
    """
    model = check_robot(robot).model
    length = check_number("free_length", free_length)
    places = [joint.placement[:3, 3] for joint in model.joints]
    places += [link.inertia.com for link in model.links if link.inertia.mass > 0]
    size = max(float(np.linalg.norm(place)) for place in places) or 1.0
    distance = size if reach is None else check_number("reach", reach)
    if length < 0 or not size <= 1e6 * distance <= 1e12 * size:
        wanted = f"a free_length that is not negative and a positive reach of about {size:.3g} m"
        raise ModelError(f"expected {wanted}, got {length:g} and {distance:g}")
    pairs = _pairs(model, between)
    q = workspace(model, CONFIGURATIONS)
    problem = BalanceProblem(
        gravity_torques(model, q), spring_places(model, pairs, q), distance, length
    )
    springs = tuple(
        problem.places[at].spring(k, frozen(p), a, length) for at, (k, p, a) in balance(problem)
    )
    q = workspace(model, 1000)[len(q) :]
    gravity = gravity_torques(model, q)
    frames = world_frames(model, coordinates_of(model).positions(q))
    lengths = [np.linalg.norm(spring_vectors(frames, s)[0], axis=-1) for s in springs]
    stacked = np.stack(lengths, axis=1) if lengths else np.zeros((len(q), 0))
    return SpringBalance(robot, springs, gravity, gravity + _torques(model, springs, q), stacked)


def _torques(model: RobotModel, springs: tuple[Spring, ...], q: Array) -> Array:
    at = coordinates_of(model)
    return np.asarray(at.torques(spring_torques(model, springs, at.positions(q))))


def _pairs(model: RobotModel, between: Iterable[tuple[str, str]] | None) -> list[tuple[int, int]]:
    if between is None:
        return [(i, -1) for i in range(len(model.links))]
    if not np.iterable(between):
        raise ModelError(f"between: expected pairs of links, got {shown(between)}")
    pairs = [_pair(model, pair) for pair in between]
    if not pairs:
        raise ModelError("between: expected at least one pair of links, got none")
    return list(dict.fromkeys(pairs))


def _pair(model: RobotModel, pair: tuple[str, str]) -> tuple[int, int]:
    """The links that a spring joins; -1 is the base."""
    if isinstance(pair, str) or not np.iterable(pair) or len(tuple(pair)) != 2:
        raise ModelError(f"between: expected pairs such as ('link2', 'base'), got {shown(pair)}")
    names = {link.name: i for i, link in enumerate(model.links)}
    names |= {"base": -1, model.base_link.name: -1}
    for name in pair:
        check_known(f"link of {model.name!r} named", name, names)
    link, other = (names[name] for name in pair)
    if link < 0 or link == other or (other >= 0 and other not in model.paths[link]):
        raise ModelError(
            f"a spring goes from a link to one that carries it, or to the base; "
            f"{pair[1]!r} does not carry {pair[0]!r}"
        )
    return link, other


def _place(position: list[float]) -> str:
    return f"({', '.join(zero(value, 1.0) for value in position)})"
