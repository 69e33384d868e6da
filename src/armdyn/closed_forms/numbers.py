"""Expressions of equations with numbers: their values, and formulas in which numbers stand."""

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from armdyn.closed_forms import tree
from armdyn.closed_forms.document import Document
from armdyn.closed_forms.mathml import MATHML, tokens
from armdyn.closed_forms.notation import angle_sum
from armdyn.closed_forms.tree import AngleFunction, Expr


def evaluated(equations: Document, expr: Expr, values: Mapping[str, float]) -> float:
    """The value of an expression for the values of its parameters, positions and velocities."""

    def value(part: Expr) -> float:
        return evaluated(equations, part, values)

    match expr:
        case tree.Number(number):
            return float(number)
        case tree.Symbol(symbol):
            return float(values[symbol])
        case AngleFunction():
            return _angle(equations, expr, values)
        case tree.Call(function, argument):
            known: Callable[[float], float] = (
                np.sign if function == "sgn" else getattr(np, function)
            )
            return float(known(value(argument)))
        case tree.Power(base, exponent):
            return float(value(base) ** exponent)
        case tree.RealPower(base, over):
            return float(value(base) ** value(over))
        case tree.Product(factors):
            return float(np.prod([value(factor) for factor in factors]))
        case tree.Sum(terms):
            return float(sum(value(term) for term in terms))
    raise TypeError(f"{expr!r} is no expression")


def substituted(
    equations: Document,
    expr: Expr,
    values: Mapping[str, float],
    number: Callable[[float], str] = "{:.3g}".format,
) -> str:
    """An expression with a number in place of each symbol, cosine and sine, as MathML."""

    def written(value: float) -> str:
        drawn = f"<mn>{number(value)}</mn>"
        return f"({drawn})" if value < 0 else drawn

    numeric = replace(
        MATHML,
        symbol=lambda symbol: written(values[symbol]),
        angle_function=lambda function: written(_angle(equations, function, values)),
        operators={**MATHML.operators, "mul": "·"},
    )
    return tokens(numeric.write(expr))


def _angle(equations: Document, function: AngleFunction, values: Mapping[str, float]) -> float:
    angle = evaluated(equations, angle_sum(function.angle, equations.offsets), values)
    return float(np.cos(angle) if function.name == "C" else np.sin(angle))
