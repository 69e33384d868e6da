"""Numbers as people type them into a field of text: 1e-2, three beside each other, or none."""

import math
from collections.abc import Sequence

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


def typed(where: str, text: str, *counts: int) -> list[float]:
    """The numbers of a text, as many as one of the counts says.

    Raises:
        ModelError: The text is something else; it says where that is.
    """
    return _read(where, text, counts, "")


def typed_limits(where: str, text: str, count: int) -> list[float] | None:
    """Limits, each of which may be none; None for a text without any."""
    if text.strip() in ("", NONE):
        return None
    words = (str(math.inf) if word == NONE else word for word in text.replace(",", " ").split())
    return _read(where, " ".join(words), (count,), f", or {NONE!r}", text)


def _read(
    where: str, text: str, counts: Sequence[int], more: str, original: str | None = None
) -> list[float]:
    try:
        values = [float(word) for word in text[:LONGEST_TEXT].replace(",", " ").split()]
    except ValueError:
        values = []
    sound = len(values) in counts and not any(map(math.isnan, values))
    if not sound or (not more and any(map(math.isinf, values))):
        asked = " or ".join(COUNTS.get(count, f"{count} numbers") for count in counts)
        given = text if original is None else original
        raise ModelError(f"{where}: expected {asked}{more}, got {shown(given)}")
    return values
