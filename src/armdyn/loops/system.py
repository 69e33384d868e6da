"""Rows of loops and columns of passive joints: the linear systems that rates and steps solve."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.graph.nodes import Node
from armdyn.loops.around import LoopAround
from armdyn.loops.orthogonal import Values
from armdyn.model import RobotModel


@dataclass(frozen=True, slots=True, eq=False)
class LoopSystem:
    """Loops, and the passive joints that follow from them."""

    model: RobotModel
    loops: tuple[LoopAround, ...]
    columns: tuple[int, ...]
    """The passive joints, those first that are around few loops."""
    usual: tuple[float, ...] = ()
    """The squares of the columns of A_p in the assembly."""

    def linearised(self, found: Values) -> tuple[Values, dict[int, Values]]:
        """What all rows miss, and the columns of their Jacobian by joint."""
        missing: Values = []
        columns: dict[int, Values] = {i: [] for i in range(len(found))}
        for loop in self.loops:
            r, A = loop.linearised(stacked([found[i] for i in loop.members]))
            missing += entries(r)
            around = {i: entries(A[..., k]) for k, i in enumerate(loop.members)}
            for i, column in columns.items():
                column.extend(around.get(i, [0.0] * len(loop.rows)))
        return missing, columns

    def passive_matrix(self, q: Array) -> Array:
        """A_p at positions of all joints, (passive joints, rows)."""
        by_joint = self.linearised(q.tolist())[1]
        return np.array([by_joint[i] for i in self.columns], dtype=float)


def column_order(passive: Sequence[int], loops: Sequence[LoopAround]) -> tuple[int, ...]:
    """The passive joints, those first that are around few loops: fewer entries are filled then."""
    return tuple(sorted(passive, key=lambda i: (sum(i in x.members for x in loops), i)))


def entries(x: Array) -> Values:
    """The entries of a vector, or of a batch of them."""
    return [x[..., k][()] for k in range(x.shape[-1])]


def stacked(values: Sequence[Any]) -> Array:
    """The opposite."""
    if any(isinstance(x, Node) for x in values):
        result = np.empty(len(values), dtype=object)
        result[:] = values
        return result
    return np.stack(np.broadcast_arrays(*values), -1)
