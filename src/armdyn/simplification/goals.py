"""The goals of a design."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, combinations_with_replacement
from typing import Any

from armdyn.equations.document import index
from armdyn.errors import LoopError, ModelError, UnknownNameError, shown
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
    constant = balanced = forceless = momentless = False
    zero: set[tuple[int, int]] = set()
    for word in words:
        name, _, rest = word.partition("=")
        match name.strip().lower():
            case "constant" if not rest:
                constant = True
            case "diagonal" if not rest:
                zero |= set(combinations(model.independent, 2))
            case "gravity-balanced" | "gravity_balanced" if not rest:
                balanced = True
            case "shaking-force" | "shaking_force" if not rest:
                forceless = True
            case "shaking-moment" | "shaking_moment" if not rest:
                # of an arm with momentum it would depend on the point it is taken about
                forceless = momentless = True
            case "decouple":
                zero.add(_pair(model, rest))
            case _:
                raise UnknownNameError("goal", word, WORDS)
    _check_designable(model, forceless)
    told = tuple(dict.fromkeys(words))
    return Goals(constant, frozenset(zero), balanced, forceless, momentless, told)


def _check_designable(model: RobotModel, forceless: bool) -> None:
    _check_loops(model, forceless)
    if any(joint.mimic is not None for joint in model.joints):
        raise ModelError(
            f"robot {model.name!r} has joints that follow others, for which a design is not "
            "defined; lock them, or load the robot without them"
        )
    if model.drives:
        raise ModelError(
            f"robot {model.name!r} has drives that turn with several joints, for which a design is "
            "not defined; load it without them, or with_drives([])"
        )
    if model.springs:
        raise ModelError(
            f"robot {model.name!r} has springs, which no goal knows; search without them, "
            "with_springs([])"
        )
    if forceless and model.reduced:
        raise ModelError(
            f"the inertias of {model.name!r} are a reduced set, which is right in torques but not "
            "in forces on the base; take a robot with the inertias of its links"
        )


def _check_loops(model: RobotModel, forceless: bool) -> None:
    if not model.loops:
        return
    loop = model.loops[0]
    if not coordinates_of(model).is_linear:
        raise LoopError(
            f"robot {model.name!r} has the loop {loop.name!r}, and designs are searched for only "
            "where all loops are parallelograms: elsewhere the mass matrix is no trigonometric "
            "polynomial of the coordinates",
            loop=loop.name,
        )
    if forceless:
        raise LoopError(
            f"robot {model.name!r} has the loop {loop.name!r}; designs without shaking are "
            "searched for only where there are no loops",
            loop=loop.name,
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
    names = [part.strip() for part in text.split(",")]
    if len(names) != 2 or not all(names):
        raise ModelError(
            f"decouple={text}: expected two joints, such as decouple=1,2 or "
            f"decouple={model.joints[0].name},{model.joints[-1].name}"
        )
    known = [model.joints[i].name for i in model.independent]
    numbers = [str(i + 1) for i in model.independent]
    for name in names:
        if name not in known and name not in numbers:
            raise UnknownNameError(f"joint of {model.name!r} named", name, [*known, *numbers])
    places = [(known if name in known else numbers).index(name) for name in names]
    i, j = sorted(model.independent[place] for place in places)
    if i == j:
        raise ModelError(
            f"decouple={text}: a joint cannot be decoupled from itself, its own inertia is "
            "positive; name two joints"
        )
    return i, j
