"""Polynomials of the equations as SymPy expressions of the parameters and of C2, S23, ..."""

from types import SimpleNamespace

import sympy

from armdyn.closed_forms.closed_form import factored
from armdyn.closed_forms.printer import angle_identifier
from armdyn.closed_forms.readable import readable
from armdyn.closed_forms.tree import AngleFunction
from armdyn.graph.ring import Trig


def expression(robot, value):
    """A polynomial in its readable form; cosines and sines are symbols as well."""

    def symbol(name):
        return sympy.Symbol(name, real=True)

    terms = []
    for term in readable(robot, value):
        turns = [symbol(angle_identifier(AngleFunction(f, a))) ** e for f, a, e in term.product]
        for monomial, number in term.coefficient.items():
            powers = [symbol(s) ** e for s, e in robot.ring.exponents(monomial).items()]
            factor = sympy.Rational(number.numerator, number.denominator)
            terms.append(sympy.Mul(factor, *powers, *turns))
    return sympy.Add(*terms)


def in_factors(robot, value):
    """A polynomial as a product of its factors."""
    found = factored(robot, value)
    result = sympy.Rational(found.number.numerator, found.number.denominator)
    for factor, exponent in found.factors:
        result *= expression(robot, factor) ** exponent
    return result


def tool_terms(form):
    """The determinant of J, and M, V and G of the tool."""

    def summed(quotients):
        total = sympy.Integer(0)
        for quotient in quotients:
            part = in_factors(form.robot, quotient.numerator)
            for factor, exponent in quotient.divisors:
                part /= expression(form.robot, factor) ** exponent
            total += part
        return total

    return SimpleNamespace(
        det=in_factors(form.robot, form.determinant),
        M=[[summed(entry) for entry in row] for row in form.mass],
        V=[summed(entry) for entry in form.velocity],
        G=[summed(entry) for entry in form.gravity],
    )


def expanded(robot, terms):
    """The polynomial of readable terms."""
    ring, total = robot.ring, robot.ring.number(0)
    for term in terms:
        value = Trig(ring, {ring.unit: dict(term.coefficient)})
        for function, angle, exponent in term.product:
            multiples = _multiples(robot, angle)
            turned = ring.cos(multiples) if function == "C" else ring.sin(multiples)
            value = value * turned**exponent
        total = total + value
    return total


def _multiples(robot, angle):
    """An angle as a combination of the angles of the ring."""
    if isinstance(angle, str):
        return {robot.ring.angles.index(angle): 1}
    places = {sums: place for place, sums in robot.sums.items()}
    if angle in places:
        return {places[angle]: 1}
    back = tuple((joint, -sign) for joint, sign in angle)
    for long, place in places.items():
        start = len(long) - len(angle)
        if start > 0 and long[start:] in (angle, back) and long[:start] in places:
            sign = 1 if long[start:] == angle else -1
            return {place: sign, places[long[:start]]: -sign}
    raise LookupError(f"no angle of the robot sums up {angle}")
