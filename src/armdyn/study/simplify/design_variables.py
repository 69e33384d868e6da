"""The numbers that a design may change, as affine functions of unknowns, with bounds and weights.

A number is named by its symbol (m2, x2, Ixx3, a1, d2; see `armdyn.shorten.canonical.parameters`)
or by a word: LINK.mass, LINK.com, LINK.com.x, LINK.inertia, LINK.inertia.xx, LINK.length,
LINK.offset, where LINK is link1, link2, ..., the name of a link or of its joint, or * for all.

A change of a link is seen from where its centre of mass was, in the axes of its canonical frame,
and in units of its mass m and of the size L of the robot: Δm / m, Δ(m c) / (m L) and ΔI / (m L²),
products of inertia counted twice. The cost of a design is the sum of their squares, each times the
weight of its number, and of (Δa / L)² for every length.

A held or bounded entry of a tensor about the centre of mass ties the second moments to squares of
the coordinates of that centre. Such coordinates are no linear unknowns: they are searched, like the
lengths, outside of the convex problem.
"""

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import numpy as np

from armdyn.arrays import Array, check_number, frozen, real
from armdyn.errors import LoopError, ModelError, UnknownNameError, shown
from armdyn.formulations.rotors import Spin
from armdyn.loops.coordinates import coordinates_of
from armdyn.model import RobotModel
from armdyn.model.edit import without_payload
from armdyn.model.transform import inverse
from armdyn.shorten.canonical.frames import CanonicalRobot, canonical, canonical_frames
from armdyn.shorten.canonical.parameters import ENTRIES, about_com, link_numbers
from armdyn.shorten.canonical.redesign import redesign
from armdyn.shorten.canonical.regroup import axis_in_parent
from armdyn.study.simplify.goals import listed
from armdyn.study.simplify.linear import (
    body_numbers,
    link_moments,
    numbers_of,
    pseudo_of,
    robot_size,
    thin_disc,
)

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
OPEN = (-math.inf, math.inf)


Known = dict[str, tuple[str, ...]]
"""Every word and symbol with the symbols that it stands for."""


@dataclass(frozen=True, slots=True)
class Length:
    """A length that may change."""

    symbol: str
    joint: int
    """Index of the joint that it places."""
    along: bool
    """Whether it is the offset along the joint's own axis, not the length of the parent."""
    value: float
    """[m]."""
    low: float
    high: float

    def within(self, low: float, high: float) -> "Length":
        """The same within bounds; an end that is not finite stays where it was."""
        low = low if math.isfinite(low) else min(self.low, high)
        return replace(self, low=low, high=high if math.isfinite(high) else max(self.high, low))


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
    reaches: Array = field(default_factory=lambda: np.zeros(0))
    """How far from the joint of each link its centre of mass and counterweights may be, in every
    direction of its frame where no bounds are given, shape (n,) [m]."""
    rotors: tuple[Spin, ...] = ()
    """Rotors of joints whose inertia follows from the links: the goal asks for it."""

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
    reach: float | None = None,
) -> DesignVariables:
    """The design variables that words or symbols name, as in `armdyn.simplify`.

    A length without a bound stays between zero and twice its present value, a centre of mass within
    `reach` of its joint [m]; None: within the size of its link.
    """
    robot = canonical(model)
    asked = _asked(free)
    bounds, weights = _mapping("bounds", bounds), _mapping("weights", weights)
    lengths: dict[str, Length] = {}
    known = _known(model, robot, lengths)
    if not known.keys() >= {*asked, *bounds, *weights}:
        for word in sorted({*asked, *bounds, *weights} - known.keys()):
            if model.loops and re.fullmatch(r".*\.(length|offset)|[ad]\d+(_\d+)?", word):
                raise LoopError(
                    f"{word}: lengths of {model.name!r} cannot be free, because its loop "
                    f"{model.loops[0].name!r} would not close any more; free masses, centres of "
                    "mass or inertias",
                    loop=model.loops[0].name,
                )
        # only now, because it takes long to find the lengths that can change
        lengths = _movable_lengths(model, robot)
        known = _known(model, robot, lengths)
    for word in (*asked, *bounds, *weights):
        if word not in known:
            what = f"number of {model.name!r} to change named"
            advice = "A length is offered where moving the joint changes nothing else."
            raise UnknownNameError(what, word, known, advice)
    symbols = {symbol for word in asked for symbol in known[word]}
    at_most = math.inf if reach is None else real(reach)
    if at_most != math.inf and check_number("reach", reach) <= 0:
        raise ModelError(f"reach: expected a positive length in m, or inf, got {shown(reach)}")
    reaches = _sizes(model, robot) if reach is None else np.full(len(model.links), float(reach))
    limits = _limits(known, symbols, bounds)
    for i, (link, most) in enumerate(zip(robot.links, reaches.tolist(), strict=True), start=1):
        for axis, value in zip("xyz", link.u / (link.M or 1.0), strict=True):
            # a link as it is stays within
            if f"{axis}{i}" in symbols and math.isfinite(most):
                limits.setdefault(f"{axis}{i}", (min(-most, value), max(most, value)))
    numbers = [[f"{name}{i + 1}" in symbols for name in NUMBERS] for i in range(len(model.links))]
    factors: dict[str, float] = {}
    for word, value in weights.items():
        weight = check_number(f"weight of {word!r}", value)
        if weight <= 0:
            raise ModelError(f"weight of {word!r}: expected a positive number, got {weight:g}")
        factors |= dict.fromkeys(known[word], weight)
    return DesignVariables(
        np.array(numbers),
        tuple(x.within(*limits.get(s, OPEN)) for s, x in lengths.items() if s in symbols),
        {symbol: pair for symbol, pair in limits.items() if symbol[0] not in "ad"},
        factors,
        reaches,
    )


def _sizes(model: RobotModel, robot: CanonicalRobot) -> Array:
    """How far each link extends from its joint [m]: to its joints, its tool, its uniform box."""
    frames = canonical_frames(model)
    sizes = np.zeros(len(robot.links))
    for i, link in enumerate(robot.links):
        mass, com, tensor = about_com(link.J, link.u, link.M)
        # the diagonal of a box is √(12 ∫ r² dm / m), and the trace of its tensor is 2 ∫ r² dm
        half = math.sqrt(max(1.5 * float(np.trace(tensor)) / mass, 0.0)) if mass > 0 else 0.0
        sizes[i] = max(sizes[i], float(np.linalg.norm(com)) + half)
        if link.parent >= 0:
            ends = sizes[link.parent], float(np.linalg.norm(axis_in_parent(link)[1]))
            sizes[link.parent] = max(ends)
    at = model.flange.link
    if at >= 0:
        tool = inverse(frames[at]) @ model.tool_frame.placement
        sizes[at] = max(sizes[at], float(np.linalg.norm(tool[:3, 3])))
    return np.where(sizes > 0, sizes, robot_size(robot))


def _movable_lengths(model: RobotModel, robot: CanonicalRobot) -> dict[str, Length]:
    """The lengths that can change, by symbol, from zero to twice their value.

    Moving the joint must change this one number and nothing else. That fails where the frames are
    placed so that a number is zero, as for a sliding axis, whose place has no meaning.
    """
    found = {}
    for i, (link, up) in enumerate(zip(robot.links, link_numbers(robot), strict=True)):
        for symbol, along in ((f"a{up}", False), (f"d{i + 1}", True)) if link.parent >= 0 else ():
            if not (along and link.type.slides) and _movable(model, robot, i, along):
                value = float(link.r if along else link.across[0])
                low, high = sorted((0.0, 2 * value)) if value else (0.0, robot_size(robot))
                found[symbol] = Length(symbol, i, along, value, low, high)
    return found


def _movable(model: RobotModel, robot: CanonicalRobot, i: int, along: bool) -> bool:
    """Whether moving a joint changes one number of the canonical frames alone."""
    step = 0.1
    moved = canonical(redesign(model, {}, **{"offsets" if along else "lengths": {i: step}}))
    expected, found = (
        np.array([[*x.across, x.r, x.alpha, x.gamma, *x.J.flat, *x.u] for x in arm.links])
        for arm in (robot, moved)
    )
    expected[i, 3 if along else 0] += step
    return np.allclose(found, expected, rtol=1e-9, atol=1e-9)


def _asked(free: str | Iterable[str] | None) -> list[str]:
    given = listed(DEFAULT_WORDS if free is None else free)
    if given is None:
        raise ModelError(
            f"free: expected words such as 'link2.com', in a list or with commas, got {shown(free)}"
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
            f"{what}: expected a mapping of words such as 'link2.mass' to values, got "
            f"{shown(given)}"
        )
    return given or {}


def _known(model: RobotModel, robot: CanonicalRobot, lengths: Mapping[str, Length]) -> Known:
    """What every word and symbol stands for, the words of links and joints first."""
    # for each link the symbols of its mass, its inertia and its lengths, by part
    parts = [
        {part: tuple(f"{NUMBERS[k]}{i + 1}" for k in places) for part, places in _PARTS.items()}
        for i in range(len(robot.links))
    ]
    for symbol, length in lengths.items():
        own = parts[length.joint if length.along else robot.links[length.joint].parent]
        part = "offset" if length.along else "length"
        own[part] = (*own.get(part, ()), symbol)
    numbered = [f"link{i + 1}" for i in range(len(model.links))]
    found: Known = {}
    # a name that two links have stands for the first of these lists that has it
    for names in (numbered, [x.name for x in model.links], [x.name for x in model.joints]):
        for name, own in zip(names, parts, strict=True):
            for part, symbols in own.items():
                found.setdefault(f"{name}.{part}", symbols)
    for part in (*_PARTS, "length", "offset"):
        if every := tuple(symbol for own in parts for symbol in own.get(part, ())):
            found[f"*.{part}"] = every
    found.update({symbol: (symbol,) for symbols in found.values() for symbol in symbols})
    return found


def _limits(known: Known, free: set[str], bounds: Bounds) -> dict[str, tuple[float, float]]:
    """Lowest and highest value by symbol; if a number has several bounds, all of them hold."""
    found: dict[str, tuple[float, float]] = {}
    for word, pair in bounds.items():
        what = f"bounds of {word!r}"
        low, high = _pair(what, pair)
        for symbol in known[word]:
            if symbol not in free:
                raise ModelError(
                    f"{what}: {symbol} is not free to change; add it to what is free, or take the "
                    "bounds away"
                )
            if positive(symbol) and high <= 0:
                raise ModelError(f"{what}: {symbol} must be positive, got up to {high:g}")
            before = found.get(symbol, OPEN)
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
    """Lowest and highest value, infinite where an end is open."""
    try:
        low, high = pair
    except (TypeError, ValueError):
        raise ModelError(
            f"{what}: expected (lowest, highest), None for an open end, got {shown(pair)}"
        ) from None
    ends = ((low, -math.inf), (high, math.inf))
    least, most = (
        infinite
        if value is None or (isinstance(value, float) and value == infinite)
        else check_number(what, value)
        for value, infinite in ends
    )
    return least, most


_MOST_SPANS_KEPT = 200
"""Spans in memory: while one centre of mass is searched, those of the other links stay."""


class ParametrisedArm:
    """One arm, its design variables, and the units in which its changes are measured."""

    def __init__(self, model: RobotModel, variables: DesignVariables, add_only: bool = False):
        self.model = model
        self.variables = variables
        self.add_only = add_only
        self.robot = canonical(model)
        self.at = coordinates_of(model)
        self.size = robot_size(self.robot)
        self.start = link_moments(canonical(without_payload(model)))
        """The numbers φ of the links themselves, shape (n, 10)."""
        self.payload = link_moments(self.robot) - self.start
        """The numbers φ of the payloads, which never change, shape (n, 10)."""
        n = len(self.start)
        self.rotors = [model.joints[spin.place].rotor for spin in variables.rotors]
        """The rotors whose inertia follows from the links."""
        self.locked = np.zeros((len(self.rotors), n, 10))
        """φ of a thin disc of unit inertia for each, in its carrier, shape (rotors, n, 10)."""
        for k, spin in enumerate(variables.rotors):
            if spin.link >= 0:
                frame = canonical_frames(model)[spin.link]
                self.locked[k, spin.link] = numbers_of(thin_disc(spin, frame))
        inertias = [rotor.inertia for rotor in self.rotors]
        self.bare = self.start - np.tensordot(inertias, self.locked, axes=1)
        """The numbers φ of the links without rotors that follow from them, shape (n, 10)."""
        self.numbers = variables.numbers.copy()
        massless = self.start[:, 0] <= 0
        self.numbers[~self.numbers[:, 0] & massless] = False
        if add_only:
            self.numbers[~self.numbers[:, 0]] = False
        self.bodies = body_numbers(self.start)
        """Mass, centre of mass and tensor about it of each link, shape (n, 10)."""
        self.mass = np.where(massless, max(self.start[:, 0].mean(), 1e-9), self.start[:, 0])
        T = np.tile(np.diag([1 / self.size] * 3 + [1.0]), (n, 1, 1, 1))
        T[:, 0, :3, 3] = -self.bodies[:, 1:4] / self.size
        bodies = T @ pseudo_of(np.eye(10)) @ np.swapaxes(T, -1, -2)
        self.pseudo = bodies / self.mass[:, None, None, None]
        """The pseudo-inertias in units of the ten unit vectors φ, shape (n, 10, 4, 4)."""
        self.to_units = np.array([_units(J) for J in self.pseudo])
        """H with ψ = H φ in units, shape (n, 10, 10)."""
        self.from_units = np.linalg.inv(self.to_units)
        names = [[f"{name}{i + 1}" for name in NUMBERS] for i in range(n)]
        self.weights = np.array([[variables.weights.get(x, 1.0) for x in row] for row in names])
        tied = np.array([[self._tied(i, axis) for axis in range(3)] for i in range(n)])
        self.unknown = self.numbers[:, 1:4] & ~tied
        """Which coordinates of the centres of mass are unknowns of φ, shape (n, 3)."""
        self.coordinates = np.argwhere(self.numbers[:, 1:4] & tied).tolist()
        """Link and axis of the coordinates that are searched."""
        ranges = {x.symbol: (x.value, x.low, x.high) for x in variables.lengths}
        for i, axis in self.coordinates:
            symbol = names[i][1 + axis]
            ranges[symbol] = (self.bodies[i, 1 + axis], *variables.bounds.get(symbol, OPEN))
        self.searched = tuple(ranges)
        """Symbols of everything that is searched: lengths first, then coordinates."""
        self.values, self.low, self.high = np.array([*ranges.values()]).reshape(-1, 3).T
        """Present value and bounds of everything that is searched."""
        self._span = lru_cache(_MOST_SPANS_KEPT)(self._span_about)

    def relaxed(self) -> "ParametrisedArm":
        """The same arm with free tensors, so that no centre of mass is searched."""
        numbers = self.variables.numbers.copy()
        numbers[[link for link, _ in self.coordinates], 4:] = True
        bounds = {name: pair for name, pair in self.variables.bounds.items() if name[0] != "I"}
        variables = replace(self.variables, numbers=numbers, bounds=bounds)
        return ParametrisedArm(self.model, variables, self.add_only)

    def _tied(self, i: int, axis: int) -> bool:
        """Whether a held or bounded entry of the tensor has the square or product of this axis."""
        may = self.numbers[i]
        return any(
            a != axis if a == b else axis in (a, b) and may[1 + a] and may[1 + b]
            for k, (name, a, b) in enumerate(ENTRIES, start=4)
            if not may[k] or f"I{name}{i + 1}" in self.variables.bounds
        )

    def robot_with(self, lengths: Iterable[float]) -> CanonicalRobot:
        """The robot with other values of its free lengths."""
        links = list(self.robot.links)
        for length, value in zip(self.variables.lengths, lengths, strict=True):
            link = links[length.joint]
            across = frozen([value, *link.across[1:]])
            new = replace(link, r=float(value)) if length.along else replace(link, across=across)
            links[length.joint] = new
        return replace(self.robot, links=tuple(links))

    def span(self, i: int, values: Array) -> tuple[Array, Array]:
        """Link i in units as ψ = p + B θ with p nearest to the present link and B orthonormal."""
        return self._span(i, *self.centres(values)[i])

    def _span_about(self, i: int, *centre: float) -> tuple[Array, Array]:
        """The span of a link whose centre of mass has these coordinates."""
        # rows F and values f of F φ = f for the held numbers
        rows = np.eye(10)
        rows[1:4, 0] = -np.array(centre)
        rows[4:] = [self.tensor_row(i, k, np.array(centre)) for k in range(6)]
        held = ~np.array([self.numbers[i, 0], *self.unknown[i], *self.numbers[i, 4:]])
        F = rows[held]
        f = (self.bodies[i] * np.repeat([1, 0, 1], [1, 3, 6]))[held]
        start = self.to_units[i] @ self.start[i]
        if not len(F):
            return start, np.eye(10)
        left, singular, right = np.linalg.svd(F @ self.from_units[i])
        rank = int(np.sum(singular > 1e-12 * singular[0]))
        missing = left.T @ (f - F @ self.start[i])
        p = start + right[:rank].T @ (missing[:rank] / singular[:rank])
        return p, right[rank:].T

    def centres(self, values: Array) -> Array:
        """The centres of mass of the links, (n, 3), searched coordinates at given values."""
        centres = self.bodies[:, 1:4].copy()
        searched = values[len(self.variables.lengths) :]
        for (link, axis), value in zip(self.coordinates, searched, strict=True):
            centres[link, axis] = value
        return centres

    def tensor_row(self, i: int, k: int, centre: Array) -> Array:
        """The entry k of the tensor of link i about its centre of mass as a row on φ."""
        (_, a, b), unknown = ENTRIES[k], self.unknown[i]
        row = np.zeros(10)
        if a == b:
            others = [c for c in range(3) if c != a]
            row[[4 + c for c in others]] = 1.0
            row[0] = -float(np.sum(centre[others] ** 2))
        else:
            row[4 + k] = -1.0
            x, y = (b, a) if unknown[b] else (a, b)
            row[1 + x if unknown[x] else 0] += centre[y] * (1.0 if unknown[x] else centre[x])
        return row


def _units(J: Array) -> Array:
    """Mass, first moment and tensor of pseudo-inertias (10, 4, 4), shape (10, 10)."""
    second = J[:, :3, :3]
    tensor = np.trace(second, axis1=1, axis2=2)[:, None, None] * np.eye(3) - second
    entries = [tensor[:, a, b] * (1.0 if a == b else np.sqrt(2.0)) for _, a, b in ENTRIES]
    return np.array([J[:, 3, 3], *J[:, :3, 3].T, *entries])
