"""A program as a processor takes it: fused multiply-adds, and sines and cosines all at once.

Values keep the numbers that they have in the program.
"""

from dataclasses import dataclass, replace

from armdyn.graph.linearize import delay, schedule, tighten
from armdyn.graph.operations import TRIG
from armdyn.graph.program import Program
from armdyn.kernels.llvm.fuse import Definitions, fuse

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


def lower(program: Program, fma: bool, *, split: bool = True) -> Lowered:
    """The program in layers, its operations output by output.

    With fused multiply-adds, sums may be split where some of their terms come late (`fuse`).
    """
    first = len(program.symbols) + len(program.constants)
    definitions = {first + i: (op.op, op.args) for i, op in enumerate(program.instructions)}
    if fma:
        definitions = fuse(definitions, program.outputs, split)
    waiting = {value: args for value, (_, args) in definitions.items()}
    layers = []
    for turned in [*_turned(definitions), {}]:
        angles = tuple((a, made.get("sin", -1), made.get("cos", -1)) for a, made in turned.items())
        order = schedule(list(turned) or program.outputs, waiting)
        layers.append(Layer(_tightened([(v, *definitions[v]) for v in order]), angles))
        for value in (*order, *(v for made in turned.values() for v in made.values())):
            del waiting[value]
    return Lowered(program, tuple(layers))


def hastened(lowered: Lowered) -> Lowered:
    """The same with each operation as early as it can be where that costs no more values."""
    level: dict[int, int] = {}
    layers = []
    for layer in lowered.layers:
        for value, _, args in layer.operations:
            level[value] = 1 + max(level.get(a, 0) for a in args)
        for angle, *made in layer.angles:
            level |= dict.fromkeys(made, 1 + level.get(angle, 0))
        by_level = sorted(layer.operations, key=lambda operation: level[operation[0]])
        layers.append(replace(layer, operations=_tightened(by_level)))
    return replace(lowered, layers=tuple(layers))


def _tightened(operations: list[Operation]) -> tuple[Operation, ...]:
    """The operations in an order near the given one in which few values are alive."""
    by_value = {operation[0]: operation for operation in operations}
    operands = {value: args for value, _, args in operations}
    return tuple(by_value[v] for v in delay(tighten(list(operands), operands), operands))


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
