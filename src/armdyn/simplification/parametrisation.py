"""The numbers of an arm as affine functions of unknowns, and the units of their changes.

A change of a link is seen from where its centre of mass was, in the axes of its canonical frame,
and in units of its mass m and of the size L of the robot: Δm / m, Δ(m c) / (m L) and ΔI / (m L²),
products of inertia counted twice. The cost of a design is the sum of their squares, each times the
weight of its number, and of (Δa / L)² for every length.

A held or bounded entry of a tensor about the centre of mass ties the second moments to squares of
the coordinates of that centre. Such coordinates are no linear unknowns: they are searched, like the
lengths, outside of the convex problem.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from armdyn.arrays import Array, frozen
from armdyn.canonical.frames import CanonicalRobot, canonical, canonical_frames
from armdyn.canonical.parameters import ENTRIES, about_com
from armdyn.model import RobotModel
from armdyn.model.transform import inverse
from armdyn.simplification.design_variables import NUMBERS, DesignVariables
from armdyn.simplification.lengths import robot_size
from armdyn.simplification.linear import numbers_of, pseudo_of

_MOST_SPANS_KEPT = 200
"""Spans in memory: while one centre of mass is searched, those of the other links stay."""


@dataclass(frozen=True, slots=True)
class Searched:
    """A length or a coordinate of a centre of mass that is searched."""

    symbol: str
    start: float
    low: float
    high: float
    length: int
    """Which of the free lengths it is; -1: none."""
    link: int = -1
    axis: int = -1


class ParametrisedArm:
    """One arm, its design variables, and the units in which its changes are measured."""

    def __init__(self, model: RobotModel, variables: DesignVariables, add_only: bool = False):
        self.model, self.variables, self.add_only = model, variables, add_only
        self.robot = canonical(model)
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
        self.pseudo = np.array([self._pseudo(i) for i in range(len(self.start))])
        """The pseudo-inertias in units of the ten unit vectors φ, shape (n, 10, 4, 4)."""
        self.to_units = np.array([_units(J) for J in self.pseudo])
        """H with ψ = H φ in units, shape (n, 10, 10)."""
        self.from_units = np.linalg.inv(self.to_units)
        self.weights = np.array(
            [
                [variables.weights.get(f"{name}{i + 1}", 1.0) for name in NUMBERS]
                for i in range(len(self.start))
            ]
        )
        self.searched = tuple(self._searched())
        ranges = np.array([(s.start, s.low, s.high) for s in self.searched]).reshape(-1, 3)
        self.values, self.low, self.high = ranges.T
        """Present value and bounds of everything that is searched."""
        self._spans: dict[tuple[int, bytes], tuple[Array, Array]] = {}

    def relaxed(self) -> "ParametrisedArm":
        """The same arm with free tensors, so that no centre of mass is searched."""
        numbers, variables = self.variables.numbers.copy(), self.variables
        for link in {searched.link for searched in self.searched if searched.link >= 0}:
            numbers[link, 4:] = True
        bounds = {symbol: pair for symbol, pair in variables.bounds.items() if symbol[0] != "I"}
        return ParametrisedArm(
            self.model, replace(variables, numbers=numbers, bounds=bounds), self.add_only
        )

    def _searched(self) -> Iterator[Searched]:
        for k, length in enumerate(self.variables.lengths):
            yield Searched(length.symbol, length.value, length.low, length.high, k)
        for i, may in enumerate(self.numbers):
            for axis in range(3):
                if may[1 + axis] and self._tied(i, axis):
                    symbol = f"{'xyz'[axis]}{i + 1}"
                    low, high = self.variables.bounds.get(symbol, (-np.inf, np.inf))
                    yield Searched(symbol, float(self.own[i][1][axis]), low, high, -1, i, axis)

    def _tied(self, i: int, axis: int) -> bool:
        """Whether a held or bounded entry of the tensor has the square or product of this axis."""
        may = self.numbers[i]
        for k, (name, a, b) in enumerate(ENTRIES, start=4):
            if may[k] and f"I{name}{i + 1}" not in self.variables.bounds:
                continue
            if (a == b and a != axis) or (a != b and axis in (a, b) and may[1 + a] and may[1 + b]):
                return True
        return False

    def robot_with(self, values: Array) -> CanonicalRobot:
        """The robot with searched lengths."""
        links = list(self.robot.links)
        for searched, value in zip(self.searched, values, strict=True):
            if searched.length < 0:
                continue
            length = self.variables.lengths[searched.length]
            link = links[length.joint]
            if length.along:
                links[length.joint] = replace(link, r=float(value))
            else:
                across = np.array([value, *link.across[1:]])
                links[length.joint] = replace(link, across=frozen(across))
        return replace(self.robot, links=tuple(links))

    def span(self, i: int, values: Array) -> tuple[Array, Array]:
        """Link i in units as ψ = p + B θ with p nearest to the present link and B orthonormal.

        Args:
            i: The link.
            values: Of what is searched.
        """
        centre, _ = self.centre(i, values)
        key = i, centre.tobytes()
        if key not in self._spans:
            if len(self._spans) > _MOST_SPANS_KEPT:
                self._spans.clear()
            self._spans[key] = self._span(i, values)
        return self._spans[key]

    def _span(self, i: int, values: Array) -> tuple[Array, Array]:
        held, known = self._held(i, values)
        start = self.to_units[i] @ self.start[i]
        if not len(held):
            return start, np.eye(10)
        left, singular, right = np.linalg.svd(held @ self.from_units[i])
        rank = int(np.sum(singular > 1e-12 * singular[0]))
        missing = left.T @ (known - held @ self.start[i])
        p = start + right[:rank].T @ (missing[:rank] / singular[:rank])
        return p, right[rank:].T

    def centre(self, i: int, values: Array) -> tuple[Array, Array]:
        """The centre of mass of link i and which of its coordinates are unknowns of φ."""
        centre, unknown = self.own[i][1].copy(), self.numbers[i, 1:4].copy()
        for searched, value in zip(self.searched, values, strict=True):
            if searched.link == i:
                centre[searched.axis], unknown[searched.axis] = value, False
        return centre, unknown

    def tensor_row(self, k: int, centre: Array, unknown: Array) -> Array:
        """The entry k of the tensor about the centre of mass as a row on φ."""
        _, a, b = ENTRIES[k]
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

    def _held(self, i: int, values: Array) -> tuple[Array, Array]:
        """Rows F and values f of F φ = f for the held numbers of link i."""
        mass, _, tensor = self.own[i]
        centre, unknown = self.centre(i, values)
        rows, known = [], []
        if not self.numbers[i, 0]:
            rows.append(np.eye(10)[0])
            known.append(mass)
        for axis in range(3):
            if not unknown[axis]:
                rows.append(np.eye(10)[1 + axis] - centre[axis] * np.eye(10)[0])
                known.append(0.0)
        for k, (_, a, b) in enumerate(ENTRIES):
            if not self.numbers[i, 4 + k]:
                rows.append(self.tensor_row(k, centre, unknown))
                known.append(float(tensor[a, b]))
        return np.array(rows).reshape(-1, 10), np.array(known)

    def _pseudo(self, i: int) -> Array:
        T = np.diag([1 / self.size] * 3 + [1.0])
        T[:3, 3] = -self.own[i][1] / self.size
        return T @ pseudo_of(np.eye(10)) @ T.T / self.mass[i]


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
