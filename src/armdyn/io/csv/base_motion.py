"""Motions of a base as comma-separated values: when, and how it stands, turns and speeds up.

The columns are t [s]; how the base stands as the quaternion qw, qx, qy, qz or as roll, pitch, yaw
[rad]; wx, wy, wz its angular velocity [rad/s]; wdx, wdy, wdz its angular acceleration [rad/s²]; ax,
ay, az the acceleration of its origin, without gravity [m/s²]; all in world axes. Groups may be left
out. A base then stands as the robot does, or does not accelerate; but its angular velocity is that
of a smooth rotation through those given, and its angular acceleration the slope of that velocity.
"""

from pathlib import Path

import numpy as np

from armdyn.arrays import Array
from armdyn.errors import TrajectoryError
from armdyn.io.csv.table import MAX_TABLE_BYTES
from armdyn.io.log.columns import find_columns, numbers_over_time
from armdyn.io.log.sources import open_source
from armdyn.model.base_motion import BaseMotion
from armdyn.model.transform import rotation_from_quaternion, rotation_from_rpy

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
    rotation, rest = _rotations(where, given), np.zeros((len(t), 3))
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
