"""The table of the kernels of one robot, each compiled when it is first asked for."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from armdyn.arrays import Array, broadcast, check_joint_vector
from armdyn.backends.cache import ObjectCache
from armdyn.backends.kernel import Kernel
from armdyn.formulations.coupling import Coordinates
from armdyn.formulations.regressor import regressor
from armdyn.model import RobotModel
from armdyn.quantities.request import Request

WHOLE_DERIVATIVES = 12
"""Coordinates beyond which derivatives are taken direction by direction, by one shorter program."""
COMPILED_REGRESSOR = 24
"""Coordinates beyond which the regressor, with its ten columns a link, is left to NumPy."""


class KernelTable:
    """What a robot computes with."""

    def __init__(
        self, model: RobotModel, cache: ObjectCache | None, known: dict[Any, Callable[..., Array]]
    ):
        self.model, self.cache, self.n = model, cache, len(model.independent)
        self.known = known
        """Kernels by request and type; by quantity and options their callables for one state."""

    def kernel(self, request: Request, dtype: npt.DTypeLike = "float64") -> Any:
        """The kernel of a request."""
        key = request, str(dtype)
        if key not in self.known:
            self.known[key] = Kernel(self.model, request, dtype, self.cache)
        return self.known[key]

    def run(self, quantity: str, *arrays: npt.ArrayLike, **options: Any) -> Array:
        """A quantity for vectors in the order of its kernel."""
        key = (quantity, *options.items()) if options else quantity
        call = self.known.get(key)
        if call is None:
            call = self.kernel(Request(quantity, **options))
            if getattr(arrays[0], "ndim", 1) == 1:  # else nothing is compiled for one state
                call = self.known[key] = call.call
        return call(*arrays)

    @property
    def solves_derivatives(self) -> bool:
        """Whether the derivatives of forward dynamics are one kernel."""
        return self.n <= WHOLE_DERIVATIVES

    def coriolis_matrix(self, q: npt.ArrayLike, qd: npt.ArrayLike) -> Array:
        """C(q, q̇), (..., n, n)."""
        if self.n <= WHOLE_DERIVATIVES:
            return self.run("coriolis_matrix", q, qd)
        slopes = self.torque_derivatives(q, qd, np.zeros(self.n), friction=False)
        return 0.5 * slopes[..., 1, :, :]

    def torque_derivatives(
        self, q: npt.ArrayLike, qd: npt.ArrayLike, qdd: npt.ArrayLike, *, friction: bool
    ) -> Array:
        """∂τ/∂q and ∂τ/∂q̇, (..., 2, n, n)."""
        if self.n <= WHOLE_DERIVATIVES:
            return self.run("inverse_dynamics_derivatives", q, qd, qdd, friction=friction)
        state = [check_joint_vector(k, v, self.n) for k, v in (("q", q), ("qd", qd), ("qdd", qdd))]
        along, unit = [v[..., None, :] for v in state], np.eye(self.n)
        found = self.run("inverse_dynamics_slope", *along, unit, unit, friction=friction)
        return np.ascontiguousarray(np.moveaxis(found, -3, -1))

    def regressor(self, q: npt.ArrayLike, qd: npt.ArrayLike, qdd: npt.ArrayLike) -> Array:
        """Y of the links, (..., n, 10 N)."""
        if self.n <= COMPILED_REGRESSOR:
            return self.run("regressor", q, qd, qdd)
        given = {"q": q, "qd": qd, "qdd": qdd}
        checked = {k: check_joint_vector(k, v, self.n) for k, v in given.items()}
        at = Coordinates.of(self.model)
        position, *rates = broadcast(**checked)
        return at.rows(regressor(self.model, at.positions(position), *map(at.rates, rates)))

    def base_regressor(
        self, q: npt.ArrayLike, qd: npt.ArrayLike, qdd: npt.ArrayLike, columns: tuple[int, ...]
    ) -> Array:
        """Y_b of the links: these columns of the regressor, (..., n, rank)."""
        if self.n <= COMPILED_REGRESSOR:
            return self.run("base_regressor", q, qd, qdd)
        return self.regressor(q, qd, qdd)[..., list(columns)]
