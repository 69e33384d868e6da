"""Joint torques along a trajectory, split into their terms, and what the joints carry."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from armdyn.arrays import Array, check_joint_vector
from armdyn.errors import TrajectoryError, counted
from armdyn.forks import cached_property
from armdyn.formulations.spatial import rotate, rotate_back
from armdyn.io.csv.table import numbered_columns
from armdyn.io.csv.trajectory import SampledMotion
from armdyn.mechanics.base_state import BaseState
from armdyn.model import RobotModel
from armdyn.model.friction import FRICTION_ROWS
from armdyn.quantities.free_base import BASE, POSE
from armdyn.quantities.request import Formulation
from armdyn.report.figures import (
    COLOURS,
    INK,
    draw_head,
    draw_limit,
    panel_grid,
    panels_of_joints,
    peak_words,
    thinned,
    time_axis,
)
from armdyn.report.panels import handle_row, sheet
from armdyn.report.result import DrawnResult, Section, parts_of, unrounded, zero
from armdyn.robot import Robot
from armdyn.simulation.floating import followed
from armdyn.simulation.forces import GivenBase, base_rows, floating_start, motion_of_rows
from armdyn.simulation.hand import Hand, base_of, base_section, rows_of_base
from armdyn.simulation.limits import Excess, excess_section, excesses
from armdyn.study.states import Over, motion_of

NAMES = ("fx", "fy", "fz", "nx", "ny", "nz")
PARTS = ("axial", "radial", "tilting", "twisting")
"""Force along the axis of the joint and across it, moment across the axis and about it."""
GROUND = "ground"
"""What carries the base, in the place of a joint; its axis is the z axis of the base."""
LINE_COLOURS = (INK, "#0072B2", "#D55E00"), (INK, "#009E73", "#CC79A7")
"""Of the magnitudes of force and moment, and of their parts."""


@dataclass(frozen=True, slots=True, eq=False)
class Reactions(DrawnResult):
    """Force and moment that base and N links receive at m instants: rows 0, and 1 to N.

    The base receives them from the ground, a link from its parent.
    """

    title: str
    """What people call the robot."""
    t: Array
    """Times, (m,) [s]."""
    links: tuple[str, ...]
    joints: tuple[str, ...]
    world: Array
    """Force and moment about joint or base, world axes, (m, 1 + N, 6) [N, N m]."""
    parts: Array
    """Those of `PARTS`, (m, 1 + N, 4) [N, N m]; radial and tilting are magnitudes."""

    @classmethod
    def of(cls, model: RobotModel, t: Array, world: Array, local: Array) -> Reactions:
        """From the reactions with the base, in world axes and in those of each joint."""
        axes = np.array([(0.0, 0.0, 1.0), *(joint.axis for joint in model.joints)])
        both = local.reshape(*local.shape[:-1], 2, 3)
        along = np.einsum("mnkx,nx->mnk", both, axes)
        across = np.linalg.norm(both - along[..., None] * axes[:, None], axis=-1)
        parts = np.stack([along[..., 0], across[..., 0], across[..., 1], along[..., 1]], -1)
        links = (model.base_link.name, *(link.name for link in model.links))
        joints = (GROUND, *(joint.name for joint in model.joints))
        return cls(model.title or model.name, t, links, joints, world, parts)

    @property
    def sizes(self) -> Array:
        """Magnitudes of force and moment, (m, 1 + N, 2)."""
        return np.linalg.norm(self.world.reshape(*self.world.shape[:-1], 2, 3), axis=-1)

    def columns(self) -> dict[str, Array]:
        """fx0, fy0, ..., nz0, axial0, ..., twisting0, fx1, ...: 0 is the base, 1 the first link."""
        columns = np.concatenate([self.world, self.parts], axis=-1)
        return {
            f"{name}{i}": columns[:, i, k]
            for i in range(len(self.links))
            for k, name in enumerate((*NAMES, *PARTS))
        }

    def summary(self) -> list[dict[str, Any]]:
        """For base and links the largest of every magnitude, with its time, as plain data."""
        sizes = np.concatenate([self.sizes, np.abs(self.parts)], axis=-1)
        names = ("force", "moment", *PARTS)
        return [
            {"link": link, "joint": joint}
            | {name: _peak(self.t, sizes[:, i, k]) for k, name in enumerate(names)}
            for i, (link, joint) in enumerate(zip(self.links, self.joints, strict=True))
        ]

    def sections(self) -> tuple[Section, ...]:
        """The largest of every magnitude on base and links."""
        parts = (*(("force", "peak"), ("force", "peak_time"), ("axial", "peak")),
                 *(("radial", "peak"), ("moment", "peak"), ("moment", "peak_time")),
                 *(("tilting", "peak"), ("twisting", "peak")))  # fmt: skip
        links = self.summary()
        columns = ("link", "force [N]", "at [s]", "axial", "radial", "moment [N·m]", "at [s]")
        told = (
            "largest force and moment on each link from its parent, the moment about its joint, "
            "and on the base (first row) from the ground, the moment about its origin; axial: "
            "along the axis of the joint (z of the base), radial and tilting: across it, "
            "twisting: about it"
        )
        rows = [
            (link["link"], *(f"{link[part][name]:.3f}" for part, name in parts)) for link in links
        ]
        title = "What ground and joints carry"
        return (Section(title, (told,), (*columns, "tilting", "twisting"), rows),)

    def figure(self) -> Any:
        """Force and moment on ground and joints, a row each."""
        count = len(self.links)
        pairs = 1 if count <= 10 else 2 if count <= 40 else 3
        height = 1.5 + 1.65 * -(-count // pairs)
        subtitle = (
            "on each link from its parent; axial: along the axis of the joint (of the ground: z of "
            "the base), radial and tilting: across it, twisting: about it"
        )
        title = f"{self.title}: what ground and joints carry"
        figure = sheet(9.8 * pairs, height, title, subtitle, 0.085 / pairs, 0.24)
        room = {"left": 0.085 / pairs, "right": 1 - 0.015 / pairs, "hspace": 0.42, "wspace": 0.19}
        room |= {"top": 1 - 1.25 / height, "bottom": 0.5 / height}
        panels = panel_grid(figure, 2 * count, 2 * pairs, room, sharex=True)
        t, sizes = self.t, self.sizes
        for place, panel in enumerate(panels):
            i, k = divmod(place, 2)
            title, unit = ("moment", "N·m") if k else (f"{self.joints[i]}: force", "N")
            two = slice(2 * k, 2 * k + 2)
            lines = sizes[:, i, k], *self.parts[:, i, two].T
            names = ("magnitude", *PARTS[two])
            for name, values, colour in zip(names, lines, LINE_COLOURS[k], strict=True):
                width, front = (2.0, 2) if colour == INK else (1.3, 3)
                look = {"color": colour, "linewidth": width, "zorder": front}
                panel.plot(*thinned(t, values), label=name, **look)
            time_axis(panel, t, last=i + pairs >= count)
            _name_peak(panel, title, t, lines[0], unit)
        for panel in panels[:2]:
            handle_row(figure, panel.get_position().x0, 0.78, panel.get_legend_handles_labels()[0])
        figure.align_ylabels(panels)
        return figure


def _name_peak(
    panel: Any, title: str, t: Array, values: Array, unit: str, limit: float = np.inf
) -> None:
    """Mark the value of largest magnitude of a line, and tell it above the panel."""
    peak = int(np.abs(values).argmax())
    panel.plot(t[peak], values[peak], "o", color=INK, markersize=4, zorder=4)
    panel.set_title(title, fontsize=10, weight="bold", color=INK, pad=5)
    words = peak_words(float(values[peak]), unit, limit)
    words["label"] += f" at {t[peak]:.3g} s"
    panel.set_title(loc="right", **words)
    panel.set_ylabel(f"[{unit}]")


CHUNK = 2048
"""Instants computed at once, so that the arrays of every formulation stay small."""


@dataclass(frozen=True, eq=False)
class TorqueReport(DrawnResult):
    """The torques of a robot along a trajectory of m instants."""

    robot: Robot = field(repr=False)
    trajectory: SampledMotion
    total: Array
    """What the actuators give, shape (m, n) [N m or N]."""
    terms: dict[str, Array]
    """The terms by name, each (m, n); they add up to the total."""
    formulation: str
    friction: bool
    """Whether friction is in the total."""
    excesses: tuple[Excess, ...] = ()
    """Where the motion or the torque goes beyond a limit of a joint."""
    reactions: Reactions | None = None
    """What ground and joints carry, if asked."""
    floating: Array | None = None
    """Pose, twist and acceleration of a base that nothing holds, (m, 24); None: it is held."""

    def __repr__(self) -> str:
        rows, n = self.total.shape
        return (
            f"<TorqueReport of {self.robot.name!r}, {counted(rows, 'instant')}, "
            f"{counted(n, 'joint')}>"
        )

    @property
    def joints(self) -> tuple[str, ...]:
        """Names of the joints."""
        return self.robot.joint_names

    @property
    def units(self) -> tuple[str, ...]:
        """Of the torques: "N·m" for a joint that turns, "N" for one that slides."""
        return tuple(joint.type.torque_unit for joint in self.robot.model.coordinate_joints)

    @property
    def limits(self) -> Array:
        """Highest torque of each joint, (n,) [N m or N]; infinite where it is not known."""
        return self.robot.effort_limits

    @cached_property
    def hand(self) -> Hand:
        """Pose, velocity and acceleration of the tool."""
        motion = self.trajectory.q, self.trajectory.qd, self.trajectory.qdd
        return Hand.of(self.robot, *motion, self.floating)

    @property
    def acting(self) -> dict[str, Array]:
        """The terms that are more than rounding somewhere."""
        rounding = 1e-12 * np.abs(self.total).max()
        return {name: v for name, v in self.terms.items() if np.abs(v).max() > rounding}

    @property
    def residual(self) -> float:
        """Largest difference between the total and the sum of the terms [N m or N]."""
        return float(np.abs(self.total - sum(self.terms.values())).max())

    def columns(self) -> dict[str, Array]:
        """The table t, tau1..n, inertial1..n, ..., the hand, and reactions, column by column."""
        table = {"t": self.trajectory.t} | numbered_columns({"tau": self.total, **self.terms})
        table |= self.hand.columns()
        if self.floating is not None:
            table |= Hand.of_base(self.floating).columns("base")
        return table if self.reactions is None else table | self.reactions.columns()

    def figure(self) -> Any:
        """The torques along the trajectory, a panel a joint."""
        t = self.trajectory.t
        figure, panels = panels_of_joints(len(self.joints), t)
        for i, panel in enumerate(panels):
            total = self.total[:, i]
            for name, values in self.acting.items():
                look = {"color": COLOURS[name], "linewidth": 1.2, "label": name}
                panel.plot(*thinned(t, values[:, i]), **look)
            panel.plot(*thinned(t, total), color=INK, linewidth=2.0, label="total", zorder=3)
            limit = draw_limit(panel, t, total[None], self.limits[i])
            if limit is not None:
                limit.set_label("limit")
            _name_peak(panel, self.joints[i], t, total, self.units[i], self.limits[i])
        source = Path(self.trajectory.source).name
        along = f"along {source}, " if source else ""
        friction = "" if self.friction else ", without friction"
        title = f"{self.robot.model.title or self.robot.name}: torque of each joint"
        subtitle = f"{along}{t[-1] - t[0]:.4g} s, split into its terms{friction}"
        named = (panel.get_legend_handles_labels() for panel in panels)
        pairs = [(label, line) for handles in named for line, label in zip(*handles, strict=True)]
        lines = dict(sorted(pairs, key=lambda pair: {"total": 0, "limit": 2}.get(pair[0], 1)))
        draw_head(figure, panels[0].get_position().x0, title, subtitle, lines)
        return figure

    def sections(self) -> tuple[Section, ...]:
        """Peak and RMS of every joint and term, limits that are exceeded, the hand, reactions."""
        t, joints = self.trajectory.t, self._joints()
        one = len(t) == 1
        velocity = self.hand.velocity
        acceleration = self.hand.acceleration
        file = self.trajectory.source or "the motion"
        along = f"along {file}: {counted(len(t), 'instant')}, {np.ptp(t):.6g} s"
        head = f"{self.robot.name} {'at one state' if one else along}, by {self.formulation}"
        move = {"file": self.trajectory.source, "rows": len(t), "duration": np.ptp(t)}
        hand = {
            f"{part}_{name}": _peak(t, np.linalg.norm(twist[:, columns], axis=-1))
            for name, twist in (("speed", velocity), ("acceleration", acceleration))
            for part, columns in (("linear", slice(3)), ("angular", slice(3, 6)))
        }
        fastest = "; ".join(
            f"{fast['peak']:.4g} {unit} at {fast['peak_time']:.3f} s"
            for fast, unit in zip(hand.values(), ("m/s", "rad/s", "m/s²", "rad/s²"), strict=True)
        )
        data = {
            "robot": self.robot.name,
            **parts_of(self, "formulation", "friction", "residual"),
            "trajectory": {**move, "computed": self.trajectory.computed},
            "excesses": [excess.data() for excess in self.excesses],
            "joints": joints,
            "hand": hand,
            "reactions": [] if self.reactions is None else self.reactions.summary(),
        }
        note = self.trajectory.note
        return (
            Section(
                head + ("" if self.friction else ", without friction"),
                (f"note: {note}",) if note else (),
                data=data,
            ),
            excess_section(self.excesses),
            (_state_section if one else _motion_section)(joints, list(self.acting)),
            Section("" if one else "Hand", (f"the hand at its fastest: {fastest}",)),
            base_section(self.floating),
            *(() if self.reactions is None else self.reactions.sections()),
        )

    def _joints(self) -> list[dict[str, Any]]:
        """Each joint with the extremes of its torque and of its terms."""
        t = self.trajectory.t
        peaks = np.abs(self.total).argmax(0)
        return [
            {
                "name": name,
                "unit": self.units[i],
                "limit": self.limits[i] if np.isfinite(self.limits[i]) else None,
                "peak_time": t[peaks[i]],
                **_extremes(t, self.total[:, i]),
                "terms": {term: _extremes(t, v[:, i]) for term, v in self.terms.items()},
            }
            for i, name in enumerate(self.joints)
        ]


def _motion_section(joints: list[dict[str, Any]], terms: list[str]) -> Section:
    """The torques of a motion: two rows a joint."""
    limited = any(joint["limit"] for joint in joints)
    rows = list[tuple[str, ...]]()
    for joint in joints:
        parts = [joint, *(joint["terms"][term] for term in terms)]
        # four digits of the largest number, six decimals at most
        digits = next((d for d in range(1, 6) if abs(joint["peak"]) >= 10.0 ** (3 - d)), 6)
        peak, *peaks = (f"{part['peak']:z.{digits}f}" for part in parts)
        mean, *means = (f"{part['rms']:z.{digits}f}" for part in parts)
        limit, blank = ([_limit(joint)], [""]) if limited else ([], [])
        rows.append((joint["name"], "peak", peak, *limit, *peaks, f"{joint['peak_time']:.3f}"))
        rows.append((f"  {joint['unit']}", "RMS", mean, *blank, *means, ""))
    columns = ("joint", "", "total", *["limit"] * limited, *terms, "at [s]")
    told = "peak: the value of largest magnitude, each term at its own time"
    return Section("Torques", (told,), columns, rows, 2)


def _state_section(joints: list[dict[str, Any]], terms: list[str]) -> Section:
    """The torques of one state: each is its own peak."""
    limited = any(x["limit"] for x in joints)
    largest = max(abs(x["peak"]) for x in joints)
    rows = [
        (
            *(joint["name"], joint["unit"], f"{unrounded(joint['peak'], largest):.6g}"),
            *([_limit(joint)] if limited else []),
            *(
                zero(unrounded(joint["terms"][term]["peak"], largest), abs(joint["peak"]))
                for term in terms
            ),
        )
        for joint in joints
    ]
    columns = ("joint", "", "torque", *["limit"] * limited, *terms)
    return Section("Torques", (), columns, rows, 2)


def _limit(joint: dict[str, Any]) -> str:
    return f"{joint['limit']:.6g}" if joint["limit"] else "none"


def torque_report(
    robot: Robot,
    over: Over,
    *,
    friction: bool = True,
    formulation: Formulation | None = None,
    reactions: bool = False,
    external_wrench: ArrayLike | None = None,
    wrench_link: str = "tool",
    wrench_frame: str = "world",
    base_motion: GivenBase | None = None,
    base: BaseState | None = None,
    progress: Callable[[int], None] | None = None,
) -> TorqueReport:
    """The torques that drive a robot along a trajectory, and their terms.

    Args:
        robot: The robot.
        over: A motion with times, as in `armdyn.terms`.
        friction: Whether friction is in the total.
        formulation: The method that gives the total; the terms are always those of the ledger.
        reactions: Whether force and moment in each joint are computed, and drawn, too.
        external_wrench: Of the environment, (6,) or (m, 6) [N, N m]; None: that of the trajectory.
        wrench_link: Link (or "tool") at whose origin the wrench acts.
        wrench_frame: Axes of the wrench: "world", "tool" or the name of a link.
        base_motion: As in `armdyn.simulate`, or a BaseMotion with a sample for each instant.
        base: Where a base that floats starts, whose momentum says how it follows the joints; None:
            where the trajectory has it.
        progress: Called with the number of instants computed since the last call.
    """
    trajectory = motion_of(robot, over)
    rows, n = trajectory.q.shape
    begins, floating = _start(robot, trajectory, base, base_motion), None
    links = 1 + len(robot.model.links)
    wrench, total = _wrench(trajectory, external_wrench), np.empty((rows, n))
    if begins is None and trajectory.base is None:
        moving = base_rows(robot, base_motion, trajectory.t)
    else:
        robot = Robot(replace(robot.model, floating=False), cache=robot.cache)
        floating = _flight(robot, trajectory, begins, wrench, wrench_link, wrench_frame)
        moving = floating[:, FELT]
    carried = np.empty((2 if reactions else 0, rows, links, 6))
    terms: dict[str, Array] = {}
    for start in range(0, rows, CHUNK):
        part = slice(start, start + CHUNK)
        state = trajectory.q[part], trajectory.qd[part], trajectory.qdd[part]
        on: dict[str, Any] = {"wrench_link": wrench_link, "wrench_frame": wrench_frame}
        on |= {} if wrench is None else {"external_wrench": wrench[part]}
        led = {} if moving is None else {"base_motion": motion_of_rows(moving[part])}
        torques = partial(robot.inverse_dynamics, *state, friction=friction)
        total[part] = torques(formulation=formulation, **(on | led))
        afloat = None if floating is None else floating[part]
        found = _terms(robot, state, torques, total[part], on, led, afloat)
        for name, values in found.items():
            kept = terms.setdefault(name, np.zeros((rows, n)))
            # untouched zeros take no memory
            if values.any() and (friction or name not in FRICTION_ROWS):
                kept[part] = values
        for axes, frame in zip(carried, ("world", "joint"), strict=False):
            both = robot.reactions(*state, frame=frame, base_wrench=True, **(on | led))
            axes[part] = both[..., :links, :]  # those of cut joints come behind
        if progress is not None:
            progress(len(state[0]))
    return TorqueReport(
        robot,
        trajectory,
        total,
        terms,
        formulation or "minimal (compiled)",
        friction,
        excesses(robot.model, trajectory.t, trajectory.q, trajectory.qd, total),
        Reactions.of(robot.model, trajectory.t, *carried) if reactions else None,
        floating,
    )


def _terms(
    robot: Robot,
    state: tuple[Array, Array, Array],
    torques: Callable[..., Array],
    total: Array,
    on: dict[str, Any],
    led: Mapping[str, Any],
    floating: Array | None,
) -> dict[str, Array]:
    """The terms of torques of an arm with a wrench `on` it, whose base may be `led` or float."""
    if floating is not None:
        (q, qd, qdd), (base, a) = state, base_of(floating)
        terms = robot.free_base.ledger(base, q, qd, a, qdd).terms
        return {**terms, "external": total - torques(**led)}
    moved = {"base": total - torques(**on)} if led else {}
    return {**robot.ledger(*state, **on).terms, **moved}


FELT = [*range(9), *range(15, 18), *range(21, 24), *range(18, 21)]
"""Where the numbers of `BaseMotion.vector` are in the rows of a base that floats."""


def _flight(
    robot: Robot,
    trajectory: SampledMotion,
    start: BaseState | None,
    wrench: Array | None,
    link: str,
    frame: str,
) -> Array:
    """Pose, twist and acceleration of a base that nothing holds, along a motion, (m, 24)."""
    free, t, motion = robot.free_base, trajectory.t, (trajectory.q, trajectory.qd, trajectory.qdd)

    def load(now: float | Array, base: BaseState, q: Array) -> Array:
        if wrench is None:
            return np.zeros(BASE)
        pull = np.stack([np.interp(now, t, column) for column in wrench.T], -1)
        if frame != "world":
            R = free.forward_kinematics(base, q, frame)[..., :3, :3]
            pull = np.concatenate([rotate(R, pull[..., :3]), rotate(R, pull[..., 3:])], -1)
        return rotate_back(free.jacobian(base, q, link)[..., :BASE], pull)

    if trajectory.base is not None:
        base = BaseState.of(trajectory.base[:, :POSE], trajectory.base[:, POSE:])
    else:
        base = followed(robot, trajectory, start or free.standing, load)
    a, _ = free.inverse_dynamics(base, *motion, load(t, base, trajectory.q), friction=False)
    return rows_of_base(base, a)


def _start(
    robot: Robot, trajectory: SampledMotion, base: BaseState | None, motion: GivenBase | None
) -> BaseState | None:
    """Where a base that floats starts, unless the trajectory has it; None if it is held."""
    if trajectory.base is not None and (base is not None or motion is not None):
        raise _twice(trajectory, "base", "base_x to base_wz")
    return floating_start(robot, base, motion)


def _twice(trajectory: SampledMotion, what: str, columns: str) -> TrajectoryError:
    return TrajectoryError(
        f"{trajectory.source or 'the trajectory'} has a {what} already, in the columns {columns}; "
        "leave out the other one"
    )


def _wrench(trajectory: SampledMotion, given: ArrayLike | None) -> Array | None:
    """The wrench at each instant, (m, 6); None if there is none."""
    if given is None:
        return trajectory.wrench
    if trajectory.wrench is not None:
        raise _twice(trajectory, "wrench", "fx to nz")
    wrench = check_joint_vector("external_wrench", given, 6, "components (force, moment)")
    if wrench.shape not in ((6,), (len(trajectory), 6)) or not np.isfinite(wrench).all():
        raise TrajectoryError(
            f"external_wrench: expected 6 finite numbers, or 6 for each of the {len(trajectory)} "
            f"instants, got shape {wrench.shape}"
        )
    return np.broadcast_to(wrench, (len(trajectory), 6))


def _peak(t: Array, sizes: Array) -> dict[str, float]:
    """The largest size, and when it is reached."""
    k = sizes.argmax()
    return {"peak": float(sizes[k]), "peak_time": float(t[k])}


def _extremes(t: Array, values: Array) -> dict[str, float]:
    """The value of largest magnitude, and the root of the mean square over time."""
    peak = float(values[np.abs(values).argmax()])
    if len(t) == 1:
        return {"peak": peak, "rms": abs(peak)}
    square = np.square(values)
    integral = 0.5 * (square[1:] + square[:-1]) @ np.diff(t)
    return {"peak": peak, "rms": float(np.sqrt(integral / (t[-1] - t[0])))}
