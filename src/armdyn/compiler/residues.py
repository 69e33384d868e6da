"""Arithmetic on arrays of residues modulo the prime of the finite field."""

import numpy as np
import numpy.typing as npt

from armdyn.expr.operations import PRIME

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
    middle = a1 * b0 + a0 * b1
    total = ((a1 * b1) << _1) + (middle >> _30) + ((middle & _LOW30) << _31) + a0 * b0
    return _settle((total & _P) + (total >> _61))


def unsigned(a: Residues) -> Residues:
    """One residue for a and -a: the smaller."""
    return np.minimum(a, _settle(_P - a))


def _settle(a: Residues) -> Residues:
    return np.where(a >= _P, a - _P, a)
