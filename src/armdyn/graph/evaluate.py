"""The evaluator of straight-line operations, with a table of what each operation does.

Floats and arrays of NumPy have the table here; residues (`field`), single precision, arrays of
other libraries and nodes of another graph have tables of their own for the same loop.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.errors import TraceError
from armdyn.graph.nodes import Graph, Node
from armdyn.graph.operations import OPERATIONS, Op, slopes
from armdyn.graph.visit import reachable, transcribe

Table = Mapping[str, Callable[..., Any]]
"""What each operation does to values of one kind."""
Step = tuple[int, str, Sequence[int]]
"""The place of a value, its operation, and the places of its operands."""
FLOATS: Table = {op.name: op.value for op in OPERATIONS.values()}
HALF_BIT = float(np.finfo(float).eps) / 2
"""Largest rounding of an operation, relative to its result."""


def _with_rounding(op: Op, *operands: tuple[Any, Any]) -> tuple[Any, Any]:
    """The value of an operation, and the standard deviation of its rounding."""
    values, errors = zip(*operands, strict=True)
    value = op.value(*values)
    error = HALF_BIT * np.abs(value) if op.cost else 0.0
    for slope, before in zip(slopes(op.name, value, values), errors, strict=True):
        error = np.hypot(error, slope * before)
    return value, error


ROUNDED: Table = {op.name: partial(_with_rounding, op) for op in OPERATIONS.values()} | {
    "number": lambda x: (x, 0.0)
}
"""On pairs of a value and the standard deviation of its rounding. Operations are taken to round
independently, by half a bit each. It is a smooth function of the leaves, as rounding itself is not.
"""


def run(steps: Iterable[Step], values: dict[int, Any], table: Table) -> dict[int, Any]:
    """The values at all places after all steps, beside those of leaves, which are there before."""
    for place, op, args in steps:
        values[place] = table[op](*[values[k] for k in args])
    return values


def run_for(
    outputs: Sequence[int], steps: Sequence[Step], values: dict[int, Any], table: Table
) -> list[Any]:
    """The values at the places of outputs; all others are forgotten after their last use."""
    last = {k: place for place, _, args in steps for k in args}
    for k in outputs:
        last.pop(k, None)
    for step in steps:
        run((step,), values, table)
        for k in {*step[2]}:
            if last.get(k) == step[0]:
                del values[k]
    return [values[k] for k in outputs]


def steps_of(nodes: Iterable[Node]) -> list[Step]:
    """The operations among nodes in order; places are indices in their graph."""
    return [(n.index, n.op, [a.index for a in n.args]) for n in nodes if n.args]


def evaluate(outputs: Iterable[Node], values: Mapping[str, Any]) -> list[Array]:
    """Values of the outputs for values of the inputs (and of parameters without one) by name.

    Values are numbers or arrays that broadcast.
    """
    outputs = list(outputs)
    nodes = reachable(outputs)
    leaves = {node.index: _leaf(node, values) for node in nodes if not node.args}
    values_at = run_for([node.index for node in outputs], steps_of(nodes), leaves, FLOATS)
    return [np.asarray(value) for value in values_at]


def settle(outputs: Iterable[Node]) -> list[Node]:
    """The outputs with the numbers 0, 1 and -1 in place of constants that have these values.

    The result holds for the present values of the parameters only, that is for one robot.

    Raises:
        ZeroDivisionError: A pivot is zero but for rounding.
    """
    outputs = list(outputs)
    constants = [node for node in reachable(outputs) if node.constant]
    with np.errstate(all="ignore"):
        values = evaluate(constants, {})
    plain: dict[int, int] = {}
    for node, value in zip(constants, values, strict=True):
        if node.op == "guard" and np.isnan(value):
            raise ZeroDivisionError(f"{node!r} is a pivot that vanishes whatever the inputs")
        if node.op != "number" and value in (0.0, 1.0, -1.0):
            plain[node.index] = int(value)
    if not plain:
        return outputs
    graph = Graph()
    return transcribe(
        outputs, graph, lambda n: graph.number(plain[n.index]) if n.index in plain else None
    )


def _leaf(node: Node, values: Mapping[str, Any]) -> Any:
    """A number, or the value of a symbol by its name."""
    if node.op == "number":
        return float(node.value)
    for table in (values, node.graph.values):
        if node.name in table:
            return table[node.name]
    raise TraceError(f"the {node.op} {node.name!r} has no value; give one for it")
