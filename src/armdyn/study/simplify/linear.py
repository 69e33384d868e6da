"""Goals as linear conditions on the inertias of an arm whose lengths are given.

With the pseudo-inertias J_k of the links, the twists W_i of the joints seen from the base and
U_ki = W_i T_k (Uicker 1965), the mass matrix and the gravity torques are

    D_ij = Σ_k <J_k, sym(U_kiᵀ U_kj)>        g_i = -gᵀ p_i        p_i = Σ_k U_ki J_k e_4

and the angular momentum h_i is the axial vector of Σ_k U_ki J_k T_kᵀ. All are linear in the ten
numbers φ = (m, m c, J_xx, J_yy, J_zz, J_xy, J_xz, J_yz) of every link. Each element is spanned by
at most 10 n functions of q, so that it vanishes for all q if it does at more than 10 n random ones,
and is constant if it is the same at all of them.

The rotor of joint i, which spins about a on link k with the momentum H for a unit rate of the joint
(see `formulations.rotors`), adds H a to h_i and H (a·ω_k) to D_ij, where ω_k is what joint j gives
its carrier; to D_ii twice that. These are linear as well, so that H follows from the links.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from armdyn.arrays import Array
from armdyn.formulations.coordinates import Coordinates
from armdyn.formulations.kinematics import world_frames
from armdyn.formulations.rotors import Spin, turning_row
from armdyn.model import RobotModel
from armdyn.model.transform import inverse
from armdyn.shorten.canonical.frames import CanonicalRobot, canonical_frames
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


def link_moments(robot: CanonicalRobot) -> Array:
    """The numbers φ of the links of a robot, shape (n, 10)."""
    pairs = [(a, b) for _, a, b in ENTRIES]
    return np.array([[x.M, *x.u, *(x.J[pair] for pair in pairs)] for x in robot.links])


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


def thin_disc(spin: Spin, frame: Array) -> Array:
    """The pseudo-inertia (4, 4) of a locked rotor of unit inertia in a frame on its carrier.

    It is the least that any rotor has, its mass and place left open.
    """
    a = spin.axis @ frame[:3, :3]
    return np.pad(0.5 * (np.eye(3) - np.outer(a, a)), (0, 1))


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
    robot: CanonicalRobot, goals: Goals, numbers: Array, q: Array, at: Coordinates
) -> list[GoalElement]:
    """The elements that the goals are about, with the scales of a robot of these numbers."""
    coefficients = InertiaCoefficients(robot, q, at)
    joints = list(coefficients.U)
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
    robot: CanonicalRobot,
    elements: Sequence[GoalElement],
    q: Array,
    at: Coordinates,
    rotors: Sequence[Spin] = (),
) -> tuple[Array, Array]:
    """The goals as rows with rows @ φ = 0, by the configurations of `samples`; and rotors from φ.

    They are dimensionless, shape (10 n or fewer, 10 n): |rows @ φ|² is the sum over the elements of
    the mean square of what shall vanish, with the momenta of rotors that make it least. These are
    the second array (rotors, 10 n) times φ.
    """
    width, R = 10 * len(robot.links), len(rotors)
    rows = [np.zeros((1, R + width))]
    coefficients = InertiaCoefficients(robot, q, at, rotors)
    for element in elements:
        values = np.roll(coefficients.of(element), R, axis=-1)  # what is solved for comes first
        mean = values.mean(axis=0) if element.constant else 0.0
        rows.append((values - mean) / (element.scale * np.sqrt(len(q))))
    triangle = np.asarray(np.linalg.qr(np.concatenate(rows), mode="r"))
    return triangle[R:, R:], -np.linalg.solve(triangle[:R, :R], triangle[:R, R:])


def link_slopes(model: RobotModel, q: Array) -> tuple[Array, Array]:
    """Frames T_k of the links at q (m, N), (N, m, 4, 4), and U_ki = ∂T_k/∂q_i, (N, N, m, 4, 4)."""
    frames = world_frames(model, q)
    T = np.zeros((len(model.joints), len(q), 4, 4))
    for k, (R, O) in enumerate(zip(frames.R, frames.O, strict=True)):
        T[k, :, :3, :3], T[k, :, :3, 3], T[k, :, 3, 3] = R, O, 1.0
    D = np.array([[joint.type.generator(joint.axis)] for joint in model.joints])
    W, U = T @ D @ inverse(T), np.zeros((len(T), *T.shape))
    for k, path in enumerate(map(list, model.paths)):
        U[k, path] = W[path] @ T[k]
    return T, U


class InertiaCoefficients:
    """Coefficients of the ten numbers of every link in D_ij, g_i, p_i and h_i at q (samples, n).

    i and j are joints that are coordinates, and what moves with them is added up: `at` is the map
    to all joints, where some follow others. All are of shape (samples, 10 n). Those of the momenta
    of some rotors of joints are beside them in `of`.
    """

    def __init__(
        self, robot: CanonicalRobot, q: Array, at: Coordinates, rotors: Sequence[Spin] = ()
    ):
        model = model_from_canonical(robot, float)
        K = at.columns(np.eye(len(model.joints)))
        self.T, slopes = link_slopes(model, at.positions(q))
        U = np.tensordot(K.T, slopes, axes=(1, 1))
        self.U = dict(zip(at.model.independent, U, strict=True))
        """Σ U_ki of the joints i that move with a coordinate, (N, samples, 4, 4) by its joint."""
        field = [robot.links[path[0]].gravity for path in model.paths]
        self.field = np.array(field, dtype=float)
        """Gravity in the axes of the base from which each link is seen, (N, 3)."""
        self.rotors = rotors
        if rotors:
            world = world_frames(at.model, q)
            axes = zip(self.T, world.R, canonical_frames(at.model), strict=True)
            base = [T[0, :3, :3] @ (R[0] @ F[:3, :3]).T for T, R, F in axes]
            self.directions = [world.link(s.link)[0] @ s.axis @ base[s.place].T for s in rotors]
            """Their axes in the axes of the base from which the links of their joints are seen."""
            self.turning = [turning_row(at.model, q, s.link, s.axis) for s in rotors]

    def of(self, element: GoalElement) -> Array:
        """Coefficients of an element, those of rotors behind, (samples, 10 n + rotors)."""
        columns = [self.links(element), np.zeros((self.T.shape[1], len(self.rotors)))]
        i, j = element.joints[0], element.joints[-1]
        for k, spin in enumerate(self.rotors):
            if element.letter == "D":
                for one, other in ((i, j), (j, i)):
                    columns[1][:, k] += (spin.place == one) * self.turning[k][:, other]
            elif element.letter in ANGULAR_MOMENTUM and spin.place == i:
                columns[1][:, k] = self.directions[k][:, ANGULAR_MOMENTUM.index(element.letter)]
        return np.concatenate(columns, axis=-1)

    def links(self, element: GoalElement) -> Array:
        """Coefficients of the links in an element."""
        letter = element.letter
        i = element.joints[0]
        j = element.joints[-1]
        if letter == "D":
            return self.mass(i, j)
        if letter == "g":
            return self.momentum(i, -self.field)
        if letter in MOMENTUM:
            return self.momentum(i, np.eye(3)[MOMENTUM.index(letter)])
        return self.angular_momentum(i, ANGULAR_MOMENTUM.index(letter))

    def meet(self, i: int, j: int) -> bool:
        """Whether a link moves with both coordinates."""
        one, other = (self.U[k].any(axis=(1, 2, 3)) for k in (i, j))
        return bool((one & other).any())

    def mass(self, i: int, j: int) -> Array:
        """Coefficients of D_ij."""
        return _products(np.swapaxes(self.U[i], -1, -2) @ self.U[j])

    def momentum(self, i: int, direction: Array) -> Array:
        """Coefficients of p_i along a direction in base axes, (3,) or (N, 3) for each link."""
        rows = (direction[..., None, None, :] @ self.U[i][:, :, :3])[:, :, 0]
        return _products(rows[..., None] * np.eye(4)[3])

    def angular_momentum(self, i: int, axis: int) -> Array:
        """Coefficients of h_i about an axis of the base."""
        b, c = (axis + 1) % 3, (axis + 2) % 3
        T, U = self.T, self.U[i]
        return _products(
            U[:, :, c, :, None] * T[:, :, b, None] - U[:, :, b, :, None] * T[:, :, c, None]
        )


def _products(Q: Array) -> Array:
    """Coefficients of Σ_k <J_k, Q_k> for matrices Q (N, samples, 4, 4), shape (samples, 10 N)."""
    numbers = np.where(_ROWS == _COLUMNS, 0.5, 1.0) * numbers_of(Q + np.swapaxes(Q, -1, -2))
    return np.swapaxes(numbers, 0, 1).reshape(Q.shape[1], -1)
