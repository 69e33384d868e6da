"""What stands on one base joint as a graph, every number but zeros and quarter turns a symbol."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from armdyn.arrays import Array, frozen
from armdyn.formulations.composite_body import mass_matrix
from armdyn.formulations.energy import potential_energy
from armdyn.formulations.kinematics import world_frames
from armdyn.formulations.spatial import cross, dot
from armdyn.graph.nodes import Graph, Node, trace
from armdyn.model import RobotModel
from armdyn.shorten.canonical.frames import CanonicalLink, canonical, is_quarter
from armdyn.shorten.canonical.model import branches, model_from_canonical
from armdyn.shorten.canonical.parameters import ENTRIES, link_numbers, parameters


@dataclass(frozen=True, slots=True, eq=False)
class Trunk:
    """The joints that stand on one base joint; arrays hold nodes."""

    members: tuple[int, ...]
    """Indices of its joints in the robot."""
    paths: tuple[tuple[int, ...], ...]
    """For each joint those from the base to it, counted within the trunk."""
    slides: tuple[bool, ...]
    q: tuple[str, ...]
    """Names of the joint positions."""
    numbers: dict[str, float]
    """The value of every symbol."""
    inertial: dict[str, int]
    """Symbols of the inertias of the links, zero or not, with the link within the trunk."""
    D: Array
    """Mass matrix with rotors, (n, n)."""
    V: Node
    """Potential energy."""
    cosines: Array
    """e_i · e_j of the joint axes, (n, n)."""
    fall: Array
    """e_i · g, (n,)."""
    tilt: Array
    """e_i × g, (n, 3)."""

    def beyond(self, i: int) -> tuple[int, ...]:
        """The joints that joint i moves, its own not among them."""
        return tuple(k for k, path in enumerate(self.paths) if i in path[:-1])


def trunks(model: RobotModel) -> Iterator[Trunk]:
    """The parts of a robot that share nothing but the base."""
    robot = canonical(model)
    values = {symbol: p.value for symbol, p in parameters(model, robot).items()}
    names = link_numbers(robot)
    roots = [path[0] for path in model.paths]
    for root, part in zip(sorted(set(roots)), branches(robot), strict=True):
        members = tuple(i for i, r in enumerate(roots) if r == root)
        symbols = _Symbols(Graph(), values)
        links = tuple(
            _link(link, i + 1, names[i], symbols)
            for i, link in zip(members, part.links, strict=True)
        )
        yield _trunk(model_from_canonical(replace(part, links=links)), members, symbols)


def _trunk(model: RobotModel, members: tuple[int, ...], symbols: "_Symbols") -> Trunk:
    graph = symbols.graph
    q = np.array([graph.input(f"q{i + 1}") for i in members], dtype=object)
    rotors = [symbols.number(f"Ia{i + 1}") for i in members]
    z = world_frames(model, q).z

    def nodes(entries: Any) -> Array:
        return trace(graph, lambda: entries)

    return Trunk(
        members,
        model.paths,
        tuple(not joint.type.turns for joint in model.joints),
        tuple(node.name for node in q),
        symbols.used,
        {name: members.index(i - 1) for name, i in symbols.inertial.items()},
        nodes(mass_matrix(model, q) + np.diag(np.array(rotors, dtype=object))),
        nodes(potential_energy(model, q)).item(),
        nodes([[dot(a, b) for b in z] for a in z]),
        nodes([dot(a, model.gravity) for a in z]),
        nodes([cross(a, model.gravity) for a in z]),
    )


class _Symbols:
    """Makes the symbols of one graph and remembers their values."""

    def __init__(self, graph: Graph, values: dict[str, float]):
        self.graph, self.values = graph, values
        self.used: dict[str, float] = {}
        self.inertial: dict[str, int] = {}

    def number(self, name: str, value: float | None = None) -> Any:
        """A symbol, unless the number is zero."""
        value = self.values[name] if value is None else value
        return self._made(name, value) if value else 0.0

    def angle(self, name: str, value: float) -> Any:
        """A symbol, unless the angle is of quarter turns."""
        return value if is_quarter(value) else self._made(name, value)

    def inertia(self, name: str, link: int) -> Any:
        """A symbol, zero or not."""
        self.inertial[name] = link
        return self._made(name, self.values[name])

    def _made(self, name: str, value: float) -> Node:
        self.used[name] = value
        return self.graph.parameter(name)


def _link(link: CanonicalLink, i: int, up: str, symbols: _Symbols) -> CanonicalLink:
    """The link with m, centre of mass and inertia about it as symbols."""
    mass = symbols.inertia(f"m{i}", i)
    central = f"x{i}" in symbols.values
    c = np.array([symbols.inertia(f"{'' if central else 'm'}{a}{i}", i) for a in "xyz"])
    I = np.empty((3, 3), dtype=object)
    for name, a, b in ENTRIES:
        I[a, b] = I[b, a] = symbols.inertia(f"I{name}{i}", i)
    J = 0.5 * (I[0, 0] + I[1, 1] + I[2, 2]) * np.eye(3) - I
    if central:
        J = J + mass * np.outer(c, c)
    across = [
        symbols.number(name + up, float(v))
        for name, v in zip(("a", "ay", "az"), link.across, strict=True)
    ]
    gravity = [symbols.number(f"g{a}", float(v)) for a, v in zip("xyz", link.gravity, strict=True)]
    kind = link.type
    if kind.pitched:
        kind = replace(kind, slide=symbols.number(f"p{i}"))
    return replace(
        link,
        type=kind,
        alpha=symbols.angle(f"alpha{up}", link.alpha),
        gamma=symbols.angle(f"gamma{up}", link.gamma),
        theta=symbols.angle(f"phi{i}", link.theta),
        across=frozen(np.array(across, dtype=object)),
        r=symbols.number(f"d{i}"),
        J=frozen(J),
        u=frozen(mass * c if central else c),
        M=mass,
        gravity=frozen(np.array(gravity, dtype=object)),
    )
