"""Ideal springs between links of an arm as a linear problem.

Springs of free length 0 between points p of a link and a of another one have the energy

    ½ S |O|² + O·R s - β·O - <B, R>   + a constant

with R and O the first link seen from the other one, S = Σ k, s = Σ k p, β = Σ k a, B = Σ k a pᵀ:
sixteen numbers in which the torques of springs are linear. Any numbers with S > 0 are those of some
springs: of one if B = β sᵀ/S, else of two for each singular value of the difference.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from armdyn.arrays import Array
from armdyn.loops.coordinates import coordinates_of
from armdyn.model import RobotModel
from armdyn.model.spring import Spring
from armdyn.model.transform import inverse
from armdyn.simplification.linear import link_slopes

_SINGULAR_SHARE = 1e-9
"""A singular value of B that is smaller, relative to S times the lengths, makes no springs."""


@dataclass(frozen=True, slots=True, eq=False)
class SpringPlace:
    """A link and another one that carries it, between which springs can be."""

    link: int
    other: int
    """-1 is the base."""
    centre: Array
    """The joint that the other link carries towards the link, in its frame, (3,) [m]."""
    X: Array
    """The link seen from the other one, whose origin is moved to the centre, (m, 4, 4)."""
    dX: Array
    """Its derivatives by the n coordinates, (m, n, 4, 4)."""

    def coefficients(self, reach: float) -> Array:
        """Torques for S, s/r, β/r and B/r² of 1 N/m with the length r, (m, n, 16)."""
        O, R, dO, dR = (
            self.X[:, :3, 3],
            self.X[:, :3, :3],
            self.dX[..., :3, 3],
            self.dX[..., :3, :3],
        )
        square = np.einsum("sc,snc->sn", O, dO)[..., None]
        along = np.einsum("snc,sca->sna", dO, R) + np.einsum("sc,snca->sna", O, dR)
        turned = dR.reshape(*dR.shape[:2], 9)
        return np.concatenate([square, reach * along, -reach * dO, -(reach**2) * turned], axis=-1)

    def torques(self, stiffness: Array, points: Array, anchors: Array, length: float) -> Array:
        """The torques of springs, (m, n, springs), anchors seen from the centre."""
        places = np.concatenate([points, np.ones((len(points), 1))], axis=1).T
        d = (self.X[:, :3] @ places - anchors.T[None]).swapaxes(-1, -2)
        dp = (self.dX[:, :, :3] @ places).swapaxes(-1, -2)
        force = stiffness[:, None] * d
        if length:
            size = np.maximum(np.linalg.norm(d, axis=-1, keepdims=True), 1e-9 * length)
            force = force * (1 - length / size)
        return np.asarray((force[:, None] * dp).sum(axis=-1))

    def torque_slopes(self, stiffness: float, point: Array, anchor: Array, length: float) -> Array:
        """The torques of one spring by its stiffness, point and anchor, (m, n, 7)."""
        R, dR = self.X[:, :3, :3], self.dX[..., :3, :3]
        d = R @ point + self.X[:, :3, 3] - anchor
        dp = dR @ point + self.dX[..., :3, 3]
        size = np.maximum(np.linalg.norm(d, axis=-1), 1e-9 * length) if length else np.ones(len(d))
        share = (1 - length / size)[:, None]
        pull = (d[:, None] * dp).sum(axis=-1)
        # of share · d·dp by d, and by p through dp
        by_d = share[..., None] * dp
        if length:
            by_d = by_d + pull[..., None] * (d * (length / size**3)[:, None])[:, None]
        by_p = by_d @ R + share[..., None] * (d[:, None, None] @ dR)[:, :, 0]
        columns = [(share * pull)[..., None], stiffness * by_p, -stiffness * by_d]
        return np.concatenate(columns, axis=-1)

    def spring(self, stiffness: float, point: Array, anchor: Array, length: float) -> Spring:
        """A spring with its anchor in the frame of the other link."""
        return Spring(self.link, point, self.other, anchor + self.centre, stiffness, length)


def spring_places(
    model: RobotModel, pairs: Sequence[tuple[int, int]], q: Array
) -> list[SpringPlace]:
    """The places of springs at positions of the coordinates q (m, n)."""
    at = coordinates_of(model)
    T, U = link_slopes(model, at.positions(q))
    K = at.columns(np.eye(len(model.joints)))
    base = np.broadcast_to(model.base, T[0].shape)
    places = []
    for link, other in pairs:
        path = model.paths[link]
        first = path[0 if other < 0 else path.index(other) + 1]
        centre = model.joints[first].placement[:3, 3]
        back = inverse(T[other] if other >= 0 else base)
        X = back @ T[link]
        dX = np.zeros((len(q), len(model.joints), 4, 4))
        for i in path[path.index(first) :]:
            dX[:, i] = back @ U[link][i]
        X[:, :3, 3] -= centre
        places.append(SpringPlace(link, other, centre, X, np.einsum("snab,nc->scab", dX, K)))
    return places


def gravity_torques(model: RobotModel, q: Array) -> Array:
    """Torques that hold the links at rest at positions of the coordinates q (m, n), (m, n)."""
    at = coordinates_of(model)
    _, U = link_slopes(model, at.positions(q))
    tau = np.zeros((len(q), len(model.joints)))
    for link, slopes in zip(model.links, U, strict=True):
        body = np.array([*link.inertia.first_moment, link.inertia.mass])
        for i, slope in slopes.items():
            tau[:, i] -= slope[:, :3] @ body @ model.gravity
    return np.asarray(at.torques(tau))


def realised(numbers: Array, reach: float) -> list[tuple[float, Array, Array]]:
    """The fewest springs (k, p, a) with the sixteen scaled numbers of a place, S > 0."""
    S, s, beta = numbers[0], reach * numbers[1:4], reach * numbers[4:7]
    B = reach**2 * numbers[7:].reshape(3, 3)
    point, anchor = s / S, beta / S
    u, sigma, v = np.linalg.svd(B - np.outer(beta, s) / S)
    some = sigma > _SINGULAR_SHARE * S * reach**2
    if not some.any():
        return [(float(S), point, anchor)]
    rho = float(np.sqrt(sigma[some].sum() / S))
    springs = []
    for j in np.flatnonzero(some):
        k = float(0.5 * S * sigma[j] / sigma[some].sum())
        springs += [(k, point + x * rho * v[j], anchor + x * rho * u[:, j]) for x in (1, -1)]
    return springs
