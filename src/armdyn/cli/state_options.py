"""The states that a command line asks about: along a motion, or over the workspace."""

from typing import Annotated, Any, Literal

import typer

from armdyn.cli.options import number

_EACH = "V[,V,...]"
MotionArgument = Annotated[
    str,
    typer.Argument(
        metavar="TRAJECTORY.csv|workspace",
        help="Columns t, q1..qn and, where known, qd and qdd; or random states within the limits.",
    ),
]
SamplesOption = Annotated[
    int | None, typer.Option(min=1, help="States of the workspace; 2000 by default.")
]
SpeedOption = Annotated[
    str | None,
    typer.Option(
        metavar=_EACH, help="Largest speeds in the workspace; the limits of the joints by default."
    ),
]
AccelerationOption = Annotated[
    str | None,
    typer.Option(
        metavar=_EACH, help="Largest accelerations there; full speed in half a second by default."
    ),
]
SeedOption = Annotated[
    int | None, typer.Option(min=0, help="Chooses the states of the workspace; 0 by default.")
]
LimitsOption = Annotated[
    Literal["error", "warn", "ignore"],
    typer.Option(help="What to do about motions that leave the limits of the joints."),
]
ReferenceOption = Annotated[
    Literal["peak", "effort"],
    typer.Option(help="Errors relative to the largest torque of a joint, or to its effort limit."),
]


def chosen_states(
    motion: str,
    samples: int | None,
    speed: str | None,
    acceleration: str | None,
    seed: int | None,
) -> Any:
    """The file of a motion, or a workspace."""
    given = {"--samples": samples, "--speed": speed, "--acceleration": acceleration, "--seed": seed}
    if motion != "workspace":
        for name in (name for name, value in given.items() if value is not None):
            raise typer.BadParameter(f"{name} is for the workspace; the motion is {motion!r}")
        return motion
    from armdyn.study.states import Workspace

    return Workspace(
        samples,
        _each("--speed", speed),
        _each("--acceleration", acceleration),
        0 if seed is None else seed,
    )


def _each(option: str, text: str | None) -> list[float] | float | None:
    """One number for all joints, or one for each."""
    if text is None:
        return None
    values = [number(option, part) for part in text.split(",")]
    return values if len(values) > 1 else values[0]
