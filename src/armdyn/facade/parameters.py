"""What torques are linear in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from armdyn.arrays import Array, check_truth
from armdyn.facade.terms import RobotTerms
from armdyn.forks import IMPORTING, cached_property
from armdyn.formulations.base_parameters import BaseParameters, base_parameters
from armdyn.formulations.parameters import RobotParameter, robot_parameters, with_parameters
from armdyn.model.validate import Physical, check_physical


class RobotParameters(RobotTerms):
    """A robot and its parameters."""

    @property
    def parameter_table(self) -> tuple[RobotParameter, ...]:
        """Name, unit and value of every parameter, and whether torques are linear in it."""
        return robot_parameters(self.model)

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """Names of the parameters, as "link1.mcx", "joint1.rotor" or "joint1.viscous"."""
        return tuple(parameter.name for parameter in self.parameter_table)

    @property
    def parameters(self) -> Array:
        """The parameters π: for each link m, m c and I about the origin of the frame on its joint.

        Then come the rotors and the friction that the robot has, joint by joint, its springs, and
        last the parameters of friction that the regressor has no column for.
        """
        return np.array([parameter.value for parameter in self.parameter_table])

    def with_parameters(
        self, values: Mapping[str, float] | ArrayLike, *, physical: Physical = "error"
    ) -> Self:
        """The robot with other parameters, some of them by name or all in order.

        By name they may be of rotors and terms of friction that the robot has not yet, as
        {"joint1.viscous": 0.2}. A link that is changed becomes one body.
        """
        return self._other(check_physical(with_parameters(self.model, values), physical))

    def regressor(
        self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, *, links: bool = False
    ) -> Array:
        """Y with τ = Y π, (..., n, p), for the p linear parameters, which come first in π.

        With `links`, for the links alone, (..., n, 10 N): friction and rotors are not in it.
        """
        return self._table.regressor(q, qd, qdd, check_truth("links", links))

    def base_parameters(self, *, links: bool = False) -> BaseParameters:
        """The fewest combinations of parameters that the torques depend on.

        A rotor and the inertia of a link that turns with it act as one. With `links`, those of
        the links alone.
        """
        only = check_truth("links", links)
        return self._link_base_parameters if only else self._base_parameters

    def exact_rank(self, *, links: bool = False) -> int:
        """How many base parameters there are, exactly: the rank of the regressor in a finite field.

        No tolerance decides, as one does in `base_parameters`: rotations, perpendiculars and
        parallels of the description hold exactly there. With `links`, for the links alone.
        """
        with IMPORTING:
            from armdyn.formulations.exact_rank import exact_rank  # noqa: PLC0415 (seldom needed)

        return exact_rank(self.model, check_truth("links", links))

    def with_base_parameters(self, values: ArrayLike, *, links: bool = False) -> Self:
        """The possible robot with these base parameters that is nearest to this one.

        Values are in the order of `base_parameters()`. Bodies are near if the log-det divergence of
        their pseudo-inertias is small; if no bodies have these values, those of the result come as
        near as possible, and there is an ArmdynWarning.
        """
        with IMPORTING:
            from armdyn.formulations.nearest_robot import (  # noqa: PLC0415 (SciPy is slow)
                with_base_parameters,
            )

        base = self.base_parameters(links=links)
        return self._other(with_base_parameters(self.model, base, np.asarray(values)))

    def base_regressor(
        self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, *, links: bool = False
    ) -> Array:
        """Y_b with τ = Y_b π_b, (..., n, rank); π_b as in `base_parameters`."""
        return self._table.base_regressor(q, qd, qdd, check_truth("links", links))

    @cached_property
    def _base_parameters(self) -> BaseParameters:
        return base_parameters(self.model)

    @cached_property
    def _link_base_parameters(self) -> BaseParameters:
        return base_parameters(self.model, links=True)
