"""Programs: straight-line operations with named inputs, constants worked out, and outputs."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from armdyn.arrays import Array, broadcast, check_joint_vector
from armdyn.errors import ShapeError, TraceError, counted
from armdyn.forks import cached_property
from armdyn.graph.angle_sums import angle_sums
from armdyn.graph.count import Operations, count
from armdyn.graph.linearize import is_run, linearize
from armdyn.graph.nodes import Node
from armdyn.graph.operations import OPERATIONS
from armdyn.graph.printer import PLAIN, Infix
from armdyn.graph.verify import verify
from armdyn.graph.visit import reachable, uses


@dataclass(frozen=True, slots=True)
class Input:
    """An array that a program is called with."""

    name: str
    size: int | None
    """Length of the last axis; None for a scalar."""

    @property
    def symbols(self) -> tuple[str, ...]:
        """The names of its entries in the graph."""
        if self.size is None:
            return (self.name,)
        return tuple(f"{self.name}{i + 1}" for i in range(self.size))


@dataclass(frozen=True, slots=True)
class Constant:
    """A value that is known before the program runs."""

    op: str
    """"parameter", "number" or an operation on earlier constants."""
    args: tuple[int, ...]
    """Places of the operands among the values of the program."""
    name: str
    value: float | None
    """None if a parameter has no value."""


@dataclass(frozen=True, slots=True)
class Instruction:
    """One operation at run time."""

    op: str
    args: tuple[int, ...]
    """Places of the operands among the values of the program."""


@dataclass(frozen=True, eq=False)
class Program:
    """An ordered list of operations.

    Its values are numbered: first the symbols of the inputs, then the constants, then the result of
    each instruction.
    """

    inputs: tuple[Input, ...]
    constants: tuple[Constant, ...]
    instructions: tuple[Instruction, ...]
    outputs: tuple[int, ...]
    """The value of each output, in C order."""
    shape: tuple[int, ...]
    """Shape of the outputs."""
    whole: Operations
    """What one evaluation takes."""
    split: Callable[[], tuple[Operations, Operations]] | None = None
    """Gives what an evaluation takes without rotors and friction, and without friction."""

    @staticmethod
    def from_outputs(outputs: Any, inputs: Mapping[str, int | None]) -> "Program":
        """The program that computes an array of nodes of one graph.

        `inputs` gives for each array the program takes, in order, the length of its last axis (its
        entries are the graph's inputs name1, name2, ...), or None for a scalar.
        """
        array = np.asarray(outputs, dtype=object)
        nodes = _checked(array)
        arrays = tuple(Input(name, size) for name, size in inputs.items())
        built = _Builder(arrays, nodes)
        return Program(
            inputs=arrays,
            constants=tuple(built.constants),
            instructions=tuple(built.instructions),
            outputs=tuple(built.place[node.index] for node in nodes),
            shape=array.shape,
            whole=count(nodes),
        )

    @property
    def operations(self) -> Operations:
        """What one evaluation takes, without rotors and friction."""
        return self._split[0]

    @property
    def rotors(self) -> Operations:
        """What the inertia of rotors takes on top."""
        return self._split[1] - self._split[0]

    @property
    def friction(self) -> Operations:
        """What friction takes on top."""
        return self.whole - self._split[1]

    @cached_property
    def _split(self) -> tuple[Operations, Operations]:
        return self.split() if self.split else (self.whole, self.whole)

    @property
    def symbols(self) -> tuple[str, ...]:
        """Names of the entries of the inputs, in order."""
        return tuple(name for array in self.inputs for name in array.symbols)

    @cached_property
    def text(self) -> str:
        """A readable listing, the same in every process."""
        names, made = list(self.symbols), 0
        lines = ["inputs"]
        lines += [f"  {a.name}" + ("" if a.size is None else f"({a.size})") for a in self.inputs]
        beforehand: list[str] = []
        for constant in self.constants:
            known = "" if constant.value is None else f"  # {constant.value!r}"
            if constant.name:
                names.append(constant.name)
                beforehand += [f"  {constant.name}{known}"] if constant.op == "parameter" else []
            else:
                made += 1
                written = _written(constant, names)
                names.append(f"c{made}")
                beforehand.append(f"  c{made} = {written}{known}")
        lines += ["beforehand", *beforehand] if beforehand else []
        lines.append(f"instructions  # {self.whole}")
        for place, instruction in enumerate(self.instructions, start=1):
            lines.append(f"  v{place} = {_written(instruction, names)}")
            names.append(f"v{place}")
        lines.append(f"outputs {self.shape}")
        lines += [f"  [{i}] = {names[k]}" for i, k in enumerate(self.outputs)]
        return "\n".join(lines) + "\n"

    def __call__(self, *arrays: npt.ArrayLike) -> Array:
        """The outputs, (..., *shape), for arrays with any leading batch shape, in order."""
        if len(arrays) != len(self.inputs):
            names = ", ".join(array.name for array in self.inputs)
            raise ShapeError(
                f"the program takes {counted(len(self.inputs), 'array')} ({names}), got "
                f"{len(arrays)}"
            )
        checked = {}
        for given, expected in zip(arrays, self.inputs, strict=True):
            value = np.asarray(given)[..., None] if expected.size is None else given
            size = len(expected.symbols)
            checked[expected.name] = check_joint_vector(expected.name, value, size, "entries")
        vectors = broadcast(**checked) if checked else ()
        batch = vectors[0].shape[:-1] if vectors else ()
        result = np.empty((*batch, len(self.outputs)))
        for place, value in enumerate(self._evaluated(vectors)):
            result[..., place] = value
        return result.reshape(batch + self.shape)

    def _evaluated(self, vectors: Sequence[Array]) -> list[Any]:
        """The outputs by the table of operations; a value is forgotten after its last use."""
        missing = [c.name for c in self.constants if c.op == "parameter" and c.value is None]
        if missing:
            raise TraceError(
                f"the parameters {', '.join(missing)} have no value, so the program cannot be "
                "evaluated; give values where they are made, with graph.parameter(name, value)"
            )
        known = [vector[..., k] for vector in vectors for k in range(vector.shape[-1])]
        values: dict[int, Any] = dict(enumerate([*known, *(c.value for c in self.constants)]))
        left = Counter(k for i in self.instructions for k in i.args) + Counter(self.outputs)
        for place, instruction in enumerate(self.instructions, start=len(values)):
            operation = OPERATIONS[instruction.op].value
            values[place] = operation(*(values[k] for k in instruction.args))
            for k in instruction.args:
                left[k] -= 1
                if not left[k]:
                    del values[k]
        return [values[k] for k in self.outputs]


def _written(value: Constant | Instruction, names: list[str]) -> str:
    return PLAIN.operation(value.op, [Infix(names[k]) for k in value.args]).text


class _Builder:
    """Numbers the values of a program."""

    def __init__(self, inputs: tuple[Input, ...], outputs: list[Node]):
        nodes = reachable(outputs)
        symbols = [name for array in inputs for name in array.symbols]
        _check_symbols(nodes, symbols, inputs)
        self.constants: list[Constant] = []
        self.instructions: list[Instruction] = []
        self.place = {n.index: symbols.index(n.name) for n in nodes if n.op == "input"}
        """The value of each node, by index."""
        for node in nodes:
            if node.constant:
                self.place[node.index] = len(symbols) + len(self.constants)
                self.constants.append(self._constant(node, len(symbols)))
        flipped = _negated_differences(nodes, uses(outputs))
        sums = angle_sums(outputs)
        self.start = len(symbols) + len(self.constants)
        for node in linearize(outputs):
            if node.index in flipped.values():
                continue
            op, args = node.op, node.args
            if node.index in flipped:
                op, args = "sub", node.args[0].args[::-1]  # -(a - b) = b - a
            places = tuple(self.place[a.index] for a in args)
            if node.index in sums and op == "sub":  # a - b = a + (-b)
                places = places[0], self._append("neg", places[1:])
            name = "angle_sum" if node.index in sums and op in ("add", "sub") else op
            self.place[node.index] = self._append(name, places)

    def _append(self, op: str, args: tuple[int, ...]) -> int:
        self.instructions.append(Instruction(op, args))
        return self.start + len(self.instructions) - 1

    def _constant(self, node: Node, first: int) -> Constant:
        args = tuple(self.place[a.index] for a in node.args)
        value: float | None
        if node.op == "number":
            value = float(node.value)
        elif node.op == "parameter":
            value = node.graph.values.get(node.name)
        else:
            known = [self.constants[k - first].value for k in args]
            with np.errstate(all="ignore"):
                value = None if None in known else float(OPERATIONS[node.op].value(*known))
        return Constant(node.op, args, repr(node) if not args else "", value)


def _negated_differences(nodes: Iterable[Node], used: Mapping[int, int]) -> dict[int, int]:
    """For each negation of a difference that is used only so: the index of the difference."""
    return {
        n.index: n.args[0].index
        for n in nodes
        if n.op == "neg" and is_run(n) and n.args[0].op == "sub" and used[n.args[0].index] == 1
    }


def _checked(outputs: Array) -> list[Node]:
    nodes = list(outputs.flat)
    for node in nodes:
        if not isinstance(node, Node):
            raise TraceError(f"the output {node!r} is not a node; trace it with armdyn's trace")
        if node.graph is not nodes[0].graph:
            raise TraceError(
                f"the output {node!r} belongs to another graph than {nodes[0]!r}; trace everything "
                "that is combined in one graph"
            )
    verify(nodes)
    return nodes


def _check_symbols(nodes: list[Node], symbols: list[str], inputs: tuple[Input, ...]) -> None:
    twice = sorted({name for name in symbols if symbols.count(name) > 1})
    if twice:
        raise TraceError(f"the symbols {', '.join(twice)} are in two inputs; rename one of these")
    missing = [n.name for n in nodes if n.op == "input" and n.name not in symbols]
    if missing:
        given = ", ".join(a.name if a.size is None else f"{a.name}({a.size})" for a in inputs)
        raise TraceError(
            f"the outputs use the symbols {', '.join(missing)}, which are not among the inputs of "
            f"the program: {given or 'none'}; name them as inputs or make them parameters"
        )
