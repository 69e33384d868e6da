"""The cost of a motion: how badly it shows the parameters, and a barrier at each limit.

A regressor is judged by its Gram matrix G = Σ YᵀY/m. The condition number κ of the stacked
regressor has κ² = λ₁/λ_r, the outer eigenvalues of G. It has kinks where eigenvalues meet, as they
do at an optimum; with the power p

    log κ ≈ [log tr(G^p) + log tr(G^-p)] / (2p)

is smooth, never below log κ, and κ itself for p → ∞. The other criterion is -log det(G)/r: least
volume of the ellipsoid of confidence (D-optimal). The gradient of either by G is a symmetric matrix
S, and that by the regressor of a sample 2 Y S/m.

Positions, velocities and accelerations at the samples are linear in the coefficients z, so a slope
by samples becomes one by coefficients through the transposed basis. The slope of the criterion by a
sample is the vector-Jacobian product of the regressor with the weights 2 Y S/m, that of a barrier
of torques the one of the inverse dynamics: both are reverse mode on the graph, compiled.

References: J. Swevers, C. Ganseman, D. B. Tükel, J. De Schutter, H. Van Brussel, Optimal robot
excitation and identification, IEEE T-RA 1997; M. Gautier, W. Khalil, Exciting trajectories for the
identification of base inertial parameters of robots, IJRR 1992.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from armdyn.arrays import Array
from armdyn.identification.excitation.aim import Aim, kernels_of
from armdyn.identification.excitation.basis import RestBasis
from armdyn.identification.excitation.clearance import Clearance
from armdyn.identification.excitation.limits import MotionLimits
from armdyn.robot import Robot
from armdyn.simulation.protocols import Motion

SINGULAR = 1e-13
"""An eigenvalue below this part of the largest is rounding."""

MOST_OF_A_BLOCK = 150_000
"""Multiplications of one product of matrices."""

Criterion = Callable[[Array, Array, float], tuple[float, Array]]
"""From the eigenvalues (r,) of G, its eigenvectors and the power p to the value and S."""


def gram(Y: Array) -> Array:
    """Σ YᵀY/m of regressors (m, n, r)."""
    rows, r = Y.reshape(-1, Y.shape[-1]), Y.shape[-1]
    # in blocks that are too small for BLAS to start threads, which takes longer than the product
    height = max(1, MOST_OF_A_BLOCK // r**2)
    whole = len(rows) // height * height
    blocks = rows[:whole].reshape(-1, height, r)
    total = (np.swapaxes(blocks, -1, -2) @ blocks).sum(0) + rows[whole:].T @ rows[whole:]
    return np.asarray(total / len(Y))


def eigen(G: Array) -> tuple[Array, Array]:
    """Eigenvalues of a symmetric matrix in rising order, and its eigenvectors as columns."""
    from scipy.linalg import eigh  # noqa: PLC0415 (slow to import)

    # NumPy's own starts threads that wait for each other: a hundred times slower on a busy machine
    values, vectors = eigh(G, driver="evd", check_finite=False)
    return values, vectors


def condition_number(eigenvalues: Array) -> float:
    """κ of the stacked regressor, from the eigenvalues of its Gram matrix in rising order."""
    least, largest = float(eigenvalues[0]), float(eigenvalues[-1])
    return math.sqrt(largest / least) if least > SINGULAR * largest else math.inf


def smooth_condition(eigenvalues: Array, vectors: Array, p: float) -> tuple[float, Array]:
    """A smooth log κ, and its gradient by G."""
    least, largest = eigenvalues[0], eigenvalues[-1]
    high, low = (eigenvalues / largest) ** p, (least / eigenvalues) ** p
    value = math.log(largest / least) + math.log(high.sum()) / p + math.log(low.sum()) / p
    slopes = (high / high.sum() - low / low.sum()) / eigenvalues
    return 0.5 * value, (vectors * (0.5 * slopes)) @ vectors.T


def volume(eigenvalues: Array, vectors: Array, p: float) -> tuple[float, Array]:
    """-log det(G)/r, and its gradient by G."""
    r = len(eigenvalues)
    return -float(np.log(eigenvalues).mean()), -(vectors / (r * eigenvalues)) @ vectors.T


CRITERIA: dict[str, Criterion] = {"condition": smooth_condition, "d-optimal": volume}
"""What is made small, by name."""


SAMPLES_A_HARMONIC = 24
"""Samples in the shortest period: between two of them a peak grows by less than a hundredth."""
GRID_SHARE = 0.99
"""Share of the limits that samples use, so that the motion between them keeps the limits too."""
CLEARANCE_SAMPLES = 2
"""Distances are computed at every second sample."""


@dataclass(frozen=True, slots=True)
class SearchStage:
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
