"""What rounding does to the results of a program, whatever its arguments within their limits.

A value is known by the largest size it has and by the largest error of its computed value. Sums are
rounded as if their terms were added in any order, since kernels reorder and fuse them: that costs
at most one rounding of the sum of the sizes of all terms for each term. Sines and cosines are taken
to be right to four last places. Every figure here is larger than it need be by `UP`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from armdyn.arrays import Array
from armdyn.bounds.polynomials import UP, U
from armdyn.errors import ModelError
from armdyn.graph.program import Program

SINE_ERROR = 8.0
"""Of a computed sine, in units of the rounding of 1: four last places."""


class Rounded(NamedTuple):
    """A value of a program."""

    size: float
    error: float
    terms: int = 1
    """How many terms it is the sum of."""


def rounding(program: Program, sizes: dict[str, Array], unit: float = U) -> list[float]:
    """How far each output of a kernel is from that of exact arithmetic at most.

    Args:
        program: Of sums, products, sines and cosines.
        sizes: The largest size of each argument, by name; all that are not there are exact.
        unit: The rounding of a number, relative to it: 2⁻⁵³ in double precision.

    Raises:
        ModelError: The program has other operations, as quotients and Newton's steps.
    """
    values = [Rounded(float(x), 0.0) for array in program.inputs for x in sizes[array.name]]
    return [x.error for x in program.evaluated(values, _table(unit))]


def _table(unit: float) -> dict[str, Callable[..., Any]]:
    def add(a: Rounded, b: Rounded) -> Rounded:
        size, terms = a.size + b.size, a.terms + b.terms
        error = a.error + b.error
        return Rounded(size, (error + terms * unit * (size + error)) * UP, terms)

    def mul(a: Rounded, b: Rounded) -> Rounded:
        size = a.size * b.size
        error = a.size * b.error + b.size * a.error + a.error * b.error
        return Rounded(size, (error + unit * (size + error)) * UP)

    def sine(a: Rounded) -> Rounded:
        return Rounded(1.0, (a.error + SINE_ERROR * unit) * UP)

    def number(x: float) -> Rounded:
        return Rounded(abs(float(x)), 0.0)

    return {
        **{"add": add, "sub": add, "angle_sum": add, "mul": mul, "neg": lambda a: a},
        **{"sin": sine, "cos": sine, "number": number},
        **dict.fromkeys(("div", "sqrt", "guard"), _refused),
    }


def _refused(*_: Any) -> Any:
    raise ModelError("a kernel divides or takes roots, whose rounding is not bounded")
