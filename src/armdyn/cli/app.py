"""The verbs gathered into one program."""

from typing import Annotated

import typer

from armdyn.cli.bench import bench
from armdyn.cli.cache import cache
from armdyn.cli.check import check
from armdyn.cli.compare import compare
from armdyn.cli.equations import equations
from armdyn.cli.export import export
from armdyn.cli.inertia import inertia
from armdyn.cli.info import info
from armdyn.cli.ops import ops
from armdyn.cli.rank import rank
from armdyn.cli.reduced import reduced
from armdyn.cli.robots import robots
from armdyn.cli.simplify import simplify
from armdyn.cli.simulate import simulate
from armdyn.cli.size import size
from armdyn.cli.studio import studio
from armdyn.cli.terms import terms
from armdyn.cli.torque import torque

app = typer.Typer(
    help="The dynamics of robot arms: one description in, one trusted torque out.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
VERBS = (
    robots, info, check, inertia, compare, torque, terms, reduced, rank, size, simulate, ops,
    equations, simplify, export, studio, bench, cache,
)  # fmt: skip
for verb in VERBS:
    app.command()(verb)


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
