"""Sums as chains of fused multiply-adds.

A sum of terms is one value whatever the order of its terms. A product that only sums use goes into
each of them with its own addition, so the other terms are added first, and where there are none a
product begins:

    a b + c d + e     fma(a, b, fma(c, d, e))
    a b + c d         fma(a, b, c d)

A sum is split where its terms are there long before the others: these are added up first, so that
one value waits where each of their factors would.
"""

from collections import Counter
from itertools import accumulate, count, pairwise
from typing import NamedTuple

Definitions = dict[int, tuple[str, tuple[int, ...]]]
"""Operation and operands of each value, operands first."""

FUSED = {"fma": ("", ""), "fms": ("", "-"), "fnma": ("-", ""), "fnms": ("-", "-")}
"""Signs of the product and of the addend."""
_NAMES = {signs: name for name, signs in FUSED.items()}
_SUMS = {"add": "", "sub": "-"}
LEVELS_BETWEEN_GROUPS = 4
"""Terms of a split sum that come more operations after the others are added to the sum of those."""


class _Term(NamedTuple):
    sign: str
    value: int
    factors: tuple[int, ...] = ()
    """Those of a product that goes into the sum."""


def fuse(definitions: Definitions, outputs: tuple[int, ...], split: bool = True) -> Definitions:
    """The same values with products fused into sums, which may be split; parts get new numbers."""
    return _Fusion(definitions, outputs, split).made


class _Fusion:
    def __init__(self, definitions: Definitions, outputs: tuple[int, ...], split: bool):
        self.old = definitions
        self.split = split
        self.uses = Counter(a for _, args in definitions.values() for a in args)
        self.uses.update(outputs)
        self.in_sums = Counter(a for op, args in definitions.values() if op in _SUMS for a in args)
        self.fresh = count(max(definitions, default=0) + 1)
        self.made: Definitions = {}
        self.level: dict[int, int] = {}
        """How many operations follow each other until a value is there."""
        for value, (op, args) in definitions.items():
            if op not in _SUMS:
                self._make(value, op, args)
            elif not self._is_part(value):
                self._add_up(value, self._terms(value))

    def _is_part(self, value: int) -> bool:
        """Whether a sum is nothing but a part of one other sum."""
        op = self.old[value][0] if value in self.old else ""
        return op in _SUMS and self.uses[value] == 1 == self.in_sums[value]

    def _terms(self, root: int) -> list[_Term]:
        terms = []
        stack = [(root, "")]
        while stack:
            value, sign = stack.pop()
            op, args = self.old.get(value, ("", ()))
            if value == root or self._is_part(value):
                flipped = _SUMS[op] != sign
                stack += [(args[1], "-" if flipped else ""), (args[0], sign)]
            else:
                fused = op == "mul" and self.in_sums[value] == self.uses[value]
                terms.append(_Term(sign, value, args if fused else ()))
        return terms

    def _add_up(self, value: int, terms: list[_Term]) -> None:
        """The terms in a chain that ends in a value, those of one group after those of another.

        A sum always has a positive term, so no sign is left at the end.
        """
        ordered = sorted(zip(self._times(terms), terms, strict=True), key=_place_in_sum)
        (_, (negative, total, _)), *rest = ordered
        for k, (_, (sign, term, factors)) in enumerate(rest, start=1):
            made = value if k == len(rest) else next(self.fresh)
            if factors:
                self._make(made, _NAMES[sign, negative], (*factors, total))
            elif negative and not sign:
                self._make(made, "sub", (term, total))
            else:
                self._make(made, "sub" if sign and not negative else "add", (total, term))
            negative = "-" if negative and sign and not factors else ""
            total = made

    def _times(self, terms: list[_Term]) -> list[tuple[int, int]]:
        """For each term its group, and how many operations it waits for; 0 if sums stay whole."""
        if not self.split:
            return [(0, 0)] * len(terms)
        when = [self._level(term.factors or (term.value,)) for term in terms]
        levels = sorted(set(when))
        far = [0, *(b - a > LEVELS_BETWEEN_GROUPS for a, b in pairwise(levels))]
        group = dict(zip(levels, accumulate(far), strict=True))
        return [(group[level], level) for level in when]

    def _make(self, value: int, op: str, args: tuple[int, ...]) -> None:
        self.made[value] = op, args
        if self.split:
            self.level[value] = 1 + self._level(args)

    def _level(self, args: tuple[int, ...]) -> int:
        return max([self.level.get(a, 0) for a in args])


def _place_in_sum(timed: tuple[tuple[int, int], _Term]) -> tuple[int, bool, str, int]:
    """Terms of one group stand together: plain ones, positive ones first, then products in time."""
    (group, level), (sign, _, factors) = timed
    return group, bool(factors), "" if factors else sign, level
