"""The robot that an estimate is, and its parameters by name."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.formulations.parameters import RobotParameter, robot_parameters, with_parameters
from armdyn.formulations.regressor import PARAMETERS
from armdyn.identification.equations import Equations, Motor
from armdyn.identification.friction_terms import ROTOR, STIFF, TENSE
from armdyn.model import FrictionLaw, RobotModel, Rotor
from armdyn.robot import Robot

NEGLIGIBLE = 1e-6
"""A magnitude below this share of its usual size is nothing."""


def found_robot(
    equations: Equations, motors: Sequence[Motor], theta: Array, scale: Array, links: bool = True
) -> Robot:
    """The robot with the parameters θ: ten of each link, then those of motors and springs."""
    robot, model = equations.robot, equations.robot.model
    N = len(model.links)
    values = dict(zip(_link_names(model), theta[: 10 * N].tolist(), strict=True))
    if links:
        model = with_parameters(model, values)
    owners = [_with_motor(owner, k, equations, motors, theta[10 * N :], scale)
              for k, owner in enumerate(model.driven)]  # fmt: skip
    joints, drives = tuple(owners[:N]), tuple(owners[N:])
    drives = tuple(d for d in drives if d.rotor.inertia or not d.friction.is_zero)
    pulls = {name: value for name, value in zip(_names(model, motors), theta[10 * N :].tolist(),
                                                strict=True) if name}  # fmt: skip
    model = with_parameters(model, pulls)
    changed = replace(model, joints=joints, drives=drives, reduced=model.reduced and not links)
    return Robot(changed, cache=robot.cache, effort=robot.effort)


def _names(model: RobotModel, motors: Sequence[Motor]) -> list[str]:
    """The parameters that features of springs are; empty for those of motors."""
    first = len(model.driven)
    return [
        f"{model.springs[k - first].name}.{feature.linear[0]}" if k >= first else ""
        for k, feature in motors
    ]


def _link_names(model: RobotModel) -> list[str]:
    return [f"{link.name}.{name}" for link in model.links for name in PARAMETERS]


def _with_motor(
    owner: Any, k: int, equations: Equations, motors: Sequence[Motor], values: Array, scale: Array
) -> Any:
    speed = float(equations.speeds[k])
    law: dict[str, float] = {}
    rotor = Rotor(0.0, owner.rotor.gear_ratio or 1.0)
    for (motor, feature), value, usual in zip(motors, values.tolist(), scale.tolist(), strict=True):
        if motor != k or abs(value) < NEGLIGIBLE * usual:
            continue
        if feature is ROTOR:
            rotor = replace(rotor, inertia=value / rotor.gear_ratio**2)
        else:
            law |= dict.fromkeys(feature.linear, value) | feature.shape(speed)
    return replace(owner, rotor=rotor, friction=FrictionLaw(**law))


def parameter_rows(
    robot: Robot, given: Robot, motors: Sequence[Motor]
) -> tuple[list[RobotParameter], Array]:
    """The linear parameters of a robot that was found, and each as a combination of θ, (p, P)."""
    model = robot.model
    N, P = len(model.links), 10 * len(model.links) + len(motors)
    owners = (*given.model.driven, *given.model.springs)
    names = {owner.name: k for k, owner in enumerate(owners)}
    records = [p for p in robot_parameters(model) if p.linear]
    rows = np.zeros((len(records), P))
    rows[: 10 * N, : 10 * N] = np.eye(10 * N)
    for i, record in enumerate(records[10 * N :], start=10 * N):
        owner, _, name = record.name.rpartition(".")
        for column, (k, feature) in enumerate(motors, start=10 * N):
            own = feature.linear if feature is not ROTOR else ("rotor",)
            if k == names[owner] and name in own:
                rows[i, column] = 1.0
    return records, rows


def friction_words(motors: Sequence[Motor]) -> str:
    """The terms that motors have, each once."""
    own = (feature.name for _, feature in motors if feature not in (STIFF, TENSE))
    return ", ".join(dict.fromkeys(own))
