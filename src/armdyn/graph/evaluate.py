"""Evaluating a graph: in floating point, and exactly over a finite field."""

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.errors import TraceError
from armdyn.graph.nodes import Graph, Node
from armdyn.graph.operations import (
    OPERATIONS,
    OTHER_PRIME,
    PRIME,
    TRIG,
    number_residue,
    residue,
    square_root,
)
from armdyn.graph.visit import inside_angles, reachable, transcribe

CirclePoint = tuple[int, int]
"""Cosine and sine of an angle in the field."""
MOST_DRAWS = 64
"""How often a point is drawn until every square root in it is a true one."""
Circle = Mapping[int, CirclePoint]
"""Angles as points, by index of the node."""


def evaluate(outputs: Iterable[Node], values: Mapping[str, Any]) -> list[Array]:
    """Values of the outputs for values of the inputs (and of parameters without one) by name.

    Values are numbers or arrays that broadcast.
    """
    outputs = list(outputs)
    result: dict[int, Any] = {}
    for node in reachable(outputs):
        result[node.index] = _value(node, result, values)
    return [np.asarray(result[node.index]) for node in outputs]


def settle(outputs: Iterable[Node]) -> list[Node]:
    """The outputs with the numbers 0, 1 and -1 in place of constants that have these values.

    The result holds for the present values of the parameters only, that is for one robot.

    Raises:
        ZeroDivisionError: A pivot is zero but for rounding.
    """
    outputs = list(outputs)
    value: dict[int, Any] = {}
    plain: dict[int, int] = {}
    with np.errstate(all="ignore"):
        for node in reachable(outputs):
            if not node.constant:
                continue
            found = value[node.index] = _value(node, value, {})
            if node.op == "guard" and np.isnan(found):
                raise ZeroDivisionError(f"{node!r} is a pivot that vanishes whatever the inputs")
            if node.op != "number" and found in (0.0, 1.0, -1.0):
                plain[node.index] = int(found)
    if not plain:
        return outputs
    graph = Graph()
    return transcribe(
        outputs, graph, lambda n: graph.number(plain[n.index]) if n.index in plain else None
    )


def _value(node: Node, known: Mapping[int, Any], values: Mapping[str, Any]) -> Any:
    """The value of a node from those of its operands, or of a symbol by its name."""
    if node.args:
        return OPERATIONS[node.op].value(*(known[a.index] for a in node.args))
    if node.op == "number":
        return float(node.value)
    for table in (values, node.graph.values):
        if node.name in table:
            return table[node.name]
    raise TraceError(f"the {node.op} {node.name!r} has no value; give one for it")


class FiniteField:
    """Exact evaluation modulo a prime at a pseudo-random point that depends on names alone.

    An angle is a point of the rational circle, so that sin² + cos² = 1 and the sums of angles hold;
    a symbol used both as an angle and as a number gets an independent value for each. A number used
    as an angle is a symbol: that 0.5 + 0.25 = 0.75 is not known of angles. A square root is a true
    one where its operand has one, which about half of all have; elsewhere it is unrelated.
    """

    def __init__(self, seed: int = 0, prime: int = PRIME):
        self.seed, self.prime = seed, prime

    def fingerprints(self, outputs: Iterable[Node]) -> dict[int, int]:
        """The residue of every node the outputs need, by index."""
        outputs = list(outputs)
        return self.residues(reachable(outputs), inside_angles(outputs))

    def residues(self, nodes: Iterable[Node], inside: set[int]) -> dict[int, int]:
        """Residues of nodes in order, by index; `inside` are those that are parts of angles."""
        result: dict[int, int] = {}
        circle: dict[int, CirclePoint] = {}
        prime = self.prime
        for node in nodes:
            if node.op == "mul":  # products and sums are most of a graph
                result[node.index] = result[node.args[0].index] * result[node.args[1].index] % prime
            elif node.op == "add":
                result[node.index] = (
                    result[node.args[0].index] + result[node.args[1].index]
                ) % prime
            else:
                result[node.index] = self._residue(node, result, circle)
            if node.index in inside:
                circle[node.index] = self._point(node, result, circle)
        return result

    def has_roots(self, nodes: Iterable[Node], known: Mapping[int, int]) -> bool:
        """Whether every square root among nodes is a true one at this point."""
        roots = (known[n.index] ** 2 - known[n.args[0].index] for n in nodes if n.op == "sqrt")
        return not any(difference % self.prime for difference in roots)

    def values(self, outputs: Iterable[Node]) -> list[int]:
        """The residues of the outputs."""
        outputs = list(outputs)
        result = self.fingerprints(outputs)
        return [result[node.index] for node in outputs]

    def _residue(self, node: Node, known: Mapping[int, int], circle: Circle) -> int:
        if node.op == "number":
            return number_residue(node.value, self.prime)
        if not node.args:
            return self.draw(f"value {node.name}")
        operands = [known[a.index] for a in node.args]
        if node.op == "sqrt" and (root := square_root(operands[0], self.prime)) is not None:
            return root
        if OPERATIONS[node.op].residue is None:
            return self.draw(f"{node.op} {operands}")
        try:
            given = circle[node.args[0].index] if node.op in TRIG else operands
            return residue(node.op, given, self.prime)
        except ValueError:  # zero has no inverse
            raise ZeroDivisionError(f"{node!r} divides by what is always zero") from None

    def _point(self, angle: Node, known: Mapping[int, int], circle: Circle) -> CirclePoint:
        """cos and sin of an angle: a symbol, a number, or a sum or whole multiple of angles."""
        points = [circle[a.index] for a in angle.args]
        match angle.op:
            case "add":
                return sum_of_angles(points[0], points[1], self.prime)
            case "sub":
                return sum_of_angles(points[0], mirrored(points[1], self.prime), self.prime)
            case "neg":
                return mirrored(points[0], self.prime)
            case "mul" if _whole(angle.args[0]):
                return _multiple(points[1], int(angle.args[0].value), self.prime)
            case "mul" if _whole(angle.args[1]):
                return _multiple(points[0], int(angle.args[1].value), self.prime)
            case "number":
                point = self.point(f"number {abs(angle.value)!r}")
                return mirrored(point, self.prime) if angle.value < 0 else point
            case "input" | "parameter":
                return self.point(angle.name)
            case _:
                return self.point(f"value {known[angle.index]}")

    def point(self, name: str) -> CirclePoint:
        """A point of the circle, from the tangent of half its angle."""
        half = self.draw(f"angle {name}")
        scale = pow(1 + half * half, -1, self.prime)
        return (1 - half * half) * scale % self.prime, 2 * half * scale % self.prime

    def draw(self, name: str) -> int:
        """A pseudo-random residue that depends on a name."""
        digest = hashlib.blake2b(f"{self.seed} {name}".encode(), digest_size=16).digest()
        return int.from_bytes(digest, "big") % self.prime


def sum_of_angles(a: CirclePoint, b: CirclePoint, prime: int = PRIME) -> CirclePoint:
    """cos and sin of the sum of two angles."""
    return (a[0] * b[0] - a[1] * b[1]) % prime, (a[1] * b[0] + a[0] * b[1]) % prime


def mirrored(a: CirclePoint, prime: int = PRIME) -> CirclePoint:
    """cos and sin of the opposite angle."""
    return a[0], -a[1] % prime


def _multiple(a: CirclePoint, times: int, prime: int) -> CirclePoint:
    """cos and sin of a whole multiple of an angle, by doubling."""
    result, a = (1, 0), a if times >= 0 else mirrored(a, prime)
    for bit in bin(abs(times))[2:]:
        result = sum_of_angles(result, result, prime)
        result = sum_of_angles(result, a, prime) if bit == "1" else result
    return result


def _whole(node: Node) -> bool:
    return node.op == "number" and isinstance(node.value, int)


def proved_equal(a: Iterable[Node], b: Iterable[Node], points: int = 2) -> bool:
    """Whether two lists of outputs are the same functions, by exact evaluation at random points.

    The first is in one field, the others in the other. Points at which a square root has no true
    value are drawn again.
    """
    sides = [list(a), list(b)]
    walks = [(reachable(side), inside_angles(side)) for side in sides]
    for seed in range(points):
        for draw in range(MOST_DRAWS):
            field = FiniteField(seed + points * draw, OTHER_PRIME if seed else PRIME)
            known = [field.residues(*walk) for walk in walks]
            pairs = zip(walks, known, strict=True)
            if all(field.has_roots(nodes, at) for (nodes, _), at in pairs):
                break
        first, second = ([at[n.index] for n in side] for at, side in zip(known, sides, strict=True))
        if first != second:
            return False
    return True
