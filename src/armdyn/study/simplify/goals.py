"""The goals of a design, and which pairs of joints forbid one whatever the links weigh.

Joint j carries joint i, e are their axes, m̃_i > 0 is the mass that joint i carries:

    both revolute       the mean of D_ij over q_i is D_ii (e_i·e_j), and D_ii > 0
    both prismatic      D_ij = m̃_i (e_i·e_j)
    j revolute, i not   q_i² has the coefficient m̃_i |e_j × e_i|² in D_jj
    i prismatic         g_i = -m̃_i (g·e_i), and the momentum p_i of the arm is m̃_i e_i
    i revolute          the angular momentum h_i of an arm without momentum has e_i·h_i = D_ii > 0,
                        more by N J (e_i·a) if its rotor spins about a with the gear ratio N
    j revolute, i not   q_i has the coefficient -m̃_i e_j·(e_i × g) in g_j

What these demand of the axes is seen in random configurations: the products of axes are polynomials
of sines and cosines of the positions, so that one that is not zero everywhere is zero at a random
configuration with probability zero.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, combinations_with_replacement
from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.closed_forms.document import index
from armdyn.errors import LoopError, ModelError, UnknownNameError, check_known, shown
from armdyn.formulations.kinematics import world_frames
from armdyn.formulations.rotors import spins
from armdyn.loops.coordinates import coordinates_of
from armdyn.model import RobotModel

WORDS = (
    "constant",
    "diagonal",
    "decouple=I,J",
    "gravity-balanced",
    "shaking-force",
    "shaking-moment",
)
_FLAGS = {
    "constant": ("constant",),
    "gravity-balanced": ("balanced",),
    "shaking-force": ("forceless",),
    # the moment of an arm with momentum would depend on the point it is taken about
    "shaking-moment": ("forceless", "momentless"),
}
"""What a word sets in `Goals`."""
MOMENTUM, ANGULAR_MOMENTUM = ("px", "py", "pz"), ("hx", "hy", "hz")
"""Components of the momentum and angular momentum of the arm for a unit rate of a joint."""


@dataclass(frozen=True, slots=True)
class Goals:
    """The form that the equations of motion of the new arm shall have."""

    constant: bool = False
    """The mass matrix does not depend on the configuration."""
    zero: frozenset[tuple[int, int]] = frozenset()
    """Pairs of joints i < j, counted from 0, whose element of the mass matrix is always zero."""
    balanced: bool = False
    """Gravity needs no torque in any configuration."""
    forceless: bool = False
    """The centre of mass of the arm never moves, so that motions shake the base by no force."""
    momentless: bool = False
    """Nor by a moment: the angular momentum of the arm is always zero."""
    words: tuple[str, ...] = ()

    def __str__(self) -> str:
        return " + ".join(self.words)

    def elements(self, joints: Sequence[int]) -> Iterator[tuple[str, tuple[int, ...], bool]]:
        """Letter and joints of each element that the goals are about, of these coordinates.

        It is D of a pair i ≤ j, g of a joint, or a component of the momentum p or of the angular
        momentum h of the arm when one joint moves at a rate of 1. True: it shall be constant.
        False: it shall be zero.
        """
        for pair in combinations_with_replacement(joints, 2):
            if pair in self.zero or self.constant:
                yield "D", pair, pair not in self.zero
        letters = [
            *(("g",) if self.balanced else ()),
            *(MOMENTUM if self.forceless else ()),
            *(ANGULAR_MOMENTUM if self.momentless else ()),
        ]
        yield from ((letter, (i,), False) for letter in letters for i in joints)


def element_name(joints: tuple[int, ...], letter: str = "D") -> str:
    """D12 or D1,12 for an element of the mass matrix, g2 for a gravity torque, px1 for p."""
    return letter + index(*(i + 1 for i in joints))


def parse_goals(model: RobotModel, goal: str | Iterable[str]) -> Goals:
    """The goals named by a word, by several words joined with "+", or by a list of words.

    "constant" is about the whole mass matrix, "diagonal" makes all couplings zero, "decouple=1,2"
    that of two joints, by number or name.
    """
    given = listed(goal)
    if given is None:
        raise ModelError(f"goal: expected one or more of {', '.join(WORDS)}, got {shown(goal)}")
    words = [word.strip() for text in given for word in text.split("+")]
    if not any(words):
        raise ModelError(f"no goal was given; give one or more of {', '.join(WORDS)}")
    flags: set[str] = set()
    zero: set[tuple[int, int]] = set()
    for word in words:
        name, _, rest = word.partition("=")
        name = name.strip().lower().replace("_", "-")
        if name in _FLAGS and not rest:
            flags.update(_FLAGS[name])
        elif name == "diagonal" and not rest:
            zero |= set(combinations(model.independent, 2))
        elif name == "decouple":
            zero.add(_pair(model, rest))
        else:
            raise UnknownNameError("goal", word, WORDS)
    _check_designable(model, "forceless" in flags)
    if model.spins and "momentless" not in flags and (zero or "constant" in flags):
        name = next(joint.name for joint in model.joints if joint.rotor.spins)
        raise ModelError(
            f"the rotor of {name!r} of {model.name!r} spins and couples joints, which designs know "
            f"for the goal shaking-moment alone; neglect that with with_rotor({name!r})"
        )
    told = tuple(dict.fromkeys(words))
    return Goals(zero=frozenset(zero), words=told, **dict.fromkeys(flags, True))


def _check_designable(model: RobotModel, forceless: bool) -> None:
    """Refuse robots for which no design is defined."""
    start = f"robot {model.name!r} has"
    if model.loops and (forceless or not coordinates_of(model).is_linear):
        loop = model.loops[0].name
        reason = "; designs without shaking are searched for only where there are no loops"
        if not coordinates_of(model).is_linear:
            reason = (
                ", and designs are searched for only where all loops are parallelograms: elsewhere "
                "the mass matrix is no trigonometric polynomial of the coordinates"
            )
        raise LoopError(f"{start} the loop {loop!r}{reason}", loop=loop)
    if any(joint.mimic is not None for joint in model.joints):
        raise ModelError(
            f"{start} joints that follow others, for which a design is not defined; lock them, or "
            "load the robot without them"
        )
    if model.drives:
        raise ModelError(
            f"{start} drives that turn with several joints, for which a design is not defined; "
            "load it without them, or with_drives([])"
        )
    if model.springs:
        raise ModelError(
            f"{start} springs, which no goal knows; search without them, with_springs([])"
        )
    if forceless and model.reduced:
        raise ModelError(
            f"the inertias of {model.name!r} are a reduced set, which is right in torques but not "
            "in forces on the base; take a robot with the inertias of its links"
        )


def listed(words: Any) -> list[str] | None:
    """A word, or several, as a list; None if they are no words."""
    if isinstance(words, str):
        return [words]
    try:
        found: list[Any] = list(words)
    except TypeError:
        return None
    return found if all(isinstance(word, str) for word in found) else None


def _pair(model: RobotModel, text: str) -> tuple[int, int]:
    """The two joints of a word such as decouple=1,2, from 0."""
    names = [part.strip() for part in text.split(",")]
    if len(names) != 2 or not all(names):
        raise ModelError(
            f"decouple={text}: expected two joints, such as decouple=1,2 or "
            f"decouple={model.joints[0].name},{model.joints[-1].name}"
        )
    known = [joint.name for joint in model.coordinate_joints]
    numbers = [str(i + 1) for i in model.independent]
    for name in names:
        check_known(f"joint of {model.name!r} named", name, [*known, *numbers])
    places = [(known if name in known else numbers).index(name) for name in names]
    i, j = sorted(model.independent[place] for place in places)
    if i == j:
        raise ModelError(
            f"decouple={text}: a joint cannot be decoupled from itself, its own inertia is "
            "positive; name two joints"
        )
    return i, j


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
    frames = world_frames(model, q)
    z, backwards = np.stack(frames.z), np.zeros((len(names), len(q)))
    for spin in spins(model):
        axis, ratio = (
            frames.link(spin.link)[0] @ spin.axis,
            model.driven[spin.place].rotor.gear_ratio,
        )
        for i, turns in spin.ratios:
            backwards[i] -= ratio * turns * np.sum(axis * z[i], axis=-1)
    found = list(_of_pairs(z, names, slides, pairs, goals))
    if goals.balanced:
        down = model.gravity / (np.linalg.norm(model.gravity) or 1.0)
        found += _of_gravity(z, names, slides, pairs, down)
    for i, name in enumerate(names):
        own = element_name((i, i))
        if slides[i] and goals.forceless:
            law = f"p{i + 1} = m̃{i + 1} e{i + 1}"
            reason = (
                f"{name} slides and moves the mass it carries along its axis: that momentum is "
                "never zero, which no counterweight on the arm can change"
            )
            found.append(Obstacle("shaking-force", (i,), law, reason))
        elif not slides[i] and goals.momentless and backwards[i].min() <= VISIBLE_PRODUCT:
            law = f"e{i + 1}·h{i + 1} = {own}"
            reason = (
                f"the angular momentum that {name} gives what it carries, about its own axis, is "
                f"the inertia {own}, which is positive for any bodies: only a further body that "
                "turns the other way can balance it, a rotor with a negative gear_ratio: see "
                "counter_rotors"
            )
            found.append(Obstacle("shaking-moment", (i,), law, reason))
    return tuple(found)


def _of_pairs(
    z: Array, names: list[str], slides: list[bool], pairs: list[tuple[int, int]], goals: Goals
) -> Iterator[Obstacle]:
    """Obstacles in how the axes of two joints lie to each other."""
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
    """Obstacles in how axes lie to gravity."""
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
