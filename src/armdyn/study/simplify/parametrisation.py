"""The numbers of an arm as affine functions of unknowns, and the units of their changes.

A change of a link is seen from where its centre of mass was, in the axes of its canonical frame,
and in units of its mass m and of the size L of the robot: Δm / m, Δ(m c) / (m L) and ΔI / (m L²),
products of inertia counted twice. The cost of a design is the sum of their squares, each times the
weight of its number, and of (Δa / L)² for every length.

A held or bounded entry of a tensor about the centre of mass ties the second moments to squares of
the coordinates of that centre. Such coordinates are no linear unknowns: they are searched, like the
lengths, outside of the convex problem.
"""

from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache

import numpy as np

from armdyn.arrays import Array, frozen
from armdyn.model import RobotModel
from armdyn.model.transform import inverse
from armdyn.shorten.canonical.frames import CanonicalRobot, canonical, canonical_frames
from armdyn.shorten.canonical.parameters import ENTRIES, about_com
from armdyn.study.simplify.design_variables import NUMBERS, OPEN, DesignVariables
from armdyn.study.simplify.linear import Followers, numbers_of, pseudo_of, robot_size

_MOST_SPANS_KEPT = 200
"""Spans in memory: while one centre of mass is searched, those of the other links stay."""


class ParametrisedArm:
    """One arm, its design variables, and the units in which its changes are measured."""

    def __init__(self, model: RobotModel, variables: DesignVariables, add_only: bool = False):
        self.model, self.variables, self.add_only = model, variables, add_only
        self.robot = canonical(model)
        self.followers = Followers.of(model)
        self.size = robot_size(self.robot)
        frames = canonical_frames(model)
        links = self.robot.links
        pseudo = [np.block([[x.J, x.u[:, None]], [x.u, np.array([x.M])]]) for x in links]
        self.payload = np.array([_payload(model, i, frame) for i, frame in enumerate(frames)])
        """The numbers φ of the payloads, which never change, shape (n, 10)."""
        self.start = numbers_of(np.array(pseudo)) - self.payload
        """The numbers φ of the links themselves, shape (n, 10)."""
        self.numbers = variables.numbers.copy()
        massless = self.start[:, 0] <= 0
        self.numbers[~self.numbers[:, 0] & massless] = False
        if add_only:
            self.numbers[~self.numbers[:, 0]] = False
        self.own = [about_com(J[:3, :3], J[:3, 3], J[3, 3]) for J in pseudo_of(self.start)]
        """Mass, centre of mass and tensor about it of each link."""
        self.mass = np.where(massless, max(self.start[:, 0].mean(), 1e-9), self.start[:, 0])
        T = np.tile(np.diag([1 / self.size] * 3 + [1.0]), (len(links), 1, 1, 1))
        T[:, 0, :3, 3] = [-com / self.size for _, com, _ in self.own]
        bodies = T @ pseudo_of(np.eye(10)) @ np.swapaxes(T, -1, -2)
        self.pseudo = bodies / self.mass[:, None, None, None]
        """The pseudo-inertias in units of the ten unit vectors φ, shape (n, 10, 4, 4)."""
        self.to_units = np.array([_units(J) for J in self.pseudo])
        """H with ψ = H φ in units, shape (n, 10, 10)."""
        self.from_units = np.linalg.inv(self.to_units)
        names = [[f"{name}{i + 1}" for name in NUMBERS] for i in range(len(links))]
        self.weights = np.array([[variables.weights.get(x, 1.0) for x in row] for row in names])
        tied = np.array([[self._tied(i, axis) for axis in range(3)] for i in range(len(links))])
        self.unknown = self.numbers[:, 1:4] & ~tied
        """Which coordinates of the centres of mass are unknowns of φ, shape (n, 3)."""
        self.coordinates = np.argwhere(self.numbers[:, 1:4] & tied).tolist()
        """Link and axis of the coordinates that are searched."""
        ranges = {x.symbol: (x.value, x.low, x.high) for x in variables.lengths}
        for i, axis in self.coordinates:
            symbol = names[i][1 + axis]
            ranges[symbol] = (self.own[i][1][axis], *variables.bounds.get(symbol, OPEN))
        self.searched = tuple(ranges)
        """Symbols of everything that is searched: lengths first, then coordinates."""
        self.values, self.low, self.high = np.array([*ranges.values()]).reshape(-1, 3).T
        """Present value and bounds of everything that is searched."""
        self._span = lru_cache(_MOST_SPANS_KEPT)(self._span_about)

    def relaxed(self) -> "ParametrisedArm":
        """The same arm with free tensors, so that no centre of mass is searched."""
        numbers = self.variables.numbers.copy()
        numbers[[link for link, _ in self.coordinates], 4:] = True
        bounds = {name: pair for name, pair in self.variables.bounds.items() if name[0] != "I"}
        variables = replace(self.variables, numbers=numbers, bounds=bounds)
        return ParametrisedArm(self.model, variables, self.add_only)

    def _tied(self, i: int, axis: int) -> bool:
        """Whether a held or bounded entry of the tensor has the square or product of this axis."""
        may = self.numbers[i]
        return any(
            a != axis if a == b else axis in (a, b) and may[1 + a] and may[1 + b]
            for k, (name, a, b) in enumerate(ENTRIES, start=4)
            if not may[k] or f"I{name}{i + 1}" in self.variables.bounds
        )

    def robot_with(self, lengths: Iterable[float]) -> CanonicalRobot:
        """The robot with other values of its free lengths."""
        links = list(self.robot.links)
        for length, value in zip(self.variables.lengths, lengths, strict=True):
            link = links[length.joint]
            across = frozen([value, *link.across[1:]])
            new = replace(link, r=float(value)) if length.along else replace(link, across=across)
            links[length.joint] = new
        return replace(self.robot, links=tuple(links))

    def span(self, i: int, values: Array) -> tuple[Array, Array]:
        """Link i in units as ψ = p + B θ with p nearest to the present link and B orthonormal."""
        return self._span(i, *self.centre(i, values))

    def _span_about(self, i: int, *centre: float) -> tuple[Array, Array]:
        held, known = self._held(i, np.array(centre))
        start = self.to_units[i] @ self.start[i]
        if not len(held):
            return start, np.eye(10)
        left, singular, right = np.linalg.svd(held @ self.from_units[i])
        rank = int(np.sum(singular > 1e-12 * singular[0]))
        missing = left.T @ (known - held @ self.start[i])
        p = start + right[:rank].T @ (missing[:rank] / singular[:rank])
        return p, right[rank:].T

    def centre(self, i: int, values: Array) -> Array:
        """The centre of mass of link i, its searched coordinates at given values."""
        centre, searched = self.own[i][1].copy(), values[len(self.variables.lengths) :]
        for (link, axis), value in zip(self.coordinates, searched, strict=True):
            if link == i:
                centre[axis] = value
        return centre

    def tensor_row(self, i: int, k: int, centre: Array) -> Array:
        """The entry k of the tensor of link i about its centre of mass as a row on φ."""
        (_, a, b), unknown = ENTRIES[k], self.unknown[i]
        row = np.zeros(10)
        if a == b:
            others = [c for c in range(3) if c != a]
            row[[4 + c for c in others]] = 1.0
            row[0] = -float(np.sum(centre[others] ** 2))
        else:
            row[4 + k] = -1.0
            x, y = (b, a) if unknown[b] else (a, b)
            row[1 + x if unknown[x] else 0] += centre[y] * (1.0 if unknown[x] else centre[x])
        return row

    def _held(self, i: int, centre: Array) -> tuple[Array, Array]:
        """Rows F and values f of F φ = f for the held numbers of link i."""
        mass, _, tensor = self.own[i]
        rows, known = np.eye(10), np.array([mass, 0, 0, 0, *(tensor[a, b] for _, a, b in ENTRIES)])
        rows[1:4, 0] = -centre
        rows[4:] = [self.tensor_row(i, k, centre) for k in range(6)]
        held = ~np.array([self.numbers[i, 0], *self.unknown[i], *self.numbers[i, 4:]])
        return rows[held], known[held]


def _units(J: Array) -> Array:
    """Mass, first moment and tensor of pseudo-inertias (10, 4, 4), shape (10, 10)."""
    second = J[:, :3, :3]
    tensor = np.trace(second, axis1=1, axis2=2)[:, None, None] * np.eye(3) - second
    entries = [tensor[:, a, b] * (1.0 if a == b else np.sqrt(2.0)) for _, a, b in ENTRIES]
    return np.array([J[:, 3, 3], *J[:, :3, 3].T, *entries])


def _payload(model: RobotModel, i: int, frame: Array) -> Array:
    held = (body for body in model.links[i].bodies if body.payload)
    moved = (body.inertia.moved(inverse(frame) @ body.placement).pseudo for body in held)
    return numbers_of(sum(moved, np.zeros((4, 4))))
