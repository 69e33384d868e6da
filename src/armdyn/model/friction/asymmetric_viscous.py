"""Viscous friction with a coefficient for each direction: (Fv + Fw sgn q̇) q̇."""

from typing import Any

from armdyn.model.friction.term import Coefficient, FrictionParameter, FrictionTerm
from armdyn.model.friction.viscous import UNIT, VISCOUS


def _torque(qd: Any, direction: Any, s: Any, Fv: Any, Fw: Any) -> Any:
    return (Fv + Fw * direction) * qd


def _values(law: Any) -> tuple[float, float]:
    forwards, backwards = law.viscous_positive, law.viscous_negative
    return 0.5 * (forwards + backwards), 0.5 * (forwards - backwards)


ASYMMETRIC_VISCOUS = FrictionTerm(
    name="asymmetric_viscous",
    row="viscous",
    parameters=(
        FrictionParameter("viscous_positive", UNIT, excludes="viscous", heading="viscous +"),
        FrictionParameter("viscous_negative", UNIT, excludes="viscous", heading="viscous -"),
    ),
    coefficients=(
        *VISCOUS.coefficients,
        Coefficient("Fw", UNIT, "half of what viscous friction of joint {} is larger forwards"),
    ),
    values=_values,
    torque=_torque,
    absence="ignores damping (the viscous term) where it differs by direction",
)
