"""A constant torque, such as the bias of an amplifier; it acts on a joint at rest, too: Fo."""

from typing import Any

from armdyn.model.friction.term import TORQUE, Coefficient, FrictionParameter, FrictionTerm


def _torque(qd: Any, direction: Any, s: Any, Fo: Any) -> Any:
    return Fo + 0.0 * qd  # in the shape of the velocities


OFFSET = FrictionTerm(
    name="offset",
    row="offset",
    parameters=(FrictionParameter("offset", TORQUE, signed=True, heading="offset"),),
    coefficients=(Coefficient("Fo", TORQUE, "constant torque of joint {}"),),
    values=lambda law: (law.offset,),
    torque=_torque,
    absence="has no constant torque (the offset)",
)
