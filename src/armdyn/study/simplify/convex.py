"""The smallest change of the inertias of an arm whose lengths are given: a convex problem.

In the unknowns θ of `ParametrisedArm.span` the goals are M θ = r. Their singular value
decomposition gives a particular solution and an orthonormal basis of the others, so that the goals
hold to rounding for any precision of the solver, Clarabel. It finds the least cost among these
solutions, over the bounds and the bodies that can exist with a margin, which are matrix
inequalities. Where no such body reaches the goals, the least residual |M θ - r| is found first, and
then the least cost among the designs with it.
"""

import importlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np

from armdyn.arrays import Array
from armdyn.errors import MissingExtraError
from armdyn.forks import cached_property
from armdyn.study.simplify.design_variables import NUMBERS, ParametrisedArm
from armdyn.study.simplify.linear import (
    GoalElement,
    body_numbers,
    linear_conditions,
    moments_of,
)

_SOLVER_SLACK = 1e-9
"""Bounds and margins are tightened by this much for the solver."""
VIOLATION_TOLERANCE = 10 * _SOLVER_SLACK
"""The solver may miss bounds and margins by this much."""
_WANTED_PRECISION = 1e-11
"""The precision that the solver tries to reach."""
_ACCEPTED_PRECISION = 1e-7
"""The precision that is enough where rounding stops the solver earlier."""


@dataclass(frozen=True, slots=True, eq=False)
class Region:
    """Where the variables y may be: A + Σ y_i S_i positive semidefinite, and G y ≤ h."""

    A: Array
    """Constant parts of k matrices, shape (k, 4, 4)."""
    S: Array
    """Shape (variables, k, 4, 4)."""
    G: Array
    """Shape (rows, variables)."""
    h: Array

    def through(self, y0: Array, basis: Array) -> "Region":
        """The same for the variables z of y = y0 + basis z."""
        slopes = np.tensordot(basis.T, self.S, axes=1)
        return Region(self._matrices(y0), slopes, self.G @ basis, self.h - self.G @ y0)

    def violation(self, y: Array) -> float:
        """By how much y is outside: the most negative eigenvalue, or the excess over a limit."""
        lowest = np.linalg.eigvalsh(self._matrices(y))
        return float(max(0.0, (-lowest).max(initial=0.0), (self.G @ y - self.h).max(initial=0.0)))

    def _matrices(self, y: Array) -> Array:
        return self.A + np.tensordot(y, self.S, axes=1)


def _smallest(pseudo: Array) -> float:
    """The smallest eigenvalue of a pseudo-inertia, or zero."""
    return max(float(np.linalg.eigvalsh(pseudo)[0]), 0.0)


def nearest(
    C: Array, c: Array, region: Region, ball: tuple[Array, Array, float] | None = None
) -> Array | None:
    """The y in a region with the least |C y - c|, or None where the solver finds none.

    C has full column rank. A ball (E, e, r) is the further condition |E y - e| ≤ r.
    """
    try:
        clarabel = importlib.import_module("clarabel")
    except ImportError:
        raise MissingExtraError("clarabel", "design", "a design") from None
    csc_matrix = importlib.import_module("scipy.sparse").csc_matrix
    width = C.shape[1]
    if width == 0:
        return np.zeros(0)
    rows = [region.G, -_triangles(region.S).reshape(width, -1).T]
    right = [region.h, _triangles(region.A).ravel()]
    cones = [clarabel.NonnegativeConeT(len(region.h))] if len(region.h) else []
    cones += [clarabel.PSDTriangleConeT(4)] * len(region.A)
    if ball is not None:
        E, e, r = ball
        rows.append(np.concatenate([np.zeros((1, width)), -E]))
        right.append(np.concatenate([[r], -e]))
        cones.append(clarabel.SecondOrderConeT(1 + len(e)))
    if not cones:
        return np.linalg.lstsq(C, c, rcond=None)[0]
    settings = clarabel.DefaultSettings()
    settings.verbose, settings.max_threads = False, 1
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = _WANTED_PRECISION
    settings.reduced_tol_gap_abs = settings.reduced_tol_gap_rel = _ACCEPTED_PRECISION
    settings.reduced_tol_feas = _ACCEPTED_PRECISION
    P = csc_matrix(np.triu(C.T @ C))
    A = csc_matrix(np.concatenate(rows))
    solver = clarabel.DefaultSolver(P, -(C.T @ c), A, np.concatenate(right), cones, settings)
    found = solver.solve()
    solved = (clarabel.SolverStatus.Solved, clarabel.SolverStatus.AlmostSolved)
    return np.array(found.x) if found.status in solved else None


def _triangles(matrices: Array) -> Array:
    """Upper triangles by columns, entries off the diagonal times √2, shape (..., 10)."""
    b, a = np.tril_indices(4)
    return np.asarray(matrices[..., a, b] * np.where(a == b, 1.0, np.sqrt(2.0)))


Outcome = Literal["reached", "inconsistent", "no body", "no design"]
"""Reached; not even with negative masses; not with bodies that exist; not within the bounds."""

CONDITION_TOLERANCE = 1e-10
"""A smaller dimensionless condition is rounding; every true condition is larger."""
_CHANGE_ROUNDING = 1e-13
"""A smaller change of ψ is rounding."""
_MOMENT_ROUNDING = 1e-14
"""A smaller number is rounding, in units of the mass of its link and the robot's size."""
_DECIMALS = (8, 10, 12)
"""Decimals of the numbers of a design in these units; more where fewer leave the bounds."""
_NEWTON_STEPS = 4
_LEAST_CHANGE = 0.1
"""What a number has changed at least, where those that changed most are chosen."""
_CHANGE_WEIGHT = 1e-6
"""Weight of the change while the residual is made small; it makes the best design unique."""


@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """The best design for given lengths."""

    values: Array
    """Of what is searched."""
    numbers: Array
    """The numbers φ of the links without payloads, shape (n, 10)."""
    outcome: Outcome
    residual: float
    """The distance from the goals, dimensionless; 0: they are reached."""
    cost: float
    rank: int
    """The number of independent conditions on the linear unknowns."""


@dataclass(frozen=True, slots=True, eq=False)
class System:
    """The goals M θ = r and the cost |C θ - c|², and the links ψ = p + B θ that θ moves."""

    M: Array
    r: Array
    C: Array
    c: Array
    p: Array
    """Shape (n, 10)."""
    B: Array
    """Shape (n, 10, unknowns)."""
    rows: Array
    """The goals as rows @ φ = 0."""


@dataclass(frozen=True, eq=False)
class Convex:
    """The convex problem of one arm, to be solved for any lengths."""

    arm: ParametrisedArm
    elements: Sequence[GoalElement]
    q: Array
    """Configurations at which the goals are evaluated, shape (samples, n)."""
    margin: float
    """The smallest eigenvalue of the pseudo-inertia of a changed link, in units."""
    kept: float = 0.0
    """The share of its squared radii of gyration that a changed link keeps in every direction."""

    @cached_property
    def start(self) -> Array:
        """ψ of the links as they are, shape (n, 10)."""
        return self._units(self.arm.start)

    def _units(self, numbers: Array) -> Array:
        """ψ from φ."""
        return np.einsum("nab,nb->na", self.arm.to_units, numbers)

    @cached_property
    def _conditions(self) -> Callable[..., tuple[Array, Array]]:
        """The goals for given lengths, and rotors; those of the latest lengths are kept."""
        rotors = self.arm.variables.rotors
        return lru_cache(1)(
            lambda *lengths: linear_conditions(
                self.arm.robot_with(lengths), self.elements, self.q, self.arm.at, rotors
            )
        )

    def _spans(self, values: Array) -> Iterator[tuple[int, Array, Array]]:
        """Links with a number that may change, as p + basis θ each."""
        changeable = map(int, np.flatnonzero(self.arm.numbers.any(axis=1)))
        return ((i, *self.arm.span(i, values)) for i in changeable)

    def system(self, values: Array) -> System:
        """The goals for given lengths; a link that has no part in them does not move."""
        arm = self.arm
        p = self.start.copy()
        columns = [np.zeros((*self.start.shape, 0))]
        rows, _ = self._conditions(*values[: len(arm.variables.lengths)])
        by_link = rows.reshape(len(rows), -1, 10)
        for i, first, basis in self._spans(values):
            moved = float(np.abs(first - p[i]).max()) > _CHANGE_ROUNDING
            p[i] = first if moved else p[i]
            part = by_link[:, i] @ arm.from_units[i] @ basis
            needed = moved or np.abs(part).max(initial=0.0) > CONDITION_TOLERANCE
            if needed or self._beyond(i, p[i], basis, values):
                columns.append(np.zeros((*p.shape, basis.shape[1])))
                columns[-1][i] = basis
        B = np.concatenate(columns, axis=2)
        M = np.tensordot(by_link, arm.from_units @ B, axes=2)
        r = -(rows @ (self.numbers(p) + arm.payload).ravel())
        weight = np.sqrt(arm.weights)
        C = (weight[..., None] * B).reshape(weight.size, -1)
        return System(M, r, C, (weight * (self.start - p)).ravel(), p, B, rows)

    def numbers(self, psi: Array) -> Array:
        """φ from ψ; a link that is as it was is so to the last bit."""
        found = np.einsum("nab,nb->na", self.arm.from_units, psi)
        same = np.all(psi == self.start, axis=1)
        return np.where(same[:, None], self.arm.start, found)

    def rotor_inertias(self, numbers: Array, values: Array) -> Array:
        """J of the rotors that the goals ask for beside links φ (..., n, 10), (..., rotors)."""
        arm = self.arm
        _, momenta = self._conditions(*values[: len(arm.variables.lengths)])
        flat = numbers.reshape(*numbers.shape[:-2], momenta.shape[1])
        return np.asarray(flat @ momenta.T / [rotor.gear_ratio for rotor in arm.rotors])

    def length_changes(self, values: Array) -> Array:
        """Weighted changes of the lengths."""
        lengths = self.arm.variables.lengths
        weights = [self.arm.variables.weights.get(x.symbol, 1.0) for x in lengths]
        return np.sqrt(weights) * (values - self.arm.values)[: len(lengths)] / self.arm.size

    def solve(self, values: Array) -> Trial:
        """The best design with given lengths."""
        system = self.system(values)
        region = self.region(system.p, system.B, values)
        left, singular, right = np.linalg.svd(system.M)
        rank = int(np.sum(singular > CONDITION_TOLERANCE))
        along, basis = right[:rank].T, right[rank:].T
        met = left.T @ system.r
        first = along @ (met[:rank] / singular[:rank])
        consistent = float(np.linalg.norm(met[rank:])) <= CONDITION_TOLERANCE
        outcome: Outcome = "no body" if consistent else "inconsistent"
        theta = _cheapest(system, region, first, basis) if consistent else None
        if theta is None:
            theta = _least(system, region, basis)
        if theta is None:
            theta, outcome = np.zeros(system.M.shape[1]), "no design"
        elif consistent:
            # the nearest unknowns that keep the goals, to rounding
            kept = theta + along @ (along.T @ (first - theta))
            if region.violation(kept) <= VIOLATION_TOLERANCE:
                theta, outcome = kept, "reached"
        numbers = self.numbers(system.p + system.B @ theta)
        return self.trial(system, values, numbers, outcome, rank)

    def trial(
        self, system: System, values: Array, numbers: Array, outcome: Outcome, rank: int
    ) -> Trial:
        """A design with its distance from the goals and its cost."""
        residual = np.linalg.norm(system.rows @ (numbers + self.arm.payload).ravel())
        cost = float(np.sum(self.arm.weights * (self._units(numbers) - self.start) ** 2))
        cost += float(np.sum(self.length_changes(values) ** 2))
        return Trial(values, numbers, outcome, float(residual), cost, rank)

    def exact(self, trial: Trial) -> Trial:
        """A design that reaches the goals, with plain decimals in place of a solver's precision.

        Masses, centres of mass and tensors about them are rounded, but for as many of them as
        there are conditions: these, of those that change most, follow from the others.
        """
        arm, system = self.arm, self.system(trial.values)
        changed = (trial.numbers != arm.start).any(axis=1)
        if trial.outcome != "reached" or not np.all(trial.numbers[changed, 0] > 0):
            return trial
        region = self.region(system.p, system.B, trial.values)
        unit = arm.mass[:, None] ** np.repeat([1, 0, 1], [1, 3, 6])
        unit = unit * arm.size ** np.repeat([0, 1, 2], [1, 3, 6])
        free = arm.numbers & changed[:, None]
        bodies = np.where(free, body_numbers(trial.numbers), arm.bodies)
        for decimals in _DECIMALS:
            places = decimals - np.floor(np.log10(unit))
            rounded = np.vectorize(lambda x, n: round(x, int(n)))(bodies, places)
            x = self._onto_goals(system, np.where(free, rounded, bodies), unit, free)
            numbers = np.where(changed[:, None], moments_of(x), arm.start)
            theta = np.tensordot(system.B, self._units(numbers) - system.p, axes=([0, 1], [0, 1]))
            plain = self.trial(system, trial.values, numbers, trial.outcome, trial.rank)
            inside = region.violation(theta) <= VIOLATION_TOLERANCE
            if inside and plain.residual <= max(trial.residual, _CHANGE_ROUNDING):
                return plain
        return trial

    def _onto_goals(self, system: System, x: Array, unit: Array, free: Array) -> Array:
        """Bodies (n, 10) that reach the goals by Newton steps of as few numbers as will do."""
        rows = system.rows.reshape(len(system.rows), -1, 10)
        chosen = np.zeros(0, dtype=int)
        for _ in range(_NEWTON_STEPS):
            steps = np.eye(10)[:, None] * unit
            # exact: no moment has a higher power of a number than its square
            slopes = np.array([moments_of(x + h) - moments_of(x - h) for h in steps]) / 2
            M = np.einsum("rnf,knf->rnk", rows, slopes)[:, free]
            if not len(chosen):
                from scipy.linalg import qr  # noqa: PLC0415 (slow to load)

                change = np.abs((x - self.arm.bodies) / unit)[free]
                R, order = qr(M * (_LEAST_CHANGE + change), mode="r", pivoting=True)
                chosen = order[: np.sum(np.abs(np.diag(R)) > CONDITION_TOLERANCE)]
            missing = system.rows @ (moments_of(x) + self.arm.payload).ravel()
            change = np.zeros(M.shape[1])
            change[chosen] = np.linalg.lstsq(M[:, chosen], missing, rcond=None)[0]
            x = x.copy()
            x[free] -= change * unit[free]
        return np.where(free & (np.abs(x) < _MOMENT_ROUNDING * unit), 0.0, x)

    def outside(self, values: Array) -> bool:
        """Whether a link has to change because of its bounds."""
        return any(self._beyond(*span, values) for span in self._spans(values))

    def region(self, p: Array, B: Array, values: Array) -> Region:
        """Where θ of ψ = p + B θ may be, for p (n, 10) and B (n, 10, unknowns).

        A link less the rotors that it carries is a body; rotors have no negative inertia.
        """
        arm, bodies = self.arm, list[tuple[Array, Array]]()
        every, moved = np.einsum("nab,nb->na", arm.from_units, p), arm.from_units @ B
        sides, limits = [np.zeros((0, B.shape[2]))], [np.zeros(0)]
        carried, slopes_carried = np.zeros_like(every), np.zeros_like(moved)
        if arm.rotors:
            J = self.rotor_inertias(every + arm.payload, values)
            J_slopes = self.rotor_inertias(np.moveaxis(moved, -1, 0), values).T
            unit = arm.mass.mean() * arm.size**2
            sides.append(-J_slopes / unit)
            limits.append(J / unit)
            carried = np.tensordot(J, arm.locked, axes=1)
            slopes_carried = np.einsum("rna,ru->nau", arm.locked, J_slopes)
        for i in map(int, np.flatnonzero(B.any(axis=(1, 2)) | arm.locked.any(axis=(0, 2)))):
            phi, slopes = every[i], moved[i]
            free = phi - carried[i], slopes - slopes_carried[i]
            bodies += self._bodies(i, *free, values)
            rows = self._bounds(i, values)
            sides.append(rows[:, :10] @ slopes)
            limits.append(rows[:, 10] - rows[:, :10] @ phi)
        A = np.array([body for body, _ in bodies]).reshape(-1, 4, 4)
        S = np.array([slopes for _, slopes in bodies]).reshape(len(A), B.shape[2], 4, 4)
        return Region(A, S.swapaxes(0, 1), np.concatenate(sides), np.concatenate(limits))

    def _beyond(self, i: int, p: Array, basis: Array, values: Array) -> bool:
        """Whether link i of ψ = p is out of its bounds and can change."""
        rows = self._bounds(i, values)
        phi = self.arm.from_units[i] @ p
        beyond = rows[:, :10] @ phi > rows[:, 10] + 2 * _SOLVER_SLACK
        return basis.shape[1] > 0 and bool(beyond.any())

    def _bodies(
        self, i: int, phi: Array, slopes: Array, values: Array
    ) -> list[tuple[Array, Array]]:
        """Matrices and their slopes, positive semidefinite for bodies that exist with the margin.

        A body J less a part S of its second moments is positive semidefinite if and only if its
        second moments about the centre of mass are at least S, wherever that centre is.
        """
        unit = self.arm.pseudo[i]
        mass = self.arm.start[i, 0]
        changes = np.tensordot(slopes.T, unit, axes=1)
        body, own = (np.tensordot(x, unit, axes=1) for x in (phi, self.arm.bare[i]))
        margin, found = self.margin + _SOLVER_SLACK, []
        if not self.arm.numbers[i, 4:].all():
            # a link with held moments may be thin already, and it looks thinner from afar: seen
            # from a distance d the smallest eigenvalue falls by (√(d² + 4) - d)² / 4
            moved = self.arm.centres(values)[i] - self.arm.bodies[i, 1:4]
            d = float(np.linalg.norm(moved)) / self.arm.size
            margin = min(self.margin, _smallest(own) / 4) * (np.sqrt(d**2 + 4) - d) ** 2 / 4
        if not self.arm.add_only or _smallest(own) < margin:
            found.append((body - margin * np.eye(4), changes))
        if self.arm.add_only:
            found.append((body - own, changes))
        elif mass > 0 and self.arm.numbers[i, 4:].all() and self.kept:
            kept = np.zeros((4, 4))
            kept[:3, :3] = self.kept * own[:3, :3] / mass
            found.append((body - phi[0] * kept, changes - np.multiply.outer(slopes[0], kept)))
        return found

    def _bounds(self, i: int, values: Array) -> Array:
        """Rows (g, h) of g φ ≤ h for link i, shape (rows, 11)."""
        arm = self.arm
        rows = [np.zeros((0, 11))]
        centre = self.arm.centres(values)[i]
        for k, name in enumerate(NUMBERS):
            pair = arm.variables.bounds.get(f"{name}{i + 1}")
            of_centre = 0 < k < 4
            if pair is None or (of_centre and not arm.unknown[i, k - 1]):
                continue
            low, high = pair
            row = arm.tensor_row(i, k - 4, centre) if k >= 4 else np.eye(10)[k]
            unit = arm.mass[i] * arm.size ** (0 if k == 0 else 1 if of_centre else 2)
            slack = _SOLVER_SLACK if low < high else 0.0
            for sign, limit in ((1.0, high), (-1.0, low)):
                if np.isfinite(limit):
                    # a coordinate x ≤ limit of the centre of mass is m x - m limit ≤ 0
                    by_mass = limit * np.eye(10)[0] * of_centre
                    right = 0.0 if of_centre else sign * limit / unit
                    rows.append(np.append(sign * (row - by_mass) / unit, right - slack)[None])
        reach = arm.variables.reaches[i]
        if arm.add_only and np.isfinite(reach):
            # masses within a ball have Σ m (r² - R²) ≤ 0, and some that do are all in it
            row = np.array([-(reach**2), 0, 0, 0, 1, 1, 1, 0, 0, 0]) / (arm.mass[i] * arm.size**2)
            rows.append(np.append(row, row @ arm.start[i])[None])
        return np.concatenate(rows)


def _cheapest(system: System, region: Region, first: Array, basis: Array) -> Array | None:
    """The θ = first + basis y with the least cost."""
    C, c = system.C @ basis, system.c - system.C @ first
    y = nearest(C, c, region.through(first, basis))
    theta = None if y is None else first + basis @ y
    return None if theta is None or region.violation(theta) > VIOLATION_TOLERANCE else theta


def _least(system: System, region: Region, basis: Array) -> Array | None:
    """θ with the least residual, and among these with the least cost."""
    M = system.M
    r = system.r
    width = system.M.shape[1]
    left = np.concatenate([M, _CHANGE_WEIGHT * np.eye(width)])
    closest = nearest(left, np.concatenate([r, np.zeros(width)]), region)
    if closest is None:
        return None
    theta = _cheapest(system, region, closest, basis)
    if theta is None:
        # what the goals leave free is a single point or nearly so
        reach = float(np.linalg.norm(M @ closest - r)) * (1 + 1e-9) + 1e-9
        theta = nearest(system.C, system.c, region, (M, r, reach))
    return closest if theta is None else theta
