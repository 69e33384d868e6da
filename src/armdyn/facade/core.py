"""What every part of a robot stands on: its data, its names and its kernels."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from armdyn.arrays import Array, broadcast, check_joint_vector
from armdyn.errors import check_known, counted
from armdyn.forks import IMPORTING, cached_property
from armdyn.formulations.coupling import Coordinates
from armdyn.model import RobotModel
from armdyn.quantities.request import EFFORTS
from armdyn.shorten.run_time import payload_vector

if TYPE_CHECKING:
    from armdyn.kernels.cache import ObjectCache
    from armdyn.kernels.table import KernelTable


class RobotCore:
    """A robot: its data, and the table of its kernels."""

    payload_vector = staticmethod(payload_vector)

    def __init__(
        self, model: RobotModel, *, cache: ObjectCache | None = None, effort: str = EFFORTS[0]
    ):
        """Take the data, and the cache that keeps kernels on disk; None: that of the user.

        The effort is that of `optimized`.
        """
        check_known("effort", effort, EFFORTS)
        self.model, self.cache, self.effort = model, cache, effort
        self._at = Coordinates.of(model)
        self._kernels: dict[Any, Callable[..., Array]] = {}

    @cached_property
    def _table(self) -> KernelTable:
        with IMPORTING:
            from armdyn.kernels.table import KernelTable  # noqa: PLC0415

        return KernelTable(self.model, self.cache, self._kernels, self.effort)

    def __repr__(self) -> str:
        kinds = "".join(joint.type.letter for joint in self.model.joints)
        return f"<Robot {self.name!r}, {counted(self.n, 'joint')}, {kinds}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(type(self), cache=self.cache, effort=self.effort), (self.model,)

    def __eq__(self, other: object) -> bool:
        """Whether the models of two robots are equal: those of two loads of one file are."""
        return isinstance(other, RobotCore) and self.model == other.model

    def __hash__(self) -> int:
        return hash(self.model)

    @property
    def n(self) -> int:
        """Number of coordinates; a joint that mimics another one has none."""
        return len(self.model.independent)

    @property
    def name(self) -> str:
        """Name of the robot."""
        return self.model.name

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the joints whose positions are the coordinates."""
        return tuple(self.model.joints[i].name for i in self.model.independent)

    @property
    def link_names(self) -> tuple[str, ...]:
        """Names that a wrench, a Jacobian or forward kinematics can refer to."""
        return self.model.frame_names

    @property
    def gravity(self) -> Array:
        """Field of gravity in world axes, pointing down, (3,) [m/s²]."""
        return self.model.gravity.copy()

    @property
    def limits(self) -> Array:
        """Lower and upper position of each joint, (n, 2) [rad or m]; infinite if unknown."""
        limits = [self.model.joints[i].limits for i in self.model.independent]
        return np.array([(limit.lower, limit.upper) for limit in limits])

    def _other(self, model: RobotModel) -> Self:
        return type(self)(model, cache=self.cache, effort=self.effort)

    def _states(self, **vectors: ArrayLike) -> dict[str, Array]:
        checked = {k: check_joint_vector(k, v, self.n) for k, v in vectors.items()}
        return dict(zip(vectors, broadcast(**checked), strict=True))
