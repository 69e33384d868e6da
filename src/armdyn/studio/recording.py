"""Motions that are played: of a file, a simulation, or between two poses; films of them."""

import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.errors import TrajectoryError
from armdyn.formulations.kinematics import world_frames
from armdyn.io.csv.table import numbered_columns
from armdyn.io.csv.trajectory import SampledMotion, trajectory_from_csv
from armdyn.io.log import open_log
from armdyn.loops.coordinates import coordinates_of
from armdyn.model.transform import rotation_from_vector, rotation_vector, transform
from armdyn.report.figures import GREY, INK, PALE, STYLE
from armdyn.report.portrait import link_lines
from armdyn.robot import Robot
from armdyn.simulation import Simulation
from armdyn.simulation.controllers import GravityPD
from armdyn.simulation.hand import Hand
from armdyn.simulation.simulator import simulate
from armdyn.simulation.trajectories import sampled
from armdyn.simulation.trajectories.piecewise import hermite
from armdyn.studio.arm import State
from armdyn.studio.background import Tell
from armdyn.studio.shapes import stage
from armdyn.studio.style import LINES
from armdyn.study.terms.torques import torque_report

RECORDED_INSTANTS = 400
"""Instants that are kept of a motion made here."""
PLOTTED_INSTANTS = 600
"""Instants that are sent to the page at once."""
TOLD_HITS = 4
LOG_BLOCKS = 4
"""Blocks of a log from which the cut-off of its filter is chosen."""
TELL_PERIOD = 0.2
"""Time between two messages on how far a simulation is [s]."""
STIFFNESS, DAMPING = 60.0, 12.0
"""Springs that hold an arm, relative to the diagonal of the mass matrix [1/s², 1/s]."""


@dataclass(frozen=True, slots=True, eq=False)
class Recording:
    """A motion with its torques, at m instants."""

    title: str
    t: Array
    """(m,) [s]."""
    q: Array
    qd: Array
    qdd: Array
    tau: Array
    """Torques of the actuators, (m, n)."""
    terms: dict[str, Array] = field(default_factory=dict)
    """What they are made of, (m, n) each."""
    note: str = ""
    """What people should know about it."""
    limits: Array | None = None
    """Highest torques, (n,), infinite where they are not known; None: none is."""
    measured: Array | None = None
    """Torques that were measured, (m, n)."""
    floating: Array | None = None
    """Pose, twist and acceleration of a base that nothing holds, (m, 24)."""

    @property
    def duration(self) -> float:
        """How long it takes [s]."""
        return float(self.t[-1] - self.t[0])

    @property
    def hardest(self) -> int:
        """The joint whose motor works hardest; where no limit is known, that of most torque."""
        most = np.abs(self.tau).max(axis=0)
        limits = np.full(len(most), np.inf) if self.limits is None else self.limits
        return int(np.argmax(most if np.isinf(limits).all() else most / limits))

    def at(self, time: float, payload: float) -> State:
        """The state at a time since the start, on straight lines between the instants."""
        when = float(self.t[0]) + time
        last = int(np.searchsorted(self.t[1:-1], when)) + 1
        pair = self.t[last - 1 : last + 1]
        share = float(np.interp(when, pair, np.arange(len(pair))))

        def between(rows: Array) -> Array:
            return (1 - share) * rows[last - 1] + share * rows[min(last, len(rows) - 1)]

        terms = {name: between(rows) for name, rows in self.terms.items()}
        q, qd, qdd = map(between, (self.q, self.qd, self.qdd))
        base = None
        if self.floating is not None:
            one, two = Hand.of_base(self.floating[[last - 1, min(last, len(self.t) - 1)]]).pose
            turn = rotation_from_vector(share * rotation_vector(one[:3, :3].T @ two[:3, :3]))
            base = transform(one[:3, :3] @ turn, (1 - share) * one[:3, 3] + share * two[:3, 3])
        return State(q, qd, qdd, payload, terms or None, base)

    def curve(self, joint: int, start: float, end: float) -> dict[str, Any]:
        """The torque of a joint between two times since the start, as plain data for a plot.

        Of many instants, the least and the greatest torque of each short while are kept.
        """
        t = self.t - self.t[0]
        first = max(int(np.searchsorted(t, start, "right")) - 1, 0)
        last = min(int(np.searchsorted(t, end, "left")) + 1, len(t))
        chosen = first + _telling(self.tau[first:last, joint], PLOTTED_INSTANTS)
        limit = np.inf if self.limits is None else float(self.limits[joint])

        def plain(rows: Array) -> list[float | None]:
            return [_short(value) for value in rows[chosen, joint].tolist()]

        return {
            "joint": joint,
            "from": float(start),
            "to": float(end),
            "t": [_short(value) for value in t[chosen].tolist()],
            "total": plain(self.tau),
            "terms": {k: plain(rows) for k, rows in self.terms.items() if rows[:, joint].any()},
            "limit": limit if np.isfinite(limit) else None,
            "measured": None if self.measured is None else plain(self.measured),
        }

    def columns(self) -> dict[str, Array]:
        """The table t, q1.., qd1.., qdd1.., tau1.., the terms, and a base that floats."""
        groups = {"q": self.q, "qd": self.qd, "qdd": self.qdd, "tau": self.tau}
        groups |= {name.replace(" ", "_"): values for name, values in self.terms.items()}
        base = {} if self.floating is None else Hand.of_base(self.floating).columns("base")
        return {"t": self.t} | numbered_columns(groups) | base


def from_file(robot: Robot, path: Path) -> Recording:
    """The motion in a trajectory file, and the torques that it takes."""
    return _driven(robot, trajectory_from_csv(path, robot.model, base=True), path.name)


def there_and_back(robot: Robot, here: Array, there: Array, seconds: float) -> Recording:
    """A smooth move to another pose and back, and the torques that it takes."""
    rest = np.zeros((3, len(here)))
    way = hermite(np.linspace(0.0, seconds, 3), np.array([here, there, here]), rest, rest)
    motion = SampledMotion(*sampled(way, seconds / RECORDED_INSTANTS))
    return _driven(robot, motion, "there and back")


def simulated(
    robot: Robot, state: State, seconds: float, held: bool, tell: Tell, floats: bool = False
) -> Recording:
    """What happens from a state on: without any torque, or held by springs and dampers.

    The base stands, or it floats from there on.
    """
    law, told = None, 0.0
    low, high = robot.limits.T
    stops = not (low == high).any()
    start = np.clip(state.q, low, high) if stops else state.q
    if held:
        scale = np.diag(robot.mass_matrix(state.q))
        law = GravityPD(robot, start, STIFFNESS * scale, DAMPING * scale)

    def progress(t: float) -> None:
        nonlocal told
        if time.monotonic() - told > TELL_PERIOD:
            told = time.monotonic()
            tell(f"simulating, {t:.2f} of {seconds:g} s")

    found = simulate(
        robot, start, state.qd, seconds, controller=law, dt=seconds / RECORDED_INSTANTS,
        rtol=1e-7, atol=1e-8, stops=stops, progress=progress,
        base=robot.free_base.standing if floats else None,
    )  # fmt: skip
    terms = {name: values for name, values in found.terms().items() if values.any()}
    title = "held by springs" if held else "let go, afloat" if floats else "let go"
    beyond = (str(excess) for excess in found.excesses if excess.what != "position" or not stops)
    note = "; ".join(filter(None, (found.message, stops_note(found, stops), *beyond)))
    motion = found.t, found.q, found.qd, found.qdd, found.tau
    return Recording(title, *motion, terms, note, robot.effort_limits, None, found.floating)


def stops_note(found: Simulation, stops: bool) -> str:
    """What the stops of the joints did in a simulation."""
    low, high = found.robot.limits.T
    if not stops:
        fixed = found.robot.joint_names[int(np.argmax(low == high))]
        return f"joint limits are left out, since {fixed} has no room between its own"
    if not (np.isfinite(low) | np.isfinite(high)).any():
        return "no joint has limits, so that there are no stops"
    hits = list(dict.fromkeys((e.joint, round(e.t, 2)) for e in found.events if e.kind == "hits"))
    said = ", ".join(f"{joint} at {t:.2f} s" for joint, t in hits[:TOLD_HITS])
    more = f" and {len(hits) - TOLD_HITS} more times" if len(hits) > TOLD_HITS else ""
    return f"joint limits are stops; hit by {said}{more}" if hits else (
        "joint limits are stops; none was hit"
    )  # fmt: skip


def from_log(robot: Robot, path: Path) -> Recording:
    """A log of the real arm: what was measured, and the torques of the model in that motion."""
    from armdyn.identification import preparation  # noqa: PLC0415 (slow to import)

    joints = robot.model.coordinate_joints
    log = open_log(path, robot.joint_names, [joint.type.turns for joint in joints], name="log")
    samples = np.concatenate([block.q for block in log.blocks()][:LOG_BLOCKS])
    cutoff = preparation.choose_cutoff(samples, 1 / log.period)
    cutoffs = preparation.Cutoffs(cutoff, cutoff)
    found = [*preparation.pieces(log, cutoffs, preparation.Health(), robot.effort_limits)]
    if not found:
        raise TrajectoryError(f"{path.name}: the log is too short to be filtered")
    t, q, qd, qdd, measured = (
        np.concatenate([getattr(piece, key)[piece.kept] for piece in found])
        for key in ("t", "q", "qd", "qdd", "tau")
    )
    ledger = robot.ledger(q, qd, qdd)
    apart = np.sqrt(np.mean((measured - ledger.total) ** 2, axis=0))
    worst = int(np.argmax(apart / np.maximum(np.ptp(measured, axis=0), 1e-12)))
    note = (
        f"measured against the model, filtered at {cutoff:.3g} Hz; farthest apart at "
        f"{robot.joint_names[worst]}: {apart[worst]:.3g} {joints[worst].type.torque_unit} "
        "(root mean square)" + f"; {log.columns.note}" * bool(log.columns.ignored)
    )
    acting = {name: rows for name, rows in ledger.terms.items() if rows.any()}
    rows = t, q, qd, qdd, ledger.total
    return Recording(path.name, *rows, acting, note, robot.effort_limits, measured)


def _telling(values: Array, count: int) -> Array:
    """The indices of at most so many values that show them all: extremes of short whiles."""
    if len(values) <= count:
        return np.arange(len(values))
    edges = np.linspace(0, len(values), count // 2 + 1).astype(int)
    found = {0, len(values) - 1}
    for a, b in pairwise(edges.tolist()):
        found |= {a + int(values[a:b].argmin()), a + int(values[a:b].argmax())}
    return np.array(sorted(found))


def _short(value: float) -> float | None:
    return float(f"{value:.7g}") if np.isfinite(value) else None


def _driven(robot: Robot, trajectory: SampledMotion, title: str) -> Recording:
    report = torque_report(robot, trajectory)
    motion = trajectory.t, trajectory.q, trajectory.qd, trajectory.qdd
    note = "; ".join(filter(None, (trajectory.note, *map(str, report.excesses))))
    driven = *motion, report.total, report.acting, note, report.limits
    return Recording(title, *driven, floating=report.floating)


MAX_FRAMES = 60
FRAMES_PER_SECOND = 12
SIZE = (8.0, 4.0)
"""Width and height [inches] at DPI."""
DPI = 80


def film(robot: Robot, recording: Recording, tell: Tell) -> bytes:
    """The content of a GIF that takes as long as the motion, or is quicker if that is long."""
    import matplotlib as mpl  # noqa: PLC0415 (an extra)
    from PIL import Image  # noqa: PLC0415 (comes with matplotlib)

    count = int(np.clip(round(recording.duration * FRAMES_PER_SECOND), 2, MAX_FRAMES))
    times = np.linspace(0.0, recording.duration, count)
    states = [recording.at(float(t), 0.0) for t in times]
    paths = [skeleton(robot, state.q, state.base) for state in states]
    images = []
    with mpl.rc_context(STYLE):
        for k, picture in enumerate(_pictures(robot, recording, paths, times)):
            tell(f"drawing picture {k + 1} of {count}")
            images.append(Image.fromarray(picture).quantize(64))
    stream = BytesIO()
    period = max(20, round(1000 * recording.duration / count))
    images[0].save(
        stream, format="GIF", save_all=True, append_images=images[1:], duration=period, loop=0
    )
    return stream.getvalue()


def skeleton(robot: Robot, q: Array, base: Array | None = None) -> list[Array]:
    """The lines of an arm on the page: from each link to its joints, and to the tool, (k, 3).

    Its base is where it stands, or elsewhere.
    """
    model = robot.model
    here = model if base is None else replace(model, base=base)
    lines = link_lines(here, world_frames(here, coordinates_of(model).positions(q)))
    return [stage(model).on_page(line) for line in lines]


def _pictures(
    robot: Robot, recording: Recording, paths: list[list[Array]], times: Array
) -> Iterator[Array]:
    """The pictures at times since the start, (h, w, 3): a figure whose lines are moved."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: PLC0415 (an extra)
    from matplotlib.figure import Figure  # noqa: PLC0415 (an extra)

    figure = Figure(figsize=SIZE, dpi=DPI, facecolor="white")
    agg: Any = FigureCanvasAgg(figure)
    figure.text(0.03, 0.93, robot.model.title or robot.name, weight="bold", color=INK)
    figure.text(0.03, 0.87, recording.title, color=GREY, fontsize=8)
    axes: Any = figure.add_axes((0.0, 0.0, 0.5, 0.88), projection="3d")
    points = np.concatenate([line for path in paths for line in path])
    centre = 0.5 * (points.min(0) + points.max(0))
    half = 0.55 * float(np.ptp(points, axis=0).max()) or 1.0
    ends = centre[:, None] + half * np.array([-1, 1])
    axes.set(xlim=ends[0], ylim=ends[1], zlim=ends[2])
    axes.set_box_aspect((1, 1, 1))
    axes.view_init(elev=18, azim=-55)
    axes.set_axis_off()
    x, y = np.meshgrid(ends[0], ends[1])
    axes.plot_surface(x, y, np.full_like(x, ends[2, 0]), color=PALE, alpha=0.35)
    look = {"color": "#2260A0", "linewidth": 4, "marker": "o", "markersize": 4}
    links = [axes.plot(*line.T, **look)[0] for line in paths[0]]
    plot = figure.add_axes((0.58, 0.17, 0.39, 0.66))
    plot.set_prop_cycle(color=LINES)
    plot.plot(recording.t, recording.tau, label=robot.joint_names, linewidth=1.3)
    plot.set_xlabel("t [s]")
    plot.set_ylabel("torque [N·m, N]")
    if recording.tau.shape[1] <= 8:
        plot.legend(fontsize=6, frameon=False, ncols=2)
    start = float(recording.t[0])
    cursor = plot.axvline(start, color=INK, linewidth=1.0)
    for t, path in zip(times, paths, strict=True):
        for drawn, line in zip(links, path, strict=True):
            drawn.set_data_3d(*line.T)
        cursor.set_xdata([start + t] * 2)
        agg.draw()
        yield np.asarray(agg.buffer_rgba())[..., :3].copy()
