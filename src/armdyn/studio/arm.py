"""A robot as a window has it: compiled, with its looks and with what is odd about it."""

from dataclasses import dataclass
from pathlib import Path

from armdyn.dynamics import Robot
from armdyn.model.validate import Finding
from armdyn.studio.background import Tell
from armdyn.studio.evaluate import Evaluator
from armdyn.studio.uploads import Loaded
from armdyn.studio.visuals import Visual, visuals

GRAVITY = 9.81
"""What weights are drawn by where there is no gravity [m/s²]."""


@dataclass(frozen=True, slots=True, eq=False)
class Arm:
    """A robot in a window."""

    robot: Robot
    evaluator: Evaluator
    pieces: tuple[Visual, ...] = ()
    """What its description says it looks like."""
    missing: tuple[str, ...] = ()
    """Meshes that are not shown."""
    findings: tuple[Finding, ...] = ()
    """What is suspicious about it."""

    @property
    def title(self) -> str:
        """What people call it."""
        return self.robot.model.title or self.robot.name

    @property
    def weight(self) -> float:
        """Weight of everything that moves [N]."""
        mass = sum(link.inertia.mass for link in self.robot.model.links)
        return max(mass, 1e-9) * GRAVITY


def arm_of(loaded: Loaded, file: Path | None, uploaded: bool, tell: Tell) -> Arm:
    """Compile a robot and read how it looks.

    Args:
        loaded: A robot that could be loaded.
        file: Its description, if that is a file.
        uploaded: Whether the file came from a browser, so that no other file is read for it.
        tell: Told what is done.

    Raises:
        ArmdynError: The error that kept it from being loaded.
    """
    if loaded.robot is None:
        assert loaded.error is not None
        raise loaded.error
    pieces, missing = ([], []) if file is None else visuals(file, meshes=not uploaded)
    tell(f"compiling {loaded.robot.name}")
    return Arm(
        loaded.robot,
        Evaluator(loaded.robot),
        tuple(pieces),
        tuple(dict.fromkeys(missing)),
        tuple(loaded.findings),
    )


def arm_from_robot(robot: Robot, findings: tuple[Finding, ...] = ()) -> Arm:
    """A robot that was made here."""
    return Arm(robot, Evaluator(robot), findings=findings)
