"""A robot with its numbers as parameters of a graph.

Zeros, ones and quarter turns stay numbers, everything else becomes a parameter with its value: what
is reduced with parameters is right for every value, and can be proved over a finite field.
"""

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from armdyn.arrays import Array, frozen
from armdyn.canonical.frames import CanonicalLink, CanonicalRobot, is_quarter
from armdyn.canonical.parameters import link_numbers
from armdyn.errors import UnknownNameError
from armdyn.expr.graph import Graph
from armdyn.expr.values import ValueTable


def symbolic(
    robot: CanonicalRobot, graph: Graph | ValueTable, runtime: Collection[str] = ()
) -> CanonicalRobot:
    """The robot with parameters a1, d4, alpha2, Jxx2, MX3, M3, gz1, ... in a graph or a table.

    The length and the twist between two axes have the number of the link that joins them; the
    lengths, inertias and components of gravity named in `runtime` are inputs.
    """
    symbols = _Symbols(graph, frozenset(runtime))
    pairs = zip(robot.links, link_numbers(robot), strict=True)
    links = tuple(_link(link, i, up, symbols) for i, (link, up) in enumerate(pairs, start=1))
    unknown = symbols.runtime - symbols.named
    if unknown:
        raise UnknownNameError(
            "length, inertia or gravity named", sorted(unknown)[0], sorted(symbols.named)
        )
    return replace(robot, links=links)


@dataclass(slots=True)
class _Symbols:
    """Makes parameters and inputs, and remembers their names."""

    graph: Graph | ValueTable
    runtime: frozenset[str]
    named: set[str] = field(default_factory=set)

    def number(self, name: str, value: float) -> Any:
        """A parameter or an input; otherwise zero and ±1 stay plain numbers."""
        self.named.add(name)
        if name in self.runtime:
            return self.graph.input(name)
        return value if value in (0.0, 1.0, -1.0) else self.graph.parameter(name, value)

    def angle(self, name: str, value: float) -> Any:
        """A parameter; quarter turns stay plain numbers."""
        return value if is_quarter(value) else self.graph.parameter(name, value)

    def vector(self, names: tuple[str, str, str], values: Array) -> Array:
        """Three numbers."""
        result = np.empty(3, dtype=object)
        result[:] = [self.number(n, float(v)) for n, v in zip(names, values, strict=True)]
        return frozen(result)


def _link(link: CanonicalLink, i: int, up: str, symbols: _Symbols) -> CanonicalLink:
    second = np.empty((3, 3), dtype=object)
    for a in range(3):
        for b in range(a, 3):
            name = f"J{'xyz'[a]}{'xyz'[b]}{i}"
            second[a, b] = second[b, a] = symbols.number(name, float(link.J[a, b]))
    kind = link.type
    if kind.pitched:
        kind = replace(kind, slide=symbols.number(f"p{i}", float(kind.slide)))
    return replace(
        link,
        type=kind,
        alpha=symbols.angle(f"alpha{up}", link.alpha),
        gamma=symbols.angle(f"gamma{up}", link.gamma),
        theta=symbols.angle(f"theta{i}", link.theta),
        across=symbols.vector((f"a{up}", f"ay{up}", f"az{up}"), link.across),
        r=symbols.number(f"d{i}", float(link.r)),
        J=frozen(second),
        u=symbols.vector((f"MX{i}", f"MY{i}", f"MZ{i}"), link.u),
        M=symbols.number(f"M{i}", float(link.M)),
        gravity=symbols.vector((f"gx{i}", f"gy{i}", f"gz{i}"), link.gravity),
    )
