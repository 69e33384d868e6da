"""Kernels, functions of other libraries and source code."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numpy.typing import DTypeLike

from armdyn.arrays import Array
from armdyn.facade.variants import RobotVariants
from armdyn.forks import IMPORTING
from armdyn.quantities.request import request_of

if TYPE_CHECKING:
    from armdyn.export.jax.function import JaxFunction
    from armdyn.export.options import Exported


class RobotCompiled(RobotVariants):
    """A robot as kernels, as functions of other libraries and as source code."""

    def kernel(
        self,
        quantity: str,
        *,
        friction: bool = True,
        payload: bool = False,
        gravity: bool = False,
        base_motion: bool = False,
        wrench: str | Sequence[str] = (),
        wrench_frame: str = "world",
        link: str = "tool",
        frame: str = "world",
        method: str | None = None,
        task: Sequence[str] = (),
        constraint: bool = False,
        base_wrench: bool = False,
        derivative: str | None = None,
        dtype: DTypeLike = "float64",
    ) -> Callable[..., Array]:
        """A quantity as a bare compiled callable of vectors and `out`, for tight loops.

        It takes what NumPy takes, and fastest one state in vectors of its own type. Its `__self__`
        is an `armdyn.kernels.kernel.Kernel`, with `gufunc`, `signature` and `operations`.

        Args:
            quantity: One of `armdyn.quantities.registry.QUANTITIES`, as "inverse_dynamics".
            friction: Whether joint friction is in torques.
            payload: Whether a payload is an argument: the ten numbers of `payload_vector`.
            gravity: Whether the field of gravity in world axes is an argument.
            base_motion: Whether the 18 numbers of `BaseMotion.vector` are an argument.
            wrench: Link or links for each of which the wrench of the environment is an argument.
            wrench_frame: Axes of these wrenches.
            link: Whose place or velocity is meant.
            frame: Axes of the rows of a Jacobian, of reactions or of the Cartesian form.
            method: Formulation of inverse, or method of forward dynamics; None: the shortest.
            task: Coordinates of the Cartesian form, as in `cartesian`; none: as there without any.
            constraint: As in `reactions`, and so is `base_wrench`.
            base_wrench: Whether the base has a row in the reactions.
            derivative: "vjp" for the product of weights of the entries with the Jacobian by all
                arguments, "jvp" for that of the Jacobian with directions of the arguments (see
                `armdyn.quantities.products`); None: the quantity itself.
            dtype: "float64" or "float32".
        """
        options: dict[str, Any] = {
            **{"friction": friction, "payload": payload, "gravity": gravity, "task": task},
            **{"base_motion": base_motion, "wrench": wrench, "wrench_frame": wrench_frame},
            **{"link": link, "frame": frame, "method": method, "constraint": constraint},
            **{"base_wrench": base_wrench, "derivative": derivative, "effort": self.effort},
        }
        request = request_of(quantity, **options)
        return self._table.kernel(request, dtype).call

    def jax(self, quantity: str, **options: Any) -> JaxFunction:
        """A quantity as a function for JAX; see `armdyn.export.jax.function.jax_function`."""
        with IMPORTING:
            from armdyn.export.jax.function import jax_function  # noqa: PLC0415

        return jax_function(self._table, quantity, **options)

    def torch(self, quantity: str, **options: Any) -> Callable[..., Any]:
        """A quantity as an operator of PyTorch; see `armdyn.export.torch.function`."""
        with IMPORTING:
            from armdyn.export.torch.function import torch_function  # noqa: PLC0415

        return torch_function(self._table, quantity, **options)

    def casadi(self, quantity: str, **options: Any) -> Any:
        """A quantity as a `casadi.Function`; see `armdyn.export.casadi.function`."""
        with IMPORTING:
            from armdyn.export.casadi.function import casadi_function  # noqa: PLC0415

        return casadi_function(self.model, quantity, effort=self.effort, **options)

    def export(
        self, directory: str | Path, language: str = "c", target: str | None = None, **options: Any
    ) -> Exported:
        """Write functions as "c" or "python"; options: `armdyn.export.options.ExportOptions`.

        With a target of `armdyn.export.export.TARGETS`, such as "cmake", C comes wrapped for it.
        """
        with IMPORTING:
            from armdyn.export.export import export  # noqa: PLC0415
            from armdyn.export.options import ExportOptions  # noqa: PLC0415

        given = {"effort": self.effort} | options
        return export(self.model, directory, language, ExportOptions(**given), target)
