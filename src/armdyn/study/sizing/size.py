"""Choose a motor and a gear for each joint from a list.

A rotor adds to the diagonal of the mass matrix alone, so that each joint is chosen by itself, and
trying every motor with every gear finds the best of all choices.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import numpy as np

from armdyn.arrays import check_number
from armdyn.errors import ModelError, SizingError, check_known
from armdyn.io.csv.trajectory import sampled_motion
from armdyn.model import Joint
from armdyn.robot import Robot, check_robot
from armdyn.study.sizing.candidates import DEMANDS, Candidates, Load, candidates
from armdyn.study.sizing.motor_list import MotorList, motor_list
from armdyn.study.sizing.motors import check_own_motors
from armdyn.study.sizing.result import Choice, Sizing, price_of

GOALS = ("mass", "price", "power", "inertia")
"""What can be made small: mass and price of motor and gear, mean of the driven power, J N²."""
MARGIN = 1.2
"""Default of how many times what a motion asks for must be there."""
_LIMIT_ROUNDING = 1e-12
"""A demand that exceeds its limit by less, relative to it, does not."""
MOST_JOINTS_TOLD = 4
"""Joints without a motor that an error tells of; of the others it tells the number."""


def size(
    robot: Robot,
    trajectory: Any,
    motors: str | Path | Mapping[str, Any] | MotorList,
    *,
    minimise: Literal["mass", "price", "power", "inertia"] = "mass",
    margin: float = MARGIN,
    friction: bool = True,
) -> Sizing:
    """Choose for each joint the motor and the gear that drive it along a motion.

    Every motor of the list is tried with every gear. The rotors of the robot are replaced; masses
    of motors are not put on its links.

    Args:
        robot: The robot.
        trajectory: A CSV file, or anything with arrays t, q, qd and qdd, as
            `armdyn.simulation.trajectories.sampled` and `armdyn.simulate` give.
        motors: A TOML file (docs/sizing.md), a mapping with its tables, or a `MotorList`.
        minimise: What is made as small as possible for each joint: "mass" or "price" of motor and
            gear, "power" (the mean of what the motor drives), or "inertia" seen from the joint.
        margin: How many times what the motion asks for must be there, 1 or more.
        friction: Whether joint friction is in the torques.

    Raises:
        SizingError: No pair fits a joint; it says what was asked for and what came closest.
    """
    motion = sampled_motion(trajectory, check_robot(robot).model)
    check_own_motors(robot.model)
    check_known("goal of sizing", minimise, GOALS)
    if check_number("margin", margin) < 1:
        raise ModelError(f"margin: expected a number of 1 or more, got {margin:g}")
    offered = motor_list(motors)
    if minimise == "price":
        _check_prices(offered)
    tau = robot.inverse_dynamics(motion.q, motion.qd, motion.qdd, friction=friction)
    choices, faults = [], []
    for k, i in enumerate(robot.model.independent):
        joint, qdd = robot.model.joints[i], motion.qdd[:, k]
        load = Load(tau[:, k] - joint.rotor.reflected * qdd, motion.qd[:, k], qdd, motion.shares)
        pairs = offered.pairs(joint.type.turns)
        tried = candidates(load, pairs) if pairs else None
        found = None if tried is None else _chosen(joint, load, tried, minimise, margin)
        if found is None:
            faults.append(_fault(joint, load, tried, margin))
        else:
            choices.append(found)
    if faults:
        more = len(faults) - MOST_JOINTS_TOLD
        told = "; ".join(faults[:MOST_JOINTS_TOLD]) + (f"; and {more} more" if more > 0 else "")
        raise SizingError(f"no motor of {offered.name} fits with a margin of {margin:g}: {told}")
    return Sizing(robot, tuple(choices), minimise, margin, motion, offered)


def _chosen(
    joint: Joint, load: Load, tried: Candidates, minimise: str, margin: float
) -> Choice | None:
    fits = np.flatnonzero(margin * tried.use.max(axis=1) <= 1 + _LIMIT_ROUNDING).tolist()
    if not fits:
        return None
    cost = [_cost(tried, k, load, minimise) for k in fits]
    mass = [sum(part.mass for part in tried.pairs[k]) for k in fits]
    # of equal cost the lighter one, then the one with less inertia, then the first of the list
    best = fits[int(np.lexsort(np.array([tried.reflected[fits], mass, cost]))[0])]
    (motor, gear), J = tried.pairs[best], float(tried.inertia[best])
    mean_square = [float(load.shares @ x**2) for x in (load.torque, load.qdd)]
    matched = (mean_square[0] / mean_square[1]) ** 0.25 / J**0.5 if J and mean_square[1] else np.inf
    return Choice(
        joint.name,
        motor,
        gear,
        J,
        float(tried.reflected[best]),
        dict(zip(DEMANDS, tried.use[best].tolist(), strict=True)),
        float(matched),
        load.driven_power(J, gear),
        gear.ratio * load.qd,
        load.motor_torque(J, gear),
        float(tried.found[best, 1]),
        len(fits),
        len(tried.pairs),
    )


def _cost(tried: Candidates, k: int, load: Load, minimise: str) -> float:
    motor, gear = tried.pairs[k]
    match minimise:
        case "mass":
            return motor.mass + gear.mass
        case "price":
            return price_of(motor, gear) or 0.0
        case "power":
            # without regeneration all pairs drive the same, but for rounding
            return float(f"{load.driven_power(float(tried.inertia[k]), gear):.6g}")
        case _:
            return float(tried.reflected[k])


def _check_prices(offered: MotorList) -> None:
    without = [motor.name for motor in offered.motors if motor.price is None]
    if without:
        raise ModelError(
            f"{offered.name}: the motors {', '.join(without[:5])} have no price, so none can be "
            "the cheapest; give each a price, or minimise another number"
        )


def _fault(joint: Joint, load: Load, tried: Candidates | None, margin: float) -> str:
    if tried is None:
        wanted = "ratios" if joint.type.turns else "leads, or a motor with linear = true"
        how = "turns" if joint.type.turns else "slides"
        return f"{joint.name} {how}, for which the list must have a [[gear]] with {wanted}"
    worst = margin * tried.use.max(axis=1)
    best = int(worst.argmin())
    what = int(tried.use[best].argmax())
    (motor, gear), unit = tried.pairs[best], joint.type.torque_unit
    peak, rms = np.abs(load.torque).max(), float(np.sqrt(load.shares @ load.torque**2))
    return (
        f"{joint.name} asks for {peak:.4g} {unit}, {rms:.4g} {unit} RMS and "
        f"{np.abs(load.qd).max():.4g} {joint.type.unit}/s, rotor aside, and {motor.name!r} with "
        f"the ratio {gear.ratio:.4g} comes closest: its {DEMANDS[what]} would be "
        f"{tried.found[best, what]:.4g} of {tried.given[best, what]:.4g}, "
        f"{worst[best]:.3g} times too much with the margin"
    )
