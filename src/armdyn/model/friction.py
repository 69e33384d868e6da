"""The friction law of a joint: a sum of the terms in the table `TERMS`, with all their names."""

import math
from collections.abc import Callable, Iterator
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


_INDEX = {name: i for i, name in enumerate(PARAMETERS)}


@dataclass(frozen=True, slots=True, init=False, repr=False)
class FrictionLaw:
    """Friction at the joint (not at the motor), which the actuator must overcome.

    With s = sgn(qd), sgn(0) = 0, or s = tanh(qd / smooth_velocity) where that is set, the torque is

        viscous·qd  +  coulomb·s  +  stribeck·exp(-(qd / stribeck_velocity)²)·s
            +  power·sgn(qd)·|qd|^power_exponent  +  offset

    where `coulomb` is `coulomb_positive` for qd > 0 and `coulomb_negative` for qd < 0; viscous
    friction may have `viscous_positive` and `viscous_negative` instead of `viscous`. Each parameter
    of `PARAMETERS` is an argument of the constructor and an attribute.
    """

    values: tuple[float, ...]
    """The values of the parameters, in the order of `PARAMETERS`."""

    def __init__(self, *in_order: float, **by_name: float):
        given = dict(zip(PARAMETERS, in_order, strict=False)) | by_name
        if len(given) < len(in_order) + len(by_name) or not given.keys() <= PARAMETERS.keys():
            raise TypeError(f"the parameters of friction are {', '.join(PARAMETERS)}")
        values = (given.get(name, known.default) for name, known in PARAMETERS.items())
        object.__setattr__(self, "values", tuple(map(float, values)))

    def __getattr__(self, name: str) -> float:
        if name not in _INDEX:
            raise AttributeError(f"friction has no parameter {name!r}")
        return self.values[_INDEX[name]]

    def __repr__(self) -> str:
        changed = (
            f"{name}={value!r}"
            for name, value in self.parameters.items()
            if value != PARAMETERS[name].default
        )
        return f"FrictionLaw({', '.join(changed)})"

    @property
    def parameters(self) -> dict[str, float]:
        """The parameters by name."""
        return dict(zip(PARAMETERS, self.values, strict=True))

    def changed(self, **parameters: float) -> "FrictionLaw":
        """The same law with other values of these parameters."""
        return FrictionLaw(**self.parameters | parameters)

    def without(self, *terms: FrictionTerm) -> "FrictionLaw":
        """The law without these terms."""
        return self.changed(**{p.name: p.default for term in terms for p in term.parameters})

    def has(self, term: FrictionTerm) -> bool:
        """Whether a term is in the law."""
        return any(getattr(self, p.name) for p in term.parameters if p.linear)

    @property
    def is_zero(self) -> bool:
        """Whether the joint is free of friction."""
        return not any(map(self.has, TERMS))

    @property
    def jumps(self) -> bool:
        """Whether dry friction changes with the sign of the velocity at once, so that it sticks."""
        return not self.smooth_velocity and any(term.dry and self.has(term) for term in TERMS)

    def steep_torque(self, qd: float) -> float:
        """The torque at a velocity of the terms whose slope at rest is infinite."""
        steep = self.without(*(term for term in TERMS if not term.steep(self)))
        return float(steep.torque(qd, np.sign(qd)))

    @property
    def fault(self) -> str:
        """Why no joint can have this friction; empty if one can."""
        for parameter, value in zip(PARAMETERS.values(), self.values, strict=True):
            needed = parameter.needs
            if fault := parameter.fault(value):
                return fault
            if needed and value and not getattr(self, needed) > 0:
                return (
                    f"{parameter.name} = {value!r} needs a positive {needed} "
                    f"[{PARAMETERS[needed].unit}], got {getattr(self, needed)!r}"
                )
            if parameter.excludes and value and getattr(self, parameter.excludes):
                return f"give {parameter.excludes} or {parameter.name}, not both"
        return ""

    def idle(self) -> Iterator[str]:
        """What is given without an effect, since the term that it belongs to is absent."""
        for term in TERMS:
            for parameter in term.parameters:
                given = getattr(self, parameter.name) != parameter.default
                if given and parameter.idle and not self.has(term):
                    yield parameter.idle
        if self.smooth_velocity and not any(term.dry and self.has(term) for term in TERMS):
            yield SMOOTH_VELOCITY.idle

    def rows(
        self,
        qd: Any,
        direction: Any,
        number: Callable[[str, float], Any] = lambda _letter, value: value,
    ) -> dict[str, Any]:
        """The torque by rows of the ledger; those of absent terms are left out.

        Args:
            qd: Velocity of the joint [rad/s or m/s], a number, an array, a node or a symbol.
            direction: Its sign, -1, 0 or 1.
            number: What stands for a coefficient of that letter and value.
        """
        smooth = self.smooth_velocity
        s = np.tanh(qd / number(SMOOTH_COEFFICIENT.letter, smooth)) if smooth else direction
        rows: dict[str, Any] = {}
        # kernels add in the order in which nodes are made: dry terms come first
        for term in sorted(filter(self.has, TERMS), key=lambda term: not term.dry):
            pairs = zip(term.coefficients, term.values(self), strict=True)
            values = (number(coefficient.letter, value) for coefficient, value in pairs)
            torque = term.torque(qd, direction, s, *values)
            rows[term.row] = rows[term.row] + torque if term.row in rows else torque
        return {row: rows[row] for row in FRICTION_ROWS if row in rows}

    def torque(self, qd: Any, direction: Any) -> Any:
        """The torque at a velocity in a direction, see `rows`."""
        return sum(self.rows(qd, direction).values(), 0.0 * qd)

    def static_level(self, direction: float) -> float:
        """The torque above which a joint at rest starts to move in a direction, with its sign."""
        dry = self.without(*(term for term in TERMS if not term.dry)).changed(smooth_velocity=0.0)
        return float(dry.torque(0.0, direction))
