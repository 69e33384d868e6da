"""Passive joints that follow others linearly, as in parallelograms and behind gears."""

from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

from armdyn.graph.nodes import Node
from armdyn.loops.dyad import Values, angle_of
from armdyn.loops.plane import Path


@dataclass(frozen=True, slots=True)
class LinearStep:
    """Passive joints q = Σ ratio q_j + offset."""

    unknown: tuple[int, ...]
    ratios: tuple[Path, ...]
    """For each of them the joints that it follows, with ratios."""
    offsets: tuple[float, ...]

    def at(self, q: Values) -> "LinearStep":
        """The step itself, which is the same at all positions; those of its joints go into q."""
        for joint, ratios, offset in zip(self.unknown, self.ratios, self.offsets, strict=True):
            total: Any = 0.0
            for other, ratio in ratios:
                total = total + _times(ratio, q[other])
            q[joint] = total + offset
        return self

    def rates(self, q: Values, qd: Values) -> None:
        """Write the rates of the unknown joints."""
        for joint, ratios in zip(self.unknown, self.ratios, strict=True):
            qd[joint] = angle_of(qd, ratios)

    def accelerations(
        self, q: Values, qd: Values, qdd: Values, other: Values | None = None
    ) -> None:
        """Write the accelerations of the unknown joints."""
        self.rates(q, qdd)

    def torques(self, q: Values, tau: Values) -> None:
        """Move the torques of the unknown joints to the known ones."""
        for joint, ratios in zip(self.unknown[::-1], self.ratios[::-1], strict=True):
            for other, ratio in ratios:
                tau[other] = tau[other] + ratio * tau[joint]


def _times(ratio: float, x: Any) -> Any:
    """A multiple; a whole one of an angle is a sum, of which sine and cosine are known."""
    if isinstance(x, Node) and x.op != "input" and ratio and float(ratio).is_integer():
        total = reduce(add, [x] * int(abs(ratio)))
        return total if ratio > 0 else -total
    return ratio * x
