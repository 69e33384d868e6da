"""Friction that grows with a power of the speed: Fp sgn(q̇) |q̇|^α."""

from typing import Any

import numpy as np

from armdyn.model.friction.term import Coefficient, FrictionParameter, FrictionTerm

UNIT = "N m (s/rad)^ap or N (s/m)^ap"


def _torque(qd: Any, direction: Any, s: Any, Fp: Any, alpha: Any) -> Any:
    if np.asarray(qd).dtype == object:  # nodes and printed symbols
        return Fp * np.frompyfunc(lambda one: one.signed_power(alpha), 1, 1)(qd)
    return Fp * np.sign(qd) * np.abs(qd) ** alpha


POWER = FrictionTerm(
    name="power",
    row="viscous",
    parameters=(
        FrictionParameter("power", UNIT, heading="power"),
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
        Coefficient("Fp", UNIT, "friction of joint {} by the power law, at unit speed"),
        Coefficient("ap", "", "exponent of the power law of joint {}"),
    ),
    values=lambda law: (law.power, law.power_exponent),
    torque=_torque,
    absence="has no friction by a power of the speed",
    steep=lambda law: law.power > 0 and law.power_exponent < 1,
)
