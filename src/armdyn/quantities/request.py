"""What a program shall compute: a quantity by name, and its options."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from armdyn.errors import ModelError, UnknownNameError
from armdyn.formulations.external import Wrench
from armdyn.formulations.forward_dynamics import check_uncoupled
from armdyn.model import RobotModel
from armdyn.quantities.quantity import Quantity


@dataclass(frozen=True, slots=True)
class Request:
    """A quantity of a robot with its options.

    Options that a quantity does not have keep their default values.
    """

    quantity: str
    friction: bool = True
    """Whether joint friction is in the torques."""
    payload: bool = False
    """Whether the ten inertial parameters of a payload at the tool are an argument."""
    gravity: bool = False
    """Whether the field of gravity in world axes is an argument."""
    wrench: tuple[str, ...] = ()
    """Links (or "tool") for each of which the wrench of the environment is an argument."""
    wrench_frame: str = "world"
    """Axes of these wrenches."""
    link: str = "tool"
    """Whose place or velocity is meant."""
    frame: str = "world"
    """Axes of the rows of a Jacobian."""
    formulation: str | None = None
    """Formulation of inverse, or method of forward dynamics; None: the fewest operations."""

    def check_truths(self) -> None:
        """An error if something that is True or False is anything else."""
        for name in ("friction", "payload", "gravity"):
            if not isinstance(getattr(self, name), bool | np.bool_):
                raise ModelError(
                    f"{name} is True or False, got {getattr(self, name)!r}; a payload or a field "
                    "of gravity itself is an argument of the call"
                )


_DEFAULTS = {field.name: field.default for field in fields(Request)}
Check = Callable[[Request, RobotModel, Quantity], object]


@dataclass(frozen=True, slots=True)
class Option:
    """An option of quantities."""

    fields: tuple[str, ...]
    """Its fields in a request."""
    check: Check = lambda request, model, quantity: None
    """Raises an error if a robot cannot have it as it is given."""

    def is_given(self, request: Request) -> bool:
        """Whether a request has anything but the default."""
        return any(getattr(request, name) != _DEFAULTS[name] for name in self.fields)


def _check_wrench(request: Request, model: RobotModel, quantity: Quantity) -> None:
    if len(set(request.wrench)) < len(request.wrench):
        raise ModelError(f"a link is named twice in wrench: {', '.join(request.wrench)}")
    for link in request.wrench:
        model.frame(link)
    _check_axes(request.wrench_frame, model)


def _check_axes(axes: str, model: RobotModel) -> None:
    if axes != "world":
        model.frame(axes)


def _check_formulation(request: Request, model: RobotModel, quantity: Quantity) -> None:
    name = str(request.formulation)
    if name not in quantity.formulations:
        raise UnknownNameError("method", name, quantity.formulations)
    check_uncoupled(model, name)
    if request.payload or request.gravity:
        raise ModelError(
            "payload and gravity as arguments are for the shortest program; "
            "leave the method out, or use with_payload and with_gravity"
        )


OPTIONS = {
    "friction": Option(("friction",)),
    "payload": Option(("payload",)),
    "gravity": Option(("gravity",)),
    "wrench": Option(("wrench", "wrench_frame"), _check_wrench),
    "link": Option(("link",), lambda request, model, _: model.frame(request.link)),
    "frame": Option(("frame",), lambda request, model, _: _check_axes(request.frame, model)),
    "method": Option(("formulation",), _check_formulation),
}
"""Every option by its name in `robot.kernel`."""


def wrench_options(
    external: Wrench | None, link: str, axes: str
) -> tuple[list[npt.ArrayLike], dict[str, Any]]:
    """The wrenches, and the options of a kernel that takes them."""
    if external is None:
        return [], {}
    on = external if isinstance(external, Mapping) else {link: external}
    return list(on.values()), {"wrench": tuple(on), "wrench_frame": axes}
