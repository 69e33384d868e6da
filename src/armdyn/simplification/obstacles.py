"""Which pairs of joints forbid a goal whatever the links weigh.

Joint j carries joint i, e are their axes, m̃_i > 0 is the mass that joint i carries:

    both revolute       the mean of D_ij over q_i is D_ii (e_i·e_j), and D_ii > 0
    both prismatic      D_ij = m̃_i (e_i·e_j)
    j revolute, i not   q_i² has the coefficient m̃_i |e_j × e_i|² in D_jj
    i prismatic         g_i = -m̃_i (g·e_i)
    j revolute, i not   q_i has the coefficient -m̃_i e_j·(e_i × g) in g_j

What these demand of the axes is decided exactly: the products of axes are expressions of the joint
positions, with the constant angles of the robot as symbols, and are evaluated over a finite field.
An angle that occurs twice is one symbol; a relation between different angles is not known there, so
that a demand counts as broken only if it is so for the robot's own angles as well.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.canonical.frames import CanonicalLink, CanonicalRobot, canonical
from armdyn.canonical.robot import cos_sin, is_quarter, twist
from armdyn.expr import Graph, Node
from armdyn.expr.evaluate import evaluate, proved_equal
from armdyn.model import RobotModel
from armdyn.simplification.goals import Goals, element_name

_AXES_TOLERANCE = 1e-9
"""What is not zero of a product of unit vectors."""
_ANGLE_DECIMALS = 10
"""Decimals to which two angles are the same."""


@dataclass(frozen=True, slots=True)
class Obstacle:
    """A pair of joints, or one joint and gravity, that forbids a goal."""

    goal: str
    """"constant", "zero" or "gravity-balanced"."""
    joints: tuple[int, ...]
    """The joints concerned, from 0, the carrying one first."""
    law: str
    """The identity that forbids it."""
    reason: str
    """The same in a sentence."""

    def __str__(self) -> str:
        return self.reason


def obstacles(model: RobotModel, goals: Goals) -> tuple[Obstacle, ...]:
    """Everything that forbids the goals by the directions of the axes alone; empty: nothing does.

    A goal without an obstacle may still be out of reach of what is free to change.
    """
    axes = _Axes(canonical(model), model.paths)
    names = [
        f"joint {i + 1}" + (f" ({joint.name})" if joint.name != f"joint{i + 1}" else "")
        for i, joint in enumerate(model.joints)
    ]
    found = [*_of_pairs(axes, names, goals)]
    if goals.balanced:
        found += _of_gravity(axes, names)
    return tuple(found)


def _of_pairs(axes: "_Axes", names: list[str], goals: Goals) -> Iterator[Obstacle]:
    for j, i in axes.pairs():
        J, I = element_name((j, j)), element_name((j, i))
        slides = axes.slides(j), axes.slides(i)
        pair = f"the axes of {names[j]} and {names[i]}"
        if slides == (False, True):
            if goals.constant and not axes.parallel(j, i):
                yield Obstacle(
                    "constant",
                    (j, i),
                    f"{J} = ... + m̃{i + 1} |e{j + 1} × e{i + 1}|² q{i + 1}²",
                    f"{pair} are not parallel: sliding {names[i]} carries its mass away from the "
                    f"axis of {names[j]}, whose inertia {J} grows with the square of q{i + 1}",
                )
            continue
        if slides == (True, False):
            continue
        law = (
            f"{I} = m̃{i + 1} (e{j + 1}·e{i + 1})"
            if slides[0]
            else f"mean of {I} over q{i + 1} = {element_name((i, i))} (e{j + 1}·e{i + 1})"
        )
        because = (
            f"{I} is the mass that {names[i]} carries times the cosine between the axes"
            if slides[0]
            else f"on average over q{i + 1}, {I} is the inertia of {names[i]}, which is positive, "
            "times the cosine between the axes"
        )
        if (j, i) in goals.zero and not axes.perpendicular(j, i):
            yield Obstacle(
                "zero",
                (j, i),
                law,
                f"{pair} are not perpendicular in every configuration, and {because}: it cannot "
                "vanish",
            )
        elif goals.constant and not axes.constant(j, i):
            yield Obstacle(
                "constant",
                (j, i),
                law,
                f"the angle between {pair} changes with the configuration, and {because}: it "
                "cannot be constant",
            )


def _of_gravity(axes: "_Axes", names: list[str]) -> Iterator[Obstacle]:
    for i in range(len(axes.robot.links)):
        if axes.slides(i) and axes.lifts(i):
            yield Obstacle(
                "gravity-balanced",
                (i,),
                f"g{i + 1} = -m̃{i + 1} (g·e{i + 1})",
                f"the axis of {names[i]} is not always horizontal, so that sliding along it lifts "
                "the mass it carries, which no counterweight on the arm can change",
            )
    for j, i in axes.pairs():
        if not axes.slides(j) and axes.slides(i) and axes.swings(j, i):
            yield Obstacle(
                "gravity-balanced",
                (j, i),
                f"g{j + 1} = ... - m̃{i + 1} e{j + 1}·(e{i + 1} × g) q{i + 1}",
                f"sliding {names[i]} moves its mass sideways from the axis of {names[j]}, whose "
                f"gravity torque grows with q{i + 1}",
            )


class _Axes:
    """Products of the axes of a robot as functions of its configuration."""

    def __init__(self, robot: CanonicalRobot, paths: tuple[tuple[int, ...], ...]):
        self.robot, self.graph = robot, Graph()
        self.zero, self.paths = self.graph.number(0), paths

    def pairs(self) -> Iterator[tuple[int, int]]:
        """Joints j and i of which j carries i."""
        for i, path in enumerate(self.paths):
            yield from ((j, i) for j in path[:-1])

    def slides(self, i: int) -> bool:
        """Whether joint i slides along its axis and does not turn."""
        return not self.robot.links[i].type.turns

    def perpendicular(self, j: int, i: int) -> bool:
        """Whether e_i·e_j is always zero."""
        return self._vanishes(self._cosine(j, i, "q"))

    def constant(self, j: int, i: int) -> bool:
        """Whether e_i·e_j is the same for any two configurations q and p."""
        return self._vanishes(self._cosine(j, i, "q") - self._cosine(j, i, "p"))

    def parallel(self, j: int, i: int) -> bool:
        """Whether (e_i·e_j)² is always one."""
        return self._vanishes(self._cosine(j, i, "q") * self._cosine(j, i, "q") - 1)

    def lifts(self, i: int) -> bool:
        """Whether the axis is ever inclined to the horizontal."""
        product: Any = self._gravity(i) @ self._axis(i, "q")
        return not self._vanishes(product)

    def swings(self, j: int, i: int) -> bool:
        """Whether e_j·(e_i × g) is ever other than zero."""
        product: Any = np.cross(self._axis(j, "q"), self._axis(i, "q")) @ self._gravity(i)
        return not self._vanishes(product)

    def _gravity(self, i: int) -> Array:
        """The direction of gravity in the axes that the path of joint i starts from."""
        g = self.robot.links[self.paths[i][0]].gravity
        g = g / (np.linalg.norm(g) or 1.0)
        return np.array([self._symbol("g", v) if v else self.zero for v in g], dtype=object)

    def _cosine(self, j: int, i: int, name: str) -> Node:
        """e_i·e_j, which neither q_j nor what is before it changes."""
        return self._seen(self.paths[i][self.paths[i].index(j) + 1 :], name)[2]

    def _axis(self, i: int, name: str) -> Array:
        """e_i in the axes before the motion of the first joint of its path."""
        return self._seen(self.paths[i], name)

    def _seen(self, path: tuple[int, ...], name: str) -> Array:
        """The axis of the last joint of a path from before the first, q being named `name`."""
        axis = np.array([self.zero, self.zero, self.graph.number(1)], dtype=object)
        for k in reversed(path):
            link = self._symbolic(self.robot.links[k])
            x, y, z = axis
            for c, s in (self._turn(k, name), cos_sin(link.theta)):
                x, y = c * x - s * y, s * x + c * y
            axis = twist(link) @ np.array([x, y, z], dtype=object)
        return axis

    def _turn(self, k: int, name: str) -> tuple[Any, Any]:
        """Cosine and sine of what joint k turns by."""
        if self.slides(k):
            return 1, 0
        q = self.robot.links[k].type.angle(self.graph.input(f"{name}{k + 1}"))
        return q.cos(), self.robot.links[k].sign * q.sin()

    def _symbolic(self, link: CanonicalLink) -> CanonicalLink:
        angles: dict[str, Any] = {
            name: value if is_quarter(value) else self._symbol("angle", value)
            for name in ("alpha", "gamma", "theta")
            for value in (float(getattr(link, name)),)
        }
        return replace(link, **angles)

    def _symbol(self, kind: str, value: float) -> Node:
        """A parameter that two equal numbers share, and two opposite ones but for the sign."""
        name = f"{kind} {abs(value):.{_ANGLE_DECIMALS}f}"
        self.graph.values.setdefault(name, abs(value))
        symbol = self.graph.parameter(name)
        return symbol if value > 0 else -symbol

    def _vanishes(self, product: Node) -> bool:
        if proved_equal([product], [self.zero]):
            return True
        q = np.random.default_rng(0).uniform(-np.pi, np.pi, size=(2, len(self.paths), 50))
        named = {
            f"{name}{k + 1}": q[a, k] for a, name in enumerate("qp") for k in range(q.shape[1])
        }
        return float(np.abs(evaluate([product], named)[0]).max()) <= _AXES_TOLERANCE
