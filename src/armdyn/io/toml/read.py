"""Robot files in armdyn's own format: a DH table, or a tree of links and joints, in TOML.

docs/formats.md describes every key. `armdyn.io.toml.write` writes what this module reads. Every
error names the file, the table and the key.
"""

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate
from math import isfinite
from pathlib import Path
from typing import Any

import numpy.typing as npt

from armdyn.arrays import Array, check_constant, frozen
from armdyn.errors import ModelError, TomlError, UnknownNameError, require, shown
from armdyn.io import keys
from armdyn.io.closing import closed_by_keys, loop_keys
from armdyn.io.dh import COLUMNS, read_dh
from armdyn.io.keys import (
    PLACEMENT,
    ShapeReader,
    density_findings,
    drive_from_keys,
    inertia_from_keys,
    placement_from_keys,
    spring_from_keys,
)
from armdyn.io.options import DEFAULT_OPTIONS, LoadOptions, Reading
from armdyn.io.regular import read_regular
from armdyn.model import GRAVITY, Body, Frame, Inertia, Mimic, RobotModel
from armdyn.model.assemble import Connection, assemble
from armdyn.model.cut_joints import CUT_JOINTS
from armdyn.model.edit import lock
from armdyn.model.joint_types import COMPOUND_TYPES, DESCRIBED_TYPES, described_type
from armdyn.model.link import LinkParts
from armdyn.model.transform import IDENTITY


@dataclass(frozen=True, slots=True)
class Table:
    """One table of a TOML file: its keys and values, and where it stands."""

    data: Mapping[str, Any]
    where: str
    """Such as "joint 2 'elbow'"; empty for the top of the file."""
    file: Path

    def error(self, message: str) -> TomlError:
        """An error at this table, to be raised by the caller."""
        return TomlError(f"{self.where}: {message}" if self.where else message, file=self.file)

    def check_keys(self, allowed: Iterable[str]) -> None:
        """Refuse keys that nobody would read, naming the nearest ones, and what is not finite."""
        names = tuple(allowed)
        for key, value in self.data.items():
            if key not in names:
                raise self.error(str(UnknownNameError("key", key, names)))
            entries = value if isinstance(value, list) else [value]
            if any(isinstance(entry, float) and not isfinite(entry) for entry in entries):
                advice = "; leave a limit out where there is none" if "limit" in key else ""
                raise self.error(f"{key}: expected a finite number, got {shown(value)}{advice}")

    def text(self, key: str, default: str | None = None) -> str:
        """A string."""
        return str(self._get(key, default, "a string", str))

    def flag(self, key: str, default: bool = False) -> bool:
        """A boolean, true or false."""
        return bool(self._get(key, default, "true or false", bool))

    def number(self, key: str, default: float | None = None) -> float:
        """A finite number, or the default, which need not be finite."""
        if default is not None and key not in self.data:
            return default
        return float(self.array(key, ()))

    def array(self, key: str, shape: tuple[int, ...], default: Any = None) -> Array:
        """Finite numbers of the given shape."""
        value = self._get(key, default, f"numbers of shape {shape}" if shape else "a number")
        return check_constant(f"{self.where}: {key}" if self.where else key, value, shape)

    def table(self, key: str) -> "Table | None":
        """The table under a key, or None where it is absent."""
        value = self.data.get(key)
        if value is None:
            return None
        require(isinstance(value, dict), key, "a table", value, self.error)
        return Table(value, f"{self.where}: {key}" if self.where else key, self.file)

    def tables(self, key: str) -> "list[Table]":
        """The tables of an array [[key]], numbered from 1 and called by their names."""
        rows = self.data.get(key, [])
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise self.error(f"{key}: expected tables, each headed by [[{key}]], got {shown(rows)}")
        before = f"{self.where}: " if self.where else ""
        names = [f" {shown(row['name'])}" if "name" in row else "" for row in rows]
        return [
            Table(row, f"{before}{key} {i}{name}", self.file)
            for i, (row, name) in enumerate(zip(rows, names, strict=True), start=1)
        ]

    def placement(self) -> Array:
        """The 4x4 transform under `position` [m] and `rpy` [rad] or `rotation`."""
        return placement_from_keys(self.where, self.data)

    def _get(self, key: str, default: Any, expected: str, kind: type = object) -> Any:
        value = self.data.get(key, default)
        if value is None:
            raise self.error(f"the key {key!r} is missing; expected {expected}")
        require(isinstance(value, kind), key, expected, value, self.error)
        return value


FORMAT = 1
"""The version of the format that is read and written."""
MAX_TOML_BYTES = 4 * 2**20
"""Largest file that is read [bytes]: about 6,000 joints."""
MAX_JOINTS = 5000
"""Most links or joints in one robot."""
MAX_DEPTH = 6
"""Deepest nesting of arrays and tables, and most dots of a key; the format has no more."""
_TEXT_OR_COMMENT = re.compile(
    r"""\"{3}(?:[^"\\]|\\.|"(?!""))*+(?:\"{3}|\Z)|'{3}(?:[^']|'(?!''))*+(?:'{3}|\Z)"""
    r"""|"(?:[^"\\\n]|\\.)*+"?|'[^'\n]*+'?|\#[^\n]*+""",
    re.DOTALL,
)
_DEEP_KEY = re.compile(rf"(?<![\w-])(?:[\w-]++[ \t]*+\.[ \t]*+){{{MAX_DEPTH}}}")
TEXTS = ("name", "title", "source", "note")
PARTS = ("base", "tool", "flange", "letters", "joint", "drives", "springs", "loops", "assembly")
TOP = ("format", *TEXTS, "gravity", "reduced", "floating", "coordinates", *PARTS)
_PARAMETER = re.compile(r"[A-Za-z]\w{0,19}", re.ASCII)
_LONGEST_EXPRESSION = 200


def read_toml(path: Path, options: LoadOptions = DEFAULT_OPTIONS) -> Reading:
    """The robot in a TOML file, with what is odd about it.

    The tool transform of the file belongs to its own flange and is dropped with it.
    """
    top = Table(parsed_toml(path), "", path)
    shapes = ShapeReader(path.parent, options.density, options.trusted)
    try:
        model, findings = _reading(top, shapes)
    except (ModelError, UnknownNameError) as error:
        raise error if isinstance(error, TomlError) else TomlError(str(error), file=path) from error
    if options.tool is not None:
        flange = _named(model, options.tool)
        kept = model.tool if flange is model.flange else IDENTITY
        model = replace(model, flange=flange, tool=kept)
    floats = model.floating and not options.fix_root
    model = lock(replace(model, floating=floats), options.locked or {})
    filled = density_findings(str(path), options.density, shapes.filled)
    return options.reading(path, model, (*findings, *filled))


def parsed_toml(path: Path) -> dict[str, Any]:
    """The tables of a TOML file; a TomlError where there are none."""
    data = read_regular(path, partial(TomlError, file=path), MAX_TOML_BYTES)
    try:
        text = data.decode()
    except UnicodeDecodeError as reason:
        raise TomlError(f"cannot be read: {reason}", file=path) from reason
    _check_depth(text, path)
    try:
        return tomllib.loads(text)
    except ValueError as reason:  # that an integer has too many digits is another one
        raise TomlError(f"not valid TOML: {reason}", file=path) from reason


def _check_depth(text: str, path: Path) -> None:
    """Refuse deep nesting before the parser, whose time grows with the square of the depth."""
    bare = _TEXT_OR_COMMENT.sub("_", text)
    steps = (1 if bracket[0] in "[{" else -1 for bracket in re.finditer(r"[\[\]{}]", bare))
    if _DEEP_KEY.search(bare) or any(depth > MAX_DEPTH for depth in accumulate(steps)):
        raise TomlError(f"tables or arrays are nested more than {MAX_DEPTH} deep", file=path)


def _reading(top: Table, shapes: ShapeReader) -> Reading:
    version = top.data.get("format")
    if version != FORMAT:
        raise top.error(
            f"format: expected {FORMAT}, got {shown(version)}; a robot file begins with "
            f"'format = {FORMAT}', and a higher number needs a newer armdyn"
        )
    table = "convention" in top.data
    top.check_keys((*TOP, "convention") if table else (*TOP, "link"))
    if max(len(top.tables("joint")), len(top.tables("link"))) > MAX_JOINTS:
        raise top.error(f"there are more than {MAX_JOINTS} links or joints")
    if not top.tables("joint"):
        raise top.error("there is no [[joint]] in this file")
    model, findings = (
        _dh_reading(top, shapes) if table else (tree_model(top, shapes, **_common(top)), ())
    )
    model = replace(
        model,
        flange=_named(model, top.text("flange", model.flange.name)),
        title=top.text("title", ""),
        note=top.text("note", ""),
        letters=_letters(top.table("letters")),
        floating=top.flag("floating"),
        drives=tuple(drive_from_keys(t.where, t.data) for t in top.tables("drives")),
    )
    springs = tuple(spring_from_keys(model, t.where, t.data) for t in top.tables("springs"))
    return closed_by_tables(replace(model, springs=springs), top), findings


def _letters(table: Table | None) -> dict[str, str]:
    """What parameters are in letters; whether that fits the robot is seen when it is used."""
    if table is None:
        return {}
    for key in table.data:
        if not _PARAMETER.fullmatch(key):
            raise table.error(f"expected the symbol of a parameter, such as a1, got {key[:40]!r}")
        if len(table.text(key)) > _LONGEST_EXPRESSION:
            raise table.error(
                f"{key}: expected an expression of at most {_LONGEST_EXPRESSION} characters, got "
                f"{len(table.text(key))}"
            )
    return {key: table.text(key) for key in table.data}


def _common(top: Table) -> dict[str, Any]:
    """What both forms of the file say about the whole robot."""

    def place(key: str) -> npt.ArrayLike:
        table = top.table(key)
        if table is None:
            return IDENTITY
        table.check_keys(PLACEMENT)
        return table.placement()

    return {
        "name": top.text("name", top.file.stem),
        "source": top.text("source", ""),
        "reduced": top.flag("reduced"),
        "gravity": top.array("gravity", (3,), tuple(GRAVITY)),
        "base": place("base"),
        "tool": place("tool"),
    }


def _named(model: RobotModel, name: str) -> Frame:
    for frame in (model.flange, *model.frames):
        if frame.name == name:
            return frame
    names = [frame.name for frame in model.frames]
    raise UnknownNameError(f"link or frame for the flange of {model.name!r} named", name, names)


def _dh_reading(top: Table, shapes: ShapeReader) -> Reading:
    tables = top.tables("joint")
    for t in tables:
        t.check_keys(COLUMNS)
    return read_dh(
        [{key: value for key, value in t.data.items() if key != "actuated"} for t in tables],
        top.text("convention"),  # type: ignore[arg-type]  # checked there
        **_common(top),
        physical="ignore",
        places=[t.where for t in tables],
        shapes=shapes,
    )


def closed_by_tables(model: RobotModel, top: Table) -> RobotModel:
    """The tree with the loops that its file has."""
    loops, assembly = top.tables("loops"), top.table("assembly")
    for t in loops:
        t.text("name")
        if (kind := t.text("type")) not in CUT_JOINTS:
            raise t.error(str(UnknownNameError("cut joint of type", kind, CUT_JOINTS)))
        t.check_keys(loop_keys(kind))
    if assembly is not None and not loops:
        raise assembly.error("there are no [[loops]] to assemble; leave it out")
    passive = [name for t in top.tables("joint") for name in _passive(t)]
    near = None if assembly is None else assembly.data
    places = [t.where for t in loops]
    names = top.data.get("coordinates")
    return closed_by_keys(model, [t.data for t in loops], passive, near, places, names)


def _passive(t: Table) -> list[str]:
    """Names of the simple joints of a table that has actuated = false."""
    if t.flag("actuated", True):
        return []
    compound = COMPOUND_TYPES.get(t.text("type")) if "type" in t.data else None  # DH: a joint
    if compound is None:
        return [t.text("name")]
    return [f"{t.text('name')}_{ending}" for ending, _, _ in compound.parts]


INERTIA = ("shape", *keys.INERTIA, "inertia_rpy", "inertia_rotation")
LINK = ("name", "body", "frame", *INERTIA)
BODY = ("name", "payload", *PLACEMENT, *INERTIA)
ENDS = ("name", "type", "pitch", "parent", "child", *PLACEMENT, "axis", "mimic", "actuated")
JOINT = (*ENDS, "lower", "upper", *keys.JOINT_KEYS)


def tree_model(
    top: Table, shapes: ShapeReader, *, tool: npt.ArrayLike, **common: Any
) -> RobotModel:
    """The robot of a file with [[link]] and [[joint]] tables; `common` goes to `assemble`."""
    links: dict[str, Inertia | LinkParts] = {}
    for t in top.tables("link"):
        name = t.text("name")
        if name in links:
            raise t.error("the name is taken; give each link its own")
        t.check_keys(LINK)
        links[name] = _link_parts(t, name, shapes)
    connections = [_connection(t) for t in top.tables("joint")]
    return assemble(links=links, connections=connections, tool_transform=tool, **common)


def _link_parts(t: Table, name: str, shapes: ShapeReader) -> LinkParts:
    bodies, parts = [], t.tables("body")
    if not parts or any(key in t.data for key in INERTIA):
        inertia = inertia_from_keys(t.where, t.data, shapes)
        bodies.append(Body(name, inertia, frozen(IDENTITY)))  # moved, as the others are
    for part in parts:
        part.check_keys(BODY)
        inertia = inertia_from_keys(part.where, part.data, shapes)
        place = frozen(part.placement())
        bodies.append(Body(part.text("name"), inertia, place, part.flag("payload")))
    places = [(body.name, body.placement) for body in bodies if not body.payload]
    for part in t.tables("frame"):
        part.check_keys(("name", *PLACEMENT))
        places.append((part.text("name"), frozen(part.placement())))
    if name not in dict(places):
        places.insert(0, (name, IDENTITY))
    return LinkParts(tuple(bodies), tuple(places))


def _connection(t: Table) -> Connection:
    t.check_keys(JOINT)
    name, kind = t.text("name"), t.text("type")
    if kind not in DESCRIBED_TYPES:
        *most, last = map(repr, DESCRIBED_TYPES)
        raise t.error(f"type: expected {', '.join(most)} or {last}, got {shown(kind)}")
    try:
        moved = described_type(kind, t.number("pitch") if "pitch" in t.data else None)
    except ModelError as fault:
        raise t.error(str(fault)) from fault
    return Connection(
        name,
        moved,
        t.text("parent"),
        t.text("child"),
        frozen(t.placement()),
        t.array("axis", (3,), (0.0, 0.0, 1.0)),
        mimic=_mimic(t.table("mimic")),
        **keys.joint_from_keys(t.where, t.data),
    )


def _mimic(t: Table | None) -> Mimic | None:
    if t is None:
        return None
    t.check_keys(("leader", "multiplier", "offset"))
    return Mimic(t.text("leader"), t.number("multiplier", 1.0), t.number("offset", 0.0))
