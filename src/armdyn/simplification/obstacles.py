"""Which pairs of joints forbid a goal whatever the links weigh.

Joint j carries joint i, e are their axes, m̃_i > 0 is the mass that joint i carries:

    both revolute       the mean of D_ij over q_i is D_ii (e_i·e_j), and D_ii > 0
    both prismatic      D_ij = m̃_i (e_i·e_j)
    j revolute, i not   q_i² has the coefficient m̃_i |e_j × e_i|² in D_jj
    i prismatic         g_i = -m̃_i (g·e_i)
    j revolute, i not   q_i has the coefficient -m̃_i e_j·(e_i × g) in g_j

What these demand of the axes is seen in random configurations: the products of axes are polynomials
of sines and cosines of the positions, so that one that is not zero everywhere is zero at a random
configuration with probability zero.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from armdyn.arrays import Array
from armdyn.formulations.kinematics import world_frames
from armdyn.model import RobotModel
from armdyn.simplification.goals import Goals, element_name

CONFIGURATIONS = 50
"""Random configurations in which the axes are seen."""
VISIBLE_PRODUCT = 1e-9
"""A product of unit vectors above this is not zero."""


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
    axes = _Axes(model)
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
        D, own = element_name((j, i)), element_name((j, j))
        pair = f"the axes of {names[j]} and {names[i]}"
        if axes.slides(i) and not axes.slides(j):
            if goals.constant and not axes.parallel(j, i):
                yield Obstacle(
                    "constant",
                    (j, i),
                    f"{own} = ... + m̃{i + 1} |e{j + 1} × e{i + 1}|² q{i + 1}²",
                    f"{pair} are not parallel: sliding {names[i]} carries its mass away from the "
                    f"axis of {names[j]}, whose inertia {own} grows with the square of q{i + 1}",
                )
            continue
        if axes.slides(j) and not axes.slides(i):
            continue
        if axes.slides(i):
            law = f"{D} = m̃{i + 1} (e{j + 1}·e{i + 1})"
            because = f"{D} is the mass that {names[i]} carries"
        else:
            law = f"mean of {D} over q{i + 1} = {element_name((i, i))} (e{j + 1}·e{i + 1})"
            because = (
                f"on average over q{i + 1}, {D} is the inertia of {names[i]}, which is positive,"
            )
        because += " times the cosine between the axes"
        if (j, i) in goals.zero and not axes.perpendicular(j, i):
            reason = f"{pair} are not perpendicular in every configuration, and {because}"
            yield Obstacle("zero", (j, i), law, f"{reason}: it cannot vanish")
        elif goals.constant and not axes.constant(j, i):
            reason = f"the angle between {pair} changes with the configuration, and {because}"
            yield Obstacle("constant", (j, i), law, f"{reason}: it cannot be constant")


def _of_gravity(axes: "_Axes", names: list[str]) -> Iterator[Obstacle]:
    for i in range(len(names)):
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
    """How the axes of a robot lie to each other and to gravity, over random configurations."""

    def __init__(self, model: RobotModel):
        self.model = model
        q = np.random.default_rng(0).uniform(-np.pi, np.pi, (CONFIGURATIONS, len(model.joints)))
        z = np.stack(world_frames(model, q).z)
        self.cosine = np.einsum("isa,jsa->ijs", z, z)
        down = model.gravity / (np.linalg.norm(model.gravity) or 1.0)
        self.fall = z @ down
        self.swing = np.cross(z[:, None], z) @ down

    def pairs(self) -> Iterator[tuple[int, int]]:
        """Joints j and i where j carries i."""
        for i, path in enumerate(self.model.paths):
            yield from ((j, i) for j in path[:-1])

    def slides(self, i: int) -> bool:
        """Whether joint i slides along its axis and does not turn."""
        return not self.model.joints[i].type.turns

    def perpendicular(self, j: int, i: int) -> bool:
        """Whether e_i·e_j is always zero."""
        return _vanish(self.cosine[j, i])

    def constant(self, j: int, i: int) -> bool:
        """Whether e_i·e_j is the same in every configuration."""
        return _vanish(self.cosine[j, i] - self.cosine[j, i, 0])

    def parallel(self, j: int, i: int) -> bool:
        """Whether (e_i·e_j)² is always one."""
        return _vanish(self.cosine[j, i] ** 2 - 1.0)

    def lifts(self, i: int) -> bool:
        """Whether the axis is ever inclined to the horizontal."""
        return not _vanish(self.fall[i])

    def swings(self, j: int, i: int) -> bool:
        """Whether e_j·(e_i × g) is ever other than zero."""
        return not _vanish(self.swing[j, i])


def _vanish(products: Array) -> bool:
    return float(np.abs(products).max()) <= VISIBLE_PRODUCT
