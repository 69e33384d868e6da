"""What a program shall compute: a quantity by name, and its options."""

from dataclasses import dataclass

import numpy as np

from armdyn.errors import ModelError, UnknownNameError
from armdyn.formulations.forward_dynamics import METHODS, check_uncoupled
from armdyn.model import RobotModel
from armdyn.quantities.formulations import FORMULATIONS

TORQUE = ("friction", "payload", "gravity")
OPTIONS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "inverse_dynamics": (("q", "qd", "qdd"), (*TORQUE, "wrench", "method")),
    "forward_dynamics": (("q", "qd", "tau"), (*TORQUE, "wrench", "method")),
    "mass_matrix": (("q",), ("payload",)),
    "coriolis_matrix": (("q", "qd"), ("payload",)),
    "coriolis_vector": (("q", "qd"), ("payload",)),
    "gravity_vector": (("q",), ("payload", "gravity")),
    "bias": (("q", "qd"), TORQUE),
    "friction_torque": (("qd",), ()),
    "ledger": (("q", "qd", "qdd"), ("payload", "gravity", "wrench")),
    "kinetic_energy": (("q", "qd"), ("payload",)),
    "potential_energy": (("q",), ()),
    "forward_kinematics": (("q",), ("link",)),
    "jacobian": (("q",), ("link", "frame")),
    "jacobian_dot": (("q", "qd"), ("link", "frame")),
    "regressor": (("q", "qd", "qdd"), ()),
    "base_regressor": (("q", "qd", "qdd"), ()),
    "inverse_dynamics_derivatives": (("q", "qd", "qdd"), TORQUE),
    "inverse_dynamics_slope": (("q", "qd", "qdd", "dq", "dqd"), TORQUE),
    "forward_dynamics_derivatives": (("q", "qd", "tau"), TORQUE),
}
"""For each quantity the vectors of coordinates it is a function of, and the options it has."""


@dataclass(frozen=True, slots=True)
class Request:
    """A quantity of a robot with its options; those that a quantity does not have are as here."""

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
    method: str | None = None
    """Formulation of inverse, or method of forward dynamics; None: the fewest operations."""

    def check(self, model: RobotModel) -> None:
        """An error that says what is possible if this robot has no such quantity or option."""
        if self.quantity not in OPTIONS:
            raise UnknownNameError("quantity", self.quantity, OPTIONS)
        for name in ("friction", "payload", "gravity"):
            if not isinstance(getattr(self, name), bool | np.bool_):
                raise ModelError(
                    f"{name} is True or False, got {getattr(self, name)!r}; a payload or a field "
                    "of gravity itself is an argument of the call"
                )
        if len(set(self.wrench)) < len(self.wrench):
            raise ModelError(f"a link is named twice in wrench: {', '.join(self.wrench)}")
        offered = (*OPTIONS[self.quantity][1], "friction")
        given = {
            "payload": self.payload,
            "gravity": self.gravity,
            "wrench": self.wrench or self.wrench_frame != "world",
            "link": self.link != "tool",
            "frame": self.frame != "world",
            "method": self.method is not None,
        }
        for option, used in given.items():
            if used and option not in offered:
                raise ModelError(
                    f"{self.quantity} has no option {option!r}; it has {', '.join(offered)}"
                )
        if self.method is not None:
            known = FORMULATIONS if self.quantity == "inverse_dynamics" else METHODS
            if self.method not in known:
                raise UnknownNameError("method", self.method, known)
            check_uncoupled(model, self.method)
            if self.payload or self.gravity:
                raise ModelError(
                    "payload and gravity as arguments are for the shortest program; "
                    "leave the method out, or use with_payload and with_gravity"
                )
        for name in (self.link, *self.wrench):
            model.frame(name)
        for axes in (self.frame, self.wrench_frame):
            if axes != "world":
                model.frame(axes)
