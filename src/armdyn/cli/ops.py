"""`armdyn ops`: how many operations each formulation takes."""

import typer

from armdyn.cli.console import deliver, status
from armdyn.cli.options import Plot, RobotSource, flag, option, optional


def ops(
    robot: RobotSource,
    *,
    quantity: list[str] | None = optional("Count one quantity, as mass_matrix; repeatable."),
    programs: bool = flag("--programs", "Count the programs alone, without textbooks."),
    steps: bool = flag("--steps", "Count the augmented-body method step by step instead."),
    search: bool = flag("--search", "Search deeper, for minutes; what is found is kept."),
    snap: float = option(1e-13, "What counts as an exact zero or quarter turn; 1e-5 for 1.5708."),
    plot: Plot = None,
) -> None:
    """Count multiplications and additions of every formulation and of every program."""
    if steps and (plot or quantity or search or programs):
        raise typer.BadParameter(
            "--steps stands alone, without --plot, --quantity, --search, --programs"
        )
    if programs and plot:
        raise typer.BadParameter("--plot compares formulations, which --programs leaves out")
    model = robot.open().model
    from armdyn.study.operations.report import operation_report, steps_report

    if steps:
        deliver(steps_report(model))
        return
    now = "counting"
    with status(now) as say:

        def counting(what: str) -> None:
            nonlocal now
            now = f"counting {what}"
            say(now)

        def searched(done: int, steps: int, best: int) -> None:
            say(f"{now}: {100 * done // steps} %, {best} so far")

        report = operation_report(
            *(model, tuple(quantity or ())),
            effort="deep" if search else "default",
            snap=snap,
            textbooks=not programs,
            progress=counting,
            search_progress=searched,
        )
    deliver(report, plot=plot)
