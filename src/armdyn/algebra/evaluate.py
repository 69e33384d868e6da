"""Trigonometric polynomials as numbers."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from armdyn.algebra.ring import Trig
from armdyn.arrays import Array


def evaluate(
    value: Any, angles: Sequence[Any], symbols: Mapping[str, Any], batch: tuple[int, ...] = ()
) -> Array:
    """The values of an array of polynomials, (batch..., ...), at angles [rad] and symbols.

    These are numbers or arrays of the shape of the batch.
    """
    entries: Any = np.asarray(value, dtype=object)
    result = np.zeros((*batch, *entries.shape))

    @cache
    def harmonic(k: int, w: int) -> Any:
        return np.cos(w * angles[k]) if w > 0 else np.sin(-w * angles[k])

    for place in np.ndindex(entries.shape):
        result[(..., *place)] = _number(entries[place], harmonic, symbols)
    return result


def _number(value: Trig, harmonic_of: Callable[[int, int], Any], symbols: Mapping[str, Any]) -> Any:
    total: Any = 0.0
    for harmonic, coefficients in value.terms.items():
        part: Any = 0.0
        for monomial, number in coefficients.items():
            term: Any = float(number)
            for name, exponent in value.ring.exponents(monomial).items():
                term = term * symbols[name] ** exponent
            part = part + term
        for k, w in enumerate(harmonic):
            part = part * harmonic_of(k, w) if w else part
        total = total + part
    return total
