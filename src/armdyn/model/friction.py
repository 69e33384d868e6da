"""The friction law of a joint: the sum of the terms in `TERMS`."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from armdyn.model.friction_terms import (
    FRICTION_ROWS,
    PARAMETERS,
    SMOOTH_COEFFICIENT,
    SMOOTH_VELOCITY,
    TERMS,
    FrictionTerm,
)

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
