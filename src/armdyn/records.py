"""The nouns of the house: frozen dataclasses with slots."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar, dataclass_transform, overload

import numpy as np

_T = TypeVar("_T")


@overload
def record(kind: type[_T], /) -> type[_T]: ...
@overload
def record(**options: bool) -> Callable[[type[_T]], type[_T]]: ...
@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def record(kind: type[_T] | None = None, /, **options: bool) -> Any:
    """A class as a frozen dataclass with slots, and with options of others, as eq=False."""
    make = dataclass(frozen=True, slots=True, **options)
    return make if kind is None else make(kind)


def equal_fields(one: Any, other: Any) -> bool:
    """Whether two records are of one class and have equal fields, arrays entry by entry."""
    return type(one) is type(other) and all(
        np.array_equal(getattr(one, name), getattr(other, name))
        for name in one.__dataclass_fields__
    )
