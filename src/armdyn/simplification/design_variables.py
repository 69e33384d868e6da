"""The numbers that a design may change, with their bounds and weights.

A number is named by its symbol (m2, x2, Ixx3, a1, d2; see `armdyn.canonical.parameters`) or by a
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
from armdyn.canonical.parameters import ENTRIES
from armdyn.errors import ModelError, UnknownNameError
from armdyn.model import RobotModel
from armdyn.simplification.goals import listed
from armdyn.simplification.lengths import Length, movable_lengths, variable_lengths

NUMBERS = ("m", "x", "y", "z", *(f"I{name}" for name, _, _ in ENTRIES))
"""The ten numbers of a link: mass, centre of mass, tensor about the centre of mass."""
DEFAULT_WORDS = ("*.com", "*.inertia")

_PARTS = {
    "mass": (0,),
    "com": (1, 2, 3),
    **{f"com.{axis}": (k,) for k, axis in enumerate("xyz", start=1)},
    "inertia": tuple(range(4, 10)),
    **{f"inertia.{name}": (k,) for k, (name, _, _) in enumerate(ENTRIES, start=4)},
}
"""The parts of a link by word, as places in `NUMBERS`."""

Bounds = Mapping[str, tuple[float | None, float | None]]
Known = Mapping[str, tuple[str, ...]]
"""Every word and symbol with the symbols that it stands for."""


@dataclass(frozen=True, slots=True, eq=False)
class DesignVariables:
    """The numbers that may change."""

    numbers: Array
    """Whether each of the ten numbers of each link may change, shape (n, 10)."""
    lengths: tuple[Length, ...] = ()
    bounds: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """Lowest and highest value of inertial numbers by symbol."""
    weights: Mapping[str, float] = field(default_factory=dict)
    """The factor of each squared change by symbol; 1 for the others."""

    @property
    def symbols(self) -> tuple[str, ...]:
        """The symbols of all numbers that may change."""
        inertial = [f"{NUMBERS[k]}{i + 1}" for i, k in np.argwhere(self.numbers)]
        return (*inertial, *(length.symbol for length in self.lengths))

    def __str__(self) -> str:
        """Words that `parse_design_variables` understands."""
        left = dict.fromkeys(self.symbols)
        links = range(1, len(self.numbers) + 1)
        words: list[str] = []
        for part in ("mass", "com", "inertia"):
            names = {i: [f"{NUMBERS[k]}{i}" for k in _PARTS[part]] for i in links}
            whole = [i for i in links if left.keys() >= set(names[i])]
            every = len(whole) == len(links)
            words += [f"*.{part}"] if every else [f"link{i}.{part}" for i in whole]
            for symbol in (symbol for i in whole for symbol in names[i]):
                del left[symbol]
        return ", ".join([*words, *left])


def parse_design_variables(
    model: RobotModel,
    free: str | Iterable[str] | None = None,
    bounds: Bounds | None = None,
    weights: Mapping[str, float] | None = None,
) -> DesignVariables:
    """The design variables that words or symbols name, as in `armdyn.simplify`.

    A length without a bound stays between zero and twice its present value.
    """
    robot = canonical(model)
    asked = _asked(free)
    bounds, weights = _mapping("bounds", bounds), _mapping("weights", weights)
    lengths: dict[str, tuple[int, bool]] = {}
    known = _known(model, robot, lengths)
    if not known.keys() >= {*asked, *bounds, *weights}:
        # only now, because it takes long to find the lengths that can change
        lengths = movable_lengths(model, robot)
        known = _known(model, robot, lengths)
    symbols = {symbol for word in asked for symbol in _find(model, known, word)}
    limits = _limits(model, known, symbols, bounds)
    numbers = [[f"{name}{i + 1}" in symbols for name in NUMBERS] for i in range(len(model.links))]
    return DesignVariables(
        np.array(numbers),
        tuple(variable_lengths(model, robot, lengths, symbols, limits)),
        {symbol: pair for symbol, pair in limits.items() if symbol[0] not in "ad"},
        _weights(model, known, weights),
    )


def _asked(free: str | Iterable[str] | None) -> list[str]:
    given = listed(DEFAULT_WORDS if free is None else free)
    if given is None:
        raise ModelError(
            f"free: expected words such as 'link2.com', in a list or with commas, got {free!r}"
        )
    asked = [part.strip() for word in given for part in word.split(",") if part.strip()]
    if not asked:
        raise ModelError(
            "nothing is free to change; name at least one number, such as link2.com, link2.mass "
            "or *.inertia"
        )
    return asked


def _mapping(what: str, given: Any) -> Mapping[str, Any]:
    if given is not None and not isinstance(given, Mapping):
        raise ModelError(
            f"{what}: expected a mapping of words such as 'link2.mass' to values, got {given!r}"
        )
    return given or {}


def _known(
    model: RobotModel, robot: CanonicalRobot, lengths: Mapping[str, tuple[int, bool]]
) -> dict[str, tuple[str, ...]]:
    numbered = [f"link{i + 1}" for i in range(len(model.links))]
    parts = [
        {part: tuple(f"{NUMBERS[k]}{i + 1}" for k in places) for part, places in _PARTS.items()}
        for i in range(len(model.links))
    ]
    for symbol, (joint, along) in lengths.items():
        own = parts[joint if along else robot.links[joint].parent]
        part = "offset" if along else "length"
        own[part] = (*own.get(part, ()), symbol)
    found: dict[str, tuple[str, ...]] = {}
    # a name that two links have stands for the first of these lists that has it
    for names in (numbered, [x.name for x in model.links], [x.name for x in model.joints]):
        for name, own in zip(names, parts, strict=True):
            for part, symbols in own.items():
                found.setdefault(f"{name}.{part}", symbols)
    for part in (*_PARTS, "length", "offset"):
        if every := tuple(symbol for own in parts for symbol in own.get(part, ())):
            found[f"*.{part}"] = every
    return found | {symbol: (symbol,) for symbols in found.values() for symbol in symbols}


def _find(model: RobotModel, known: Known, word: str) -> tuple[str, ...]:
    if word in known:
        return known[word]
    raise UnknownNameError(
        f"number of {model.name!r} to change named",
        word,
        known,
        "A length is offered where moving the joint changes nothing else.",
    )


def _limits(
    model: RobotModel, known: Known, free: set[str], bounds: Bounds
) -> dict[str, tuple[float, float]]:
    """Lowest and highest value by symbol; if a number has several bounds, all of them hold."""
    found: dict[str, tuple[float, float]] = {}
    for word, pair in bounds.items():
        what = f"bounds of {word!r}"
        low, high = _pair(what, pair)
        for symbol in _find(model, known, word):
            if symbol not in free:
                raise ModelError(
                    f"{what}: {symbol} is not free to change; add it to what is free, or take the "
                    "bounds away"
                )
            if positive(symbol) and high <= 0:
                raise ModelError(f"{what}: {symbol} must be positive, got up to {high:g}")
            before = found.get(symbol, (-math.inf, math.inf))
            least, most = found[symbol] = max(low, before[0]), min(high, before[1])
            if least > most:
                raise ModelError(
                    f"{what}: no value of {symbol} is at least {least:g} and at most {most:g}; "
                    "give (lowest, highest)"
                )
    return found


def positive(symbol: str) -> bool:
    """Whether a number is positive for every body: a mass or a principal inertia."""
    return symbol.rstrip("0123456789") in ("m", "Ixx", "Iyy", "Izz")


def _pair(what: str, pair: Any) -> tuple[float, float]:
    try:
        low, high = pair
    except (TypeError, ValueError):
        raise ModelError(
            f"{what}: expected (lowest, highest), None for an open end, got {pair!r}"
        ) from None
    ends = ((low, -math.inf), (high, math.inf))
    least, most = (
        infinite
        if value is None or (isinstance(value, float) and value == infinite)
        else check_number(what, value)
        for value, infinite in ends
    )
    return least, most


def _weights(model: RobotModel, known: Known, weights: Mapping[str, float]) -> dict[str, float]:
    found: dict[str, float] = {}
    for word, value in weights.items():
        weight = check_number(f"weight of {word!r}", value)
        if weight <= 0:
            raise ModelError(f"weight of {word!r}: expected a positive number, got {weight:g}")
        found |= dict.fromkeys(_find(model, known, word), weight)
    return found
