"""The shortest program known for the torques, in auxiliary variables, to be read line by line.

Constants that depend on the arm alone come first (K1, K2, ...), then sines and cosines, then
variables that are used more than once or are long (t1, t2, ...), then the torques.
Reference: M. Renaud, Quasi-minimal computation of the dynamic model of a robot manipulator.
"""

import itertools
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from armdyn.closed_forms.document import Block, Line, index
from armdyn.closed_forms.tree import Call, Expr, Number, Symbol, leaves, negated, operation, sign
from armdyn.graph.operations import TRIG
from armdyn.graph.program import Constant, Program
from armdyn.loops.coordinates import coordinates_of
from armdyn.model import RobotModel
from armdyn.quantities.program import quantity_program
from armdyn.quantities.request import Request

MOST_LEAVES_INLINE = 8
"""A value that is used once and has at most so many leaves is written where it is used."""


def recursive(model: RobotModel, digits: int | None = None) -> "Recursive":
    """The program for the torques of links and rotors, with symbols or with rounded numbers.

    Joints that mimic others are coordinates of their own; those that loops move are none.
    """
    joints = tuple(replace(j, mimic=None) for j in model.joints)
    rubbing = with_friction(model)
    program = quantity_program(
        replace(model, joints=joints), Request("inverse_dynamics", friction=rubbing)
    )
    return Recursive(program, digits, [i + 1 for i, j in enumerate(joints) if j.actuated])


def with_friction(model: RobotModel) -> bool:
    """Whether friction is in the program: where it acts at passive joints that turn as q says."""
    return not coordinates_of(model).is_linear and not model.is_frictionless


class Recursive:
    """The lines of the program of a robot, and the number of its operations."""

    def __init__(self, program: Program, digits: int | None, numbers: Sequence[int]):
        """Write the lines of a program of coordinates, which have the numbers of their joints."""
        self.constants: list[Line] = []
        self.angles: list[Line] = []
        self.variables: list[Line] = []
        self.values: dict[str, float] = {}
        """Values of the parameters."""
        self.operations = program.operations
        """Of the links."""
        self.rotors = program.rotors
        """What rotors take on top."""
        self._program = program
        self._digits = digits
        self._first = len(program.symbols)
        self._start = self._first + len(program.constants)
        self._uses: Counter[int] = Counter(program.outputs)
        for constant in program.constants:
            self._uses.update(constant.args)
        for instruction in program.instructions:
            if instruction.op not in TRIG:
                self._uses.update(instruction.args)
        self._at_run_time = {k for i in program.instructions for k in i.args} | set(program.outputs)
        self._turned = self._parts_of_angles()
        self._written: dict[int, Expr] = {}
        self._spelled: dict[int, Expr] = {}
        """Values without names of variables, from which angles are made."""
        for place, name in enumerate(program.symbols):
            match = re.fullmatch(r"(q|qd|qdd)(\d+)", name)  # it gets the number of its joint
            number = numbers[int(match[2]) - 1] if match else ""
            self._set(place, Symbol(f"{match[1]}{number}" if match else name))
        for place, constant in enumerate(program.constants, self._first):
            self._constant(place, constant)
        for place, instruction in enumerate(program.instructions, self._start):
            self._instruction(place, instruction.op, instruction.args)
        labels = [*numbers, *range(len(numbers) + 1, len(program.outputs) + 1)]
        self.torques = [
            Line("tau", index(labels[i]), self._written[place], (i,))
            for i, place in enumerate(program.outputs)
        ]

    def blocks(self) -> tuple[Block, ...]:
        """The lines in the order of computing."""
        given = ("q", "qd", "qdd")
        constants = tuple(self.constants)
        torques = tuple(self.torques)
        found = (
            Block("", "Constants, worked out beforehand", constants, (), given, beforehand=True),
            Block("", "Sines and cosines", tuple(self.angles), (), given),
            Block("", "Auxiliary variables", tuple(self.variables), (), given),
            Block("tau", "Torques", torques, (len(torques),), given),
        )
        return tuple(block for block in found if block.lines)

    def _parts_of_angles(self) -> set[int]:
        """What arguments of sines and cosines are made of."""
        found: set[int] = set()
        for place in reversed(range(len(self._program.instructions))):
            instruction = self._program.instructions[place]
            if instruction.op in TRIG or place + self._start in found:
                found.update(instruction.args)
        return found

    def _set(self, place: int, expr: Expr) -> None:
        self._written[place] = self._spelled[place] = expr

    def _constant(self, place: int, constant: Constant) -> None:
        """Write a constant of the program, by a name if it is used later."""
        value = constant.value or 0.0
        if constant.op == "number":
            self._set(place, _number(value))
        elif self._digits is not None and place in self._at_run_time:
            self._set(place, _number(float(f"{value:.{self._digits}g}")))
        elif constant.op == "parameter":
            self._set(place, Symbol(constant.name))
            if self._digits is None:
                self.values[constant.name] = value
        else:
            self._set(place, operation(constant.op, [self._written[k] for k in constant.args]))
            if self._digits is None and (place in self._at_run_time or self._uses[place] > 1):
                self._written[place] = self._named("K", self._written[place], self.constants)

    def _instruction(self, place: int, op: str, args: tuple[int, ...]) -> None:
        """Write an operation where it is used, or as a line of its own."""
        op = "add" if op == "angle_sum" else op
        if op in TRIG:
            self._written[place] = self._turn(op, self._spelled[args[0]])
            return
        expr = operation(op, [self._written.get(k) or self._spelled[k] for k in args])
        sums = op in ("add", "sub", "neg") or place in self._turned
        if sums and self._spelled.keys() >= set(args):
            self._spelled[place] = operation(op, [self._spelled[k] for k in args])
        if not self._uses[place]:
            return
        self._written[place] = expr
        short = sum(1 for _ in leaves(expr)) <= MOST_LEAVES_INLINE
        if self._uses[place] > 1 or not short:
            self._written[place] = self._named("t", expr, self.variables)

    def _named(self, letter: str, expr: Expr, lines: list[Line]) -> Expr:
        """A name for an expression; a sign stays outside of it."""
        if isinstance(expr, Symbol | Number) or (
            sign(expr) < 0 and isinstance(negated(expr), Symbol)
        ):
            return expr
        lines.append(Line(f"{letter}{len(lines) + 1}", "", expr))
        return Symbol(lines[-1].symbol)

    def _turn(self, op: str, argument: Expr) -> Expr:
        letter = {"sin": "S", "cos": "C"}[op]
        joints = [leaf.name[1:] for leaf in leaves(argument) if isinstance(leaf, Symbol)]
        digits = list(dict.fromkeys(name for name in joints if name.isdigit()))
        name = letter + ("_" if any(len(d) > 1 for d in digits) else "").join(digits)
        value = Call(op, (argument,))
        taken = {line.symbol: line.value for line in self.angles}
        names = (f"{name}_{again}" if again > 1 else name for again in itertools.count(1))
        wanted = next(name for name in names if taken.get(name, value) == value)
        if wanted not in taken:
            self.angles.append(Line(wanted, "", value))
        return Symbol(wanted)


def _number(value: float) -> Number:
    exact = Fraction(value)
    return Number(exact if exact.denominator <= 8 and abs(exact) < 100 else value)
