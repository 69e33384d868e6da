"""What is to be said about data."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """Something odd about data, and what to do about it."""

    kind: str
    """One word or two, as "degrees", "sign" or "too short"."""
    text: str
    """What was found, and where."""
    advice: str = ""
    severe: bool = False
    """Whether the result is not to be trusted because of it."""

    def __str__(self) -> str:
        return f"{self.kind}: {self.text}" + (f"; {self.advice}" if self.advice else "")
