"""The array type of the package, and checks that turn input into arrays."""

from collections.abc import Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from armdyn.errors import (
    ArmdynError,
    ModelError,
    ShapeError,
    UnknownNameError,
    counted,
    is_one_of,
    require,
    shown,
)
from armdyn.records import equal_fields as equal_fields
from armdyn.records import record as record

if TYPE_CHECKING:
    Array = npt.NDArray[Any]
else:
    Array = np.ndarray  # help() prints it at every argument
"""An array of floats, or of expression nodes while a formulation is traced."""
RELATIVE_PIVOT = 1e-13
"""Smallest pivot, relative to the inertias it is made of, that still counts as an inertia."""
SINGLE_PIVOT = 1e-5
"""The same in single precision: a few of its roundings."""


def frozen(value: npt.ArrayLike) -> Array:
    """A read-only copy of an array."""
    array = np.array(value)
    array = array if array.dtype == object else array.astype(float)
    array.setflags(write=False)
    return array


def check_constant(what: str, value: npt.ArrayLike, shape: tuple[int, ...]) -> Array:
    """A frozen float array of the given shape, or a ModelError that names it.

    Text and booleans are no numbers.
    """
    try:
        given = np.array(value, dtype=object)
        texts = (isinstance(entry, str | bytes | bool | np.bool_) for entry in given.flat)
        if np.ma.is_masked(value) or any(texts):
            raise TypeError
        array = given.astype(float)
    except (TypeError, ValueError, OverflowError):
        raise ModelError(f"{what}: expected {_words(shape)}, got {shown(value)}") from None
    if array.shape != shape:
        raise ModelError(f"{what}: expected {_words(shape)}, got shape {array.shape}")
    require(np.all(np.isfinite(array)), what, "finite numbers", array.tolist(), ModelError)
    return frozen(array)


def check_number(what: str, value: Any) -> float:
    """A finite float, or a ModelError that names it."""
    return float(check_constant(what, value, ()))


def check_whole(
    what: str,
    value: Any,
    least: int,
    most: int | None = None,
    error: type[ArmdynError] = ModelError,
) -> int:
    """A whole number within bounds, or an error that names it."""
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not whole or value < least or (most is not None and value > most):
        bounds = f"{least} on" if most is None else f"{least} to {most:,}"
        raise error(f"{what}: expected a whole number from {bounds}, got {shown(value)}")
    return int(value)


def check_truth(what: str, value: object, advice: str = "") -> bool:
    """True or False, or a ModelError that names it."""
    if not isinstance(value, bool | np.bool_):
        raise ModelError(f"{what} is True or False, got {shown(value)}{advice}")
    return bool(value)


def check_choice(what: str, value: object, choices: Sequence[str]) -> str:
    """One of some texts, or a ModelError that names them."""
    if not is_one_of(value, choices):
        *most, last = map(repr, choices)
        raise ModelError(f"{what} must be {', '.join(most)} or {last}, got {shown(value)}")
    return str(value)


def check_text(what: str, value: object) -> str:
    """A text; anything else is an unknown name."""
    if not isinstance(value, str):
        raise UnknownNameError(what, value, ())
    return value


def real(value: object) -> float:
    """A real number as a float; NaN for anything else, and for what is beyond the floats."""
    try:
        return float(value) if isinstance(value, Real) else np.nan
    except OverflowError:
        return np.nan


def check_names(what: str, value: object) -> tuple[str, ...]:
    """Texts in a list or tuple, or a ModelError that names them."""
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise ModelError(f"{what} is a list of names, got {shown(value)}")
    return tuple(check_text(f"entry of {what}", name) for name in value)


def check_joint_vector(
    what: str, value: npt.ArrayLike, n: int, noun: str | None = None, dtype: str = "float64"
) -> Array:
    """An array of shape (..., n), or a ShapeError that says of what; `noun`: the n are no joints.

    It is copied only if it is of another type. NaN goes through, as in NumPy.
    """
    if getattr(value, "__dask_graph__", lambda: None)() is not None:
        advice = "dask.array.map_blocks(robot.inverse_dynamics, q, qd, qdd), or what you compute"
        raise ShapeError(f"{what} is an array of dask, which is not computed here: call {advice}")
    try:
        given = np.asarray(value)
        if given.dtype.kind not in "fiub" or np.ma.is_masked(value):
            raise TypeError
        array: Array = given.astype(dtype, casting="same_kind", copy=False)
    except (TypeError, ValueError):
        masked = " and none of them masked" if np.ma.is_masked(value) else ""
        message = f"{what}: expected real numbers of shape (..., {n}){masked}, got {shown(value)}"
        raise ShapeError(message) from None
    if array.ndim == 0 or array.shape[-1] != n:
        axis = f"{n} {noun}" if noun else counted(n, "joint")
        expected = f"{what}: expected shape (..., {n}), the last axis being the {axis}"
        raise ShapeError(f"{expected}, got shape {array.shape}")
    return array


def broadcast(**vectors: Array) -> tuple[Array, ...]:
    """The vectors with one common leading batch shape, each keeping its own last axis."""
    try:
        batch = np.broadcast_shapes(*(v.shape[:-1] for v in vectors.values()))
    except ValueError:
        shapes = ", ".join(f"{name} {v.shape}" for name, v in vectors.items())
        raise ShapeError(f"the batch shapes do not fit together: {shapes}") from None
    return tuple(np.broadcast_to(v, batch + v.shape[-1:]) for v in vectors.values())


def _words(shape: tuple[int, ...]) -> str:
    return "a number" if shape == () else f"numbers of shape {shape}"


def lost(result: Array, *given: npt.ArrayLike) -> bool:
    """Whether finite states gave something that is not, as a singular mass matrix does."""
    if np.isfinite(result.sum()):
        return False
    states = [np.isfinite(np.asarray(vector, dtype=float)).all(-1) for vector in given]
    finite = np.logical_and.reduce(np.broadcast_arrays(*states))
    entries = tuple(range(finite.ndim, result.ndim))
    return bool((finite & ~np.isfinite(result).all(entries)).any())
