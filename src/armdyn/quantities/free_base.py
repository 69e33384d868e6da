"""Quantities of a robot whose base is a body that nothing holds, as on a satellite or in free fall.

The base is carried by three slides and three hinges, all at zero, so that their rates are its twist
in its own axes; six more joints, and every recursion is that of a fixed robot. Nothing in it
depends on where the base is: with X = diag(R, R) and twist, acceleration and wrench in world axes
at the origin of the base, linear part first,

    q̇_b = Xᵀ (v, ω)    q̈_b = Xᵀ (v̇ - g, ω̇) - (0, κ)    κ = (ω_y ω_z, -ω_x ω_z, ω_x ω_y)

where κ is what the sequence of hinges adds, ω in base axes, and gravity is an acceleration of the
base. With (f, τ) the wrench on the base and the torques of the joints,

    M (v̇, ω̇, q̈) + h = (f, τ)

    inverse:  a_b = -M_bb⁻¹ (h_b + M_bq q̈ - f),  τ = M_qb a_b + M_qq q̈ + h_q
    momentum: A_O = [M_bb M_bq] about the origin, A = [1 0; -(c - p)× 1] A_O about the centre c
    space arms: the base follows the joints by a_b = -M_bb⁻¹ M_bq q̇ if the momentum is zero, and
    the hand by J* q̇ = (J_q - J_b M_bb⁻¹ M_bq) q̇

References: R. Featherstone, Rigid Body Dynamics Algorithms, 2008, chapter 9; Y. Umetani and K.
Yoshida, Resolved motion rate control of space manipulators with generalized Jacobian matrix, 1989;
D. Orin, A. Goswami and S.-H. Lee, Centroidal dynamics of a humanoid robot, 2013.
"""

from dataclasses import replace
from functools import partial

import numpy as np

from armdyn.arrays import Array, frozen
from armdyn.formulations.kinematics import frame_in_world, jacobian, world_frames
from armdyn.formulations.solve import solve_ltdl
from armdyn.formulations.spatial import cross, skew
from armdyn.formulations.springs import spring_energy
from armdyn.model import RobotModel
from armdyn.model.edit import BASE_JOINTS, with_base_joints
from armdyn.model.transform import IDENTITY
from armdyn.quantities.center_of_mass import center_of_mass, no_bodies, total_mass
from armdyn.quantities.dynamics import acceleration
from armdyn.quantities.quantity import TORQUE_OPTIONS, quantity
from armdyn.quantities.traced_robot import TracedRobot
from armdyn.shorten.parts import symmetric

BASE = 6
"""Coordinates of a base that nothing holds."""
POSE = 12
"""Numbers that say where it is."""


def not_free(model: RobotModel) -> str:
    """Why the base of a robot cannot be free; empty if it can."""
    if model.loops:
        return "a base that floats under closed loops is not computed; lock or cut the loops"
    return no_bodies(model)


_free = partial(quantity, floats=True, absent=not_free)


def floating(model: RobotModel) -> RobotModel:
    """The robot on a base with six joints, without gravity, springs and a place in the world."""
    carried = with_base_joints(model, tuple(BASE_JOINTS))
    return replace(carried, base=IDENTITY, gravity=frozen(np.zeros(3)), springs=())


class _FreeRobot:
    """A traced robot on a base that floats, with a pose in the world, in the axes of the base."""

    def __init__(self, s: TracedRobot, pose: Array, q: Array):
        request = replace(s.request, friction=False, gravity=False)
        self.s, self.joints = s, q
        self.R, self.p = pose[:9].reshape(3, 3), pose[9:]
        self.tree = replace(s, model=floating(s.model), request=request)
        self.tree.rotors = np.concatenate([s.nodes(np.zeros(BASE)), s.rotors])
        self.q = np.concatenate([s.nodes(np.zeros(BASE)), q])
        self.weight = np.concatenate([-s.described.gravity, np.zeros(3)])
        """What the base accelerates by, against gravity, where it rests."""

    def mass_matrix(self) -> Array:
        """M of the base and the joints."""
        return self.tree.mass_matrix(self.q)

    def inward(self, base: Array, joints: Array) -> Array:
        """What belongs to the base, two vectors in the world, then what belongs to the joints."""
        return np.concatenate([self.R.T @ base[:3], self.R.T @ base[3:], joints])

    def outward(self, rows: Array) -> Array:
        """Those of the base in the world, and those of the joints."""
        return np.concatenate([self.R @ rows[:3], self.R @ rows[3:BASE], rows[BASE:]])

    def momentum(self, rates: Array) -> Array:
        """M q̇."""
        return self.tree.torques(self.q, self.tree.zero, rates)

    def torques(self, rates: Array, base: Array, qdd: Array) -> Array:
        """What the base receives and the joints need, friction and springs aside."""
        return self.tree.torques(self.q, rates, self.inward(base, qdd) - _hinges(rates, self.s.n))

    def held(self, qd: Array) -> Array:
        """What friction and springs take of it."""
        held = self.s.friction(self.joints, qd) + self.s.springs(self.joints)
        return np.concatenate([np.zeros(BASE), held])

    def center(self) -> Array:
        """The centre of mass of all."""
        return center_of_mass(replace(self.s.plain, base=IDENTITY), self.s.here(self.joints).q)

    def about_center(self, rows: Array, center: Array) -> Array:
        """Wrenches or momenta at the origin of the base, about the centre of mass in the world."""
        moved = rows[3:BASE] - skew(center) @ rows[:3]
        return self.outward(np.concatenate([rows[:3], moved]))

    def following(self) -> Array:
        """The twist of the base for the rates of the joints where there is no momentum, (6, n)."""
        M = self.mass_matrix()
        return -self.solve(M[:BASE, :BASE], M[:BASE, BASE:])

    def solve(self, M: Array, b: Array) -> Array:
        """M⁻¹ b for the mass matrix of all as one body."""
        whole = [tuple(range(k + 1)) for k in range(BASE)]
        return solve_ltdl(whole, self.s.nodes(M), self.s.nodes(b), self.s.graph.guard)


def _first_moment(M: Array) -> Array:
    """Mass times centre of mass in base axes, from the mass matrix."""
    return np.array([M[1, 5], M[2, 3], M[0, 4]])


def _hinges(rates: Array, n: int) -> Array:
    """(0, κ, 0)."""
    x, y, z = rates[3:BASE]
    return np.concatenate([np.zeros(3), [y * z, -x * z, x * y], np.zeros(n)])


@_free(
    symbol="M",
    result="the matrix, rows of the base first [kg, m, {inertia}]",
    shape=("n + 6", "n + 6"),
    terms=("links", "rotors"),
    options=("payload",),
)
def _free_mass_matrix(s: TracedRobot, pose: Array, q: Array) -> Array:
    """The mass matrix of a robot on a base that nothing holds.

    It is for the twist of the base in world axes and qd.
    """
    free = _FreeRobot(s, pose, q)
    M = free.mass_matrix()
    moment, across = skew(free.R @ _first_moment(M)), free.outward(M[:BASE, BASE:])
    inertia = symmetric((free.R @ M[3:BASE, 3:BASE] @ free.R.T)[np.tril_indices(3)])
    base = [M[:3, :3], -moment, across[:3]], [moment, inertia, across[3:]]
    return np.block([*base, [across.T, M[BASE:, BASE:]]])


@_free(
    symbol="b",
    result="force and moment at the origin of the base [N, N m], then torques [{torque}]",
    shape=("n + 6",),
    terms=("links", "coriolis", "gravity", "friction"),
    options=TORQUE_OPTIONS,
)
def _free_bias(s: TracedRobot, pose: Array, twist: Array, q: Array, qd: Array) -> Array:
    """Wrench on the base, and torques, of a motion without acceleration of base and joints."""
    free = _FreeRobot(s, pose, q)
    torques = free.torques(free.inward(twist, qd), free.weight, s.zero)
    return free.outward(torques + free.held(qd))


@_free(
    symbol="a",
    result="linear and angular acceleration of the base [m/s^2, rad/s^2], then accelerations of "
    "the joints [{acceleration}]",
    shape=("n + 6",),
    terms=("links", "rotors", "coriolis", "gravity", "friction", "wrench"),
    options=TORQUE_OPTIONS,
    solves=True,
)
def _free_forward_dynamics(
    s: TracedRobot, pose: Array, twist: Array, q: Array, qd: Array, tau: Array, base_load: Array
) -> Array:
    """Accelerations of a base that nothing holds, and of the joints.

    Torques and a wrench on the base cause them. Not a number where the mass matrix is singular.
    """
    free = _FreeRobot(s, pose, q)
    rates, driving = free.inward(twist, qd), free.inward(base_load, tau) - free.held(qd)
    found = acceleration(free.tree, free.q, rates, s.nodes(driving))
    return _falling(free, found + _hinges(rates, s.n))


def motion_of_momentum(
    s: TracedRobot, pose: Array, momentum: Array, q: Array, qd: Array, tau: Array
) -> tuple[Array, Array]:
    """Twist of the base, and accelerations of the joints, where the centroidal momentum is known.

    No wrench acts on the base.
    """
    free = _FreeRobot(s, pose, q)
    M = free.mass_matrix()
    h = free.inward(momentum, np.zeros(0))
    center = _first_moment(M) / M[0, 0]
    h = np.concatenate([h[:3], h[3:] + cross(center, h[:3])])
    base = free.solve(M[:BASE, :BASE], h - M[:BASE, BASE:] @ qd)
    rates = np.concatenate([base, qd])
    driving = free.inward(np.zeros(BASE), tau) - free.held(qd)
    found = acceleration(free.tree, free.q, s.nodes(rates), s.nodes(driving))
    return free.outward(base), found[BASE:]


@_free(
    symbol="a",
    result="linear and angular acceleration of the base [m/s^2, rad/s^2], then torques [{torque}]",
    shape=("n + 6",),
    terms=("links", "rotors", "coriolis", "gravity", "friction", "wrench"),
    options=TORQUE_OPTIONS,
    solves=True,
)
def _free_inverse_dynamics(
    s: TracedRobot, pose: Array, twist: Array, q: Array, qd: Array, qdd: Array, base_load: Array
) -> Array:
    """Acceleration of a base that nothing holds, and torques of the actuators.

    They are for a motion of the joints and a wrench on the base.
    """
    free = _FreeRobot(s, pose, q)
    torques = free.torques(free.inward(twist, qd), np.zeros(BASE), qdd) + free.held(qd)
    M = free.mass_matrix()
    base = free.solve(M[:BASE, :BASE], free.inward(base_load, s.zero)[:BASE] - torques[:BASE])
    return _falling(free, np.concatenate([base, torques[BASE:] + M[BASE:, :BASE] @ base]))


def _falling(free: _FreeRobot, found: Array) -> Array:
    """The acceleration of the base in the world from that which its links feel, and the rest."""
    return free.outward(found) - np.concatenate([free.weight, free.s.zero])


@_free(symbol="", result="energy [J]", shape=(), terms=("links", "rotors"), options=("payload",))
def _free_kinetic_energy(s: TracedRobot, pose: Array, twist: Array, q: Array, qd: Array) -> Array:
    """Kinetic energy of a robot and its base, rotors included."""
    free = _FreeRobot(s, pose, q)
    rates = free.inward(twist, qd)
    return np.asarray(0.5 * (rates @ free.momentum(rates)))


@_free(symbol="", result="energy [J]", shape=(), terms=("gravity",), fixed=("payload", "gravity"))
def _free_potential_energy(s: TracedRobot, pose: Array, q: Array) -> Array:
    """Energy of a robot and its base in the field of gravity, and of springs.

    It is zero at the world origin.
    """
    springs = spring_energy(s.plain, s.plain.springs, s.here(q).q)
    return np.asarray(
        springs - total_mass(s.model) * (s.plain.gravity @ _free_center_of_mass.build(s, pose, q))
    )


@_free(symbol="c", result="position [m]", shape=(3,), terms=("links",), fixed=("payload",))
def _free_center_of_mass(s: TracedRobot, pose: Array, q: Array) -> Array:
    """Centre of mass of a robot and its base in the world."""
    free = _FreeRobot(s, pose, q)
    return free.R @ free.center() + free.p


@_free(
    symbol="A",
    result="three rows of linear momentum [kg m/s], then three of angular momentum [kg m^2/s]",
    shape=(6, "n + 6"),
    terms=("links",),
    fixed=("payload",),
)
def _free_centroidal_matrix(s: TracedRobot, pose: Array, q: Array) -> Array:
    """The centroidal momentum matrix.

    Times the twist of the base and qd it is the momentum of all links, and their angular momentum
    about the centre of mass.
    """
    free = _FreeRobot(s, pose, q)
    M = free.mass_matrix()
    # the rotation stands on both sides, as in the momentum: simulations let it drift by rounding
    return free.outward(free.about_center(M[:BASE], _first_moment(M) / M[0, 0]).T).T


@_free(
    symbol="hG",
    result="linear momentum [kg m/s], then angular momentum [kg m^2/s], world axes",
    shape=(6,),
    terms=("links",),
    fixed=("payload",),
)
def _free_centroidal_momentum(
    s: TracedRobot, pose: Array, twist: Array, q: Array, qd: Array
) -> Array:
    """Momentum of a robot and its base, and their angular momentum about the centre of mass."""
    free = _FreeRobot(s, pose, q)
    return free.about_center(free.momentum(free.inward(twist, qd))[:BASE], free.center())


@_free(
    symbol="hd",
    result="force, then moment about the centre of mass [N, N m], world axes",
    shape=(6,),
    terms=("links", "coriolis"),
    fixed=("payload",),
)
def _free_centroidal_bias(s: TracedRobot, pose: Array, twist: Array, q: Array, qd: Array) -> Array:
    """Rate of the centroidal momentum of a motion without acceleration of base and joints.

    It is dA/dt times twist and qd.
    """
    free = _FreeRobot(s, pose, q)
    torques = free.torques(free.inward(twist, qd), np.zeros(BASE), s.zero)
    return free.about_center(torques[:BASE], free.center())


@_free(
    symbol="K",
    result="three linear rows [m/s], then three angular [rad/s], for each unit of qd",
    shape=(6, "n"),
    terms=("links",),
    options=("payload",),
    solves=True,
)
def _free_coupling(s: TracedRobot, pose: Array, q: Array) -> Array:
    """How a base that nothing holds follows the joints where there is no momentum.

    It is the twist of the base for each unit of qd.
    """
    free = _FreeRobot(s, pose, q)
    return free.outward(free.following())


@_free(
    symbol="J",
    result="three linear rows [m/s], then three angular [rad/s], for each unit of qd",
    shape=(6, "n"),
    terms=("links",),
    options=("payload", "link"),
    solves=True,
)
def _free_jacobian(s: TracedRobot, pose: Array, q: Array) -> Array:
    """The generalised Jacobian of {link} on a base that nothing holds.

    It is (v, omega) = J qd where there is no momentum.
    """
    free, model = _FreeRobot(s, pose, q), replace(s.plain, base=IDENTITY)
    at, frame = s.here(q), model.frame(s.request.link)
    arm = frame_in_world(world_frames(model, at.q), frame)[1]
    base = free.following()
    carried = np.concatenate([base[:3] - skew(arm) @ base[3:], base[3:]])
    return free.outward(at.columns(jacobian(model, at.q, frame)) + carried)
