"""The record of a quantity: everything that the rest of the house must know about it."""

from collections.abc import Callable
from inspect import signature
from typing import Any

from armdyn.arrays import Array, record
from armdyn.model import RobotModel
from armdyn.thresholds import COMPILED_JOINTS, Threshold

TENSOR = "Ixx, Ixy, Iyy, Ixz, Iyz, Izz"
TORQUE_OPTIONS = ("friction", "payload", "gravity")
"""The options of torques."""
DERIVATIVES = ("vjp", "jvp")
"""Products with the Jacobian of a quantity: with weights of its entries, and with directions of its
arguments."""
WEIGHTS = "weights"
"""The argument of a vector-Jacobian product that weighs the entries of the result."""
TERMS = ("links", "rotors", "coriolis", "gravity", "friction", "wrench")
"""What can be in a quantity: inertia of links, inertia of rotors, and so on."""


@record
class Argument:
    """A vector that a quantity is a function of."""

    about: str
    """What its entries are, with {unit}, {rate} and so on for units that depend on the joints."""
    size: int | None = None
    """How many entries it has; None: one for each coordinate."""
    noun: str | None = None
    """What its entries are called in errors; None: joint values."""
    rows: int = 1
    """How many vectors of the coordinates it consists of, if it has no `size`."""

    def length(self, n: int) -> int:
        """How many entries it has for n coordinates."""
        return self.size or self.rows * n


ARGUMENTS = {
    "q": Argument("positions [{unit}]"),
    "qd": Argument("velocities [{rate}]"),
    "qdd": Argument("accelerations [{acceleration}]"),
    "qddd": Argument("jerks [{acceleration}/s]"),
    "qdddd": Argument("snaps [{acceleration}/s^2]"),
    "tau": Argument("torques of the actuators [{torque}]"),
    "dq": Argument("direction of q"),
    "dqd": Argument("direction of qd"),
    "state": Argument(
        "state of the observer: external torques, momenta and their rates",
        noun="numbers of a state of the observer",
        rows=3,
    ),
    "h": Argument("time since the last sample [s], positive", 1, "time"),
    "gain": Argument("gains K of the observer [1/s]"),
    "passive": Argument(
        "cosines and sines of passive angles, or their positions and 0, as passive_joints has them",
        noun="numbers, two for each passive joint",
    ),
    "payload": Argument(
        f"body at the tool, in tool axes: m, m cx, m cy, m cz, {TENSOR} [kg, m]; the tensor about "
        "the origin of the tool",
        10,
        "inertial parameters",
    ),
    "gravity": Argument("field of gravity, pointing down, world axes [m/s^2]", 3, "components"),
    "pose": Argument(
        "rotation from base axes to the world, row by row, then the position of the base [m]",
        12,
        "numbers of a pose",
    ),
    "twist": Argument(
        "velocity of the origin of the base, then its angular velocity, world axes [m/s, rad/s]",
        6,
        "components (linear, angular)",
    ),
    "base_load": Argument(
        "wrench of the environment on the base at its origin, world axes [N, N m]",
        6,
        "components (force, moment)",
    ),
    "design": Argument("numbers of the design", noun="numbers of the design"),
    "base_motion": Argument(
        "rotation of the base, row by row, then its angular velocity, angular acceleration and "
        "linear acceleration, world axes [rad, m, s]",
        18,
        "numbers of a motion of the base",
    ),
}
WRENCH = Argument("wrench of the environment on a link [N, N m]", 6, "components (force, moment)")


def direction_name(name: str) -> str:
    """Name of the argument that is a direction of an argument."""
    return f"direction of {name}"


def noun_of(name: str) -> str | None:
    """What the entries of an argument are called in errors; None: joint values."""
    if name == WEIGHTS:
        return "weights, one for each entry of the result"
    return ARGUMENTS.get(name.removeprefix(direction_name("")), WRENCH).noun


@record
class Otherwise:
    """How `Robot` evaluates a quantity of robots whose kernels would take long to compile."""

    way: Callable[..., Array] | None = None
    """From a function that runs other quantities as `Robot` does, the model, the request and arrays
    of one batch to the result; None: as it is built, in NumPy."""
    joints: Threshold | None = None
    """Coordinates beyond which a robot is such a one; None: `COMPILED_JOINTS`."""
    entries: Threshold | None = None
    """The same for the entries in the lower triangle of its mass matrix."""

    def is_for(self, model: RobotModel) -> bool:
        """Whether a robot is such a one."""
        if len(model.independent) > (self.joints or COMPILED_JOINTS).value:
            return True
        return self.entries is not None and sum(map(len, model.paths)) > self.entries.value


Run = Callable[..., Array]
"""Runs another quantity, by its name."""
IN_NUMPY = Otherwise()


@record
class Quantity:
    """A quantity of a robot."""

    name: str
    doc: str
    """One or two sentences in plain ASCII, with {link} and {frame} for those of a request."""
    arguments: tuple[str, ...]
    """Names in `ARGUMENTS` of the vectors of coordinates that it is a function of."""
    build: Callable[..., Array]
    """From a `TracedRobot` and the arguments as nodes to the entries; in NumPy, if it may be, from
    any `RequestedRobot` and arrays (..., n)."""
    symbol: str
    """Its letter in exported code; "" for a number that is returned."""
    result: str = "torques [{torque}]"
    """What the entries are, with {torque}, {rate} and so on for the units."""
    shape: tuple[int | str, ...] = ("n",)
    """Lengths of the axes: numbers, or formulas of the numbers n of coordinates, N of joints, P of
    passive joints, L of loops, m of task coordinates and p of linear parameters, or "rank" for the
    base parameters."""
    terms: tuple[str, ...] = ()
    """Those of `TERMS` that are in it."""
    options: tuple[str, ...] = ()
    """The names in `armdyn.quantities.request.OPTIONS` that it has."""
    ways: tuple[str, ...] = ()
    """What the option "formulation" or "method" can be."""
    axes: tuple[str, ...] = ("world",)
    """What the option "frame" can be besides the name of a frame."""
    fixed: tuple[str, ...] = ()
    """Numbers ("payload", "gravity") that it depends on but cannot take as an argument."""
    solves: bool = False
    """Whether a mass matrix is solved for: then it is not a number where that is singular."""
    assembled: bool = False
    """Whether it is nothing but parts that are searched for, so that passes find nothing more."""
    otherwise: Otherwise | None = None
    """How it is evaluated for long robots; None: by its kernel, as for others."""
    exported: bool = False
    """Whether it is among the functions that are exported by default."""
    short: str = ""
    """A shorter name for it in counts of operations."""
    floats: bool = False
    """Whether a robot has it whose base nothing holds."""
    absent: Callable[[RobotModel], str] = lambda model: ""
    """Why a robot has no such quantity, as reduced inertias tell no mass; empty if it has."""
    jumping: Callable[[RobotModel], str] = lambda model: ""
    """Why its friction would have to be left out, where derivatives of it are needed; or empty."""

    def refused(self, model: RobotModel, friction: bool = True) -> str:
        """Why it cannot be computed of a robot, with or without friction; empty if it can."""
        return self.absent(model) or (self.jumping(model) if friction else "")

    @property
    def counted_as(self) -> str:
        """Its name in counts of operations."""
        return self.short or self.name


def quantity(**facts: Any) -> Callable[[Callable[..., Array]], Quantity]:
    """Makes a quantity of the function that builds it, with its name, text and arguments.

    The facts are the other fields of the record.
    """

    def of(build: Callable[..., Array]) -> Quantity:
        _, *arguments = signature(build).parameters
        doc = " ".join((build.__doc__ or "").split())
        return Quantity(build.__name__.strip("_"), doc, tuple(arguments), build, **facts)

    return of
