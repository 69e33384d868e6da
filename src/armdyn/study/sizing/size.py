"""Choose a motor and a gear for each joint from a list.

A rotor adds to the diagonal of the mass matrix alone, so that each joint is chosen by itself, and
trying every motor with every gear finds the best of all choices. Behind a gear of ratio N and
efficiency η, a motor with the inertia J (rotor and gear) gives

    τ_m = τ_e/N + J N q̈        τ_e = τ_load/η where it drives the load, η τ_load where the load does

so that its mean square is a/N² + 2 b J + c J² N² with a, b and c the means of τ_e², τ_e q̈ and q̈².
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from armdyn.arrays import Array, check_number
from armdyn.errors import ModelError, SizingError, check_known, shown
from armdyn.io.csv.trajectory import SampledMotion
from armdyn.model import Joint, Rotor
from armdyn.report.result import DrawnResult, Section, number, parts_of
from armdyn.robot import Robot, check_robot
from armdyn.study.sizing.motor_list import Gear, Motor, MotorList, motor_list
from armdyn.study.sizing.motors import MotorReport, check_own_motors, draw_motors
from armdyn.study.states import Over, motion_of

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
    reflected: Array
    """The same seen from the joint, J N², (K,) [kg m² or kg]."""
    found: Array
    """What the motion asks, by `DEMANDS`, (K, 5)."""
    given: Array
    """What motors and gears can give, (K, 5)."""

    @property
    def use(self) -> Array:
        """What is asked over what can be given, (K, 5)."""
        return self.found / self.given


def candidates(load: Load, pairs: Sequence[tuple[Motor, Gear]]) -> Candidates:
    """What the load asks of every pair, and what they can give."""
    J = np.array([motor.rotor_inertia + gear.inertia for motor, gear in pairs])
    N = np.array([gear.ratio for _, gear in pairs])
    efficiency = np.array([gear.efficiency for _, gear in pairs])
    peak = np.empty(len(pairs))
    square = np.empty(len(pairs))
    for eta in np.unique(efficiency):
        some = efficiency == eta
        behind = load.behind(eta)
        n = N[some]
        j = J[some]
        a, b, c = (load.shares @ x for x in (behind**2, behind * load.qdd, load.qdd**2))
        square[some] = a / n**2 + 2 * b * j + c * (j * n) ** 2
        # one pair after the other, because there may be many of them and of instants
        peak[some] = [np.abs(behind + c * load.qdd).max() for c in j * n**2] / n
    speed = N * np.abs(load.qd).max()
    most = np.full(len(pairs), np.abs(load.torque).max())
    found = np.stack([peak, np.sqrt(np.maximum(square, 0.0)), speed, most, speed], axis=1)
    given = [
        (m.peak_torque, m.rated_torque, m.max_speed, g.peak_torque, g.max_speed) for m, g in pairs
    ]
    return Candidates(pairs, J, J * np.square(N), found, np.array(given).reshape(found.shape))


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """The motor and the gear of one joint, and what the motion asks of them."""

    joint: str
    motor: Motor
    gear: Gear
    inertia: float
    """Of rotor and gear, on the side of the motor [kg m²]."""
    reflected: float
    """The same seen from the joint, J N² [kg m² or kg]."""
    use: Mapping[str, float]
    """What is asked over what can be given, without the margin, by `DEMANDS`."""
    matched_ratio: float
    """The ratio with which this motor would have the least RMS torque, with an ideal gear."""
    power: float
    """Mean of the driven power [W]."""
    speed: Array = field(repr=False)
    """Of the motor, (m,) [rad/s]."""
    torque: Array = field(repr=False)
    """Of the motor, (m,) [N m]."""
    rms: float
    """Of the torque [N m]."""
    fitting: int
    """How many pairs of a motor and a gear fit."""
    tried: int

    @property
    def mass(self) -> float:
        """Of motor and gear [kg]."""
        return self.motor.mass + self.gear.mass

    @property
    def price(self) -> float | None:
        """Of motor and gear; None if the list does not say."""
        return price_of(self.motor, self.gear)


@dataclass(frozen=True, slots=True, eq=False)
class Sizing(DrawnResult):
    """Motors and gears for all joints of a robot."""

    before: Robot = field(repr=False)
    choices: tuple[Choice, ...]
    minimise: str
    margin: float
    motion: SampledMotion = field(repr=False)
    offered: MotorList = field(repr=False)

    @property
    def robot(self) -> Robot:
        """The robot with the rotors, gear ratios and limits of the chosen drives."""
        model = self.before.model
        joints = list(model.joints)
        for i, choice in zip(model.independent, self.choices, strict=True):
            joint = joints[i]
            motor = choice.motor
            gear = choice.gear
            # limits are those of the motor, or of the gear if it gives less
            limits = replace(
                joint.limits,
                velocity=min(motor.max_speed, gear.max_speed) / gear.ratio,
                effort=min(motor.peak_torque * gear.ratio, gear.peak_torque),
                continuous_effort=min(motor.rated_torque * gear.ratio, gear.peak_torque),
            )
            ratio = float(np.copysign(gear.ratio, joint.rotor.gear_ratio))
            joints[i] = replace(joint, rotor=Rotor(choice.inertia, ratio), limits=limits)
        note = f"Motors and gears chosen from {self.offered.name} for the least {self.minimise}."
        return Robot(replace(model, joints=tuple(joints), note=note, letters={}))

    def sections(self) -> tuple[Section, ...]:
        """The table of choices, and all numbers as data."""
        choices, name = self.choices, self.before.model.title or self.before.name
        mass = sum(choice.mass for choice in choices)
        total = f"{mass:.4g} kg of motors and gears"
        lines = (
            f"{total}; each joint by itself, of {choices[0].tried} pairs of {self.offered.name}",
            "used: of peak torque, of rated torque by the RMS, of speed, at most "
            f"{100 / self.margin:.3g} %; matched: the ratio of least RMS torque",
        )
        rows = [
            (
                choice.joint,
                choice.motor.name,
                choice.gear.name,
                *(f"{value:.4g}" for value in (choice.gear.ratio, choice.matched_ratio)),
                *(number(choice.use[what], "%", 3) for what in DEMANDS[:3]),
                *map(number, (choice.reflected, choice.power, choice.mass)),
                *(number(choice.price, digits=6), str(choice.fitting)),
            )
            for choice in choices
        ]
        columns = (
            *("joint", "motor", "gear", "ratio", "matched", "peak used", "RMS used", "speed used"),
            *("J N² [kg m²]", "power [W]", "mass [kg]", "price", "fitting"),
        )
        data = {
            **parts_of(self, "minimise", "margin"),
            "robot": self.before.name,
            "trajectory": self.motion.source,
            "mass": mass,
            "joints": [
                {
                    **parts_of(x, "joint", "matched_ratio", "use", "mass", "price"),
                    **parts_of(x, "fitting", "tried"),
                    "motor": x.motor.name,
                    "gear": x.gear.name,
                    "gear_ratio": x.gear.ratio,
                    "rotor_inertia": x.inertia,
                    "reflected_inertia": x.reflected,
                    "torque": {"peak": np.abs(x.torque).max(), "rms": x.rms},
                    "speed": np.abs(x.speed).max(),
                    "driven_power": x.power,
                }
                for x in choices
            ],
        }
        title = f"{name}: motors and gears of the least {self.minimise}"
        return (Section(title, lines, columns, rows, 3, data),)

    def figure(self) -> Any:
        """The motion inside what each chosen motor can give."""
        choices, name = self.choices, self.before.model.title or self.before.name
        motors = [choice.motor for choice in choices]
        chosen = MotorReport(
            self.before.name,
            name,
            tuple(choice.joint for choice in choices),
            np.array([choice.gear.ratio for choice in choices]),
            tuple(motor.linear for motor in motors),
            self.motion,
            np.stack([choice.torque for choice in choices], axis=1),
            np.stack([choice.speed for choice in choices], axis=1),
            *np.array([(x.peak_torque, x.max_speed, x.rated_torque) for x in motors]).T,
        )
        notes = [f"{x.motor.name}, {x.gear.name} {x.gear.ratio:.4g}" for x in choices]
        told = f"least {self.minimise}, margin {self.margin:g}, from {self.offered.name}"
        return draw_motors(f"{name}: chosen motors and gears", told, chosen, notes)


def price_of(motor: Motor, gear: Gear) -> float | None:
    """The price of a motor and a gear, whose own may be missing; None if that of the motor is."""
    return None if motor.price is None else motor.price + (gear.price or 0.0)


GOALS = ("mass", "price", "power", "inertia")
"""What can be made small: mass and price of motor and gear, mean of the driven power, J N²."""
MARGIN = 1.2
"""Default of how many times what a motion asks for must be there."""
_LIMIT_ROUNDING = 1e-12
"""A demand that exceeds its limit by less, relative to it, does not."""
MOST_JOINTS_TOLD = 4
"""Joints without a motor that an error tells of; of the others it tells the number."""


def size(
    robot: Robot,
    over: Over,
    motors: str | Path | Mapping[str, Any] | MotorList,
    *,
    minimise: Literal["mass", "price", "power", "inertia"] = "mass",
    margin: float = MARGIN,
    friction: bool = True,
) -> Sizing:
    """Choose for each joint the motor and the gear that drive it along a motion.

    Every motor of the list is tried with every gear. The rotors of the robot are replaced; masses
    of motors are not put on its links.

    Args:
        robot: The robot.
        over: A motion with times, as in `armdyn.terms`.
        motors: A TOML file (docs/sizing.md), a mapping with its tables, or a `MotorList`.
        minimise: What is made as small as possible for each joint: "mass" or "price" of motor and
            gear, "power" (the mean of what the motor drives), or "inertia" seen from the joint.
        margin: How many times what the motion asks for must be there, 1 or more.
        friction: Whether joint friction is in the torques.

    Raises:
        SizingError: No pair fits a joint; it says what was asked for and what came closest.
    """
    motion = motion_of(check_robot(robot), over)
    check_own_motors(robot.model)
    if robot.model.spins:
        name = next(joint.name for joint in robot.model.joints if joint.rotor.spins)
        raise ModelError(
            f"the rotor of {name!r} of {robot.name!r} spins, so that a choice for one joint loads "
            f"others too; neglect that with with_rotor({name!r}) and size again"
        )
    check_known("goal of sizing", minimise, GOALS)
    if check_number("margin", margin) < 1:
        raise ModelError(f"margin: expected a number of 1 or more, got {shown(margin)}")
    offered = motor_list(motors)
    without = [motor.name for motor in offered.motors if motor.price is None]
    if minimise == "price" and without:
        raise ModelError(
            f"{offered.name}: the motors {', '.join(without[:5])} have no price, so none can be "
            "the cheapest; give each a price, or minimise another number"
        )
    tau = robot.inverse_dynamics(motion.q, motion.qd, motion.qdd, friction=friction)
    choices, faults = [], []
    for k, joint in enumerate(robot.model.coordinate_joints):
        qdd = motion.qdd[:, k]
        load = Load(tau[:, k] - joint.rotor.reflected * qdd, motion.qd[:, k], qdd, motion.shares)
        tried = candidates(load, offered.pairs(joint.type.turns))
        if choice := _chosen(joint, load, tried, minimise, margin):
            choices.append(choice)
        else:
            faults.append(_fault(joint, load, tried, margin))
    if faults:
        more = len(faults) - MOST_JOINTS_TOLD
        told = "; ".join(faults[:MOST_JOINTS_TOLD]) + (f"; and {more} more" if more > 0 else "")
        raise SizingError(f"no motor of {offered.name} fits with a margin of {margin:g}: {told}")
    return Sizing(robot, tuple(choices), minimise, margin, motion, offered)


def _chosen(
    joint: Joint, load: Load, tried: Candidates, minimise: str, margin: float
) -> Choice | None:
    fits = np.flatnonzero(margin * tried.use.max(axis=1) <= 1 + _LIMIT_ROUNDING).tolist()
    if not fits:
        return None
    pairs = [tried.pairs[k] for k in fits]
    inertia = tried.inertia[fits].tolist()
    mass = [motor.mass + gear.mass for motor, gear in pairs]
    match minimise:
        case "mass":
            cost = mass
        case "price":
            cost = [price_of(motor, gear) or 0.0 for motor, gear in pairs]
        case "power":
            powers = map(load.driven_power, inertia, [gear for _, gear in pairs])
            # without regeneration all pairs drive the same, but for rounding
            cost = [float(f"{power:.6g}") for power in powers]
        case _:
            cost = tried.reflected[fits].tolist()
    # of equal cost the lighter one, then the one with less inertia, then the first of the list
    best = fits[int(np.lexsort(np.array([tried.reflected[fits], mass, cost]))[0])]
    (motor, gear), J = tried.pairs[best], float(tried.inertia[best])
    mean_square = [float(load.shares @ x**2) for x in (load.torque, load.qdd)]
    matched = (mean_square[0] / mean_square[1]) ** 0.25 / J**0.5 if J and mean_square[1] else np.inf
    return Choice(
        joint.name,
        motor,
        gear,
        J,
        float(tried.reflected[best]),
        dict(zip(DEMANDS, tried.use[best].tolist(), strict=True)),
        float(matched),
        load.driven_power(J, gear),
        gear.ratio * load.qd,
        load.motor_torque(J, gear),
        float(tried.found[best, 1]),
        len(fits),
        len(tried.pairs),
    )


def _fault(joint: Joint, load: Load, tried: Candidates, margin: float) -> str:
    if not tried.pairs:
        wanted = "ratios" if joint.type.turns else "leads, or a motor with linear = true"
        how = "turns" if joint.type.turns else "slides"
        return f"{joint.name} {how}, for which the list must have a [[gear]] with {wanted}"
    worst = margin * tried.use.max(axis=1)
    best = int(worst.argmin())
    what = int(tried.use[best].argmax())
    (motor, gear), unit = tried.pairs[best], joint.type.torque_unit
    peak = np.abs(load.torque).max()
    rms = float(np.sqrt(load.shares @ load.torque**2))
    return (
        f"{joint.name} asks for {peak:.4g} {unit}, {rms:.4g} {unit} RMS and "
        f"{np.abs(load.qd).max():.4g} {joint.type.unit}/s, rotor aside, and {motor.name!r} with "
        f"the ratio {gear.ratio:.4g} comes closest: its {DEMANDS[what]} would be "
        f"{tried.found[best, what]:.4g} of {tried.given[best, what]:.4g}, "
        f"{worst[best]:.3g} times too much with the margin"
    )
