"""Motors and gears to choose from, and the TOML file that lists them."""

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from armdyn.errors import ModelError, shown
from armdyn.io.regular import check_path
from armdyn.io.toml.read import Table, parsed_toml

_MOTOR_NUMBERS = ("rotor_inertia", "rated_torque", "peak_torque", "max_speed", "mass")
_MOTOR = ("name", *_MOTOR_NUMBERS, "price", "linear", "source")
_GEAR_NUMBERS = {"inertia": 0.0, "mass": 0.0, "peak_torque": math.inf, "max_speed": math.inf}
_GEAR = ("name", "ratios", "leads", "efficiency", *_GEAR_NUMBERS, "price", "source")
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
    t.check_keys(_MOTOR)
    numbers = {key: _number(t, key) for key in _MOTOR_NUMBERS}
    if numbers["peak_torque"] < numbers["rated_torque"]:
        raise t.error(
            f"the peak torque {numbers['peak_torque']:g} is below the rated torque "
            f"{numbers['rated_torque']:g}"
        )
    price, linear = _price(t), t.flag("linear")
    source = t.text("source", "")
    return Motor(t.text("name"), **numbers, price=price, linear=linear, source=source)


def _gears(t: Table) -> list[Gear]:
    t.check_keys(_GEAR)
    if ("ratios" in t.data) == ("leads" in t.data):
        raise t.error(
            "give ratios (turns of the motor for one of the joint), or leads (metres for a turn "
            "of the motor, of a screw for joints that slide)"
        )
    key = "leads" if "leads" in t.data else "ratios"
    given = t.data[key] if isinstance(t.data[key], list) else [t.data[key]]
    if not given:
        raise t.error(f"{key}: expected at least one number, got []")
    values = Table({key: given}, t.where, t.file).array(key, (len(given),)).tolist()
    for value in values:
        _check_sign(t, key, value)
    efficiency = t.number("efficiency", 1.0)
    if not 0 < efficiency <= 1:
        raise t.error(f"efficiency: expected above 0 and up to 1, got {efficiency:g}")
    numbers = {name: _number(t, name, default) for name, default in _GEAR_NUMBERS.items()}
    screw = key == "leads"
    name = t.text("name", "")
    price = _price(t)
    source = t.text("source", "")
    return [
        Gear(
            name or ("screw" if screw else "gear"),
            2 * math.pi / value if screw else value,
            screw,
            efficiency,
            **numbers,
            price=price,
            source=source,
        )
        for value in values
    ]


def _price(t: Table) -> float | None:
    return _number(t, "price") if "price" in t.data else None


def _number(t: Table, key: str, *default: float) -> float:
    value = t.number(key, *default)
    _check_sign(t, key, value)
    return value


def _check_sign(t: Table, key: str, value: float) -> None:
    zero = key in _MAY_BE_ZERO
    if value < 0 or (value == 0 and not zero):
        wanted = "a number that is not negative" if zero else "a positive number"
        raise t.error(f"{key}: expected {wanted}, got {value:g}")
