"""Trajectory files: tables with t, q1..qn and, where known, qd1..qdn, qdd1..qddn.

They are CSV files, or .parquet and .npz; `armdyn.io.log` says what columns may be called.
Time is in seconds, unless its column says otherwise, and increases from line to line; angles are in
radians, lengths in metres. Rates that the file does not have are the derivatives of the spline of
degree five through what it has, and exactly zero where three or more values in a row are equal: a
joint at rest, whose dry friction must not follow the sign of rounding.

The file of a moving base has t; how the base stands as the quaternion qw, qx, qy, qz or as roll,
pitch, yaw [rad]; wx, wy, wz its angular velocity [rad/s]; wdx, wdy, wdz its angular acceleration
[rad/s²]; ax, ay, az the acceleration of its origin, without gravity [m/s²]; all in world axes.
Groups may be left out. A base then stands as the robot does, or does not accelerate; but its
angular velocity is that of a smooth rotation through those given, and its angular acceleration the
slope of that velocity.
"""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from armdyn.arrays import Array
from armdyn.errors import ArmdynWarning, TrajectoryError, counted
from armdyn.io.csv.table import MAX_TABLE_BYTES, TableSource, open_source
from armdyn.io.log import (
    LONGEST_PERIOD,
    TableColumns,
    find_columns,
    numbers_over_time,
    unwrapped,
)
from armdyn.model import RobotModel
from armdyn.model.base_motion import BaseMotion
from armdyn.model.transform import rotation_from_quaternion, rotation_from_rpy

WRENCH = ("fx", "fy", "fz", "nx", "ny", "nz")
"""Columns of force and moment of the environment on the arm."""
PARTS = ("x", "y", "z", "qw", "qx", "qy", "qz", "vx", "vy", "vz", "wx", "wy", "wz")
FLOATING = tuple(f"base_{part}" for part in PARTS)
"""Columns of a base that floats, as simulations write them; all or none is there."""
SPLINE_DEGREE = 5
"""Degree of the spline from which missing rates are taken."""
MOST_HANDWRITTEN = 20
"""Lines of a file up to which time steps of seconds are taken to be meant."""


@dataclass(frozen=True, slots=True, eq=False)
class SampledMotion:
    """A motion of n joints at m increasing times [s]: q, q̇, q̈ are (m, n) [rad or m, per s, s²]."""

    t: Array
    q: Array
    qd: Array
    qdd: Array
    computed: tuple[str, ...] = ()
    """Which of "qd" and "qdd" the file did not have."""
    source: str = ""
    """The file it came from."""
    wrench: Array | None = None
    """Force and moment of the environment on the arm, (m, 6) [N, N m], if the file has them."""
    unused: str = ""
    """What of the file is not used, in words."""
    base: Array | None = None
    """Pose and twist of a base that floats, (m, 18), if the file has them, see `BaseState`."""

    def __len__(self) -> int:
        return len(self.t)

    @property
    def shares(self) -> Array:
        """The share of each instant in the whole time, by the trapezoidal rule, (m,)."""
        if len(self.t) == 1:
            return np.ones(1)
        steps = np.diff(self.t, prepend=self.t[0], append=self.t[-1])
        return np.asarray(0.5 * (steps[1:] + steps[:-1]) / (self.t[-1] - self.t[0]))

    @property
    def note(self) -> str:
        """What was computed and how, and which columns are not used; empty if there is nothing."""
        told = []
        if self.computed:
            known = "qd" if self.computed == ("qdd",) else "q"
            told.append(
                f"{' and '.join(self.computed)} not in the file: computed as derivatives of the "
                f"spline of degree {SPLINE_DEGREE} through {known}"
            )
        return "; ".join(filter(None, (*told, self.unused)))


def trajectory_from_csv(
    path: str | Path,
    robot: RobotModel | int,
    *,
    wrench: bool = False,
    degrees: bool = False,
    base: bool = False,
) -> SampledMotion:
    """The motion of a robot in a trajectory file; a TrajectoryError names the line at fault.

    Args:
        path: The file; "-" is standard input.
        robot: Whose joints move: its columns may have the names of its joints. A number
            of joints has no names.
        wrench: Whether the file may have the columns fx, fy, fz, nx, ny and nz as well.
        degrees: Whether angles and their rates are in degrees there.
        base: Whether it may have base_x to base_wz, pose and twist of a base that floats.
    """
    wanted = {"wrench": (WRENCH, wrench), "base": (FLOATING, base)}
    groups = {name: columns for name, (columns, asked) in wanted.items() if asked}
    table, given, columns, turns = _read(path, robot, ("q", "qd", "qdd"), degrees, groups)
    given["q"], jumps = unwrapped(given["q"], turns)
    t = given["t"]
    q = given["q"]
    acting = given.get("wrench")
    computed = tuple(group for group in ("qd", "qdd") if group not in given)
    step = float(np.median(np.diff(t))) if len(t) > MOST_HANDWRITTEN else 0.0
    if step > LONGEST_PERIOD and columns.time_unit is None:
        warnings.warn(
            f"{table.where}: times are {step:g} s apart; if they are in milliseconds, call their "
            "column t [ms], else t [s]",
            ArmdynWarning,
            stacklevel=3,
        )
    qd, qdd = _finite_rates(table.where, t, given, computed)
    taken_out = f"{jumps} jumps of positions by a whole turn were taken out" * bool(jumps)
    unused = "; ".join(filter(None, (taken_out, columns.note)))
    floats = given.get("base")
    if floats is not None:
        R = np.asarray(_rotations(table.where, {"quaternion": floats[:, 3:7]}))
        floats = np.concatenate([R.reshape(-1, 9), floats[:, :3], floats[:, 7:]], -1)
    return SampledMotion(t, q, qd, qdd, computed, table.where, acting, unused, floats)


def warn_of_unused(source: str, unused: str) -> None:
    """Say what of a file is not used, where no result can carry the note."""
    if unused:
        warnings.warn(f"{source}: {unused}", ArmdynWarning, stacklevel=3)


def _read(
    path: str | Path,
    robot: RobotModel | int,
    used: tuple[str, ...],
    degrees: bool = False,
    groups: Mapping[str, Sequence[str]] | None = None,
) -> tuple[TableSource, dict[str, Array], TableColumns, list[bool]]:
    """A table, its numbers by quantity in SI units at increasing times, where, and who turns."""
    if isinstance(robot, int):
        names, turns = [f"joint{i + 1}" for i in range(robot)], [True] * robot
    else:
        joints = robot.coordinate_joints
        names = [j.name for j in joints]
        turns = [j.type.turns for j in joints]
    expected = f"t,{used[0]}1..{used[0]}{len(names)}"
    table = open_source(path, TrajectoryError, expected, MAX_TABLE_BYTES)
    columns = find_columns(table, names, used, groups=groups)
    if not columns.time:
        raise TrajectoryError(f"{table.header}: the column t is missing; expected {expected}")
    if pull := [name for name in WRENCH if name in columns.ignored]:
        raise TrajectoryError(
            f"{table.header}: there is a wrench ({', '.join(pull)}), which is not used here; leave "
            "its columns out"
        )
    numbers = numbers_over_time(table, columns, columns.scales(turns, degrees))
    return table, numbers, columns, turns


def torques_from_csv(path: str | Path, robot: RobotModel | int) -> tuple[Array, Array]:
    """Times (m,) and torques (m, n) of a file with the columns t and tau1..taun, among others."""
    _, given, _, _ = _read(path, robot, ("tau",))
    return given["t"], given["tau"]


def _finite_rates(
    path: str, t: Array, given: dict[str, Array], computed: tuple[str, ...]
) -> tuple[Array, Array]:
    """The velocities and accelerations of the file, or those computed, or an error."""
    if computed and len(t) <= SPLINE_DEGREE:
        n = given["q"].shape[1]
        columns = " and ".join(f"{group}1..{group}{n}" for group in computed)
        raise TrajectoryError(
            f"{path}: {counted(len(t), 'line')} of numbers cannot give the missing rates; "
            f"give at least {SPLINE_DEGREE + 1} lines, or the columns {columns}"
        )
    try:
        with np.errstate(all="ignore"):
            qd, qdd = _rates(t, given)
    except (ValueError, ArithmeticError, np.linalg.LinAlgError):
        qd = qdd = np.array(np.nan)
    if not (np.isfinite(qd).all() and np.isfinite(qdd).all()):
        raise TrajectoryError(
            f"{path}: the missing {' and '.join(computed)} are no finite numbers; times are too "
            "close together, or positions too large"
        )
    return qd, qdd


def _rates(t: Array, given: dict[str, Array]) -> tuple[Array, Array]:
    if "qd" in given and "qdd" in given:
        return given["qd"], given["qdd"]
    from scipy.interpolate import make_interp_spline  # noqa: PLC0415 (slow to import)

    known, order = ("qd", 1) if "qd" in given else ("q", 2)
    spline = make_interp_spline(t, given[known], k=SPLINE_DEGREE)
    rest = _resting(given[known])

    def rate(group: str, nu: int) -> Array:
        return given[group] if group in given else np.where(rest, 0.0, spline.derivative(nu)(t))

    return rate("qd", 1), rate("qdd", order)


def _resting(values: Array) -> Array:
    """Where a value belongs to three or more equal ones in a row, column by column."""
    same = np.diff(values, axis=0) == 0
    triple = same[:-1] & same[1:]
    rest = np.zeros(values.shape, dtype=bool)
    for shift in range(3):
        rest[shift : shift + len(triple)] |= triple
    return rest


GROUPS = {
    "quaternion": ("qw", "qx", "qy", "qz"),
    "rpy": ("roll", "pitch", "yaw"),
    "angular_velocity": ("wx", "wy", "wz"),
    "angular_acceleration": ("wdx", "wdy", "wdz"),
    "linear_acceleration": ("ax", "ay", "az"),
}
"""The columns of each group."""
EXPECTED = "t and, as whole groups, " + "; ".join(",".join(names) for names in GROUPS.values())
SHORTEST_QUATERNION = 1e-3
"""Length below which a quaternion says no rotation."""


def base_motion_from_csv(path: str | Path) -> tuple[Array, BaseMotion]:
    """Times (m,) [s] and the motion of a base at these times."""
    table = open_source(path, TrajectoryError, EXPECTED, MAX_TABLE_BYTES)
    columns = find_columns(table, (), (), groups=GROUPS)
    faults = {
        "missing: t": not columns.time,
        f"not known: {', '.join(map(repr, columns.ignored))}": columns.ignored,
        "the rotation is given twice": {"quaternion", "rpy"} <= {*columns.places},
        "there is no motion in it": not columns.places,
    }
    for fault in (text for text, found in faults.items() if found):
        raise TrajectoryError(
            f"{table.header}: {fault}; a motion of a base has the columns {EXPECTED}"
        )
    given = numbers_over_time(table, columns, columns.scales(()))
    return given["t"], _motion(table.where, given.pop("t"), given)


def _motion(where: str, t: Array, given: dict[str, Array]) -> BaseMotion:
    rotation = _rotations(where, given)
    rest = np.zeros((len(t), 3))
    velocity, acceleration = given.get("angular_velocity"), given.get("angular_acceleration")
    if velocity is None and rotation is not None and len(t) > 1:
        from scipy.spatial.transform import Rotation, RotationSpline  # noqa: PLC0415 (slow)

        spline = RotationSpline(t, Rotation.from_matrix(rotation))
        velocity, slope = (np.einsum("mij,mj->mi", rotation, spline(t, k)) for k in (1, 2))
        acceleration = slope if acceleration is None else acceleration
    elif velocity is not None and acceleration is None and len(t) > 1:
        from scipy.interpolate import make_interp_spline  # noqa: PLC0415 (slow to import)

        acceleration = make_interp_spline(t, velocity, k=min(5, len(t) - 1)).derivative()(t)
    w, wd = (rest if rate is None else rate for rate in (velocity, acceleration))
    return BaseMotion(rotation, w, wd, given.get("linear_acceleration", rest))


def _rotations(where: str, given: dict[str, Array]) -> Array | None:
    """From base axes to world axes, (m, 3, 3); None: as the robot stands."""
    if "rpy" in given:
        return np.array([rotation_from_rpy(row) for row in given["rpy"]])
    if "quaternion" not in given:
        return None
    shortest = np.linalg.norm(given["quaternion"], axis=1).min()
    if shortest < SHORTEST_QUATERNION:
        raise TrajectoryError(f"{where}: a quaternion of length {shortest:.3g} says no rotation")
    return np.array([rotation_from_quaternion(row) for row in given["quaternion"]])
