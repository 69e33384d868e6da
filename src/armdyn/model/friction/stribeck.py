"""Stribeck friction, the excess of dry friction at low speed: Fs exp(-(q̇ / vs)²) s."""

import math
from typing import Any

import numpy as np

from armdyn.model.friction.term import SPEED, TORQUE, Coefficient, FrictionParameter, FrictionTerm


def _torque(qd: Any, direction: Any, s: Any, Fs: Any, vs: Any) -> Any:
    excess = Fs * s
    endless = isinstance(vs, float) and math.isinf(vs)
    return excess if endless else excess * np.exp(-np.square(qd / vs))


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
    torque=_torque,
    absence="has no Stribeck friction",
    dry=True,
)
