"""`armdyn ops`: how many operations each formulation takes."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from armdyn.cli.options import Json, RobotName, open_robot


def ops(
    robot: RobotName,
    *,
    quantity: Annotated[
        list[str] | None, typer.Option(help="Count this quantity only; repeatable.")
    ] = None,
    steps: Annotated[
        bool, typer.Option("--steps", help="Count the augmented-body method step by step.")
    ] = False,
    search: Annotated[
        bool, typer.Option("--search", help="Search deeper, for minutes; what is found is kept.")
    ] = False,
    snap: Annotated[
        float, typer.Option(help="What counts as an exact zero or quarter turn; 1e-5 for 1.5708.")
    ] = 1e-13,
    plot: Annotated[
        Path | None, typer.Option(help="Draw the counts to a .png, .pdf or .svg file.")
    ] = None,
    json: Json = False,
) -> None:
    """Count multiplications and additions of every formulation, stage by stage."""
    from armdyn.analysis.plots import check_plot
    from armdyn.cli.console import print_json

    if plot is not None:
        check_plot(plot)
    model = open_robot(robot).model
    if steps:
        _steps(model, json)
        return
    from armdyn.analysis.operation_report import operation_report

    with _effort(search) as effort:
        report = operation_report(model, tuple(quantity or ()), effort, snap)
    if plot is not None:
        from armdyn.analysis.plot_operations import plot_operations

        plot_operations(model.title or model.name, report.rows, plot)
    if json:
        print_json(report.data())
        return
    _print(report, plot)


@contextmanager
def _effort(deep: bool) -> Iterator[Any]:
    """How hard to look, with a bar on the terminal while a deep search runs."""
    from rich.console import Console
    from rich.progress import Progress

    from armdyn.programs.kept import Kept, default_folder
    from armdyn.programs.minimal import Effort

    kept = Kept(default_folder())
    if not deep:
        yield Effort(kept=kept)
        return
    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("searching")

        def tell(done: int, steps: int, best: int) -> None:
            bar.update(task, completed=done, total=steps, description=f"searching, {best} so far")

        yield Effort(deep=True, progress=tell, kept=kept)


def _print(report: Any, plot: Path | None) -> None:
    from armdyn.analysis.operations import STAGES
    from armdyn.cli.console import console, print_table, table

    screen = console()
    heads = ("method", "published", "general arm", *STAGES)
    for quantity in dict.fromkeys(row.quantity for row in report.rows):
        title = f"{quantity.replace('_', ' ')}: multiplications + additions"
        rows = table(*heads, left=("method",), title=title)
        for row in (r for r in report.rows if r.quantity == quantity):
            counts = (row.published, row.general, *(row.stages.get(s) for s in STAGES))
            rows.add_row(row.method, *("-" if c is None else f"{c.mul} + {c.add}" for c in counts))
        print_table(rows)
    for note in report.notes:
        screen.print(f"note: {note}", markup=False)
    if plot is not None:
        screen.print(f"wrote {plot}", markup=False)


def _steps(model: Any, json: bool) -> None:
    from armdyn.analysis.steps import steps_report
    from armdyn.cli.console import print_json, print_table, table

    report = steps_report(model)
    if json:
        print_json(report.data())
        return
    printed = [] if report.paper is None else ["printed"]
    rows = table("step", "quantity", "counted", *printed, left=("step", "quantity"))
    for step in report.steps:
        paper = [] if report.paper is None else [str(report.paper[step.name])]
        rows.add_row(step.name, step.quantity, str(step.operations), *paper)
    print_table(rows)
    for line in report.notes:
        print(line)
