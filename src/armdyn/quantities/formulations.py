"""Every formulation of inverse dynamics by name."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from armdyn.arrays import Array
from armdyn.errors import ModelError
from armdyn.forks import imported
from armdyn.formulations.external import carried_wrench
from armdyn.formulations.kinematics import Turning
from armdyn.formulations.spatial import rotate_back
from armdyn.model import RobotModel
from armdyn.quantities.request import Formulation


class Torques(Protocol):
    """What every formulation returns: its own quantities by name, and the torques."""

    @property
    def tau(self) -> Array:
        """Joint torques, (..., N)."""


def _page(place: str, closed: bool = False) -> Callable[..., Torques]:
    """A formulation that is read from its page when it is called.

    A closed one is no recursion from the base: what its turning does to links are wrenches there.
    """

    def formulation(*motion: Any, wrench: Array | None = None, turning: Turning = None) -> Torques:
        more = {"wrench": wrench} if closed else {"wrench": wrench, "turning": turning}
        if closed and turning is not None:
            model, q, qd, _ = motion
            carried = carried_wrench(model, q, qd, turning)
            more["wrench"] = carried if wrench is None else carried + wrench
        torques: Torques = imported(f"armdyn.{place}")(*motion, **more)
        return torques

    return formulation


FORMULATIONS: dict[Formulation, Callable[..., Torques]] = {
    "newton_euler": _page("formulations.newton_euler:newton_euler"),
    "newton_euler_base": _page("formulations.newton_euler_tables:newton_euler_base"),
    "newton_euler_link": _page("formulations.newton_euler_tables:newton_euler_link"),
    "lagrange_euler": _page("formulations.lagrange_euler:lagrange_euler", closed=True),
    "dalembert": _page("formulations.dalembert:dalembert", closed=True),
    "denoc": _page("formulations.denoc:denoc", closed=True),
    "denoc_recursive": _page("formulations.denoc_recursive:denoc_recursive"),
    "augmented_body": _page("formulations.augmented_body:augmented_body"),
    "augmented_body_intrinsic": _page("formulations.augmented_body:augmented_body_intrinsic"),
    "minimal": _page("shorten.minimal.torques:minimal_torques", closed=True),
}
"""Inverse dynamics by name, each a function (model, q, qd, qdd, wrench=, turning=) -> Torques."""
CHAINS = ("newton_euler_base", "newton_euler_link")
"""Those that are written for chains."""
NEED_COM = (*CHAINS, "dalembert")
"""Those that cannot take a link with a first moment and no mass."""


def moving(
    model: RobotModel, base_motion: Array, formulation: str | None = None
) -> tuple[RobotModel, Turning]:
    """The robot as it stands and in the field that it feels, and how its base turns.

    The motion is that of `BaseMotion.vector`; a base that accelerates feels a field less by that.
    """
    if formulation == "minimal":
        raise ModelError(
            "formulation 'minimal' regroups what a base that moves would feel; leave the "
            "formulation out, or take 'newton_euler'"
        )
    R, rates = (part.reshape(*part.shape[:-1], 3, 3) for part in np.split(base_motion, 2, -1))
    w, wd, vd = (rates[..., k, :] for k in range(3))
    base = np.broadcast_to(model.base, (*R.shape[:-2], 4, 4)).astype(R.dtype)
    base[..., :3, :3] = R
    standing = replace(model, base=base, gravity=model.gravity - vd)
    return standing, (rotate_back(R, w), rotate_back(R, wd))
