"""Integration with SciPy's adaptive methods, from one change of mode to the next."""

import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from armdyn.arrays import Array, real
from armdyn.errors import SimulationError, shown
from armdyn.simulation.floating import LARGEST_TURN, system_of
from armdyn.simulation.forces import Setup
from armdyn.simulation.result import Simulation
from armdyn.simulation.system import Event, System

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
                root = brentq(value, start, earliest, xtol=1e-14, rtol=1e-14)
                past = 1e-14
                while value(root) > 0:  # the near side of a jump
                    root, past = min(root + past, earliest), 2 * past
                earliest = root
        at = self._values(earliest, dense)
        near = np.array([1e-9, 0.0, 0.0, 1e-11])[:, None]
        return earliest, over & (at <= np.maximum(near, at[over].min()))

    def _values(self, t: float, dense: Dense) -> Array:
        return self._system.watched(t, dense(t))


EXPLICIT = ("DOP853", "RK45", "RK23")
METHODS = (*EXPLICIT, "Radau", "BDF", "LSODA")
"""Methods of `scipy.integrate`."""
MAX_MODE_CHANGES = 100_000
MAX_VELOCITY = 1e6
"""A run with a higher velocity has diverged [rad/s or m/s]."""
MAX_EVALUATIONS = 10_000
"""Evaluations after which a method that has not made its next step will not make it: the shortest
steps that there are need some thousand."""
CRAWLING_STEP, MAX_CRAWLING_STEPS = 1e-8, 2000
"""Part of a run below which a step gets nowhere, and how many such steps in succession end it."""
STIFFNESS_STEPS, STABLE = 400, 1.5
"""Steps after which an explicit method is asked time and again whether the fastest decay decides
its step, and the product of the two from which on it does: such methods are stable up to 2.5 to 6.
"""
LEAST_STEPS = 50
"""Steps that a run has at least, so that it does not step over a late torque."""
DEFAULT_RECORDS = 500
"""Instants that are recorded if no time between them is given."""
MAX_RECORDS = 5_000_000
"""Instants that one arm may have: each takes a few hundred bytes a joint."""
MODE_CHANGE_WIDTH = 1e-12
"""A record so close before a change of mode shows the mode that follows [s]."""


class _LostError(Exception):
    """Why a method cannot go on."""


def simulate_adaptive(setup: Setup) -> Simulation:
    """Integrate one arm with steps that the method chooses."""
    base = setup.floating
    for state in (setup.q, setup.qd, *(() if base is None else (base.pose, base.twist))):
        if np.ndim(state) > 1:
            raise SimulationError(
                f"{setup.method} simulates one arm, got states of shape {np.shape(state)}; use "
                "method='rk4' or 'symplectic' for many at once"
            )
    if setup.step is not None:
        raise SimulationError(f"{setup.method} chooses its own steps; leave out step, or use 'rk4'")
    system = system_of(setup)
    times = record_times(setup.duration, setup.dt)
    began = time.perf_counter()
    run = _Integration(setup, system, times)
    status, message = "finished", ""
    try:
        # the result tells of a motion that diverges
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            run.go(setup.q, setup.qd)
    except KeyboardInterrupt:
        if not run.records:
            raise
        status, message = "interrupted", f"interrupted at t = {run.records[-1]['t']:.6g} s"
    except _LostError as lost:
        q, qd = (", ".join(f"{v:.6g}" for v in part) for part in run.y[: 2 * run.n].reshape(2, -1))
        last = f"the last state is q = [{q}], qd = [{qd}]"
        status, message = "diverged", f"diverged at t = {run.t:.6g} s: {lost}; {last}"
    seconds = time.perf_counter() - began
    return Simulation.of(
        setup.robot, run.method, run.records, events=tuple(run.events), status=status,
        message=message,
        statistics={"steps": run.steps, "evaluations": run.evaluations, "seconds": seconds},
    )  # fmt: skip


def record_times(duration: float, dt: float | None) -> Array:
    """The instants that are recorded, the end included."""
    if dt is None:
        return np.linspace(0.0, duration, DEFAULT_RECORDS + 1)
    if not (0 < real(dt) < math.inf):
        raise SimulationError(f"dt must be a positive number of seconds, got {shown(dt)}")
    dt = float(dt)
    if dt > duration * (1 + 1e-12):
        raise SimulationError(
            f"dt: records {dt:g} s apart do not fit into a duration of {duration:g} s; take a "
            "shorter dt, or none"
        )
    if duration / dt > MAX_RECORDS:
        raise SimulationError(
            f"dt: {duration / dt:.3g} instants are more than can be kept; record fewer, with a "
            "longer dt"
        )
    return np.append(dt * np.arange(math.ceil(duration / dt - 1e-9)), duration)


class _Integration:
    """A state on its way to the end."""

    def __init__(self, setup: Setup, system: System, times: Array):
        import scipy.integrate  # noqa: PLC0415 (slow to import)

        self.system, self.times, self.n = system, times, system.robot.n
        self.method, self.progress = setup.method, setup.progress
        self.solver_type = getattr(scipy.integrate, setup.method)
        self.for_stiff = scipy.integrate.Radau
        longest = float(times[-1] - times[0]) / LEAST_STEPS
        self.options = {"rtol": setup.rtol, "atol": setup.atol, "max_step": longest}
        self.records: list[dict[str, Any]] = []
        """Time, positions, velocities, works [J] and forces of each instant by name."""
        self.events: list[Event] = []
        self.steps = self.evaluations = self.waiting = self.crawled = 0
        self.t = self.lost = self.tried = 0.0
        """The time that is reached; the energy of impacts; the length of the last step."""

    def go(self, q: Array, qd: Array) -> None:
        """Integrate to the end, from one change of mode to the next."""
        system, end = self.system, float(self.times[-1])
        self.y = system.start(q, qd)
        system.settle(self.t, self.y)
        self._record(lambda _: self.y)
        changes, first_step = 0, None
        while self.t < end:
            began = self.t
            ended = self._segment(end, first_step)
            if ended is not None:
                # a mode that ends where it began was too short for the first step
                first_step = self.tried / 16 if self.t == began else None
                changes += 1
                self.y, lost = system.change(self.t, self.y, ended)
                self.lost += lost
                hits = np.flatnonzero(ended[3])
                self.events += [Event(self.t, "hits", system.robot.joint_names[i]) for i in hits]
                self.events += system.settle(self.t, self.y)
                self._record(lambda _: self.y)
                if changes > MAX_MODE_CHANGES:
                    raise _LostError(f"more than {MAX_MODE_CHANGES} changes of mode")

    def _segment(self, end: float, first_step: float | None) -> Array | None:
        """Integrate until modes end, which it returns, or the state has another chart or method."""
        first = None if first_step is None else min(first_step, end - self.t)
        self.waiting = 0
        solver = self.solver_type(
            self._slope, self.t, self.y, end, first_step=first, **self.options
        )
        watch = Watch(self.system, self.y[self.n : 2 * self.n])
        while solver.status == "running":
            try:
                solver.step()
            except ValueError:  # implicit methods refuse a wild Jacobian
                raise _LostError("the velocities grow without bound") from None
            self._check(solver)
            dense = solver.dense_output()
            found = watch.ended(solver.t_old, solver.t, dense)
            self.t, self.y = (solver.t, solver.y) if found is None else (found[0], dense(found[0]))
            self._record(dense, ended=found is not None)
            if self.progress is not None:
                self.progress(self.t)
            if found is not None:
                return found[1]
            if (recentred := self.system.recentred(self.y, LARGEST_TURN)) is not None:
                self.y = recentred
                return None
            if self.steps % STIFFNESS_STEPS == 0 and self._is_stiff():
                self.method, self.solver_type = f"{self.method}, then Radau", self.for_stiff
                return None
        return None

    def _check(self, solver: Any) -> None:
        """Count a step, and end where steps lead nowhere."""
        self.steps += 1
        self.waiting = 0
        self.tried = solver.step_size
        fastest = np.abs(solver.y[self.n : 2 * self.n]).max()
        if not (np.isfinite(solver.y).all() and fastest < MAX_VELOCITY):
            raise _LostError("the velocities grow without bound")
        if solver.status == "failed" or solver.t == solver.t_old:
            raise _LostError("the step becomes too small")
        crawls = self.tried < CRAWLING_STEP * LEAST_STEPS * self.options["max_step"]
        self.crawled = self.crawled + 1 if crawls else 0
        if self.crawled > MAX_CRAWLING_STEPS:
            rough = "the torque may be rough, or too steep for this method"
            raise _LostError(f"steps of {self.tried:.1g} s get nowhere; {rough}")

    def _is_stiff(self) -> bool:
        """Whether an explicit method makes steps as short as the fastest decay lets it."""
        if self.method not in EXPLICIT:
            return False
        t, y = self.t, self.y
        moved = 1e-7 * np.maximum(np.abs(y), 1.0) * np.eye(len(y))
        here = self._slope(t, y)
        slopes = [(self._slope(t, y + step) - here) / step.max() for step in moved]
        decay = -np.linalg.eigvals(np.nan_to_num(slopes)).real.min()
        return bool(self.tried * decay > STABLE)

    def _slope(self, t: float, y: Array) -> Array:
        self.waiting += 1
        if self.waiting > MAX_EVALUATIONS:
            raise _LostError("no step is short enough to go on")
        if not np.isfinite(y).all():
            return np.full(len(y), np.nan)
        self.evaluations += 1
        return self.system.slope(t, y)

    def _record(self, dense: Dense, ended: bool = False) -> None:
        """Keep the state at every time asked for up to now, where a mode may have ended."""
        while len(self.records) < len(self.times):
            at = float(self.times[len(self.records)])
            if at > self.t or (ended and at > self.t - MODE_CHANGE_WIDTH):
                return
            self.records.append(self.system.record(at, dense(at), self.lost))
