"""A quantity as a function of tensors: its operators, and how PyTorch differentiates them."""

from collections.abc import Callable
from typing import Any

import torch
from armdyn.errors import ShapeError, counted
from armdyn.export.torch.differentiable import Differentiable
from armdyn.export.torch.operators import Operators, operators
from armdyn.kernels.kernel import Kernel


class TorchFunction:
    """A quantity as a function of tensors, for `backward`, `torch.func` and `torch.compile`.

    It takes the vectors of its kernel, (..., n) with leading shapes that broadcast, and gives
    (..., *shape). `kernel` is the kernel that runs on the CPU.
    """

    def __init__(self, kernels: Callable[[str | None], Kernel]):
        self.kernel = kernels(None)
        self.inputs, self.shape = self.kernel.inputs, self.kernel.shape
        self.dtype = getattr(torch, self.kernel.dtype)
        self.__name__ = self.__qualname__ = self.kernel.request.quantity
        self.__doc__ = f"{self.kernel!r} in PyTorch"
        self._operators: Operators = operators(kernels)

    def __repr__(self) -> str:
        return f"<TorchFunction of {self.kernel!r}>"

    def __call__(self, *vectors: Any) -> Any:
        """The quantity for tensors in the order of `inputs`."""
        if len(vectors) != len(self.inputs):
            raise ShapeError(
                f"{self.__name__} takes {counted(len(self.inputs), 'tensor')} "
                f"({', '.join(self.inputs)}), got "
                f"{len(vectors)}"
            )
        for (name, size), vector in zip(self.inputs.items(), vectors, strict=True):
            if not isinstance(vector, torch.Tensor):
                raise ShapeError(f"{name}: expected a tensor, got {type(vector).__name__}")
            if vector.ndim < 1 or vector.shape[-1] != size:
                raise ShapeError(f"{name}: expected shape (..., {size}), got {tuple(vector.shape)}")
            if vector.dtype != self.dtype:
                raise ShapeError(
                    f"{name}: expected {self.dtype}, got {vector.dtype}; convert it, or make the "
                    'function with robot.torch(..., dtype="float32") or "float64"'
                )
        try:
            batch = torch.broadcast_shapes(*(v.shape[:-1] for v in vectors))
        except RuntimeError:
            named = zip(self.inputs, vectors, strict=True)
            shapes = ", ".join(f"{name} {tuple(v.shape)}" for name, v in named)
            raise ShapeError(f"the leading shapes do not broadcast: {shapes}") from None
        whole = [v.expand(*batch, v.shape[-1]) for v in vectors]
        if torch.compiler.is_compiling():  # which knows operators, but no rule of forward mode
            return self._operators.run[None](whole)
        return Differentiable.apply(self._operators, None, *whole)
