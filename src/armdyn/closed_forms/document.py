"""What is printed: blocks of equations, a legend of symbols and notes, in no format yet."""

import re
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass

from armdyn.closed_forms.readable import Angle
from armdyn.closed_forms.tree import ZERO, AngleFunction, Expr, Symbol, angle_functions, leaves
from armdyn.model.friction import COEFFICIENTS


@dataclass(frozen=True, slots=True)
class Meaning:
    """A line of the legend."""

    symbol: str
    value: float
    unit: str
    text: str


_PATTERNS = (
    (r"m(\d+)|M(\d+)", "kg", "mass of link {}"),
    (r"([xyz])(\d+)", "m", "{} of the centre of mass of link {}"),
    (r"m([xyz])(\d+)", "kg m", "first moment of link {1} along {0}"),
    (r"M([XYZ])(\d+)", "kg m", "first moment of link {1} along {0}"),
    (r"I([xyz]{2})(\d+)", "kg m²", "inertia {} of link {} about its centre of mass"),
    (r"J([xyz]{2})(\d+)", "kg m²", "second moment {} of link {} about the origin of its frame"),
    (r"Ia(\d+)", "kg m² or kg", "inertia of rotor {} at its joint"),
    (r"Js(\d+)", "kg m² or kg m", "inertia of rotor {} times its gear ratio"),
    (r"s[xyz](\d+)", "1", "axis of rotor {} in the frame of the link that carries it"),
    (r"a(\d+)", "m", "length of link {}, from its axis to the next"),
    (r"a(\d+)_(\d+)", "m", "length of link {} to axis {}"),
    (r"a([yz])(\d+)(?:_(\d+))?", "m", "place of the next axis on link {1}, along {0}"),
    (r"d(\d+)", "m", "offset along axis {}"),
    (r"p(\d+)", "m/rad", "pitch of joint {}"),
    (r"alpha(\d+)(?:_(\d+))?", "rad", "twist of link {}, from its axis to the next"),
    (r"gamma(\d+)(?:_(\d+))?", "rad", "angle on link {} to the next common normal"),
    (r"(?:phi|theta)(\d+)", "rad", "offset of joint {}"),
    (r"beta(\d+)", "rad", "angle {} between links that stay parallel"),
    (r"l0_*\d*|h0_*\d*", "m", "part of a loop on what carries both its branches"),
    (r"l(\d+)_*\d*", "m", "part of a loop on link {}, along it"),
    (r"h(\d+)_*\d*", "m", "part of a loop on link {}, across it"),
    (r"u([xy])(\d+)_*\d*", "", "{} of the direction in which joint {} slides"),
    (r"g", "m/s²", "strength of gravity"),
    (r"g([xyz])(\d*)", "m/s²", "gravity along {} of the base, before the first joint"),
    (r"([xyz])t", "m", "{} of the tool in the frame of its link"),
    *((rf"{c.letter}(\d+)", c.unit, c.meaning) for c in COEFFICIENTS),
)


def legend(
    names: Iterable[str],
    values: Mapping[str, float],
    letters: Mapping[str, str],
    known: Container[str],
) -> tuple[Meaning, ...]:
    """The meaning of each name that has a value; a letter alone means the parameter it is."""
    stands = {text.strip(): parameter for parameter, text in reversed(list(letters.items()))}
    found = []
    for name in sorted((n for n in names if n in values), key=by_number):
        parameter = stands.get(name, name)
        text, unit = meaning(parameter)
        massless = re.fullmatch(r"I[xyz]{2}(\d+)", parameter)
        if massless and f"mx{massless[1]}" in known:
            text = text.replace("its centre of mass", "the origin of its frame")
        found.append(Meaning(name, float(values[name]), unit, text))
    return tuple(found)


def meaning(symbol: str) -> tuple[str, str]:
    """The meaning of a parameter, and its unit."""
    for pattern, unit, text in _PATTERNS:
        if match := re.fullmatch(pattern, symbol):
            groups = [g.lower() for g in match.groups() if g is not None]
            return text.format(*groups), unit
    return "", ""


def by_number(name: str) -> tuple[bool, int, str]:
    """What symbols are sorted by: the number in them, those without one last."""
    digits = re.search(r"\d+", name)
    return digits is None, int(digits[0]) if digits else 0, name


Place = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Line:
    """One equation: an entry of an array, or a variable."""

    symbol: str
    """The array, as "M", or the variable."""
    index: str
    """What stands behind it, as "12"; empty for a variable."""
    value: Expr
    place: Place = ()
    """Where it is in the array, from 0."""
    constant: bool = False
    """Whether it depends on no joint."""

    @property
    def name(self) -> str:
        """Array and index, as in text."""
        return self.symbol + self.index

    @property
    def zero(self) -> bool:
        """Whether it vanishes identically."""
        return self.value == ZERO


@dataclass(frozen=True, slots=True)
class Block:
    """An array with all its different entries, or a list of variables."""

    symbol: str
    """Empty for a list of variables."""
    title: str
    lines: tuple[Line, ...]
    shape: Place = ()
    arguments: tuple[str, ...] = ("q",)
    """What it depends on: "q", "qd"."""
    swap: tuple[int, int] | None = None
    """Axes that may be exchanged."""
    remarks: tuple[str, ...] = ()
    hidden: frozenset[Place] = frozenset()
    """Places of zeros that a remark mentions."""
    beforehand: bool = False
    """Whether it depends on parameters alone."""

    @property
    def shown(self) -> list[Line]:
        """The lines that are not zero."""
        return [line for line in self.lines if not line.zero]

    @property
    def zeros(self) -> list[Line]:
        """The entries that vanish, apart from those that a remark mentions."""
        return [line for line in self.lines if line.zero and line.place not in self.hidden]


@dataclass(frozen=True, slots=True)
class Document:
    """Equations of a robot in a form for reading."""

    robot: str
    title: str
    """What people call the robot."""
    form: str
    """What is printed: "state", "configuration", "christoffel", "energy", "cartesian" or
    "recursive"."""
    joints: tuple[str, ...]
    """Names of the moving joints, q1, q2, ..."""
    units: tuple[str, ...]
    """Units of their positions."""
    law: tuple[str, str]
    """How the blocks make up the torque, in text and in LaTeX."""
    blocks: tuple[Block, ...]
    offsets: Mapping[int, float]
    """By joint number what is added to q in cosines and sines [rad]."""
    legend: tuple[Meaning, ...]
    notes: tuple[str, ...]
    numbers: tuple[int, ...]
    """The number of each joint."""
    operations: tuple[int, int] | None = None
    """Multiplications and additions of the recursive program."""
    passive: tuple[int, ...] = ()
    """Numbers of the joints that lines give, and that are no coordinates."""

    @property
    def numbered(self) -> list[tuple[int, str]]:
        """The joints by their numbers."""
        return list(zip(self.numbers, self.joints, strict=True))

    def has(self, symbol: str) -> bool:
        """Whether there is an array with a symbol."""
        return any(block.symbol == symbol for block in self.blocks)

    @property
    def coordinates(self) -> list[int]:
        """Numbers of the joints whose motion is given."""
        return [number for number in self.numbers if number not in self.passive]

    @property
    def angles(self) -> list[Angle]:
        """Angles whose cosine or sine occurs, in order of their joints."""
        found = {f.angle for f in self.angle_functions}
        return sorted(
            found, key=lambda a: (True, by_number(a)) if isinstance(a, str) else (False, a)
        )

    @property
    def angle_functions(self) -> set[AngleFunction]:
        """The cosines and sines that occur."""
        return angle_functions(line.value for block in self.blocks for line in block.lines)

    @property
    def values(self) -> dict[str, float]:
        """The value of each parameter that occurs."""
        return {entry.symbol: entry.value for entry in self.legend}


def occurring(blocks: Iterable[Block]) -> set[str]:
    """The symbols in blocks, constant angles included."""
    values = [line.value for block in blocks for line in block.lines]
    angles = {f.angle for f in angle_functions(values) if isinstance(f.angle, str)}
    return angles | {x.name for value in values for x in leaves(value) if isinstance(x, Symbol)}


def index(*numbers: int) -> str:
    """Numbers of joints behind a symbol."""
    return ("," if max(numbers, default=0) > 9 else "").join(map(str, numbers))
