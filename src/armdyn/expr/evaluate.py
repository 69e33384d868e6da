"""Evaluating a graph: in floating point, and exactly over a finite field."""

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.errors import TraceError
from armdyn.expr.node import Node
from armdyn.expr.visit import reachable

PRIME = 2**61 - 1
"""The field in which two graphs are compared: if they differ, they agree at a random point with a
probability of about their degree divided by this."""

_FLOAT: dict[str, Any] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "neg": np.negative,
    "sin": np.sin,
    "cos": np.cos,
    "sqrt": np.sqrt,
}


def evaluate(outputs: Iterable[Node], values: Mapping[str, Any]) -> list[Array]:
    """Values of the outputs for values of the inputs (and of parameters without one).

    Args:
        outputs: The nodes wanted.
        values: A number or array for each name; arrays broadcast.
    """
    outputs = list(outputs)
    result: dict[int, Any] = {}
    for node in reachable(outputs):
        if node.args:
            result[node.index] = _FLOAT[node.op](*(result[a.index] for a in node.args))
        elif node.op == "number":
            result[node.index] = float(node.value)
        else:
            result[node.index] = _lookup(node, values)
    return [np.asarray(result[node.index]) for node in outputs]


def _lookup(node: Node, values: Mapping[str, Any]) -> Any:
    if node.name in values:
        return values[node.name]
    if node.name in node.graph.values:
        return node.graph.values[node.name]
    raise TraceError(f"the {node.op} {node.name!r} has no value; give one for it")


class FiniteField:
    """Exact evaluation modulo a prime at a pseudo-random point that depends on names alone.

    An angle is a point of the rational circle, so that sin² + cos² = 1 and the sums of angles hold;
    a symbol used both as an angle and as a number gets an independent value for each.
    """

    def __init__(self, seed: int = 0):
        self.seed = seed

    def fingerprints(self, outputs: Iterable[Node]) -> dict[int, int]:
        """The residue of every node the outputs need, by index."""
        result: dict[int, int] = {}
        for node in reachable(outputs):
            result[node.index] = self._residue(node, result)
        return result

    def values(self, outputs: Iterable[Node]) -> list[int]:
        """The residues of the outputs."""
        outputs = list(outputs)
        result = self.fingerprints(outputs)
        return [result[node.index] for node in outputs]

    def _residue(self, node: Node, known: Mapping[int, int]) -> int:
        a = [known[x.index] for x in node.args]
        match node.op:
            case "add":
                return (a[0] + a[1]) % PRIME
            case "sub":
                return (a[0] - a[1]) % PRIME
            case "mul":
                return a[0] * a[1] % PRIME
            case "neg":
                return -a[0] % PRIME
            case "div":
                return a[0] * pow(a[1], -1, PRIME) % PRIME
            case "cos":
                return self._circle(node.args[0])[0]
            case "sin":
                return self._circle(node.args[0])[1]
            case "sqrt":
                return self._draw(f"sqrt {a[0]}")
            case "number":
                numerator, denominator = node.value.as_integer_ratio()
                return numerator * pow(denominator, -1, PRIME) % PRIME
            case _:
                return self._draw(f"value {node.name}")

    def _circle(self, angle: Node) -> tuple[int, int]:
        """cos and sin of an angle: a symbol, a number, or a sum or whole multiple of angles."""
        match angle.op:
            case "add" | "sub":
                (c, s), (k, t) = map(self._circle, angle.args)
                t = t if angle.op == "add" else -t
                return (c * k - s * t) % PRIME, (s * k + c * t) % PRIME
            case "neg":
                c, s = self._circle(angle.args[0])
                return c, -s % PRIME
            case "mul" if angle.args[0].op == "number" and isinstance(angle.args[0].value, int):
                return self._multiple(self._circle(angle.args[1]), angle.args[0].value)
            case "mul" if angle.args[1].op == "number" and isinstance(angle.args[1].value, int):
                return self._multiple(self._circle(angle.args[0]), angle.args[1].value)
            case "input" | "parameter":
                half = self._draw(f"angle {angle.name}")
            case "number":
                half = self._draw(f"angle {angle.value!r}")
            case _:
                half = self._draw(f"angle {self.values([angle])[0]}")
        scale = pow(1 + half * half, -1, PRIME)
        return (1 - half * half) * scale % PRIME, 2 * half * scale % PRIME

    @staticmethod
    def _multiple(point: tuple[int, int], times: int) -> tuple[int, int]:
        c, s = 1, 0
        for _ in range(abs(times)):
            c, s = (c * point[0] - s * point[1]) % PRIME, (s * point[0] + c * point[1]) % PRIME
        return c, s if times >= 0 else -s % PRIME

    def _draw(self, name: str) -> int:
        digest = hashlib.blake2b(f"{self.seed} {name}".encode(), digest_size=16).digest()
        return int.from_bytes(digest, "big") % PRIME


def proved_equal(a: Iterable[Node], b: Iterable[Node], points: int = 2) -> bool:
    """Whether two lists of outputs are the same functions, by exact evaluation at random points."""
    a, b = list(a), list(b)
    return all(FiniteField(seed).values(a) == FiniteField(seed).values(b) for seed in range(points))
