"""Infix text with the brackets that it needs: one printer of operations, a table a language."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

SUM, PRODUCT, SIGN, POWER, NAME = range(1, 6)
"""How tightly an expression holds together."""
OPERATORS = {"add": " + ", "sub": " - ", "mul": " * ", "div": " / "}


@dataclass(frozen=True, slots=True)
class Infix:
    """An expression as text, and how tightly it holds together."""

    text: str
    binding: int = NAME

    def within(self, binding: int) -> str:
        """The text, in brackets unless it holds together so tightly."""
        return self.text if self.binding >= binding else f"({self.text})"


@dataclass(frozen=True, slots=True)
class Language:
    """How a language writes operations."""

    functions: Mapping[str, str] = field(default_factory=dict)
    """What stands before the operands of a function, as "np.sin("; by default its name."""
    operators: Mapping[str, str] = field(default_factory=lambda: OPERATORS)
    exact: bool = False
    """Whether brackets keep the order of operations in sums and products, as rounding needs it."""

    def operation(self, op: str, args: Sequence[Infix]) -> Infix:
        """An operation on what is written already."""
        if op == "neg":
            if self.exact:
                return Infix(f"-{args[0].within(NAME)}", SIGN)
            return Infix(f"-{args[0].within(PRODUCT)}", SUM)
        if op not in self.operators:
            before = self.functions.get(op, f"{op}(")
            return Infix(f"{before}{', '.join(a.text for a in args)})")
        binding = SUM if op in ("add", "sub") else PRODUCT
        right = args[1].within(binding + (self.exact or op in ("sub", "div")))
        right = f"({right})" if right.startswith("-") else right
        return Infix(args[0].within(binding) + self.operators[op] + right, binding)

    def literal(self, text: str) -> Infix:
        """A number; a minus holds it together as loosely as the sign of an expression."""
        return Infix(text, (SIGN if self.exact else SUM) if text.startswith("-") else NAME)


PLAIN = Language()
"""Text to read."""
