"""Jacobians of a traced function, along all unit directions at once.

A function of vectors is traced and differentiated along directions whose components are inputs of
the graph themselves. Evaluated with the unit vectors as one more batch axis, the directional
derivatives are the columns of the Jacobians: the program grows with the function, not with its
number of columns. `armdyn.expr.differentiate.jacobian` gives the columns one by one, as nodes.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.compiler.program import Program
from armdyn.compiler.trace import trace
from armdyn.expr.differentiate import jvp
from armdyn.expr.graph import Graph

PIECE = 2**14
"""Entries of an intermediate value; larger batches are cut into pieces, to stay in the cache."""


@dataclass(frozen=True, slots=True)
class Jacobians:
    """The derivatives of a function of vectors by some of them, all of one length n."""

    program: Program
    """From the vectors and a direction for each to differentiate by, to the slopes, (by, m)."""
    n: int
    """Length of the vectors."""

    @classmethod
    def of(
        cls, function: Callable[..., Any], vectors: Sequence[str], by: Sequence[str], n: int
    ) -> "Jacobians":
        """Trace and differentiate a function.

        Args:
            function: A function of vectors of length n that returns one vector.
            vectors: Names of the vectors, in order.
            by: Those to differentiate by.
            n: Their length.
        """
        graph = Graph()
        x = {name: list(graph.inputs(name, n)) for name in vectors}
        # a name that no vector has
        t = {name: f"direction of {name} " for name in by}
        outputs = trace(graph, function, *x.values())
        slopes = [jvp(outputs, x[name], list(graph.inputs(t[name], n))) for name in by]
        inputs: Mapping[str, int] = dict.fromkeys((*vectors, *t.values()), n)
        return cls(Program.from_outputs(slopes, inputs), n)

    def __call__(self, *vectors: Array) -> list[Array]:
        """The Jacobian (..., m, n) by each vector asked for, at vectors (..., n) of one batch."""
        batch, flat = vectors[0].shape[:-1], [v.reshape(-1, 1, self.n) for v in vectors]
        by, m = self.program.shape
        units = [np.eye(self.n)] * by
        found = np.empty((len(flat[0]), self.n, by, m))
        step = max(1, PIECE // self.n)
        for i in range(0, len(found), step):
            found[i : i + step] = self.program(*(v[i : i + step] for v in flat), *units)
        columns = np.moveaxis(found, 2, 0)
        return [J.swapaxes(-1, -2).reshape(*batch, m, self.n) for J in columns]
