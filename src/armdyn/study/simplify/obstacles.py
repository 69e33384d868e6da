"""Which pairs of joints forbid a goal whatever the links weigh.

Joint j carries joint i, e are their axes, m̃_i > 0 is the mass that joint i carries:

    both revolute       the mean of D_ij over q_i is D_ii (e_i·e_j), and D_ii > 0
    both prismatic      D_ij = m̃_i (e_i·e_j)
    j revolute, i not   q_i² has the coefficient m̃_i |e_j × e_i|² in D_jj
    i prismatic         g_i = -m̃_i (g·e_i), and the momentum p_i of the arm is m̃_i e_i
    i revolute          the angular momentum h_i of an arm without momentum has e_i·h_i = D_ii > 0
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
from armdyn.study.simplify.goals import Goals, element_name

CONFIGURATIONS = 50
"""Random configurations in which the axes are seen."""
VISIBLE_PRODUCT = 1e-9
"""A product of unit vectors above this is not zero."""


@dataclass(frozen=True, slots=True)
class Obstacle:
    """A pair of joints, or one joint and gravity, that forbids a goal."""

    goal: str
    """"constant", "zero", "gravity-balanced", "shaking-force" or "shaking-moment"."""
    joints: tuple[int, ...]
    """The joints concerned, from 0, the carrying one first."""
    law: str
    """The identity that forbids it."""
    reason: str

    def __str__(self) -> str:
        return self.reason


def obstacles(model: RobotModel, goals: Goals) -> tuple[Obstacle, ...]:
    """Everything that forbids the goals by the directions of the axes alone; empty: nothing does.

    A goal without an obstacle may still be out of reach of what is free to change. Of loops none
    is known: with passive joints that follow, these identities do not hold.
    """
    if model.loops:
        return ()
    given = enumerate((joint.name for joint in model.joints), start=1)
    names = [f"joint {i}" + (f" ({x})" if x != f"joint{i}" else "") for i, x in given]
    slides = [not joint.type.turns for joint in model.joints]
    pairs = [(j, i) for i, path in enumerate(model.paths) for j in path[:-1]]
    q = np.random.default_rng(0).uniform(-np.pi, np.pi, (CONFIGURATIONS, len(names)))
    z = np.stack(world_frames(model, q).z)
    found = list(_of_pairs(z, names, slides, pairs, goals))
    if goals.balanced:
        down = model.gravity / (np.linalg.norm(model.gravity) or 1.0)
        found += _of_gravity(z, names, slides, pairs, down)
    for i, name in enumerate(names):
        if slides[i] and goals.forceless:
            found.append(_momentum_of_slide(i, name))
        elif not slides[i] and goals.momentless:
            found.append(_angular_momentum(i, name))
    return tuple(found)


def _momentum_of_slide(i: int, name: str) -> Obstacle:
    return Obstacle(
        "shaking-force",
        (i,),
        f"p{i + 1} = m̃{i + 1} e{i + 1}",
        f"{name} slides and moves the mass it carries along its axis: that momentum is never "
        "zero, which no counterweight on the arm can change",
    )


def _angular_momentum(i: int, name: str) -> Obstacle:
    return Obstacle(
        "shaking-moment",
        (i,),
        f"e{i + 1}·h{i + 1} = {element_name((i, i))}",
        f"the angular momentum that {name} gives what it carries, about its own axis, is the "
        f"inertia {element_name((i, i))}, which is positive for any bodies: only a further body "
        "that turns the other way can balance it",
    )


def _of_pairs(
    z: Array, names: list[str], slides: list[bool], pairs: list[tuple[int, int]], goals: Goals
) -> Iterator[Obstacle]:
    for j, i in pairs:
        cosine = np.sum(z[j] * z[i], axis=1)
        D, own = element_name((j, i)), element_name((j, j))
        pair = f"the axes of {names[j]} and {names[i]}"
        if slides[i] and not slides[j]:
            if goals.constant and not _vanishes(cosine**2 - 1.0):
                yield Obstacle(
                    "constant",
                    (j, i),
                    f"{own} = ... + m̃{i + 1} |e{j + 1} × e{i + 1}|² q{i + 1}²",
                    f"{pair} are not parallel: sliding {names[i]} carries its mass away from the "
                    f"axis of {names[j]}, whose inertia {own} grows with the square of q{i + 1}",
                )
            continue
        if slides[j] and not slides[i]:
            continue
        if slides[i]:
            law = f"{D} = m̃{i + 1} (e{j + 1}·e{i + 1})"
            because = f"{D} is the mass that {names[i]} carries"
        else:
            law = f"mean of {D} over q{i + 1} = {element_name((i, i))} (e{j + 1}·e{i + 1})"
            because = (
                f"on average over q{i + 1}, {D} is the inertia of {names[i]}, which is positive,"
            )
        because += " times the cosine between the axes"
        if (j, i) in goals.zero and not _vanishes(cosine):
            reason = f"{pair} are not perpendicular in every configuration, and {because}"
            yield Obstacle("zero", (j, i), law, f"{reason}: it cannot vanish")
        elif goals.constant and not _vanishes(cosine - cosine[0]):
            reason = f"the angle between {pair} changes with the configuration, and {because}"
            yield Obstacle("constant", (j, i), law, f"{reason}: it cannot be constant")


def _of_gravity(
    z: Array, names: list[str], slides: list[bool], pairs: list[tuple[int, int]], down: Array
) -> Iterator[Obstacle]:
    for i, name in enumerate(names):
        if slides[i] and not _vanishes(z[i] @ down):
            yield Obstacle(
                "gravity-balanced",
                (i,),
                f"g{i + 1} = -m̃{i + 1} (g·e{i + 1})",
                f"the axis of {name} is not always horizontal, so that sliding along it lifts "
                "the mass it carries, which no counterweight on the arm can change",
            )
    for j, i in pairs:
        if not slides[j] and slides[i] and not _vanishes(np.cross(z[j], z[i]) @ down):
            yield Obstacle(
                "gravity-balanced",
                (j, i),
                f"g{j + 1} = ... - m̃{i + 1} e{j + 1}·(e{i + 1} × g) q{i + 1}",
                f"sliding {names[i]} moves its mass sideways from the axis of {names[j]}, whose "
                f"gravity torque grows with q{i + 1}",
            )


def _vanishes(products: Array) -> bool:
    return float(np.abs(products).max()) <= VISIBLE_PRODUCT
