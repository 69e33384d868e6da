"""Trajectory files: comma-separated columns t, q1..qn and, where known, qd1..qdn, qdd1..qddn.

The first line names the columns, in any order; every other line is one instant. As recorders of
ROS write them, a column may be called as its joint (its position), or as the joint with a word for
what it is: elbow.position, velocity_elbow, /joint_states/elbow/position, position[elbow]. Time is
in seconds and increases from line to line; angles are in radians, lengths in metres. Rates that the
file does not have are the derivatives of the spline of degree five through what it has, and exactly
zero where three or more values in a row are equal: a joint at rest, whose dry friction must not
follow the sign of rounding.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from armdyn.arrays import Array
from armdyn.errors import TrajectoryError, counted
from armdyn.io.csv.table import read_table
from armdyn.io.regular import check_path
from armdyn.model import RobotModel

WRENCH = ("fx", "fy", "fz", "nx", "ny", "nz")
"""Columns of force and moment of the environment on the arm."""
SPLINE_DEGREE = 5
"""Degree of the spline from which missing rates are taken."""
TIMES = ("time", "__time", "timestamp", "t [s]", "time [s]")
"""What the column of times may be called besides t."""
WORDS = {
    "q": ("position", "positions", "pos", "q"),
    "qd": ("velocity", "velocities", "vel", "qd"),
    "qdd": ("acceleration", "accelerations", "acc", "qdd"),
    "": ("effort", "efforts", "eff"),
}
"""For each group of columns, the words for it; those of efforts are passed over."""
PASSED_OVER = ""
"""The name that a column gets which is known and not used."""
_OWN = re.compile(r"t|qd{0,2}\d+|[fn][xyz]")
_SEPARATORS = re.compile(r"[/.:\[\]\s]+")


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
        """A sentence on what was computed and how; empty if the file had every rate."""
        if not self.computed:
            return ""
        known = "qd" if self.computed == ("qdd",) else "q"
        return (
            f"{' and '.join(self.computed)} not in the file: computed as derivatives of the spline "
            f"of degree {SPLINE_DEGREE} through {known}"
        )


def trajectory_from_csv(
    path: str | Path, robot: RobotModel | int, *, wrench: bool = False, degrees: bool = False
) -> SampledMotion:
    """The motion of a robot in a trajectory file; a TrajectoryError names the line at fault.

    Args:
        path: The file; "-" is standard input.
        robot: Whose joints move: its columns may have the names of its joints. A number
            of joints has no names.
        wrench: Whether the file may have the columns fx, fy, fz, nx, ny and nz as well.
        degrees: Whether angles and their rates are in degrees there.
    """
    file = read_table(check_path(path), "t,q1,q2,...")
    path = file.path
    joints = [] if isinstance(robot, int) else [robot.joints[i] for i in robot.independent]
    n = robot if isinstance(robot, int) else len(joints)
    names = numbered_columns(file.names, [joint.name for joint in joints])
    forces = WRENCH if wrench and set(WRENCH) & set(names) else ()
    groups = _groups(path, names, n, forces)
    table = file.numbers(names.index("t"))
    t = table[:, names.index("t")]
    given = {
        group: np.ascontiguousarray(table[:, [names.index(c) for c in columns]])
        for group, columns in groups.items()
    }
    if degrees:
        turning = np.array([joint.type.turns for joint in joints], dtype=bool)
        given = {group: np.where(turning, np.radians(v), v) for group, v in given.items()}
    computed = tuple(group for group in ("qd", "qdd") if group not in given)
    qd, qdd = _finite_rates(path, t, given, computed)
    acting = table[:, [names.index(name) for name in forces]] if forces else None
    return SampledMotion(t, given["q"], qd, qdd, computed, str(path), acting)


def torques_from_csv(path: str | Path, n: int) -> tuple[Array, Array]:
    """Times (m,) and torques (m, n) of a file with the columns t and tau1..taun, among others."""
    path = check_path(path)
    file = read_table(path, "t,tau1,tau2,...")
    names = file.names
    columns = [f"tau{i}" for i in range(1, n + 1)]
    missing = [name for name in ("t", *columns) if name not in names]
    if missing or f"tau{n + 1}" in names:
        raise TrajectoryError(
            f"{path}:1: expected the columns t and tau1..tau{n} for a robot with "
            f"{counted(n, 'joint')}, found "
            f"{', '.join(names)!s:.80}"
        )
    table = file.numbers()
    return table[:, names.index("t")], table[:, [names.index(name) for name in columns]]


def _finite_rates(
    path: Path, t: Array, given: dict[str, Array], computed: tuple[str, ...]
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


def _groups(path: Path, names: list[str], n: int, forces: tuple[str, ...]) -> dict[str, list[str]]:
    """The columns of q and of whichever rates there are, each in joint order."""
    found = [group for group in ("q", "qd", "qdd") if group == "q" or _numbered(group, names)]
    groups = {group: [f"{group}{i}" for i in range(1, n + 1)] for group in found}
    columns = (name for columns in groups.values() for name in columns)
    used = [name for name in names if name != PASSED_OVER]
    fault = _fault(used, ["t", *columns, *forces], n)
    if fault:
        raise TrajectoryError(f"{path}:1: {fault}")
    return groups


def _fault(names: list[str], expected: list[str], n: int) -> str:
    """Why the columns are not those of a trajectory of n joints; empty if they are."""
    if not any(name == "t" or re.fullmatch(r"qd{0,2}\d+", name) for name in names):
        return f"the first line must name the columns, t,q1..q{n}; it is {','.join(names)!r:.80}"
    twice = sorted(name for name, count in Counter(names).items() if count > 1)
    if twice:
        return f"the column {twice[0]!r} appears more than once"
    if "q0" in names:
        return f"there is a column q0; joints are counted from q1 to q{n}"
    highest = max(_numbered("q", names), default=n)
    if highest != n:
        return (
            f"the columns of positions go up to q{highest}, but the robot has "
            f"{counted(n, 'joint')}; expected q1..q{n}"
        )
    missing = [name for name in expected if name not in names]
    if missing:
        return (
            f"the column{_are(missing, ', '.join(missing))} missing; "
            f"expected t,q1..q{n} and, as whole groups, qd1..qd{n} and qdd1..qdd{n}"
        )
    extra = [name for name in names if name not in expected]
    if extra:
        return (
            f"the column{_are(extra, ', '.join(map(repr, extra)))} not known; "
            f"a trajectory of this robot has t, q1..q{n}, qd1..qd{n}, qdd1..qdd{n} and nothing else"
        )
    return ""


def _numbered(group: str, names: list[str]) -> list[int]:
    """The numbers behind the name of a group."""
    found = (re.fullmatch(rf"{group}(\d{{1,9}})", name) for name in names)
    return [int(match[1]) for match in found if match]


def _are(items: list[str], listed: str) -> str:
    return f"s {listed} are" if len(items) > 1 else f" {listed} is"


def numbered_columns(names: Sequence[str], joints: Sequence[str]) -> list[str]:
    """The names with those of joints replaced by q1, qd1, qdd1, ...; others as they are."""
    if all(_OWN.fullmatch(name) for name in names):
        return list(names)
    known = {joint: f"q{i}" for i, joint in enumerate(joints, 1)}
    for i, joint in enumerate(joints, 1):
        for group, words in WORDS.items():
            meant = f"{group}{i}" if group else PASSED_OVER
            for word in words:
                pairs = (f"{joint}/{word}", f"{joint}_{word}", f"{word}/{joint}", f"{word}_{joint}")
                known |= dict.fromkeys(pairs, meant)
    return [_column(name, known) for name in names]


def _column(name: str, known: dict[str, str]) -> str:
    if _OWN.fullmatch(name):
        return name
    if name.lower() in TIMES:
        return "t"
    parts = _SEPARATORS.sub("/", name).strip("/").split("/")
    endings = ("/".join(parts[-count:]) for count in range(len(parts), 0, -1))
    return next((known[ending] for ending in endings if ending in known), name)
