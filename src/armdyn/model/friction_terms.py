"""The terms of friction laws as a table: torques, parameters, and their names everywhere."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

TORQUE, SPEED = "N m or N", "rad/s or m/s"
DAMPING, POWER_UNIT = "N m s or N s/m", "N m (s/rad)^ap or N (s/m)^ap"
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


def _stribeck(qd: Any, direction: Any, s: Any, Fs: Any, vs: Any) -> Any:
    excess = Fs * s
    endless = isinstance(vs, float) and math.isinf(vs)
    return excess if endless else excess * np.exp(-np.square(qd / vs))


def _power(qd: Any, direction: Any, s: Any, Fp: Any, alpha: Any) -> Any:
    if np.asarray(qd).dtype == object:  # nodes and printed symbols
        return Fp * np.frompyfunc(lambda one: one.signed_power(alpha), 1, 1)(qd)
    return Fp * np.sign(qd) * np.abs(qd) ** alpha


def _halves(forwards: float, backwards: float) -> tuple[float, float]:
    """The mean of both directions, and half of what is larger forwards."""
    return 0.5 * (forwards + backwards), 0.5 * (forwards - backwards)


VISCOUS = FrictionTerm(
    name="viscous",
    row="viscous",
    parameters=(FrictionParameter("viscous", DAMPING, heading="viscous"),),
    coefficients=(Coefficient("Fv", DAMPING, "viscous friction of joint {}"),),
    values=lambda law: (law.viscous,),
    torque=lambda qd, direction, s, Fv: Fv * qd,
    absence="ignores damping (the viscous term)",
)
"""Fv q̇."""
COULOMB = FrictionTerm(
    name="coulomb",
    row="coulomb",
    parameters=(
        FrictionParameter("coulomb_positive", TORQUE, heading="coulomb +"),
        FrictionParameter("coulomb_negative", TORQUE, heading="coulomb -"),
    ),
    coefficients=(
        Coefficient("Fc", TORQUE, "Coulomb friction of joint {}"),
        Coefficient("Fu", TORQUE, "half of what Coulomb friction of joint {} is larger forwards"),
    ),
    values=lambda law: _halves(law.coulomb_positive, law.coulomb_negative),
    torque=lambda qd, direction, s, Fc, Fu: (Fc + Fu * direction) * s,
    absence="ignores dry friction (the Coulomb term)",
    dry=True,
)
"""(Fc + Fu sgn q̇) s, with a level for each direction."""
STRIBECK = FrictionTerm(
    name="stribeck",
    row="stribeck",
    parameters=(
        FrictionParameter("stribeck", TORQUE, needs="stribeck_velocity", heading="stribeck"),
        FrictionParameter(
            "stribeck_velocity",
            SPEED,
            default=math.inf,
            linear=False,
            idle="a Stribeck velocity without a Stribeck torque",
            heading="at velocity",
        ),
    ),
    coefficients=(
        Coefficient("Fs", TORQUE, "break-away friction of joint {} beyond Coulomb's"),
        Coefficient("vs", SPEED, "speed over which that excess of joint {} dies out"),
    ),
    values=lambda law: (law.stribeck, law.stribeck_velocity),
    torque=_stribeck,
    absence="has no Stribeck friction",
    dry=True,
)
"""Fs exp(-(q̇ / vs)²) s, the excess of dry friction at low speed."""
OFFSET = FrictionTerm(
    name="offset",
    row="offset",
    parameters=(FrictionParameter("offset", TORQUE, signed=True, heading="offset"),),
    coefficients=(Coefficient("Fo", TORQUE, "constant torque of joint {}"),),
    values=lambda law: (law.offset,),
    torque=lambda qd, direction, s, Fo: Fo + 0.0 * qd,  # in the shape of the velocities
    absence="has no constant torque (the offset)",
)
"""Fo, such as the bias of an amplifier; it acts on a joint at rest, too."""
ASYMMETRIC_VISCOUS = FrictionTerm(
    name="asymmetric_viscous",
    row="viscous",
    parameters=(
        FrictionParameter("viscous_positive", DAMPING, excludes="viscous", heading="viscous +"),
        FrictionParameter("viscous_negative", DAMPING, excludes="viscous", heading="viscous -"),
    ),
    coefficients=(
        *VISCOUS.coefficients,
        Coefficient("Fw", DAMPING, "half of what viscous friction of joint {} is larger forwards"),
    ),
    values=lambda law: _halves(law.viscous_positive, law.viscous_negative),
    torque=lambda qd, direction, s, Fv, Fw: (Fv + Fw * direction) * qd,
    absence="ignores damping (the viscous term) where it differs by direction",
)
"""(Fv + Fw sgn q̇) q̇, with a coefficient for each direction."""
POWER = FrictionTerm(
    name="power",
    row="viscous",
    parameters=(
        FrictionParameter("power", POWER_UNIT, heading="power"),
        FrictionParameter(
            "power_exponent",
            "",
            default=1.0,
            linear=False,
            positive=True,
            idle="an exponent without the coefficient of a power law",
            heading="exponent",
        ),
    ),
    coefficients=(
        Coefficient("Fp", POWER_UNIT, "friction of joint {} by the power law, at unit speed"),
        Coefficient("ap", "", "exponent of the power law of joint {}"),
    ),
    values=lambda law: (law.power, law.power_exponent),
    torque=_power,
    absence="has no friction by a power of the speed",
    steep=lambda law: law.power > 0 and law.power_exponent < 1,
)
"""Fp sgn(q̇) |q̇|^α."""
TERMS = (VISCOUS, COULOMB, STRIBECK, OFFSET, ASYMMETRIC_VISCOUS, POWER)
"""Every term that a law can have; a new one comes last."""
FRICTION_ROWS = tuple(dict.fromkeys(term.row for term in TERMS))
"""The rows of the ledger that friction fills."""
SMOOTH_VELOCITY = FrictionParameter(
    "smooth_velocity", SPEED, linear=False, idle="a smoothing velocity without dry friction"
)
SMOOTH_COEFFICIENT = Coefficient(
    "vt", SPEED, "speed over which friction of joint {} changes its sign"
)
COEFFICIENTS = (*(c for term in TERMS for c in term.coefficients), SMOOTH_COEFFICIENT)

# the parameter of the smooth sign keeps its place among positional arguments
GROUPS = [term.parameters for term in TERMS]
"""The parameters of each term, and those of the sign."""
GROUPS.insert(3, (SMOOTH_VELOCITY,))
PARAMETERS = {parameter.name: parameter for group in GROUPS for parameter in group}
"""Every parameter of a law, by name."""
