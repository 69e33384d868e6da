"""Logs of arms, read in blocks: which column of a table is what, and in which units.

A column is a word for its quantity with a number ("q1", "actual_q_0", "position[3]") or with the
name of a joint ("/joint_states/elbow_joint/position", "effort.shoulder"); the bare name of a joint
is its position; ROS has such names. Other columns are left alone, unless they look like one that is
missing. A log has positions and torques of the joints over time.
"""

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from armdyn.arrays import Array, check_truth, real
from armdyn.errors import LogError, counted, require, shown
from armdyn.io.csv.table import ArraySource, TableSource, open_source

WORDS = {
    "q": "q pos position positions theta angle angles actualq qactual qmeas jointposition",
    "qd": "qd dq vel velocity velocities speed qdot actualqd qdactual jointvelocity thetadot",
    "qdd": "qdd ddq acc accel acceleration accelerations qddot qddactual jointacceleration",
    "tau": "tau torque torques effort efforts eff tauj taumeas trq moment jointtorque jointeffort",
    "current": "current currents curr cur i motorcurrent actualcurrent amps jointcurrent",
}
"""What people call a quantity, in small letters without separators."""
NAMES = {
    "q": "positions", "qd": "velocities", "qdd": "accelerations", "tau": "torques",
    "current": "currents",
}  # fmt: skip
_QUANTITIES = {word: quantity for quantity, words in WORDS.items() for word in words.split()}
_TIMES = (
    "t", "time", "timestamp", "stamp", "times", "sec", "secs", "seconds", "headerstamp",
    "fieldheaderstamp", "rosbagtimestamp",
)  # fmt: skip
TIME_UNITS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
"""Units of time stamps, in seconds."""
UNITS = {
    **dict.fromkeys(("rad", "radian", "radians", "m", "nm", "n", "a"), 1.0),
    **dict.fromkeys(("deg", "degs", "degree", "degrees", "°"), np.pi / 180),
    **dict.fromkeys(("mrad", "mm", "mnm", "nmm", "ma"), 1e-3),
    **{"cm": 1e-2, "ncm": 1e-2, "knm": 1e3, "kn": 1e3, "rpm": np.pi / 30},
}
"""Units of columns by their letters before what they are divided by, in SI units."""
LONGEST_PERIOD = 0.5
"""Median step of time stamps above which they are hardly seconds [s]."""
LONGEST_STEP = 0.5
"""Steps from row to row, whole turns aside, between which a jump is that of an encoder [rad]."""
RESEMBLING, RESEMBLING_LETTERS = 0.75, 0.6
"""Likeness of two words, from 0 to 1, from which one is taken for the other misspelt; the second
for words of the letters q and d alone, which are so short that one wrong letter is much of them."""
NAMED = 8
"""How many columns that are not used are named."""
_NUMBERED = re.compile(r"(.*?)[\s_.\[(/-]*(\d{1,9})[\])]?$")
_UNIT = re.compile(r"\s*[\[(]\s*([^\[\]()0-9]*[a-zA-Zµ°][^\[\]()]*)[\])]\s*$")
_SEPARATORS = re.compile(r"[/.:\[\]\s]+")


@dataclass(frozen=True, slots=True)
class TableColumns:
    """The places of the columns of a table, each quantity in the order of the joints."""

    time: tuple[int, ...]
    """The column of time; two of seconds and nanoseconds; none."""
    places: Mapping[str, tuple[int, ...]]
    """The columns of each quantity that there is."""
    units: Mapping[str, tuple[str, ...]]
    """The units in their names; empty where there are none."""
    time_unit: str | None = None
    """The unit in the name of the column of time."""
    ignored: tuple[str, ...] = ()
    """The columns that nothing is known about."""

    @property
    def used(self) -> list[int]:
        """Every column that is read, time first."""
        return [*self.time, *(place for places in self.places.values() for place in places)]

    @property
    def note(self) -> str:
        """Which columns are not used, in words; empty if there are none."""
        if not self.ignored:
            return ""
        more = len(self.ignored) - NAMED
        names = ", ".join(map(repr, self.ignored[:NAMED])) + f" and {more} more" * (more > 0)
        return f"columns that are not known, and not used: {names}"

    def split(self, block: Array) -> dict[str, Array]:
        """The used columns (m, columns) by quantities, as "t" the sum of those of time (m,)."""
        ends = np.cumsum([len(self.time), *map(len, self.places.values())])
        time, *parts = np.split(block, ends[:-1], axis=1)
        return {"t": time.sum(axis=1)} | dict(zip(self.places, parts, strict=True))

    def scales(
        self,
        turns: Sequence[bool],
        degrees: bool = False,
        gains: npt.ArrayLike = 1.0,
        time_unit: str | None = None,
    ) -> Array:
        """What the used columns are multiplied with to be in SI units, (columns,).

        Args:
            turns: Which joints turn.
            degrees: Whether positions are in degrees where names do not say their unit; they are
                if another position says so, and rates are where those of their joints are.
            gains: What torques or currents are multiplied with, one or one for each joint.
            time_unit: Unit of the time; None: as its column says, else seconds.
        """
        seconds = [TIME_UNITS[time_unit or self.time_unit or "s"]]
        parts = [np.array([1.0, 1e-9] if len(self.time) == 2 else seconds * len(self.time))]
        own = {quantity: [*map(_factor, units)] for quantity, units in self.units.items()}
        degrees = check_truth("degrees", degrees) or UNITS["deg"] in own.get("q", ())
        angles = np.where(turns, UNITS["deg"], 1.0) if degrees else np.ones(len(turns))
        said = zip(angles, own.get("q", angles), strict=True)
        rates = [UNITS["deg"] if UNITS["deg"] in (y, y or x) else 1.0 for x, y in said]
        usual = {"q": angles} | dict.fromkeys(("qd", "qdd"), rates)
        for quantity, places in self.places.items():
            pairs = zip(usual.get(quantity, np.ones(len(places))), own[quantity], strict=True)
            gain = gains if quantity in ("tau", "current") else 1.0
            parts.append(np.array([x if y is None else y for x, y in pairs]) * gain)
        return np.concatenate(parts)


def _factor(unit: str) -> float | None:
    """What numbers in a unit are multiplied with; None if it is not known."""
    return UNITS.get(re.sub(r"[^a-z°]", "", unit.lower().partition("/")[0]))


def numbers_over_time(
    source: TableSource, columns: TableColumns, scales: Array | float = 1.0
) -> dict[str, Array]:
    """The whole table by quantities, all numbers finite, at times "t" (m,) that increase."""
    given = columns.split(source.whole(columns.used) * scales)
    t = given["t"]
    for row in np.flatnonzero(np.diff(t) <= 0)[:1] + 1:
        place, _ = source.cell(int(row), columns.time[0])
        raise source.error(
            f"{place}: time must increase from line to line, but t = {t[row]:g} follows "
            f"t = {t[row - 1]:g}"
        )
    return {quantity: np.ascontiguousarray(values) for quantity, values in given.items()}


def unwrapped(q: Array, turns: Sequence[bool]) -> tuple[Array, int]:
    """Positions (m, n) without jumps by whole turns, and how many were taken out.

    Encoders that start anew at ±π have them, among steps that are short but for whole turns.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        steps = np.diff(q, axis=0)
        jumps = np.where(np.abs(steps) > np.pi, np.sign(steps), 0.0)
        short = np.pad(np.abs(steps - 2 * np.pi * jumps) < LONGEST_STEP, ((1, 1), (0, 0)))
    short[[0, -1]] = True
    jumps *= np.asarray(turns, dtype=bool) & short[:-2] & short[1:-1] & short[2:]
    if not jumps.any():
        return q, 0
    whole = np.concatenate([np.zeros_like(q[:1]), np.cumsum(jumps, axis=0)])
    return q - 2 * np.pi * whole, int(np.count_nonzero(jumps))


class ColumnMeaning(NamedTuple):
    """What a column is called: a quantity of a joint, by the place or the number of that."""

    quantity: str
    joint: int
    numbered: bool
    exact: bool
    """Whether nothing else is in the name."""


def find_columns(
    source: TableSource,
    joints: Sequence[str],
    used: Sequence[str],
    *,
    given: Mapping[str, str | Sequence[str]] | None = None,
    groups: Mapping[str, Sequence[str]] | None = None,
    advice: str = "",
) -> TableColumns:
    """The columns of a table for a robot with these joints, or an error that says what is wrong.

    Args:
        source: The table.
        joints: The joints of the robot, in order.
        used: The quantities that are read; others are passed over. Positions and torques must be
            there, the latter unless there are currents; rates for all joints or none.
        given: For "t", "q", "tau" and so on the columns that are meant, if names do not tell.
        groups: For other quantities the very names of their columns, of which all or none is there.
        advice: What else to do where columns are missing.
    """
    names, given = source.names, given or {}
    pairs = [_split_unit(name, joints) for name in names]
    meanings = [meaning_of(name, joints) for name, _ in pairs]
    time = _time(source, [name for name, _ in pairs], given)
    for i, meaning in enumerate(meanings):
        known = i in time or (meaning is not None and meaning.quantity in used)
        known |= any(names[i] in group for group in (groups or {}).values())
        if known and names.count(names[i]) > 1:
            raise source.error(f"{source.header}: the column {names[i]!r} appears more than once")
    found = {q: _of_joints(source, q, meanings, joints) for q in used if q not in given}
    for quantity, wanted in given.items():
        if quantity != "t":
            found[quantity] = dict(enumerate(_wanted(source, quantity, wanted, len(joints))))
    whole = {q: at for q, at in found.items() if len(at) == len(joints)}
    places = {q: tuple(at[i] for i in range(len(joints))) for q, at in whole.items()}
    if "tau" in places:
        places.pop("current", None)
    unknown = [i for i, meaning in enumerate(meanings) if meaning is None and i not in time]
    missing = set(used) - ({*places, "tau", "current"} if "tau" in whole else {*places})
    _check_spelling(source, [(i, pairs[i][0]) for i in unknown], missing, joints)
    _check_complete(source, found, places, joints, advice)
    places |= _groups(source, groups or {})
    unit = pairs[time[0]][1].replace("µ", "u") if time else ""
    columns = {*time, *(i for at in places.values() for i in at)}
    return TableColumns(
        time,
        places,
        {quantity: tuple(pairs[i][1] for i in at) for quantity, at in places.items()},
        unit if unit in TIME_UNITS else None,
        tuple(names[i] for i in unknown if i not in columns and names[i]),
    )


def _split_unit(name: str, joints: Sequence[str]) -> tuple[str, str]:
    """A name without the unit behind it, and that unit."""
    unit = _UNIT.search(name)
    if not unit or unit[1].strip() in joints:
        return name, ""
    return name[: unit.start()], unit[1].strip()


def _plain(text: str) -> str:
    return re.sub(r"[^a-z0-9]", "", text.lower())


def meaning_of(name: str, joints: Sequence[str]) -> ColumnMeaning | None:
    """The quantity and the joint in a name; None: something else."""
    for place, texts in _by_joint(name, joints):
        quantity = next(filter(None, map(_quantity, texts)), "")
        if quantity or not any(map(_plain, texts)):
            return ColumnMeaning(quantity or "q", place, False, True)
    match = _NUMBERED.match(name)
    if match and (quantity := _quantity(match[1])):
        return ColumnMeaning(quantity, int(match[2]), True, _plain(match[1]) in _QUANTITIES)
    if (bare := _SEPARATORS.split(name)[-1]) in joints:
        return ColumnMeaning("q", joints.index(bare), False, True)
    return None


def _quantity(text: str) -> str:
    """The quantity that the last words of a name are about; empty if there is none."""
    parts = [part for part in re.split(r"[^a-zA-Z0-9]+", text) if part]
    words = (_plain("".join(parts[-count:])) for count in (3, 2, 1))
    return next((_QUANTITIES[word] for word in words if word in _QUANTITIES), "")


def _by_joint(name: str, joints: Sequence[str]) -> Iterator[tuple[int, tuple[str, str]]]:
    """The joints in a name, the longest first, each with what stands behind and before it."""
    for place in sorted(range(len(joints)), key=lambda i: -len(joints[i])):
        pattern = rf"(?<![a-zA-Z0-9]){re.escape(joints[place])}(?![a-zA-Z0-9])"
        if match := re.search(pattern, name):
            yield place, (name[match.end() :], name[: match.start()])


def _of_joints(
    source: TableSource,
    quantity: str,
    meanings: Sequence[ColumnMeaning | None],
    joints: Sequence[str],
) -> dict[int, int]:
    """The columns of a quantity by the place of the joint; numbers may count from 0 or 1."""
    mine = [(i, m) for i, m in enumerate(meanings) if m is not None and m.quantity == quantity]
    mine.sort(key=lambda pair: not pair[1].exact)
    if named := [(i, m) for i, m in mine if not m.numbered]:
        return {m.joint: i for i, m in reversed(named)}
    numbered = {m.joint: i for i, m in reversed(mine)}
    listed, first = source.listed or joints, 0 if 0 in numbered else 1
    last = max(numbered, default=0)
    if last - first >= len(listed):
        raise source.error(
            f"{source.header}: the columns of {NAMES[quantity]} go up to "
            f"{source.names[numbered[last]]}, but the robot has {counted(len(joints), 'joint')}; "
            f"expected {quantity}1..{quantity}{len(joints)}"
        )
    at = {k: numbered[k + first] for k in range(len(listed)) if k + first in numbered}
    return {joints.index(listed[k]): i for k, i in at.items() if listed[k] in joints}


def _wanted(source: TableSource, quantity: str, wanted: str | Sequence[str], n: int) -> list[int]:
    require(quantity in WORDS, "columns", f"t, {', '.join(WORDS)}", quantity, source.error)
    each = [wanted] if isinstance(wanted, str) else list(wanted)
    if len(each) != n:
        raise source.error(
            f"columns: expected {counted(n, 'name')} for {quantity}, one a joint, got {len(each)}"
        )
    for name in each:
        if name not in source.names:
            close = difflib.get_close_matches(str(name), source.names, n=3, cutoff=0.5)
            guess = f"; did you mean {' or '.join(map(repr, close))}?" if close else ""
            raise source.error(f"{source.where}: there is no column {name!r}{guess}")
    return [source.names.index(name) for name in each]


def _groups(source: TableSource, groups: Mapping[str, Sequence[str]]) -> dict[str, tuple[int, ...]]:
    found = {}
    for group, columns in groups.items():
        missing = [name for name in columns if name not in source.names]
        if not missing:
            found[group] = tuple(map(source.names.index, columns))
        elif len(missing) < len(columns):
            listed = f"s {', '.join(missing)} are" if len(missing) > 1 else f" {missing[0]} is"
            raise source.error(
                f"{source.header}: the column{listed} missing; expected all of {', '.join(columns)}"
            )
    return found


def _time(
    source: TableSource, plain: Sequence[str], given: Mapping[str, str | Sequence[str]]
) -> tuple[int, ...]:
    if "t" in given:
        if given["t"] not in source.names:
            raise source.error(f"{source.where}: there is no column {given['t']!r} for the time")
        return (source.names.index(str(given["t"])),)
    words = [_plain(name) for name in plain]
    nano = [i for i, word in enumerate(words) if word.endswith(("nsecs", "nsec", "nanosec"))]
    for i in nano:
        stem = re.sub(r"(nsecs?|nanosec)$", "", words[i])
        whole = [k for k, w in enumerate(words) if w in (f"{stem}secs", f"{stem}sec")]
        if whole:
            return whole[0], i
    exact = [i for word in _TIMES for i, w in enumerate(words) if w == word]
    ends = [i for i, w in enumerate(words) if w.endswith(("headerstamp", "timestamp", "time"))]
    return tuple((exact + ends)[:1])


def _check_spelling(
    source: TableSource,
    unknown: Sequence[tuple[int, str]],
    missing: set[str],
    joints: Sequence[str],
) -> None:
    """Refuse a column that is not known and looks like one of a quantity that is missing."""
    words = [word for word, quantity in _QUANTITIES.items() if quantity in missing]
    for i, name in unknown:
        match = _NUMBERED.match(name)
        stems = [(text, joints[k]) for k, texts in _by_joint(name, joints) for text in texts]
        stems += [(match[1], match[2])] if match else []
        for stem, joint in stems:
            last = "".join(re.findall(r"[a-z0-9]+", stem.lower())[-1:])
            least = RESEMBLING_LETTERS if set(last) <= {"q", "d"} else RESEMBLING
            if close := difflib.get_close_matches(last, words, 1, least):
                column = close[0] + joint if joint.isdecimal() else f"{joint}.{close[0]}"
                raise source.error(
                    f"{source.header}: the column {source.names[i]!r} is not known; did you mean "
                    f"{column!r}?"
                )


def _check_complete(
    source: TableSource,
    found: Mapping[str, Mapping[int, int]],
    places: Mapping[str, tuple[int, ...]],
    joints: Sequence[str],
    advice: str,
) -> None:
    """Refuse quantities that are missing for all or for some of the joints."""
    n = len(joints)
    for quantity, some in found.items():
        torques = quantity == "tau"
        if quantity in places or quantity == "current" or (torques and "current" in places):
            continue
        if torques and not some:
            some = found.get("current", {})  # noqa: PLW2901 (what there is of the torques)
        elif not some and quantity != "q":
            continue
        missing = [joints[i] for i in range(n) if i not in some]
        what = NAMES[quantity]
        about = f"the {what} of {', '.join(missing)} are missing"
        about = about if some else f"no column of {what} was recognised"
        raise source.error(
            f"{source.header}: {about}; expected "
            f"a column for each of {counted(n, 'joint')}, as {quantity}1..{quantity}{n} or "
            f"{joints[0]}.{WORDS[quantity].split()[2]}, found {', '.join(source.names):.200}"
            + (f". {advice}: columns={{'{quantity}': [...]}}" if advice else "")
        )


_MOST_BACK = 0.2
"""Share of the time stamps that may step back, as where a recorder mixes its rows a little."""
ADVICE = (
    "Hold joints that are not in the log (locked=, --lock JOINT=VALUE), rename columns, or say "
    "which are meant"
)
_FIELDS = ("t", "q", "qd", "qdd", "tau", "current")


@dataclass(frozen=True, slots=True, eq=False)
class Samples:
    """Samples of a log: times (m,) [s], the rest (m, n) in SI units; NaN is a missing number."""

    t: Array
    q: Array
    tau: Array
    qd: Array | None = None
    qdd: Array | None = None

    def __len__(self) -> int:
        return len(self.t)

    def __getitem__(self, rows: Any) -> "Samples":
        parts = (getattr(self, name) for name in self.__slots__)
        return Samples(*(None if part is None else part[rows] for part in parts))  # type: ignore[arg-type]

    def joined(self, other: "Samples") -> "Samples":
        """These and then the other ones."""
        pairs = ((getattr(self, name), getattr(other, name)) for name in self.__slots__)
        return Samples(*(None if a is None else np.concatenate([a, b]) for a, b in pairs))  # type: ignore[arg-type]


@dataclass(frozen=True, eq=False)
class Log:
    """A log, or a part of it, that can be read any number of times."""

    source: TableSource
    columns: TableColumns
    scales: Array
    """What the numbers in each used column are multiplied with."""
    period: float
    """Usual time between samples [s]."""
    first: int = 0
    """The first row that counts."""
    last: int | None = None
    """The row behind the last one that counts; None: the end."""
    turns: Sequence[bool] = ()
    """Which joints turn."""

    @property
    def where(self) -> str:
        """The file, or what the arrays are called."""
        return self.source.where

    @property
    def rows(self) -> int:
        """How many rows count."""
        last = self.source.rows if self.last is None else min(self.last, self.source.rows)
        return max(last - self.first, 0)

    def part(self, first: int, last: int | None) -> "Log":
        """These rows alone."""
        return replace(self, first=first, last=last)

    def blocks(self) -> Iterator[Samples]:
        """The samples, block by block."""
        row = 0
        for block in self.source.blocks(self.columns.used):
            start, stop = max(self.first - row, 0), len(block)
            if self.last is not None:
                stop = min(self.last - row, stop)
            if start < stop:
                yield self._samples(block[start:stop], row + start)
            row += len(block)
            if self.last is not None and row >= self.last:
                return

    def _samples(self, block: Array, row: int) -> Samples:
        parts = self.columns.split(block * self.scales)
        if "current" in parts:
            parts["tau"] = parts.pop("current")
        if not self.columns.time:
            parts["t"] = (row + np.arange(len(block))) * self.period
        return Samples(**parts)


def open_log(
    data: Any,
    joints: Sequence[str],
    turns: Sequence[bool],
    *,
    columns: Mapping[str, str | Sequence[str]] | None = None,
    degrees: bool = False,
    gains: npt.ArrayLike | None = None,
    rate: float | None = None,
    time_unit: str | None = None,
    name: str = "data",
) -> Log:
    """The log in a file (.csv, .parquet, .npz), or in arrays t, q, tau and, where known, qd, qdd.

    Args:
        data: A path, a mapping of arrays, or anything with arrays as attributes.
        joints: Names of the joints, in order.
        turns: Which of them turn; degrees are of these.
        columns: Which columns are meant, if their names do not tell.
        degrees: Whether angles and their rates are in degrees.
        gains: What the torques, or the currents, are multiplied with, (n,) [N m/A].
        rate: Samples a second, if there are no time stamps.
        time_unit: Unit of the time stamps; None: as the log says, else seconds.
        name: What arrays are called in messages.
    """
    path = isinstance(data, str | Path)
    source = open_source(data) if path else ArraySource(name, _arrays(name, data))
    found = find_columns(
        source, joints, ("q", "tau", "qd", "qdd", "current"), given=columns, advice=ADVICE
    )
    if not found.time and rate is None:
        raise LogError(
            f"{source.where}: there is no column of time (t, time, timestamp, ...); say how many "
            "samples there are a second: rate=..."
        )
    if rate is not None and not 0 < real(rate) < np.inf:
        raise LogError(f"rate: expected samples a second, more than 0, got {shown(rate)}")
    if rate is not None:
        found = replace(found, time=())
    if time_unit is not None and time_unit not in TIME_UNITS:
        expected = ", ".join(TIME_UNITS)
        raise LogError(f"time_unit: expected one of {expected}, got {shown(time_unit)}")
    gain = _gains(source, found, gains, len(joints))
    scales = found.scales(turns, degrees, gain, time_unit)
    period = _period(source, found, scales, time_unit) if rate is None else 1.0 / rate
    return Log(source, found, scales, period, turns=turns)


def _arrays(name: str, data: Any) -> Mapping[str, Any]:
    if isinstance(data, Mapping):
        return data
    given = {key: getattr(data, key) for key in _FIELDS if getattr(data, key, None) is not None}
    require(
        "q" in given, name, "a .csv, .parquet or .npz file, or arrays t, q and tau", data, LogError
    )
    return given


def _gains(source: TableSource, found: TableColumns, given: npt.ArrayLike | None, n: int) -> Array:
    """What the torques or currents of each joint are multiplied with, one or (n,)."""
    if given is None and "current" in found.places:
        raise LogError(
            f"{source.where}: there are currents and no torques; give the gains of the drives in "
            "N m/A at the joint: gains=[...], or 1 for each, and the robot is found up to these "
            "factors"
        )
    gains = np.asarray(1.0 if given is None else given, dtype=float)
    if gains.shape not in ((), (n,)) or not np.isfinite(gains).all() or not gains.all():
        raise LogError(f"gains: expected {counted(n, 'number')} other than 0, got {shown(given)}")
    return gains


def _period(source: TableSource, found: TableColumns, scales: Array, unit: str | None) -> float:
    """The usual time between samples [s]."""
    first = next(source.blocks(found.used), np.zeros((0, len(scales))))
    period = _usual_step(source.where, np.diff(found.split(first * scales)["t"]))
    known = unit or found.time_unit or len(found.time) == 2
    if period > LONGEST_PERIOD and not known:
        told = next((u for u in ("ms", "us", "ns") if period * TIME_UNITS[u] <= 0.2), "ns")
        raise LogError(
            f"{source.where}: time stamps are {period:g} apart, too far for seconds; if they are "
            f"in {told}, say time_unit={told!r}"
        )
    return period


def _usual_step(where: str, steps: Array) -> float:
    """The median of steps of time that go forwards [s]; an error if too few do."""
    forwards = steps[steps > 0]
    if not len(forwards):
        raise LogError(f"{where}: there are no two samples with increasing times")
    back = float(np.mean(steps < 0))
    if back > _MOST_BACK:
        raise LogError(
            f"{where}: {100 * back:.0f} % of the time stamps are before the one in front; rows "
            "come in the order of time: sort them, or check the column of time"
        )
    return float(np.median(forwards))
