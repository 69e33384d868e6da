"""The statements of a program, for languages that write arithmetic as C does.

A value that is used once is written where it is used as long as the line stays readable; operands
keep their order and grouping, so that rounding is that of the program.
"""

import math
from collections import Counter
from collections.abc import Callable
from itertools import chain, count

from armdyn.arrays import record
from armdyn.errors import ModelError
from armdyn.graph.operations import FUNCTIONS, TRIG
from armdyn.graph.printer import Infix, Language
from armdyn.graph.program import Constant, Program

WIDEST_EXPRESSION = 64
"""Longest expression that others are written into."""
LONGEST_INLINE_NUMBER = 8
"""Longest number that is written where it is used; longer ones get a name."""


@record(kw_only=True)
class Statements(Language):
    """How a language writes what programs are made of."""

    exact: bool = True
    number: Callable[[float], str]
    entry: Callable[[str, int], str]
    """Entry i of an input array."""
    declare: str
    """A new variable, with {name} and {value} in it."""
    reuse: bool = False
    """Whether a variable takes another value once its own is not needed any more."""


def exact_constant(value: float) -> str:
    """The shortest number that reads back the same."""
    if not math.isfinite(value):
        raise ModelError(f"a number of the robot comes out as {value}, which cannot be exported")
    return repr(float(value))


class ConstantTable:
    """The constants of several functions by name, each once."""

    def __init__(self) -> None:
        self.values: dict[str, float] = {}
        self._named: dict[tuple[str, float], str] = {}

    def name(self, constant: Constant) -> str:
        """The name of a constant: its own in the model, or k1, k2, ... for combinations."""
        assert constant.value is not None
        key = constant.name if constant.op == "parameter" else "", constant.value
        if key not in self._named:
            wanted = key[0] or f"k{1 + sum(name.startswith('k') for name in self.values)}"
            numbered = (f"{wanted}_{again}" for again in count(2))
            name = next(name for name in chain([wanted], numbered) if name not in self.values)
            self._named[key] = name
            self.values[name] = constant.value
        return self._named[key]


class FunctionBody:
    """The statements of a program and where its outputs are afterwards.

    Every output is a variable or a number at the end of the statements.
    """

    def __init__(self, program: Program, language: Statements, constants: ConstantTable):
        self.program, self.language, self.constants = program, language, constants
        self.statements: list[str] = []
        self.used: set[str] = set()
        """Input arrays that are read."""
        self.values: dict[int, Infix] = {}
        self.needs: dict[int, tuple[int, ...]] = {}
        """The variables in each value that is not written down yet, by place."""
        self.free: list[str] = []
        self.made = 0
        self.angles: set[str] = set()
        kept = Counter(program.outputs)
        self.left = Counter(k for i in program.instructions for k in i.args) + kept
        entries = [(array.name, i) for array in program.inputs for i in range(len(array.symbols))]
        for place, (name, i) in enumerate(entries):
            self.values[place] = Infix(language.entry(name, i))
            self.used |= {name} if self.left[place] else set()
        first = len(entries)
        for place, constant in enumerate(program.constants, start=first):
            if self.left[place]:
                self.values[place] = self._constant(constant)
        self.start = first + len(program.constants)
        for place, instruction in enumerate(program.instructions, start=self.start):
            self._write(place, instruction.op, instruction.args)
            single = self.left[place] == 1 and place not in kept
            if not single or instruction.op in FUNCTIONS:
                self._settle(place)
        for place in dict.fromkeys(program.outputs):
            if place < first:  # outputs may be written over the inputs
                self._settle(place)
        self.outputs = [self.values[k].text for k in program.outputs]

    def _constant(self, constant: Constant) -> Infix:
        assert constant.value is not None
        literal = self.language.number(constant.value)
        if constant.op == "parameter" or len(literal) > LONGEST_INLINE_NUMBER:
            return Infix(self.constants.name(constant))
        return self.language.literal(literal)

    def _write(self, place: int, op: str, args: tuple[int, ...]) -> None:
        self.values[place] = self.language.operation(op, [self.values[k] for k in args])
        inline = [k for k in args if k in self.needs]
        if inline and len(self.values[place].text) > WIDEST_EXPRESSION:
            self._settle(max(inline, key=lambda k: len(self.values[k].text)))
            self._write(place, op, args)
            return
        self.needs[place] = tuple(
            v for k in args for v in self.needs.get(k, (k,) if k >= self.start else ())
        )

    def _settle(self, place: int) -> None:
        """Give a value a variable."""
        for k in self.needs.pop(place, ()):
            self.left[k] -= 1
            if self.language.reuse and not self.left[k] and self.values[k].text[0] == "v":
                self.free.append(self.values[k].text)
        name = self._angle_name(place)
        if not name and not self.free:
            self.made += 1
            self.free.append(f"v{self.made}")
        name = name or self.free.pop()
        value = self.values[place].text
        self.statements.append(self.language.declare.format(name=name, value=value))
        self.values[place] = Infix(name)

    def _angle_name(self, place: int) -> str:
        """s1, c1, s23: sine and cosine of a position or a sum of positions."""
        if place < self.start:
            return ""
        instruction = self.program.instructions[place - self.start]
        if instruction.op not in TRIG:
            return ""
        joints = self._joints(instruction.args[0])
        between = "" if len(self.program.inputs[0].symbols) < 10 else "_"
        name = instruction.op[0] + between.join(map(str, sorted(joints)))
        if not joints or name in self.angles:
            return ""
        self.angles.add(name)
        return name

    def _joints(self, place: int) -> list[int]:
        """The joints whose positions a value is the sum of; none if it is something else."""
        if place < len(self.program.symbols):
            array = self.program.inputs[0]
            return [place + 1] if array.name == "q" and place < len(array.symbols) else []
        if place < self.start:
            return []
        instruction = self.program.instructions[place - self.start]
        if instruction.op not in ("add", "angle_sum"):
            return []
        parts = [self._joints(k) for k in instruction.args]
        return [joint for part in parts for joint in part] if all(parts) else []
