"""The meaning of the symbols of an equation, with values and units."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from armdyn.model.friction import COEFFICIENTS
from armdyn.shorten.canonical.parameters import Parameter


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
    known: Mapping[str, Parameter],
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
