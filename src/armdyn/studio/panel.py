"""A part of the page, and what it is told."""

from collections.abc import Mapping, Sequence

from armdyn.model.validate import Finding
from armdyn.studio.arm import Arm, Snapshot


class Panel:
    """A part of the page; by default it ignores every event."""

    early = False
    """Whether it shows a state before the view does: numbers are there before the picture."""

    def enter(self, arm: Arm) -> None:
        """Begin with another robot."""

    def show(self, snapshot: Snapshot) -> None:
        """Show the arm in a state."""

    def hold(self, payload: float) -> None:
        """Another payload is held [kg]."""

    def touch(self) -> None:
        """Someone takes the arm by hand: what moves it by itself stops."""

    def select(self, joint: int) -> None:
        """A joint is chosen on the page."""

    def see(self, view: Mapping[str, bool]) -> None:
        """Other parts of the view are seen."""

    def refuse(self, name: str, findings: Sequence[Finding]) -> None:
        """Show why a file is not shown."""

    def close(self) -> None:
        """End with the window."""
