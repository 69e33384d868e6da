"""What a motion shall show, and its cost: how badly it does so, and a barrier at each limit.

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

A joint moves as q = q₀ + Σ_k a_k sin(kωt) + b_k (cos(kωt) - 1), so that q₀ is where it starts. It
starts with q̇ = ω Σ k a_k and q̈ = -ω² Σ k² b_k, which are zero for all a and b that are orthogonal
to (1, 2, 3, ...) and to (1, 4, 9, ...). Bases of these spaces leave 2 (H - 1) numbers of each joint
besides its start: q = Φ x with one matrix Φ for all joints, and likewise q̇ and q̈.

References: J. Swevers, C. Ganseman, D. B. Tükel, J. De Schutter, H. Van Brussel, Optimal robot
excitation and identification, IEEE T-RA 1997; M. Gautier, W. Khalil, Exciting trajectories for the
identification of base inertial parameters of robots, IJRR 1992.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from armdyn.arrays import Array, check_names, frozen, record
from armdyn.errors import ExcitationError, UnknownNameError
from armdyn.formulations.base_parameters import independent_columns
from armdyn.identification.excitation.clearance import Clearance
from armdyn.identification.excitation.limits import MotionLimits
from armdyn.kernels.kernel import Kernel
from armdyn.loops.coordinates import coordinates_of
from armdyn.quantities.request import Request
from armdyn.robot import Robot
from armdyn.simulation.trajectories.moves import Fourier
from armdyn.simulation.trajectories.piecewise import Motion
from armdyn.thresholds import MOST_EXCITED

SETS = {"links": "link_base_regressor", "all": "base_regressor"}
"""Parameters by name, and the quantity whose columns belong to them: those of the links, and those
of links, rotors and friction together."""


@record(eq=False)
class Aim:
    """Base parameters, with their columns of a regressor and how these change with a motion."""

    names: tuple[str, ...]
    """What each is named after, as in `BaseParameters.names`."""
    words: str
    """What they are, for reports."""
    regressor: Kernel
    slopes: Kernel
    """The vector-Jacobian product of the regressor."""
    columns: Array | None = None
    """Which columns of the regressor count; None: all of them."""

    def matrix(self, q: Array, qd: Array, qdd: Array) -> Array:
        """Y of these parameters, (m, n, r)."""
        Y = self.regressor(q, qd, qdd)
        return Y if self.columns is None else Y[..., self.columns]

    def pulled_back(self, q: Array, qd: Array, qdd: Array, weights: Array) -> Array:
        """The slope of Σ weights · Y by positions, velocities and accelerations, (m, 3, n)."""
        m, n = q.shape
        if self.columns is not None:
            some, weights = weights, np.zeros((m, n, self.regressor.shape[-1]))
            weights[..., self.columns] = some
        return self.slopes(q, qd, qdd, weights.reshape(m, -1)).reshape(m, 3, n)


def aim_at(robot: Robot, parameters: str | Sequence[str]) -> Aim:
    """The aim at "links", "all", or some parameters by name, or by links and joints.

    Raises:
        ExcitationError: The torques depend on none of them, or there are too many joints.
    """
    if robot.n > MOST_EXCITED.value:
        raise ExcitationError(
            f"robot {robot.name!r} has {robot.n} joints; motions are designed for at most "
            f"{MOST_EXCITED.value}. Hold some of them with with_locked (--lock), and design the "
            "others"
        )
    wanted = parameters if isinstance(parameters, str) else check_names("parameters", parameters)
    columns: Array | None = None
    if isinstance(wanted, str) and wanted in SETS:
        quantity = SETS[wanted]
        names = robot.base_parameters(links=wanted == "links").names
        words = "base parameters of the links" if wanted == "links" else "base parameters"
    else:
        wanted = (wanted,) if isinstance(wanted, str) else wanted
        every = [p.name for p in robot.parameter_table if p.linear]
        chosen = sorted({i for word in wanted for i in _named(robot, every, word)})
        columns = np.array(independent_columns(coordinates_of(robot.model), chosen), dtype=int)
        quantity = "regressor"
        names = tuple(every[i] for i in columns)
        words = f"parameters that {', '.join(wanted[:4])}{', ...' * (len(wanted) > 4)} have"
    if not names:
        raise ExcitationError(
            f"nothing to identify: the torques of {robot.name!r} depend on none of the {words}; "
            "choose others"
        )
    return Aim(names, words, *kernels_of(robot, quantity), columns)


def _named(robot: Robot, names: list[str], word: str) -> list[int]:
    """The places of a parameter, or of all that a link, a joint or a drive has."""
    found = [i for i, name in enumerate(names) if name == word or name.startswith(f"{word}.")]
    if not found:
        owners = dict.fromkeys(name.rpartition(".")[0] for name in names)
        known = (*SETS, *owners, *names)
        raise UnknownNameError(f"parameter of {robot.name!r} named", word, known)
    return found


def kernels_of(robot: Robot, quantity: str) -> tuple[Kernel, Kernel]:
    """A quantity for batches, and its vector-Jacobian product."""
    requests = (Request(quantity, derivative=product) for product in (None, "vjp"))
    own, slopes = (Kernel(robot.model, request, cache=robot.cache) for request in requests)
    return own, slopes


FEWEST_HARMONICS, MOST_HARMONICS = 2, 50
"""One harmonic cannot start at rest; many make the search long for nothing."""


@record(eq=False)
class RestBasis:
    """The motions of one frequency with H harmonics that start at rest."""

    frequency: float
    """Of the first harmonic [Hz]."""
    sines: Array
    """a = sines @ x[1:H], (H, H - 1)."""
    cosines: Array
    """b = cosines @ x[H:], (H, H - 1)."""

    @classmethod
    def of(cls, frequency: float, harmonics: int) -> "RestBasis":
        """The basis; its columns are orthonormal and the same on every machine."""
        k = np.arange(1.0, harmonics + 1)
        return cls(frequency, frozen(_across(k)), frozen(_across(k**2)))

    @property
    def size(self) -> int:
        """How many numbers a joint has: its start and the amplitudes."""
        return 1 + 2 * self.sines.shape[1]

    def at(self, t: Array) -> Motion:
        """Φ and its rates at times (m,) [s], each (m, size)."""
        w = 2 * np.pi * self.frequency * np.arange(1, len(self.sines) + 1)
        s = np.sin(t[:, None] * w)
        c = np.cos(t[:, None] * w)
        one = np.ones((len(t), 1))
        return Motion(
            np.hstack([one, s @ self.sines, (c - 1) @ self.cosines]),
            np.hstack([0 * one, (c * w) @ self.sines, -(s * w) @ self.cosines]),
            np.hstack([0 * one, -(s * w**2) @ self.sines, -(c * w**2) @ self.cosines]),
        )

    def trajectory(self, x: Array, duration: float) -> Fourier:
        """The motion of n joints with coefficients (size, n)."""
        H = self.sines.shape[1] + 1
        a = self.sines @ x[1:H]
        b = self.cosines @ x[H:]
        return Fourier(frozen(x[0] - b.sum(0)), frozen(a), frozen(b), self.frequency, duration)

    def coefficients(self, motion: Fourier) -> Array:
        """The coefficients (size, n) of the nearest motion that starts at rest where this does."""
        start = motion.base + motion.b.sum(0)
        count = min(len(self.sines), len(motion.a))
        sines = self.sines[:count].T
        cosines = self.cosines[:count].T
        return np.vstack([start, sines @ motion.a[:count], cosines @ motion.b[:count]])


def _across(k: Array) -> Array:
    """An orthonormal basis of what is orthogonal to a vector (H,), (H, H - 1)."""
    # a Householder reflection takes the first axis to the vector, and the others across it
    v = k / np.linalg.norm(k) + np.eye(len(k))[0]
    return (np.eye(len(k)) - 2 * np.outer(v, v) / (v @ v))[:, 1:]


SINGULAR = 1e-13
"""An eigenvalue below this part of the largest is rounding."""

MOST_OF_A_BLOCK = 150_000
"""Multiplications of one product of matrices."""

Cost = tuple[float, Array]
"""A part of the cost, and its slopes by positions, velocities and accelerations, (3, m, n)."""
Criterion = Callable[[Array, Array, float], tuple[float, Array]]
"""From the eigenvalues (r,) of G, its eigenvectors and the power p to the value and S."""


def gram(Y: Array) -> Array:
    """Σ YᵀY/m of regressors (m, n, r)."""
    rows = Y.reshape(-1, Y.shape[-1])
    r = Y.shape[-1]
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
    least = float(eigenvalues[0])
    largest = float(eigenvalues[-1])
    return math.sqrt(largest / least) if least > SINGULAR * largest else math.inf


def smooth_condition(eigenvalues: Array, vectors: Array, p: float) -> tuple[float, Array]:
    """A smooth log κ, and its gradient by G."""
    least = eigenvalues[0]
    largest = eigenvalues[-1]
    high = (eigenvalues / largest) ** p
    low = (least / eigenvalues) ** p
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
    """p of the smooth condition number."""
    barrier: float = 1.0
    """μ, what the barriers weigh."""
    condition: float = math.inf
    """Of the motion whose cost was computed last."""

    def __post_init__(self) -> None:
        m = SAMPLES_A_HARMONIC * len(self.basis.sines)
        self.grid: Motion = self.basis.at(np.arange(m) / (m * self.basis.frequency))
        self._limited = bool(np.isfinite(self.limits.torque).any())
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

    def shrunk(self, x: Array, factor: float, most: int) -> Array | None:
        """The variables of a motion x (size, n), smaller about its start until limits are kept."""
        for _ in range(most):
            z = self.variables(x.copy())
            if math.isfinite(self(z)[0]):
                return z
            x[1:] *= factor
        return None

    def fault(self, pose: Array) -> str:
        """Why the arm cannot rest at a pose (n,), in words; empty if it can."""
        rest = np.zeros_like(pose)[None]
        tau = np.abs(self._torques(pose[None], rest, rest)[0])
        names = self.robot.joint_names
        limits = self.limits.torque
        over = (
            f"{names[i]} needs {tau[i]:.4g} of {limits[i]:.4g} N m or N to rest"
            for i in np.flatnonzero(tau >= limits)
        )
        return "; ".join(over) or (self.clearance.fault(pose) if self.clearance else "")

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
        motion, value = self.motion(z), 0.0
        slopes = np.zeros((3, *motion.q.shape))
        for part in (self._barriers, self._criterion, self._clearance_barrier):
            found = part(motion)
            if found is None:
                return math.inf, np.zeros_like(z)
            value, slopes = value + found[0], slopes + found[1]
        by_x = sum(phi.T @ slope for phi, slope in zip(self.grid, slopes, strict=True))
        by_z = by_x * self.limits.room
        return value, (by_z if self.start is None else by_z[1:]).ravel()

    def _criterion(self, motion: Motion) -> Cost | None:
        Y = self.aim.matrix(*motion)
        if not np.isfinite(Y).all():  # positions in which a loop does not close
            return None
        values, vectors = eigen(gram(Y))
        self.condition = condition_number(values)
        if not math.isfinite(self.condition):
            return None
        value, S = CRITERIA[self.criterion](values, vectors, self.power)
        slopes = self.aim.pulled_back(*motion, (2 / len(Y)) * (Y @ S))
        return value, np.moveaxis(slopes, 1, 0)

    def _barriers(self, motion: Motion) -> Cost | None:
        """-μ Σ log(1 - u²) of each share u of a limit, a mean over samples and a sum of joints."""
        limits, (m, n) = self.limits, motion.q.shape
        tau = self._torques(*motion) if self._limited else np.zeros_like(motion.q)
        shares = np.stack([*limits.shares(*motion, tau).values()])
        left = 1 - shares * shares
        if not left.min() > 0:
            return None
        slopes = (2 * self.barrier / m) * shares / left
        found = slopes[:3] / np.array([[limits.room], [limits.speed], [limits.acceleration]])
        if self._limited:
            more = self._torque_slopes(*motion, slopes[3] / limits.torque).reshape(m, 3, n)
            found += np.moveaxis(more, 1, 0)
        return -self.barrier / m * float(np.log(left).sum()), found

    def _clearance_barrier(self, motion: Motion) -> Cost | None:
        slopes = np.zeros((3, *motion.q.shape))
        if self.clearance is None:
            return 0.0, slopes
        some = slice(None, None, CLEARANCE_SAMPLES)
        found = self.clearance.barrier(motion.q[some])
        if found is None:
            return None
        weight = self.barrier / len(found[1])
        slopes[0, some] = weight * found[1]
        return weight * found[0], slopes
