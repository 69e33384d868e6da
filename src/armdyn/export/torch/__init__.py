"""Kernels as operators of PyTorch."""

from collections.abc import Callable
from typing import Any

from armdyn.export.library import check_library
from armdyn.kernels.kernel import Kernel


def torch_function(kernels: Callable[[str | None], Kernel]) -> Any:
    """A quantity as an operator of PyTorch, from its kernel and those of its products."""
    check_library("torch", "an operator of PyTorch")
    from armdyn.export.torch.tensor_function import TorchFunction  # noqa: PLC0415

    return TorchFunction(kernels)
