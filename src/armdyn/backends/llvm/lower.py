"""A program as a processor takes it: fused multiply-adds, and sines and cosines all at once.

Values keep the numbers that they have in the program.
"""

from dataclasses import dataclass

from armdyn.backends.llvm.fuse import Definitions, fuse
from armdyn.compiler.linearize import schedule, tighten
from armdyn.compiler.program import Program
from armdyn.expr.operations import TRIG

Operation = tuple[int, str, tuple[int, ...]]
"""Value, operation and operands."""

Angles = tuple[tuple[int, int, int], ...]
"""For each angle its value, its sine and its cosine; -1 where one of these is not used."""


@dataclass(frozen=True, slots=True)
class Layer:
    """Operations, and the angles that are turned into sines and cosines after them."""

    operations: tuple[Operation, ...]
    angles: Angles


@dataclass(frozen=True, slots=True)
class Lowered:
    """The values of a program in layers.

    The angles of a layer are computed from inputs and the layers before, then the sines and cosines
    of all of them at once; the last layer has no angles.
    """

    program: Program
    layers: tuple[Layer, ...]


def lower(program: Program, fma: bool) -> Lowered:
    """The program in layers, with fused multiply-adds if the processor has them."""
    first = len(program.symbols) + len(program.constants)
    definitions = {first + i: (op.op, op.args) for i, op in enumerate(program.instructions)}
    if fma:
        definitions = fuse(definitions, program.outputs)
    waiting = {value: args for value, (_, args) in definitions.items()}
    layers = []
    for turned in _turned(definitions):
        angles = tuple((a, made.get("sin", -1), made.get("cos", -1)) for a, made in turned.items())
        layers.append(Layer(_scheduled(definitions, list(turned), waiting), angles))
        for made in turned.values():
            for value in made.values():
                del waiting[value]
    rest = _scheduled(definitions, program.outputs, waiting)
    return Lowered(program, (*layers, Layer(rest, ())))


def _turned(definitions: Definitions) -> list[dict[int, dict[str, int]]]:
    """For each layer its angles with their sines and cosines."""
    depth: dict[int, int] = {}
    layers: list[dict[int, dict[str, int]]] = []
    for value, (op, args) in definitions.items():
        depth[value] = max(depth.get(a, 0) for a in args)
        if op in TRIG:
            if depth[value] == len(layers):
                layers.append({})
            layers[depth[value]].setdefault(args[0], {})[op] = value
            depth[value] += 1
    return layers


def _scheduled(
    definitions: Definitions,
    wanted: tuple[int, ...] | list[int],
    waiting: dict[int, tuple[int, ...]],
) -> tuple[Operation, ...]:
    """The operations that some values still need, in order; they are no longer waiting then."""
    order = tighten(schedule(wanted, waiting), waiting)
    for value in order:
        del waiting[value]
    return tuple((value, *definitions[value]) for value in order)
