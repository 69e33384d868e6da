"""Motors and gears to choose from, and the TOML file that lists them."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from armdyn.errors import ModelError, shown
from armdyn.io.regular import check_path
from armdyn.io.toml.read import Table, parsed_toml

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
    zero = key in _MAY_BE_ZERO
    if value < 0 or (value == 0 and not zero):
        wanted = "a number that is not negative" if zero else "a positive number"
        raise t.error(f"{key}: expected {wanted}, got {value:g}")
    return value
