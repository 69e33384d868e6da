"""Coefficients of grouped parameters: rounding removed where the geometry says what they are."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from armdyn.arrays import Array
from armdyn.formulations.spatial import skew
from armdyn.model import Joint, RobotModel

COEFFICIENT_NOISE = 1e-12
"""Change of a coefficient, by its effect on the torques, that is rounding."""
_MOMENTS = np.array([0, 1, 1, 1, 2, 2, 2, 2, 2, 2])
"""Power of length in the unit of each of the ten parameters."""


def powers(model: RobotModel, columns: Sequence[int]) -> Array:
    """Power of length in the units of parameters; rotors are taken for moments of inertia."""
    last = 10 * len(model.links)
    return np.array([_MOMENTS[c % 10] if c < last else _MOMENTS[-1] for c in columns], dtype=int)


def clean_coefficients(
    model: RobotModel, K: Array, kept: Sequence[int], dropped: Sequence[int], weight: Array
) -> Array:
    """The coefficients with each one that rounding alone keeps from a known value set to it.

    Known values are 0, 1 and 2, directions of joint axes, and the lengths and products of lengths
    with which a mass on an axis counts in the parent link. K has a row for each column of the
    regressor that is kept and a column for each that is dropped; `weight` is their size.
    """
    power = powers(model, kept)[:, None] - powers(model, dropped)
    known_values = K.copy()
    for exponent, known in enumerate(_known_sizes(model)):
        here = power == exponent
        known_values[here] = np.copysign(_nearest(known, np.abs(K[here])), K[here])
    for candidate in (known_values, np.zeros_like(K)):
        rounding = (
            np.abs(candidate - K) * weight[list(kept), None]
            <= COEFFICIENT_NOISE * weight[list(dropped)]
        )
        K = np.where(rounding, candidate, K)
    return K + 0.0


def _known_sizes(model: RobotModel) -> list[Array]:
    """Sizes that coefficients can have by the geometry: numbers, lengths, products of lengths."""
    numbers: list[Array] = [np.array([0.0, 1.0, 2.0])]
    lengths: list[Array] = [np.zeros(1)]
    products: list[Array] = [np.zeros(1)]
    for joint in model.joints:
        R, p = joint.placement[:3, :3], joint.placement[:3, 3]
        k = R @ joint.axis
        numbers.append(np.abs([*k, *(-skew(k) @ skew(k)).flat]))
        lengths.append(np.abs([*p, *(2.0 * p), *(skew(k) @ skew(p) + skew(p) @ skew(k)).flat]))
        products.append(np.abs(skew(p) @ skew(p)).reshape(-1))
    return [np.unique(np.concatenate(sizes)) for sizes in (numbers, lengths, products)]


def _nearest(known: Array, sizes: Array) -> Array:
    """The known size nearest to each of the sizes."""
    right = np.clip(np.searchsorted(known, sizes), 1, len(known) - 1) if len(known) > 1 else 0
    low, high = known[np.maximum(right - 1, 0)], known[right]
    return np.where(sizes - low < high - sizes, low, high)


def groupings(
    model: RobotModel, names: Sequence[str], matrix: Array, columns: Sequence[int]
) -> tuple[str, ...]:
    """Combinations of parameters as text, the one each is named after first.

    Coefficients are lengths of joints, "elbow.x" being a component of the position of joint "elbow"
    in its parent link, if all of a robot are such; otherwise all of them are numbers.
    """
    rows = list(zip(columns, matrix, strict=True))
    places = [(first, i) for first, row in rows for i in np.flatnonzero(row).tolist() if i != first]
    sizes = {(first, i): abs(row[i]) for first, row in rows for i in np.flatnonzero(row).tolist()}
    words = {place: _symbol(model, *place, sizes[place]) for place in places}
    if None in words.values():
        words = {place: f"{sizes[place]:.6g}" for place in places}

    def term(first: int, i: int, coefficient: float) -> str:
        factor = "" if abs(coefficient) == 1 else f"{words[first, i]}*"
        return f" {'-' if coefficient < 0 else '+'} {factor}{names[i]}"

    return tuple(
        names[first] + "".join(term(first, i, row[i]) for f, i in places if f == first)
        for first, row in rows
    )


def _symbol(model: RobotModel, first: int, i: int, size: float) -> str | None:
    """A coefficient in the lengths of a joint between two links; None if it is none of these."""
    of, onto = powers(model, (i, first))
    if max(i, first) < 10 * len(model.links):
        for k in model.paths[i // 10]:
            if k > first // 10:
                for word, value in _words(model.joints[k]).get(int(onto - of), ()):
                    if abs(value - size) <= 1e-12 * size:
                        return word
    return f"{size:g}" if size in (1, 2) else None


def _words(joint: Joint) -> dict[int, tuple[tuple[str, float], ...]]:
    """Lengths and products of lengths of a joint, by their power of length."""
    one = [(f"{joint.name}.{axis}", abs(joint.placement[k, 3])) for k, axis in enumerate("xyz")]
    two = list(combinations(one, 2))
    return {
        1: (*one, *((f"2*{x}", 2 * a) for x, a in one)),
        2: (
            *((f"{x}^2", a * a) for x, a in one),
            *((f"{x}*{y}", a * b) for (x, a), (y, b) in two),
            *((f"({x}^2 + {y}^2)", a * a + b * b) for (x, a), (y, b) in two),
        ),
    }
