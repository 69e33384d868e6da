"""`armdyn simulate`: the motion that torques cause."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from armdyn.cli.options import Json, RobotSource, check_outputs, numbers, takes_robot

_EACH = "Q1,Q2,..."


@takes_robot
def simulate(
    robot: RobotSource,
    *,
    q0: Annotated[
        str, typer.Option(metavar=_EACH, help="Positions at the start, zeros or middle.")
    ] = "zeros",
    qd0: Annotated[
        str, typer.Option(metavar=_EACH, help="Velocities at the start, or zeros.")
    ] = "zeros",
    duration: Annotated[
        float | None,
        typer.Option(help="How long, in s; that of a torque, target or move given, or else 1."),
    ] = None,
    torque: Annotated[
        str | None,
        typer.Option(metavar="T1,T2,...|CSV", help="Torques: numbers, or columns t, tau1..taun."),
    ] = None,
    controller: Annotated[
        Literal["free", "gravity-pd", "computed-torque", "slotine-li", "impedance"],
        typer.Option(help="The law that gives the torques; free: none."),
    ] = "free",
    target: Annotated[
        str | None,
        typer.Option(
            metavar=f"{_EACH}|CSV",
            help="What the controller holds, by default the start, or a trajectory it follows.",
        ),
    ] = None,
    move: Annotated[
        str | None,
        typer.Option(metavar=_EACH, help="Instead, a smooth move from the start to there."),
    ] = None,
    move_time: Annotated[
        float | None, typer.Option(help="How long the move takes, in s; the duration by default.")
    ] = None,
    kp: Annotated[
        str | None,
        typer.Option(metavar="K[,K,...]", help="Stiffness, one for all joints or one each."),
    ] = None,
    kd: Annotated[str | None, typer.Option(metavar="K[,K,...]", help="Damping, likewise.")] = None,
    rate: Annotated[
        str | None,
        typer.Option(metavar="K[,K,...]", help="How fast slotine-li corrects errors, in 1/s."),
    ] = None,
    compensate: Annotated[
        bool, typer.Option("--compensate", help="Whether the controller knows of friction.")
    ] = False,
    wrench: Annotated[
        str | None,
        typer.Option(
            metavar="FX,FY,FZ,MX,MY,MZ",
            help="Force and moment of the environment on the tool, world axes, in N and N·m.",
        ),
    ] = None,
    method: Annotated[
        str | None,
        typer.Option(
            help="DOP853 (the default), RK45, RK23, Radau, BDF, LSODA; with a fixed step rk4 (the "
            "default for many arms), symplectic."
        ),
    ] = None,
    step: Annotated[float | None, typer.Option(help="The fixed step, in s.")] = None,
    dt: Annotated[
        float | None, typer.Option(help="Time between recorded instants, in s; 500 by default.")
    ] = None,
    rtol: Annotated[float, typer.Option(help="Relative tolerance of adaptive methods.")] = 1e-9,
    atol: Annotated[float, typer.Option(help="Absolute tolerance of adaptive methods.")] = 1e-10,
    friction: Annotated[
        bool, typer.Option("--friction/--no-friction", help="Whether joints have friction.")
    ] = True,
    stops: Annotated[
        bool, typer.Option("--stops", help="Whether joints stop at their limits.")
    ] = False,
    bounce: Annotated[
        float, typer.Option(help="Share of its velocity with which a joint leaves a stop, 0 to 1.")
    ] = 0.0,
    arms: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=10_000_000,
            help="Simulate many arms that start anywhere within their limits.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Chooses the starts of many arms.")] = 0,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="Write the motion to a .csv or .parquet file."),
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(help="Draw the motion to a .png, .pdf or .svg file.")
    ] = None,
    json: Json = False,
) -> None:
    """Simulate the motion that torques and external forces cause.

    Ctrl-C ends a simulation early and keeps what was computed. Exit code 0: it went to its end. 1:
    it was interrupted, or it diverged. 2: bad input.
    """
    from armdyn.cli.console import print_json, print_written
    from armdyn.cli.simulate_options import DEFAULT_DURATION, ControllerOptions, start, torques
    from armdyn.cli.simulate_output import print_simulation, telling
    from armdyn.figures import check_plot
    from armdyn.simulation.files import check_save
    from armdyn.simulation.simulator import simulate as simulated

    if plot is not None:
        check_plot(plot)
    if output is not None:
        check_save(output)
    check_outputs((output, plot), (robot.source, torque, target), "read by this run")
    pull = None if wrench is None else numbers("--wrench", wrench, (6,))
    arm = robot.open()
    q, qd = start(arm, q0, qd0, arms, seed)
    tau, torque_time = torques(arm, torque)
    gains = {"kp": kp, "kd": kd, "rate": rate}
    options = ControllerOptions(controller, target, move, move_time, gains, compensate)
    known = _first(duration, torque_time, DEFAULT_DURATION)
    law, followed = options.controller(arm, q, known)
    lasting = _first(duration, followed, known)
    with telling(lasting) as tell:
        result = simulated(
            arm,
            q,
            qd,
            lasting,
            torque=tau,
            controller=law,
            external_wrench=pull,
            method=method or ("DOP853" if arms is None else "rk4"),
            dt=dt,
            step=step,
            friction=friction,
            stops=stops,
            bounce=bounce,
            rtol=rtol,
            atol=atol,
            progress=tell,
        )
    if output is not None:
        result.save(output)
    if plot is not None:
        result.plot(plot)
    files = [path for path in (output, plot) if path is not None]
    if json:
        print_json(result.data() | {"files": list(map(str, files))})
    else:
        print_simulation(result)
        print_written(files)
    raise typer.Exit(0 if result.status == "finished" else 1)


def _first(*times: float | None) -> float:
    return next(time for time in times if time is not None)
