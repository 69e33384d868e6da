"""What a term of a friction law is: its torque, its parameters, and their names everywhere."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

TORQUE, SPEED = "N m or N", "rad/s or m/s"
"""Units of joints that turn or slide."""


@dataclass(frozen=True, slots=True)
class FrictionParameter:
    """A number that people give."""

    name: str
    """Its keyword, and its key in files; x_positive and x_negative are the key x, with a pair."""
    unit: str
    default: float = 0.0
    linear: bool = True
    """Whether the torque is proportional to it; a term whose linear parameters are 0 is absent."""
    signed: bool = False
    """Whether it may be negative; other parameters are magnitudes."""
    positive: bool = False
    """Whether it must be more than zero."""
    needs: str = ""
    """The parameter that must be given and positive wherever this one is not zero."""
    excludes: str = ""
    """The parameter that must be zero wherever this one is not."""
    idle: str = ""
    """What is given in vain if the term is absent, for a warning."""
    heading: str = ""
    """Its heading in a table; empty: tables leave it out."""

    @property
    def key(self) -> str:
        """Its key in files, which both directions share."""
        return self.name.removesuffix("_positive").removesuffix("_negative")

    def fault(self, value: float) -> str:
        """Why the parameter cannot have this value; empty if it can."""
        if self.signed:
            return "" if math.isfinite(value) else f"{self.key} must be finite, got {value!r}"
        if self.positive:
            sound = 0 < value < math.inf
            return "" if sound else f"{self.key} must be positive and finite, got {value!r}"
        endless = math.isinf(self.default)
        if value >= 0 and (endless or value < math.inf):
            return ""
        what = "negative" if endless else "negative or infinite"
        return f"{self.key} is a magnitude and cannot be {what}, got {value!r}"


@dataclass(frozen=True, slots=True)
class Coefficient:
    """A number of the printed law, such as Fv2 for joint 2."""

    letter: str
    unit: str
    meaning: str
    """What it is, with {} for the number of the joint."""


@dataclass(frozen=True, slots=True)
class FrictionTerm:
    """A term of friction at a joint, which the actuator must overcome."""

    name: str
    row: str
    """The row of the ledger that it is added to."""
    parameters: tuple[FrictionParameter, ...]
    coefficients: tuple[Coefficient, ...]
    values: Callable[[Any], tuple[float, ...]]
    """The values of the coefficients in a law."""
    torque: Callable[..., Any]
    """The torque as a function of (qd, direction, s, *coefficients).

    `direction` is -1, 0 or 1, and s is the same or its smooth form. The function is fed numbers,
    arrays, nodes (which the graph differentiates by qd) and printed symbols.
    """
    absence: str
    """What a library does that does not have the term, to follow its name."""
    dry: bool = False
    """Whether the term holds a joint at rest."""
    steep: Callable[[Any], bool] = lambda _law: False
    """Whether the slope of the term at rest is infinite in a law, although the torque is 0."""
