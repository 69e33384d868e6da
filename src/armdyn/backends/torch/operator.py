"""The operators of PyTorch that stand for a quantity and its vector-Jacobian product."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

import torch
from armdyn.backends.evaluate import array_functions, evaluated
from armdyn.backends.kernel import Kernel
from armdyn.backends.names import identifier
from armdyn.backends.target_name import target_name
from armdyn.compiler.program import Program
from armdyn.errors import ShapeError


class TorchFunction:
    """A quantity as a function of tensors, for `backward`, `torch.compile` and `vmap`.

    It takes the vectors of its kernel, (..., n) with leading shapes that broadcast, and gives
    (..., *shape). `kernel` is the kernel that runs on the CPU.
    """

    def __init__(self, kernels: Callable[[str | None], Kernel]):
        self.kernel = kernels(None)
        self.inputs, self.shape = self.kernel.inputs, self.kernel.shape
        self.dtype = getattr(torch, self.kernel.dtype)
        self.__name__ = self.__qualname__ = self.kernel.request.quantity
        self.__doc__ = f"{self.kernel!r} in PyTorch"
        self._operator = _operator(identifier(target_name(self.kernel)), _Products(kernels))

    def __repr__(self) -> str:
        return f"<TorchFunction of {self.kernel!r}>"

    def __call__(self, *vectors: Any) -> Any:
        """The quantity for tensors in the order of `inputs`."""
        if len(vectors) != len(self.inputs):
            raise ShapeError(
                f"{self.__name__} takes {len(self.inputs)} tensors ({', '.join(self.inputs)}), got "
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
        return self._operator([v.expand(*batch, v.shape[-1]) for v in vectors])


class _Products:
    """A quantity and its vector-Jacobian product on tensors of one batch shape."""

    def __init__(self, kernels: Callable[[str | None], Kernel]):
        self.kernels = kernels
        first = kernels(None)
        self.sizes, self.shape = tuple(first.inputs.values()), first.shape

    def run(self, mode: str | None, vectors: Sequence[Any]) -> Any:
        """The quantity, or the product if the mode is "vjp"."""
        kernel = self.kernels(mode)
        if vectors[0].device.type == "cpu":
            made = kernel(*(v.detach().numpy() for v in vectors))
            return torch.from_numpy(np.ascontiguousarray(made))
        return run_program(kernel.program, vectors)

    def empty(self, mode: str | None, vectors: Sequence[Any]) -> Any:
        """A tensor of the shape of the result, for tracing."""
        shape = (sum(self.sizes),) if mode == "vjp" else self.shape
        return vectors[0].new_empty(vectors[0].shape[:-1] + shape)


def run_program(program: Program, vectors: Sequence[Any]) -> Any:
    """A program in torch, on any device."""
    entries = [v[..., k] for v in vectors for k in range(v.shape[-1])]
    outputs = evaluated(program, entries, _functions())
    batch, like = vectors[0].shape[:-1], vectors[0]
    whole = [
        torch.as_tensor(y, dtype=like.dtype, device=like.device).expand(batch) for y in outputs
    ]
    return torch.stack(whole, -1).reshape(batch + program.shape)


@lru_cache(maxsize=1)
def _functions() -> dict[str, Callable[..., Any]]:
    return array_functions(torch)


_OPERATORS: dict[str, Callable[[list[Any]], Any]] = {}
"""What is registered, by name: PyTorch keeps it for good, and so must we."""


def _operator(name: str, products: _Products) -> Callable[[list[Any]], Any]:
    """The registered operator of a quantity; another one of its name is the same."""
    if name in _OPERATORS:
        return _OPERATORS[name]

    @torch.library.custom_op(f"armdyn::{name}", mutates_args=())  # type: ignore[untyped-decorator]
    def function(vectors: list[torch.Tensor]) -> torch.Tensor:
        return products.run(None, vectors)

    @torch.library.custom_op(f"armdyn::{name}_vjp", mutates_args=())  # type: ignore[untyped-decorator]
    def product(vectors: list[torch.Tensor]) -> torch.Tensor:
        return products.run("vjp", vectors)

    function.register_fake(lambda vectors: products.empty(None, vectors))
    product.register_fake(lambda vectors: products.empty("vjp", vectors))

    def keep(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(*inputs[0])

    def pull(ctx: Any, weights: Any) -> Any:
        batch = weights.shape[: weights.ndim - len(products.shape)]
        given = [*ctx.saved_tensors, weights.reshape(*batch, -1)]
        return list(torch.split(product(given), products.sizes, -1))

    def map_over(operator: Any) -> Callable[..., Any]:
        def rule(info: Any, dims: Any, vectors: Any) -> Any:
            whole = [
                v.expand(info.batch_size, *v.shape) if d is None else v.movedim(d, 0)
                for v, d in zip(vectors, dims[0], strict=True)
            ]
            return operator(whole), 0

        return rule

    function.register_autograd(pull, setup_context=keep)
    function.register_vmap(map_over(function))
    product.register_vmap(map_over(product))
    return _OPERATORS.setdefault(name, function)
