"""The worst case: which position, speed and payload ask most of which motor.

The states are those of `armdyn.bounds`, which proves that none is worse. Where torques are not of
its kind, as with screws and stretched springs, states are searched: many that fill the limits
evenly, and from the best of them steps along one coordinate at a time, which become smaller.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from armdyn.arrays import Array, check_number
from armdyn.bounds.certificate import write_certificate
from armdyn.bounds.motors import DEFAULT_GAP, MotorBound, Progress, motor_bounds
from armdyn.bounds.rows import StateLimits
from armdyn.errors import ModelError, require, shown
from armdyn.report.figures import ALARM, COLOURS, INK
from armdyn.report.panels import name_rows, sheet
from armdyn.report.result import DrawnResult, Section, number, parts_of
from armdyn.robot import Robot, check_robot
from armdyn.study.states import largest_rates


@dataclass(frozen=True, slots=True, eq=False)
class HeatMap:
    """Torque over limit of the motor that works hardest, over two joints.

    The other joints are as in the worst case, and every joint moves as in some motor's worst case,
    forwards or backwards. Where no limit is known, torques are relative to the largest found.
    """

    names: tuple[str, str]
    """The joints along x and y, with units."""
    x: Array
    """Positions of the first, (k,)."""
    y: Array
    """Positions of the second, (k,)."""
    use: Array
    """(k, k), rows by y."""
    motor: Array
    """Which motor that is, from 0, (k, k)."""
    worst: tuple[float, float]
    """Where the worst case is."""

    def draw(self, figure: Any, panel: Any) -> None:
        """Draw it in a panel of a figure."""
        look: Any = {"vmin": 0, "vmax": 100 * max(1.0, float(self.use.max())), "cmap": "cividis"}
        drawn = panel.pcolormesh(self.x, self.y, 100 * self.use, rasterized=True, **look)
        panel.contour(self.x, self.y, self.use, levels=[1.0], colors=[ALARM], linewidths=1.4)
        panel.plot(*self.worst, marker="o", color="white", markeredgecolor=INK, markersize=8)
        panel.set(xlabel=self.names[0], ylabel=self.names[1])
        figure.colorbar(drawn, ax=panel, label="the motor that works hardest [%]")


@dataclass(frozen=True, slots=True, eq=False)
class Demand:
    """The state that asks most of the motor of one joint."""

    joint: str
    unit: str
    """Of its torque."""
    torque: float
    """What the motor gives there [N m or N]."""
    limit: float
    """What it can give; infinite if that is not known."""
    q: Array
    """Positions of all joints, (n,) [rad or m]."""
    qd: Array
    qdd: Array
    lift: float
    """What is lifted there beside what the robot holds [kg]."""
    payload: float
    """What is held there, both together [kg]."""
    breaking_payload: float
    """The lightest that both together are where the motor is at its limit in this motion [kg];
    infinite if it never is, what the robot holds if it is beyond the limit without any lift."""
    bound: MotorBound
    """What is proved of the motor over all states."""

    @property
    def use(self) -> float:
        """Torque over limit; 0 where there is no limit."""
        return abs(self.torque) / self.limit

    @property
    def margin(self) -> float:
        """What is left, in percent of the limit; negative: the motor breaks; nan: no limit."""
        return 100 * (1 - self.use) if np.isfinite(self.limit) else float("nan")

    @property
    def breaks(self) -> bool:
        """Whether the motor cannot give what is asked."""
        return self.use > 1

    def __str__(self) -> str:
        asked = f"{self.joint} needs {abs(self.torque):.4g} {self.unit}"
        if not np.isfinite(self.limit):
            return f"{asked}; the limit of its motor is not known"
        left = (
            f"{self.margin:.3g} % are left" if not self.breaks else f"{-self.margin:.3g} % missing"
        )
        return f"{asked} of {self.limit:.4g}: {left}"


@dataclass(frozen=True, slots=True, eq=False)
class WorstCase(DrawnResult):
    """The worst states of a robot, motor by motor."""

    robot: Robot = field(repr=False)
    demands: tuple[Demand, ...]
    """One a coordinate, in their order."""
    payload: float
    """What the robot holds [kg]."""
    lift: float
    """The heaviest mass that was lifted beside it [kg]."""
    speed: float
    """The share of the velocity limits that was allowed."""
    acceleration: Array
    """The largest accelerations that were allowed, (n,) [rad/s² or m/s²]."""
    map: HeatMap
    states: int
    """How many states were evaluated, beside those of proofs."""
    unproved: str = ""
    """Why nothing is proved."""

    @property
    def proved(self) -> bool:
        """Whether every motor has a bound that holds for every state."""
        return all(np.isfinite(demand.bound.upper) for demand in self.demands)

    @property
    def verdict(self) -> str:
        """What is known of all other states."""
        if not self.proved:
            reason = self.unproved or "prove=True (--prove) proves it"
            return f"the largest found; that there is none worse is not proved: {reason}"
        most = 100 * max(demand.bound.gap for demand in self.demands)
        return f"proved for every state: no motor needs more than {most:.3g} % more than this"

    @property
    def worst(self) -> Demand:
        """The demand on the motor that has least left; without limits, the largest torque."""
        return max(self.demands, key=lambda demand: (demand.use, abs(demand.torque)))

    @property
    def broken(self) -> tuple[Demand, ...]:
        """The demands that motors cannot meet."""
        return tuple(demand for demand in self.demands if demand.breaks)

    def certify(self, folder: str | Path) -> None:
        """Write the certificate of each motor to JOINT.bound, and check.c, which checks them."""
        for demand in self.demands:
            write_certificate(Path(folder) / f"{demand.joint}.bound", demand.bound)

    def sections(self) -> tuple[Section, ...]:
        """The table of motors, and all numbers as data."""
        title = f"{self.robot.model.title or self.robot.name}: the worst case of each motor"
        allowed = f"{100 * self.speed:.3g} % of the velocity limits"
        masses = f"{self.payload:g} kg held, up to {self.lift:g} kg lifted beside"
        lines = (
            f"over all positions within the limits, {allowed}, "
            f"accelerations up to {self.acceleration.max():g}, {masses}",
            str(self.worst),
            self.verdict,
        )
        rows = [
            (
                demand.joint,
                f"{demand.torque:.4g} {demand.unit}",
                *(number(demand.limit), number(demand.margin / 100, "%", 3)),
                *(number(x, digits=3) for x in (demand.payload, demand.breaking_payload)),
                *(" ".join(f"{x:.3g}" for x in values) for values in (demand.q, demand.qd)),
            )
            for demand in self.demands
        ]
        columns = ("joint", "torque", "limit", "margin", "held [kg]", "breaks at [kg]", "q", "qd")
        names = ["joint", "torque", "limit", "use", "lift", "payload", "breaking_payload"]
        names += ["q", "qd", "qdd"]
        data = {
            **parts_of(self, "payload", "lift", "speed", "acceleration", "states"),
            "robot": self.robot.name,
            "worst": self.worst.joint,
            "joints": [parts_of(x, *names) | {"margin_percent": x.margin} for x in self.demands],
            "motors": [
                {"joint": x.joint, **parts_of(x.bound, "lower", "upper", "gap", "boxes", "power")}
                | {"state": parts_of(x, "q", "qd", "qdd", "lift")}
                for x in self.demands
            ],
        }
        return (Section(title, lines, columns, rows, 1, data),)

    def figure(self) -> Any:
        """The use of each motor, a bar each, and the map."""
        title = f"{self.robot.model.title or self.robot.name}: worst case"
        figure = sheet(11.0, 4.8, title, str(self.worst), 0.03)
        names, uses = zip(*((demand.joint, demand.use) for demand in self.demands), strict=True)
        room = 0.04 + 0.0075 * min(max(map(len, names)), 24)
        left = figure.add_axes((room, 0.12, 0.46 - room, 0.68))
        colours = [ALARM if use > 1 else COLOURS["inertial"] for use in uses]
        left.barh(range(len(uses)), [100 * use for use in uses], color=colours, height=0.6)
        name_rows(left, names)
        left.axvline(100, color=INK, linewidth=1.0)
        known = any(use > 0 for use in uses)
        left.set_xlabel(
            "of what the motor can give [%]" if known else "no limits of motors are known"
        )
        self.map.draw(figure, figure.add_axes((0.55, 0.12, 0.36, 0.68)))
        return figure


MAP_CELLS = 41


def worst_case(
    robot: Robot,
    *,
    payload: float = 0.0,
    lift: float = 0.0,
    speed: float = 1.0,
    acceleration: ArrayLike = 0.0,
    friction: bool = True,
    prove: bool | None = None,
    gap: float = DEFAULT_GAP,
    progress: Progress | None = None,
) -> WorstCase:
    """Find the state that asks most of each motor, over all that the limits allow.

    Velocities without a limit end at 2 rad/s, and where joints only slide at 0.5 m/s. The search is
    deterministic; each result is the torque of the state it names, so that it is reached. With a
    proof, no state within the limits asks for more than `upper`, see docs/bounds.md.

    Args:
        robot: The robot.
        payload: A point mass that the tool holds throughout [kg].
        lift: The heaviest point mass that it may lift beside what the robot holds [kg].
        speed: The share of the velocity limits that is allowed, 0 to 1; 0: poses at rest.
        acceleration: The largest accelerations, one number or (n,) [rad/s² or m/s²].
        friction: Whether joint friction is in the torques.
        prove: Whether to prove that no state is worse; None: where that takes few tenths of a
            second a motor. Ctrl-C makes do with larger gaps.
        gap: How far above the largest torque that is reached a bound may be, relative to it.
        progress: Called with the number of motors that are done, and of all.

    Example:
        >>> print(worst_case(load("panda"), lift=3.0).worst)  # doctest: +SKIP
    """
    for what, mass in (("payload", payload), ("lift", lift)):
        require(check_number(what, mass) >= 0, what, "a mass of 0 or more [kg]", mass, ModelError)
    robot = check_robot(robot).with_payload(payload) if payload else check_robot(robot)
    model = robot.model
    if not 0 <= check_number("speed", speed) <= 1:
        raise ModelError(f"speed: expected a share from 0 to 1, got {shown(speed)}")
    bends = largest_rates("acceleration", acceleration, np.zeros(robot.n))
    if model.loops:
        raise ModelError(
            f"{robot.name!r} has loops, whose limits do not say which positions can be reached; "
            "sweep over positions of yours instead"
        )
    require(0 < check_number("gap", gap) < 1, "gap", "more than 0 and less than 1", gap, ModelError)
    search = _Search(robot, float(lift), speed, bends, friction)
    bounds, reason = motor_bounds(
        robot, search.box, search.lifts, friction=friction, prove=prove, gap=gap, progress=progress
    )
    demands = tuple(map(search.demand, range(robot.n), bounds))
    heat = search.map(demands)
    masses = model.payload_mass, float(lift)
    return WorstCase(robot, demands, *masses, float(speed), bends, heat, search.states, reason)


class _Search:
    """What states ask of the motors, and the limits of all states."""

    def __init__(self, robot: Robot, lift: float, speed: float, bends: Array, friction: bool):
        model = robot.model
        joints = model.coordinate_joints
        limits, ordinary = robot.velocity_limits, [joint.type.speed for joint in joints]
        rates = speed * np.where(np.isfinite(limits), limits, ordinary)
        self.robot, self.joints = robot, joints
        self.states = 0
        self.box = StateLimits(model.ranges[:, 0], model.ranges[:, 1], rates, bends)
        self.limits = robot.effort_limits
        self.lifts = np.unique([0.0, lift]).tolist()
        self._held = np.array([robot.payload_vector(mass) for mass in self.lifts])
        self._kernel = robot.kernel("inverse_dynamics", payload=True, friction=friction)

    def demand(self, i: int, bound: MotorBound) -> Demand:
        """What the worst state asks of motor i."""
        q, qd, qdd, lift = bound.q, bound.qd, bound.qdd, self.lifts[bound.lift]
        self.states += bound.states
        torque = float(self._kernel(q, qd, qdd, self._held[bound.lift])[i])
        joint, limit = self.joints[i], float(self.limits[i])
        one = np.array([self.robot.payload_vector(mass) for mass in (0.0, 1.0)])
        empty, with_one = self._kernel(q, qd, qdd, one)[:, i]
        held = self.robot.model.payload_mass
        # the lightest mass m with |empty + slope m| = limit
        slope, breaking = float(with_one - empty), 0.0
        if abs(empty) < limit:
            breaking = (limit - np.sign(slope) * empty) / abs(slope) if slope else np.inf
        return Demand(
            joint.name, joint.type.torque_unit, torque, limit, q, qd, qdd,
            lift, held + lift, held + float(breaking), bound,
        )  # fmt: skip

    def map(self, demands: tuple[Demand, ...]) -> HeatMap:
        """The map over the two joints on which the worst case depends most."""
        worst = max(demands, key=lambda demand: (demand.use, abs(demand.torque)))
        n, cells = len(demands), MAP_CELLS
        scale = self.limits
        if np.isinf(scale).all():
            scale = np.full(n, max(abs(demand.torque) for demand in demands) or 1.0)
        rates = np.array([s * demand.qd for demand in demands for s in (1.0, -1.0)])
        bends = np.array([s * demand.qdd for demand in demands for s in (1.0, -1.0)])

        def uses(q: Array) -> Array:
            """(m, n) of positions (m, n)."""
            self.states += len(q) * len(rates) * len(self._held)
            held = self._held[:, None, None, :]
            tau = self._kernel(q[:, None], rates, bends, held)
            return np.asarray(np.abs(np.nan_to_num(tau)).max(axis=(0, 2)) / scale)

        low, high = self.box.low, self.box.high
        sways = []
        for j in range(n):
            q = np.repeat(worst.q[None], cells, axis=0)
            q[:, j] = np.linspace(low[j], high[j], cells)
            sways.append(float(np.ptp(uses(q).max(axis=1))))
        most = np.argsort(-np.array(sways), kind="stable")
        a, b = sorted(np.resize(most, 2).tolist())  # a single joint twice
        x, y = (np.linspace(low[k], high[k], cells) for k in (a, b))
        q = np.repeat(worst.q[None], cells * cells, axis=0)
        q[:, a], q[:, b] = np.tile(x, cells), np.repeat(y, cells)
        found = uses(q).reshape(cells, cells, n)
        one, two = (f"{self.joints[k].name} [{self.joints[k].type.unit}]" for k in (a, b))
        at = float(worst.q[a]), float(worst.q[b])
        return HeatMap((one, two), x, y, found.max(axis=-1), found.argmax(axis=-1), at)
