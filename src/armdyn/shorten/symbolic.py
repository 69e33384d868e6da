"""A robot with its numbers as parameters of a graph.

Zeros, ones and quarter turns stay numbers, everything else becomes a parameter with its value: what
is reduced with parameters is right for every value, and can be proved over a finite field. Which
numbers are zeros, ones and quarter turns is the pattern of a robot.
"""

import zlib
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from armdyn.arrays import Array
from armdyn.graph.evaluate import evaluate
from armdyn.graph.nodes import Graph, Node
from armdyn.graph.values import ValueTable
from armdyn.shorten.canonical.frames import CanonicalLink, CanonicalRobot, is_quarter
from armdyn.shorten.canonical.parameters import link_numbers
from armdyn.shorten.canonical.regroup import frozen_entries

Entry = Callable[[str, Any], Any]
"""From the name and the value of an entry of a link to something in its place."""


def symbolic(robot: CanonicalRobot, graph: Graph | ValueTable) -> CanonicalRobot:
    """The robot with parameters a1, d4, alpha2, Jxx2, MX3, M3, gz1, ... in a graph or a table.

    The length and the twist between two axes have the number of the link that joins them.
    """
    return _freed(robot, graph.parameter, graph.parameter)


def entries(robot: CanonicalRobot) -> dict[str, Any]:
    """The numbers or nodes of a robot by the names of its parameters."""
    found: dict[str, Any] = {}
    mapped(robot, found.setdefault, found.setdefault)
    return found


def valued(robot: CanonicalRobot) -> CanonicalRobot:
    """The robot with the values of its nodes."""
    nodes = [node for node in entries(robot).values() if isinstance(node, Node)]
    known = dict(zip((n.index for n in nodes), map(float, evaluate(nodes, {})), strict=True))

    def value(_: str, entry: Any) -> float:
        return known[entry.index] if isinstance(entry, Node) else float(entry)

    return mapped(robot, value, value)


def pattern(robot: CanonicalRobot) -> list[Any]:
    """What a program depends on: the tree, quarter turns, and which numbers are 0 or ±1."""
    found: list[Any] = [
        [link.parent, link.sign, bool(link.type.turn), bool(link.type.slide)]
        for link in robot.links
    ]
    free = _freed(robot, lambda *_: "x", lambda *_: "x")
    return found + [x if x == "x" else float(x) for x in entries(free).values()]


def generic(robot: CanonicalRobot) -> CanonicalRobot:
    """The robot that stands for all with the same pattern: other numbers where they are free."""

    def drawn(name: str) -> float:
        return 0.5 + zlib.crc32(name.encode()) / 2**32

    return _freed(robot, lambda name, _: drawn(name), lambda name, _: 0.7 * drawn(name))


def _freed(robot: CanonicalRobot, number: Entry, angle: Entry) -> CanonicalRobot:
    """The robot with other entries where they are free: not 0, ±1 or quarter turns."""
    return mapped(
        robot,
        lambda name, value: value if value in (0.0, 1.0, -1.0) else number(name, value),
        lambda name, value: value if is_quarter(value) else angle(name, value),
    )


def mapped(robot: CanonicalRobot, number: Entry, angle: Entry) -> CanonicalRobot:
    """The robot with other entries."""
    numbered = enumerate(zip(robot.links, link_numbers(robot), strict=True), start=1)
    links = (_link(link, i, up, number, angle) for i, (link, up) in numbered)
    return replace(robot, links=tuple(links))


def _link(link: CanonicalLink, i: int, up: str, number: Entry, angle: Entry) -> CanonicalLink:
    def vector(names: tuple[str, str, str], values: Array) -> Array:
        return frozen_entries([number(n, v) for n, v in zip(names, values.tolist(), strict=True)])

    second = [[0.0] * 3 for _ in range(3)]
    for a in range(3):
        for b in range(a, 3):
            second[a][b] = second[b][a] = number(f"J{'xyz'[a]}{'xyz'[b]}{i}", link.J.item(a, b))
    kind = link.type
    if kind.pitched:
        kind = replace(kind, slide=number(f"p{i}", kind.slide))
    return replace(
        link,
        type=kind,
        alpha=angle(f"alpha{up}", link.alpha),
        gamma=angle(f"gamma{up}", link.gamma),
        theta=angle(f"theta{i}", link.theta),
        across=vector((f"a{up}", f"ay{up}", f"az{up}"), link.across),
        r=number(f"d{i}", link.r),
        J=frozen_entries(second),
        u=vector((f"MX{i}", f"MY{i}", f"MZ{i}"), link.u),
        M=number(f"M{i}", link.M),
        gravity=vector((f"gx{i}", f"gy{i}", f"gz{i}"), link.gravity),
    )
