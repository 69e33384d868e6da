"""What a design may change: numbers of links and lengths, with bounds and weights.

A number is named by its symbol (m2, x2, Ixx3, a1, d2; see `armdyn.structure.parameters`) or by a
word: LINK.mass, LINK.com, LINK.com.x, LINK.inertia, LINK.inertia.xx, LINK.length, LINK.offset,
where LINK is link1, link2, ..., the name of a link or of its joint, or * for all of them.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from armdyn.arrays import Array, check_number
from armdyn.canonical.frames import CanonicalRobot, canonical
from armdyn.errors import ModelError, UnknownNameError
from armdyn.model import RobotModel
from armdyn.simplification.goals import listed
from armdyn.simplification.lengths import Length, free_lengths, places
from armdyn.structure.parameters import ENTRIES

NUMBERS = ("m", "x", "y", "z", *(f"I{name}" for name, _, _ in ENTRIES))
"""The ten numbers of a link: mass, centre of mass, tensor about the centre of mass."""
DEFAULT = ("*.com", "*.inertia")
"""What may change if nothing is said."""

_PARTS = {
    "mass": (0,),
    "com": (1, 2, 3),
    **{f"com.{axis}": (k,) for k, axis in enumerate("xyz", start=1)},
    "inertia": tuple(range(4, 10)),
    **{f"inertia.{name}": (k,) for k, (name, _, _) in enumerate(ENTRIES, start=4)},
}

Bounds = Mapping[str, tuple[float | None, float | None]]


@dataclass(frozen=True, slots=True, eq=False)
class Free:
    """What may change."""

    numbers: Array
    """Whether each of the ten numbers of each link may change, shape (n, 10)."""
    lengths: tuple[Length, ...] = ()
    bounds: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """Lowest and highest value by symbol, of inertial numbers."""
    weights: Mapping[str, float] = field(default_factory=dict)
    """What multiplies the squared change, by symbol; 1 for the others."""

    @property
    def symbols(self) -> tuple[str, ...]:
        """Everything that may change."""
        inertial = [f"{NUMBERS[k]}{i + 1}" for i, k in np.argwhere(self.numbers)]
        return (*inertial, *(length.symbol for length in self.lengths))


def parse_free(
    model: RobotModel,
    free: str | Iterable[str] | None = None,
    bounds: Bounds | None = None,
    weights: Mapping[str, float] | None = None,
) -> Free:
    """The freedom that words give to a design.

    Args:
        model: The robot.
        free: Words or symbols, in a list or separated by commas; None: centres of mass and inertias
            of all links.
        bounds: Lowest and highest value by word or symbol, None for an open end [kg, m, kg m²].
            A length without a bound stays between zero and twice what it is.
        weights: What a squared change costs by word or symbol; 1 for the others.
    """
    robot = canonical(model)
    asked = _asked(free)
    for what, given in (("bounds", bounds), ("weights", weights)):
        if given is not None and not isinstance(given, Mapping):
            raise ModelError(
                f"{what}: expected a mapping of words such as 'link2.mass' to values, got {given!r}"
            )
    if not asked:
        raise ModelError(
            "nothing is free to change; name at least one number, such as link2.com, link2.mass "
            "or *.inertia"
        )
    lengths: dict[str, tuple[int, bool]] = {}
    known = words(model, robot, lengths)
    if not known.keys() >= {*asked, *(bounds or ()), *(weights or ())}:
        lengths = places(model, robot)
        known = words(model, robot, lengths)
    symbols = {symbol for word in asked for symbol in _find(model, known, word)}
    limits = _limits(model, known, symbols, bounds or {})
    numbers = np.array(
        [[f"{name}{i + 1}" in symbols for name in NUMBERS] for i in range(len(model.links))]
    )
    return Free(
        numbers,
        tuple(free_lengths(model, robot, lengths, symbols, limits)),
        {symbol: pair for symbol, pair in limits.items() if symbol[0] not in "ad"},
        _weights(model, known, weights or {}),
    )


def _asked(free: str | Iterable[str] | None) -> list[str]:
    """The words for what may change."""
    given = listed(DEFAULT if free is None else free)
    if given is None:
        raise ModelError(
            f"free: expected words such as 'link2.com', in a list or with commas, got {free!r}"
        )
    return [part.strip() for word in given for part in word.split(",") if part.strip()]


def words(
    model: RobotModel, robot: CanonicalRobot, lengths: Mapping[str, tuple[int, bool]]
) -> dict[str, tuple[str, ...]]:
    """Every word and symbol with the symbols it stands for; lengths as `places` gives them."""
    found: dict[str, tuple[str, ...]] = {}
    names = [(f"link{i + 1}", i) for i in range(len(model.links))]
    names += [(link.name, i) for i, link in enumerate(model.links)]
    names += [(joint.name, i) for i, joint in enumerate(model.joints)]
    for name, i in names:
        own = {part: tuple(f"{NUMBERS[k]}{i + 1}" for k in ks) for part, ks in _PARTS.items()}
        own["length"] = tuple(
            symbol
            for symbol, (joint, along) in lengths.items()
            if not along and robot.links[joint].parent == i
        )
        own["offset"] = tuple(
            symbol for symbol, (joint, along) in lengths.items() if along and joint == i
        )
        for part, symbols in own.items():
            if symbols:
                found.setdefault(f"{name}.{part}", symbols)
    for part in (*_PARTS, "length", "offset"):
        every = [found.get(f"link{i + 1}.{part}", ()) for i in range(len(model.links))]
        if any(every):
            found[f"*.{part}"] = tuple(symbol for symbols in every for symbol in symbols)
    single = {symbol: (symbol,) for symbols in found.values() for symbol in symbols}
    return found | single


def _find(model: RobotModel, known: Mapping[str, tuple[str, ...]], word: str) -> tuple[str, ...]:
    if word in known:
        return known[word]
    raise UnknownNameError(
        f"number of {model.name!r} to change named",
        word,
        known,
        "A length is offered where moving the joint changes nothing else.",
    )


def _limits(
    model: RobotModel, known: Mapping[str, tuple[str, ...]], free: set[str], bounds: Bounds
) -> dict[str, tuple[float, float]]:
    """Lowest and highest value by symbol; several bounds of one number are all kept to."""
    found: dict[str, tuple[float, float]] = {}
    for word, pair in bounds.items():
        low, high = _pair(word, pair)
        for symbol in _find(model, known, word):
            if symbol not in free:
                raise ModelError(
                    f"bounds of {word!r}: {symbol} is not free to change; add it to what is free, "
                    "or take the bounds away"
                )
            if (symbol[0] == "m" or symbol[:3] in ("Ixx", "Iyy", "Izz")) and high <= 0:
                raise ModelError(
                    f"bounds of {word!r}: {symbol} must be positive, got up to {high:g}"
                )
            before = found.get(symbol, (-math.inf, math.inf))
            found[symbol] = max(low, before[0]), min(high, before[1])
            if found[symbol][0] > found[symbol][1]:
                raise ModelError(
                    f"bounds of {word!r}: no value of {symbol} is at least {found[symbol][0]:g} "
                    f"and at most {found[symbol][1]:g}; give (lowest, highest)"
                )
    return found


def _pair(word: str, pair: Any) -> tuple[float, float]:
    try:
        low, high = pair
    except (TypeError, ValueError):
        raise ModelError(
            f"bounds of {word!r}: expected (lowest, highest), None for an open end, got {pair!r}"
        ) from None
    if isinstance(low, float) and low == -math.inf:
        low = None
    if isinstance(high, float) and high == math.inf:
        high = None
    what = f"bounds of {word!r}"
    return (
        -math.inf if low is None else check_number(what, low),
        math.inf if high is None else check_number(what, high),
    )


def _weights(
    model: RobotModel, known: Mapping[str, tuple[str, ...]], weights: Mapping[str, float]
) -> dict[str, float]:
    found: dict[str, float] = {}
    for word, value in weights.items():
        weight = check_number(f"weight of {word!r}", value)
        if weight <= 0:
            raise ModelError(f"weight of {word!r}: expected a positive number, got {weight:g}")
        found |= dict.fromkeys(_find(model, known, word), weight)
    return found
