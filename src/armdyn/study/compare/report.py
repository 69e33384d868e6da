"""What a comparison found."""

from dataclasses import asdict, dataclass, field
from typing import Any, Literal, get_args

from armdyn.errors import counted

Status = Literal["agrees", "explained", "unexplained", "refused", "not installed"]


@dataclass(frozen=True, slots=True)
class Effect:
    """A cause of a difference."""

    name: str
    """Such as "viscous", "rotors" or "inertial rpy"."""
    text: str
    """What the library does, to follow its name."""
    largest: float
    """How much it alone changes a torque, at most [N m or N]."""


@dataclass(frozen=True, slots=True)
class LibraryResult:
    """What one library computes for the robot, and why."""

    library: str
    """The name by which it is asked for."""
    title: str
    version: str | None
    """None if it is not installed, or says none."""
    status: Status
    explanation: str
    """A sentence."""
    causes: tuple[Effect, ...] = ()
    """The causes that explain the difference, or that come nearest to it."""
    joint: str | None = None
    """The joint with the largest difference."""
    state: int | None = None
    """Where that is among the states."""
    motion: dict[str, tuple[float, ...]] | None = field(default=None, repr=False)
    """The state itself: q, qd and qdd."""
    here: float | None = None
    """Its torque by armdyn [N m or N]."""
    there: float | None = None
    """Its torque by the library."""
    differences: tuple[float, ...] = field(default=(), repr=False)
    """The largest difference of each joint, in the order of the report."""
    residual: float | None = None
    """The largest difference that the causes leave [N m or N]."""

    @property
    def difference(self) -> float | None:
        """Torque there less torque here."""
        return None if self.there is None or self.here is None else self.there - self.here


@dataclass(frozen=True)
class CompareReport:
    """The same states through several libraries."""

    source: str
    robot: str
    joints: tuple[str, ...]
    states: int
    """How many were compared."""
    seed: int | None
    """What random states were drawn with; None for states that were given."""
    rows: tuple[LibraryResult, ...]

    def __repr__(self) -> str:
        return f"<CompareReport of {self.robot!r}, {counted(self.states, 'state')}: {self.summary}>"

    def __getitem__(self, library: str) -> LibraryResult:
        """The row of a library."""
        return next(row for row in self.rows if row.library == library)

    @property
    def exit_code(self) -> int:
        """0: all agree; 1: some do not, or refuse the file; 2: there was none to compare with."""
        tried = [row for row in self.rows if row.status != "not installed"]
        if not tried:
            return 2
        return int(any(row.status != "agrees" for row in tried))

    @property
    def summary(self) -> str:
        """Who agrees and who does not."""
        parts = [
            f"{', '.join(names)}: {'agree' if status == 'agrees' and len(names) > 1 else status}"
            for status in get_args(Status)
            if (names := [row.title for row in self.rows if row.status == status])
        ]
        return "; ".join(parts)

    def data(self) -> dict[str, Any]:
        """The report as plain data."""
        rows = [asdict(row) | {"difference": row.difference} for row in self.rows]
        found = {"joints": list(self.joints), "exit_code": self.exit_code, "rows": rows}
        return asdict(self) | found
