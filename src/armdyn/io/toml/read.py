"""Robot files in armdyn's own format: a DH table, or a tree of links and joints, in TOML.

docs/formats.md describes every key. `armdyn.io.toml.write` writes what this module reads.
"""

import re
import tomllib
from dataclasses import replace
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy.typing as npt

from armdyn.errors import ModelError, TomlError, UnknownNameError, shown
from armdyn.io.closing import loop_from_keys, loop_keys
from armdyn.io.dh import COLUMNS, read_dh
from armdyn.io.keys import drive_from_keys, spring_from_keys
from armdyn.io.options import DEFAULT_OPTIONS, LoadOptions, Reading, named_file
from armdyn.io.regular import read_regular
from armdyn.io.shapes import PLACEMENT, ShapeReader, density_findings
from armdyn.io.toml.table import Table
from armdyn.io.toml.tree import tree_model
from armdyn.model import GRAVITY, Frame, Loop, RobotModel
from armdyn.model.cut_joints import CUT_JOINTS
from armdyn.model.edit import lock, with_base, with_gravity, with_loops
from armdyn.model.joint_types import COMPOUND_TYPES
from armdyn.model.transform import IDENTITY
from armdyn.model.validate import physical_warnings

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
TOP = ("format", *TEXTS, "gravity", "reduced", *PARTS)
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
    model = model if options.gravity is None else with_gravity(model, options.gravity)
    model = model if options.base is None else with_base(model, options.base)
    model = lock(model, options.locked or {})
    with named_file(path):
        filled = density_findings(str(path), options.density, shapes.filled)
        return model, (*findings, *filled, *physical_warnings(model, options.physical))


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
    loops = [_loop(model, t) for t in top.tables("loops")]
    passive = [name for t in top.tables("joint") for name in _passive(t)]
    given = top.table("assembly")
    if given is not None and not loops:
        raise given.error("there are no [[loops]] to assemble; leave it out")
    if not loops and not passive:
        return model
    assembly = {} if given is None else {name: given.number(name) for name in given.data}
    return with_loops(model, loops, passive, assembly)


def _passive(t: Table) -> list[str]:
    """Names of the simple joints of a table that has actuated = false."""
    if t.flag("actuated", True):
        return []
    compound = COMPOUND_TYPES.get(t.text("type")) if "type" in t.data else None  # DH: a joint
    if compound is None:
        return [t.text("name")]
    return [f"{t.text('name')}_{ending}" for ending, _, _ in compound.parts]


def _loop(model: RobotModel, t: Table) -> Loop:
    kind = t.text("type")
    if kind not in CUT_JOINTS:
        raise t.error(str(UnknownNameError("cut joint of type", kind, CUT_JOINTS)))
    t.check_keys(loop_keys(kind))
    try:
        loop = loop_from_keys(model, t.where, {**t.data, "name": t.text("name")})
    except (ModelError, UnknownNameError) as fault:
        raise t.error(str(fault).removeprefix(f"{t.where}: ")) from fault
    if loop.fault:
        raise t.error(f"{loop.where}: {loop.fault}")
    return loop
