"""Every motor of a list with every gear, on one joint along one motion.

Behind a gear of ratio N and efficiency η, a motor with the inertia J (rotor and gear) gives

    τ_m = τ_e/N + J N q̈        τ_e = τ_load/η where it drives the load, η τ_load where the load does

so that its mean square is a/N² + 2 b J + c J² N² with a, b and c the means of τ_e², τ_e q̈ and q̈²,
and its largest value is reached at a corner of the convex hull of all (τ_e, q̈).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from armdyn.arrays import Array
from armdyn.sizing.motor_list import Gear, Motor

DEMANDS = ("peak torque", "RMS torque", "speed", "load on the gear", "speed of the gear")
"""What a motion asks of a motor and of its gear, in the order of `Candidates.use`."""


@dataclass(frozen=True, slots=True, eq=False)
class Load:
    """What one joint asks of its drive, without the rotor, at m instants."""

    torque: Array = field(repr=False)
    """(m,) [N m or N]."""
    qd: Array = field(repr=False)
    qdd: Array = field(repr=False)
    shares: Array = field(repr=False)
    """The share of each instant in the whole time."""

    def behind(self, efficiency: float) -> Array:
        """The load as the motor feels it through a gear with losses, (m,)."""
        return self.torque * efficiency ** -np.sign(self.torque * self.qd)

    def motor_torque(self, J: float, gear: Gear) -> Array:
        """The torque of a motor, (m,)."""
        return self.behind(gear.efficiency) / gear.ratio + J * gear.ratio * self.qdd

    def driven_power(self, J: float, gear: Gear) -> float:
        """Mean of the power of a motor where it drives [W]."""
        power = self.motor_torque(J, gear) * gear.ratio * self.qd
        return float(self.shares @ np.maximum(power, 0.0))


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """The K pairs of motors and gears that could drive a joint."""

    pairs: Sequence[tuple[Motor, Gear]] = field(repr=False)
    inertia: Array
    """Of rotor and gear, on the side of the motor, (K,) [kg m²]."""
    found: Array
    """What the motion asks, by `DEMANDS`, (K, 5)."""
    given: Array
    """What motors and gears can give, (K, 5)."""

    @property
    def use(self) -> Array:
        """What is asked over what can be given, (K, 5)."""
        return self.found / self.given

    @property
    def reflected(self) -> Array:
        """J N² of each pair, (K,) [kg m² or kg]."""
        return self.inertia * np.square([gear.ratio for _, gear in self.pairs])


def candidates(load: Load, pairs: Sequence[tuple[Motor, Gear]]) -> Candidates:
    """What the load asks of every pair, and what they can give."""
    J = np.array([motor.rotor_inertia + gear.inertia for motor, gear in pairs])
    N = np.array([gear.ratio for _, gear in pairs])
    efficiency = np.array([gear.efficiency for _, gear in pairs])
    peak, square = np.empty(len(pairs)), np.empty(len(pairs))
    for eta in np.unique(efficiency):
        some = efficiency == eta
        behind, n, j = load.behind(eta), N[some], J[some]
        a, b, c = (load.shares @ x for x in (behind**2, behind * load.qdd, load.qdd**2))
        square[some] = a / n**2 + 2 * b * j + c * (j * n) ** 2
        peak[some] = 0.0
        for torque, acceleration in _corners(behind, load.qdd):
            peak[some] = np.maximum(peak[some], np.abs(torque / n + j * n * acceleration))
    speed, most = N * np.abs(load.qd).max(), np.full(len(pairs), np.abs(load.torque).max())
    found = np.stack([peak, np.sqrt(np.maximum(square, 0.0)), speed, most, speed], axis=1)
    given = [
        (m.peak_torque, m.rated_torque, m.max_speed, g.peak_torque, g.max_speed) for m, g in pairs
    ]
    return Candidates(pairs, J, found, np.array(given))


def _corners(x: Array, y: Array) -> Array:
    """The corners of the convex hull of points, (corners, 2)."""
    points = np.stack([x, y], axis=1)
    try:
        scaled = points / np.where((size := np.abs(points).max(0)) > 0, size, 1.0)
        return points[ConvexHull(scaled).vertices]
    except (QhullError, ValueError):  # all points are on one line, whose ends are extreme
        return points[[x.argmin(), x.argmax(), y.argmin(), y.argmax()]]
