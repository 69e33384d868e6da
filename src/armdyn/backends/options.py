"""What is exported: functions of a robot by name, and their options."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from armdyn.backends.results import RESULTS
from armdyn.compiler.count import Operations
from armdyn.compiler.program import Program
from armdyn.errors import ModelError, UnknownNameError, WriteError
from armdyn.io.atomic import write_text
from armdyn.model import RobotModel
from armdyn.quantities.programs import quantity_program
from armdyn.quantities.request import OPTIONS, Request

DEFAULT_FUNCTIONS = (
    "inverse_dynamics",
    "forward_dynamics",
    "mass_matrix",
    "coriolis_matrix",
    "gravity_vector",
    "forward_kinematics",
    "jacobian",
)
FIXED = {
    "payload": ("potential_energy",),
    "gravity": ("potential_energy", "regressor", "base_regressor"),
}
"""Functions that depend on a number which they cannot take as an argument."""


@dataclass(frozen=True, slots=True)
class ExportOptions:
    """Which functions are written, and how."""

    functions: Sequence[str] = DEFAULT_FUNCTIONS
    single: bool = False
    """Whether C computes in float instead of double."""
    payload: bool = False
    """Whether the payload at the tool is an argument of what depends on it."""
    gravity: bool = False
    """Whether the field of gravity is an argument of what depends on it."""
    friction: bool = True
    """Whether joint friction is in the torques."""
    link: str = "tool"
    """Whose place and velocity kinematics gives."""
    frame: str = "world"
    """Axes of the rows of a Jacobian."""
    prefix: str | None = None
    """Start of the names of files and functions; None: the name of the robot."""


@dataclass(frozen=True, eq=False)
class Function:
    """A function to be written."""

    request: Request
    program: Program

    @property
    def name(self) -> str:
        """The quantity that it computes."""
        return self.request.quantity


@dataclass(frozen=True, slots=True)
class Exported:
    """What was written."""

    files: tuple[Path, ...]
    operations: dict[str, Operations]
    """For each function what one evaluation takes."""
    try_it: str
    """A command line that tries the result."""


def functions_of(model: RobotModel, options: ExportOptions) -> tuple[Function, ...]:
    """The programs of all functions, or an error that says which of them cannot be."""
    if not options.functions:
        raise ModelError(f"no functions to export were named; there are {', '.join(RESULTS)}")
    for name in options.functions:
        if name not in RESULTS:
            raise UnknownNameError("function", name, RESULTS)
    for argument, fixed in FIXED.items():
        stuck = [name for name in options.functions if name in fixed]
        if stuck and getattr(options, argument):
            raise ModelError(
                f"{stuck[0]} depends on the {argument} but cannot take it as an argument; leave "
                f"out {stuck[0]}, or give the robot its {argument} before the export"
            )
    requests = [_request(name, options) for name in dict.fromkeys(options.functions)]
    for request in requests:
        request.check(model)
    return tuple(Function(request, quantity_program(model, request)) for request in requests)


def _request(name: str, options: ExportOptions) -> Request:
    offered = OPTIONS[name][1]
    return Request(
        name,
        friction=options.friction,
        payload=options.payload and "payload" in offered,
        gravity=options.gravity and "gravity" in offered,
        link=options.link if "link" in offered else "tool",
        frame=options.frame if "frame" in offered else "world",
    )


def write_all(directory: str | Path, texts: dict[str, str]) -> tuple[Path, ...]:
    """Write files by name into a directory, which is made if need be."""
    directory = Path(directory)
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise WriteError(f"cannot write to {str(directory)!r}: {error.strerror}") from error
    paths = tuple(directory / name for name in texts)
    for path, text in zip(paths, texts.values(), strict=True):
        write_text(path, text)
    return paths
