"""Which column of a log is what: by number, by the name of a joint, or as ROS names them.

A column is a word for its quantity with a number ("q1", "actual_q_0", "position[3]") or with the
name of a joint ("/joint_states/elbow_joint/position", "effort.shoulder"). What a log has besides is
left alone.
"""

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from armdyn.errors import LogError, counted, shown

WORDS = {
    "q": "q pos position positions theta angle angles actualq qactual qmeas jointposition",
    "qd": "qd dq vel velocity velocities speed qdot actualqd qdactual jointvelocity thetadot",
    "qdd": "qdd ddq acc acceleration accelerations qddot qddactual jointacceleration",
    "tau": "tau torque torques effort efforts tauj taumeas trq moment jointtorque jointeffort",
    "current": "current currents curr cur i motorcurrent actualcurrent amps jointcurrent",
}
"""What people call a quantity, in small letters without separators."""
_QUANTITIES = {word: quantity for quantity, words in WORDS.items() for word in words.split()}
_TIMES = (
    "t", "time", "timestamp", "stamp", "times", "sec", "secs", "seconds", "headerstamp",
    "fieldheaderstamp", "rosbagtimestamp",
)  # fmt: skip
TIME_UNITS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
"""Units of time stamps, in seconds."""
_NUMBERED = re.compile(r"(.*?)[\s_.\[(/-]*(\d+)[\])]?$")
_UNIT = re.compile(r"\s*[\[(]\s*([^\[\]()0-9]*[a-zA-Zµ°][^\[\]()]*)[\])]\s*$")


@dataclass(frozen=True, slots=True)
class LogColumns:
    """The places of the columns of a log, each quantity in the order of the joints."""

    time: tuple[int, ...]
    """The column of time; two of seconds and nanoseconds; none."""
    places: Mapping[str, tuple[int, ...]]
    """For q, tau or current, and qd and qdd if there are any, the columns."""
    time_unit: str | None = None
    """The unit in the name of the column of time."""
    degrees: bool = False
    """Whether the names say that angles are in degrees."""

    @property
    def used(self) -> list[int]:
        """Every column that is read, time first."""
        return [*self.time, *(place for places in self.places.values() for place in places)]


def find_columns(
    where: str,
    names: Sequence[str],
    joints: Sequence[str],
    given: Mapping[str, str | Sequence[str]] | None = None,
    listed: Sequence[str] = (),
) -> LogColumns:
    """The columns of a log of a robot with these joints, or a LogError that says what is missing.

    Args:
        where: The file, for messages.
        names: The names of its columns.
        joints: The joints of the robot, in order.
        given: For "t", "q", "tau" and so on the columns that are meant, if names do not tell.
        listed: The order of the joints in numbered columns, if the log says it itself.
    """
    plain, units = zip(*(_split_unit(name) for name in names), strict=True)
    found = _named(plain, joints, listed or joints)
    for quantity, wanted in (given or {}).items():
        if quantity != "t":
            found[quantity] = dict(enumerate(_wanted(where, quantity, wanted, names, len(joints))))
    places = {
        quantity: tuple(columns[i] for i in range(len(joints)))
        for quantity, columns in found.items()
        if set(columns) >= set(range(len(joints)))
    }
    _check_complete(where, names, joints, found, places)
    if "tau" in places:
        places.pop("current", None)
    time = _time(where, plain, names, given or {})
    degrees = any(units[i].startswith(("deg", "°")) for i in places["q"])
    unit = {"µs": "us"}.get(units[time[0]], units[time[0]]) if time else None
    return LogColumns(time, places, unit if unit in TIME_UNITS else None, degrees)


def _split_unit(name: str) -> tuple[str, str]:
    unit = _UNIT.search(name)
    return (name[: unit.start()], unit[1].strip()) if unit else (name, "")


def _plain(text: str) -> str:
    return re.sub(r"[^a-z0-9]", "", text.lower())


def _named(
    names: Sequence[str], joints: Sequence[str], listed: Sequence[str]
) -> dict[str, dict[int, int]]:
    """For each quantity the columns by the place of the joint; numbers may count from 0 or 1."""
    found: dict[str, dict[int, int]] = {}
    numbered: dict[str, dict[int, int]] = {}
    for column, name in enumerate(names):
        for quantity, joint in _by_joint(name, joints):
            found.setdefault(quantity, {}).setdefault(joint, column)
            break
        else:
            match = _NUMBERED.match(name)
            quantity = _quantity(match[1]) if match else ""
            if match and quantity:
                numbered.setdefault(quantity, {}).setdefault(int(match[2]), column)
    for quantity, columns in numbered.items():
        if quantity not in found:
            first = 0 if 0 in columns else 1
            order = {i: joints.index(j) for i, j in enumerate(listed) if j in joints}
            found[quantity] = {
                order[k - first]: c for k, c in columns.items() if k - first in order
            }
    return found


def _quantity(text: str) -> str:
    """The quantity that the last words of a name are about; empty if there is none."""
    parts = [part for part in re.split(r"[^a-zA-Z0-9]+", text) if part]
    for count in (3, 2, 1):
        word = _plain("".join(parts[-count:]))
        if word in _QUANTITIES:
            return _QUANTITIES[word]
    return ""


def _by_joint(name: str, joints: Sequence[str]) -> Iterator[tuple[str, int]]:
    """The quantity and the joint in a name, the longest names of joints first."""
    for place in sorted(range(len(joints)), key=lambda i: -len(joints[i])):
        pattern = rf"(?:^|[^a-zA-Z0-9]){re.escape(joints[place])}(?:$|[^a-zA-Z0-9])"
        if match := re.search(pattern, name):
            for rest in (name[match.end() - 1 :], name[: match.start() + 1]):
                if quantity := _quantity(rest):
                    yield quantity, place


def _wanted(
    where: str, quantity: str, wanted: str | Sequence[str], names: Sequence[str], n: int
) -> list[int]:
    if quantity not in WORDS:
        raise LogError(f"columns: expected t, {', '.join(WORDS)}, got {shown(quantity)}")
    each = [wanted] if isinstance(wanted, str) else list(wanted)
    if len(each) != n:
        wanted_names = counted(n, "name")
        raise LogError(
            f"columns: expected {wanted_names} for {quantity}, one a joint, got {len(each)}"
        )
    for name in each:
        if name not in names:
            close = difflib.get_close_matches(str(name), names, n=3, cutoff=0.5)
            guess = f"; did you mean {' or '.join(map(repr, close))}?" if close else ""
            raise LogError(f"{where}: there is no column {name!r}{guess}")
    return [names.index(name) for name in each]


def _time(
    where: str, plain: Sequence[str], names: Sequence[str], given: Mapping[str, str | Sequence[str]]
) -> tuple[int, ...]:
    if "t" in given:
        if given["t"] not in names:
            raise LogError(f"{where}: there is no column {given['t']!r} for the time")
        return (list(names).index(str(given["t"])),)
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


def _check_complete(
    where: str,
    names: Sequence[str],
    joints: Sequence[str],
    found: Mapping[str, Mapping[int, int]],
    places: Mapping[str, tuple[int, ...]],
) -> None:
    n, all_names = len(joints), ", ".join(names)
    for quantity, what in (("q", "positions"), ("tau", "torques")):
        if quantity in places or (quantity == "tau" and "current" in places):
            continue
        some = found.get(quantity) or (found.get("current") if quantity == "tau" else None) or {}
        missing = [joints[i] for i in range(n) if i not in some]
        about = (
            f"the {what} of {', '.join(missing)} are missing"
            if some
            else f"no column of {what} was recognised"
        )
        raise LogError(
            f"{where}: {about}; expected a column for each of {counted(n, 'joint')}, as "
            f"{quantity}1.."
            f"{quantity}{n} or {joints[0]}.{WORDS[quantity].split()[2]}, found {all_names:.200}. "
            "Hold joints that are not in the log (locked=, --lock JOINT=VALUE), rename columns, "
            f"or say which are meant: columns={{'{quantity}': [...]}}"
        )
