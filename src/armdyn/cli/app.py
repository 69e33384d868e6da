"""The verbs gathered into one program."""

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import wraps
from importlib import import_module
from inspect import Parameter, Signature, signature
from typing import Annotated, Any

import typer

from armdyn.cli.console import printing
from armdyn.cli.help import Program, Verb
from armdyn.cli.options import check_outputs, fields_of

app = typer.Typer(
    cls=Program,
    help="The dynamics of robot arms: one description in, one trusted torque out.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
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


def _command(verb: Callable[..., None]) -> Callable[..., None]:
    """The verb as typer calls it: with an option for each field of its records, and how to print.

    The files that it is to write are checked before it runs; --json is for verbs with a result.
    """
    own: list[Parameter] = []
    records: dict[str, Any] = {}
    for parameter in signature(verb, eval_str=True).parameters.values():
        if is_dataclass(parameter.annotation):
            records[parameter.name] = parameter.annotation
            own += fields_of(parameter)
        else:
            own.append(parameter)
    for name, help in PRINTING.items():
        if (verb.__name__, name) != ("studio", "json"):
            kind = Annotated[bool, typer.Option(f"--{name}", help=help)]
            own.append(Parameter(name, Parameter.KEYWORD_ONLY, default=False, annotation=kind))

    @wraps(verb)
    def command(*, wide: bool, json: bool = False, **options: Any) -> None:
        check_outputs(options)
        for name, record in records.items():
            words = {field.name: options.pop(field.name) for field in fields(record)}
            options[name] = record(**words)
        with printing(wide=wide, json=json):
            verb(**options)

    takes = Signature([option.replace(kind=Parameter.KEYWORD_ONLY) for option in own])
    setattr(command, "__signature__", takes)  # noqa: B010
    command.__annotations__ = {}  # typer asks the signature
    return command


for group, verbs in GROUPS.items():
    for name in verbs:
        verb = getattr(import_module(f"armdyn.cli.{name}"), name)
        app.command(cls=Verb, rich_help_panel=group)(_command(verb))


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
