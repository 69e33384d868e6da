"""What D, h and g depend on: exact evaluation at points where single symbols are drawn anew.

What stands on one base joint is a graph in which every number but zeros and quarter turns is a
symbol, with D, its derivatives by the joint positions and g. It is evaluated at many points of the
finite field at once. Sines and cosines are taken of symbols alone.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from armdyn.arrays import Array, frozen
from armdyn.errors import TraceError
from armdyn.formulations.composite_body import mass_matrix
from armdyn.formulations.energy import potential_energy
from armdyn.formulations.kinematics import world_frames
from armdyn.formulations.spatial import cross, dot
from armdyn.graph import field
from armdyn.graph.differentiate import gradient, jacobian
from armdyn.graph.evaluate import Table, run_for, steps_of
from armdyn.graph.nodes import Graph, Node, trace
from armdyn.graph.operations import TRIG
from armdyn.graph.visit import reachable
from armdyn.model import RobotModel
from armdyn.shorten.canonical.frames import CanonicalRobot, canonical, is_quarter
from armdyn.shorten.canonical.model import branches, model_from_canonical
from armdyn.shorten.canonical.parameters import ENTRIES, parameters
from armdyn.shorten.symbolic import mapped

ANOTHER = 1000
"""Added to a seed where a symbol is drawn again."""


@dataclass(frozen=True, slots=True)
class Point:
    """A point of the finite field, by names."""

    seed: int
    again: frozenset[str] = frozenset()
    """Symbols that are drawn anew, all others being those of the seed."""
    zero: frozenset[str] = frozenset()
    """Symbols that are zero."""


_RESIDUES: Table = {
    "add": field.add,
    "sub": field.sub,
    "mul": field.mul,
    "neg": lambda a: field.sub(field.ZERO, a),
}


def values_at(points: Sequence[Point], outputs: Iterable[Node]) -> Array:
    """The residues of outputs, (outputs, points)."""
    outputs = list(outputs)
    nodes = reachable(outputs)
    leaves = {n.index: _leaf(n, points) for n in nodes if n.op in TRIG or not n.args}
    steps = [step for step in steps_of(nodes) if step[0] not in leaves]
    if unknown := {op for _, op, _ in steps} - _RESIDUES.keys():
        raise TraceError(f"{min(unknown)} is neither a sum nor a product")
    rows = run_for([node.index for node in outputs], steps, leaves, _RESIDUES)
    return np.array([np.broadcast_to(row, len(points)) for row in rows])


def _leaf(leaf: Node, points: Sequence[Point]) -> Array:
    """A number, or what a symbol, or the sine or cosine of one, is at each of the points."""
    if leaf.op == "number":
        return np.array(field.number_residue(leaf.value), dtype=np.uint64)
    symbol = leaf.args[0] if leaf.args else leaf
    if symbol.op not in ("input", "parameter"):
        raise TraceError(f"{leaf!r} is no sine or cosine of a symbol")
    seeds = [point.seed + ANOTHER * (symbol.name in point.again) for point in points]
    drawn = {seed: field.FiniteField(seed).values([leaf])[0] for seed in {*seeds}}
    residues = np.array([drawn[seed] for seed in seeds], dtype=np.uint64)
    residues[[symbol.name in point.zero for point in points]] = 0
    return residues


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
    inertial: dict[str, tuple[int, float]]
    """Symbols of the inertias of links, zero or not: the link within the trunk, and the value."""
    D: Array
    """Mass matrix with rotors, (n, n)."""
    slopes: Array
    """Its derivatives by the joint positions, (n, n, n)."""
    g: Array
    """Torques of gravity, (n,)."""
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
    values = parameters(model, robot)
    for members, part in branches(robot).items():
        yield _trunk(part, members, values)


def _trunk(part: CanonicalRobot, members: tuple[int, ...], values: dict[str, float]) -> Trunk:
    """A trunk whose numbers are symbols but for zeros and quarter turns."""
    graph, inertial = Graph(), dict[str, tuple[int, float]]()

    def number(name: str, value: float) -> Any:
        return graph.parameter(name) if value else 0.0

    def angle(name: str, value: float) -> Any:
        return value if is_quarter(value) else graph.parameter(name)

    links = list(mapped(part, number, angle).links)
    for k, i in enumerate(members):
        centre = "xyz" if f"x{i + 1}" in values else ("mx", "my", "mz")
        parts = ("m", *centre, *(f"I{name}" for name, _, _ in ENTRIES))
        names = [f"{part}{i + 1}" for part in parts]
        inertial |= {name: (k, values[name]) for name in names}
        # m, centre of mass and inertia about it, or its first moment, as symbols
        mass, *symbols = map(graph.parameter, names)
        c = np.array(symbols[:3])
        I = np.empty((3, 3), dtype=object)
        for (_, a, b), entry in zip(ENTRIES, symbols[3:], strict=True):
            I[a, b] = I[b, a] = entry
        J = 0.5 * (I[0, 0] + I[1, 1] + I[2, 2]) * np.eye(3) - I
        if centre == "xyz":
            J, c = J + mass * np.outer(c, c), mass * c
        links[k] = replace(links[k], J=frozen(J), u=frozen(c), M=mass)
    model = model_from_canonical(replace(part, links=tuple(links)))
    positions = [graph.input(f"q{i + 1}") for i in members]
    q = np.array(positions, dtype=object)
    rotors = [number(name, values[name]) for name in (f"Ia{i + 1}" for i in members)]
    z = world_frames(model, q).z

    def nodes(entries: Any) -> Array:
        return trace(graph, lambda: entries)

    D = nodes(mass_matrix(model, q) + np.diag(np.array(rotors, dtype=object)))
    return Trunk(
        members,
        model.paths,
        tuple(not joint.type.turns for joint in model.joints),
        tuple(node.name for node in positions),
        inertial,
        D,
        jacobian(D.flat, positions).reshape(*D.shape, -1),
        nodes(gradient(nodes(potential_energy(model, q)).item(), positions)),
        nodes([[dot(a, b) for b in z] for a in z]),
        nodes([dot(a, model.gravity) for a in z]),
        nodes([cross(a, model.gravity) for a in z]),
    )


SEEDS = (0, 1)
"""Points of the field at which everything is decided."""


@dataclass(frozen=True, slots=True, eq=False)
class Pattern:
    """Which elements vanish, and on what the others depend."""

    zero: Array
    """(...), booleans."""
    on: Array
    """(..., k), booleans: whether they change with each of k joints or sets of joints."""
    constant: Array
    """(...), booleans: which depend on no joint, zeros among them."""


def patterns(
    trunk: Trunk, zero: frozenset[str], redrawn: Sequence[frozenset[str]]
) -> tuple[Pattern, Pattern, Pattern]:
    """D, h and g with some symbols zero, and on which sets of joints, drawn anew, they depend."""
    again = (frozenset[str](), *redrawn)
    points = [Point(seed, names, zero) for seed in SEEDS for names in again]
    rows = values_at(points, [*trunk.D.flat, *trunk.slopes.flat, *trunk.g])
    n = len(trunk.g)
    D, T, g = np.split(rows, [n**2, n**2 + n**3])
    T = T.reshape(n, n, n, -1)
    # 2 h_ikm = ∂D_ik/∂q_m + ∂D_im/∂q_k - ∂D_km/∂q_i
    h = field.sub(field.add(T, np.swapaxes(T, 1, 2)), np.moveaxis(T, 2, 0))
    return _pattern(D.reshape(n, n, -1)), _pattern(h), _pattern(g)


def awakened(trunk: Trunk, absent: Sequence[str], entries: Array) -> tuple[Array, Array]:
    """Which parameters that are zero make an entry nonzero, and which make it vary.

    Each of shape (..., absent), booleans.
    """
    points = [
        Point(seed, again, frozenset(absent) - {name})
        for seed in SEEDS
        for name in absent
        for again in (frozenset[str](), frozenset(trunk.q))
    ]
    at = values_at(points, entries.flat).reshape(*entries.shape, len(SEEDS), len(absent), 2)
    return (at != 0).any((-3, -1)), (at[..., 0] != at[..., 1]).any(-2)


def joint_axes(trunk: Trunk) -> tuple[Pattern, Array, Array, Array]:
    """How the joint axes lie to each other and to gravity, in every configuration.

    The pattern of the cosines between them; which are parallel, (n, n); which are horizontal, and
    which are vertical, (n,).
    """
    moved = (frozenset[str](), frozenset(trunk.q))
    n = len(trunk.q)
    points = [Point(seed, again) for seed in SEEDS for again in moved]
    at = values_at(points, [*trunk.cosines.flat, *trunk.fall, *trunk.tilt.flat])
    cosines = at[: n * n].reshape(n, n, -1)
    parallel = (field.mul(cosines, cosines) == 1).all(-1)
    level = (at[n * n : n * n + n] == 0).all(-1)
    upright = (at[n * n + n :].reshape(n, 3, -1) == 0).all((-2, -1))
    return _pattern(cosines), parallel, level, upright


def _pattern(entries: Array) -> Pattern:
    """What the values (..., points) say, the first point of each seed being the one to compare."""
    at = entries.reshape(*entries.shape[:-1], len(SEEDS), -1)
    moved = (at[..., 1:] != at[..., :1]).any(-2)
    return Pattern((at == 0).all((-2, -1)), moved, np.logical_not(moved.any(-1)))
