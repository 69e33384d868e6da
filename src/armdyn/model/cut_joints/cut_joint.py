"""The record of a cut joint: how a loop is closed."""

from dataclasses import dataclass

from armdyn.model.cut_joints.rows import Normal, Row, Slide

POINT: tuple[Row, ...] = (Slide(0), Slide(1), Slide(2))
"""Two origins in one place."""
PARALLEL: tuple[Row, ...] = (Normal(2, 0), Normal(2, 1))
"""Two z axes in one direction."""
ALIGNED: tuple[Row, ...] = (Normal(0, 1), Normal(1, 2), Normal(2, 0))
"""Three axes in one direction each."""


@dataclass(frozen=True, slots=True)
class CutJoint:
    """A joint that closes a loop, between a frame on one link and a frame on another."""

    name: str
    """Name in TOML files and reports."""
    rows: tuple[Row, ...]
    """What it keeps; some of it may follow from the rest of a loop."""
    about: str
    """What it leaves free, in words."""
    has_length: bool = False
    """Whether it has a length, that between the two origins."""

    @property
    def slides(self) -> tuple[int, ...]:
        """Axes of frame b along which it slides; a rod of one length leaves no axis by itself."""
        return () if self.has_length else tuple(k for k in range(3) if Slide(k) not in self.rows)

    @property
    def keeps_direction(self) -> bool:
        """Whether the two z axes keep one direction."""
        return any(isinstance(row, Normal) for row in self.rows)

    @property
    def keeps_axes(self) -> bool:
        """Whether all three axes do."""
        return set(ALIGNED) <= set(self.rows)
