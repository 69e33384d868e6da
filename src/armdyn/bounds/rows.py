"""The torque of each motor as a polynomial: rows of M, B, C and G, for every state.

They come from the program of inverse dynamics itself, evaluated over polynomials; the textbook's
recursion with the stored numbers, evaluated in the same way, says how far the program's numbers
are from the model.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.bounds.polynomials import (
    BITS,
    MOST_COORDINATES,
    SINE,
    UP,
    Monomials,
    Polynomial,
    Turn,
    U,
    polynomial_operations,
)
from armdyn.bounds.rounding import rounding
from armdyn.errors import ModelError
from armdyn.graph.program import Program
from armdyn.model import RobotModel
from armdyn.quantities.program import quantity_program
from armdyn.quantities.request import Request

DROPPED = 1e-9
"""Share of the coefficients that is counted as an error instead: their rounding, mostly."""


@dataclass(frozen=True, slots=True, eq=False)
class StateLimits:
    """Between what the state of a robot is."""

    low: Array
    """Positions, (n,)."""
    high: Array
    rates: Array
    """Largest speeds, (n,)."""
    bends: Array
    """Largest accelerations, (n,)."""

    def stroke(self, j: int) -> tuple[float, float]:
        """Middle and half of the range of a slide, whose position is middle + half x, |x| <= 1."""
        low, high = float(self.low[j]), float(self.high[j])
        middle = 0.5 * low + 0.5 * high
        return middle, max(high - middle, middle - low) * (1 + 4 * U)


@dataclass(frozen=True, slots=True, eq=False)
class Row:
    """The torque of one motor: Σ r T_r(q) over monomials r of rates that are at most 1.

    T_r = Σ k Π f(q_j) over the joints that matter, with f one of 1, c, s, c², cs for a joint that
    turns and 1, x, x² for one that slides.
    """

    joints: tuple[int, ...]
    """The coordinates that matter."""
    slides: tuple[bool, ...]
    """Whether each of these slides."""
    entries: Array
    """Which r each coefficient belongs to, (k,): a place in `rates`."""
    functions: Array
    """Which f of each joint, (k, joints)."""
    numbers: Array
    """The coefficients, (k,)."""
    rates: tuple[tuple[int, ...], ...]
    """For each r: () for 1, (j,) for an acceleration, (j, k) for a product of speeds."""
    error: float
    """How far a torque, of the model or as a kernel returns it, is from this sum at most, at every
    state [N m or N]."""
    scale: float
    """The sum of the sizes of all coefficients."""


def torque_rows(model: RobotModel, limits: StateLimits) -> tuple[Row, ...]:
    """The rows of all motors, without friction.

    Args:
        model: The robot; none with loops.
        limits: Between what its state is.

    Raises:
        ModelError: Torques are no polynomials of sines, cosines and slides.
    """
    n = len(limits.low)
    if n > MOST_COORDINATES:
        raise ModelError(
            f"{model.name!r} has {n} coordinates; bounds are proved for up to {MOST_COORDINATES}"
        )
    slides = [not joint.type.turns for joint in model.coordinate_joints]
    frame = Monomials(slides)
    found = []
    for formulation in (None, "newton_euler"):
        request = Request("inverse_dynamics", friction=False, formulation=formulation)
        program = quantity_program(model, request)
        # a kernel has constants that are rounded, a book the numbers of the model
        found.append(_evaluated(program, frame, limits, formulation is not None))
        if formulation is None:
            largest = np.maximum(np.abs(limits.low), np.abs(limits.high))
            sizes = {"q": largest, "qd": limits.rates, "qdd": limits.bends}
            errors = rounding(program, sizes)
    short, book = found
    differences = [p.plus(b, -1.0).size for p, b in zip(short, book, strict=True)]
    return tuple(map(_row, short, differences, errors))


def _evaluated(
    program: Program, frame: Monomials, limits: StateLimits, anew: bool
) -> list[Polynomial]:
    n = frame.n
    leaves: list[Any] = []
    for j in range(n):
        if frame.slides[j]:
            middle, half = limits.stroke(j)
            share = Polynomial.term(frame, 1 << (BITS * j), 0, half)
            leaves.append(share.plus(Polynomial.number(frame, middle)))
        else:
            leaves.append(Turn(frame, {j: 1.0}, 0.0, 0.0))
    entries: dict[str, list[Any]] = {"q": leaves}
    entries["qd"] = [Polynomial.term(frame, 0, 1 + j, limits.rates[j]) for j in range(n)]
    entries["qdd"] = [Polynomial.term(frame, 0, 1 + n + j, limits.bends[j]) for j in range(n)]
    known = {
        c.name: Polynomial.number(frame, float(c.value))
        for c in program.constants
        if c.op == "parameter" and c.value is not None
    }
    values = [x for array in program.inputs for x in entries[array.name]]
    outputs = program.evaluated(values, polynomial_operations(frame), known if anew else None)
    if any(isinstance(x, Turn) for x in outputs):
        raise ModelError("a torque is an angle, so that nothing is proved")
    return outputs


def _row(p: Polynomial, difference: float, rounded: float) -> Row:
    """The row of a program that is so far from the textbook, and rounded so far in a kernel."""
    frame, n = p.frame, p.frame.n
    # what adds up to nothing is an error
    order = np.argsort(np.abs(p.numbers), kind="stable")
    sums = np.cumsum(np.abs(p.numbers[order]))
    scale = float(sums[-1]) if len(sums) else 0.0
    count = int(np.searchsorted(sums, DROPPED * scale))
    dropped = float(sums[count - 1]) if count else 0.0
    kept = np.sort(order[count:])
    keys, rates, numbers = p.keys[kept], p.rates[kept], p.numbers[kept]
    if not len(numbers):
        keys, rates, numbers = np.zeros(1, dtype=int), np.zeros(1, dtype=int), np.zeros(1)
    fields = (keys[:, None] >> (BITS * np.arange(n))) & (2**BITS - 1)
    functions = np.zeros_like(fields)
    for j, slides in enumerate(frame.slides):
        cosine, sine = fields[:, j] & (2**SINE - 1), fields[:, j] >> SINE
        functions[:, j] = cosine if slides else _FUNCTIONS[np.minimum(cosine, 3), sine]
        if (functions[:, j] < 0).any() or functions[:, j].max(initial=0) > (2 if slides else 4):
            raise ModelError(
                f"a torque is of a higher degree than two in coordinate {j + 1}, so that nothing "
                "is proved"
            )
    # a torque that depends on nothing has the first joint, and one that is nothing a zero
    joints = tuple(np.flatnonzero(functions.any(axis=0)).tolist()) or (0,)
    places = np.unique(rates)
    meaning: dict[int, tuple[int, ...]] = {0: ()}
    meaning |= {1 + n + j: (j,) for j in range(n)}
    meaning |= {place: pair for pair, place in frame.pair_place.items()}
    if not set(places.tolist()) <= meaning.keys():
        raise ModelError("a torque is linear in speeds beside friction, so that nothing is proved")
    return Row(
        joints,
        tuple(frame.slides[j] for j in joints),
        np.searchsorted(places, rates),
        functions[:, list(joints)],
        numbers,
        tuple(meaning[int(place)] for place in places),
        (p.error + dropped * UP + max(difference, rounded)) * UP,
        scale,
    )


_FUNCTIONS = np.array([[0, 2, -1], [1, 4, -1], [3, -1, -1], [-1, -1, -1]])
"""Which of 1, c, s, c², cs has these powers of the cosine and sine."""
