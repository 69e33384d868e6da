"""Choose a motor and a gear for each joint from a list in a TOML file.

A rotor adds to the diagonal of the mass matrix alone, so that each joint is chosen by itself, and
trying every motor with every gear finds the best of all choices. Behind a gear of ratio N and
efficiency η, a motor with the inertia J (rotor and gear) gives

    τ_m = τ_e/N + J N q̈        τ_e = τ_load/η where it drives the load, η τ_load where the load does
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np

from armdyn.arrays import Array, check_number
from armdyn.errors import ModelError, SizingError, check_known, shown
from armdyn.forks import cached_property
from armdyn.io.csv.trajectory import SampledMotion
from armdyn.io.regular import check_path
from armdyn.io.toml.read import Table, parsed_toml
from armdyn.model import Joint, Rotor
from armdyn.report.result import DrawnResult, Section, number, parts_of
from armdyn.robot import Robot, check_robot
from armdyn.study.sizing.motors import MotorReport, check_own_motors, draw_motors
from armdyn.study.states import Over, motion_of

_MOTOR = ("rotor_inertia", "rated_torque", "peak_torque", "max_speed", "mass")
_GEAR = ("inertia", "mass", "peak_torque", "max_speed")
_MAY_BE_ZERO = ("rotor_inertia", "inertia", "mass", "price")


@dataclass(frozen=True, slots=True)
class Motor:
    """A motor of a list; a linear one has N, m/s and kg for N m, rad/s and kg m²."""

    name: str
    rotor_inertia: float
    """[kg m²]."""
    rated_torque: float
    """What it gives for ever, as a root mean square [N m]."""
    peak_torque: float
    """[N m]."""
    max_speed: float
    """[rad/s]."""
    mass: float
    """[kg]."""
    price: float | None = None
    linear: bool = False
    source: str = ""


@dataclass(frozen=True, slots=True)
class Gear:
    """A gear of one ratio, for joints that turn, or a screw for joints that slide."""

    name: str
    ratio: float
    """Turns of the motor for one of the joint; of a screw: radians for a metre."""
    screw: bool = False
    efficiency: float = 1.0
    inertia: float = 0.0
    """On the side of the motor [kg m²]."""
    mass: float = 0.0
    """[kg]."""
    peak_torque: float = math.inf
    """The largest load on the side of the joint [N m or N]."""
    max_speed: float = math.inf
    """On the side of the motor [rad/s]."""
    price: float | None = None
    source: str = ""


DIRECT = Gear("direct", 1.0)
"""No gear."""


@dataclass(frozen=True, slots=True)
class MotorList:
    """Motors and gears to choose from; without gears, motors drive joints that turn directly."""

    motors: tuple[Motor, ...]
    gears: tuple[Gear, ...] = ()
    name: str = "the list"

    def pairs(self, turns: bool) -> list[tuple[Motor, Gear]]:
        """Every motor with every gear that can drive a joint that turns, or one that slides."""
        rotary = [motor for motor in self.motors if not motor.linear]
        gears = [g for g in self.gears if g.screw != turns]
        if turns and not self.gears:
            gears = [DIRECT]
        pairs = [(motor, gear) for gear in gears for motor in rotary]
        return pairs if turns else [*pairs, *((m, DIRECT) for m in self.motors if m.linear)]


def motor_list(source: str | Path | Mapping[str, Any] | MotorList) -> MotorList:
    """The motors and gears of a TOML file, or of a mapping with its tables.

    docs/sizing.md describes every key.

    Raises:
        TomlError: A file with something missing, misspelt or impossible.
    """
    if isinstance(source, MotorList):
        if not source.motors:
            raise ModelError("the list has no motor to choose from")
        return source
    if isinstance(source, Mapping):
        top = Table(source, "", Path("the list of motors"))
    elif isinstance(source, str | Path):
        path = check_path(source)
        top = Table(parsed_toml(path), "", path)
    else:
        raise ModelError(
            f"motors: expected a TOML file, a mapping or a MotorList, got {shown(source)}"
        )
    top.check_keys(("motor", "gear", "source"))
    motors = tuple(_motor(t) for t in top.tables("motor"))
    if not motors:
        raise top.error("there is no [[motor]] to choose from in this list; add at least one")
    if twice := [name for name, count in Counter(m.name for m in motors).items() if count > 1]:
        raise top.error(f"two motors are named {twice[0]!r}; give each its own name")
    gears = tuple(gear for t in top.tables("gear") for gear in _gears(t))
    return MotorList(motors, gears, top.file.name)


def _motor(t: Table) -> Motor:
    t.check_keys(("name", *_MOTOR, "price", "linear", "source"))
    motor = Motor(t.text("name"), linear=t.flag("linear"), **_common(t, _MOTOR, _MOTOR))
    if motor.peak_torque < motor.rated_torque:
        raise t.error(
            f"the peak torque {motor.peak_torque:g} is below the rated torque "
            f"{motor.rated_torque:g}"
        )
    return motor


def _gears(t: Table) -> list[Gear]:
    t.check_keys(("name", "ratios", "leads", "efficiency", *_GEAR, "price", "source"))
    if ("ratios" in t.data) == ("leads" in t.data):
        raise t.error(
            "give ratios (turns of the motor for one of the joint), or leads (metres for a turn "
            "of the motor, of a screw for joints that slide)"
        )
    screw = "leads" in t.data
    key = "leads" if screw else "ratios"
    given = t.data[key] if isinstance(t.data[key], list) else [t.data[key]]
    if not given:
        raise t.error(f"{key}: expected at least one number, got []")
    values = Table({key: given}, t.where, t.file).array(key, (len(given),)).tolist()
    ratios = [2 * math.pi / x if screw else x for x in (_signed(t, key, x) for x in values)]
    efficiency = t.number("efficiency", 1.0)
    if not 0 < efficiency <= 1:
        raise t.error(f"efficiency: expected above 0 and up to 1, got {efficiency:g}")
    name, facts = t.text("name", "") or ("screw" if screw else "gear"), _common(t, _GEAR)
    return [Gear(name, ratio, screw, efficiency, **facts) for ratio in ratios]


def _common(t: Table, numbers: Iterable[str], required: Iterable[str] = ()) -> dict[str, Any]:
    """The numbers of a table that are required or there, a price among them, and its source."""
    there = [key for key in (*numbers, "price") if key in t.data or key in required]
    return {"source": t.text("source", "")} | {k: _signed(t, k, t.number(k)) for k in there}


def _signed(t: Table, key: str, value: float) -> float:
    """A number of a table, or an error where it has the wrong sign."""
    zero = key in _MAY_BE_ZERO
    if value < 0 or (value == 0 and not zero):
        wanted = "a number that is not negative" if zero else "a positive number"
        raise t.error(f"{key}: expected {wanted}, got {value:g}")
    return value


DEMANDS = ("peak torque", "RMS torque", "speed", "load on the gear", "speed of the gear")
"""What a motion asks of a motor and of its gear."""


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


@dataclass(frozen=True, eq=False)
class Choice:
    """A motor and a gear for one joint, and what the motion asks of them."""

    joint: str
    load: Load = field(repr=False)
    motor: Motor
    gear: Gear
    fitting: int = 0
    """How many pairs of a motor and a gear fit."""
    tried: int = 0

    @property
    def inertia(self) -> float:
        """Of rotor and gear, on the side of the motor [kg m²]."""
        return self.motor.rotor_inertia + self.gear.inertia

    @property
    def reflected(self) -> float:
        """The same seen from the joint, J N² [kg m² or kg]."""
        return self.inertia * self.gear.ratio**2

    @property
    def mass(self) -> float:
        """Of motor and gear [kg]."""
        return self.motor.mass + self.gear.mass

    @property
    def price(self) -> float | None:
        """Of motor and gear, whose own may be missing; None if that of the motor is."""
        return None if self.motor.price is None else self.motor.price + (self.gear.price or 0.0)

    @property
    def torque(self) -> Array:
        """Of the motor, (m,) [N m]."""
        return self.load.motor_torque(self.inertia, self.gear)

    @property
    def speed(self) -> Array:
        """Of the motor, (m,) [rad/s]."""
        return self.gear.ratio * self.load.qd

    @property
    def power(self) -> float:
        """Mean of the driven power [W]."""
        return float(self.load.shares @ np.maximum(self.torque * self.speed, 0.0))

    @property
    def matched_ratio(self) -> float:
        """The ratio with which this motor would have the least RMS torque, with an ideal gear."""
        torque, bend = (float(self.load.shares @ x**2) for x in (self.load.torque, self.load.qdd))
        return (torque / bend) ** 0.25 / self.inertia**0.5 if self.inertia and bend else np.inf

    @cached_property
    def demands(self) -> Mapping[str, tuple[float, float]]:
        """What is asked, and what can be given, by `DEMANDS`."""
        torque, motor, gear = self.torque, self.motor, self.gear
        speed = float(np.abs(self.speed).max())
        rms = float(self.load.shares @ torque**2) ** 0.5
        pairs = (
            (float(np.abs(torque).max()), motor.peak_torque),
            (rms, motor.rated_torque),
            (speed, motor.max_speed),
            (float(np.abs(self.load.torque).max()), gear.peak_torque),
            (speed, gear.max_speed),
        )
        return dict(zip(DEMANDS, pairs, strict=True))

    @property
    def rms(self) -> float:
        """Of the torque [N m]."""
        return self.demands["RMS torque"][0]

    @property
    def use(self) -> Mapping[str, float]:
        """What is asked over what can be given, without the margin, by `DEMANDS`."""
        return {what: asked / given for what, (asked, given) in self.demands.items()}


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
            self.before,
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
        tried = [Choice(joint.name, load, *x) for x in offered.pairs(joint.type.turns)]
        fits = [x for x in tried if margin * max(x.use.values()) <= 1 + _LIMIT_ROUNDING]
        if fits:
            best = min(fits, key=partial(_cost, minimise))
            choices.append(replace(best, fitting=len(fits), tried=len(tried)))
        else:
            faults.append(_fault(joint, load, tried, margin))
    if faults:
        more = len(faults) - MOST_JOINTS_TOLD
        told = "; ".join(faults[:MOST_JOINTS_TOLD]) + (f"; and {more} more" if more > 0 else "")
        raise SizingError(f"no motor of {offered.name} fits with a margin of {margin:g}: {told}")
    return Sizing(robot, tuple(choices), minimise, margin, motion, offered)


def _cost(goal: str, choice: Choice) -> tuple[float, float, float]:
    """What is minimised; of equal cost the lighter one, then the one with less inertia."""
    # without regeneration all pairs drive the same power, but for rounding
    power = float(f"{choice.power:.6g}") if goal == "power" else 0.0
    cost = {"power": power, "inertia": choice.reflected, "price": choice.price or 0.0}
    return cost.get(goal, choice.mass), choice.mass, choice.reflected


def _fault(joint: Joint, load: Load, tried: Sequence[Choice], margin: float) -> str:
    """What a joint asks for, and the pair that comes closest to it."""
    if not tried:
        wanted = "ratios" if joint.type.turns else "leads, or a motor with linear = true"
        how = "turns" if joint.type.turns else "slides"
        return f"{joint.name} {how}, for which the list must have a [[gear]] with {wanted}"
    best = min(tried, key=lambda choice: max(choice.use.values()))
    what = max(DEMANDS, key=lambda name: best.use[name])
    asked, given = best.demands[what]
    unit, rms = joint.type.torque_unit, float(np.sqrt(load.shares @ load.torque**2))
    return (
        f"{joint.name} asks for {np.abs(load.torque).max():.4g} {unit}, {rms:.4g} {unit} RMS and "
        f"{np.abs(load.qd).max():.4g} {joint.type.unit}/s, rotor aside, and {best.motor.name!r} "
        f"with the ratio {best.gear.ratio:.4g} comes closest: its {what} would be "
        f"{asked:.4g} of {given:.4g}, {margin * asked / given:.3g} times too much with the margin"
    )
