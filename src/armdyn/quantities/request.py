"""What a program shall compute: a quantity by name, and its options."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any, Literal, TypedDict

import numpy.typing as npt

from armdyn.arrays import check_names, check_text, check_truth, record
from armdyn.errors import ModelError, check_known
from armdyn.formulations.cartesian import task_rows
from armdyn.formulations.external import Wrench
from armdyn.formulations.forward_dynamics import ForwardMethod, check_uncoupled
from armdyn.model import RobotModel
from armdyn.quantities.quantity import DERIVATIVES, Quantity

Formulation = Literal[
    "newton_euler",
    "newton_euler_base",
    "newton_euler_link",
    "lagrange_euler",
    "dalembert",
    "denoc",
    "denoc_recursive",
    "augmented_body",
    "augmented_body_intrinsic",
    "minimal",
]
"""How a torque is written, one of `armdyn.quantities.formulations.FORMULATIONS`."""
Axis = Literal["x", "y", "z", "rx", "ry", "rz"]
"""A coordinate of a task."""
EFFORTS = ("default", "deep")
"""How hard a short program is looked for: for tenths of a second, or for minutes."""


TRUTHS = ("friction", "payload", "gravity", "base_motion", "constraint", "base_wrench")
"""Fields of a request that are True or False."""


@record
class Request:
    """A quantity of a robot with its options, which `Robot.kernel` explains.

    Options that the quantity does not have keep their default values.
    """

    quantity: str
    friction: bool = True
    payload: bool = False
    gravity: bool = False
    base_motion: bool = False
    wrench: tuple[str, ...] = ()
    wrench_frame: str = "world"
    link: str = "tool"
    frame: str = "world"
    formulation: Formulation | None = None
    method: ForwardMethod | None = None
    task: tuple[str, ...] = ()
    constraint: bool = False
    base_wrench: bool = False
    design: tuple[str, ...] = ()
    """Numbers of the robot that are an argument, by names of `armdyn.quantities.design`."""
    solved: bool = False
    """Whether the positions of passive joints are an argument, so that loops are not solved."""
    derivative: str | None = None
    """One of `DERIVATIVES`, or None for the quantity itself."""
    effort: str = "default"
    """One of `EFFORTS`."""

    @property
    def title(self) -> str:
        """What it is called in errors."""
        return f"{self.derivative} of {self.quantity}" if self.derivative else self.quantity

    def check_truths(self) -> None:
        """An error if something that is True or False is anything else."""
        for name in TRUTHS:
            advice = "; a payload, a field of gravity or a motion of the base itself is an argument"
            check_truth(name, getattr(self, name), f"{advice} of the call")


class KernelOptions(TypedDict, total=False):
    """Options of functions that are made from a quantity, as `Robot.kernel` explains them."""

    friction: bool
    payload: bool
    gravity: bool
    base_motion: bool
    wrench: str | Sequence[str]
    wrench_frame: str
    link: str
    frame: str
    formulation: Formulation | None
    method: ForwardMethod | None
    task: Sequence[Axis]
    constraint: bool
    base_wrench: bool


_DEFAULTS = {field.name: field.default for field in fields(Request)}
_ALONE = (*TRUTHS, "link", "frame", "task", "formulation", "method")
OPTIONS: dict[str, tuple[str, ...]] = {
    **{name: (name,) for name in _ALONE},
    "wrench": ("wrench", "wrench_frame"),
}
"""For every option of `robot.kernel` its fields in a request."""


def request_of(
    quantity: str,
    *,
    wrench: str | Sequence[str] = (),
    task: Sequence[str] = (),
    **options: Any,
) -> Request:
    """The request of a quantity and the options of `Robot.kernel`."""
    links = (wrench,) if isinstance(wrench, str) else check_names("wrench", wrench)
    names = check_names("task", task)
    request = Request(quantity, wrench=links, task=names, **options)
    request.check_truths()  # what is no truth may have no hash either
    return request


def check_options(request: Request, model: RobotModel, quantity: Quantity) -> None:
    """Raise an error if the quantity lacks an option, or the robot cannot have it as given."""
    request.check_truths()
    check_known("effort", request.effort, EFFORTS)
    if request.derivative is not None:
        check_known("derivative", request.derivative, DERIVATIVES)
    offered = dict.fromkeys((*quantity.options, "friction"))
    for name, names in OPTIONS.items():
        given = any(getattr(request, field) != _DEFAULTS[field] for field in names)
        if given and name not in offered:
            raise ModelError(f"{quantity.name} has no option {name!r}; it has {', '.join(offered)}")
    if len(set(request.wrench)) < len(request.wrench):
        raise ModelError(f"a link is named twice in wrench: {', '.join(request.wrench)}")
    for name in (*request.wrench, request.link):
        model.frame(name)
    what, names = f"frame in {model.name!r} named", model.frame_names
    check_known(what, request.frame, (*quantity.axes, *names))
    check_known(what, request.wrench_frame, ("world", *names))
    if request.task:
        task_rows(request.task)
    for name in ("formulation", "method"):
        way = getattr(request, name)
        if way is None:
            continue
        what = {"method": "method of forward dynamics"}.get(name, name)
        check_known(what, way, quantity.ways)
        if name == "method":
            check_uncoupled(model, way)
        if request.payload or request.gravity or request.base_motion:
            raise ModelError(
                "payload, gravity and a motion of the base as arguments are for the default "
                f"{name}; leave the {name} out, or use with_payload and with_gravity"
            )


def wrench_options(
    external: Wrench | None, link: str, axes: str
) -> tuple[list[npt.ArrayLike], dict[str, Any]]:
    """The wrenches, and the options of a kernel that takes them."""
    if external is None:
        return [], {}
    on = external if isinstance(external, Mapping) else {check_text("wrench_link", link): external}
    return list(on.values()), {"wrench": tuple(on), "wrench_frame": axes}
