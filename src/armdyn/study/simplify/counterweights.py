"""A change of a link as something that can be built.

Added material has a pseudo-inertia dJ ⪰ 0, and point masses m_k at r_k have Σ m_k r̄_k r̄_kᵀ with
r̄ = (r, 1). With dJ = L Lᵀ and any rotation Q, the columns of L Q are √m_k r̄_k: as many masses as
dJ has rank, and no fewer will do. Their mean square distance ρ² from the origin, weighted by mass,
is the same whatever Q is, so that the farthest is nearest if all are equally far. That is always
possible: Lᵀ diag(1, 1, 1, -ρ²) L has no trace, and every symmetric matrix without trace has only
zeros on its diagonal in some axes (Horn 1954).
"""

import math
from dataclasses import dataclass
from itertools import permutations

import numpy as np

from armdyn.arrays import Array, frozen
from armdyn.formulations.rotors import spins
from armdyn.model import Inertia, RobotModel
from armdyn.model.edit import without_payload
from armdyn.model.transform import inverse
from armdyn.shorten.canonical.frames import canonical_frames
from armdyn.study.simplify.linear import thin_disc

_NEGLIGIBLE_SHARE = 1e-6
"""A part of a change that is smaller, relative to the whole, is not built."""
_EQUAL_MOMENTS = 1e-12
"""Two second moments that differ by less, relative to the largest, are equal."""


@dataclass(frozen=True, slots=True, eq=False)
class PointMass:
    """A counterweight."""

    mass: float
    """[kg]."""
    position: Array
    """Shape (3,) [m]."""


@dataclass(frozen=True, slots=True, eq=False)
class Shape:
    """A body as a uniform box with the same inertia."""

    mass: float
    """[kg]."""
    com: Array
    """Shape (3,) [m]."""
    tensor: Array
    """About the centre of mass, shape (3, 3) [kg m²]."""
    principal: Array
    """Principal moments about the centre of mass, about the axes in turn, shape (3,) [kg m²]."""
    axes: Array
    """Principal axes as columns, those nearest to x, y and z in turn, shape (3, 3)."""
    sides: Array | None
    """Sides of the box along the axes, shape (3,) [m]; None: no body has this inertia."""


@dataclass(frozen=True, slots=True, eq=False)
class LinkChange:
    """A link that changes, and how to build it."""

    link: int
    """Index of the link, from 0."""
    name: str
    frame: Array
    """The canonical frame of the link in its frame in the model, shape (4, 4)."""
    weights: tuple[PointMass, ...]
    """Point masses that are the whole change, in the canonical frame; empty where none are."""
    before: Shape
    """The link without payload, in the canonical frame."""
    after: Shape
    note: str
    """Why there are no point masses."""

    def in_model(self, position: Array) -> Array:
        """A position in the frame of the link in the model [m]."""
        return np.asarray(self.frame[:3, :3] @ position + self.frame[:3, 3])


def link_changes(before: RobotModel, after: RobotModel) -> tuple[LinkChange, ...]:
    """Every link that differs, and how to build it beside the rotors that it carries."""
    found = []
    own = [without_payload(model).links for model in (before, after)]
    for i, frame in enumerate(canonical_frames(before)):
        old, new = (links[i].inertia.moved(inverse(frame)) for links in own)
        if np.array_equal(old.pseudo, new.pseudo):
            continue
        size = max(float(np.trace(body.pseudo[:3, :3])) for body in (old, new))
        reach = math.sqrt(size / new.mass) if new.mass > 0 and size > 0 else 1.0
        added = new.pseudo - old.pseudo
        for spin in (spin for spin in spins(after) if spin.link == i):
            now, then = (model.joints[spin.place].rotor for model in (after, before))
            more = now.inertia - (then.inertia if then.spins else 0.0)
            added = added - more * thin_disc(spin, frame)
        weights, note = counterweights(added, reach)
        bodies = shape(old), shape(new)
        found.append(LinkChange(i, before.links[i].name, frame, weights, *bodies, note))
    return tuple(found)


def counterweights(added: Array, reach: float = 1.0) -> tuple[tuple[PointMass, ...], str]:
    """The fewest point masses with a pseudo-inertia (4, 4), and a note why there are none.

    There are at most four, all at the same distance from the origin, as near as possible. Moments
    are measured in units of the length `reach` [m].
    """
    unit = np.diag([1 / reach] * 3 + [1.0])
    values, vectors = np.linalg.eigh(unit @ added @ unit)
    largest = float(np.abs(values).max())
    if largest == 0:
        return (), "nothing changes"
    if values[0] < -_NEGLIGIBLE_SHARE * largest:
        return (), "material is taken away or moved, which no added masses do"
    kept = values > _NEGLIGIBLE_SHARE * largest
    L = np.linalg.solve(unit, vectors[:, kept]) * np.sqrt(values[kept])
    mass = float(L[3] @ L[3])
    if mass <= _NEGLIGIBLE_SHARE * largest:
        return (), (
            "inertia is added without mass, which point masses do only in the limit of two very "
            "light ones very far apart"
        )
    square = float(np.sum(L[:3] ** 2)) / mass
    L = L @ _hollow(L.T @ np.diag([1.0, 1.0, 1.0, -square]) @ L)
    order = np.argsort(-(L[3] ** 2))
    return tuple(PointMass(float(w * w), frozen(r / w)) for *r, w in L.T[order]), ""


def _hollow(S: Array) -> Array:
    """A rotation Q such that Qᵀ S Q has zeros on its diagonal, for S without trace."""
    Q, S = np.eye(len(S)), S.copy()
    for k in range(len(S) - 1):
        diagonal = np.diag(S)
        high = k + int(np.argmax(diagonal[k:]))
        low = k + int(np.argmin(diagonal[k:]))
        # a c² + 2 b c s + d s² = 0 for the direction (c, s) in the plane of both
        a = S[high, high]
        b = S[high, low]
        d = S[low, low]
        if a <= 0 or d >= 0:
            break
        t = (-b - math.copysign(math.sqrt(b * b - a * d), b)) / d
        c = 1 / math.hypot(1, t)
        s = t / math.hypot(1, t)
        G = np.eye(len(S))
        G[[high, low], high], G[[high, low], low] = (c, s), (-s, c)
        G[:, [k, high]] = G[:, [high, k]]
        Q, S = Q @ G, G.T @ S @ G
    return Q


def shape(inertia: Inertia) -> Shape:
    """A body as a uniform box."""
    if not inertia.mass > 0:
        moments = inertia.moment, np.diag(inertia.moment)
        return Shape(inertia.mass, inertia.com, *moments, np.eye(3), None)
    tensor = inertia.moment_about_com
    second = 0.5 * np.trace(tensor) * np.eye(3) - tensor
    # equal sides have no directions of their own and get those of the frame
    apart = _EQUAL_MOMENTS * np.abs(second).max() * np.diag([0.0, 1.0, 2.0])
    _, axes = np.linalg.eigh(second + apart)
    orders = map(list, permutations(range(3)))
    axes = max((axes[:, order] for order in orders), key=lambda A: np.abs(A.diagonal()).sum())
    values = np.diag(axes.T @ second @ axes)
    axes = axes * np.where(axes[np.abs(axes).argmax(axis=0), range(3)] < 0, -1.0, 1.0)
    exists = values.min() >= -_NEGLIGIBLE_SHARE * values.max()
    sides = np.sqrt(12 * np.maximum(values, 0.0) / inertia.mass) if exists else None
    return Shape(inertia.mass, inertia.com, tensor, values.sum() - values, axes, sides)
