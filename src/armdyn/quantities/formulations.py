"""Every formulation of inverse dynamics by name."""

from collections.abc import Callable, Iterator, Mapping
from typing import Protocol, get_args

from armdyn.arrays import Array
from armdyn.forks import imported
from armdyn.quantities.request import Formulation


class Torques(Protocol):
    """What every formulation returns: its own quantities by name, and the torques."""

    @property
    def tau(self) -> Array:
        """Joint torques, (..., N)."""


class _Pages(Mapping[Formulation, Callable[..., Torques]]):
    """The functions of these names, each read from its page when it is asked for."""

    def __init__(self, **pages: str):
        self.pages = pages

    def __getitem__(self, name: Formulation) -> Callable[..., Torques]:
        page, _, function = self.pages[name].partition(":")
        found: Callable[..., Torques] = imported(f"armdyn.{page}:{function or name}")
        return found

    def __iter__(self) -> Iterator[Formulation]:
        return iter(get_args(Formulation))

    def __len__(self) -> int:
        return len(self.pages)


FORMULATIONS = _Pages(
    newton_euler="formulations.newton_euler",
    newton_euler_base="formulations.newton_euler_tables",
    newton_euler_link="formulations.newton_euler_tables",
    lagrange_euler="formulations.lagrange_euler",
    dalembert="formulations.dalembert",
    denoc="formulations.denoc",
    denoc_recursive="formulations.denoc_recursive",
    augmented_body="formulations.augmented_body",
    augmented_body_intrinsic="formulations.augmented_body",
    minimal="shorten.minimal.torques:minimal_torques",
)
"""Inverse dynamics by name, each a function (model, q, qd, qdd, wrench) -> Torques."""
CHAINS = ("newton_euler_base", "newton_euler_link")
"""Those that are written for chains."""
NEED_COM = (*CHAINS, "dalembert")
"""Those that cannot take a link with a first moment and no mass."""
