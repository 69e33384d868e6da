"""Motions and states from the words of a command line."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
import typer

from armdyn.cli.options import numbers, one_or_each
from armdyn.errors import ArmdynWarning

if TYPE_CHECKING:
    from armdyn.arrays import Array
    from armdyn.io.csv.trajectory import SampledMotion
    from armdyn.robot import Robot


EACH_JOINT = "V1,V2,..."
"""What an option with a number for each joint takes."""
Degrees = Annotated[
    bool, typer.Option("--degrees", help="Angles and their rates are given in degrees.")
]
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


def joint_values(arm: Robot, option: str, text: str, degrees: bool) -> Array:
    """A number for each joint, (n,) [rad or m]."""
    values = np.array(numbers(option, text, (arm.n,)))
    return np.where(turning(arm), np.radians(values), values) if degrees else values


def turning(arm: Robot) -> list[bool]:
    """Of which coordinates degrees are degrees."""
    return [arm.model.joints[i].type.turns for i in arm.model.independent]


def read_motion(
    arm: Robot, path: str | Path, degrees: bool, *, wrench: bool = False
) -> SampledMotion:
    """The motion in a file, with a warning of angles that may be in degrees."""
    from armdyn.io.csv.trajectory import trajectory_from_csv

    motion = trajectory_from_csv(path, arm.model, wrench=wrench, degrees=degrees)
    warn_of_degrees(arm, motion.q)
    return motion


def motion_or_workspace(arm: Robot, over: Any, degrees: bool) -> Any:
    """The motion of a file, or random states, which are given in radians."""
    if isinstance(over, str) and over != "workspace":
        return read_motion(arm, over, degrees)
    if degrees:
        raise typer.BadParameter("--degrees is for trajectories, not for the workspace")
    return over


def given_motion(
    arm: Robot, trajectory: Path | None, state: Mapping[str, str | None], degrees: bool
) -> SampledMotion:
    """The motion of a file, or one state of which positions are given and rates may be."""
    given = [name for name, text in state.items() if text is not None]
    if trajectory is not None:
        if given:
            raise typer.BadParameter(f"give a trajectory or --{given[0]}, not both")
        return read_motion(arm, trajectory, degrees, wrench=True)
    if "q" not in given:
        advice = "give a trajectory, or the positions of one state by --q"
        raise typer.BadParameter(advice + (f" beside --{given[0]}" if given else ""))
    from armdyn.io.csv.trajectory import SampledMotion

    q, qd, qdd = (
        np.zeros(arm.n) if text is None else joint_values(arm, f"--{name}", text, degrees)
        for name, text in state.items()
    )
    if not np.isfinite([q, qd, qdd]).all():
        raise typer.BadParameter("--q, --qd and --qdd take finite numbers")
    warn_of_degrees(arm, q)
    return SampledMotion(np.zeros(1), q[None], qd[None], qdd[None])


def warn_of_degrees(arm: Robot, q: Array) -> None:
    """Warn of angles without limits that are many turns, as degrees would be."""
    import warnings

    from armdyn.simulation.limits import many_turns

    for sentence in many_turns(arm.model, q):
        warnings.warn(f"{sentence}; if these are degrees, say --degrees", ArmdynWarning, 2)


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
        one_or_each("--speed", speed),
        one_or_each("--acceleration", acceleration),
        0 if seed is None else seed,
    )
