"""`armdyn simulate`: the motion that torques cause."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import typer

from armdyn.cli.console import print_result
from armdyn.cli.motion_options import Degrees
from armdyn.cli.options import (
    BASE_MOTION,
    Friction,
    Json,
    Plot,
    RobotSource,
    check_outputs,
    flag,
    numbers,
    option,
    takes_robot,
)

_EACH = "Q1,Q2,..."


@takes_robot
def simulate(
    robot: RobotSource,
    *,
    q0: str = option("start", "Positions at the start, zeros, middle or start.", _EACH),
    qd0: str = option("zeros", "Velocities at the start, or zeros.", _EACH),
    degrees: Degrees = False,
    duration: float | None = option(
        None, "How long, in s; that of a torque, target or move given, or else 1."
    ),
    torque: str | None = option(
        None, "Torques: numbers, or columns t, tau1..taun.", "T1,T2,...|CSV"
    ),
    controller: Literal[
        "free",
        "gravity-pd",
        "computed-torque",
        "slotine-li",
        "operational-space",
        "impedance",
    ] = option("free", "The law that gives the torques; free: none."),
    target: str | None = option(
        None,
        "What the controller holds, by default the start, or a trajectory it follows.",
        f"{_EACH}|CSV",
    ),
    move: str | None = option(None, "Instead, a smooth move from the start to there.", _EACH),
    line: str | None = option(
        None, "Instead, a straight line of the tool to there, in m and world axes.", "X,Y,Z"
    ),
    move_time: float | None = option(
        None, "How long the move or line takes, in s; the duration by default."
    ),
    kp: str | None = option(
        None, "Stiffness, one for all joints (or coordinates of the tool) or one each.", "K[,K,...]"
    ),
    kd: str | None = option(None, "Damping, likewise.", "K[,K,...]"),
    rate: str | None = option(None, "How fast slotine-li corrects errors, in 1/s.", "K[,K,...]"),
    compensate: bool = flag("--compensate", "Whether the controller knows of friction."),
    wrench: str | None = option(
        None,
        "Force and moment of the environment on the tool, world axes, in N and N·m.",
        "FX,FY,FZ,MX,MY,MZ",
    ),
    base_motion: Path | None = option(None, BASE_MOTION, "FILE.csv"),
    method: str | None = option(
        None,
        "DOP853 (the default), RK45, RK23, Radau, BDF, LSODA; with a fixed step rk4 (the "
        "default for many arms), symplectic.",
    ),
    step: float | None = option(None, "The fixed step, in s."),
    dt: float | None = option(None, "Time between recorded instants, in s; 500 by default."),
    rtol: float = option(1e-9, "Relative tolerance of adaptive methods."),
    atol: float = option(1e-10, "Absolute tolerance of adaptive methods."),
    friction: Friction = True,
    stops: bool = flag("--stops", "Whether joints stop at their limits."),
    bounce: float = option(0.0, "Share of its velocity with which a joint leaves a stop, 0 to 1."),
    saturation: Literal["off", "warn", "clip"] = option(
        "off", "What becomes of torques beyond the effort limits of the joints."
    ),
    arms: int | None = option(
        None, "Simulate many arms that start anywhere within their limits.", min=1, max=10_000_000
    ),
    seed: int = option(0, "Chooses the starts of many arms.", min=0),
    output: Path | None = option(
        None, "Write the motion to a .csv or .parquet file.", None, "-o", "--output"
    ),
    plot: Plot = None,
    json: Json = False,
) -> None:
    """Simulate the motion that torques and external forces cause.

    Ctrl-C ends a simulation early and keeps what was computed. Exit code 0: it went to its end. 1:
    it was interrupted, or it diverged. 2: bad input.
    """
    from armdyn.cli.simulate_options import DEFAULT_DURATION, ControllerOptions, start, torques
    from armdyn.cli.simulate_output import print_simulation, telling
    from armdyn.simulation.result import check_save
    from armdyn.simulation.simulator import simulate as simulated

    if output is not None:
        check_save(output)
    moving = None if base_motion is None else str(base_motion)
    check_outputs((output, plot), (robot.source, torque, target, moving), "read by this run")
    pull = None if wrench is None else numbers("--wrench", wrench, (6,))
    arm = robot.open()
    q, qd = start(arm, q0, qd0, arms, seed, degrees)
    tau, torque_time = torques(arm, torque)
    gains = {"kp": kp, "kd": kd, "rate": rate}
    options = ControllerOptions(
        controller, target, move, line, move_time, gains, compensate, degrees
    )
    known = _first(duration, torque_time, DEFAULT_DURATION)
    law, followed = options.controller(arm, q, known)
    lasting = _first(duration, followed, known)
    given: dict[str, Any] = {"torque": tau, "controller": law, "external_wrench": pull}
    given |= {"friction": friction, "stops": stops, "bounce": bounce}
    given["saturation"] = saturation
    given |= {"dt": dt, "step": step, "rtol": rtol, "atol": atol}
    given["base_motion"] = base_motion
    given["method"] = method or ("DOP853" if arms is None else "rk4")
    with telling(lasting) as tell:
        result = simulated(arm, q, qd, lasting, **given, progress=tell)
    if output is not None:
        result.save(output)
    if plot is not None:
        result.plot(plot)
    print_result(result.data(), lambda: print_simulation(result), (output, plot), json)
    raise typer.Exit(0 if result.status == "finished" else 1)


def _first(*times: float | None) -> float:
    return next(time for time in times if time is not None)
