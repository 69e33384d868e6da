"""The motors and gears that were chosen for a robot."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.figures import save_picture
from armdyn.io.csv.trajectory import SampledMotion
from armdyn.model import Joint, Rotor
from armdyn.robot import Robot
from armdyn.sections import Section, Sectioned
from armdyn.study.sizing.candidates import DEMANDS
from armdyn.study.sizing.motor_list import Gear, Motor, MotorList
from armdyn.study.sizing.picture import Panel, draw_panels


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
class Sizing(Sectioned):
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
            joints[i] = _driven(joints[i], choice)
        note = f"Motors and gears chosen from {self.offered.name} for the least {self.minimise}."
        return Robot(replace(model, joints=tuple(joints), note=note, letters={}))

    def sections(self) -> tuple[Section, ...]:
        """The table of choices, and all numbers as data."""
        choices, name = self.choices, self.before.model.title or self.before.name
        total = f"{sum(choice.mass for choice in choices):.4g} kg of motors and gears"
        lines = (
            f"{total}; each joint by itself, of {choices[0].tried} pairs of {self.offered.name}",
            "used: of peak torque, of rated torque by the RMS, of speed, at most "
            f"{100 / self.margin:.3g} %; matched: the ratio of least RMS torque",
        )
        rows = tuple(
            (
                choice.joint,
                choice.motor.name,
                choice.gear.name,
                *(f"{value:.4g}" for value in (choice.gear.ratio, choice.matched_ratio)),
                *(f"{100 * choice.use[what]:.3g} %" for what in DEMANDS[:3]),
                *(f"{x:.4g}" for x in (choice.reflected, choice.power, choice.mass)),
                "-" if choice.price is None else f"{choice.price:.6g}",
                str(choice.fitting),
            )
            for choice in choices
        )
        columns = (
            *("joint", "motor", "gear", "ratio", "matched", "peak used", "RMS used", "speed used"),
            *("J N² [kg m²]", "power [W]", "mass [kg]", "price", "fitting"),
        )
        data = {
            "robot": self.before.name,
            "minimise": self.minimise,
            "margin": self.margin,
            "trajectory": self.motion.source,
            "mass": sum(choice.mass for choice in choices),
            "joints": [_data(choice) for choice in choices],
        }
        title = f"{name}: motors and gears of the least {self.minimise}"
        return (Section(title, lines, columns, rows, 3, data),)

    def plot(self, path: str | Path) -> None:
        """Draw the motion inside what each chosen motor can give, to a .png, .pdf or .svg file."""
        name = self.before.model.title or self.before.name
        panels = [
            Panel(
                choice.joint,
                f"{choice.motor.name}, {choice.gear.name} {choice.gear.ratio:.4g}",
                ("N", "m/s") if choice.motor.linear else ("N·m", "rad/s"),
                choice.speed,
                choice.torque,
                choice.motor.max_speed,
                choice.motor.peak_torque,
                choice.motor.rated_torque,
                choice.rms,
            )
            for choice in self.choices
        ]
        told = f"least {self.minimise}, margin {self.margin:g}, from {self.offered.name}"
        save_picture(path, draw_panels, f"{name}: chosen motors and gears", told, panels)


def price_of(motor: Motor, gear: Gear) -> float | None:
    """The price of a motor and a gear, whose own may be missing; None if that of the motor is."""
    return None if motor.price is None else motor.price + (gear.price or 0.0)


def _driven(joint: Joint, choice: Choice) -> Joint:
    """The joint with its drive; limits are those of the motor, or of the gear if it gives less."""
    motor, gear = choice.motor, choice.gear
    limits = replace(
        joint.limits,
        velocity=min(motor.max_speed, gear.max_speed) / gear.ratio,
        effort=min(motor.peak_torque * gear.ratio, gear.peak_torque),
        continuous_effort=min(motor.rated_torque * gear.ratio, gear.peak_torque),
    )
    ratio = float(np.copysign(gear.ratio, joint.rotor.gear_ratio))
    return replace(joint, rotor=Rotor(choice.inertia, ratio), limits=limits)


def _data(choice: Choice) -> dict[str, Any]:
    return {
        "joint": choice.joint,
        "motor": choice.motor.name,
        "gear": choice.gear.name,
        "gear_ratio": choice.gear.ratio,
        "matched_ratio": choice.matched_ratio,
        "rotor_inertia": choice.inertia,
        "reflected_inertia": choice.reflected,
        "use": dict(choice.use),
        "torque": {"peak": float(np.abs(choice.torque).max()), "rms": choice.rms},
        "speed": float(np.abs(choice.speed).max()),
        "driven_power": choice.power,
        "mass": choice.mass,
        "price": choice.price,
        "fitting": choice.fitting,
        "tried": choice.tried,
    }
