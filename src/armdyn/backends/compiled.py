"""A robot with its kernels: what the façade is built on.

LLVM is large, so nothing of it is imported before a kernel is asked for.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy.typing as npt

from armdyn.arrays import Array
from armdyn.errors import ModelError
from armdyn.formulations.external import Wrench
from armdyn.model import RobotModel

if TYPE_CHECKING:
    from armdyn.backends.kernels import Kernels
    from armdyn.backends.options import Exported


class Compiled:
    """A model, its kernels and its source code in other languages."""

    def __init__(self, model: RobotModel):
        self.model = model

    def kernel(
        self,
        quantity: str,
        *,
        friction: bool = True,
        payload: bool = False,
        gravity: bool = False,
        wrench: str | Sequence[str] = (),
        wrench_frame: str = "world",
        link: str = "tool",
        frame: str = "world",
        method: str | None = None,
        dtype: npt.DTypeLike = "float64",
    ) -> Callable[..., Array]:
        """A quantity as a bare compiled callable of vectors and `out`, for tight loops.

        It takes what NumPy takes, and fastest one state in vectors of its own type. Its `__self__`
        is an `armdyn.backends.kernel.Kernel`, with `gufunc`, `signature` and `operations`.

        Args:
            quantity: One of `armdyn.quantities.registry.QUANTITIES`, as "inverse_dynamics".
            friction: Whether joint friction is in torques.
            payload: Whether a payload is an argument: the ten numbers of `payload_vector`.
            gravity: Whether the field of gravity in world axes is an argument.
            wrench: Link or links for each of which the wrench of the environment is an argument.
            wrench_frame: Axes of these wrenches.
            link: Whose place or velocity is meant.
            frame: Axes of the rows of a Jacobian.
            method: Formulation of inverse, or method of forward dynamics; None: the shortest.
            dtype: "float64" or "float32".
        """
        from armdyn.quantities.registry import checked  # noqa: PLC0415
        from armdyn.quantities.request import Request  # noqa: PLC0415

        if not isinstance(wrench, str | Sequence):
            raise ModelError(f"wrench is a list of names of links, got {wrench!r}")
        links = (wrench,) if isinstance(wrench, str) else tuple(wrench)
        checked(Request(quantity, friction, payload, gravity), self.model)
        request = Request(
            quantity, friction, payload, gravity, links, wrench_frame, link, frame, method
        )
        callable_: Callable[..., Array] = self._kernels.kernel(request, dtype).call
        return callable_

    @staticmethod
    def payload_vector(
        mass: float, com: npt.ArrayLike = (0, 0, 0), inertia: npt.ArrayLike | None = None
    ) -> Array:
        """A payload as an argument of kernels, (10,): m, m c, tensor about the tool's origin.

        Args:
            mass: Its mass [kg].
            com: Its centre of mass in the tool frame [m].
            inertia: Its tensor about the centre of mass, tool axes [kg m²]; None: a point.
        """
        from armdyn.quantities.run_time import payload_vector  # noqa: PLC0415

        return payload_vector(mass, com, inertia)

    @cached_property
    def _kernels(self) -> "Kernels":
        from armdyn.backends.kernels import Kernels  # noqa: PLC0415, LLVM is large

        return Kernels(self.model)

    def _run(self, quantity: str, *arrays: npt.ArrayLike, **options: Any) -> Array:
        return self._kernels.run(quantity, *arrays, **options)

    @staticmethod
    def _wrenches(
        external: Wrench | None, link: str, axes: str
    ) -> tuple[list[npt.ArrayLike], dict[str, Any]]:
        """The wrenches, and the options of a kernel that takes them."""
        if external is None:
            return [], {}
        on = external if isinstance(external, Mapping) else {link: external}
        return list(on.values()), {"wrench": tuple(on), "wrench_frame": axes}

    def export(self, directory: str | Path, language: str = "c", **options: Any) -> "Exported":
        """Write functions of the robot as source code; see `armdyn.backends.options`.

        Args:
            directory: Where to; it is made if need be.
            language: "c" or "python".
            options: Those of `ExportOptions`: functions, single, payload, gravity, friction, ...
        """
        from armdyn.backends.export import export  # noqa: PLC0415
        from armdyn.backends.options import ExportOptions  # noqa: PLC0415

        return export(self.model, directory, language, ExportOptions(**options))
