"""A quantity as a function of tensors: its operators, and how PyTorch differentiates them.

The operators of `torch.library` stand for the quantity and its products with Jacobians.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np

import torch
from armdyn.errors import ShapeError
from armdyn.export.library import array_functions, batch_shape, target_name
from armdyn.export.names import identifier
from armdyn.graph.program import Program
from armdyn.kernels.kernel import Kernel

MODES: tuple[str | None, ...] = (None, "vjp", "jvp")


@dataclass(frozen=True, eq=False)
class Operators:
    """A quantity and its products on lists of tensors of one batch shape."""

    kernel: Callable[[str | None], Kernel]
    """The kernel of the quantity (None), of its "vjp" and of its "jvp"."""
    sizes: tuple[int, ...]
    """Of the arguments."""
    shape: tuple[int, ...]
    """Of the result for one state."""
    run: dict[str | None, Any] = field(default_factory=dict)
    """The operator of each mode."""

    def compute(self, mode: str | None, vectors: Sequence[Any]) -> Any:
        """What the operator of a mode does: the kernel on the CPU, else the program."""
        if vectors[0].device.type == "cpu":
            made = self.kernel(mode)(*(v.detach().numpy() for v in vectors))
            return torch.from_numpy(np.asarray(made, order="C"))  # no axis is added
        return self.by_program(mode, *vectors)

    def by_program(self, mode: str | None, *vectors: Any) -> Any:
        """The same by the program of a mode, which torch can differentiate."""
        return run_program(self.kernel(mode).program, vectors)

    def empty(self, mode: str | None, vectors: Sequence[Any]) -> Any:
        """A tensor of the shape of the result, for tracing."""
        shape = (sum(self.sizes),) if mode == "vjp" else self.shape
        return vectors[0].new_empty(vectors[0].shape[:-1] + shape)

    def weights(self, given: Any) -> Any:
        """Weights of entries of results, (*batch, *shape), as "vjp" takes them: with strides."""
        batch = given.shape[: given.ndim - len(self.shape)]
        return given.reshape(*batch, prod(self.shape)).contiguous()


_KNOWN: dict[str, Operators] = {}
"""What is registered, by name: PyTorch keeps it for good, and so must we."""


def operators(kernels: Callable[[str | None], Kernel]) -> Operators:
    """The registered operators of a quantity; those of another one of its name are the same."""
    first = kernels(None)
    name = identifier(target_name(first))
    if name not in _KNOWN:
        known = Operators(kernels, tuple(first.inputs.values()), first.shape)
        for mode in MODES:
            known.run[mode] = _registered(name if mode is None else f"{name}_{mode}", known, mode)
        pull, keep = _reverse(known)
        known.run[None].register_autograd(pull, setup_context=keep)
        _KNOWN[name] = known
    return _KNOWN[name]


def _registered(name: str, known: Operators, mode: str | None) -> Any:
    @torch.library.custom_op(f"armdyn::{name}", mutates_args=())  # type: ignore[untyped-decorator]
    def operator(vectors: list[torch.Tensor]) -> torch.Tensor:
        return known.compute(mode, vectors)

    def mapped(info: Any, dims: Any, vectors: Any) -> Any:
        return operator(whole_batch(info.batch_size, dims[0], vectors)), 0

    operator.register_fake(lambda vectors: known.empty(mode, vectors))
    operator.register_vmap(mapped)
    return operator


def _reverse(known: Operators) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The rule of reverse mode that compiled code follows, and what it keeps for it."""

    def keep(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(*inputs[0])

    def pull(ctx: Any, weights: Any) -> Any:
        pulled = known.run["vjp"]([*ctx.saved_tensors, known.weights(weights)])
        return list(torch.split(pulled, known.sizes, -1))

    return pull, keep


def whole_batch(count: int, dims: Sequence[int | None], vectors: Sequence[Any]) -> list[Any]:
    """Tensors that a map takes apart along some axes, all with that axis in front."""
    return [
        v.expand(count, *v.shape) if d is None else v.movedim(d, 0)
        for v, d in zip(vectors, dims, strict=True)
    ]


def run_program(program: Program, vectors: Sequence[Any]) -> Any:
    """A program in torch, for devices without kernels of armdyn and for higher derivatives."""
    entries = [v[..., k] for v in vectors for k in range(v.shape[-1])]
    outputs = program.evaluated(entries, array_functions(torch))
    batch, like = vectors[0].shape[:-1], vectors[0]
    whole = [
        torch.as_tensor(y, dtype=like.dtype, device=like.device).expand(batch) for y in outputs
    ]
    return torch.stack(whole, -1).reshape(batch + program.shape)


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
        known = ctx.known
        vectors = tuple(v.contiguous() for v in ctx.saved_tensors)
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
