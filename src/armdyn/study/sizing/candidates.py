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
from armdyn.study.sizing.motor_list import Gear, Motor

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
        peak[some] = _largest(behind, load.qdd, j * n**2) / n
    speed, most = N * np.abs(load.qd).max(), np.full(len(pairs), np.abs(load.torque).max())
    found = np.stack([peak, np.sqrt(np.maximum(square, 0.0)), speed, most, speed], axis=1)
    given = [
        (m.peak_torque, m.rated_torque, m.max_speed, g.peak_torque, g.max_speed) for m, g in pairs
    ]
    return Candidates(pairs, J, found, np.array(given))


def _largest(x: Array, y: Array, c: Array) -> Array:
    """The largest |x + c y| over points (m,), for each c, (K,).

    It is at the corner of the convex hull whose edges have the direction (1, c) between their
    normals.
    """
    points = np.stack([x, y], axis=1)
    size = np.abs(points).max(axis=0)
    size = np.where(size > 0, size, 1.0)
    try:
        corners = points[ConvexHull(points / size).vertices]  # against the clock
    except (QhullError, ValueError):  # all points are on one line, whose ends are extreme
        ends = points[[x.argmin(), x.argmax(), y.argmin(), y.argmax()]]
        return np.asarray(np.abs(ends[:, :1] + c * ends[:, 1:]).max(axis=0))
    edges = np.roll(corners, -1, axis=0) - corners
    normals = np.arctan2(-edges[:, 0] / size[0], edges[:, 1] / size[1])
    order = np.argsort(normals)
    largest = np.zeros(len(c))
    for sign in (1.0, -1.0):
        angle = np.arctan2(sign * c * size[1], np.full(len(c), sign * size[0]))
        place = np.searchsorted(normals[order], angle)
        for near in (-2, -1, 0, 1):  # rounding may take the next one
            corner = corners[(order[(place + near) % len(order)] + 1) % len(order)]
            largest = np.maximum(largest, sign * (corner[:, 0] + c * corner[:, 1]))
    return largest
