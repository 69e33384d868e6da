"""Goals as linear conditions on the inertias of an arm whose lengths are given.

With the pseudo-inertias J_k of the links, the twists W_i of the joints seen from the base and
U_ki = W_i T_k (Uicker 1965), the mass matrix and the gravity torques are

    D_ij = Σ_k <J_k, sym(U_kiᵀ U_kj)>        g_i = -gᵀ p_i        p_i = Σ_k U_ki J_k e_4

and the angular momentum h_i is the axial vector of Σ_k U_ki J_k T_kᵀ. All are linear in the ten
numbers φ = (m, m c, J_xx, J_yy, J_zz, J_xy, J_xz, J_yz) of every link. Each element is spanned by
at most 10 n functions of q, so that it vanishes for all q if it does at more than 10 n random ones,
and is constant if it is the same at all of them.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from armdyn.arrays import Array
from armdyn.formulations.coordinates import Coordinates
from armdyn.formulations.kinematics import world_frames
from armdyn.loops.coordinates import coordinates_of
from armdyn.model import RobotModel
from armdyn.model.transform import inverse
from armdyn.shorten.canonical.frames import CanonicalRobot
from armdyn.shorten.canonical.model import model_from_canonical
from armdyn.shorten.canonical.parameters import ENTRIES, about_com
from armdyn.study.simplify.goals import ANGULAR_MOMENTUM, MOMENTUM, Goals, element_name

_ROWS = np.array([3, 0, 1, 2, *(a for _, a, _ in ENTRIES)])
_COLUMNS = np.array([3, 3, 3, 3, *(b for _, _, b in ENTRIES)])
"""The place of each of the ten numbers in a pseudo-inertia."""


def numbers_of(pseudo: Array) -> Array:
    """The ten numbers φ of pseudo-inertias, shape (..., 10)."""
    return np.asarray(pseudo[..., _ROWS, _COLUMNS])


def pseudo_of(numbers: Array) -> Array:
    """The pseudo-inertias of numbers φ, shape (..., 4, 4)."""
    J = np.zeros((*numbers.shape[:-1], 4, 4))
    J[..., _ROWS, _COLUMNS] = J[..., _COLUMNS, _ROWS] = numbers
    return J


def body_numbers(numbers: Array) -> Array:
    """Mass, centre of mass and tensor about it of numbers φ of bodies, shapes (n, 10)."""
    bodies = (about_com(J[:3, :3], J[:3, 3], J[3, 3]) for J in pseudo_of(numbers))
    return np.array([[m, *c, *(I[a, b] for _, a, b in ENTRIES)] for m, c, I in bodies])


def moments_of(bodies: Array) -> Array:
    """The numbers φ of bodies, the inverse of `body_numbers`."""
    m, c, I = np.split(bodies, [1, 4], axis=-1)
    own = 0.5 * I[:, :3].sum(axis=-1, keepdims=True) - I[:, :3]
    places = np.array([(a, b) for _, a, b in ENTRIES]).T
    second = np.concatenate([own, -I[:, 3:]], axis=-1) + m * c[:, places[0]] * c[:, places[1]]
    return np.concatenate([m, m * c, second], axis=-1)


@dataclass(frozen=True, slots=True)
class GoalElement:
    """An element of the mass matrix, a gravity torque or a momentum that a goal is about."""

    letter: str
    """D, g, or a component of p or h (see `Goals.elements`)."""
    joints: tuple[int, ...]
    """i and j of D_ij, or i of the others, from 0."""
    constant: bool
    """Whether it shall be constant; otherwise zero."""
    scale: float
    """Its unit: √(D_ii D_jj) on average, or weight or mass times size of the robot."""

    def __str__(self) -> str:
        return element_name(self.joints, self.letter)


def robot_size(robot: CanonicalRobot) -> float:
    """The largest length or distance of a centre of mass from its joint [m]; 1 if all are zero."""
    lengths = [float(np.linalg.norm(link.across)) for link in robot.links]
    offsets = [abs(float(link.r)) for link in robot.links]
    centres = [float(np.linalg.norm(link.u)) / link.M for link in robot.links if link.M > 0]
    return max([*lengths, *offsets, *centres]) or 1.0


def samples(model: RobotModel) -> Array:
    """Random configurations that decide an identity, shape (samples, n); always the same ones."""
    N, n = len(model.joints), len(model.independent)
    return _spread(model, np.random.default_rng(0).uniform(size=(12 * N + 20, n)))


def lattice(model: RobotModel) -> Array:
    """Configurations for averages and extremes, symmetric about the middle of the ranges.

    They are a lattice of Korobov: multiples of (1, a, a², ...) / N modulo 1.
    """
    N, a = 1021, 331
    powers = np.array([pow(a, k, N) for k in range(len(model.independent))])
    return _spread(model, np.outer(np.arange(N), powers) % N / N)


def _spread(model: RobotModel, unit: Array) -> Array:
    """Points of the unit cube over the range of the joints, whole turns of those that turn."""
    turn = (-np.pi, np.pi)
    joints = model.coordinate_joints
    low, high = np.array([turn if x.type.turns else x.range for x in joints]).T
    return low + np.where(high > low, high - low, [x.type.reach for x in joints]) * unit


def goal_elements(
    robot: CanonicalRobot,
    goals: Goals,
    numbers: Array,
    q: Array,
    at: Coordinates | None = None,
) -> list[GoalElement]:
    """The elements that the goals are about, with the scales of a robot of these numbers."""
    coefficients = InertiaCoefficients(robot, q, at)
    joints = coefficients.coordinates
    means = {i: float(np.mean(coefficients.mass(i, i) @ numbers.ravel())) for i in joints}
    largest = max([*means.values(), 0.0]) or 1.0
    own = {i: value if value > 0 else largest for i, value in means.items()}
    field = max(float(np.linalg.norm(link.gravity)) for link in robot.links)
    moment = float(numbers[:, 0].sum()) * robot_size(robot)

    def scale(letter: str, of: tuple[int, ...]) -> float:
        if letter == "D" or (letter in ANGULAR_MOMENTUM and robot.links[of[0]].type.turns):
            return float(np.sqrt(own[of[0]] * own[of[-1]]))
        return (field if letter == "g" else 1.0) * moment or 1.0

    return [
        GoalElement(letter, of, constant, scale(letter, of))
        for letter, of, constant in goals.elements(joints)
        if coefficients.meet(of[0], of[-1])
    ]


def linear_conditions(
    robot: CanonicalRobot, elements: Sequence[GoalElement], q: Array, at: Coordinates
) -> Array:
    """The goals as rows with rows @ φ = 0, by the configurations of `samples`.

    They are dimensionless, shape (10 n or fewer, 10 n): |rows @ φ|² is the sum over the elements of
    the mean square of what shall vanish.
    """
    rows = [np.zeros((1, 10 * len(robot.links)))]
    coefficients = InertiaCoefficients(robot, q, at)
    for element in elements:
        values = coefficients.of(element)
        mean = values.mean(axis=0) if element.constant else 0.0
        rows.append((values - mean) / (element.scale * np.sqrt(len(q))))
    return np.asarray(np.linalg.qr(np.concatenate(rows), mode="r"))


def link_slopes(model: RobotModel, q: Array) -> tuple[Array, list[dict[int, Array]]]:
    """Frames T_k of the links at q (m, N), (N, m, 4, 4), and U_ki = ∂T_k/∂q_i by k and i."""
    frames = world_frames(model, q)
    T = np.zeros((len(model.joints), len(q), 4, 4))
    for k, (R, O) in enumerate(zip(frames.R, frames.O, strict=True)):
        T[k, :, :3, :3], T[k, :, :3, 3], T[k, :, 3, 3] = R, O, 1.0
    D = np.array([[joint.type.generator(joint.axis)] for joint in model.joints])
    W = T @ D @ inverse(T)
    return T, [{i: W[i] @ T[k] for i in path} for k, path in enumerate(model.paths)]


class InertiaCoefficients:
    """Coefficients of the ten numbers of every link in D_ij, g_i, p_i and h_i at q (samples, n).

    i and j are joints that are coordinates, and what moves with them is added up: `at` is the map
    to all joints, where some follow others.
    """

    def __init__(self, robot: CanonicalRobot, q: Array, at: Coordinates | None = None):
        model = model_from_canonical(robot, float)
        at = at or coordinates_of(model)
        self.robot, self.count, self.path = robot, len(q), model.paths
        self.coordinates = at.model.independent
        self._K = at.columns(np.eye(len(model.joints)))
        self.T, self.U = link_slopes(model, at.positions(q))
        """T_k, and U_ki by link k and joint i, (samples, 4, 4) each."""

    def of(self, element: GoalElement) -> Array:
        """Coefficients of an element, shape (samples, 10 n)."""
        letter, at = element.letter, element.joints
        if letter == "D":
            return self.mass(*at)
        if letter == "g":
            return self.gravity(at[0])
        if letter in MOMENTUM:
            return self.momentum(at[0], np.eye(3)[MOMENTUM.index(letter)])
        return self.angular_momentum(at[0], ANGULAR_MOMENTUM.index(letter))

    def ratios(self, joint: int) -> list[tuple[int, float]]:
        """The joints that move with a coordinate, with their ratios."""
        column = self._K[:, self.coordinates.index(joint)]
        return [(int(i), float(column[i])) for i in np.flatnonzero(column)]

    def meet(self, i: int, j: int) -> bool:
        """Whether a link moves with both coordinates."""
        return any(
            a in path and b in path
            for path in self.path
            for a, _ in self.ratios(i)
            for b, _ in self.ratios(j)
        )

    def mass(self, i: int, j: int) -> Array:
        """Coefficients of D_ij, shape (samples, 10 n)."""
        terms = (s * t * self._mass(a, b) for a, s in self.ratios(i) for b, t in self.ratios(j))
        return np.asarray(sum(terms))

    def _mass(self, i: int, j: int) -> Array:
        """The same of two joints of the tree."""
        return self._products(
            np.swapaxes(U[i], -1, -2) @ U[j] if i in U and j in U else None for U in self.U
        )

    def gravity(self, i: int) -> Array:
        """Coefficients of g_i, shape (samples, 10 n)."""
        terms = (
            s * self.momentum(a, -np.asarray(self.robot.links[self.path[a][0]].gravity, float))
            for a, s in self.ratios(i)
        )
        return np.asarray(sum(terms))

    def momentum(self, i: int, direction: Array) -> Array:
        """Coefficients of p_i along a direction in base axes, shape (samples, 10 n)."""
        result = np.zeros((self.count, len(self.U), 10))
        for k, U in enumerate(self.U):
            if i in U:
                result[:, k, :4] = (direction @ U[i][:, :3])[:, [3, 0, 1, 2]]
        return result.reshape(self.count, -1)

    def angular_momentum(self, i: int, axis: int) -> Array:
        """Coefficients of h_i about an axis of the base, shape (samples, 10 n)."""
        b, c = (axis + 1) % 3, (axis + 2) % 3
        return self._products(
            U[i][:, c, :, None] * T[:, b, None] - U[i][:, b, :, None] * T[:, c, None]
            if i in U
            else None
            for U, T in zip(self.U, self.T, strict=True)
        )

    def _products(self, matrices: Iterable[Array | None]) -> Array:
        """Coefficients of Σ_k <J_k, Q_k> for matrices Q_k (samples, 4, 4); None: no part in it."""
        result = np.zeros((self.count, len(self.U), 10))
        for k, Q in enumerate(matrices):
            if Q is not None:
                both = Q + np.swapaxes(Q, -1, -2)
                result[:, k] = np.where(_ROWS == _COLUMNS, 0.5, 1.0) * numbers_of(both)
        return result.reshape(self.count, -1)
