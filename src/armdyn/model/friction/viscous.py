"""Viscous friction: Fv q̇."""

from typing import Any

from armdyn.model.friction.term import Coefficient, FrictionParameter, FrictionTerm

UNIT = "N m s or N s/m"


def _torque(qd: Any, direction: Any, s: Any, Fv: Any) -> Any:
    return Fv * qd


VISCOUS = FrictionTerm(
    name="viscous",
    row="viscous",
    parameters=(FrictionParameter("viscous", UNIT, heading="viscous"),),
    coefficients=(Coefficient("Fv", UNIT, "viscous friction of joint {}"),),
    values=lambda law: (law.viscous,),
    torque=_torque,
    absence="ignores damping (the viscous term)",
)
