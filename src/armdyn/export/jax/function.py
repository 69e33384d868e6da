"""Quantities of a robot as functions of JAX."""

from collections.abc import Callable
from typing import Any

import numpy as np

from armdyn.arrays import check_truth
from armdyn.errors import BridgeError, ShapeError, counted
from armdyn.export.library import check_library
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
        from armdyn.export.jax.layout import layout  # noqa: PLC0415
        from armdyn.export.jax.primitive import Quantity  # noqa: PLC0415

        if not by_program and jax.default_backend() == "cpu":
            layout(jax.ffi.include_dir())
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
        if len(vectors) != len(self.inputs):
            raise ShapeError(
                f"{self.__name__} takes {counted(len(self.inputs), 'array')} "
                f"({', '.join(self.inputs)}), got "
                f"{len(vectors)}"
            )
        arrays = [jnp.asarray(v) for v in vectors]
        for (name, size), array in zip(self.inputs.items(), arrays, strict=True):
            if array.ndim < 1 or array.shape[-1] != size:
                raise ShapeError(f"{name}: expected shape (..., {size}), got {array.shape}")
            if not jnp.issubdtype(array.dtype, np.floating) and array.dtype.kind not in "iub":
                raise ShapeError(f"{name}: expected real numbers, got {array.dtype}")
        try:
            batch = np.broadcast_shapes(*(a.shape[:-1] for a in arrays))
        except ValueError:
            shapes = ", ".join(f"{n} {a.shape}" for n, a in zip(self.inputs, arrays, strict=True))
            raise ShapeError(f"the leading shapes do not broadcast: {shapes}") from None
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
