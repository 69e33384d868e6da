"""Kernels as functions of JAX."""

from collections.abc import Callable
from typing import Any

from armdyn.export.library import check_library
from armdyn.kernels.kernel import Kernel


def jax_function(kernels: Callable[[str | None], Kernel], program: bool) -> Any:
    """A quantity as a function of JAX, from its kernel and those of its products."""
    check_library("jax", "a function of JAX")
    from armdyn.export.jax.function import JaxFunction  # noqa: PLC0415

    return JaxFunction(kernels, program)
