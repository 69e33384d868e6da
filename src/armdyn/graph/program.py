"""Programs: straight-line operations with named inputs, constants worked out, and outputs."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from armdyn.arrays import Array, broadcast, check_joint_vector, record
from armdyn.errors import ShapeError, TraceError
from armdyn.errors import counted as counted_words
from armdyn.forks import cached_property
from armdyn.graph.count import Operations, counted
from armdyn.graph.evaluate import FLOATS, Step, Table, run_for
from armdyn.graph.linearize import is_run, linearize
from armdyn.graph.nodes import Graph, Node
from armdyn.graph.operations import OPERATIONS, TRIG
from armdyn.graph.printer import PLAIN, Infix
from armdyn.graph.visit import reachable, uses


@record
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


@record
class Constant:
    """A value that is known before the program runs."""

    op: str
    """"parameter", "number" or an operation on earlier constants."""
    args: tuple[int, ...]
    """Places of the operands among the values of the program."""
    name: str
    value: float | None
    """None if a parameter has no value."""


@record
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
    split: Callable[[], tuple[Operations, Operations]] | None = None
    """Gives what an evaluation takes without rotors and friction, and without friction."""

    @staticmethod
    def from_outputs(
        outputs: Any, inputs: Mapping[str, int | None], *, as_recorded: bool = False
    ) -> "Program":
        """The program that computes an array of nodes of one graph.

        `inputs` gives for each array the program takes, in order, the length of its last axis (its
        entries are the graph's inputs name1, name2, ...), or None for a scalar. Operations come in
        an order in which few values wait; `as_recorded`, as they were entered in the graph, so that
        `nodes` enters them likewise.
        """
        array = np.asarray(outputs, dtype=object)
        arrays = tuple(Input(name, size) for name, size in inputs.items())
        return Program(arrays, *_numbered(arrays, _checked(array), as_recorded), array.shape)

    @cached_property
    def whole(self) -> Operations:
        """What one evaluation takes."""
        return counted((step.op, step.args[0]) for step in self.instructions)

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

    @property
    def parameters(self) -> set[str]:
        """Names of the parameters among its constants."""
        return {constant.name for constant in self.constants if constant.op == "parameter"}

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
                f"the program takes {counted_words(len(self.inputs), 'array')} ({names}), got "
                f"{len(arrays)}"
            )
        checked = {}
        for given, expected in zip(arrays, self.inputs, strict=True):
            value = np.asarray(given)[..., None] if expected.size is None else given
            size = len(expected.symbols)
            checked[expected.name] = check_joint_vector(expected.name, value, size, "entries")
        if missing := [c.name for c in self.constants if c.op == "parameter" and c.value is None]:
            raise TraceError(
                f"the parameters {', '.join(missing)} have no value, so the program cannot be "
                "evaluated; give values where they are made, with graph.parameter(name, value)"
            )
        vectors = broadcast(**checked) if checked else ()
        batch = vectors[0].shape[:-1] if vectors else ()
        result = np.empty((*batch, len(self.outputs)))
        entries = [vector[..., k] for vector in vectors for k in range(vector.shape[-1])]
        for place, value in enumerate(self.evaluated(entries)):
            result[..., place] = value
        return result.reshape(batch + self.shape)

    def evaluated(
        self,
        entries: Sequence[Any],
        table: Table = FLOATS,
        parameters: Mapping[str, Any] | None = None,
    ) -> list[Any]:
        """The outputs, in C order, for the entries of the inputs one after the other.

        `table` has the operations on values of their kind, and may turn constants into such by its
        "number". With `parameters`, by name, constants are computed anew from these.
        """
        values = dict(enumerate(entries))
        first, number = len(values), table.get("number")
        steps: list[Step] = []
        for place, constant in enumerate(self.constants, start=first):
            if parameters is None or constant.op == "number":
                values[place] = number(constant.value) if number else constant.value
            elif constant.op == "parameter":
                values[place] = parameters[constant.name]
            else:
                steps.append((place, constant.op, constant.args))
        numbered = enumerate(self.instructions, start=first + len(self.constants))
        steps += [(place, step.op, step.args) for place, step in numbered]
        return run_for(self.outputs, steps, values, table)

    def nodes(self, graph: Graph, symbols: Mapping[str, Any]) -> list[Node]:
        """The outputs in a graph, with nodes or numbers for inputs and parameters by name."""
        names = {op: op for op in OPERATIONS} | {"angle_sum": "add"}
        table: Table = {op: lambda *x, of=of: graph.apply(of, x) for op, of in names.items()}
        known = {
            name: value if isinstance(value, Node) else graph.number(value)
            for name, value in symbols.items()
        }
        entries = [known[name] for name in self.symbols]
        return self.evaluated(entries, {**table, "number": graph.number}, known)

    def data(self) -> list[Any]:
        """The program as lists, strings and numbers; values of parameters are not among them."""
        constants = [
            [_SHORT[c.op], *c.args] if c.args else [c.op, c.value if c.op == "number" else c.name]
            for c in self.constants
        ]
        instructions = [[_SHORT[step.op], *step.args] for step in self.instructions]
        inputs = [[array.name, array.size] for array in self.inputs]
        return [inputs, constants, instructions, list(self.outputs)]

    @staticmethod
    def from_data(data: Any) -> "Program":
        """The program that `data` gave; a ValueError if it is none."""
        try:
            inputs, constants, instructions, outputs = data
            program = Program(
                inputs=tuple(Input(str(name), int(size)) for name, size in inputs),
                constants=tuple(_constant_of(*row) for row in constants),
                instructions=tuple(
                    Instruction(_LONG[op], tuple(map(int, args))) for op, *args in instructions
                ),
                outputs=tuple(map(int, outputs)),
                shape=(len(outputs),),
            )
        except (TypeError, KeyError, ValueError, OverflowError) as error:
            raise ValueError("this is no program") from error
        program._check()
        return program

    def _check(self) -> None:
        """A ValueError if an operation has other operands than it should."""
        first = len(self.symbols)
        steps: list[tuple[int, Constant | Instruction]] = [
            *((place, c) for place, c in enumerate(self.constants, first) if c.args),
            *enumerate(self.instructions, first + len(self.constants)),
        ]
        sound = all(
            len(step.args) == OPERATIONS[step.op].arity and all(0 <= k < place for k in step.args)
            for place, step in steps
        )
        size = first + len(self.constants) + len(self.instructions)
        if not (sound and all(0 <= k < size for k in self.outputs)):
            raise ValueError("an operation of this program has operands that are not there")


def _constant_of(op: str, *rest: Any) -> Constant:
    """A constant from its data; a ValueError if it is none."""
    if op == "number" and isinstance(rest[0], int | float):
        return Constant(op, (), repr(rest[0]), rest[0])
    if op == "parameter" and isinstance(rest[0], str):
        return Constant(op, (), rest[0], None)
    return Constant(_LONG[op], tuple(map(int, rest)), "", None)


_SUMS = ("add", "sub", "neg")
_SHORT = {op: {"add": "+", "sub": "-", "mul": "*", "div": "/"}.get(op, op) for op in OPERATIONS}
_LONG = {short: op for op, short in _SHORT.items()}


def _written(value: Constant | Instruction, names: list[str]) -> str:
    return PLAIN.operation(value.op, [Infix(names[k]) for k in value.args]).text


def _numbered(
    inputs: tuple[Input, ...], outputs: list[Node], as_recorded: bool
) -> tuple[tuple[Constant, ...], tuple[Instruction, ...], tuple[int, ...]]:
    """Constants and instructions of a program, and the places of its outputs among the values."""
    nodes = reachable(outputs)
    symbols = [name for array in inputs for name in array.symbols]
    _check_symbols(nodes, symbols, inputs)
    place = {n.index: symbols.index(n.name) for n in nodes if n.op == "input"}
    constants: list[Constant] = []
    for node in nodes:
        if node.constant:
            args = tuple(place[a.index] for a in node.args)
            values = [constants[k - len(symbols)].value for k in args]
            place[node.index] = len(symbols) + len(constants)
            name = repr(node) if not args else ""
            constants.append(Constant(node.op, args, name, _constant_value(node, values)))
    order = list(filter(is_run, nodes)) if as_recorded else linearize(outputs)
    flipped = {} if as_recorded else _negated_differences(nodes, uses(outputs))
    sums = set() if as_recorded else _angle_sums(outputs)
    instructions: list[Instruction] = []

    def append(op: str, args: tuple[int, ...]) -> int:
        instructions.append(Instruction(op, args))
        return len(symbols) + len(constants) + len(instructions) - 1

    for node in order:
        if node.index in flipped.values():
            continue
        op, operands = node.op, node.args
        if node.index in flipped:
            op, operands = "sub", node.args[0].args[::-1]  # -(a - b) = b - a
        places = tuple(place[a.index] for a in operands)
        if node.index in sums and op == "sub":  # a - b = a + (-b)
            places = places[0], append("neg", places[1:])
        name = "angle_sum" if node.index in sums and op in ("add", "sub") else op
        place[node.index] = append(name, places)
    return tuple(constants), tuple(instructions), tuple(place[node.index] for node in outputs)


def _constant_value(node: Node, operands: list[float | None]) -> float | None:
    """The value of a constant from those of its operands; None if one has none."""
    if node.op == "number":
        return float(node.value)
    if node.op == "parameter":
        return node.graph.values.get(node.name)
    with np.errstate(all="ignore"):
        return None if None in operands else float(OPERATIONS[node.op].value(*operands))


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


def _angle_sums(outputs: Iterable[Node]) -> set[int]:
    """Indices of sums that are nothing but angles: whole turns may be left out of them."""
    outputs = list(outputs)
    nodes = reachable(outputs)
    summed = {n.index for n in nodes if n.constant or _is_position(n)}
    for node in nodes:
        if node.op in _SUMS and all(a.index in summed for a in node.args):
            summed.add(node.index)
    alone = summed & _only_angles(nodes, outputs)
    return {n.index for n in nodes if n.op in _SUMS and n.index in alone}


def _only_angles(nodes: list[Node], outputs: list[Node]) -> set[int]:
    """Indices of the nodes that only sines, cosines and sums for these use."""
    angles: set[int] = set()
    other = {node.index for node in outputs}
    for node in reversed(nodes):  # what a node is used for comes before it
        part = node.op in _SUMS and node.index in angles and node.index not in other
        (angles if part or node.op in TRIG else other).update(a.index for a in node.args)
    return angles - other


def _is_position(node: Node) -> bool:
    """Whether a node is an input, or one times a constant as for a joint that follows another."""
    scaled = node.op == "mul" and any(a.constant for a in node.args)
    return node.op == "input" or (scaled and any(a.op == "input" for a in node.args))
