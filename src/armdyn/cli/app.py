"""The verbs gathered into one program."""

from collections.abc import Callable
from functools import wraps
from importlib import import_module
from inspect import Parameter, signature
from typing import Annotated, Any

import typer

from armdyn.cli.console import width_option
from armdyn.cli.help import Program, Verb

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
Wide = Annotated[
    bool, typer.Option("--wide", help="Print tables as wide as they are, whatever the terminal.")
]


def _with_width(verb: Callable[..., None]) -> Callable[..., None]:
    """The verb with the option --wide."""
    given = signature(verb, eval_str=True)
    wide = Parameter("wide", Parameter.KEYWORD_ONLY, default=False, annotation=Wide)

    @wraps(verb)
    def command(*, wide: bool, **options: Any) -> None:
        with width_option(wide):
            verb(**options)

    own = [option.replace(kind=Parameter.KEYWORD_ONLY) for option in given.parameters.values()]
    setattr(command, "__signature__", given.replace(parameters=[*own, wide]))  # noqa: B010
    command.__annotations__ = {}  # typer asks the signature
    return command


for group, verbs in GROUPS.items():
    for name in verbs:
        verb = getattr(import_module(f"armdyn.cli.{name}"), name)
        app.command(cls=Verb, rich_help_panel=group)(_with_width(verb))


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
