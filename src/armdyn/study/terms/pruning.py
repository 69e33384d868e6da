"""A program without those terms of its sums that matter least.

Every sum a + b of a program can do without one of its terms. What that changes in the torques is
estimated for all sums at once, by the derivatives of the torques by each value of the program. Then
terms are left out, those first that cost least for the operations they save, as long as evaluation
shows errors within the tolerance; with them goes everything that was computed for them alone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.graph.nodes import Graph, Node
from armdyn.graph.operations import OPERATIONS, slopes
from armdyn.graph.visit import inside_angles, reachable, uses

LEVELS = (0.02, 0.05, 0.1, 0.2, 0.3, 0.45, 0.6, 0.8, 1.0, 1.0)
"""Shares of the tolerance that are used up one after the other, so that cheap terms go first."""
EVALUATED_NODES, FEWEST_EVALUATIONS = 100_000, 20
"""Nodes evaluated in one walk through a program; and how often the whole program is at least."""
LARGEST_COUNTED = 40
"""Operations beyond which those that go with a term are not counted any further."""
COUNTED = ("add", "sub", "mul", "div")
"""Operations that are worth saving."""


@dataclass(frozen=True, slots=True, eq=False)
class PruningStates:
    """The states by which terms are chosen, and the torques that the full model has there."""

    inputs: Mapping[str, Array]
    """Values of the inputs of the program by name, (m,) each."""
    torques: Array
    """Torques of the full model, (n, m)."""
    scale: Array
    """What errors of each joint are measured by, (n,)."""


@dataclass(frozen=True, slots=True)
class Cut:
    """A sum that becomes one of its terms."""

    node: Node
    kept: Node
    negative: bool
    """Whether the term that is left is subtracted."""
    price: float
    """Its estimated error, for each operation that is saved."""


def pruned(outputs: Sequence[Node], states: PruningStates, tolerance: float) -> list[Node]:
    """The outputs with terms left out, within the tolerance at these states."""
    kept = list(outputs)
    for level in LEVELS:
        round_ = _Round(kept, states, level * tolerance)
        round_.accept(round_.cuts())
        kept = round_.rebuilt()
    return kept


class _Round:
    """One walk through all sums of a program."""

    def __init__(self, outputs: list[Node], states: PruningStates, tolerance: float):
        self.outputs, self.states, self.tolerance = outputs, states, tolerance
        self.nodes = reachable(outputs)
        self.left = max(FEWEST_EVALUATIONS, EVALUATED_NODES // len(self.nodes))
        """How often the program may still be evaluated."""
        self.taken: dict[int, Cut] = {}
        self.values = self._evaluated()

    def accept(self, cuts: list[Cut]) -> None:
        """Take all cuts if the error allows; otherwise each half by itself."""
        cuts = [cut for cut in cuts if cut.node.index not in self.taken]
        if not cuts or not self.left:
            return
        self.left -= 1
        before = dict(self.taken)
        for cut in cuts:
            self.taken.setdefault(cut.node.index, cut)
        if self._error() <= self.tolerance:
            return
        self.taken = before
        if len(cuts) > 1:
            self.accept(cuts[: len(cuts) // 2])
            self.accept(cuts[len(cuts) // 2 :])

    def cuts(self) -> list[Cut]:
        """Every cut that may be within the tolerance, the cheapest first."""
        slopes, saved = self._slopes(), _exclusive(self.nodes, self.outputs)
        angles, found = inside_angles(self.outputs), []
        for node in self.nodes:
            slope = slopes.get(node.index)
            if node.constant or slope is None or node.op not in ("add", "sub"):
                continue
            if node.index in angles:
                continue
            first, second = node.args
            for gone, kept in ((second, first), (first, second)):
                effect = slope * self.values[gone.index] / self.states.scale[:, None]
                error = float(np.abs(effect).max())
                if error <= 2 * self.tolerance:
                    negative = kept is second and gone is first and node.op == "sub"
                    found.append(Cut(node, kept, negative, error / (1 + saved[gone.index])))
        return sorted(found, key=lambda cut: (cut.price, cut.node.index))

    def rebuilt(self) -> list[Node]:
        """The outputs with the cuts that were taken, in a graph of their own."""
        graph, made = Graph(), dict[int, Node]()
        for node in self.nodes:
            cut = self.taken.get(node.index)
            if cut is not None:
                kept = made[cut.kept.index]
                made[node.index] = graph.neg(kept) if cut.negative else kept
            elif node.args:
                made[node.index] = graph.apply(node.op, [made[a.index] for a in node.args])
            elif node.op == "number":
                made[node.index] = graph.number(node.value)
            elif node.op == "input":
                made[node.index] = graph.input(node.name)
            else:
                made[node.index] = graph.parameter(node.name, node.graph.values.get(node.name))
        return [made[node.index] for node in self.outputs]

    def _error(self) -> float:
        values = self._evaluated()
        found = [
            np.broadcast_to(values[o.index], self.states.torques[0].shape) for o in self.outputs
        ]
        error = np.abs(np.stack(found) - self.states.torques) / self.states.scale[:, None]
        return float(error.max())

    def _evaluated(self) -> dict[int, Any]:
        """The values of all nodes, with the cuts taken so far."""
        values: dict[int, Any] = {}
        for node in self.nodes:
            cut = self.taken.get(node.index)
            if cut is not None:
                kept = values[cut.kept.index]
                values[node.index] = np.negative(kept) if cut.negative else kept
            elif node.args:
                operands = (values[a.index] for a in node.args)
                with np.errstate(invalid="ignore"):  # a cut may leave a loop that does not close
                    values[node.index] = OPERATIONS[node.op].value(*operands)
            elif node.op == "number":
                values[node.index] = float(node.value)
            else:
                known = self.states.inputs if node.op == "input" else node.graph.values
                values[node.index] = known[node.name]
        return values

    def _slopes(self) -> dict[int, Array]:
        """Derivatives of the outputs by each value, (n, m) or (n, 1), through sums and products.

        What is inside a function has none: it is not cut.
        """
        found: dict[int, Array] = {}
        values: dict[int, Any] = self.values
        for i, node in enumerate(self.outputs):
            one = np.zeros((len(self.outputs), 1))
            one[i] = 1.0
            found[node.index] = found.get(node.index, 0.0) + one
        for node in reversed(self.nodes):
            slope = found.get(node.index)
            if slope is None or node.op not in (*COUNTED, "neg"):
                continue
            partials = slopes(node.op, values[node.index], [values[a.index] for a in node.args])
            for operand, partial in zip(node.args, partials, strict=True):
                found[operand.index] = found.get(operand.index, 0.0) + slope * partial
        return found


def _exclusive(nodes: Sequence[Node], outputs: Sequence[Node]) -> dict[int, int]:
    """How many operations each term of a sum is the only user of, its own included."""
    used = uses(outputs)

    def size(node: Node) -> int:
        left: dict[int, int] = {}
        total, stack = 0, [node]
        while stack and total < LARGEST_COUNTED:
            at = stack.pop()
            total += at.op in COUNTED and not at.constant
            for a in at.args:
                left[a.index] = left.get(a.index, used[a.index]) - 1
                if not left[a.index]:
                    stack.append(a)
        return total

    return {a.index: size(a) for node in nodes if node.op in ("add", "sub") for a in node.args}
