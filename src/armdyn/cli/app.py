"""The verbs gathered into one program; a verb is built when it is asked for."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import is_dataclass
from functools import wraps
from importlib import import_module
from inspect import Parameter, Signature, signature
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from armdyn.cli.console import printing
from armdyn.cli.help import Verb, program_lines
from armdyn.cli.options import Question, check_outputs, fields_of

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
    takers = {p.name: _taken(p) for p in signature(verb, eval_str=True).parameters.values()}
    own = [option for options, _ in takers.values() for option in options]
    for name, help in PRINTING.items():
        if (verb.__name__, name) != ("studio", "json"):
            kind = Annotated[bool, typer.Option(f"--{name}", help=help)]
            own.append(Parameter(name, Parameter.KEYWORD_ONLY, default=False, annotation=kind))

    @wraps(verb)
    def command(*, wide: bool, json: bool = False, **options: Any) -> None:
        check_outputs(options)
        with printing(wide=wide, json=json):
            verb(**{name: take(options) for name, (_, take) in takers.items()})

    takes = Signature([option.replace(kind=Parameter.KEYWORD_ONLY) for option in own])
    setattr(command, "__signature__", takes)  # noqa: B010
    command.__annotations__ = {}  # typer asks the signature
    return command


def _taken(parameter: Parameter) -> tuple[list[Parameter], Callable[[dict[str, Any]], Any]]:
    """The options that a parameter of a verb becomes, and what takes its value out of theirs."""
    if is_dataclass(parameter.annotation):
        make: Any = parameter.annotation
        parts = {part.name: _taken(part) for part in fields_of(parameter)}
    elif isinstance(parameter.default, Question):
        make = parameter.default.answered
        parts = {part.name: _taken(part) for part in parameter.default.options()}
    else:
        return [parameter], lambda given: given.pop(parameter.name)

    def made(given: dict[str, Any]) -> Any:
        return make(**{name: take(given) for name, (_, take) in parts.items()})

    return [option for options, _ in parts.values() for option in options], made


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
