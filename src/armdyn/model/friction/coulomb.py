"""Coulomb friction, with a level for each direction: (Fc + Fu sgn q̇) s."""

from typing import Any

from armdyn.model.friction.term import TORQUE, Coefficient, FrictionParameter, FrictionTerm


def _torque(qd: Any, direction: Any, s: Any, Fc: Any, Fu: Any) -> Any:
    return (Fc + Fu * direction) * s


def _values(law: Any) -> tuple[float, float]:
    forwards, backwards = law.coulomb_positive, law.coulomb_negative
    return 0.5 * (forwards + backwards), 0.5 * (forwards - backwards)


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
    values=_values,
    torque=_torque,
    absence="ignores dry friction (the Coulomb term)",
    dry=True,
)
