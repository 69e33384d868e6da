"""Integration with SciPy's adaptive methods, from one change of mode to the next."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from numbers import Real
from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.dynamics import Robot
from armdyn.errors import SimulationError
from armdyn.simulation.result import Simulation
from armdyn.simulation.system import Event, Forces, System
from armdyn.simulation.watch import Watch

METHODS = ("DOP853", "RK45", "RK23", "Radau", "BDF", "LSODA")
"""Methods of `scipy.integrate`."""
MAX_MODE_CHANGES = 100_000
"""After so many changes of mode a run is given up."""
MAX_VELOCITY = 1e6
"""A run with a higher velocity has diverged [rad/s or m/s]."""
LEAST_STEPS = 50
"""Steps that a run has at least, so that it does not step over a late torque."""
DEFAULT_RECORDS = 500
"""Instants that are recorded if no time between them is given."""
MAX_RECORDS = 5_000_000
"""Instants that one arm may have: each takes a few hundred bytes a joint."""
MODE_CHANGE_WIDTH = 1e-12
"""A record so close before a change of mode shows the mode that follows [s]."""

Progress = Callable[[float], None]


@dataclass(slots=True)
class _Run:
    """What an integration has recorded so far."""

    t: list[float] = field(default_factory=list)
    q: list[Array] = field(default_factory=list)
    qd: list[Array] = field(default_factory=list)
    forces: list[Forces] = field(default_factory=list)
    work: list[Array] = field(default_factory=list)
    """Energy that actuators gave, friction took, the environment gave and impacts took [J]."""
    events: list[Event] = field(default_factory=list)
    steps: int = 0
    evaluations: int = 0
    status: str = "finished"
    """"finished", "interrupted" or "diverged"."""
    message: str = ""

    def simulation(self, robot: Robot, method: str, seconds: float) -> Simulation:
        """The result of the integration, which took so long."""

        def stacked(values: list[Array]) -> Array:
            return np.array(values[: len(self.t)])  # Ctrl-C may have come between two of the lists

        names = ("qdd", "tau", "friction", "stop", "external")
        return Simulation(
            robot,
            method,
            np.array(self.t),
            stacked(self.q),
            stacked(self.qd),
            **{name: stacked([getattr(forces, name) for forces in self.forces]) for name in names},
            work=stacked(self.work),
            events=tuple(self.events),
            status=self.status,
            message=self.message,
            statistics={"steps": self.steps, "evaluations": self.evaluations, "seconds": seconds},
        )


def simulate_adaptive(
    system: System,
    q: Array,
    qd: Array,
    times: Array,
    method: str,
    rtol: float,
    atol: float,
    progress: Progress | None,
) -> Simulation:
    """Integrate one arm from the first to the last of the times [s], recording the state at each.

    The arguments are those of `armdyn.simulate`; q and qd are the state at the start, (n,).
    """
    began = time.perf_counter()
    integration = _Integration(system, times, rtol, atol, method)
    run = integration.run
    try:
        # the result tells of a motion that diverges
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            integration.go(q, qd, progress)
    except KeyboardInterrupt:
        if not run.t:
            raise
        run.status = "interrupted"
        run.message = f"interrupted at t = {run.t[-1]:.6g} s"
    return run.simulation(system.robot, method, time.perf_counter() - began)


def record_times(duration: float, dt: float | None) -> Array:
    """The instants that are recorded, the end included."""
    if dt is None:
        return np.linspace(0.0, duration, DEFAULT_RECORDS + 1)
    if not (isinstance(dt, Real) and 0 < dt < math.inf):
        raise SimulationError(f"dt must be a positive number of seconds, got {dt!r}")
    if duration / dt > MAX_RECORDS:
        raise SimulationError(
            f"dt: {duration / dt:.3g} instants are more than can be kept; record fewer, with a "
            "longer dt"
        )
    count = math.floor(duration / dt * (1 + 1e-12))
    times = dt * np.arange(count + 1)
    return times if duration - times[-1] <= 1e-9 * dt else np.append(times, duration)


class _Integration:
    def __init__(self, system: System, times: Array, rtol: float, atol: float, method: str):
        import scipy.integrate  # noqa: PLC0415 (slow to import)

        self.system, self.times = system, times
        self.solver_type = getattr(scipy.integrate, method)
        longest = float(times[-1] - times[0]) / LEAST_STEPS
        self.options = {"rtol": rtol, "atol": atol, "max_step": longest}
        self.run = _Run()
        self.lost = self.tried = 0.0

    def go(self, q: Array, qd: Array, progress: Progress | None) -> None:
        n, t, end = len(q), float(self.times[0]), float(self.times[-1])
        y = np.concatenate([q, qd, np.zeros(3)])
        self.system.settle(t, q, qd)
        self._record(t, lambda _: y)
        changes, first_step = 0, None
        while t < end and self.run.status == "finished":
            began = t
            t, y, ended = self._segment(t, y, end, first_step, progress)
            if ended is not None:
                # a mode that ends where it began was too short for the first step
                first_step = self.tried / 16 if t == began else None
                changes += 1
                q, qd, lost = self.system.change(t, y[:n], y[n : 2 * n], ended)
                self.lost += lost
                names = self.system.robot.joint_names
                self.run.events += [Event(t, "hits", names[i]) for i in np.flatnonzero(ended[3])]
                y = np.concatenate([q, qd, y[2 * n :]])
                self.run.events += self.system.settle(t, q, qd)
                self._record(t, lambda _, y=y: y)
                if changes > MAX_MODE_CHANGES:
                    self._stop("diverged", t, y, f"more than {MAX_MODE_CHANGES} changes of mode")

    def _segment(
        self, t: float, y: Array, end: float, first_step: float | None, progress: Progress | None
    ) -> tuple[float, Array, Array | None]:
        """Integrate until a mode ends or the time is over."""
        n = (len(y) - 3) // 2
        first = None if first_step is None else min(first_step, end - t)
        solver = self.solver_type(self._slope, t, y, end, first_step=first, **self.options)
        watch = Watch(self.system, y[n : 2 * n])
        while solver.status == "running":
            try:
                solver.step()
            except ValueError:  # implicit methods refuse a wild Jacobian
                return self._diverged(None, t, y)
            self.run.steps += 1
            self.tried = solver.step_size
            stuck = solver.status == "failed" or solver.t == solver.t_old
            if stuck or self._wild(solver.y, n):
                return self._diverged(solver.y, t, y)
            dense = solver.dense_output()
            found = watch.ended(solver.t_old, solver.t, dense)
            t, y = (solver.t, solver.y) if found is None else (found[0], dense(found[0]))
            self._record(t, dense, ended=found is not None)
            if progress is not None:
                progress(t)
            if found is not None:
                return t, y, found[1]
        return t, y, None

    def _slope(self, t: float, y: Array) -> Array:
        n = (len(y) - 3) // 2
        q, qd = y[:n], np.where(self.system.held, 0.0, y[n : 2 * n])
        if not np.isfinite(y).all():
            return np.full(len(y), np.nan)
        self.run.evaluations += 1
        forces = self.system.forces(t, q, qd)
        power = [forces.tau @ qd, forces.friction @ qd, forces.external @ qd]
        return np.concatenate([qd, forces.qdd, power])

    # what is kept

    def _record(self, t: float, dense: Any, ended: bool = False) -> None:
        """Keep the state at every time asked for up to t, where a mode may have ended."""
        run = self.run
        while len(run.t) < len(self.times):
            at = float(self.times[len(run.t)])
            if at > t or (ended and at > t - MODE_CHANGE_WIDTH):
                return
            y = dense(at)
            n = (len(y) - 3) // 2
            q, qd = y[:n].copy(), np.where(self.system.held, 0.0, y[n : 2 * n])
            run.forces.append(self.system.forces(at, q, qd))
            run.q.append(q)
            run.qd.append(qd)
            run.work.append(np.append(y[2 * n :], self.lost))
            run.t.append(at)

    @staticmethod
    def _wild(y: Array, n: int) -> bool:
        return not (np.isfinite(y).all() and np.abs(y[n : 2 * n]).max() < MAX_VELOCITY)

    def _diverged(self, reached: Array | None, t: float, y: Array) -> tuple[float, Array, None]:
        wild = reached is None or self._wild(reached, (len(y) - 3) // 2)
        reason = "the velocities grow without bound" if wild else "the step becomes too small"
        self._stop("diverged", t, y, reason)
        return t, y, None

    def _stop(self, status: str, t: float, y: Array, reason: str) -> None:
        n = (len(y) - 3) // 2
        state = ", ".join(f"{v:.6g}" for v in y[:n]), ", ".join(f"{v:.6g}" for v in y[n : 2 * n])
        self.run.status = status
        self.run.message = (
            f"{status} at t = {t:.6g} s: {reason}; the last state is q = [{state[0]}], "
            f"qd = [{state[1]}]"
        )
