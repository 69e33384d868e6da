"""Quantities of a robot as functions of JAX."""

from collections.abc import Callable
from typing import Any

import numpy as np

from armdyn.arrays import check_truth
from armdyn.errors import BridgeError, ShapeError
from armdyn.export.library import batch_shape, check_library
from armdyn.kernels.kernel import Kernel


class JaxFunction:
    """A quantity as a pure function of arrays of JAX, for `jit`, `vmap`, `grad`, `jvp`, `scan`.

    It takes the vectors of its kernel, (..., n) with leading shapes that broadcast, and gives
    (..., *shape). `kernel` is the kernel that runs on the CPU.
    """

    def __init__(self, kernels: Callable[[str | None], Kernel], by_program: bool):
        import jax  # noqa: PLC0415

        self.kernel = kernels(None)
        self.inputs, self.shape = self.kernel.inputs, self.kernel.shape
        self.__name__ = self.__qualname__ = self.kernel.request.quantity
        self.__doc__ = f"{self.kernel!r} in JAX"
        self._check_x64(jax)
        from armdyn.export.jax.layout import check_version  # noqa: PLC0415
        from armdyn.export.jax.primitive import Quantity  # noqa: PLC0415

        if not by_program and jax.default_backend() == "cpu":
            check_version(jax.ffi.include_dir())
        sizes = tuple(self.inputs.values())
        self._quantity = Quantity(kernels, by_program, sizes, self.shape, self.kernel.dtype)

    def __repr__(self) -> str:
        return f"<JaxFunction of {self.kernel!r}>"

    def __call__(self, *vectors: Any) -> Any:
        """The quantity for vectors in the order of `inputs`."""
        import jax  # noqa: PLC0415
        import jax.numpy as jnp  # noqa: PLC0415

        from armdyn.export.jax.primitive import call  # noqa: PLC0415

        self._check_x64(jax)
        arrays = [jnp.asarray(v) for v in vectors]
        batch = batch_shape(self.__name__, self.inputs, "array", arrays, np.broadcast_shapes)
        for name, array in zip(self.inputs, arrays, strict=True):
            if not jnp.issubdtype(array.dtype, np.floating) and array.dtype.kind not in "iub":
                raise ShapeError(f"{name}: expected real numbers, got {array.dtype}")
        dtype = self.kernel.dtype
        whole = [jnp.broadcast_to(a, batch + a.shape[-1:]).astype(dtype) for a in arrays]
        return call(self._quantity, None, *whole)[0]

    def _check_x64(self, jax: Any) -> None:
        if self.kernel.dtype == "float64" and not jax.config.jax_enable_x64:
            raise BridgeError(
                f"JAX has no float64 unless x64 is enabled, and {self.__name__} computes in it. "
                'Enable it with jax.config.update("jax_enable_x64", True) before the first '
                'array is made, or compute in single precision: robot.jax(..., dtype="float32")'
            )


def jax_function(kernels: Callable[[str | None], Kernel], program: bool) -> JaxFunction:
    """A quantity as a function of JAX, from its kernel and those of its products."""
    check_library("jax", "a function of JAX")
    return JaxFunction(kernels, check_truth("program", program))
