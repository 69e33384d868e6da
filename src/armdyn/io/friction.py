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
"""Keys that may hold a number for each direction; a single number is for both directions."""
FRICTION_KEYS = tuple(dict.fromkeys(parameter.key for parameter in PARAMETERS.values()))
"""Every key of friction in a table."""


def friction_from_keys(where: str, given: Mapping[str, Any]) -> FrictionLaw:
    """The law that the keys of a table give; other keys are left alone."""
    values: dict[str, float] = {}
    for key in FRICTION_KEYS:
        if key not in given:
            continue
        value = given[key]
        several = isinstance(value, Sequence | np.ndarray)
        if key not in PARAMETERS or (several and key in PAIRS):
            both = value if several else (value, value)
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


def keys_from_friction(law: FrictionLaw) -> Iterator[tuple[str, float | tuple[float, ...]]]:
    """The keys and values of everything in a law that is not as it would be without them."""
    for key in FRICTION_KEYS:
        pair = tuple(getattr(law, name) for name in PAIRS.get(key, ()))
        if any(pair):
            one = key not in PARAMETERS and pair[0] == pair[1]
            yield key, pair[0] if one else pair
        elif key in PARAMETERS and getattr(law, key) != PARAMETERS[key].default:
            yield key, getattr(law, key)
