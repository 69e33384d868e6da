"""Polynomials that couple joints, by their coefficients from the constant on."""

from collections.abc import Sequence
from typing import Any


def polynomial(coefficients: Sequence[float], x: Any) -> Any:
    """c₀ + c₁ x + c₂ x² + ... of floats of any batch shape or of a node."""
    total: Any = 0.0
    for c in reversed(coefficients):
        total = total * x + c
    return total


def derivative(coefficients: Sequence[float]) -> tuple[float, ...]:
    """The coefficients of the derivative."""
    return tuple(k * c for k, c in enumerate(coefficients))[1:]


def composed(outer: Sequence[float], inner: Sequence[float]) -> tuple[float, ...]:
    """The coefficients of a polynomial of a polynomial."""
    total: list[float] = []
    for c in reversed(outer):
        product = [0.0] * (len(total) + len(inner) - 1 if total else 1)
        for i, a in enumerate(total):
            for j, b in enumerate(inner):
                product[i + j] += a * b
        product[0] += c
        total = product
    return tuple(total)
