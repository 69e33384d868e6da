"""`armdyn.excite`: the motion that shows the parameters of an arm best, within its limits."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from armdyn.arrays import Array, check_number, check_whole, frozen, record
from armdyn.errors import ExcitationError, check_known, counted, require
from armdyn.identification.excitation.clearance import Obstacles, Radius, surroundings
from armdyn.identification.excitation.limits import Given, GivenRange, MotionLimits, motion_limits
from armdyn.identification.excitation.problem import (
    CRITERIA,
    FEWEST_HARMONICS,
    GRID_SHARE,
    MOST_HARMONICS,
    Problem,
    RestBasis,
    aim_at,
)
from armdyn.identification.excitation.search import Dense, Descent, Progress, search, settled
from armdyn.report.figures import (
    ALARM,
    COLOURS,
    LIMIT,
    draw_head,
    panels_of_joints,
    thinned,
)
from armdyn.report.panels import panel_title
from armdyn.report.result import DrawnResult, Section, parts_of
from armdyn.robot import Robot, check_robot
from armdyn.simulation.checks import check_point, check_positive
from armdyn.simulation.trajectories.moves import Fourier
from armdyn.simulation.trajectories.piecewise import Samples, sampled

STEP = 0.01
"""Time between the lines of a file [s]."""


@record(eq=False, repr=False)
class Excitation(DrawnResult):
    """A motion for the identification of a robot."""

    robot: Robot
    trajectory: Fourier
    """The motion; it starts and ends at rest."""
    criterion: str
    """What was made small: "condition" or "d-optimal"."""
    aim: str
    """What is to be found, in words."""
    parameters: tuple[str, ...]
    """The base parameters that are to be found, r of them."""
    singular_values: Array
    """Of the regressor stacked over the samples of one period, (r,), the largest first."""
    limits: MotionLimits
    """The limits as they are, without the margin."""
    margin: float
    dense: Dense
    """One period at many instants."""
    clearance: float | None
    """The distance that is kept [m]; None: distances were not looked at."""
    distances: tuple[Array, Array] | None
    """Times (k,) [s] and the least distance at each (k,) [m], far ones cut."""
    notes: tuple[str, ...]
    conditions: tuple[float, ...] = field(repr=False)
    """Condition number after each step of the search."""
    starts: tuple[float, ...]
    """Condition number with which the search from each start ended."""
    stopped: bool
    """Whether the search was ended before it had finished."""
    seed: int
    seconds: float
    """What the design took, compiling included [s]."""

    @property
    def condition(self) -> float:
        """Condition number of the base regressor along the motion, columns as they are."""
        return float(self.singular_values[0] / self.singular_values[-1])

    @property
    def shares(self) -> dict[str, Array]:
        """The largest share of each limit that the motion uses, each (n,)."""
        used = self.limits.shares(*self.dense.motion, self.dense.tau)
        return {what: np.abs(share).max(axis=0) for what, share in used.items()}

    @property
    def least_distance(self) -> float | None:
        """Between any two solids along the motion [m]; None: distances were not looked at."""
        return None if self.distances is None else float(self.distances[1].min())

    def __repr__(self) -> str:
        return (
            f"<Excitation of {self.robot.name!r}, {self.trajectory.duration:g} s, condition "
            f"{self.condition:.4g}>"
        )

    def samples(self, dt: float = STEP) -> Samples:
        """The motion every dt seconds."""
        return sampled(self.trajectory, dt)

    def save(self, path: str | Path, dt: float = STEP) -> None:
        """Write a trajectory file with a line every dt seconds: t, q1..qn, qd1..qdn, qdd1..qddn."""
        self.samples(dt).save(path)

    def figure(self) -> Any:
        """Motions in their limits, the search, and the clearance."""
        figure, panels = panels_of_joints(self.robot.n, self.dense.t, below=2.9)
        lines: dict[str, Any] = {}
        for i, panel in enumerate(panels):
            lines |= _draw_joint(panel, self, i)
        left = panels[0].get_position().x0
        wide = (0.98 - left) / 2 - 0.045
        low, tall = np.array([0.5, 2.0]) / figure.get_figheight()
        _draw_search(figure.add_axes((left, low, wide, tall)), self)
        beside = _draw_values if self.distances is None else _draw_distances
        beside(figure.add_axes((0.98 - wide, low, wide, tall)), self)
        robot = self.robot.model
        motion = self.trajectory
        parameters = counted(len(self.parameters), "parameter")
        title = f"{robot.title or robot.name}: excitation of {parameters}"
        subtitle = (
            f"condition number {self.condition:.3g}; one period of {motion.period:.4g} s, "
            f"{len(motion.a)} harmonics, from rest to rest"
        )
        draw_head(figure, left, title, subtitle, lines)
        return figure

    # the report

    def sections(self) -> tuple[Section, ...]:
        """What the motion shows, and what it uses of each limit."""
        name = self.robot.model.title or self.robot.name
        motion = self.trajectory
        ends = ", ".join(f"{c:.4g}" for c in sorted(self.starts))
        count = round(motion.duration * motion.frequency)
        lines = [
            f"condition number {self.condition:.4g} of the {len(self.parameters)} {self.aim}, "
            "columns as they are",
            f"{counted(count, 'period')} of {motion.period:.4g} s with {len(motion.a)} "
            f"harmonics up to {len(motion.a) * motion.frequency:.3g} Hz, from rest to rest",
            f"least {self.criterion} from {counted(len(self.starts), 'start')} (seed "
            f"{self.seed}), which ended at {ends}; {self.seconds:.1f} s",
        ]
        if self.stopped:
            lines.append("the search was stopped before it had finished")
        if self.least_distance is not None and self.clearance is not None:
            lines.append(
                f"links keep {self.least_distance:.3g} m from each other and from what is around; "
                f"{self.clearance:g} m are asked for"
            )
        title = f"{name}: motion of {motion.duration:g} s for identification"
        return Section(title, (*lines, *self.notes), data=self._data()), self._used()

    def _used(self) -> Section:
        limits, (q, qd, qdd) = self.limits, self.dense.motion
        most = np.max([*self.shares.values()], axis=0)
        pairs = (qd, limits.speed), (qdd, limits.acceleration), (self.dense.tau, limits.torque)
        rows = []
        for i, joint in enumerate(self.robot.model.coordinate_joints):
            cells = []
            for values, bounds in pairs:
                of = f" of {bounds[i]:.4g}" if np.isfinite(bounds[i]) else ""
                cells.append(f"{np.abs(values[:, i]).max():.4g}{of}")
            units = f"{joint.type.unit}, {joint.type.torque_unit}"
            ends = (q[:, i].min(), q[:, i].max()), (limits.lower[i], limits.upper[i])
            reach = (f"{low:.4g} to {high:.4g}" for low, high in ends)
            rows.append((joint.name, units, *reach, *cells, f"{100 * most[i]:.3g} %"))
        columns = ("joint", "", "positions", "limits", "speed", "acceleration", "torque", "used")
        line = f"verified at {len(self.dense.t)} instants of a period; a margin of "
        line += f"{100 * self.margin:.3g} % is kept"
        free = [x for x in ("acceleration", "torque") if np.isinf(getattr(limits, x)).any()]
        if free:
            line += f"; {' and '.join(free)} not limited where no limit is shown"
        return Section("Limits", (line,), columns, tuple(rows), 2)

    def _data(self) -> dict[str, Any]:
        motion, names = self.trajectory, self.robot.joint_names
        used = {what: dict(zip(names, x.tolist(), strict=True)) for what, x in self.shares.items()}
        results = ("criterion", "condition", "clearance", "least_distance", "stopped", "seed")
        return {
            "robot": self.robot.name,
            **parts_of(motion, "duration", "frequency"),
            **parts_of(self, "parameters", "singular_values"),
            **parts_of(motion, "base", "a", "b"),
            "used": used,
            **parts_of(self, *results, "seconds", "starts"),
            "steps": len(self.conditions),
            "notes": self.notes,
        }


LINES = {
    "position": (COLOURS["inertial"], 1.7),
    "speed": (COLOURS["viscous"], 1.2),
    "acceleration": (COLOURS["gravity"], 1.0),
    "torque": (COLOURS["coriolis"], 1.0),
}
"""Colour and width of what is limited."""


def _draw_joint(panel: Any, result: Any, i: int) -> dict[str, Any]:
    limits = result.limits
    dense = result.dense
    t = result.dense.t
    q = dense.motion.q[:, i]
    qd = dense.motion.qd[:, i]
    shares = limits.shares(*dense.motion, dense.tau)
    kept = 1 - result.margin
    for sign in (-1.0, 1.0):
        panel.axhspan(sign * kept, sign * 1.3, color=ALARM, alpha=0.07, linewidth=0, zorder=0)
        panel.axhline(sign, **LIMIT, zorder=1)
    drawn = {}
    for what, (colour, width) in LINES.items():
        if what not in ("acceleration", "torque") or np.isfinite(getattr(limits, what)[i]):
            line = thinned(t, shares[what][:, i])
            (drawn[what],) = panel.plot(*line, color=colour, linewidth=width)
    panel.set(ylim=(-1.15, 1.15), yticks=(-1, 0, 1), ylabel="share of limit")
    joint = result.robot.model.coordinate_joints[i]
    unit = joint.type.unit
    words = f"{q.min():.3g} to {q.max():.3g} {unit}, {np.abs(qd).max():.3g} {unit}/s"
    panel_title(panel, joint.name, words.replace("-", "\N{MINUS SIGN}"))
    return drawn


def _draw_search(panel: Any, result: Any) -> None:
    steps = np.arange(1, len(result.conditions) + 1)
    panel.plot(steps, result.conditions, color=COLOURS["inertial"], linewidth=1.4)
    low = min(result.conditions, default=1.0)
    high = max(result.conditions, default=10.0)
    panel.set(xlabel="step from the best start", ylabel="condition number")
    _log_scale(panel)
    panel.set(ylim=(low / 1.15, min(high, 200 * low) * 1.15), xlim=(1, max(len(steps), 2)))
    panel_title(panel, "search", f"ends at {result.condition:.3g}")


def _draw_values(panel: Any, result: Any) -> None:
    """The singular values: flat is good."""
    values: Array = result.singular_values / result.singular_values[0]
    panel.plot(np.arange(1, len(values) + 1), values, "o-", color=COLOURS["inertial"], markersize=3)
    panel.set(xlabel="singular value of the regressor", ylabel="relative to the largest")
    _log_scale(panel)
    panel.set_ylim(top=1.3)
    panel_title(panel, "what is shown", f"{len(values)} base parameters")


def _draw_distances(panel: Any, result: Any) -> None:
    t, distance = result.distances
    top = max(float(distance.max()), 2 * result.clearance)
    panel.fill_between([t[0], t[-1]], 0, result.clearance, color=ALARM, alpha=0.07, linewidth=0)
    panel.axhline(result.clearance, **LIMIT)
    panel.plot(*thinned(t, distance), color=COLOURS["inertial"], linewidth=1.4)
    panel.set(xlim=(t[0], t[-1]), ylim=(0, 1.1 * top))
    panel.set(xlabel="time [s]", ylabel="least distance [m]")
    words = f"least {distance.min():.3g} m of {result.clearance:g} m asked for"
    panel_title(panel, "clearance", words)


def _log_scale(panel: Any) -> None:
    from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter  # noqa: PLC0415

    panel.set_yscale("log")
    panel.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    panel.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    panel.yaxis.set_minor_formatter(NullFormatter())


# the design


PERIOD = 10.0
"""The period comes near this where no number of periods is given [s]."""
CLEARANCE_SLACK = 1.1
"""How much more than the clearance samples keep, so that the motion between them keeps it."""
MOST_STARTS, MOST_PERIODS, MOST_SEED = 1000, 10**6, 2**63
INITIAL_SHRINKINGS = 60
"""How often an earlier motion is made smaller until it keeps the limits of this one."""


def excite(
    robot: Robot,
    duration: float,
    *,
    parameters: str | Sequence[str] = "all",
    criterion: str = "condition",
    harmonics: int = 5,
    periods: int | None = None,
    position: GivenRange = None,
    speed: Given = None,
    acceleration: Given = None,
    torque: Given = None,
    margin: float = 0.05,
    start: npt.ArrayLike | None = None,
    clearance: float | None = None,
    table: float | None = None,
    obstacles: Obstacles = None,
    geometry: str | Path | None = None,
    radius: Radius = None,
    starts: int = 4,
    seed: int = 0,
    initial: Excitation | Fourier | None = None,
    progress: Progress | None = None,
) -> Excitation:
    """A periodic motion that starts and ends at rest and shows the parameters of an arm best.

    Args:
        robot: The robot; torques are those of its numbers, which may be rough.
        duration: How long the motion takes [s].
        parameters: "all" the robot has, "links", or names of parameters, links and joints.
        criterion: "condition" of the base regressor, columns as they are, or "d-optimal".
        harmonics: Sines and cosines of each joint, at least 2.
        periods: How often the motion repeats itself; None: a period of about 10 s.
        position: Lowest and highest positions, (n, 2), or some by name; None: the robot's.
        speed: Largest speeds, one for all joints, one each or some by name; None: the robot's.
        acceleration: Largest accelerations likewise; None: not limited.
        torque: Largest torques likewise; None: the robot's, not limited where unknown.
        margin: Share of each limit that is not used, from 0 to below 1.
        start: Where the motion starts and ends, (n,) [rad or m]; None: where it is best.
        clearance: Distance that links keep [m]; None: 0.05 if one of the next three is given.
        table: Height of a table or floor in the world, above which links stay [m].
        obstacles: Shapes that stand around, or a TOML file of them (docs/excitation.md).
        geometry: A URDF file with the shapes of links; others have capsules along their frames.
        radius: Of these capsules, one for all links or some by name [m]; None: by the reach.
        starts: How many random motions the search begins from.
        seed: Chooses them; the same seed gives the same motion.
        initial: An earlier motion to begin from as well, as that of a rough model.
        progress: Told the share done and the best condition number; True stops with the best.

    Raises:
        ExcitationError: A limit is missing, a start is in collision, or no motion is found.
    """
    began = time.perf_counter()
    basis = _basis(check_positive("duration", duration), harmonics, periods)
    check_whole("starts", starts, 1, MOST_STARTS, ExcitationError)
    check_whole("seed", seed, 0, MOST_SEED, ExcitationError)
    limits = motion_limits(check_robot(robot), position, speed, acceleration, torque)
    check_known("criterion", criterion, CRITERIA)
    kept = 1 - check_number("margin", margin)
    aim = aim_at(robot, parameters)
    require(0 < kept <= 1, "margin", "a share from 0 to below 1", margin, ExcitationError)
    near, notes = surroundings(
        robot, limits, seed, clearance=clearance, table=table, obstacles=obstacles,
        geometry=geometry, radius=radius,
    )  # fmt: skip
    pose = None if start is None else _check_start(robot, start, limits.within(kept))
    # a single column has the condition number 1 whatever the motion
    judged = criterion if len(aim.names) > 1 else "d-optimal"
    slack = None if near is None else near.scaled(CLEARANCE_SLACK)
    problem = Problem(robot, aim, judged, basis, limits.within(kept * GRID_SHARE), pose, slack)
    _check_rest(problem)
    first = None if initial is None else _variables(problem, initial)
    found, stopped = search(problem, starts, seed, first, progress)
    x, dense, distances = settled(problem, limits.within(kept), near, found[0].x)
    return _excitation(
        problem, x, found, criterion=criterion, limits=limits, margin=margin, dense=dense,
        trajectory=basis.trajectory(x, float(duration)), distances=distances, notes=notes,
        clearance=None if near is None else near.least, stopped=stopped, seed=seed,
        seconds=time.perf_counter() - began,
    )  # fmt: skip


def _excitation(
    problem: Problem, x: Array, found: Sequence[Descent], **settings: Any
) -> Excitation:
    """The result: a motion with coefficients x, how it was found, and what was asked for."""
    from scipy.linalg import svdvals  # noqa: PLC0415 (slow to import)

    Y = problem.aim.matrix(*(phi @ x for phi in problem.grid))
    return Excitation(
        robot=problem.robot,
        aim=problem.aim.words,
        parameters=problem.aim.names,
        singular_values=frozen(svdvals(Y.reshape(-1, Y.shape[-1]))),
        conditions=tuple(found[0].conditions),
        starts=tuple(descent.conditions[-1] for descent in found if descent.conditions),
        **settings,
    )


def _check_start(robot: Robot, start: npt.ArrayLike, limits: MotionLimits) -> Array:
    pose = check_point("start", start, robot)
    for name, q, low, high in zip(robot.joint_names, pose, limits.lower, limits.upper, strict=True):
        if not low < q < high:
            raise ExcitationError(
                f"start: {name} is at {q:g}, not between {low:.6g} and {high:.6g}, its limits of "
                "position less the margin"
            )
    return pose


def _check_rest(problem: Problem) -> None:
    """Refuse a start at which the arm cannot rest."""
    if problem.start is not None and (fault := problem.fault(problem.start)):
        raise ExcitationError(
            f"start: {fault}; choose another start, more torque, a smaller clearance or radius, or "
            "give the geometry of the links"
        )


def _variables(problem: Problem, initial: Excitation | Fourier) -> Array:
    """The variables of an earlier motion, made smaller until it keeps the limits of this one."""
    motion: Any = getattr(initial, "trajectory", initial)
    expected = "an earlier result of excite, or a Fourier motion of the "
    expected += f"{counted(problem.robot.n, 'joint')} of {problem.robot.name!r}"
    sound = isinstance(motion, Fourier) and motion.n == problem.robot.n
    require(sound, "initial", expected, initial, ExcitationError)
    x = problem.basis.coefficients(motion)
    if problem.start is not None:
        x[0] = problem.start
    if (z := problem.shrunk(x, 0.9, INITIAL_SHRINKINGS)) is not None:
        return z
    raise ExcitationError(
        "initial: no share of this motion keeps the limits; its first pose may be in collision, or "
        "beyond a limit"
    )


def _basis(duration: float, harmonics: int, periods: int | None) -> RestBasis:
    what = "harmonics (one alone cannot start and end at rest)"
    check_whole(what, harmonics, FEWEST_HARMONICS, MOST_HARMONICS, ExcitationError)
    count = max(1, round(duration / PERIOD)) if periods is None else periods
    check_whole("periods", count, 1, MOST_PERIODS, ExcitationError)
    return RestBasis.of(count / duration, harmonics)
