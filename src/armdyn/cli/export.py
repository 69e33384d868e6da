"""`armdyn export`: the functions of a robot as source code."""

from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import typer

from armdyn.cli.console import print_line, print_table, printed_as_json, status, table
from armdyn.cli.options import RobotSource, asking, flag, option, optional
from armdyn.errors import check_known
from armdyn.io.atomic import STANDARD_OUTPUT, write_text

OPTIONS = "friction link frame constraint base_wrench prefix platform"
DOCUMENTS = {"latex": ".tex", "sympy": "_sympy.py"}
"""Languages of `armdyn equations`, with the ends of their files."""


def export(
    robot: RobotSource,
    *,
    folder: Path = option(
        ...,
        "The folder to write to; for a document also -, standard output.",
        "DIR",
        "-o",
        "--output",
    ),
    lang: str = option("c", "c or python; latex or sympy for the equations of motion."),
    target: str | None = optional(
        "Wrap it for cmake, ctypes, eigen, fmu, fmu-source, mex or ros2; kernels compiles it.",
        "NAME",
    ),
    functions: str | None = optional(
        "What to export, as inverse_dynamics,mass_matrix; the usual seven by default.",
        "NAME,NAME,...",
    ),
    single: bool = flag("--float", "Compute in float, not double."),
    payload_argument: bool = flag("--payload-argument", "Take a payload as an argument."),
    gravity_argument: bool = flag(
        "--gravity-argument", "Take the field of gravity as an argument."
    ),
    base_motion_argument: bool = flag(
        "--base-motion-argument", "Take the motion of the base as an argument, 18 numbers."
    ),
    chosen: Any = asking("armdyn.export.options:ExportOptions", OPTIONS),
    processor: str | None = optional(
        "Measure code and stack on cortex-m4f, cortex-m7, aarch64 or host, for the header.",
        "NAME,NAME,...",
    ),
    search: bool = flag("--search", "Search deeper, for minutes; what is found is kept."),
) -> None:
    """Write dynamics and kinematics as C99, perhaps for another program, or as Python."""
    if str(folder) == STANDARD_OUTPUT and lang not in DOCUMENTS:
        raise typer.BadParameter("-o -: an export has several files; name a folder")
    if lang in DOCUMENTS:
        arguments = payload_argument, gravity_argument, base_motion_argument
        if any((functions, single, target, processor, *arguments)):
            raise typer.BadParameter(
                "--functions, --float, --target, --processor and arguments are for functions in c "
                "and python"
            )
        _document(robot.open(), folder, lang, chosen.keywords["prefix"])
        return
    from armdyn.export.export import LANGUAGES
    from armdyn.export.export import export as write
    from armdyn.export.options import DEFAULT_FUNCTIONS

    check_known("language", lang, (*LANGUAGES, *DOCUMENTS))
    names = DEFAULT_FUNCTIONS if functions is None else _names(functions)
    model = robot.open().model
    with status("looking for short programs") as say:
        options = chosen(
            names, single, payload_argument, gravity_argument, base_motion_argument, progress=say,
            effort="deep" if search else "default", processors=_names(processor or ""),
        )  # fmt: skip
        exported = write(model, folder, lang, options, target)
    _print(exported)


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


def _document(arm: Any, folder: Path, lang: str, prefix: str | None) -> None:
    from armdyn.closed_forms.forms import equations
    from armdyn.export.names import prefix_of
    from armdyn.export.options import write_all

    name = prefix_of(arm.name, prefix) + DOCUMENTS[lang]
    text = equations(arm).to(lang)
    if str(folder) == STANDARD_OUTPUT:
        write_text(folder, text)
    else:
        _print_files(write_all(folder, {name: text}), {})


def _print(exported: Any) -> None:
    counts = {
        name: {
            **asdict(program.operations),
            "rotors": asdict(program.rotors),
            "friction": asdict(program.friction),
        }
        for name, program in exported.programs.items()
    }
    heads = ("mul", "add", "div", "sin/cos", "rotors", "friction")
    rows = table("function", *heads, left=("function",))
    for name, program in exported.programs.items():
        links, apart = program.operations, (program.rotors, program.friction)
        cells = map(str, (links.mul, links.add, links.div, links.trig))
        rows.add_row(name, *cells, *(str(c.total) if c.total else "-" for c in apart))
    try_it = f"try it there: {exported.try_it}"
    _print_files(exported.files, {"functions": counts, "try": exported.try_it}, rows, try_it)


def _print_files(
    files: Iterable[Path], data: dict[str, Any], rows: Any = None, last: str = ""
) -> None:
    """The files with their sizes, below a table and above a line if these are given."""
    sizes = {str(path): path.stat().st_size for path in files}
    if printed_as_json(lambda: {"files": sizes, **data}):
        return
    if rows is not None:
        print_table(rows)
    for path, size in sizes.items():
        print_line(f"wrote {path}, {size / 1000:.1f} kB")
    if last:
        print_line(last)
