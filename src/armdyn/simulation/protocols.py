"""The interface of trajectories."""

from typing import NamedTuple, Protocol

import numpy.typing as npt

from armdyn.arrays import Array


class Motion(NamedTuple):
    """Positions, velocities and accelerations, each (..., n)."""

    q: Array
    qd: Array
    qdd: Array


class Trajectory(Protocol):
    """A motion; before time 0 it rests at its start, after its duration at its end."""

    @property
    def n(self) -> int:
        """Number of coordinates."""
        ...

    @property
    def duration(self) -> float:
        """How long it takes [s]."""
        ...

    def __call__(self, t: npt.ArrayLike) -> Motion:
        """The motion at times of any shape."""
        ...
