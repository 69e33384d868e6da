"""What a motion asks of the motors: torque, speed, power and duty behind the gears.

A gear of ratio N without losses makes the speed N q̇ and the torque τ/N. As τ is what the actuator
gives, rotor and friction included,

    τ/N = (τ_load + N² J q̈)/N = τ_load/N + J (N q̈)

is the load behind the gear and what accelerates the rotor of inertia J. A motor whose joint others
follow carries them and their rotors too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from armdyn.arrays import Array, check_constant, frozen
from armdyn.errors import ModelError
from armdyn.io.csv.table import numbered_columns
from armdyn.io.csv.trajectory import SampledMotion
from armdyn.model import RobotModel
from armdyn.report.figures import COLOURS, GREY, INK, PALE, POINTS, panel_grid
from armdyn.report.panels import handle_row, panel_title, sheet
from armdyn.report.result import DrawnResult, Section, number
from armdyn.robot import Robot, check_robot
from armdyn.study.states import Over, motion_of

PEAK, RATED, CLOUD, OVER = "#E69F00", "#009E73", COLOURS["inertial"], COLOURS["coulomb"]
_LIMIT_SHOWN = 4.0
"""A limit farther than so many times the motion is told in words and not drawn."""


def draw_motors(title: str, subtitle: str, motors: MotorReport, notes: Sequence[str]) -> Any:
    """The figure of all motors, a panel each with a note."""
    n = len(notes)
    columns = min(n, 3 if n != 4 else 2)
    height = 1.5 + 2.7 * -(-n // columns)
    width = max(3.7 * columns + 0.4, 6.0)
    figure = sheet(width, height, title, subtitle, 0.75 / width, 0.25)
    room = {"left": 0.75 / width, "right": 1 - 0.2 / width, "hspace": 0.48, "wspace": 0.3}
    room |= {"top": 1 - 1.25 / height, "bottom": 0.5 / height}
    for i, place in enumerate(panel_grid(figure, n, columns, room)):
        _draw(place, motors, i)
        panel_title(place, motors.joints[i], notes[i])
    from matplotlib.lines import Line2D  # noqa: PLC0415 (an extra)
    from matplotlib.patches import Patch  # noqa: PLC0415 (an extra)

    handles = [
        Line2D([], [], color=CLOUD, linewidth=1.2, label="motion"),
        Line2D([], [], color=INK, linestyle=":", linewidth=1.2, label="RMS torque"),
        Patch(facecolor=RATED, alpha=0.25, label="continuous"),
        Patch(facecolor="none", edgecolor=PEAK, linewidth=1.4, label="limit"),
    ]
    handle_row(figure, 0.75 / width, 0.78, handles)
    return figure


def _draw(place: Any, motors: MotorReport, i: int) -> None:
    """Four quadrants: the motor drives in the first and third, and is driven in the others."""
    speeds, torques = motors.speed[:, i], motors.torque[:, i]
    reach = np.array([np.abs(speeds).max(), np.abs(torques).max()])
    reach = np.where(reach > 0, reach, 1.0)
    limits = np.array([motors.speed_limit[i], motors.torque_limit[i]])
    seen = limits <= _LIMIT_SHOWN * reach
    ends = 1.1 * np.where(seen, np.maximum(limits, reach), reach)
    # a limit that is not drawn lies beyond the panel
    speed, torque = np.where(seen, limits, 3 * ends)
    for line in (place.axhline, place.axvline):
        line(0.0, color=PALE, linewidth=0.8, zorder=0)
    rated = min(motors.rating[i], torque)
    if rated < min(limits[1], 3 * ends[1]):
        place.fill_between([-speed, speed], -rated, rated, color=RATED, alpha=0.13, linewidth=0)
    box = speed * np.array([-1, 1, 1, -1, -1]), torque * np.array([-1, -1, 1, 1, -1])
    place.plot(*box, color=PEAK, linewidth=1.4, zorder=1)
    step = max(len(speeds) // (4 * POINTS), 1)
    place.plot(speeds[::step], torques[::step], color=CLOUD, linewidth=1.1, zorder=2)
    over = (np.abs(speeds) > limits[0]) | (np.abs(torques) > limits[1])
    place.plot(speeds[over], torques[over], ".", color=OVER, markersize=3, zorder=3)
    for sign in (-1, 1):
        place.axhline(sign * motors.rms[i], color=INK, linestyle=":", linewidth=1.0, zorder=1)
    peak = int(np.abs(torques).argmax())
    place.plot(speeds[peak], torques[peak], "o", color=INK, markersize=4, zorder=4)
    place.set(xlim=(-ends[0], ends[0]), ylim=(-ends[1], ends[1]))
    torque_unit, speed_unit = motors.units(i)
    far = [
        f"limit of {what} {limits[k]:.3g} {unit}" if limits[k] < np.inf else f"no limit of {what}"
        for k, (what, unit) in enumerate((("speed", speed_unit), ("torque", torque_unit)))
        if not seen[k]
    ]
    place.text(
        0.98, 0.07, "\n".join(far), transform=place.transAxes, fontsize=7, color=GREY, ha="right",
        va="bottom", backgroundcolor="#FFFFFFA0",
    )  # fmt: skip
    place.set_xlabel(f"speed [{speed_unit}]", fontsize=8)
    place.set_ylabel(f"torque [{torque_unit}]" if torque_unit != "N" else "force [N]", fontsize=8)
    place.locator_params(nbins=5)


@dataclass(frozen=True, slots=True, eq=False)
class MotorReport(DrawnResult):
    """The motors of n joints along a motion of m instants."""

    robot: Robot
    ratio: Array
    """Gear ratios, (n,) [rad/rad, or rad/m for a joint that slides]."""
    linear: tuple[bool, ...]
    """Which motors are linear ones: those with the ratio 1 on a joint that slides."""
    motion: SampledMotion = field(repr=False)
    torque: Array = field(repr=False)
    """(m, n) [N m; N for a linear motor]."""
    speed: Array = field(repr=False)
    """(m, n) [rad/s; m/s for a linear motor]."""
    torque_limit: Array = field(repr=False)
    """(n,); infinite where the robot says nothing."""
    speed_limit: Array = field(repr=False)
    rating: Array = field(repr=False)
    """What each motor gives for ever, (n,): its continuous rating, or else its torque limit."""

    @property
    def joints(self) -> tuple[str, ...]:
        """Names of the joints that the motors drive."""
        return self.robot.joint_names

    @property
    def power(self) -> Array:
        """Mechanical power of each motor, (m, n) [W]; negative where the arm drives it."""
        return self.torque * self.speed

    @property
    def rms(self) -> Array:
        """Root of the mean square torque over time, (n,)."""
        return np.asarray(np.sqrt(self.motion.shares @ self.torque**2))

    @property
    def duty(self) -> Array:
        """RMS torque over the rating, (n,); 0 where there is no rating."""
        return self.rms / self.rating

    @property
    def beyond(self) -> Array:
        """Share of the time in which the torque exceeds the rating, (n,)."""
        return np.asarray(self.motion.shares @ (np.abs(self.torque) > self.rating))

    @property
    def excesses(self) -> tuple[str, ...]:
        """Where a motor leaves its limits or its rating, in words."""
        torques = np.abs(self.torque).max(axis=0)
        speeds = np.abs(self.speed).max(axis=0)
        return tuple(
            f"the motor of {joint} needs {what} of {found[i]:.4g} {self.units(i)[unit]}, more than "
            f"its {limit[i]:.4g}"
            for i, joint in enumerate(self.joints)
            for what, found, limit, unit in (
                ("a torque", torques, self.torque_limit, 0),
                ("a speed", speeds, self.speed_limit, 1),
                ("an RMS torque", self.rms, self.rating, 0),
            )
            if found[i] > limit[i]
        )

    def units(self, i: int) -> tuple[str, str]:
        """The units of torque and speed of a motor."""
        return ("N", "m/s") if self.linear[i] else ("N·m", "rad/s")

    def columns(self) -> dict[str, Array]:
        """The columns motor_tau1..n, motor_speed1..n and motor_power1..n."""
        groups = {"tau": self.torque, "speed": self.speed, "power": self.power}
        return numbered_columns({f"motor_{name}": values for name, values in groups.items()})

    def sections(self) -> tuple[Section, ...]:
        """The table of motors, and "motors" and "excesses" as data."""
        motors = [self._motor(i) for i in range(len(self.joints))]
        rows = [
            (
                motor["joint"],
                ", ".join(motor["units"]),
                f"{motor['gear_ratio']:.5g}",
                *(number(motor["torque"][key]) for key in ("peak", "rms", "limit")),
                *(number(motor["speed"][key]) for key in ("peak", "limit")),
                *(number(motor["power"][key]) for key in ("peak", "mean", "regenerated_mean")),
                *(number(motor["duty"][key], "%", 3) for key in ("rms_share", "time_beyond")),
            )
            for motor in motors
        ]
        lines = (
            *(f"warning: {excess}" for excess in self.excesses),
            "power: mechanical, mean of what is driven less what is regenerated",
            "duty: RMS torque over the continuous rating, or over the limit where there is none; "
            "beyond: share of the time above it",
        )
        columns = (
            *("joint", "", "ratio", "torque peak", "RMS", "limit", "speed peak", "limit"),
            *("power peak [W]", "mean", "regenerated", "duty", "beyond"),
        )
        data = {"motors": motors, "excesses": self.excesses}
        return (Section("Motors", lines, columns, rows, 2, data),)

    def _motor(self, i: int) -> dict[str, Any]:
        """A motor as plain data; None where the robot says nothing."""
        torque, speed, power = (x[:, i] for x in (self.torque, self.speed, self.power))
        shares, peak = self.motion.shares, int(np.abs(torque).argmax())
        most, fastest, rating = map(
            _known, (self.torque_limit[i], self.speed_limit[i], self.rating[i])
        )
        duty = (None, None) if rating is None else (self.duty[i], self.beyond[i])
        return {
            "joint": self.joints[i],
            "gear_ratio": self.ratio[i],
            "units": self.units(i),
            "torque": {
                "peak": torque[peak],
                "peak_time": self.motion.t[peak],
                "rms": self.rms[i],
                "limit": most,
            },
            "speed": {"peak": np.abs(speed).max(), "limit": fastest},
            "power": {
                "peak": power.max(initial=0.0),
                "regenerated_peak": -power.min(initial=0.0),
                "mean": shares @ power,
                "driven_mean": shares @ np.maximum(power, 0.0),
                "regenerated_mean": shares @ np.maximum(-power, 0.0),
            },
            "duty": {"rating": rating, "rms_share": duty[0], "time_beyond": duty[1]},
        }

    def figure(self) -> Any:
        """Torque over speed, with the limits of each motor."""
        name = self.robot.model.title or self.robot.name
        title = f"{name}: torque over speed of each motor"
        t, source = self.motion.t, Path(self.motion.source).name
        subtitle = f"along {source + ', ' if source else ''}{t[-1] - t[0]:.4g} s"
        notes = [f"ratio {ratio:.4g}" for ratio in self.ratio]
        return draw_motors(title, subtitle, self, notes)


def motors(
    robot: Robot, over: Over, *, friction: bool = True, torque: Array | None = None
) -> MotorReport:
    """What a motion asks of the motor of each joint, with its gear ratio, rotor and limits.

    Args:
        robot: The robot. Limits of effort and speed and continuous efforts of its joints are those
            of its motors divided or multiplied by the gear ratio; a limit of 0 is one not known.
        over: A motion with times, as in `armdyn.terms`.
        friction: Whether joint friction is in the torques.
        torque: Torques of the joints where more than the motion acts, (m, n) [N m or N].
    """
    motion = motion_of(check_robot(robot), over)
    check_own_motors(robot.model)
    moving = robot.model.coordinate_joints
    state = motion.q, motion.qd, motion.qdd
    tau = robot.inverse_dynamics(*state, friction=friction)
    tau = tau if torque is None else check_constant("torque", torque, tau.shape)
    N = np.array([joint.rotor.gear_ratio for joint in moving])
    for joint in moving:
        if not joint.rotor.gear_ratio:
            raise ModelError(
                f"joint {joint.name!r} has the gear ratio 0, with which no motor moves it; give "
                "the turns of the motor for one of the joint"
            )
    # a file that knows no limit may say 0
    limits = [[x or np.inf for x in astuple(joint.limits)[2:]] for joint in moving]
    velocity, effort, continuous = np.array(limits).T
    return MotorReport(
        robot,
        frozen(N),
        tuple(not joint.type.turns and joint.rotor.gear_ratio == 1 for joint in moving),
        motion,
        tau / N,
        motion.qd * N,
        effort / abs(N),
        velocity * abs(N),
        np.where(np.isfinite(continuous), continuous, effort) / abs(N),
    )


def check_own_motors(model: RobotModel) -> None:
    """Refuse a robot whose joints share motors."""
    if model.drives:
        names = ", ".join(drive.name for drive in model.drives)
        raise ModelError(
            f"robot {model.name!r} has drives that turn with several joints ({names}), so that a "
            "joint has no motor of its own; take the drives away: with_drives([])"
        )


def _known(limit: float) -> float | None:
    return float(limit) if np.isfinite(limit) else None
