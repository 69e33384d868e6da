"""Small vectors whose entries are numbers, arrays of a batch or nodes.

Those of many entries are lists, those of a plane pairs; of a pair a, a' is (-a_y, a_x).
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.graph.nodes import Node, node_array

Values = list[Any]
Pair = tuple[Any, Any]


def entries(x: Array) -> Values:
    """The entries of a vector, or of a batch of them."""
    return [x[..., k][()] for k in range(x.shape[-1])]


def stacked(values: Sequence[Any], like: Array | None = None) -> Array:
    """The opposite, (..., entries), in the batch shape of `like` as well."""
    if any(isinstance(x, Node) for x in values):
        return node_array(values, (len(values),))
    batch = () if like is None or like.dtype == object else like.shape[:-1]
    shape = np.broadcast_shapes(batch, *map(np.shape, values))
    return np.stack([np.broadcast_to(np.asarray(x, dtype=float), shape) for x in values], -1)


def inner(a: Sequence[Any], b: Sequence[Any]) -> Any:
    """a · b."""
    total: Any = 0.0
    for x, y in zip(a, b, strict=True):
        total = total + x * y
    return total


def minus(a: Values, k: Any, b: Values) -> Values:
    """a - k b."""
    return [x - k * y for x, y in zip(a, b, strict=True)]


def added(a: Pair, b: Pair) -> Pair:
    """a + b."""
    return a[0] + b[0], a[1] + b[1]


def scaled(k: Any, a: Pair) -> Pair:
    """k a."""
    return k * a[0], k * a[1]


def across(a: Pair) -> Pair:
    """a', a quarter turn of a."""
    return -a[1], a[0]


def outer(a: Pair, b: Pair) -> Any:
    """a × b."""
    return a[0] * b[1] - a[1] * b[0]


def turned(angle: Any, v: Pair) -> Pair:
    """R(angle) v."""
    if isinstance(angle, float) and angle == 0.0:
        return v
    c, s = np.cos(angle), np.sin(angle)
    return c * v[0] - s * v[1], s * v[0] + c * v[1]
