"""The signs of expressions of parameters, as far as they hold for all values."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import sympy

from armdyn.simplification.design_variables import positive

_CANCELLATION_TOLERANCE = 1e-9
"""A smaller sum, relative to its terms, is the rounding of terms that cancel."""


@dataclass(frozen=True, slots=True)
class Signs:
    """Signs of expressions.

    Free masses and principal inertias are positive, other free parameters have any sign, and
    those that are not free have the sign of their value.
    """

    variables: Collection[str]
    values: Mapping[str, float]

    def of(self, expression: Any) -> int:
        """1 or -1 if all terms have that sign and one of them cannot be zero; 0 if unknown."""
        signs, strict = set(), False
        for term in sympy.Add.make_args(sympy.expand(expression)):
            sign, certain = 1, True
            for base, exponent in term.as_powers_dict().items():
                one, sure = self._of_base(base)
                if not exponent.is_integer or (exponent % 2 and not one):
                    return 0
                sign *= one if exponent % 2 else 1
                certain = certain and sure
            signs.add(sign)
            strict = strict or certain
        return signs.pop() if strict and len(signs) == 1 else 0

    def _of_base(self, base: Any) -> tuple[int, bool]:
        """The sign of a number or symbol, 0 if either, and whether it cannot be zero."""
        if base.is_number:
            return int(sympy.sign(base)), True
        if not base.is_symbol:
            return 0, False
        if str(base) in self.variables:
            return (1, True) if positive(str(base)) else (0, False)
        value = self.values.get(str(base), 0.0)
        return (1 if value > 0 else -1 if value < 0 else 0), bool(value)

    def cancels(self, expression: Any) -> bool:
        """Whether the terms of an expression cancel with the robot's values, but for rounding."""
        terms = sympy.Add.make_args(sympy.expand(expression))
        values = {s: self.values[str(s)] for s in expression.free_symbols}
        numbers = [float(term.subs(values)) for term in terms]
        return abs(sum(numbers)) <= _CANCELLATION_TOLERANCE * sum(map(abs, numbers))
