"""What is exported: functions of a robot by name, and their options."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from errno import ENOTDIR
from pathlib import Path
from typing import TypedDict

from armdyn.errors import ModelError, WriteError, check_known
from armdyn.graph.program import Program
from armdyn.io.atomic import replacing
from armdyn.io.regular import check_path
from armdyn.model import RobotModel
from armdyn.quantities.program import QUANTITIES, checked, quantity_program
from armdyn.quantities.quantity import Quantity
from armdyn.quantities.request import EFFORTS, Request

DEFAULT_FUNCTIONS = tuple(name for name, quantity in QUANTITIES.items() if quantity.exported)
FREE_FUNCTIONS = tuple(name for name in QUANTITIES if name.startswith("free_"))
"""Those of a robot whose base floats."""


@dataclass(frozen=True, slots=True)
class ExportOptions:
    """Which functions are written, and how."""

    functions: str | Sequence[str] = DEFAULT_FUNCTIONS
    """Their names, or one."""
    single: bool = False
    """Whether C computes in float instead of double."""
    payload: bool = False
    """Whether the payload at the tool is an argument of what depends on it."""
    gravity: bool = False
    """Whether the field of gravity is an argument of what depends on it."""
    base_motion: bool = False
    """Whether the motion of the base is an argument of what can take it."""
    friction: bool = True
    """Whether joint friction is in the torques."""
    link: str = "tool"
    """Whose place and velocity kinematics gives."""
    frame: str = "world"
    """Axes of the rows of a Jacobian, and of reactions."""
    constraint: bool = False
    """Whether what the drives give is left out of reactions."""
    base_wrench: bool = False
    """Whether reactions have a first row for the base."""
    prefix: str | None = None
    """Start of the names of files and functions; None: the name of the robot."""
    effort: str = EFFORTS[0]
    """How hard short programs are looked for, one of `EFFORTS`."""
    progress: Callable[[str], None] = lambda what: None
    """Called with what is being done."""
    processors: Sequence[str] = ()
    """Names in `armdyn.export.c.processors.PROCESSORS` for which code and stack are measured."""
    platform: str | None = None
    """Where compiled kernels run, as "aarch64-linux"; None: here."""
    programs: Mapping[str, Program] = field(default_factory=dict)
    """Programs in the place of those that functions have, by name; see `armdyn.reduced`."""


class ExportKeywords(TypedDict, total=False):
    """The same as keywords of `Robot.export`."""

    functions: str | Sequence[str]
    single: bool
    payload: bool
    gravity: bool
    base_motion: bool
    friction: bool
    link: str
    frame: str
    constraint: bool
    base_wrench: bool
    prefix: str | None
    effort: str
    progress: Callable[[str], None]
    processors: Sequence[str]
    platform: str | None
    programs: Mapping[str, Program]


@dataclass(frozen=True, eq=False)
class Function:
    """A function to be written."""

    quantity: Quantity
    request: Request
    program: Program

    @property
    def name(self) -> str:
        """The name of the quantity."""
        return self.quantity.name


@dataclass(frozen=True, slots=True)
class Exported:
    """What was written."""

    files: tuple[Path, ...]
    programs: dict[str, Program] = field(repr=False)
    """The program of each function, with its operations."""
    try_it: str
    """A command line that tries the result."""

    def __str__(self) -> str:
        """The files, what each function takes, and how to try it."""
        functions = [f"{name} ({p.whole.total} operations)" for name, p in self.programs.items()]
        lines = [f"wrote {', '.join(map(str, self.files))}", ", ".join(functions), self.try_it]
        return "\n".join(filter(None, lines))


def functions_of(model: RobotModel, options: ExportOptions) -> tuple[Function, ...]:
    """The programs of all functions, or an error that says which of them cannot be."""
    if not options.functions:
        raise ModelError(f"no functions to export were named; there are {', '.join(QUANTITIES)}")
    names = [options.functions] if isinstance(options.functions, str) else options.functions
    if model.floating and names is DEFAULT_FUNCTIONS:
        names = FREE_FUNCTIONS
    requests = [_request(name, options) for name in dict.fromkeys(names)]
    pairs = [(checked(request, model), request) for request in requests]
    return tuple(Function(*pair, _program(model, pair[1], options)) for pair in pairs)


def _program(model: RobotModel, request: Request, options: ExportOptions) -> Program:
    if request.quantity in options.programs:
        return options.programs[request.quantity]
    tell = options.progress
    what = f"looking for a short program for {request.quantity}"
    tell(what)
    return quantity_program(
        model,
        request,
        lambda done, steps, best: tell(f"{what}: {100 * done // steps} %, {best} so far"),
    )


def _request(name: str, options: ExportOptions) -> Request:
    check_known("function", name, QUANTITIES)
    quantity = QUANTITIES[name]
    for number in quantity.fixed:
        if getattr(options, number):
            raise ModelError(
                f"{name} depends on the {number} but cannot take it as an argument; leave "
                f"out {name}, or give the robot its {number} before the export"
            )
    offered = ("payload", "gravity", "base_motion", "link", "frame", "constraint", "base_wrench")
    chosen = {option: getattr(options, option) for option in offered if option in quantity.options}
    return Request(name, friction=options.friction, effort=options.effort, **chosen)


def write_all(directory: str | Path, files: Mapping[str, str | bytes]) -> tuple[Path, ...]:
    """Write files by name into a directory, all of them or none; folders are made if need be."""
    directory = check_path(directory)
    paths = tuple(directory / name for name in files)
    with _folders({path.parent for path in paths}, directory), ExitStack() as written:
        streams = [written.enter_context(replacing(path)) for path in paths]
        for stream, content in zip(streams, files.values(), strict=True):
            stream.write(content.encode() if isinstance(content, str) else content)
            stream.flush()
    return paths


@contextmanager
def _folders(wanted: set[Path], directory: Path) -> Iterator[None]:
    """Folders that are there in the block, and afterwards if it succeeds."""
    needed = {folder for path in wanted for folder in (path, *path.parents)}
    made: list[Path] = []
    try:
        for folder in sorted(folder for folder in needed if not folder.exists()):
            folder.mkdir(exist_ok=True)
            made.append(folder)
        if not directory.is_dir():
            raise NotADirectoryError(ENOTDIR, os.strerror(ENOTDIR))
        yield
    except BaseException as error:
        for folder in reversed(made):
            with suppress(OSError):  # another process has put something there
                folder.rmdir()
        if isinstance(error, OSError) and not isinstance(error, WriteError):
            raise WriteError(f"cannot write to {str(directory)!r}: {error.strerror}") from error
        raise
