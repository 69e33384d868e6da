"""Goals as linear conditions on the inertias of an arm whose lengths are given.

With the pseudo-inertias J_k of the links, the twists W_i of the joints seen from the base and
U_ki = W_i T_k (Uicker 1965), the mass matrix and the gravity torques are

    D_ij = Σ_k <J_k, sym(U_kiᵀ U_kj)>        g_i = -Σ_k gᵀ U_ki J_k e_4

both linear in the ten numbers φ = (m, m c, J_xx, J_yy, J_zz, J_xy, J_xz, J_yz) of every link. Each
element is spanned by at most 10 n functions of q, so that it vanishes for all q if it does at more
than 10 n random ones, and is constant if it is the same at all of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from armdyn.arrays import Array
from armdyn.canonical.frames import CanonicalRobot
from armdyn.canonical.model import model_from_canonical
from armdyn.canonical.parameters import ENTRIES
from armdyn.formulations.kinematics import world_frames
from armdyn.model import RobotModel
from armdyn.model.transform import inverse
from armdyn.simplification.goals import Goals, element_name

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


@dataclass(frozen=True, slots=True)
class GoalElement:
    """An element of the mass matrix, or a gravity torque, that a goal is about."""

    joints: tuple[int, ...]
    """i and j of D_ij, or i of g_i, from 0."""
    constant: bool
    """Whether it shall be constant; otherwise zero."""
    scale: float
    """Its unit: √(D_ii D_jj) on average, or weight times size of the robot."""

    def __str__(self) -> str:
        return element_name(self.joints)


def robot_size(robot: CanonicalRobot) -> float:
    """The largest length or distance of a centre of mass from its joint [m]; 1 if all are zero."""
    lengths = [float(np.linalg.norm(link.across)) for link in robot.links]
    offsets = [abs(float(link.r)) for link in robot.links]
    centres = [float(np.linalg.norm(link.u)) / link.M for link in robot.links if link.M > 0]
    return max([*lengths, *offsets, *centres]) or 1.0


def samples(model: RobotModel) -> Array:
    """Random configurations that decide an identity, shape (samples, n); always the same ones."""
    n = len(model.joints)
    return _spread(model, np.random.default_rng(0).uniform(size=(12 * n + 20, n)))


def lattice(model: RobotModel) -> Array:
    """Configurations for averages and extremes, symmetric about the middle of the ranges.

    They are a lattice of Korobov: multiples of (1, a, a², ...) / N modulo 1.
    """
    N, a = 1021, 331
    powers = np.array([pow(a, k, N) for k in range(len(model.joints))])
    return _spread(model, np.outer(np.arange(N), powers) % N / N)


def _spread(model: RobotModel, unit: Array) -> Array:
    """Points of the unit cube over the range of the joints, whole turns of those that turn."""
    turn = (-np.pi, np.pi)
    low, high = np.array([turn if x.type.turns else x.range for x in model.joints]).T
    return low + np.where(high > low, high - low, [x.type.reach for x in model.joints]) * unit


def goal_elements(
    robot: CanonicalRobot, goals: Goals, numbers: Array, q: Array
) -> list[GoalElement]:
    """The elements that the goals are about, with the scales of a robot of these numbers."""
    coefficients = InertiaCoefficients(robot, q)
    n = len(robot.links)
    own = [float(np.mean(coefficients.mass(i, i) @ numbers.ravel())) for i in range(n)]
    own = [value if value > 0 else max([*own, 0.0]) or 1.0 for value in own]
    field = max(float(np.linalg.norm(link.gravity)) for link in robot.links)
    weight = field * float(numbers[:, 0].sum()) * robot_size(robot) or 1.0
    return [
        GoalElement(at, constant, float(np.sqrt(own[at[0]] * own[at[-1]])) if at[1:] else weight)
        for at, constant in goals.elements(n)
        if at[0] in coefficients.path[at[-1]]
    ]


def element_coefficients(robot: CanonicalRobot, elements: Sequence[GoalElement], q: Array) -> Array:
    """Coefficients of φ in every element at configurations, shape (elements, samples, 10 n)."""
    coefficients = InertiaCoefficients(robot, q)
    values = np.zeros((len(elements), len(q), 10 * len(robot.links)))
    for k, element in enumerate(elements):
        at = element.joints
        values[k] = coefficients.mass(*at) if at[1:] else coefficients.gravity(*at)
    return values


def linear_conditions(robot: CanonicalRobot, elements: Sequence[GoalElement], q: Array) -> Array:
    """The goals as rows with rows @ φ = 0, by the configurations of `samples`.

    They are dimensionless, shape (10 n or fewer, 10 n): |rows @ φ|² is the sum over the elements of
    the mean square of what shall vanish.
    """
    rows = [np.zeros((1, 10 * len(robot.links)))]
    for element, values in zip(elements, element_coefficients(robot, elements, q), strict=True):
        mean = values.mean(axis=0) if element.constant else 0.0
        rows.append((values - mean) / (element.scale * np.sqrt(len(q))))
    return np.asarray(np.linalg.qr(np.concatenate(rows), mode="r"))


class InertiaCoefficients:
    """Coefficients of the ten numbers of every link in D_ij and g_i over configurations q."""

    def __init__(self, robot: CanonicalRobot, q: Array):
        self.robot, self.count = robot, len(q)
        model = model_from_canonical(robot, float)
        frames, T = world_frames(model, q), np.zeros((len(robot.links), len(q), 4, 4))
        for k, (R, O) in enumerate(zip(frames.R, frames.O, strict=True)):
            T[k, :, :3, :3], T[k, :, :3, 3], T[k, :, 3, 3] = R, O, 1.0
        D = np.array([[joint.type.generator(joint.axis)] for joint in model.joints])
        W = T @ D @ inverse(T)
        self.path = model.paths
        self.U = [{i: W[i] @ T[k] for i in path} for k, path in enumerate(self.path)]
        """U_ki by link k and joint i, (samples, 4, 4) each."""

    def mass(self, i: int, j: int) -> Array:
        """Coefficients of D_ij of two joints on one path, shape (samples, 10 n)."""
        result = np.zeros((self.count, len(self.U), 10))
        for k, U in enumerate(self.U):
            if i in U and j in U:
                Q = np.swapaxes(U[i], -1, -2) @ U[j]
                Q = Q + np.swapaxes(Q, -1, -2)
                result[:, k] = np.where(_ROWS == _COLUMNS, 0.5, 1.0) * numbers_of(Q)
        return result.reshape(self.count, -1)

    def gravity(self, i: int) -> Array:
        """Coefficients of g_i, shape (samples, 10 n)."""
        result = np.zeros((self.count, len(self.U), 10))
        g = self.robot.links[self.path[i][0]].gravity
        for k, U in enumerate(self.U):
            if i in U:
                result[:, k, :4] = -(g @ U[i][:, :3])[:, [3, 0, 1, 2]]
        return result.reshape(self.count, -1)
