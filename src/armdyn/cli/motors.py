"""The table of motors that `armdyn torque --motors` prints."""

from __future__ import annotations

from typing import Any

from armdyn.cli.console import print_line, print_styled, print_table, table


def print_motors(motors: list[dict[str, Any]], excesses: tuple[str, ...]) -> None:
    """What a motion asks of each motor, by the data of its report."""
    for excess in excesses:
        print_styled(("warning", "yellow"), f": {excess}")
    rows = table(
        "motor of", "ratio", "torque peak", "RMS", "limit", "", "speed peak", "limit", "",
        "power peak [W]", "mean", "regenerated", "duty", "time beyond",
        left=("motor of", ""), title="Motors",
    )  # fmt: skip
    for motor in motors:
        torque, speed, power, duty = (motor[key] for key in ("torque", "speed", "power", "duty"))
        unit, rate = motor["units"]
        numbers = (torque["peak"], torque["rms"], torque["limit"])
        rows.add_row(
            motor["joint"],
            f"{motor['gear_ratio']:.5g}",
            *(_value(value) for value in numbers),
            unit,
            *(_value(speed[key]) for key in ("peak", "limit")),
            rate,
            *(_value(power[key]) for key in ("peak", "mean", "regenerated_mean")),
            *(_percent(duty[key]) for key in ("rms_share", "time_beyond")),
        )
    print_table(rows)
    print_line(
        "power: mechanical; mean: driven less regenerated; duty: RMS torque over the continuous "
        "rating, or over the limit where there is none; time beyond: share of the time above it"
    )


def _value(value: float | None) -> str:
    return "-" if value is None else f"{value:z.4g}"


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.3g} %"
