"""Arithmetic on arrays of residues modulo the prime of the finite field."""

import numpy as np
import numpy.typing as npt

from armdyn.graph.operations import PRIME

Residues = npt.NDArray[np.uint64]
"""Residues, each below the prime 2⁶¹ - 1."""

_P = np.uint64(PRIME)
_LOW31 = np.uint64(2**31 - 1)
_LOW30 = np.uint64(2**30 - 1)
_1, _30, _31, _61 = (np.uint64(k) for k in (1, 30, 31, 61))


def residues(values: list[int]) -> Residues:
    """Python's integers as an array."""
    return np.array(values, dtype=np.uint64)


def add(a: Residues, b: Residues) -> Residues:
    """a + b."""
    return _settle(a + b)


def sub(a: Residues, b: Residues) -> Residues:
    """a - b."""
    return _settle(a + (_P - b))


def mul(a: Residues, b: Residues) -> Residues:
    """a b, from halves of 31 and 30 bits: 2⁶¹ is 1, so 2⁶² is 2."""
    a1, a0 = a >> _31, a & _LOW31
    b1, b0 = b >> _31, b & _LOW31
    middle = a1 * b0
    middle += a0 * b1
    total = (a1 << _1) * b1
    total += middle >> _30
    middle &= _LOW30
    middle <<= _31
    total += middle
    total += a0 * b0
    high = total >> _61
    total &= _P
    total += high
    return _settle(total)


def unsigned(a: Residues) -> Residues:
    """One residue for a and -a: the smaller."""
    return np.minimum(a, _P - a)


def roots(a: Residues) -> Residues:
    """A square root of each residue that has one, and 0 for the others."""
    root = a
    for _ in range(59):  # the exponent is (p + 1)/4 = 2⁵⁹, as p = 3 modulo 4
        root = mul(root, root)
    return np.where(mul(root, root) == a, root, np.uint64(0))


def _settle(a: Residues) -> Residues:
    return np.minimum(a, a - _P)  # below the prime the difference wraps around to a large number
