"""The equations of motion of an arm whose joints stick, slip and rest at their stops.

Each joint is in a mode: it moves, with a sign of its dry friction, or it is held, by friction or by
a stop. Within a mode everything is smooth; `watched` tells how far the modes are from changing, and
`settle` finds the modes that follow.

A slipping joint has a sign that does not change until its velocity is zero, and the friction of its
law in that direction. At rest dry friction is whatever holds the joint, between the levels at which
it breaks away in either direction. Friction with a smooth sign has no sticking, and is a function
of the velocity alone. Where its slope at rest is infinite, a joint that would creep too slowly to
be seen sticks as well: no integrator follows a slope without bounds.

What joints at rest do follows from Gauss: among all accelerations a that are possible the true one
is the least

    ½ aᵀ M a - bᵀ a + Σ ψ_i(a_i)

where b is the torque that is left over, and ψ_i grows by `high` for positive and by -`low` for
negative a_i: the levels of dry friction, or infinity against a stop. It is convex, so there is one
solution: a joint is held where low ≤ (b - M a)_i ≤ high, and moves against that level otherwise.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from armdyn.arrays import Array, broadcast
from armdyn.errors import SimulationError, SingularityError
from armdyn.formulations.coordinates import StandingMap
from armdyn.formulations.runge_kutta import rk4_step
from armdyn.formulations.spatial import rotate
from armdyn.loops.coordinates import coordinates_of
from armdyn.model import FrictionLaw, RobotModel
from armdyn.model.friction import TERMS
from armdyn.simulation.forces import Driven, Setup

MAX_SWEEPS = 1000
"""Sweeps over the joints before the last accelerations are taken."""
CONTACT_TOLERANCE = 1e-13
"""Relative error of accelerations and holding torques."""


def least_constraint(M: Array, b: Array, low: Array, high: Array) -> Array:
    """The accelerations (n,); those of joints that are held are exactly zero.

    `low` and `high` (n,) are the torques that can hold each joint in the negative and the positive
    direction: infinite at a stop, 0 for joints in motion.
    """
    a = np.zeros(len(b))
    for _ in range(MAX_SWEEPS):
        before = a.copy()
        for i in range(len(b)):
            left = b[i] - M[i] @ a + M[i, i] * a[i]
            a[i] = (left - min(max(left, low[i]), high[i])) / M[i, i]
        exact = _exact(M, b, low, high, np.sign(a))
        if exact is not None:
            return exact
        if np.abs(a - before).max() <= CONTACT_TOLERANCE * np.abs(a).max():
            return a
    return a


def _exact(M: Array, b: Array, low: Array, high: Array, sign: Array) -> Array | None:
    """The solution with given directions, if it is one."""
    moves = sign != 0
    against = np.where(sign > 0, high, low)
    a = np.zeros(len(b))
    a[moves] = np.linalg.solve(M[np.ix_(moves, moves)], b[moves] - against[moves])
    held = b - M @ a
    slack = CONTACT_TOLERANCE * (np.abs(b).max() + 1.0)
    stays = (low - slack <= held) & (held <= high + slack)
    right = np.where(moves, (low == high) | (np.sign(a) == sign), stays)
    return a if right.all() else None


def impact(M: Array, v: Array, stops: Array, bounce: float = 0.0) -> Array:
    """Velocities (n,) after joints with the velocities v have hit their stops.

    `stops` is -1 for a joint at its lower stop, 1 at its upper one, 0 elsewhere; `bounce` is the
    share of the velocity with which a joint is thrown back, 0 to 1.
    """
    back = np.where(stops * v > 0, bounce * v, 0.0)
    low = np.where(stops < 0, -np.inf, 0.0)
    high = np.where(stops > 0, np.inf, 0.0)
    return least_constraint(M, M @ (v + back), low, high) - back


SLOWEST_CREEP = 1e-9
"""A joint that friction of infinite slope would slow down below this is at rest [rad/s or m/s]."""


class DryFriction:
    """Friction at the coordinates of a robot, with signs for those that have dry friction."""

    def __init__(
        self,
        model: RobotModel,
        wanted: bool = True,
        positions: Callable[[Array], Array] | None = None,
    ):
        """Take the friction of a robot; if it is not wanted, the robot is taken to have none.

        `positions` gives those of all joints, for robots with loops.
        """
        self._positions = positions
        self._laws = [each.friction if wanted else FrictionLaw() for each in model.driven]
        at = coordinates_of(model)
        self._at = at.with_drives() if model.drives else at
        self._widths = np.array([law.smooth_velocity for law in self._laws])
        self._smooth = self._widths > 0
        self._sticks = np.array([_level(law, 1.0) - _level(law, -1.0) > 0 for law in self._laws])
        self._check_sticking(model)
        self._terms = []
        for term in TERMS:
            joints = [i for i, law in enumerate(self._laws) if law.has(term)]
            if joints:
                values = np.array([term.values(self._laws[i]) for i in joints]).T
                everywhere = len(joints) == len(self._laws)
                self._terms.append((term.torque, slice(None) if everywhere else joints, values))
        ones = np.ones(len(model.independent))
        self.high = self._levels(ones)
        """Torque above which a joint at rest starts in the positive direction, (n,)."""
        self.low = self._levels(-ones)
        """Torque below which it starts in the negative direction, (n,)."""
        self.dry = self.low < self.high
        """Which coordinates stick, (n,)."""

    def _check_sticking(self, model: RobotModel) -> None:
        """Refuse dry friction that would hold no coordinate, but something between several."""
        for drive, sticks in zip(model.drives, self._sticks[len(model.joints) :], strict=True):
            if sticks:
                raise SimulationError(
                    f"drive {drive.name!r} turns with several joints and has dry friction, which "
                    "would hold none of them but their sum; give it a smooth_velocity, or leave "
                    "friction out (friction=False, --no-friction)"
                )
        K = self._at.G if self._at.is_linear else None
        for i in model.passive:
            # it may turn with one coordinate, in a ratio that does not change
            follows_one = K is not None and np.count_nonzero(K[i]) <= 1
            if self._sticks[i] and not follows_one:
                raise SimulationError(
                    f"joint {model.joints[i].name!r} follows from a loop and has dry friction, "
                    "which would hold none of the actuated joints alone; give it a "
                    "smooth_velocity, or leave friction out (friction=False, --no-friction)"
                )

    def __call__(self, q: Array, qd: Array, sign: Array) -> Array:
        """Friction torque (n,) but for what holds sticking joints, which have the sign 0."""
        torques = np.zeros(qd.shape[:-1] + self._widths.shape)
        if not self._terms:
            return np.zeros(qd.shape)
        at: StandingMap = self._at
        if not self._at.is_linear:
            known = self._positions
            at = self._at.at(q) if known is None else self._at.known(known(q))
        rates = at.rates(qd)
        direction = np.sign(at.rates(sign))
        if not self._sticks.all():
            direction = np.where(self._sticks, direction, np.sign(rates))
        s = direction
        if self._smooth.any():
            ramp = np.tanh(rates / np.where(self._smooth, self._widths, 1.0))
            s = np.where(self._smooth, ramp, direction)
        for torque, joints, values in self._terms:
            motion = (x[..., joints] for x in (rates, direction, s))
            torques[..., joints] += torque(*motion, *values)
        return at.torques(torques)

    def _levels(self, sign: Array) -> Array:
        if not self._at.is_linear:  # none but actuated joints stick
            own = [self._laws[i] for i in self._at.model.independent]
            return np.array(list(map(_level, own, sign)))
        signs = np.sign(self._at.rates(sign))
        return self._at.torques(np.array(list(map(_level, self._laws, signs))))


def _level(law: FrictionLaw, sign: float) -> float:
    """The torque above which a joint at rest starts in a direction, with its sign."""
    return (law.static_level(sign) if law.jumps else 0.0) + law.steep_torque(sign * SLOWEST_CREEP)


Kind = Literal["sticks", "starts", "hits", "leaves"]
WORKS = 3
"""Energies in a state."""
WORK = ("actuators", "friction", "environment", "impacts")
"""What gives energy (the first and the third) and what takes it."""


@dataclass(frozen=True, slots=True)
class Event:
    """A change of mode."""

    t: float
    """When [s]."""
    kind: Kind
    joint: str

    def __str__(self) -> str:
        end = " a stop" if self.kind == "hits" else " its stop" if self.kind == "leaves" else ""
        return f"{self.t:.6f} s: {self.joint} {self.kind}{end}"


class Forces(NamedTuple):
    """The torques at the joints at an instant, each (n,)."""

    tau: Array
    """Of the actuators."""
    friction: Array
    """Taken by friction, also where it holds a joint."""
    stop: Array
    """Added by stops."""
    external: Array
    """Added by the wrench of the environment."""
    base: Array
    """Added by the motion of the base."""
    qdd: Array
    """The accelerations that they give."""


DIFFERENCE = 1e-7
"""Change of a state and of the time [s] for slopes of torques."""
BREAKAWAY_TOLERANCE = 1e-10
"""A joint starts when its friction level is exceeded by this part of the torques."""
REST_VELOCITY = 1e-9
"""A joint that leaves a stop more slowly stays there [rad/s or m/s]."""


Step = Callable[[float, Array], Array]
"""The state a step after a time [s]."""


def classical_step(system: Any, h: float) -> Step:
    """Classical Runge-Kutta, of Munthe and Kaas for the rotation of a base that floats.

    Whatever has a `slope` and may be `recentred` as a `System` is integrated.
    """

    def step(t: float, y: Array) -> Array:
        def slope(after: float, y: Array) -> Array:
            sound = not after or np.isfinite(y).all()
            return system.slope(t + after * h, y) if sound else np.full_like(y, np.nan)

        y = rk4_step(slope, y, h)
        turned = system.recentred(y)
        return y if turned is None else turned

    return step


class System:
    """An arm in its present modes: the right-hand side of what every method integrates.

    A state y has q, q̇, the energies that actuators gave, that friction took and that wrenches and
    the motion of the base gave [J], and what goes along with the joints, (..., 2 n + 3 + k). There
    may be many arms where none sticks.
    """

    def __init__(self, setup: Setup, sticks: bool = True):
        """The arm; whether its friction holds joints, or is a function of their motion alone."""
        robot, n = setup.robot, setup.robot.n
        self.robot = robot
        self.arm: Any = robot
        """What has the dynamics of the joints."""
        self.driven = Driven(setup)
        self.bounce = setup.bounce
        self.dry = DryFriction(robot.model, setup.friction and sticks, robot.all_joints)
        self.friction = setup.friction
        self._smooth = setup.friction and not sticks and not robot.model.is_frictionless
        limits = robot.limits if setup.stops else np.tile([-np.inf, np.inf], (n, 1))
        self.lower = limits[:, 0]
        self.upper = limits[:, 1]
        self.sign = np.zeros(n)
        """Direction of dry friction, 0 where there is none or it holds."""
        self.held = np.zeros(n, dtype=bool)
        """Which joints do not move."""
        self.contact = np.zeros(n)
        """-1 for joints held by their lower stop, 1 by the upper one."""

    def start(self, q: Array, qd: Array) -> Array:
        """The state of arms that have exchanged no energy yet."""
        parts = broadcast(q=q, qd=qd, work=np.zeros(WORKS), along=self.along(q, qd))
        return np.concatenate(parts, -1)

    def parted(self, y: Array) -> tuple[Array, Array]:
        """Positions and velocities, with which a state begins; joints that are held have none."""
        n = len(self.held)
        return y[..., :n], np.where(self.held, 0.0, y[..., n : 2 * n])

    def slope(self, t: float, y: Array) -> Array:
        """The rate of a state."""
        q, qd = self.parted(y)
        forces = self.forces(t, q, qd)
        rates, given = self.rates(q, forces)
        acting = np.stack([forces.tau, forces.friction, forces.external + forces.base], axis=-2)
        power = (acting * qd[..., None, :]).sum(-1)
        power[..., 2] += given
        return np.concatenate([qd, forces.qdd, power, rates], -1)

    def jacobian(self, t: float, y: Array) -> tuple[Array, Array]:
        """How the rate of a state changes with the state, (..., k, k), and in time, (..., k).

        The base stands. Torques are asked for beside the state and the time, by differences.
        """
        q, qd = self.parted(y)
        n, tau = q.shape[-1], self.driven.torque(t, q, qd)
        found = self.robot.forward_dynamics_derivatives(q, qd, tau, friction=self.friction)
        torques = np.zeros((*q.shape, 2 * n))
        if callable(self.driven.given):
            for k in range(2 * n):
                x = np.stack([q, qd])
                side = x[k // n, ..., k % n]
                size = DIFFERENCE * (1.0 + np.abs(side))
                x[k // n, ..., k % n] += size
                torques[..., k] = (self.driven.torque(t, *x) - tau) / size[..., None]
        J = np.zeros((*y.shape, y.shape[-1]))
        J[..., range(n), range(n, 2 * n)] = 1.0
        J[..., n : 2 * n, : 2 * n] = np.concatenate([found.dq, found.dqd], -1)
        J[..., n : 2 * n, : 2 * n] += found.dtau @ torques
        J[..., 2 * n, : 2 * n] = (qd[..., None, :] @ torques)[..., 0, :]
        J[..., 2 * n, n : 2 * n] += tau
        rate = np.zeros_like(y)
        grown = (self.driven.torque(t + DIFFERENCE, q, qd) - tau) / DIFFERENCE
        rate[..., n : 2 * n] = rotate(found.dtau, grown)
        rate[..., 2 * n] = (qd * grown).sum(-1)
        return J, rate

    def record(self, t: float, y: Array, lost: float = 0.0) -> dict[str, Any]:
        """What a `Simulation` has of an instant, by name; `lost` is the energy of impacts [J]."""
        q, qd = self.parted(y)
        forces = self.forces(t, q, qd)
        end = 2 * q.shape[-1] + WORKS
        work = np.append(y[..., end - WORKS : end], np.full((*q.shape[:-1], 1), lost), -1)
        state = {"t": t, "q": q.copy(), "qd": qd, "work": work}
        return state | forces._asdict() | self.told(q, qd, forces)

    # states as compiled steps have them

    def rows(self, y: Array) -> tuple[Array, Array]:
        """Rows of positions and of rates, (..., width) each."""
        return self.parted(y)

    def of_rows(self, positions: Array, rates: Array) -> Array:
        """The state of such rows."""
        return self.start(positions, rates)

    # what goes along with the joints, which is nothing where the base stands

    def along(self, q: Array, qd: Array) -> Array:
        """What of the base goes along with the state, at the start."""
        return np.zeros((*q.shape[:-1], 0))

    def recentred(self, y: Array, turn: float = 0.0) -> Array | None:
        """The state in another chart of its rotations; None if it has not left this one so far."""
        return None

    def rates(self, q: Array, forces: Forces) -> tuple[Array, Array | float]:
        """Rates of what goes along, and the power that the environment gives the base."""
        return np.zeros((*q.shape[:-1], 0)), 0.0

    def told(self, q: Array, qd: Array, forces: Forces) -> dict[str, Array]:
        """What a record has of it."""
        return {}

    # what acts

    def forces(self, t: float, q: Array, qd: Array) -> Forces:
        """Everything that acts at an instant."""
        tau, slip, external, base = self._acting(t, q, qd)
        push = tau + external + base - slip
        still = np.zeros_like(push)
        try:
            if not self.held.any():
                qdd = self.arm.forward_dynamics(q, qd, push, friction=False)
                return Forces(tau, slip, still, external, base, qdd)
        except SingularityError as error:
            raise SimulationError(f"at t = {t:.6g} s: {error}") from error
        M = self._mass_matrix(t, q)
        b = push - self.arm.bias(q, qd)
        moves = ~self.held
        qdd = np.zeros(len(q))
        qdd[moves] = np.linalg.solve(M[np.ix_(moves, moves)], b[moves])
        hold = np.where(self.held, b - M @ qdd, 0.0)
        limited = np.clip(hold, self.dry.low, self.dry.high)
        by_friction = np.where(self.contact != 0, limited, hold)
        return Forces(tau, slip + by_friction, by_friction - hold, external, base, qdd)

    def _mass_matrix(self, t: float, q: Array) -> Array:
        M = self.arm.mass_matrix(q)
        try:
            np.linalg.cholesky(M)
        except np.linalg.LinAlgError:
            try:  # to name the loop if a singular configuration of it is the cause
                coordinates_of(self.robot.model).explain(q)
            except SingularityError as error:
                raise SimulationError(f"at t = {t:.6g} s: {error}") from error
            raise SimulationError(
                f"at t = {t:.6g} s: the mass matrix of {self.robot.name!r} is singular, because a "
                "joint moves no inertia; give its link a mass, or the joint a rotor inertia"
            ) from None
        return M

    def _acting(self, t: float, q: Array, qd: Array) -> tuple[Array, Array, Array, Array]:
        """What actuators give, slipping friction takes, and wrench and motion of the base give."""
        tau, external = self._asked(t, q, qd)
        smooth = self._smooth
        slip = self.robot.friction_torque(qd, q) if smooth else self.dry(q, qd, self.sign)
        return tau, slip, external, self.driven.base(t, q, qd)

    def _asked(self, t: float, q: Array, qd: Array) -> tuple[Array, Array]:
        """What actuators and the wrench of the environment give at the joints."""
        tau = self.driven.torque(t, q, qd)
        wrench = self.driven.wrench(t)
        external = np.zeros(q.shape)
        if wrench is not None:
            with_it = self.robot.inverse_dynamics(q, external, external, wrench, friction=False)
            external = self.robot.gravity_vector(q) - with_it
        return tau, external

    # changes of mode

    def watched(self, t: float, y: Array) -> Array:
        """Four numbers a joint, (4, n), that are positive until a mode ends.

        Velocity in the direction of slip, room below and above the holding torque, and distance to
        the stops.
        """
        q, qd = self.parted(y)
        far = np.full((4, len(q)), np.inf)
        far[0] = np.where(self.sign != 0, self.sign * qd, np.inf)
        distance = np.minimum(q - self.lower, self.upper - q)
        far[3] = np.where((self.contact == 0) & ~self.held, distance, np.inf)
        if self.held.any():
            forces = self.forces(t, q, qd)
            hold = forces.friction - forces.stop - self.dry(q, qd, self.sign)
            slack = BREAKAWAY_TOLERANCE * (1.0 + np.abs(forces.tau).max() + np.abs(hold).max())
            low, high = self._levels(self.held, self.contact)
            far[1] = np.where(self.held, hold - low + slack, np.inf)
            far[2] = np.where(self.held, high - hold + slack, np.inf)
        return far

    def _levels(self, rest: Array, contact: Array) -> tuple[Array, Array]:
        """What can hold each joint, in both directions; zero for those in motion."""
        low = np.where(rest, self.dry.low, 0.0)
        high = np.where(rest, self.dry.high, 0.0)
        return np.where(contact < 0, -np.inf, low), np.where(contact > 0, np.inf, high)

    def change(self, t: float, y: Array, ended: Array) -> tuple[Array, float]:
        """State, and energy lost in impacts, after modes have ended, (4, n) as in `watched`."""
        self.parted(y)
        q, qd, others = np.split(y.copy(), [len(self.held), 2 * len(self.held)])
        qd[ended[0]] = 0.0
        hits = ended[3]
        if not hits.any():
            return np.concatenate([q, qd, others]), 0.0
        below = q - self.lower < self.upper - q
        q[hits] = np.where(below, self.lower, self.upper)[hits]
        stops = np.where(hits, np.where(below, -1.0, 1.0), self.contact)
        M = self._mass_matrix(t, q)
        after = impact(M, qd, stops, self.bounce)
        after[(stops != 0) & (np.abs(after) < REST_VELOCITY)] = 0.0
        lost = 0.5 * (qd @ M @ qd - after @ M @ after)
        return np.concatenate([q, after, others]), float(lost)

    def settle(self, t: float, y: Array) -> list[Event]:
        """Find the modes that a state starts with, and return the changes."""
        held, contact = self.held, self.contact
        self.held = np.zeros(len(held), dtype=bool)
        q, qd = self.parted(y)
        lower = q <= self.lower
        upper = q >= self.upper
        at_stop = np.where(lower & (qd == 0), -1.0, np.where(upper & (qd == 0), 1.0, 0.0))
        rest = (qd == 0) & self.dry.dry
        self.sign = np.where(self.dry.dry, np.sign(qd), 0.0)
        self.contact = np.zeros(len(q))
        if rest.any() or at_stop.any():
            tau, slip, external, base = self._acting(t, q, qd)
            b = tau + external + base - slip - self.arm.bias(q, qd)
            a = least_constraint(self._mass_matrix(t, q), b, *self._levels(rest, at_stop))
            self.held = (rest | (at_stop != 0)) & (a == 0)
            self.contact = np.where(self.held, at_stop, 0.0)
            self.sign = np.where(rest, np.sign(a), self.sign)
        before = held & (contact == 0)
        after = self.held & (self.contact == 0)
        leaves = (contact != 0) & (self.contact == 0)
        starts = before & ~after & (self.contact == 0)
        kinds = np.select([leaves, starts, after & ~before], ["leaves", "starts", "sticks"], "")
        pairs = zip(kinds.tolist(), self.robot.joint_names, strict=True)
        return [Event(t, kind, name) for kind, name in pairs if kind]
