"""Every formulation of inverse dynamics by name."""

from collections.abc import Callable
from typing import Protocol

from armdyn.arrays import Array
from armdyn.formulations.augmented_body import augmented_body, augmented_body_intrinsic
from armdyn.formulations.dalembert import dalembert
from armdyn.formulations.denoc import denoc
from armdyn.formulations.denoc_recursive import denoc_recursive
from armdyn.formulations.lagrange_euler import lagrange_euler
from armdyn.formulations.newton_euler import newton_euler
from armdyn.formulations.newton_euler_tables import newton_euler_base, newton_euler_link
from armdyn.shorten.minimal.torques import minimal_torques


class Torques(Protocol):
    """What every formulation returns: its own quantities by name, and the torques."""

    @property
    def tau(self) -> Array:
        """Joint torques, (..., N)."""


FORMULATIONS: dict[str, Callable[..., Torques]] = {
    "newton_euler": newton_euler,
    "newton_euler_base": newton_euler_base,
    "newton_euler_link": newton_euler_link,
    "lagrange_euler": lagrange_euler,
    "dalembert": dalembert,
    "denoc": denoc,
    "denoc_recursive": denoc_recursive,
    "augmented_body": augmented_body,
    "augmented_body_intrinsic": augmented_body_intrinsic,
    "minimal": minimal_torques,
}
"""Inverse dynamics by name, each a function (model, q, qd, qdd, wrench) -> Torques."""
CHAINS = ("newton_euler_base", "newton_euler_link")
"""Those that are written for chains."""
NEED_COM = (*CHAINS, "dalembert")
"""Those that cannot take a link with a first moment and no mass."""
