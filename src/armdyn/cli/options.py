"""The robot of a command line: one argument, and the options that all verbs with a robot share."""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, is_dataclass
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Concatenate, Literal, ParamSpec, get_type_hints

import typer

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


def file_option(help: str, metavar: str | None = None) -> Any:
    """The option -o, the file that a verb writes its result to."""
    return optional(help, metavar, "-o", "--output")


def argument(metavar: str, help: str, default: Any = ..., **more: Any) -> Any:
    """An argument of a verb, written as the default of its parameter."""
    return typer.Argument(default, metavar=metavar, help=help, **more)


def _shared(help: str, metavar: str | None = None, *flags: str) -> Any:
    return typer.Option(*flags, metavar=metavar, help=help, rich_help_panel="Robot")


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
Own = ParamSpec("Own")
"""The options that a verb has besides the shared ones."""


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
    payload: Annotated[
        str | None,
        _shared(
            "Hold a mass, in kg, at a point of the tool frame, in m; with its tensor about that "
            "point, in kg m².",
            "MASS[,X,Y,Z[,IXX,IYY,IZZ[,IXY,IXZ,IYZ]]]",
        ),
    ] = None
    add_payload: Annotated[
        bool, _shared("Hold --payload beside what the file holds.", None, "--add-payload")
    ] = False
    gravity: Annotated[
        str | None, _shared("The field of gravity in m/s², world axes, pointing down.", "X,Y,Z")
    ] = None
    lock: Annotated[
        list[str] | None,
        _shared("Hold a joint at a value, in rad or m; repeatable.", "JOINT=VALUE"),
    ] = None
    tool: Annotated[str | None, _shared("The link that carries the tool.", "LINK")] = None
    base: Annotated[
        str | None,
        _shared(
            "Where the base stands in the world, in m, and its roll, pitch and yaw, in rad.",
            "X,Y,Z[,R,P,Y]",
        ),
    ] = None
    fix_root: Annotated[bool, _shared("Hold a floating base still.", None, "--fix-root")] = False
    density: Annotated[
        float | None,
        _shared("Give links without inertia that of their geometry, in kg/m³.", "KG/M3"),
    ] = None
    hull: Annotated[
        bool, _shared("Take meshes by their convex hulls for --density.", None, "--hull")
    ] = False
    model: Annotated[str | None, _shared("The robot among the models of SDF.", "NAME")] = None
    physical: Annotated[
        Physical | None, _shared("What to do about inertias that no body can have; error if unset.")
    ] = None

    @property
    def changed(self) -> bool:
        """Whether an option makes the robot another one than its description says."""
        options = self.payload, self.gravity, self.lock, self.tool, self.base, self.density
        return any(options) or self.fix_root

    def open(self) -> "Robot":
        """Load the robot, and warn of what is odd about it."""
        from armdyn.loading import robot_from

        return robot_from(self.read(), gravity=True)

    def read(self, physical: Physical = "error", fix_root: bool = False) -> "Reading":
        """Read the robot; the arguments hold where the command line says nothing."""
        from armdyn.io.files import read_model
        from armdyn.model.edit import with_payload
        from armdyn.model.validate import physical_warnings

        physical = self.physical or physical
        model, findings = read_model(
            self.source,
            locked=dict(map(_held, self.lock or ())),
            tool=self.tool,
            gravity=None if self.gravity is None else numbers("--gravity", self.gravity, (3,)),
            base=None if self.base is None else _placement(numbers("--base", self.base, (3, 6))),
            fix_root=self.fix_root or fix_root,
            physical=physical,
            density=self.density,
            hull=self.hull,
            model=self.model,
        )
        if self.payload is None:
            return model, findings
        model = with_payload(model, *_payload(self.payload), add=self.add_payload)
        return model, (*findings, *physical_warnings(model, physical))


def takes_robot(verb: Callable[Concatenate[RobotSource, Own], None]) -> Callable[..., None]:
    """Give a verb the robot argument and all shared options, which it gets as one RobotSource.

    Other parameters whose type is a dataclass are groups of options, one for each field.
    """
    first, *own = signature(verb, eval_str=True).parameters.values()
    source, *shared = _fields(RobotSource)
    groups: dict[str, tuple[Any, list[Parameter]]] = {}
    if first.default is not Parameter.empty:
        source = source.replace(default=first.default.source)
    options: list[Parameter] = []
    for parameter in own:
        if is_dataclass(parameter.annotation):
            group: Any = parameter.annotation
            groups[parameter.name] = group, _fields(group)
            options += _fields(group)
        else:
            options.append(parameter.replace(kind=Parameter.KEYWORD_ONLY))

    @wraps(verb)
    def command(source: str, **given: Any) -> None:
        named = {option.name: given.pop(option.name, option.default) for option in shared}
        for name, (kind, fields) in groups.items():
            given[name] = kind(**{option.name: given.pop(option.name) for option in fields})
        call: Callable[..., None] = verb
        call(RobotSource(source, **named), **given)

    setattr(command, "__signature__", Signature([source, *options, *shared]))  # noqa: B010
    command.__annotations__ = {}  # typer asks the signature
    return command


def _fields(group: type) -> list[Parameter]:
    """The options that are the fields of a dataclass."""
    hints = get_type_hints(group, include_extras=True)
    return [
        option.replace(annotation=hints[option.name], kind=Parameter.KEYWORD_ONLY)
        for option in signature(group).parameters.values()
    ]


def check_outputs(
    outputs: Sequence[Path | None], inputs: Sequence[str | None], reason: str
) -> None:
    """Refuse, before anything is computed, files that cannot be written or that the run reads."""
    for path in filter(None, outputs):
        if str(path) == STANDARD_OUTPUT or (
            path.exists() and not (path.is_file() or path.is_dir())
        ):
            continue  # pipes and devices are there already
        if not path.parent.is_dir():
            raise typer.BadParameter(f"{path}: there is no folder {path.parent}")
        if path.is_dir() or not os.access(path.parent, os.W_OK):
            raise typer.BadParameter(f"{path}: it cannot be written there")
        for name in filter(None, inputs):
            if path.exists() and os.path.isfile(name) and path.samefile(name):
                raise typer.BadParameter(f"{path} is {reason}; write to another file")


def check_robot_file(path: Path | None) -> None:
    """Refuse, before anything is computed, a file that no robot is written to."""
    from armdyn.io.atomic import ending
    from armdyn.io.files import WRITABLE

    if path is not None and ending(path, ".toml") not in WRITABLE:
        endings = ", ".join(WRITABLE)
        raise typer.BadParameter(f"--output {path}: the ending must be one of {endings}")


def numbers(option: str, text: str, counts: tuple[int, ...]) -> list[float]:
    """The numbers of an option, separated by commas."""
    values = each_number(option, text)
    if len(values) not in counts:
        wanted = " or ".join(filter(None, [", ".join(map(str, counts[:-1])), str(counts[-1])]))
        raise typer.BadParameter(f"{option}: expected {wanted} numbers, got {text!r}")
    return values


def each_number(option: str, text: str) -> list[float]:
    """Any count of numbers of an option, separated by commas."""
    return [number(option, part) for part in text.split(",")]


def one_or_each(option: str, text: str | None) -> float | list[float] | None:
    """One number for all joints, or one for each; None where nothing is said."""
    values = [] if text is None else each_number(option, text)
    return values if len(values) > 1 else next(iter(values), None)


def pairs(
    option: str, text: str | None, form: str, between: str = "="
) -> Iterator[tuple[str, str]]:
    """The names and values of an option, NAME=VALUE,...; `form` is what an error expects."""
    for part in () if text is None else text.split(","):
        name, _, value = part.partition(between)
        if not name.strip() or not value.strip():
            raise typer.BadParameter(f"{option}: expected {form}, got {part!r}")
        yield name.strip(), value.strip()


def number(option: str, text: str, kind: Callable[[str], float] = float) -> float:
    """One number of an option."""
    try:
        return kind(text)
    except ValueError:
        raise typer.BadParameter(f"{option}: expected a number, got {text!r}") from None


def _payload(text: str) -> tuple[float, list[float], list[list[float]]]:
    """Mass, centre of mass and tensor about it."""
    given = numbers("--payload", text, (1, 4, 7, 10))
    mass, x, y, z, xx, yy, zz, xy, xz, yz = (*given, *[0.0] * (10 - len(given)))
    return mass, [x, y, z], [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]


def _held(text: str) -> tuple[str, float]:
    name, sign, value = text.rpartition("=")
    if not sign or not name:
        raise typer.BadParameter(f"--lock: expected JOINT=VALUE, got {text!r}")
    return name, number(f"--lock {name}", value)


def _placement(values: list[float]) -> Any:
    from armdyn.model.transform import rotation_from_rpy, transform

    return transform(rotation_from_rpy(values[3:] or (0.0, 0.0, 0.0)), values[:3])
