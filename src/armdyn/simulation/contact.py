"""What joints at rest do: stick, start, stay at a stop or leave it.

Among all accelerations a that are possible the true one is the least (Gauss)

    ½ aᵀ M a - bᵀ a + Σ ψ_i(a_i)

where b is the torque that is left over, and ψ_i grows by `high` for positive and by -`low` for
negative a_i: the levels of dry friction, or infinity against a stop. It is convex, so there is one
solution: a joint is held where low ≤ (b - M a)_i ≤ high, and moves against that level otherwise.
"""

import numpy as np

from armdyn.arrays import Array

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
