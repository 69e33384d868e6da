"""Polynomials as SymPy expressions of the parameters and of C2, S23, ..."""

from typing import Any

from armdyn.algebra.ring import Trig
from armdyn.equations.notation import turn_identifier
from armdyn.equations.readable import readable
from armdyn.equations.symbolic_robot import SymbolicRobot
from armdyn.equations.tree import Turn


def expression(robot: SymbolicRobot, value: Trig) -> Any:
    """A polynomial in SymPy, in its readable form; cosines and sines are symbols as well."""
    import sympy  # noqa: PLC0415 (slow to import)

    def symbol(name: str) -> Any:
        return sympy.Symbol(name, real=True)

    terms = []
    for term in readable(robot, value):
        turns = [symbol(turn_identifier(Turn(f, a))) ** e for f, a, e in term.product]
        for monomial, number in term.coefficient.items():
            powers = [symbol(s) ** e for s, e in robot.ring.exponents(monomial).items()]
            factor = sympy.Rational(number.numerator, number.denominator)
            terms.append(sympy.Mul(factor, *powers, *turns))
    return sympy.Add(*terms)
