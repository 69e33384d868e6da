"""`armdyn sweep`: a quantity over more states than memory holds, on this machine or a cluster."""

import math
import re
from functools import partial
from pathlib import Path
from typing import Any

import typer

from armdyn.cli.console import deliver, print_line, status
from armdyn.cli.motion_options import Degrees, read_motion, turning
from armdyn.cli.options import (
    Friction,
    Plot,
    RobotSource,
    argument,
    file_option,
    flag,
    number,
    numbers,
    option,
    optional,
)


def sweep(
    robot: RobotSource,
    states: Path | None = argument(
        "[STATES]", "A file of states: .csv, .parquet or .zarr.", None
    ),
    *,
    quantity: str = option("inverse_dynamics", "What is computed, as docs/kernels.md lists it."),
    set: list[str] | None = optional(
        "A column, as q2, or an argument, as q: a VALUE, LOWER:UPPER:POINTS of a grid, or "
        "LOWER:UPPER of samples, the limits of the joint where an end is left out; repeatable.",
        "NAME=RANGE",
    ),
    degrees: Degrees = False,
    random: float | None = optional("So many random states.", "COUNT"),
    sobol: float | None = optional("So many states, evenly spread.", "COUNT"),
    seed: int = option(0, "Of random states and of the shift of Sobol's.", min=0),
    reduce: list[str] | None = optional(
        "extremes, moments, histogram, quantiles or exceeded; repeatable.", "NAME"
    ),
    by: str | None = optional("Columns of the grid to keep results for, as q2,q3.", "NAMES"),
    bins: int | None = optional("Of histograms; 64.", min=1),
    levels: str | None = optional("Of quantiles, between 0 and 1.", "A,B,..."),
    limits: str | None = optional("For exceeded, one or one for each entry.", "A,B,..."),
    friction: Friction = True,
    dtype: str = option("float64", "float32 evaluates in single precision, faster."),
    store: Path | None = file_option(
        "A .zarr or .parquet store: of all results, or with --reduce of these. A sweep that was "
        "stopped goes on from it."
    ),
    scheduler: str | None = optional("Of a dask cluster that computes.", "tcp://HOST:PORT"),
    plot: Plot = None,
    workspace: bool = flag("--workspace", "Draw over radius and height of the tool."),
) -> None:  # fmt: skip
    """Evaluate a quantity over a grid, samples or a file, and keep extremes or store everything."""
    from armdyn.sweeping.sweep import sweep as swept

    over = _over(states, set or [], random, sobol, seed, arm := robot.open(), degrees)
    options: dict[str, Any] = {} if friction else {"friction": False}
    options |= {} if dtype == "float64" else {"dtype": dtype}
    try:
        with status("sweeping", "states", rate=True) as tell:
            found = swept(
                arm, quantity, over, _reductions(reduce, bins, levels, limits), store, scheduler,
                tell=partial(tell, "sweeping"), by=tuple(by.split(",")) if by else (), **options,
            )  # fmt: skip
    except KeyboardInterrupt:
        rest = f"; run the same command to go on from {store}" if store else ""
        print_line(f"stopped from the keyboard{rest}", stderr=True)
        raise typer.Exit(130) from None
    if plot is not None:
        found.plot(plot, workspace=workspace)
    deliver(found, store, plot)


def _over(
    states: Path | None,
    said: list[str],
    random: float | None,
    sobol: float | None,
    seed: int,
    arm: Any,
    degrees: bool,
) -> Any:
    """What is swept over."""
    from armdyn.sweeping import Grid, Random, Sobol

    ways = [states, random, sobol]
    if sum(way is not None for way in ways) > 1:
        raise typer.BadParameter("give a file of states, --random or --sobol, not several of them")
    if states is not None:
        if said:
            raise typer.BadParameter(
                "--set: a file says what the states are; leave one of them out"
            )
        if states.suffix.lower() == ".csv" or str(states) == "-":
            return read_motion(arm, states, degrees)
        if degrees:
            raise typer.BadParameter("--degrees is for --set and for .csv files")
        return states
    columns = dict(_column(text) for text in said)
    if degrees:
        columns = {name: in_radians(arm, name, value) for name, value in columns.items()}
    if random is not None or sobol is not None:
        kind: Any = Random if random is not None else Sobol
        return kind(random if random is not None else sobol, seed=seed, **columns)
    return Grid(**columns)


def _column(text: str) -> tuple[str, Any]:
    name, sign, value = text.partition("=")
    if not sign or not name.isidentifier():
        raise typer.BadParameter(f"--set: expected NAME=RANGE, as q2=-1:1:50, got {text!r}")
    what = f"--set {name}"
    if "," in value:
        return name, numbers(what, value)
    if ":" not in value:
        return name, number(what, value)
    parts = value.split(":")
    if len(parts) > 3:
        raise typer.BadParameter(
            f"{what}: expected LOWER:UPPER or LOWER:UPPER:POINTS, got {value!r}"
        )
    return name, tuple(number(what, p) if p or k == 2 else None for k, p in enumerate(parts))


def in_radians(arm: Any, name: str, value: Any) -> Any:
    """What is said of a column or an argument, if angles and their rates are given in degrees."""
    found = re.fullmatch(r"(?:q|qd|qdd)(\d*)", name)
    turns = turning(arm)
    if found is None or int(found[1] or 1) not in range(1, arm.n + 1):
        return value  # of something else, or unknown, which is refused later
    if found[1]:
        return _radians(value) if turns[int(found[1]) - 1] else value
    each = value if isinstance(value, list) else [value] * arm.n
    if len(each) != arm.n:
        return value
    return [_radians(v) if turned else v for v, turned in zip(each, turns, strict=True)]


def _radians(value: Any) -> Any:
    """A number, a list of numbers, or a range, whose ends are angles and whose third is a count."""
    if isinstance(value, tuple):
        return (*(_radians(end) for end in value[:2]), *value[2:])
    if isinstance(value, list):
        return [_radians(v) for v in value]
    return None if value is None else math.radians(value)


def _reductions(
    names: list[str] | None, bins: int | None, levels: str | None, limits: str | None
) -> Any:
    from armdyn.sweeping.reductions import REDUCTIONS

    settings: dict[str, dict[str, Any]] = {}
    each = (
        ("histogram", "bins", bins),
        ("quantiles", "levels", numbers("--levels", levels)),
        ("exceeded", "limits", numbers("--limits", limits)),
    )
    for name, word, value in each:
        if value is not None:
            if name not in (names or ()):
                raise typer.BadParameter(f"--{word} is for --reduce {name}")
            settings[name] = {word: value}
    if not names:
        return None
    return [REDUCTIONS[n](**settings[n]) if n in settings else n for n in names]
