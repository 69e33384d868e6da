"""Torques that no actuator can give: told, or clipped."""

import warnings
from typing import Any, Literal, get_args

import numpy as np

from armdyn.arrays import Array
from armdyn.errors import ArmdynWarning, check_known
from armdyn.robot import Robot
from armdyn.simulation.forces import torque_function
from armdyn.simulation.limits import Excess, effort_limits

Saturation = Literal["off", "warn", "clip"]
"""What becomes of torques beyond the effort limits: nothing, a warning, or the limit."""


class Saturated:
    """What drives a simulation, held between the effort limits of the joints."""

    def __init__(self, robot: Robot, drive: Any, duration: float):
        self.label, self._torque = torque_function(robot, drive, duration)
        self.__name__ = f"{self.label}, clipped to the effort limits"
        self._limits = effort_limits(robot.model)

    def __call__(self, t: float, q: Array, qd: Array) -> Array:
        """Torques (..., n) that the actuators can give."""
        return np.clip(np.asarray(self._torque(t, q, qd), float), -self._limits, self._limits)


def saturated(robot: Robot, drive: Any, duration: float, how: Saturation) -> Any:
    """What drives the simulation then."""
    check_known("saturation", how, get_args(Saturation))
    limited = np.isfinite(effort_limits(robot.model)).any()
    clipped = how == "clip" and drive is not None and limited
    return Saturated(robot, drive, duration) if clipped else drive


def warn_of_efforts(excesses: tuple[Excess, ...]) -> None:
    """Warn of torques beyond limits."""
    for excess in excesses:
        if excess.what in ("torque", "force"):
            warnings.warn(str(excess), ArmdynWarning, stacklevel=3)
