"""Sums as chains of fused multiply-adds.

A sum of terms is one value whatever the order of its terms. A product that only sums use goes into
each of them with its own addition, so the other terms are added first, and where there are none a
product begins:

    a b + c d + e     fma(a, b, fma(c, d, e))
    a b + c d         fma(a, b, c d)
"""

from collections import Counter
from dataclasses import dataclass
from itertools import count

Definitions = dict[int, tuple[str, tuple[int, ...]]]
"""Operation and operands of each value, operands first."""

FUSED = {"fma": ("", ""), "fms": ("", "-"), "fnma": ("-", ""), "fnms": ("-", "-")}
"""Signs of the product and of the addend."""
_NAMES = {signs: name for name, signs in FUSED.items()}
_SUMS = {"add": "", "sub": "-"}


@dataclass(frozen=True, slots=True)
class _Term:
    sign: str
    value: int
    factors: tuple[int, ...] = ()
    """Those of a product that goes into the sum."""


def fuse(definitions: Definitions, outputs: tuple[int, ...]) -> Definitions:
    """The same values with products fused into sums; partial sums get new numbers."""
    return _Fusion(definitions, outputs).made


class _Fusion:
    def __init__(self, definitions: Definitions, outputs: tuple[int, ...]):
        self.old = definitions
        self.uses = Counter(a for _, args in definitions.values() for a in args)
        self.uses.update(outputs)
        self.in_sums = Counter(a for op, args in definitions.values() if op in _SUMS for a in args)
        self.fresh = count(max(definitions, default=0) + 1)
        self.made: Definitions = {}
        for value, (op, args) in definitions.items():
            if op not in _SUMS:
                self.made[value] = op, args
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
        """The terms in a chain that ends in a value.

        Positive ones come first, and a sum always has one, so no sign is left at the end.
        """
        terms.sort(key=lambda t: (bool(t.factors), bool(t.sign)))
        total, *rest = terms
        for k, term in enumerate(rest, start=1):
            made = value if k == len(rest) else next(self.fresh)
            sign = ""
            if term.factors:
                name = _NAMES[term.sign, total.sign]
                self.made[made] = name, (*term.factors, total.value)
            elif total.sign:
                self.made[made], sign = ("add", (total.value, term.value)), "-"
            else:
                self.made[made] = ("sub" if term.sign else "add"), (total.value, term.value)
            total = _Term(sign, made)
