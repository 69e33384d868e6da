"""`armdyn.spring_balance`: springs that carry the weight of an arm, and what they leave."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from armdyn.arrays import Array, check_number, frozen
from armdyn.errors import ModelError, UnknownNameError, shown
from armdyn.figures import save_picture
from armdyn.formulations.kinematics import world_frames
from armdyn.formulations.springs import spring_torques, spring_vectors
from armdyn.loops.coordinates import coordinates_of
from armdyn.model import RobotModel
from armdyn.model.spring import Spring
from armdyn.robot import Robot, check_robot
from armdyn.sections import Section, Sectioned, zero
from armdyn.simplification.comparison import workspace
from armdyn.simplification.spring_balance import EXACT_BALANCE, BalanceProblem, balance
from armdyn.simplification.spring_picture import draw_balance
from armdyn.simplification.spring_system import gravity_torques, spring_places

CONFIGURATIONS = 64
"""Configurations at which springs are found: four times as many torques as numbers of springs."""


@dataclass(frozen=True, slots=True, eq=False)
class SpringBalance(Sectioned):
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
        force = [
            s.stiffness * np.abs(self.lengths[:, i] - s.free_length).max()
            for i, s in enumerate(self.springs)
        ]
        springs = [
            {
                "link": names[s.link],
                "point": s.point.tolist(),
                "other": names[s.other],
                "anchor": s.anchor.tolist(),
                "stiffness": s.stiffness,
                "free_length": s.free_length,
                "shortest": float(self.lengths[:, i].min()),
                "longest": float(self.lengths[:, i].max()),
                "largest_force": float(force[i]),
            }
            for i, s in enumerate(self.springs)
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
        return (
            Section(f"{robot.model.title or robot.name}: {self.reason}", (), data=self._head()),
            Section("Springs" if springs else "", (ends,), columns, rows, 4, {"springs": springs}),
            self._torque_section(),
        )

    def _head(self) -> dict[str, Any]:
        return {"robot": self.robot.name, "exact": self.exact, "reason": self.reason}

    def _torque_section(self) -> Section:
        model, largest = self.robot.model, float(np.abs(self.gravity).max()) or 1.0
        units = [model.joints[i].type.torque_unit for i in model.independent]
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
            tuple(
                (name, unit, *(zero(float(x), largest) for x in row)) for name, unit, *row in table
            ),
            2,
            {
                "gravity": [
                    dict(zip(keys, (*row[:2], *map(float, row[2:])), strict=True)) for row in table
                ]
            },
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
    distance = _size(model) if reach is None else check_number("reach", reach)
    if length < 0 or distance <= 0:
        raise ModelError(
            "expected a free_length that is not negative and a positive reach, got "
            f"{length:g} and {distance:g}"
        )
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


def _size(model: RobotModel) -> float:
    lengths = [float(np.linalg.norm(joint.placement[:3, 3])) for joint in model.joints]
    heavy = [link.inertia for link in model.links if link.inertia.mass > 0]
    return max([*lengths, *(float(np.linalg.norm(body.com)) for body in heavy)]) or 1.0


def _pairs(model: RobotModel, between: Iterable[tuple[str, str]] | None) -> list[tuple[int, int]]:
    if between is None:
        return [(i, -1) for i in range(len(model.links))]
    if not isinstance(between, Iterable):
        raise ModelError(f"between: expected pairs of links, got {shown(between)}")
    pairs = [_pair(model, pair) for pair in between]
    if not pairs:
        raise ModelError("between: expected at least one pair of links, got none")
    return list(dict.fromkeys(pairs))


def _pair(model: RobotModel, pair: tuple[str, str]) -> tuple[int, int]:
    """The links that a spring joins; -1 is the base."""
    if isinstance(pair, str) or not isinstance(pair, Iterable) or len(tuple(pair)) != 2:
        raise ModelError(f"between: expected pairs such as ('link2', 'base'), got {shown(pair)}")
    names = {link.name: i for i, link in enumerate(model.links)}
    names |= {"base": -1, model.base_link.name: -1}
    for name in pair:
        if name not in names:
            raise UnknownNameError(f"link of {model.name!r} named", name, names)
    link, other = (names[name] for name in pair)
    if link < 0 or link == other or (other >= 0 and other not in model.paths[link]):
        raise ModelError(
            f"a spring goes from a link to one that carries it, or to the base; "
            f"{pair[1]!r} does not carry {pair[0]!r}"
        )
    return link, other


def _place(position: list[float]) -> str:
    return f"({', '.join(zero(value, 1.0) for value in position)})"
