"""`armdyn ops`: how many operations each formulation takes."""

from typing import Any

import typer

from armdyn.cli.console import print_json, print_line, print_table, print_text, status, table
from armdyn.cli.options import Json, Plot, RobotSource, flag, option, takes_robot


@takes_robot
def ops(
    robot: RobotSource,
    *,
    quantity: list[str] | None = option(None, "Count one quantity, as mass_matrix; repeatable."),
    programs: bool = flag("--programs", "Count the programs alone, without textbooks."),
    steps: bool = flag("--steps", "Count the augmented-body method step by step instead."),
    search: bool = flag("--search", "Search deeper, for minutes; what is found is kept."),
    snap: float = option(1e-13, "What counts as an exact zero or quarter turn; 1e-5 for 1.5708."),
    plot: Plot = None,
    json: Json = False,
) -> None:
    """Count multiplications and additions of every formulation and of every program."""
    if steps and (plot or quantity or search or programs):
        raise typer.BadParameter(
            "--steps stands alone, without --plot, --quantity, --search, --programs"
        )
    if programs and plot:
        raise typer.BadParameter("--plot compares formulations, which --programs leaves out")
    model = robot.open().model
    if steps:
        _steps(model, json)
        return
    from armdyn.study.operations.report import Counting, operation_report

    now = "counting"
    with status(now) as say:

        def tell(what: str) -> None:
            nonlocal now
            now = f"counting {what}"
            say(now)

        def searched(done: int, steps: int, best: int) -> None:
            say(f"{now}: {100 * done // steps} %, {best} so far")

        effort = "deep" if search else "default"
        counting = Counting(effort, snap, tell, searched, textbooks=not programs)
        report = operation_report(model, tuple(quantity or ()), counting)
    if plot is not None:
        from armdyn.study.operations.report import plot_operations

        plot_operations(model.title or model.name, report.rows, plot)
    if json:
        print_json(report.data())
        return
    _print(report)
    if plot is not None:
        print_line(f"wrote {plot}")


def _print(report: Any) -> None:
    from armdyn.study.operations.count import STAGES

    for quantity in dict.fromkeys(row.quantity for row in report.rows):
        chosen = [row for row in report.rows if row.quantity == quantity]
        printed = ["published", "general arm"] if any(r.published for r in chosen) else []
        title = f"{quantity.replace('_', ' ')}: multiplications + additions"
        rows = table("method", *printed, *STAGES, "sin/cos", left=("method",), title=title)
        for row in chosen:
            counts = [row.published, row.general] if printed else []
            counts += [row.stages.get(stage) for stage in STAGES]
            cells = ("-" if c is None else f"{c.mul} + {c.add}" for c in counts)
            rows.add_row(row.method, *cells, "-" if counts[-1] is None else str(counts[-1].trig))
        print_table(rows)
    _print_programs(report.programs)
    for note in report.notes:
        print_text(f"note: {note}")


def _print_programs(programs: list[Any]) -> None:
    title = "programs that are compiled and exported: multiplications + additions"
    heads = ("quantity", "links", "sin/cos", "rotors", "friction", "proved")
    rows = table(*heads, left=("quantity", "proved"), title=title)
    for program in programs:
        links, apart = program.operations, (program.rotors, program.friction)
        counts = (f"{c.mul} + {c.add}" if c.total or c.other else "-" for c in apart)
        proved = {"field": "exactly", "random": "at random states"}[program.proved]
        rows.add_row(
            program.quantity, f"{links.mul} + {links.add}", str(links.trig), *counts, proved
        )
    print_table(rows)


def _steps(model: Any, json: bool) -> None:
    from armdyn.study.operations.report import steps_report

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
        print_text(line)
