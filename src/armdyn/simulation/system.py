"""The equations of motion of an arm whose joints stick, slip and rest at their stops.

Each joint is in a mode: it moves, with a sign of its dry friction, or it is held, by friction or by
a stop. Within a mode everything is smooth; `watched` tells how far the modes are from changing, and
`settle` finds the modes that follow.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from armdyn.arrays import Array
from armdyn.errors import SimulationError, SingularityError
from armdyn.loops.coordinates import coordinates_of
from armdyn.robot import Robot
from armdyn.simulation.contact import impact, least_constraint
from armdyn.simulation.dry_friction import DryFriction
from armdyn.simulation.forces import Driven, Wrench

Kind = Literal["sticks", "starts", "hits", "leaves"]


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


@dataclass(frozen=True, slots=True, eq=False)
class Forces:
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


BREAKAWAY_TOLERANCE = 1e-10
"""A joint starts when its friction level is exceeded by this part of the torques."""
REST_VELOCITY = 1e-9
"""A joint that leaves a stop more slowly stays there [rad/s or m/s]."""


class System:
    """An arm in its present modes."""

    def __init__(self, robot: Robot, driven: Driven, friction: bool, stops: bool, bounce: float):
        n = robot.n
        self.robot, self.driven, self.bounce = robot, driven, bounce
        self.dry = DryFriction(robot.model, friction, robot.all_joints)
        limits = robot.limits if stops else np.tile([-np.inf, np.inf], (n, 1))
        self.lower, self.upper = limits[:, 0], limits[:, 1]
        self.sign = np.zeros(n)
        """Direction of dry friction, 0 where there is none or it holds."""
        self.held = np.zeros(n, dtype=bool)
        """Which joints do not move."""
        self.contact = np.zeros(n)
        """-1 for joints held by their lower stop, 1 by the upper one."""

    def forces(self, t: float, q: Array, qd: Array) -> Forces:
        """Everything that acts at an instant."""
        tau, wrench = self.driven.torque(t, q, qd), self.driven.wrench(t)
        slip, still = self.dry(q, qd, self.sign), np.zeros(len(q))
        external = still if wrench is None else self._external(q, wrench)
        base = self.driven.base(t, q, qd)
        push = tau + external + base - slip
        try:
            if not self.held.any():
                qdd = self.robot.forward_dynamics(q, qd, push, friction=False)
                return Forces(tau, slip, still, external, base, qdd)
        except SingularityError as error:
            raise SimulationError(f"at t = {t:.6g} s: {error}") from error
        M = self._mass_matrix(t, q)
        b = push - self.robot.bias(q, qd)
        moves = ~self.held
        qdd = np.zeros(len(q))
        qdd[moves] = np.linalg.solve(M[np.ix_(moves, moves)], b[moves])
        hold = np.where(self.held, b - M @ qdd, 0.0)
        limited = np.clip(hold, self.dry.low, self.dry.high)
        by_friction = np.where(self.contact != 0, limited, hold)
        return Forces(tau, slip + by_friction, by_friction - hold, external, base, qdd)

    def _mass_matrix(self, t: float, q: Array) -> Array:
        M = self.robot.mass_matrix(q)
        try:
            np.linalg.cholesky(M)
        except np.linalg.LinAlgError:
            self._explain(t, q)
            raise SimulationError(
                f"at t = {t:.6g} s: the mass matrix of {self.robot.name!r} is singular, because a "
                "joint moves no inertia; give its link a mass, or the joint a rotor inertia"
            ) from None
        return M

    def _explain(self, t: float, q: Array) -> None:
        """Name the loop if a singular configuration of it is the cause."""
        try:
            coordinates_of(self.robot.model).explain(q)
        except SingularityError as error:
            raise SimulationError(f"at t = {t:.6g} s: {error}") from error

    def _external(self, q: Array, wrench: Wrench) -> Array:
        zero = np.zeros(len(q))
        without = self.robot.gravity_vector(q)
        return without - self.robot.inverse_dynamics(q, zero, zero, wrench, friction=False)

    # changes of mode

    def watched(self, t: float, q: Array, qd: Array) -> Array:
        """Four numbers a joint, (4, n), that are positive until a mode ends.

        Velocity in the direction of slip, room below and above the holding torque, and distance to
        the stops.
        """
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

    def change(self, t: float, q: Array, qd: Array, ended: Array) -> tuple[Array, Array, float]:
        """State, and energy lost in impacts, after modes have ended, (4, n) as in `watched`."""
        q, qd = q.copy(), qd.copy()
        qd[ended[0]] = 0.0
        hits = ended[3]
        if not hits.any():
            return q, qd, 0.0
        below = q - self.lower < self.upper - q
        q[hits] = np.where(below, self.lower, self.upper)[hits]
        stops = np.where(hits, np.where(below, -1.0, 1.0), self.contact)
        M = self._mass_matrix(t, q)
        after = impact(M, qd, stops, self.bounce)
        after[(stops != 0) & (np.abs(after) < REST_VELOCITY)] = 0.0
        lost = 0.5 * (qd @ M @ qd - after @ M @ after)
        return q, after, float(lost)

    def settle(self, t: float, q: Array, qd: Array) -> list[Event]:
        """Find the modes that a state starts with, and return the changes."""
        held, contact = self.held, self.contact
        lower, upper = q <= self.lower, q >= self.upper
        at_stop = np.where(lower & (qd == 0), -1.0, np.where(upper & (qd == 0), 1.0, 0.0))
        rest = (qd == 0) & self.dry.dry
        self.sign = np.where(self.dry.dry, np.sign(qd), 0.0)
        self.held, self.contact = np.zeros(len(q), dtype=bool), np.zeros(len(q))
        if rest.any() or at_stop.any():
            tau, wrench = self.driven.torque(t, q, qd), self.driven.wrench(t)
            external = 0.0 if wrench is None else self._external(q, wrench)
            push = tau + external + self.driven.base(t, q, qd)
            b = push - self.dry(q, qd, self.sign) - self.robot.bias(q, qd)
            a = least_constraint(self._mass_matrix(t, q), b, *self._levels(rest, at_stop))
            self.held = (rest | (at_stop != 0)) & (a == 0)
            self.contact = np.where(self.held, at_stop, 0.0)
            self.sign = np.where(rest, np.sign(a), self.sign)
        before, after = held & (contact == 0), self.held & (self.contact == 0)
        changes: dict[Kind, Array] = {
            "leaves": (contact != 0) & (self.contact == 0),
            "starts": before & ~after & (self.contact == 0),
            "sticks": after & ~before,
        }
        return [
            Event(t, next(kind for kind, joints in changes.items() if joints[i]), name)
            for i, name in enumerate(self.robot.joint_names)
            if any(joints[i] for joints in changes.values())
        ]
