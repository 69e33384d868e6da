"""Bridges to other libraries: whether one is there, kernels and shapes in it, its operations.

Nothing of a library is imported here.
"""

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import Any

from armdyn.arrays import RELATIVE_PIVOT
from armdyn.errors import BridgeError, MissingExtraError, ShapeError, counted
from armdyn.forks import imported
from armdyn.graph.operations import FAR_ANGLE
from armdyn.kernels.kernel import Kernel
from armdyn.version import __version__

LEAST = {"jax": (0, 10), "torch": (2, 4), "casadi": (3, 6)}
"""The oldest version of each library that armdyn asks for; its extras say the same."""


def check_library(name: str, purpose: str) -> None:
    """A MissingExtraError if a library is not installed, a BridgeError if it is too old."""
    if find_spec(name) is None:
        raise MissingExtraError(name, name, purpose)
    try:
        found = version(name)
    except PackageNotFoundError:  # found on the path, not installed
        return
    numbers = tuple(int(part) for part in re.findall(r"\d+", found)[:2])
    if numbers < LEAST[name]:
        least = ".".join(map(str, LEAST[name]))
        raise BridgeError(
            f"{purpose} needs {name} {least} or later, found {found}. Install a newer one with: "
            f"pip install '{name}>={least}'"
        )


def bridge(name: str, purpose: str, place: str) -> Any:
    """What is at a place of this room that imports a library, if that is there."""
    check_library(name, purpose)
    return imported(f"armdyn.export.{place}")


def target_name(kernel: Kernel) -> str:
    """A name that this and no other kernel has, as libraries may keep it for good or on disk."""
    what = repr((kernel.model.digest, kernel.request, kernel.dtype, __version__))
    return f"armdyn.{kernel.request.quantity}.{hashlib.sha256(what.encode()).hexdigest()[:24]}"


def batch_shape(
    function: str,
    inputs: Mapping[str, int],
    noun: str,
    vectors: Sequence[Any],
    broadcast: Callable[..., Any],
) -> Any:
    """The leading shape that the vectors of a function have together, each of its own length."""
    if len(vectors) != len(inputs):
        raise ShapeError(
            f"{function} takes {counted(len(inputs), noun)} ({', '.join(inputs)}), got "
            f"{len(vectors)}"
        )
    shapes = {name: tuple(v.shape) for name, v in zip(inputs, vectors, strict=True)}
    for name, shape in shapes.items():
        if shape[-1:] != (inputs[name],):
            raise ShapeError(f"{name}: expected shape (..., {inputs[name]}), got {shape}")
    try:
        return broadcast(*(shape[:-1] for shape in shapes.values()))
    except (ValueError, RuntimeError):  # of NumPy and of PyTorch
        listed = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
        raise ShapeError(f"the leading shapes do not broadcast: {listed}") from None


def array_functions(
    xp: Any, where: Callable[..., Any] | None = None
) -> dict[str, Callable[..., Any]]:
    """The table of a library that has the names of NumPy, but perhaps another `where`."""
    where = where or xp.where

    def without_turns(angle: Any) -> Any:
        return xp.arctan2(xp.sin(angle), xp.cos(angle)) if hasattr(angle, "shape") else angle

    def angle_sum(a: Any, b: Any) -> Any:
        total = a + b
        return where(abs(total) > FAR_ANGLE, without_turns(a) + without_turns(b), total)

    def guard(pivot: Any, scale: Any) -> Any:
        return where(abs(pivot) > RELATIVE_PIVOT * abs(scale), pivot, float("nan"))

    def signed_power(x: Any, exponent: float) -> Any:
        return xp.sign(x) * where(x == 0, 1.0, abs(x)) ** exponent

    named = {name: getattr(xp, name) for name in ("sin", "cos", "sqrt", "exp", "tanh", "sign")}
    own = {"angle_sum": angle_sum, "guard": guard, "signed_power": signed_power}
    return ARITHMETIC | named | own


ARITHMETIC: dict[str, Callable[..., Any]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "neg": lambda a: -a,
}
"""The operators, which every library has."""
