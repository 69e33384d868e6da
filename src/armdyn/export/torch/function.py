"""Quantities of a robot as operators of PyTorch."""

from collections.abc import Callable
from typing import Any

from armdyn.export.library import check_library
from armdyn.kernels.kernel import Kernel


def torch_function(
    products: Callable[..., Callable[[str | None], Kernel]],
    quantity: str,
    *,
    dtype: Any = "float64",
    **options: Any,
) -> Callable[..., Any]:
    """A quantity as an operator of PyTorch, with its derivatives in both modes.

    On the CPU it is the kernel, on other devices the program in torch. It works inside
    `torch.compile`, and under `torch.func`.

    Args:
        products: From quantity, type and options of a robot to its kernel and those of products.
        quantity: As in `Robot.kernel`, and so are `dtype` and the other options.
        dtype: "float64" or "float32", the type that tensors must have.
        options: Those of `Robot.kernel` but `derivative`: PyTorch asks for the products it needs.

    Returns:
        A function of tensors (..., n) whose leading shapes broadcast.
    """
    check_library("torch", "an operator of PyTorch")
    from armdyn.export.torch.tensor_function import TorchFunction  # noqa: PLC0415

    return TorchFunction(products(quantity, dtype, **options))
