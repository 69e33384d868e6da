"""Finding the instant at which a mode ends within a step of integration."""

from collections.abc import Callable
from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.simulation.system import System

Dense = Callable[[Any], Array]
"""Positions, velocities and more at times within a step."""

MOVING_PROBES, HELD_PROBES = 4, 16
"""Instants of a step at which changes of mode are looked for. There are more where a joint is held:
its torque can change while nothing moves, and the method does not see that."""
TURN_CELLS = 16
"""Parts of a step; in each, a velocity is taken to turn once at most."""
SLIP_VELOCITY = 1e-9
"""A joint that has started can stick again once it was faster than this [rad/s or m/s]."""


class Watch:
    """Watches the modes of a system from one change to the next."""

    def __init__(self, system: System, qd: Array):
        """Begin to watch an arm that starts with the velocities qd (n,)."""
        self._system, self._n = system, len(qd)
        self._armed = np.abs(qd) > SLIP_VELOCITY
        self._bounded = (np.isfinite(system.lower) | np.isfinite(system.upper)) & ~system.held
        self._idle = not (system.sign.any() or system.held.any() or self._bounded.any())

    def ended(self, start: float, stop: float, dense: Dense) -> tuple[float, Array] | None:
        """When the first mode ends in a step [s], and which modes end then, (4, n), or None."""
        if self._idle:
            return None
        before = start
        count = HELD_PROBES if self._system.held.any() else MOVING_PROBES
        probes = np.linspace(start, stop, count + 1)[1:].tolist()
        for t in sorted({*probes, *self._turns(start, stop, dense)}):
            values = self._values(t, dense)
            over = values < 0
            over[0] &= self._armed | (values[0] <= -10 * SLIP_VELOCITY)
            if over.any():
                return self._first(before, t, dense, over)
            self._armed |= values[0] > SLIP_VELOCITY
            before = t
        return None

    def _turns(self, start: float, stop: float, dense: Dense) -> list[float]:
        """Where positions, and the speeds of slip, are at their ends: there they nearly change."""
        from scipy.optimize import brentq  # noqa: PLC0415 (slow to import)

        times = np.linspace(start, stop, TURN_CELLS + 1)
        v = dense(times)[self._n : 2 * self._n]
        back = (v[:, :-1] * v[:, 1:] < 0) & self._bounded[:, None]
        turns = [
            brentq(lambda t, j=self._n + i: float(dense(t)[j]), times[k], times[k + 1], rtol=1e-14)
            for i, k in zip(*np.nonzero(back), strict=True)
        ]
        rise = np.diff(v)
        bend = (rise[:, :-1] * rise[:, 1:] < 0) & (self._system.sign != 0)[:, None]
        for i, k in zip(*np.nonzero(bend), strict=True):
            here, there = rise[i, k], rise[i, k + 1]  # the vertex of the parabola through three
            share = 0.5 * (here + there) / (here - there)
            turns.append(times[k + 1] + share * (times[1] - times[0]))
        return turns

    def _first(self, start: float, stop: float, dense: Dense, over: Array) -> tuple[float, Array]:
        """The earliest zero of what has become negative."""
        from scipy.optimize import brentq  # noqa: PLC0415 (slow to import)

        earliest = stop
        for place in zip(*np.nonzero(over), strict=True):

            def value(t: float, place: tuple[Any, ...] = place) -> float:
                return float(self._values(t, dense)[place])

            if value(start) <= 0:
                earliest = start
            elif value(earliest) < 0:
                root, past = brentq(value, start, earliest, xtol=1e-14, rtol=1e-14), 1e-14
                while value(root) > 0:  # the near side of a jump
                    root, past = min(root + past, earliest), 2 * past
                earliest = root
        at = self._values(earliest, dense)
        near = np.array([1e-9, 0.0, 0.0, 1e-11])[:, None]
        return earliest, over & (at <= np.maximum(near, at[over].min()))

    def _values(self, t: float, dense: Dense) -> Array:
        y = dense(t)
        qd = np.where(self._system.held, 0.0, y[self._n : 2 * self._n])
        return self._system.watched(t, y[: self._n], qd)
