"""The robot of a command line: one argument, and the options that all verbs with a robot share."""

import math
import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import partial
from inspect import Parameter, getdoc, getsource, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args, get_origin, get_type_hints

import typer

from armdyn.forks import imported
from armdyn.io.atomic import STANDARD_OUTPUT

if TYPE_CHECKING:
    from armdyn.io.options import Reading
    from armdyn.robot import Robot


def option(default: Any, help: str, metavar: str | None = None, *flags: str, **more: Any) -> Any:
    """An option of a verb, written as the default of its parameter."""
    return typer.Option(default, *flags, metavar=metavar, help=help, **more)


def optional(help: str, metavar: str | None = None, *flags: str, **more: Any) -> Any:
    """An option that may be left out."""
    return option(None, help, metavar, *flags, **more)


def flag(name: str, help: str) -> Any:
    """An option that is given or not."""
    return typer.Option(False, name, help=help)


def file_option(help: str, metavar: str | None = None, **more: Any) -> Any:
    """The option -o, the file that a verb writes its result to."""
    return optional(help, metavar, "-o", "--output", **more)


def argument(metavar: str, help: str, default: Any = ..., **more: Any) -> Any:
    """An argument of a verb, written as the default of its parameter."""
    return typer.Argument(default, metavar=metavar, help=help, **more)


def shared(help: str, metavar: str | None = None, default: Any = None) -> Any:
    """An option that all verbs with a robot have, as a field of their record; see `fields_of`."""
    return field(default=default, metadata={"help": help, "metavar": metavar})


def checked_plot(path: Path | None) -> Path | None:
    """Refuse, before anything is computed, a plot that could not be drawn."""
    from armdyn.report.figures import check_plot

    if path is not None:
        check_plot(path)
    return path


def complete_robot(incomplete: str) -> list[str]:
    """Names of the catalog, and files and folders, that a shell offers for a robot."""
    from glob import escape, glob

    from armdyn.io.catalog import catalog_names
    from armdyn.io.files import READABLE

    found = [name for name in catalog_names() if name.startswith(incomplete)]
    for path in sorted(glob(f"{escape(incomplete)}*")):
        if os.path.isdir(path):
            found.append(path + os.sep)
        elif path.lower().endswith(tuple(READABLE)):
            found.append(path)
    return found


Plot = Annotated[
    Path | None,
    typer.Option(callback=checked_plot, help="Draw the result to a .png, .pdf or .svg file."),
]
Friction = Annotated[
    bool, typer.Option("--friction/--no-friction", help="Whether joints have friction.")
]
BASE_MOTION = (
    "How the base moves: columns t; qw..qz or roll, pitch, yaw; wx..wz; wdx..wdz; ax..az, world "
    "axes."
)
"""What the option --base-motion takes."""
Physical = Literal["error", "warn", "ignore"]
OUTPUTS = ("output", "plot", "report")
"""Parameters of verbs that are files to be written; folders and stores have other names."""
READ = {"source": "the robot itself", "trajectory": "the trajectory itself"}
"""What is read by most verbs."""


@dataclass(frozen=True)
class RobotSource:
    """The robot that a command line names, and the options that change it."""

    source: Annotated[
        str,
        typer.Argument(
            metavar="ROBOT",
            help="A name from `armdyn robots`, or a .urdf, .xacro, .sdf, .xml or .toml.",
            autocompletion=complete_robot,
        ),
    ]
    payload: str | None = shared(
        "Hold a mass, in kg, at a point of the tool frame, in m; with its tensor about that point, "
        "in kg m².",
        "MASS[,X,Y,Z[,IXX,IYY,IZZ[,IXY,IXZ,IYZ]]]",
    )
    add_payload: bool = shared("Hold --payload beside what the file holds.", default=False)
    gravity: str | None = shared(
        "The field of gravity in m/s², world axes, pointing down.", "X,Y,Z"
    )
    lock: list[str] | None = shared(
        "Hold a joint at a value, in rad or m; repeatable.", "JOINT=VALUE"
    )
    tool: str | None = shared("The link that carries the tool.", "LINK")
    base: str | None = shared(
        "Where the base stands in the world, in m, and its roll, pitch and yaw, in rad.",
        "X,Y,Z[,R,P,Y]",
    )
    fix_root: bool = shared("Hold a floating base still.", default=False)
    free_base: bool = shared("Let nothing hold the base.", default=False)
    base_joints: str | None = shared(
        "Let the base move on slides x, y, z, hinges rx, ry, rz.", "x,y,rz"
    )
    density: float | None = shared(
        "Give links without inertia that of their geometry, in kg/m³.", "KG/M3"
    )
    hull: bool = shared("Take meshes by their convex hulls for --density.", default=False)
    model: str | None = shared("The robot among the models of SDF.", "NAME")
    spinning_rotors: bool = shared(
        "Let rotors behind gears spin about their joints.", default=False
    )
    coordinates: str | None = shared("Joints that all others follow in loops.", "JOINT,JOINT")
    loops: str | None = shared("The loops of a URDF file, in YAML.", "FILE")
    physical: Physical | None = shared(
        "What to do about inertias that no body can have; error if unset."
    )

    @property
    def changed(self) -> bool:
        """Whether an option makes the robot another one than its description says."""
        options = self.payload, self.gravity, self.lock, self.tool, self.base, self.density
        flags = self.fix_root, self.free_base, self.base_joints, self.spinning_rotors
        return any((*options, *flags, self.coordinates, self.loops))

    def open(self) -> "Robot":
        """Load the robot, and warn of what is odd about it."""
        from armdyn.loading import robot_from

        return robot_from(self.read(), gravity=True)

    def read(self, physical: Physical = "error", fix_root: bool = False) -> "Reading":
        """Read the robot; the arguments hold where the command line says nothing."""
        from armdyn.io.files import read_model
        from armdyn.model.edit import with_base_joints, with_payload
        from armdyn.model.validate import physical_warnings

        physical = self.physical or physical
        model, findings = read_model(
            self.source,
            locked=dict(map(_held, self.lock or ())),
            tool=self.tool,
            gravity=numbers("--gravity", self.gravity, (3,)),
            base=None if self.base is None else _placement(numbers("--base", self.base, (3, 6))),
            fix_root=self.fix_root or fix_root,
            physical=physical,
            density=self.density,
            hull=self.hull,
            model=self.model,
            spinning_rotors=self.spinning_rotors,
            loops=self.loops,
            coordinates=None if self.coordinates is None else self.coordinates.split(","),
        )
        if self.free_base and (self.fix_root or self.base_joints):
            raise typer.BadParameter("--free-base: --fix-root and --base-joints hold the base")
        if self.base_joints is not None:
            model = with_base_joints(model, self.base_joints.split(","))
        if self.free_base:
            model = replace(model, floating=True)
        if self.payload is None:
            return model, findings
        model = with_payload(model, *_payload(self.payload), add=self.add_payload)
        return model, (*findings, *physical_warnings(model, physical))


def fields_of(record: Parameter) -> Iterator[Parameter]:
    """The options that are the fields of a parameter whose type is a dataclass."""
    hints = get_type_hints(record.annotation, include_extras=True)
    shown = {part.name: part.metadata for part in fields(record.annotation) if part.metadata}
    for name, option in signature(record.annotation).parameters.items():
        kind, default = hints[name], getattr(record.default, name, option.default)
        if name in shown:
            words = (_word(name),) if kind is bool else ()
            kind = Annotated[kind, typer.Option(*words, rich_help_panel="Robot", **shown[name])]
        yield option.replace(annotation=kind, default=default)


def _word(name: str) -> str:
    return f"--{name.replace('_', '-')}"


PLAIN = (Path, bool, int, float, str)
"""Types of arguments that can be options; of several that one takes, the first counts."""


@dataclass(frozen=True)
class Form:
    """How numbers or names are written as the text of one option."""

    metavar: str
    read: Callable[[str, str], Any]
    """Of the option, for errors, and its text."""
    argument: str = ""
    """Which argument it is, where the option is called otherwise."""


@dataclass(frozen=True)
class Question:
    """A function of the library, some of whose arguments are options of a verb."""

    place: str
    names: tuple[str, ...]
    defaults: Mapping[str, Any]
    """Those that differ on the command line."""
    forms: Mapping[str, Form]
    """Of arguments that are no plain numbers or texts."""

    @property
    def function(self) -> Any:
        """The function or class, whose module is imported now."""
        return imported(self.place)

    def options(self) -> Iterator[Parameter]:
        """An option for each argument, by its type, its default and what is said of it there."""
        arguments, types = signature(self.function).parameters, get_type_hints(self.function)
        texts = _texts(self.function)
        for name in self.names:
            form = self.forms.get(name)
            argument = form.argument or name if form else name
            default = self.defaults.get(name, arguments[argument].default)
            kind = str if form else _plain(types[argument])
            default = str(default) if form and default is not None else default
            word = _word(name)
            flags = (word if default is False else f"{word}/--no-{word[2:]}",) * (kind is bool)
            kind = kind | None if default is None else kind
            shape = typer.Option(
                *flags, metavar=form.metavar if form else None, help=texts[argument]
            )
            taken = Annotated[kind, shape]  # type: ignore[valid-type]
            yield Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=taken)

    def answered(self, **given: Any) -> Any:
        """The function with what the command line says of its arguments."""
        for name, form in self.forms.items():
            if (text := given.pop(name)) is not None:
                given[form.argument or name] = form.read(_word(name), text)
        return partial(self.function, **given)


def _texts(function: Any) -> dict[str, str]:
    """What a docstring says of the arguments, or the strings below the fields of a record."""
    page, said = getdoc(function) or "", r"^    (\w+): (.*(?:\n {8}.*)*)"
    if isinstance(function, type):
        page, said = getsource(function), r'^    (\w+): .*\n    """([^"]*)'
    entries = re.findall(said, page, re.MULTILINE)
    plain = ((name, re.sub('math\\.|[`"]', "", text)) for name, text in entries)
    return {name: text.replace("None: ", "unset: ") for name, text in plain}


def _plain(annotation: Any) -> Any:
    """The type of an option for an argument."""
    if get_origin(annotation) is Literal:
        return annotation
    return next(kind for kind in PLAIN if kind in (annotation, *get_args(annotation)))


def asking(place: str, names: str, **settings: Any) -> Any:
    """The function "package.module:name" as a parameter of a verb, which gets it with options.

    These are the arguments of the `names`, with their types and docstrings, and defaults unless
    others are given. An argument that is written in a `Form` is given that.
    """
    forms = {name: form for name, form in settings.items() if isinstance(form, Form)}
    defaults = {name: x for name, x in settings.items() if name not in forms}
    return Question(place, (*names.split(), *forms), defaults, forms)


def check_outputs(options: Mapping[str, Any]) -> None:
    """Refuse, before anything is computed, files that cannot be written or that the run reads."""
    words = [
        (name, word)
        for name, value in options.items()
        for word in (value if isinstance(value, list) else [value])
        if name not in OUTPUTS and isinstance(word, str | Path) and os.path.isfile(word)
    ]
    for path in filter(None, map(options.get, OUTPUTS)):
        if str(path) == STANDARD_OUTPUT or (
            path.exists() and not (path.is_file() or path.is_dir())
        ):
            continue  # pipes and devices are there already
        if not path.parent.is_dir():
            raise typer.BadParameter(f"cannot write {path}: there is no folder {path.parent}")
        if path.is_dir() or not os.access(path.parent, os.W_OK):
            raise typer.BadParameter(f"{path}: it cannot be written there")
        for name, word in words:
            if path.exists() and path.samefile(word):
                reason = READ.get(name, "read by this run")
                raise typer.BadParameter(f"{path} is {reason}; write to another file")


def checked_robot_file(path: Path | None) -> Path | None:
    """Refuse, before anything is computed, a file that no robot is written to."""
    from armdyn.io.atomic import ending
    from armdyn.io.files import WRITABLE

    if path is not None and ending(path, ".toml") not in WRITABLE:
        endings = ", ".join(WRITABLE)
        raise typer.BadParameter(f"--output {path}: the ending must be one of {endings}")
    return path


def numbers(option: str, text: str | None, counts: tuple[int, ...] = ()) -> Any:
    """The numbers of an option, separated by commas, of one of these counts; None if unset."""
    if text is None:
        return None
    values = [number(option, part) for part in text.split(",")]
    if counts and len(values) not in counts:
        wanted = " or ".join(filter(None, [", ".join(map(str, counts[:-1])), str(counts[-1])]))
        raise typer.BadParameter(f"{option}: expected {wanted} numbers, got {text!r}")
    return values


def one_or_each(option: str, text: str | None, counts: tuple[int, ...] = ()) -> Any:
    """The same, where one number is for all joints."""
    values = numbers(option, text, counts)
    return values[0] if values and len(values) == 1 else values


def pairs(
    option: str, text: str | None, form: str, between: str = "="
) -> Iterator[tuple[str, str]]:
    """The names and values of an option, NAME=VALUE,...; `form` is what an error expects."""
    for part in () if text is None else text.split(","):
        name, _, value = part.partition(between)
        if not name.strip() or not value.strip():
            raise typer.BadParameter(f"{option}: expected {form}, got {part!r}")
        yield name.strip(), value.strip()


def ranges(option: str, text: str, form: str, open_ends: bool = False) -> dict[str, Any]:
    """The lower and upper ends of an option by name, NAME=LOW:HIGH,...; an open end is None."""
    found: dict[str, Any] = {}
    for name, value in pairs(option, text, form):
        what, ends = f"{option} {name}", value.split(":")
        if len(ends) != 2:
            raise typer.BadParameter(f"{what}: expected LOW:HIGH, got {value!r}")
        found[name] = [number(what, x) if x.strip() or not open_ends else None for x in ends]
        if any(map(math.isnan, filter(None, found[name]))):
            raise typer.BadParameter(f"{what}: expected numbers, got {value!r}")
    return found


def named_numbers(option: str, text: str, form: str) -> dict[str, float]:
    """The numbers of an option by name, NAME=NUMBER,..."""
    named = pairs(option, text, form)
    return {name: number(f"{option} {name}", value) for name, value in named}


def each_or_named(option: str, text: str) -> Any:
    """One number for all joints, one for each, or some by the names of joints."""
    named = "=" in text
    return named_numbers(option, text, "JOINT=VALUE") if named else one_or_each(option, text)


def names_in_text(_: str, text: str) -> Any:
    """One name, or several that are separated by commas."""
    names = [name.strip() for name in text.split(",")]
    return names[0] if len(names) == 1 else names


EACH = Form("V[,V,...]", one_or_each)
"""Numbers for joints."""
WRENCH = Form("FX,FY,FZ,NX,NY,NZ", partial(numbers, counts=(6,)), "external_wrench")


def number(option: str, text: str, kind: Callable[[str], float] = float) -> float:
    """One number of an option."""
    try:
        return kind(text)
    except ValueError:
        raise typer.BadParameter(f"{option}: expected a number, got {text!r}") from None


def _payload(text: str) -> tuple[float, list[float], list[list[float]]]:
    """Mass, centre of mass and tensor about it."""
    values: list[float] = numbers("--payload", text, (1, 4, 7, 10))
    mass, x, y, z, xx, yy, zz, xy, xz, yz = (*values, *[0.0] * (10 - len(values)))
    return mass, [x, y, z], [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]


def _held(text: str) -> tuple[str, float]:
    name, sign, value = text.rpartition("=")
    if not sign or not name:
        raise typer.BadParameter(f"--lock: expected JOINT=VALUE, got {text!r}")
    return name, number(f"--lock {name}", value)


def _placement(values: list[float]) -> Any:
    from armdyn.model.transform import rotation_from_rpy, transform

    return transform(rotation_from_rpy(values[3:] or (0.0, 0.0, 0.0)), values[:3])
