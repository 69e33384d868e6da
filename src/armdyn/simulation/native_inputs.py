"""What drives compiled rollouts: torques and controllers as rows by arm and time."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from armdyn.arrays import Array, check_joint_vector
from armdyn.errors import ShapeError, SimulationError, counted, shown
from armdyn.kernels.stepper import StepInput
from armdyn.quantities.steps import StepRequest
from armdyn.robot import Robot
from armdyn.simulation.controllers import ComputedTorque, GravityPD

LAWS = {GravityPD: "pd", ComputedTorque: "computed_torque"}
"""The controllers that can be compiled into the loop."""


@dataclass(frozen=True, slots=True)
class Horizon:
    """The arms and steps of a rollout."""

    batch: tuple[int, ...]
    """Shape of the arms."""
    n: int
    step: float
    steps: int

    def rows(self, what: str, values: Array) -> Array:
        """Vectors (..., times, n), broadcast to (arms, times, n); one may stand for all arms."""
        lead, (times, n) = values.shape[:-2], values.shape[-2:]
        if all(size == 1 for size in lead):
            return np.ascontiguousarray(values.reshape(1, times, n))
        try:
            full = np.broadcast_to(values, (*self.batch, times, n))
        except ValueError:
            raise ShapeError(
                f"{what}: its arms, of shape {lead}, do not fit those of q0, of shape {self.batch}"
            ) from None
        return np.ascontiguousarray(full.reshape(-1, times, n))


def law(robot: Robot, controller: Any) -> str:
    """The control law that is compiled; an error if there is none."""
    if controller is None:
        return "torque"
    if type(controller) not in LAWS:
        names = " and ".join(kind.__name__ for kind in LAWS)
        raise SimulationError(
            f"only the controllers {names} can be compiled into a loop, got {shown(controller)}; "
            "use an adaptive method"
        )
    if controller.robot.model.digest != robot.model.digest:
        raise SimulationError(
            "a compiled controller knows the arm itself, this one knows another model, "
            f"{controller.robot.name!r}; make it with the same robot, or use an adaptive method"
        )
    return LAWS[type(controller)]


def step_inputs(
    torque: npt.ArrayLike | None,
    controller: GravityPD | ComputedTorque | None,
    request: StepRequest,
    over: Horizon,
) -> list[StepInput]:
    """The length of every step, and torques at its start and its end or what a law needs."""
    if torque is not None and controller is not None:
        raise SimulationError("give a torque or a controller, not both")
    length = StepInput(np.full((1, 1, 1), float(over.step)))
    if controller is not None:
        return [length, *_control_inputs(controller, request, over)]
    rows = np.zeros((1, 1, over.n))
    if torque is not None:
        given = check_joint_vector("torque", torque, over.n)
        if not np.isfinite(given).all():
            raise SimulationError("torque: expected finite numbers, got some that are not")
        rows = over.rows("torque", given.reshape(_torque_shape(given.shape, over)))
    return [length, StepInput(rows, 0, 1), StepInput(rows, 1, 1)]


def _torque_shape(shape: tuple[int, ...], over: Horizon) -> tuple[int, ...]:
    """The shape with an axis for the time before the last one."""
    lead, n, times = shape[:-1], shape[-1], over.steps + 1
    held = lead in ((), over.batch)
    alike = set(lead[:-1]) <= {1}
    table = lead[-1:] == (times,) and (alike or len(lead) == len(over.batch) + 1)
    if held and table:
        ones = (1,) * len(over.batch)
        raise ShapeError(
            f"torque: {times} rows for {times} arms and {times} instants; write a table of the "
            f"time as {(*ones, times, n)} and a torque for each arm as {(*over.batch, 1, n)}"
        )
    if held:
        return (*lead, 1, n)
    if table or (len(lead) == len(over.batch) + 1 and lead[-1] == 1):
        return shape
    arms = ", ".join(map(str, over.batch))
    each = f", ({arms}, {n}) or ({arms}, {times}, {n})" if over.batch else ""
    raise ShapeError(
        f"torque: expected shape ({n},), ({times}, {n}){each}, with a row for the start and for "
        f"the end of each of the {counted(over.steps, 'step')}, got shape {shape}"
    )


def _control_inputs(
    controller: GravityPD | ComputedTorque, request: StepRequest, over: Horizon
) -> list[StepInput]:
    """Gains, and what is wanted twice a step."""
    gains = [StepInput(controller.gains[name].reshape(1, 1, -1).copy()) for name in ("kp", "kd")]
    times = 0.5 * over.step * np.arange(2 * over.steps + 1)
    target: Any = controller.target  # trajectories take many times at once
    wanted = target(times)
    qd = np.asarray(wanted.qd, dtype=float)
    added = (
        controller.robot.friction_torque(qd, wanted.q) if controller.friction else np.zeros_like(qd)
    )
    vectors = [wanted.q, qd, wanted.qdd][: request.reference - 1]
    row = np.concatenate(np.broadcast_arrays(*vectors, added), -1)
    rows = np.ascontiguousarray(row.reshape(1, -1, request.reference * over.n))
    if not np.isfinite(rows).all():
        raise SimulationError("the motion to follow has numbers in it that are not finite")
    ahead = {"start": 0, "middle": 1, "end": 2}
    return [*gains, *(StepInput(rows, ahead[moment], 2) for moment in request.moments)]
