"""Trigonometric polynomials as numbers."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from armdyn.algebra.ring import Trig
from armdyn.arrays import Array


def evaluate(
    value: Any, angles: Sequence[Any], symbols: Mapping[str, Any], batch: tuple[int, ...] = ()
) -> Array:
    """The values of polynomials.

    Args:
        value: A polynomial, or an array of them of any shape (...).
        angles: Each angle of the ring, numbers or arrays of the shape of the batch [rad].
        symbols: By name those that occur, numbers or arrays of the shape of the batch.
        batch: The shape of the batch.

    Returns:
        An array of shape (batch..., ...).
    """
    entries: Any = np.asarray(value, dtype=object)
    result = np.zeros((*batch, *entries.shape))
    harmonics: dict[tuple[int, int], Any] = {}
    for place in np.ndindex(entries.shape):
        result[(..., *place)] = _number(entries[place], angles, symbols, harmonics)
    return result


def _number(
    value: Trig,
    angles: Sequence[Any],
    symbols: Mapping[str, Any],
    known: dict[tuple[int, int], Any],
) -> Any:
    total: Any = 0.0
    for harmonic, coefficients in value.terms.items():
        part: Any = 0.0
        for monomial, number in coefficients.items():
            term: Any = float(number)
            for name, exponent in value.ring.exponents(monomial).items():
                term = term * symbols[name] ** exponent
            part = part + term
        for k, w in enumerate(harmonic):
            if w:
                if (k, w) not in known:
                    known[k, w] = np.cos(w * angles[k]) if w > 0 else np.sin(-w * angles[k])
                part = part * known[k, w]
        total = total + part
    return total
