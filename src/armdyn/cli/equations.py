"""`armdyn equations`: the equations of motion, to be read or put into other programs."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import typer

from armdyn.cli.console import deliver, print_line, print_result, status
from armdyn.cli.options import (
    Form,
    RobotSource,
    asking,
    checked_plot,
    file_option,
    option,
    optional,
    pairs,
)
from armdyn.errors import check_known

LETTERS = "PARAMETER=EXPRESSION such as x1=l/2"


def equations(
    robot: RobotSource,
    *,
    form: str = option(
        "state", "state, configuration, christoffel, energy, cartesian, recursive, or structure."
    ),
    format_: str | None = optional(
        "text, latex, markdown, sympy or python; by the ending of -o if unset.", None, "--format"
    ),
    written: Any = asking(
        "armdyn.closed_forms.forms:equations", "values digits closed frame", digits=None,
        letters=Form("NAME=EXPRESSION,...", lambda o, text: dict(pairs(o, text or None, LETTERS))),
    ),
    drop: float | None = optional(
        "Drop parameters that matter less, as 1e-3: see `armdyn reduced`.", "TOLERANCE"
    ),
    over: str = option(
        "workspace", "With --drop: the motion, or the workspace.", "TRAJECTORY.csv|workspace"
    ),
    output: Path | None = file_option("Write to a file.", "FILE"),
    plot: Path | None = optional(
        "With --form structure: draw it to a .png, .pdf or .svg.", callback=checked_plot
    ),
) -> None:  # fmt: skip
    """Write the equations of motion, in symbols or numbers."""
    look = written.keywords
    written_only = format_ not in (None, "text") or look["values"] or look["closed"]
    framed = look["frame"] != "world"
    _check_form(form, framed, plot is not None, written_only or "letters" in look)
    arm, dropped = _without(robot.open(), drop, over)
    if form == "structure":
        _structure(arm, plot, output)
        return
    from armdyn.closed_forms.forms import format_of

    wanted = format_of(format_, output)
    if look["digits"] is None:
        look["digits"] = 17 if wanted in ("python", "sympy") else 6
    found = written(arm, form)
    found = replace(found, notes=(*found.notes, *dropped))
    _deliver(found.data, lambda: found.to(wanted), (output, None))


def _without(arm: Any, drop: float | None, over: str) -> tuple[Any, tuple[str, ...]]:
    """The robot without what may be dropped, and a note on that."""
    if drop is None:
        if over != "workspace":
            raise typer.BadParameter("--over is for --drop")
        return arm, ()
    from armdyn.study.terms.reduced import reduced

    with status("dropping parameters"):
        found = reduced(arm, drop, over, parameters_only=True)
    note = (
        f"without {', '.join(found.dropped) or 'any parameter dropped'}: this changes no torque "
        f"by more than {100 * found.error:.3g} % of the largest of its joint {found.states}, and "
        f"{found.other_states}; {found.operations.total} of {found.counts[0].total} operations"
    )
    return found.robot if found.dropped else arm, (note,)


def _check_form(form: str, framed: bool, plotted: bool, written_only: bool) -> None:
    """Refuse options that the form of the equations does not have."""
    from armdyn.closed_forms.forms import FORMS

    check_known("form of the equations", form, (*FORMS, "structure"))
    if framed and form != "cartesian":
        raise typer.BadParameter("--frame is for --form cartesian")
    if plotted and form != "structure":
        raise typer.BadParameter("--plot is for --form structure")
    if written_only and form == "structure":
        raise typer.BadParameter("--form structure has no --format, --letters, --values, --closed")


def _structure(arm: Any, plot: Path | None, output: Path | None) -> None:
    from armdyn.study.structure.structure import structure

    found = structure(arm)
    if output is None:
        deliver(found, plot=plot)
        return
    if plot is not None:
        found.plot(plot)
    _deliver(found.data, found.report, (output, plot))


def _deliver(
    data: Callable[[], dict[str, Any]],
    text: Callable[[], str],
    files: tuple[Path | None, Path | None],
) -> None:
    """Write the text to the first file, or print it, or the data."""
    from armdyn.io.atomic import write_text

    output, _ = files
    if output is not None:
        write_text(output, text())
    print_result(data, lambda: print_line("" if output else text(), end=""), files)
