"""How PyTorch differentiates a quantity: by its products, and these by their programs."""

from typing import Any

import torch
from armdyn.export.torch.operators import whole_batch


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
        known, vectors = ctx.known, ctx.saved_tensors
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
