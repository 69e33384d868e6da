"""Numbers as people type them into a field of text: 1e-2, three beside each other, or none."""

import math

from armdyn.errors import ModelError, shown

NONE = "none"
"""What stands for a limit that is not known."""
DIGITS = 7
"""Digits of a number in a field."""
LONGEST_TEXT = 400
"""Characters of a field at most."""
COUNTS = {1: "a number", 2: "two numbers", 3: "three numbers"}


def written(*values: float) -> str:
    """Numbers as text."""
    return " ".join(f"{x:.{DIGITS}g}" if math.isfinite(x) else NONE for x in values)


def typed(where: str, text: str, *counts: int, limits: bool = False) -> list[float]:
    """The numbers of a text, as many as one of the counts says; of limits each may be none.

    Raises:
        ModelError: The text is something else; it says where that is.
    """
    words = text[:LONGEST_TEXT].replace(",", " ").split()
    try:
        values = [math.inf if limits and word == NONE else float(word) for word in words]
    except ValueError:
        values = []
    wrong = math.isnan if limits else lambda value: not math.isfinite(value)
    if len(values) not in counts or any(map(wrong, values)):
        asked = " or ".join(COUNTS.get(count, f"{count} numbers") for count in counts)
        more = f", or {NONE!r}" if limits else ""
        raise ModelError(f"{where}: expected {asked}{more}, got {shown(text)}")
    return values


def typed_limits(where: str, text: str, count: int) -> list[float] | None:
    """Limits, each of which may be none; None for a text without any."""
    return None if text.strip() in ("", NONE) else typed(where, text, count, limits=True)
