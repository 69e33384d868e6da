"""Arguments that several verbs share, and the robot that they describe."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Literal

import typer

if TYPE_CHECKING:
    from armdyn.dynamics import Robot

RobotName = Annotated[
    str,
    typer.Argument(metavar="ROBOT", help="A name from `armdyn robots`, or a .urdf, .xml or .toml."),
]
Payload = Annotated[
    str | None,
    typer.Option(
        metavar="MASS[,X,Y,Z]", help="Hold a mass, in kg, at a point of the tool frame, in m."
    ),
]
Gravity = Annotated[
    str | None,
    typer.Option(metavar="X,Y,Z", help="The field of gravity in m/s², world axes, pointing down."),
]
Lock = Annotated[
    list[str] | None,
    typer.Option(metavar="JOINT=VALUE", help="Hold a joint at a value, in rad or m; repeatable."),
]
FixRoot = Annotated[bool, typer.Option("--fix-root", help="Hold a floating base still.")]
Physical = Annotated[
    Literal["error", "warn", "ignore"],
    typer.Option(help="What to do about inertias that no body can have."),
]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


def open_robot(
    source: str,
    *,
    payload: str | None = None,
    gravity: str | None = None,
    lock: list[str] | None = None,
    fix_root: bool = False,
    physical: Literal["error", "warn", "ignore"] = "error",
) -> Robot:
    """The robot of a command line."""
    from armdyn.loading import load

    robot = load(
        source,
        locked=dict(map(_held, lock or ())),
        gravity=None if gravity is None else numbers("--gravity", gravity, (3,)),
        fix_root=fix_root,
        physical=physical,
    )
    if payload is None:
        return robot
    mass, *com = numbers("--payload", payload, (1, 4))
    return robot.with_payload(mass, com or (0.0, 0.0, 0.0), physical=physical)


def numbers(option: str, text: str, counts: tuple[int, ...]) -> list[float]:
    """The numbers of an option, separated by commas."""
    values = [number(option, part) for part in text.split(",")]
    if len(values) not in counts:
        wanted = " or ".join(map(str, counts))
        raise typer.BadParameter(f"{option}: expected {wanted} numbers, got {text!r}")
    return values


def number(option: str, text: str, kind: Callable[[str], float] = float) -> float:
    """One number of an option."""
    try:
        return kind(text)
    except ValueError:
        raise typer.BadParameter(f"{option}: expected a number, got {text!r}") from None


def _held(text: str) -> tuple[str, float]:
    name, sign, value = text.rpartition("=")
    if not sign or not name:
        raise typer.BadParameter(f"--lock: expected JOINT=VALUE, got {text!r}")
    return name, number(f"--lock {name}", value)
