"""What a sweep evaluates: the kernel of a quantity, and its numbers, one column each.

A column is an entry of an argument: q2 is the second of q. What is said about an argument holds for
all of its columns; a list has an entry for each. In each place a number is a fixed value, and a
tuple is a range: (lower, upper, count) of a grid, (lower, upper) of samples. None in a range is
the limit of that joint. Columns of which nothing is said keep their usual value, 0 in a state
(where a robot with loops is assembled).
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from math import prod
from typing import Any, TypeVar

import numpy as np

from armdyn.arrays import Array, check_names, frozen, real
from armdyn.errors import SweepError, UnknownNameError, check_all_known, check_known, require, shown
from armdyn.export.export_comments import joint_words
from armdyn.kernels.kernel import Kernel
from armdyn.model.base_motion import BaseMotion
from armdyn.quantities.design import design_values
from armdyn.quantities.program import QUANTITIES
from armdyn.quantities.quantity import ARGUMENTS, WRENCH, Quantity
from armdyn.quantities.request import Request
from armdyn.robot import Robot

Entry = TypeVar("Entry")
DESIGN = "design"
"""The argument of the numbers of a design, each of which has a name of its own."""
NUMBERED = ("payload", "gravity")
"""Arguments that exist if something is said about them."""


@dataclass(frozen=True, eq=False)
class Columns:
    """The columns of a kernel in order."""

    sizes: Mapping[str, int]
    """Length of each argument."""
    names: tuple[str, ...]
    usual: Array = field(repr=False)
    """What a column is if nothing is said about it."""
    limits: Array = field(repr=False)
    """Lower and upper limit of each column, NaN where there is none, (width, 2)."""

    @property
    def width(self) -> int:
        """How many there are."""
        return len(self.names)

    def split(self, rows: Array) -> dict[str, Array]:
        """Rows (..., width) by arguments."""
        ends = np.cumsum([*self.sizes.values()])[:-1]
        return dict(zip(self.sizes, np.split(rows, ends, axis=-1), strict=True))

    def place(self, name: str) -> int:
        """The number of a column."""
        check_known("column", name, self.names)
        return self.names.index(name)

    def read(
        self, given: Mapping[str, Any], entry: Callable[[str, Any, Array], Entry]
    ) -> list[Entry]:
        """Something for every column: `entry` of its name, what is said of it, and its limits."""
        said: dict[str, Any] = {}
        for name in sorted(given, key=lambda name: name not in self.sizes):  # arguments first
            if name in self.sizes:
                said |= {} if name == DESIGN else self._argument(name, given[name])
            elif name in self.names:
                said[name] = given[name]
            else:
                raise UnknownNameError(
                    "argument or column", name, (*self.sizes, *self.names),
                    "Payload, gravity and parameters of links are columns too: see docs/sweep.md.",
                )  # fmt: skip
        return [
            entry(name, said.get(name, float(usual)), limits)
            for name, usual, limits in zip(self.names, self.usual, self.limits, strict=True)
        ]

    def _argument(self, name: str, value: Any) -> dict[str, Any]:
        columns = self.of(name)
        if name == "payload" and not isinstance(value, list | np.ndarray):
            return {columns[0]: value}  # a mass at the origin of the tool
        if isinstance(value, list | np.ndarray):
            if len(value) != len(columns):
                raise SweepError(
                    f"{name}: a list has an entry for each of the {len(columns)} columns "
                    f"{columns[0]} to {columns[-1]}, got {len(value)}"
                )
            return dict(zip(columns, value, strict=True))
        return dict.fromkeys(columns, value)

    def of(self, argument: str) -> tuple[str, ...]:
        """The columns of an argument."""
        return tuple(self.split(np.array(self.names))[argument].tolist())


def columns_of(robot: Robot, sizes: Mapping[str, int], design: Mapping[str, float]) -> Columns:
    """The columns of the arguments of a kernel, the last of which may be values of a design."""
    joints = robot.model.coordinate_joints
    still = BaseMotion().vector(robot.model.base[:3, :3])
    standing = {"gravity": robot.gravity, "base_motion": still, "q": robot.start}
    bounds = {
        "q": [joint.range for joint in joints],
        "qd": [_symmetric(joint.limits.velocity) for joint in joints],
        "tau": [_symmetric(joint.limits.effort) for joint in joints],
    }
    names: list[str] = []
    usual: list[float] = []
    limits: list[tuple[float, float]] = []
    for argument, size in sizes.items():
        numbered = argument != DESIGN
        names += [f"{argument}{k + 1}" for k in range(size)] if numbered else design
        usual += list(standing.get(argument, np.zeros(size)) if numbered else design.values())
        limits += bounds.get(argument, [(np.nan, np.nan)] * size)
    ends = np.array(limits).reshape(-1, 2)
    return Columns(dict(sizes), tuple(names), frozen(usual), frozen(ends))


def _symmetric(bound: float) -> tuple[float, float]:
    """The range of magnitudes up to a bound; files say 0 where they know nothing."""
    return (-bound, bound) if 0 < bound < np.inf else (np.nan, np.nan)


def fixed(name: str, value: Any) -> float | None:
    """A finite number; None if something else was given."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.number):
        return None
    number = real(value)
    require(np.isfinite(number), name, "a finite number", value, SweepError)
    return float(number)


def bounds(name: str, lower: Any, upper: Any, limits: Array) -> tuple[float, float]:
    """The ends of a range, with the limits of the joint in the place of None."""
    ends = []
    for given, limit, word in ((lower, limits[0], "lower"), (upper, limits[1], "upper")):
        if given is None and np.isnan(limit):
            raise SweepError(
                f"{name}: its {word} limit is not known; give a number in the place of None"
            )
        value = float(limit) if given is None else fixed(name, given)
        if value is None:
            raise SweepError(
                f"{name}: expected a {word} end as a number or None, got {shown(given)}"
            )
        ends.append(value)
    if ends[0] > ends[1]:
        raise SweepError(f"{name}: the range goes from {ends[0]:g} down to {ends[1]:g}; swap them")
    return ends[0], ends[1]


def whole(what: str, value: Any, least: int = 1) -> int:
    """A whole number."""
    counted = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if isinstance(value, float) and value.is_integer():
        counted, value = True, int(value)
    if not counted or not least <= value < 2**62:
        raise SweepError(f"{what}: expected a whole number from {least} on, got {shown(value)}")
    return int(value)


@dataclass(frozen=True, eq=False)
class Subject:
    """A quantity of a robot, as a function of columns."""

    robot: Robot
    quantity: Quantity
    kernel: Kernel
    columns: Columns
    options: Mapping[str, Any]
    """Of the quantity and the kernel, as they were given."""

    @property
    def labels(self) -> tuple[str, ...]:
        """A name for each entry of the result."""
        shape = self.kernel.shape
        if shape == (self.robot.n,) and self.quantity.shape == ("n",):
            return self.robot.joint_names
        if not shape:
            return (self.quantity.name.replace("_", " "),)
        return tuple("[" + ", ".join(str(k + 1) for k in at) + "]" for at in np.ndindex(shape))

    @property
    def axes(self) -> dict[str, tuple[str, ...]]:
        """Names of the axes of each argument and of the result."""
        given = {name: ARGUMENTS.get(name, WRENCH) for name in self.columns.sizes}
        found = {
            name: ("joint" if argument.length(2) == 2 else f"{name}_axis1",)
            for name, argument in given.items()
        }
        return found | {self.quantity.name: self.kernel.axes()}

    @property
    def coordinates(self) -> dict[str, tuple[str, ...]]:
        """What is along the axes that have labels."""
        used = [(name, axis) for name, axes in self.axes.items() for axis in axes]
        return {
            axis: self.robot.joint_names if axis.startswith("joint") else self.columns.of(name)
            for name, axis in used
            if axis.startswith("joint") or name in self.columns.sizes
        }

    def attributes(self, name: str) -> dict[str, str]:
        """What an argument or the result is, and its units."""
        result = name == self.quantity.name
        about = self.quantity.result if result else ARGUMENTS.get(name, WRENCH).about
        text = about.format(**joint_words(self.robot.model, self.kernel.request))
        units = re.search(r"\[(.*?)\]", text)
        return {"long_name": text, "units": units[1] if units else "1"}

    @property
    def limits(self) -> Array:
        """What each entry may be in magnitude; infinite where nothing is known."""
        if "{torque}" in self.quantity.result and self.kernel.shape == (self.robot.n,):
            return self.robot.effort_limits
        return np.full(prod(self.kernel.shape), np.inf)


def subject(
    robot: Robot, quantity: str, names: tuple[str, ...], options: Mapping[str, Any]
) -> Subject:
    """The quantity as a function of what is swept over: payload and gravity if these are named."""
    check_known("quantity", quantity, QUANTITIES)
    known = {field.name for field in fields(Request)} - {"quantity", "effort", DESIGN, *NUMBERED}
    check_all_known("option", options, sorted({*known, "dtype"}))
    dtype = options.get("dtype", "float64")
    more: dict[str, Any] = {
        a: True for a in NUMBERED if any(name.rstrip("0123456789") == a for name in names)
    }
    design = _design(robot, QUANTITIES[quantity], names)
    more |= {k: names_in(k, v) if k in ("wrench", "task") else v for k, v in options.items()}
    more.pop("dtype", None)
    try:
        request = Request(quantity, effort=robot.search_effort, design=tuple(design), **more)
        kernel = robot._kernel(request, dtype)
    except TypeError as reason:
        raise SweepError(f"{quantity}: {reason}") from None
    columns = columns_of(robot, kernel.inputs, design)
    return Subject(robot, QUANTITIES[quantity], kernel, columns, options)


def _design(robot: Robot, quantity: Quantity, names: tuple[str, ...]) -> dict[str, float]:
    """The numbers of the robot that are swept over, with their values."""
    stems = {*quantity.arguments, *ARGUMENTS}
    others = [name for name in names if name.rstrip("0123456789") not in stems]
    known = design_values(robot.model) if others else {}
    return {name: known[name] for name in others if name in known}


def names_in(what: str, given: Any) -> tuple[str, ...]:
    """One name, or some in a list."""
    return check_names(what, (given,) if isinstance(given, str) else given)
