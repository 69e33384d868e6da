"""A base that nothing holds: its place and its momentum go along with the motion of the arm.

The state has the momentum h about the centre of mass in place of the twist of the base, which
follows from (v, ω) = A_b⁻¹ (h - A_q q̇). So what nothing changes is kept to rounding, impacts within
the arm change the twist by themselves, and the joints stick, slip and stop as those of the arm
whose mass matrix is M_qq - M_qb M_bb⁻¹ M_bq. Rotations are integrated as in `runge_kutta`.
"""

import math
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from armdyn.arrays import Array, broadcast
from armdyn.formulations.runge_kutta import cayley, cayley_rate, rk4_step
from armdyn.formulations.spatial import cross
from armdyn.io.csv.trajectory import SampledMotion
from armdyn.mechanics.base_state import BaseState
from armdyn.mechanics.free_base import FreeBase
from armdyn.quantities.free_base import BASE, POSE
from armdyn.robot import Robot
from armdyn.simulation.forces import Setup
from armdyn.simulation.hand import rows_of_base
from armdyn.simulation.system import WORKS, Forces, System
from armdyn.simulation.trajectories.piecewise import hermite

LARGEST_TURN = 1.0
"""|u| beyond which a rotation starts anew, half of what a quarter turn has."""


class _State(NamedTuple):
    """What is integrated of a base, any batch shape."""

    u: Array
    position: Array
    momentum: Array

    def rate(self, free: FreeBase, base: BaseState, q: Array, load: Array) -> Array:
        """The rates of all of it under a wrench on the base, (..., 12)."""
        twist, force, moment = np.asarray(base.twist), load[..., :3], load[..., 3:]
        if load.any():
            arm = np.asarray(base.position) - free.center_of_mass(base, q)
            moment = moment + cross(arm, force)
        turning = cayley_rate(self.u, twist[..., 3:])
        force = force + free.total_mass * free.model.gravity
        parts = broadcast(u=turning, p=twist[..., :3], f=force, n=moment)
        return np.concatenate(parts, -1)


class FloatingSystem(System):
    """An arm in its present modes, on a base that nothing holds."""

    def __init__(self, setup: Setup, sticks: bool = True):
        super().__init__(setup, sticks)
        self._free = setup.robot.free_base
        self._base = setup.floating or self._free.standing
        self._R = np.asarray(self._base.rotation)

    def along(self, q: Array, qd: Array) -> Array:
        """What goes along with the joints, (..., 12): rotation, position and momentum."""
        momentum = self._free.centroidal_momentum(self._base, q, qd)
        parts = broadcast(u=np.zeros(3), position=np.asarray(self._base.position), h=momentum)
        return np.concatenate(parts, -1)

    def parted(self, y: Array) -> tuple[Array, Array]:
        """Positions and velocities of the joints; the base is where the state has it from then."""
        q, qd = super().parted(y)
        self._state = _State(*np.split(y[..., -POSE:], [3, 6], -1))
        self._base = _placed(self._free, self._R, self._state, q, qd)
        self.arm = self._free.at(self._base)
        return q, qd

    def recentred(self, y: Array, turn: float = 0.0) -> Array | None:
        """The state with a rotation that starts anew; None if it has turned less than so far."""
        u = y[..., -POSE:][..., :3]
        if (u * u).sum(-1).max() < turn**2:
            return None
        self._R = cayley(u) @ self._R
        return np.concatenate([y[..., :-POSE], np.zeros_like(u), y[..., 3 - POSE :]], -1)

    def rows(self, y: Array) -> tuple[Array, Array]:
        """Pose and q; momentum, six zeros and q̇."""
        q, qd = self.parted(y)
        momentum = self._state.momentum
        positions = broadcast(pose=self._base.pose, q=q)
        rates = momentum, np.zeros_like(momentum), qd
        return np.concatenate(positions, -1), np.concatenate(rates, -1)

    def of_rows(self, positions: Array, rates: Array) -> Array:
        """The state of such rows."""
        self._R = positions[..., :9].reshape(*positions.shape[:-1], 3, 3)
        joints, zeros = (positions[..., POSE:], rates[..., POSE:]), rates[..., BASE:POSE]
        base = positions[..., 9:POSE], rates[..., :BASE]
        return np.concatenate([*joints, zeros[..., :WORKS], zeros[..., :3], *base], -1)

    def _asked(self, t: float, q: Array, qd: Array) -> tuple[Array, Array]:
        """What actuators and the wrench of the environment give at the joints."""
        tau = self.driven.torque(t, q, qd, self._base)
        wrench = self.driven.wrench(t)
        load = np.zeros((*q.shape[:-1], BASE + q.shape[-1]))
        if wrench is not None:
            links = wrench if isinstance(wrench, dict) else {"tool": wrench}
            for link, pull in links.items():
                load += np.asarray(pull) @ self._free.jacobian(self._base, q, link)
        self.arm = self._free.at(self._base, load[..., :BASE])
        return tau, load[..., BASE:]

    def rates(self, q: Array, forces: Forces) -> tuple[Array, Array | float]:
        """Rates of what goes along, (..., 12), and the power of the wrench on the base."""
        load = np.asarray(self.arm.load)
        rate = self._state.rate(self._free, self._base, q, load)
        return rate, (load * np.asarray(self._base.twist)).sum(-1)

    def told(self, q: Array, qd: Array, forces: Forces) -> dict[str, Array]:
        """How the base moves, for the record."""
        load = self.arm.load
        a, _ = self._free.inverse_dynamics(self._base, q, qd, forces.qdd, load, friction=False)
        return {"floating": rows_of_base(self._base, a)}


def system_of(setup: Setup, sticks: bool = True) -> System:
    """What is integrated of an arm on a base that is held, or that floats."""
    return (System if setup.floating is None else FloatingSystem)(setup, sticks)


def _placed(free: FreeBase, R: Array, state: _State, q: Array, qd: Array) -> BaseState:
    """Where a base is whose rotation started from R, and how it moves."""
    rows = (cayley(state.u) @ R).reshape(*state.u.shape[:-1], 9)
    pose = np.concatenate(broadcast(rows=rows, position=state.position), -1)
    still = BaseState.of(pose, np.zeros(BASE))
    return BaseState.of(pose, free.twist(still, q, qd, state.momentum))


LONGEST_STEP = 0.01
"""Of the integration of a base that follows its joints [s]."""


def followed(
    robot: Robot,
    motion: SampledMotion,
    start: BaseState,
    load: Callable[[float, BaseState, Array], Array],
) -> BaseState:
    """How a base that nothing holds follows its joints: where it is at each of m instants.

    `load` is the wrench on the base, (6,), at a time [s] and a state of base and joints.
    """
    free, t = robot.free_base, motion.t
    way = hermite(t, motion.q, motion.qd, motion.qdd)
    momentum = free.centroidal_momentum(start, motion.q[0], motion.qd[0])
    R, y = np.asarray(start.rotation), np.concatenate([np.zeros(3), start.position, momentum])
    found = [(R, y)]

    def slope(R: Array, begin: float, h: float, after: float, y: Array) -> Array:
        now, state = begin + after * h, _State(*np.split(y, [3, 6]))
        q, qd, _ = way(now - t[0])
        base = _placed(free, R, state, q, qd)
        return state.rate(free, base, q, load(now, base, q))

    for first, last in pairwise(t):
        steps = math.ceil((last - first) / LONGEST_STEP)
        h = (last - first) / steps
        for k in range(steps):
            y = rk4_step(partial(slope, R, first + k * h, h), y, h)
            R, y[:3] = cayley(y[:3]) @ R, 0.0
        found.append((R, y))
    R, y = map(np.stack, zip(*found, strict=True))
    return _placed(free, R, _State(*np.split(y, [3, 6], -1)), motion.q, motion.qd)
