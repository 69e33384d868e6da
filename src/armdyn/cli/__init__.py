"""The command line: one verb a file, gathered into one program; a verb is built when asked for."""

import io
import re
import signal
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import is_dataclass
from functools import wraps
from importlib import import_module
from inspect import Parameter, Signature, signature
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from armdyn.cli.console import print_line, printing
from armdyn.cli.help import Verb, program_lines
from armdyn.cli.options import Question, check_outputs, fields_of
from armdyn.errors import ArmdynError, ArmdynWarning

GROUPS = {
    "Describe": ("robots", "info", "check", "inertia"),
    "Compute": ("torque", "simulate", "sweep", "terms"),
    "Design": ("rank", "size", "worst", "reduced", "simplify"),
    "Measure": ("excite", "identify", "compare", "bench"),
    "Export": ("equations", "export"),
    "Inspect": ("ops", "studio", "cache"),
}
"""The verbs by what they are for; each is a function in a module of its name."""
PRINTING = {
    "json": "Print the result as JSON.",
    "wide": "Print tables as wide as they are, whatever the terminal.",
}
"""The options of every verb, which say how its result is printed."""
LOOK: Any = {"rich_markup_mode": None, "pretty_exceptions_enable": False}


def _verb(name: str) -> Callable[..., None]:
    """The function of a verb."""
    verb: Callable[..., None] = getattr(import_module(f"armdyn.cli.{name}"), name)
    return verb


def _command(verb: Callable[..., None]) -> Callable[..., None]:
    """The verb as typer calls it: with options for its records and questions, and how to print.

    The files that it is to write are checked before it runs; --json is for verbs with a result.
    """
    own, run = _all_taken(signature(verb, eval_str=True).parameters.values(), verb)
    for name, help in PRINTING.items():
        if (verb.__name__, name) != ("studio", "json"):
            kind = Annotated[bool, typer.Option(f"--{name}", help=help)]
            own.append(Parameter(name, Parameter.KEYWORD_ONLY, default=False, annotation=kind))

    @wraps(verb)
    def command(*, wide: bool, json: bool = False, **options: Any) -> None:
        check_outputs(options)
        with printing(wide=wide, json=json):
            run(options)

    takes = Signature([option.replace(kind=Parameter.KEYWORD_ONLY) for option in own])
    setattr(command, "__signature__", takes)  # noqa: B010
    command.__annotations__ = {}  # typer asks the signature
    return command


Taken = tuple[list[Parameter], Callable[[dict[str, Any]], Any]]
"""The options that something becomes, and what takes its value out of theirs."""


def _taken(parameter: Parameter) -> Taken:
    """A parameter of a verb."""
    record, question = parameter.annotation, parameter.default
    if is_dataclass(record):
        return _all_taken(fields_of(parameter), record)
    if isinstance(question, Question):
        return _all_taken(question.options(), question.answered)
    return [parameter], lambda given: given.pop(parameter.name)


def _all_taken(parameters: Iterable[Parameter], make: Any) -> Taken:
    """Several parameters, of whose values something is made."""
    parts = {p.name: _taken(p) for p in parameters}
    options = [option for own, _ in parts.values() for option in own]
    return options, lambda given: make(**{name: take(given) for name, (_, take) in parts.items()})


class _Verbs(Mapping[str, Any]):
    """The verbs by name, each built, with all that it imports, when it is looked up."""

    def __getitem__(self, name: str) -> Any:
        if name not in [*self]:
            raise KeyError(name)
        alone = typer.Typer(add_completion=False, **LOOK)
        alone.command(cls=Verb)(_command(_verb(name)))
        return typer.main.get_command(alone)

    def __iter__(self) -> Iterator[str]:
        return (name for group in GROUPS.values() for name in group)

    def __len__(self) -> int:
        return sum(map(len, GROUPS.values()))


class _Program(TyperGroup):
    """The command line as a whole."""

    def __init__(self, **settings: Any):
        super().__init__(**settings)
        self.commands: Any = _Verbs()

    def list_commands(self, ctx: Any) -> list[str]:
        """The names of the verbs, none of which is built for that."""
        return [*self.commands]

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the verbs in their groups."""
        groups = {group: [(name, _verb(name)) for name in GROUPS[group]] for group in GROUPS}
        formatter.write("\n".join(program_lines(self, ctx, groups)) + "\n")


app = typer.Typer(
    cls=_Program,
    help="The dynamics of robot arms: one description in, one trusted torque out.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    **LOOK,
)


def _version(wanted: bool) -> None:
    if wanted:
        from armdyn import __version__

        typer.echo(f"armdyn {__version__}")
        raise typer.Exit


@app.callback()
def _program(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    pass


UsageError: Any = typer.BadParameter.__bases__[0]
"""What typer raises about a command line, whichever click it is built on."""


def main() -> None:
    """Run the command line; errors of the user end with one message and exit code 2."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    for argument in sys.argv[1:]:
        if re.search(r"[\x00-\x1f\x7f-\x9f]", argument):  # typer would print it in its own errors
            print_line(f"error: there is a control character in {argument!r}", stderr=True)
            sys.exit(2)
    with _ending_in_order(), warnings.catch_warnings():
        warnings.showwarning = _showing_once()
        warnings.simplefilter("always", ArmdynWarning)
        try:
            sys.exit(app(prog_name="armdyn", standalone_mode=False) or 0)
        except ArmdynError as error:
            print_line(f"error: {error}", stderr=True)
            sys.exit(2)
        except typer.Abort:
            sys.exit(1)
        except UsageError as error:
            if error.ctx is not None and not sys.argv[1:]:
                error.show()  # the help of the whole program
            else:
                print_line(f"error: {_sentence(error)}", stderr=True)
            sys.exit(error.exit_code)
        except OSError as error:
            print_line(f"error: cannot write the result: {error.strerror or error}", stderr=True)
            sys.stdout = None  # nothing more can be flushed to it
            sys.exit(2)


@contextmanager
def _ending_in_order() -> Iterator[None]:
    """Let SIGTERM end the program as an error does, so that nothing temporary stays."""
    before = signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _showing_once() -> Callable[..., None]:
    """Shows each warning in one line, once; the place in our code is of no use to the user."""
    shown: set[str] = set()

    def show(message: Warning | str, *_: object, **__: object) -> None:
        if str(message) not in shown:
            shown.add(str(message))
            print_line(f"warning: {message}", stderr=True)

    return show


def _sentence(error: Any) -> str:
    """What is wrong with a command line, and where help is."""
    text = (
        error.format_message()
        .removeprefix("Invalid value: ")
        .replace(": Value error, ", ": ")
        .rstrip(".")
    )
    text = text[:1].lower() + text[1:]
    where = error.ctx.command_path if error.ctx is not None else "armdyn"
    return text if "--help" in text else f"{text} (see {where} --help)"
