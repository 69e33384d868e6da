"""Every formulation of inverse dynamics by name."""

from collections.abc import Callable
from typing import Any, Protocol

from armdyn.arrays import Array
from armdyn.forks import imported
from armdyn.quantities.request import Formulation


class Torques(Protocol):
    """What every formulation returns: its own quantities by name, and the torques."""

    @property
    def tau(self) -> Array:
        """Joint torques, (..., N)."""


def _page(place: str) -> Callable[..., Torques]:
    """A formulation that is read from its page when it is called."""

    def formulation(*arguments: Any) -> Torques:
        torques: Torques = imported(f"armdyn.{place}")(*arguments)
        return torques

    return formulation


FORMULATIONS: dict[Formulation, Callable[..., Torques]] = {
    "newton_euler": _page("formulations.newton_euler:newton_euler"),
    "newton_euler_base": _page("formulations.newton_euler_tables:newton_euler_base"),
    "newton_euler_link": _page("formulations.newton_euler_tables:newton_euler_link"),
    "lagrange_euler": _page("formulations.lagrange_euler:lagrange_euler"),
    "dalembert": _page("formulations.dalembert:dalembert"),
    "denoc": _page("formulations.denoc:denoc"),
    "denoc_recursive": _page("formulations.denoc_recursive:denoc_recursive"),
    "augmented_body": _page("formulations.augmented_body:augmented_body"),
    "augmented_body_intrinsic": _page("formulations.augmented_body:augmented_body_intrinsic"),
    "minimal": _page("shorten.minimal.torques:minimal_torques"),
}
"""Inverse dynamics by name, each a function (model, q, qd, qdd, wrench) -> Torques."""
CHAINS = ("newton_euler_base", "newton_euler_link")
"""Those that are written for chains."""
NEED_COM = (*CHAINS, "dalembert")
"""Those that cannot take a link with a first moment and no mass."""
