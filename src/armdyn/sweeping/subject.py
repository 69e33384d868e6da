"""What is evaluated in a sweep: the kernel of a quantity, its columns, the names of its entries."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from armdyn.arrays import Array, check_names, frozen
from armdyn.errors import SweepError, check_known
from armdyn.kernels.kernel import Kernel
from armdyn.quantities.design import design_program, design_values
from armdyn.quantities.quantity import ARGUMENTS, Quantity
from armdyn.quantities.registry import QUANTITIES
from armdyn.quantities.request import Request
from armdyn.robot import Robot
from armdyn.sweeping.columns import NUMBERED, Columns, columns_of


@dataclass(frozen=True, eq=False)
class Subject:
    """A quantity of a robot, as a function of columns."""

    robot: Robot
    quantity: Quantity
    kernel: Kernel
    columns: Columns

    @property
    def labels(self) -> tuple[str, ...]:
        """A name for each entry of the result."""
        shape = self.kernel.shape
        if shape == (self.robot.n,) and self.quantity.shape == ("n",):
            return self.robot.joint_names
        if not shape:
            return (self.quantity.name.replace("_", " "),)
        return tuple("[" + ", ".join(str(k + 1) for k in at) + "]" for at in np.ndindex(shape))

    @property
    def limits(self) -> Array:
        """What each entry may be in magnitude; infinite where nothing is known."""
        entries = int(np.prod(self.kernel.shape, dtype=int))
        model = self.robot.model
        if "{torque}" in self.quantity.result and self.kernel.shape == (self.robot.n,):
            efforts = [model.joints[i].limits.effort for i in model.independent]
            # files say 0 where they know nothing
            return frozen([effort if effort > 0 else np.inf for effort in efforts])
        return frozen(np.full(entries, np.inf))


def subject(
    robot: Robot, quantity: str, names: tuple[str, ...], options: Mapping[str, Any]
) -> Subject:
    """The quantity as a function of what is swept over: payload and gravity if these are named."""
    check_known("quantity", quantity, QUANTITIES)
    known = {field.name for field in fields(Request)} - {"quantity", "effort", *NUMBERED}
    for name in options:
        check_known("option", name, sorted(known))
    more: dict[str, Any] = {
        a: True for a in NUMBERED if any(name.rstrip("0123456789") == a for name in names)
    }
    design = _design(robot, QUANTITIES[quantity], names)
    options = {k: names_in(k, v) if k in ("wrench", "task") else v for k, v in options.items()}
    try:
        request = Request(quantity, effort=robot.effort, **more, **options)
        program = design_program(robot.model, request, tuple(design)) if design else None
        kernel = Kernel(robot.model, request, "float64", robot.cache, program)
    except TypeError as reason:
        raise SweepError(f"{quantity}: {reason}") from None
    columns = columns_of(robot, kernel.inputs, design)
    return Subject(robot, QUANTITIES[quantity], kernel, columns)


def _design(robot: Robot, quantity: Quantity, names: tuple[str, ...]) -> dict[str, float]:
    """The numbers of the robot that are swept over, with their values."""
    stems = {*quantity.arguments, *ARGUMENTS}
    others = [name for name in names if name.rstrip("0123456789") not in stems]
    known = design_values(robot.model) if others else {}
    return {name: known[name] for name in others if name in known}


def names_in(what: str, given: Any) -> tuple[str, ...]:
    """One name, or some in a list."""
    return check_names(what, (given,) if isinstance(given, str) else given)
