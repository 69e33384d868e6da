"""Motions and states from the words of a command line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from armdyn.cli.options import EACH, argument, asking, numbers
from armdyn.errors import ArmdynWarning

if TYPE_CHECKING:
    from armdyn.arrays import Array
    from armdyn.io.csv.trajectory import SampledMotion
    from armdyn.mechanics.base_state import BaseState
    from armdyn.robot import Robot


EACH_JOINT = "V1,V2,..."
"""What an option with a number for each joint takes."""
Degrees = Annotated[
    bool, typer.Option("--degrees", help="Angles and their rates are given in degrees.")
]
BaseTwist = Annotated[
    str | None,
    typer.Option(
        metavar="VX,VY,VZ,WX,WY,WZ",
        help="How a base that floats moves at the start, in m/s and rad/s; at rest if unset.",
    ),
]


def joint_values(arm: Robot, option: str, text: str, degrees: bool) -> Array:
    """A number for each joint, (n,) [rad or m]."""
    values = np.array(numbers(option, text, (arm.n,)))
    return np.where(turning(arm), np.radians(values), values) if degrees else values


def base_start(arm: Robot, twist: str | None) -> BaseState | None:
    """Where a base that floats starts, with --base-twist; None if the option is not given."""
    if twist is None:
        return None
    if not arm.model.floating:
        raise typer.BadParameter("--base-twist is for a base that floats, see --free-base")
    return replace(arm.free_base.standing, twist=numbers("--base-twist", twist, (6,)))


def turning(arm: Robot) -> list[bool]:
    """Of which coordinates degrees are degrees."""
    return [joint.type.turns for joint in arm.model.coordinate_joints]


def read_motion(
    arm: Robot, path: str | Path, degrees: bool, *, wrench: bool = False
) -> SampledMotion:
    """The motion in a file, with a warning of angles that may be in degrees."""
    from armdyn.io.csv.trajectory import trajectory_from_csv

    floats = arm.model.floating
    motion = trajectory_from_csv(path, arm.model, wrench=wrench, degrees=degrees, base=floats)
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


@dataclass(frozen=True)
class MotionSource:
    """The motion that a command line names, or the options of random states in its place."""

    motion: str = argument(
        "TRAJECTORY.csv|workspace",
        "Columns t, q1..qn and, where known, qd and qdd; or random states within the limits.",
    )
    degrees: Degrees = False
    workspace: Any = asking(
        "armdyn.study.states:Workspace", "samples seed", speed=EACH, acceleration=EACH
    )

    def states(self, arm: Robot) -> Any:
        """The motion of a file, or a workspace."""
        usual = self.workspace.func()
        for name, value in self.workspace.keywords.items():
            if self.motion != "workspace" and value != getattr(usual, name):
                raise typer.BadParameter(
                    f"--{name} is for the workspace; the motion is {self.motion!r}"
                )
        over = motion_or_workspace(arm, self.motion, self.degrees)
        return self.workspace() if self.motion == "workspace" else over
