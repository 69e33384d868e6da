"""The cost of a motion: how badly it shows the parameters, and a barrier at each limit.

Positions, velocities and accelerations at the samples are linear in the coefficients z, so a slope
by samples becomes one by coefficients through the transposed basis. The slope of the criterion by a
sample is the vector-Jacobian product of the regressor with the weights 2 Y S/m, that of a barrier
of torques the one of the inverse dynamics: both are reverse mode on the graph, compiled.
"""

import math
from dataclasses import dataclass

import numpy as np

from armdyn.arrays import Array
from armdyn.identification.excitation.aim import Aim, kernels_of
from armdyn.identification.excitation.basis import RestBasis
from armdyn.identification.excitation.clearance import Clearance
from armdyn.identification.excitation.criterion import CRITERIA, condition_number, eigen, gram
from armdyn.identification.excitation.limits import MotionLimits
from armdyn.robot import Robot
from armdyn.simulation.protocols import Motion

SAMPLES_A_HARMONIC = 24
"""Samples in the shortest period: between two of them a peak grows by less than a hundredth."""
GRID_SHARE = 0.99
"""Share of the limits that samples use, so that the motion between them keeps the limits too."""
CLEARANCE_SAMPLES = 2
"""Distances are computed at every second sample."""


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage of the search."""

    power: float
    """p of the smooth condition number."""
    barrier: float
    """μ, what the barriers weigh."""
    steps: int


@dataclass(eq=False)
class Problem:
    """A motion of a robot to be found."""

    robot: Robot
    aim: Aim
    criterion: str
    basis: RestBasis
    limits: MotionLimits
    """Those that samples must keep."""
    start: Array | None
    """Where the motion starts, (n,) [rad or m]; None: anywhere."""
    clearance: Clearance | None
    power: float = 1.0
    barrier: float = 1.0
    condition: float = math.inf
    """Of the motion whose cost was computed last."""
    evaluations: int = 0

    def __post_init__(self) -> None:
        m = SAMPLES_A_HARMONIC * len(self.basis.sines)
        self.grid: Motion = self.basis.at(np.arange(m) / (m * self.basis.frequency))
        self._limited = np.isfinite(self.limits.torque)
        self._torques, self._torque_slopes = kernels_of(self.robot, "inverse_dynamics")

    # from coefficients to motions; joints are measured in their rooms about the middles

    def coefficients(self, z: Array) -> Array:
        """Coefficients (size, n) in the units of the joints."""
        n, limits = self.robot.n, self.limits
        if self.start is None:
            x = z.reshape(self.basis.size, n) * limits.room
            x[0] += limits.middle
            return x
        return np.vstack([self.start, z.reshape(-1, n) * limits.room])

    def variables(self, x: Array) -> Array:
        """The free coefficients of x (size, n), as the search has them."""
        z = x / self.limits.room
        z[0] -= self.limits.middle / self.limits.room
        return (z if self.start is None else z[1:]).ravel()

    def motion(self, z: Array) -> Motion:
        """The motion at the samples, each (m, n)."""
        x = self.coefficients(z)
        return Motion(*(phi @ x for phi in self.grid))

    def rests(self, pose: Array) -> bool:
        """Whether the arm can rest at a pose (n,), by its torques and what is near."""
        rest = np.zeros_like(pose)
        tau = self._torques(pose[None], rest[None], rest[None])[0]
        if not (np.abs(tau) < self.limits.torque).all():
            return False
        return self.clearance is None or not self.clearance.fault(pose)

    def value(self, z: Array) -> float:
        """What motions are compared by: the criterion itself, without barriers."""
        motion = self.motion(z)
        values, vectors = eigen(gram(self.aim.matrix(*motion)))
        if self.criterion != "condition":
            return CRITERIA[self.criterion](values, vectors, 1.0)[0]
        return condition_number(values)

    # the cost

    def __call__(self, z: Array) -> tuple[float, Array]:
        """Value and slope; infinite where a limit is not kept."""
        self.evaluations += 1
        outside = math.inf, np.zeros_like(z)
        motion = self.motion(z)
        found = self._barriers(motion)
        if found is None:
            return outside
        value, slopes = found
        for part in (self._torque_barrier, self._criterion, self._clearance_barrier):
            more = part(motion)
            if more is None:
                return outside
            value += more[0]
            slopes = [slope + extra for slope, extra in zip(slopes, more[1], strict=True)]
        by_x = sum(phi.T @ slope for phi, slope in zip(self.grid, slopes, strict=True))
        by_z = by_x * self.limits.room
        return value, (by_z if self.start is None else by_z[1:]).ravel()

    def _criterion(self, motion: Motion) -> tuple[float, list[Array]] | None:
        Y = self.aim.matrix(*motion)
        if not np.isfinite(Y).all():  # positions in which a loop does not close
            return None
        values, vectors = eigen(gram(Y))
        self.condition = condition_number(values)
        if not math.isfinite(self.condition):
            return None
        value, S = CRITERIA[self.criterion](values, vectors, self.power)
        slopes = self.aim.pulled_back(*motion, (2 / len(Y)) * (Y @ S))
        return value, list(np.moveaxis(slopes, 1, 0))

    def _barriers(self, motion: Motion) -> tuple[float, list[Array]] | None:
        """-μ Σ log(1 - u²) of each share u of a limit, a mean over samples and a sum of joints."""
        limits, value, slopes = self.limits, 0.0, []
        scales = limits.room, limits.speed, limits.acceleration
        for x, scale in zip((motion.q - limits.middle, *motion[1:]), scales, strict=True):
            found = self._log_barrier(x / scale)
            if found is None:
                return None
            value += found[0]
            slopes.append(found[1] / scale)
        return value, slopes

    def _torque_barrier(self, motion: Motion) -> tuple[float, list[Array]] | None:
        if not self._limited.any():
            return 0.0, [np.zeros(1)] * 3
        share = self._torques(*motion) / self.limits.torque
        found = self._log_barrier(share)
        if found is None:
            return None
        m, n = share.shape
        slopes = self._torque_slopes(*motion, found[1] / self.limits.torque)
        return found[0], list(np.moveaxis(slopes.reshape(m, 3, n), 1, 0))

    def _log_barrier(self, share: Array) -> tuple[float, Array] | None:
        """The barrier of shares (m, n), and its slope by them."""
        left = 1 - share * share
        if not left.min() > 0:
            return None
        weight = self.barrier / len(share)
        return -weight * float(np.log(left).sum()), 2 * weight * share / left

    def _clearance_barrier(self, motion: Motion) -> tuple[float, list[Array]] | None:
        if self.clearance is None:
            return 0.0, [np.zeros(1)] * 3
        some = slice(None, None, CLEARANCE_SAMPLES)
        found = self.clearance.barrier(motion.q[some])
        if found is None:
            return None
        weight = self.barrier / len(found[1])
        slope = np.zeros_like(motion.q)
        slope[some] = weight * found[1]
        return weight * found[0], [slope, np.zeros(1), np.zeros(1)]
