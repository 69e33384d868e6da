"""Friction laws in files: the keys are those of `armdyn.model.friction`."""

from collections.abc import Container, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from armdyn.arrays import check_constant, check_number
from armdyn.errors import ModelError
from armdyn.model.friction import PARAMETERS, FrictionLaw

PAIRS = {
    p.key: (f"{p.key}_positive", f"{p.key}_negative")
    for p in PARAMETERS.values()
    if p.key != p.name
}
"""Keys that hold a number for each direction, or one number for both."""
FRICTION_KEYS = tuple(dict.fromkeys(parameter.key for parameter in PARAMETERS.values()))
"""Every key of friction in a table."""


def friction_from_keys(where: str, given: Mapping[str, Any]) -> FrictionLaw:
    """The law that the keys of a table give; other keys are left alone."""
    values: dict[str, float] = {}
    for key in FRICTION_KEYS:
        if key not in given:
            continue
        value = given[key]
        if key in PAIRS:
            both = value if isinstance(value, Sequence | np.ndarray) else (value, value)
            pair = check_constant(f"{where}: {key} (a number or a pair)", both, (2,))
            values |= zip(PAIRS[key], pair.tolist(), strict=True)
        else:
            values[key] = check_number(f"{where}: {key}", value)
    law = FrictionLaw(**values)
    if fault := missing(law, values) or law.fault:
        raise ModelError(f"{where}: {fault}")
    return law


def missing(law: FrictionLaw, given: Container[str]) -> str:
    """Which parameter was not given that another one needs, in words; empty if there is none."""
    for name, parameter in PARAMETERS.items():
        needed = parameter.needs
        if needed and getattr(law, name) and needed not in given:
            return f"{name} needs a positive {needed} [{PARAMETERS[needed].unit}]"
    return ""


def keys_from_friction(law: FrictionLaw) -> Iterator[tuple[str, float | tuple[float, float]]]:
    """The keys and values of everything in a law that is not as it would be without them."""
    for key in FRICTION_KEYS:
        names = PAIRS.get(key, (key,))
        values = tuple(getattr(law, name) for name in names)
        if any(
            value != PARAMETERS[name].default for name, value in zip(names, values, strict=True)
        ):
            yield key, values[0] if len(set(values)) == 1 else values
