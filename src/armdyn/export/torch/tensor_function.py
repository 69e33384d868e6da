"""A quantity as a function of tensors: its operators, and how PyTorch differentiates them."""

from collections.abc import Callable
from typing import Any

import torch
from armdyn.errors import ShapeError
from armdyn.export.library import batch_shape
from armdyn.export.torch.operators import Operators, operators, whole_batch
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
        for name, vector in zip(self.inputs, vectors, strict=False):  # their count comes next
            if not isinstance(vector, torch.Tensor):
                raise ShapeError(f"{name}: expected a tensor, got {type(vector).__name__}")
            if vector.dtype != self.dtype:
                raise ShapeError(
                    f"{name}: expected {self.dtype}, got {vector.dtype}; convert it, or make the "
                    'function with robot.torch(..., dtype="float32") or "float64"'
                )
        inputs, broadcast = self.inputs, torch.broadcast_shapes
        batch = batch_shape(self.__name__, inputs, "tensor", vectors, broadcast)
        whole = [v.expand(*batch, v.shape[-1]) for v in vectors]
        if torch.compiler.is_compiling():  # which knows operators, but no rule of forward mode
            return self._operators.run[None](whole)
        return Differentiable.apply(self._operators, None, *whole)


class Differentiable(torch.autograd.Function):  # type: ignore[misc]
    """An operator of `Operators` with rules of both modes.

    Of a quantity they are the kernels of its products. Of a product, for derivatives of second and
    higher order, they are what torch finds in the program of the product, which is right but slow.
    """

    @staticmethod
    def forward(known: Any, mode: Any, *vectors: Any) -> Any:  # noqa: D102
        return known.run[mode](list(vectors))

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:  # noqa: D102
        ctx.known, ctx.mode, *vectors = inputs
        ctx.save_for_backward(*vectors)
        ctx.save_for_forward(*vectors)

    @staticmethod
    def backward(ctx: Any, weights: Any) -> Any:  # noqa: D102
        known, vectors = ctx.known, ctx.saved_tensors
        if ctx.mode is None:
            pulled = Differentiable.apply(known, "vjp", *vectors, known.weights(weights))
            return None, None, *torch.split(pulled, known.sizes, -1)
        pull = torch.func.vjp(lambda *x: known.by_program(ctx.mode, *x), *vectors)[1]
        return None, None, *pull(weights)

    @staticmethod
    def jvp(ctx: Any, _: Any, __: Any, *tangents: Any) -> Any:  # noqa: D102
        known, vectors = ctx.known, tuple(v.contiguous() for v in ctx.saved_tensors)
        pairs = zip(vectors, tangents, strict=True)
        along = [torch.zeros_like(v) if t is None else t for v, t in pairs]
        if ctx.mode is None:
            return Differentiable.apply(known, "jvp", *vectors, *along)
        run = lambda *x: known.by_program(ctx.mode, *x)  # noqa: E731
        return torch.func.jvp(run, vectors, tuple(along))[1]

    @staticmethod
    def vmap(info: Any, dims: Any, known: Any, mode: Any, *vectors: Any) -> Any:  # noqa: D102
        whole = whole_batch(info.batch_size, dims[2:], vectors)
        return Differentiable.apply(known, mode, *whole), 0
