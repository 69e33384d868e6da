"""The conditions of a goal: polynomial equations of the parameters.

Every element of the mass matrix and every gravity torque is a sum of linearly independent functions
of the configuration (`armdyn.graph.ring`), so it is constant if the coefficient of every function
that varies is zero, and zero if all coefficients are. These coefficients are polynomials of the
parameters.
"""

import math
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

import sympy

from armdyn.closed_forms.closed_form import ClosedForm
from armdyn.closed_forms.readable import power_form
from armdyn.closed_forms.reduced_form import reduced_form
from armdyn.closed_forms.symbolic_robot import SymbolicRobot
from armdyn.closed_forms.symbolise import symbolise
from armdyn.errors import counted
from armdyn.graph.ring import Harmonic, Monomial, Trig
from armdyn.model import RobotModel
from armdyn.study.simplify.goals import MOMENTUM, Goals, element_name

MOST_JOINTS_AND_TWISTS = 9
"""The most joints, plus angles between them that are no quarter turns, of an arm whose conditions
are written out: each of them more than doubles the number of terms."""


@dataclass(frozen=True, slots=True, eq=False)
class Condition:
    """A polynomial that must vanish."""

    polynomial: Any
    """A SymPy expression of the parameters."""
    sources: tuple[str, ...]
    """The coefficients that it comes from, such as "cos 2q2 in D11"."""


@dataclass(frozen=True, eq=False)
class Conditions:
    """All equations of a goal."""

    equations: tuple[Condition, ...]
    values: dict[str, float]
    """The parameters that occur, with the values of the robot."""


def conditions(model: RobotModel, goals: Goals, variables: Collection[str]) -> Conditions:
    """The equations of a goal, each once up to a factor.

    The numbers that may change are symbols even if they are zero.
    """
    form = _closed_form(model, variables)
    expressions = _Expressions(form.robot)
    found: dict[Any, list[str]] = {}
    for source, coefficients in _coefficients(form, goals):
        polynomial = expressions.primitive(coefficients)
        if polynomial:
            found.setdefault(polynomial, []).append(source)
    order = sorted(found, key=lambda p: (len(sympy.Add.make_args(p)), str(p)))
    used = {str(s) for p in found for s in p.free_symbols}
    values = {name: v for name, v in expressions.values.items() if name in used}
    return Conditions(tuple(Condition(p, tuple(found[p])) for p in order), values)


def unwritten(model: RobotModel, goals: Goals) -> str:
    """Why the equations of a goal are not written out; empty if they are."""
    if goals.momentless:
        return "the conditions of the shaking moment are not written out: no bodies fulfil them"
    robot = _closed_form(model).robot
    twists = len(robot.ring.angles) - len(robot.sums)
    if robot.n + twists <= MOST_JOINTS_AND_TWISTS:
        return ""
    said = f" with {twists} angles between them that are no quarter turns" if twists else ""
    return f"the conditions of {counted(robot.n, 'joint')}{said} are too long to be written out"


def _closed_form(model: RobotModel, variables: Collection[str] = ()) -> ClosedForm:
    """The equations of the coordinates in symbols."""
    robot = symbolise(model, {}, variables)
    return reduced_form(robot, model) if model.loops else ClosedForm(robot)


def _coefficients(
    form: ClosedForm, goals: Goals
) -> Iterator[tuple[str, list[tuple[Harmonic, Trig]]]]:
    """Every coefficient by its place; as parts, because angles that do not move belong to it."""
    robot = form.robot
    joints = [number - 1 for number in robot.coordinates]
    slides = [f"q{i + 1}" for i, q in zip(joints, robot.q, strict=True) if isinstance(q, Trig)]
    tables = {"D": form.M, "g": form.G}
    if goals.forceless:
        tables |= dict(zip(MOMENTUM, form.P, strict=True))
    for letter, at, varying_only in goals.elements(joints):
        value = tables[letter][tuple(joints.index(i) for i in at)]
        found: dict[str, list[tuple[Harmonic, Trig]]] = {}
        for (harmonic, slide), coefficient in value.split(slides).items():
            function = _function(robot, harmonic, slide)
            still = tuple(0 if k in robot.sums else w for k, w in enumerate(harmonic))
            found.setdefault(function, []).append((still, coefficient))
        for function, parts in found.items():
            if function or not varying_only:
                yield f"{function or 'the constant'} in {element_name(at, letter)}", parts


def _function(robot: SymbolicRobot, harmonic: Harmonic, slide: Monomial) -> str:
    """A function of the configuration in words; empty: a constant."""
    parts = []
    for place, w in enumerate(harmonic):
        if w and place in robot.sums:
            times = "" if abs(w) == 1 else str(abs(w))
            signed = (("+" if s > 0 else "-") + f"q{j}" for j, s in robot.sums[place])
            joints = "".join(signed).removeprefix("+")
            angle = joints if len(robot.sums[place]) == 1 else f"({joints})"
            parts.append(f"{'cos' if w > 0 else 'sin'} {times}{angle}")
    powers = robot.ring.exponents(slide).items()
    parts += [name + {1: "", 2: "²"}.get(exponent, f"^{exponent}") for name, exponent in powers]
    return " ".join(parts)


class _Expressions:
    """Coefficients as SymPy expressions."""

    def __init__(self, robot: SymbolicRobot):
        self.ring = robot.ring
        self.values = {name: robot.values.get(name, 0.0) for name in robot.ring.symbols}
        for k, name in enumerate(robot.ring.angles):
            if k not in robot.sums:
                angle = robot.values[name]
                self.values |= {f"c_{name}": math.cos(angle), f"s_{name}": math.sin(angle)}
        self.symbols = {name: sympy.Symbol(name, real=True) for name in self.values}

    def primitive(self, parts: list[tuple[Harmonic, Trig]]) -> Any:
        """A coefficient with whole numbers and a positive first term."""
        total = sympy.expand(sympy.Add(*(self._fixed(h) * self._polynomial(c) for h, c in parts)))
        _, primitive = total.as_content_primitive()
        leading = sympy.Poly(primitive).LC() if primitive.free_symbols else primitive
        return sympy.expand(-primitive if leading < 0 else primitive)

    def _fixed(self, harmonic: Harmonic) -> Any:
        """The cosines and sines of angles that do not move."""
        result = sympy.Integer(1)
        for name, w in zip(self.ring.angles, harmonic, strict=True):
            if w:
                c, s = self.symbols[f"c_{name}"], self.symbols[f"s_{name}"]
                result *= sympy.Add(*(k * c**i * s**j for (i, j), k in power_form(w).items()))
        return result

    def _polynomial(self, coefficient: Trig) -> Any:
        terms = []
        for _, monomial, number in coefficient:
            powers = (self.symbols[x] ** e for x, e in self.ring.exponents(monomial).items())
            terms.append(sympy.Rational(number.numerator, number.denominator) * sympy.Mul(*powers))
        return sympy.Add(*terms)
