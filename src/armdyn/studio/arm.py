"""A robot in a window: compiled, with its looks and the findings of its check."""

from dataclasses import dataclass
from pathlib import Path

from armdyn.dynamics import Robot
from armdyn.model.validate import Finding
from armdyn.studio.background import Tell
from armdyn.studio.evaluate import Evaluator
from armdyn.studio.uploads import Loaded
from armdyn.studio.visuals import Visual, visuals

EARTH_GRAVITY = 9.81
"""Scale of the arrows of forces [m/s²]."""


@dataclass(frozen=True, slots=True, eq=False)
class Arm:
    """A robot in a window."""

    robot: Robot
    evaluator: Evaluator
    pieces: tuple[Visual, ...] = ()
    """The looks of its links, from its description."""
    missing: tuple[str, ...] = ()
    """Meshes that are not shown."""
    findings: tuple[Finding, ...] = ()
    """What its check found."""

    @property
    def title(self) -> str:
        """Its title, or its name."""
        return self.robot.model.title or self.robot.name

    @property
    def weight(self) -> float:
        """Weight of everything that moves [N]."""
        mass = sum(link.inertia.mass for link in self.robot.model.links)
        return max(mass, 1e-9) * EARTH_GRAVITY


def arm_of(loaded: Loaded, file: Path | None, uploaded: bool, tell: Tell) -> Arm:
    """Compile a robot and read its looks from its file, if there is one.

    For a file that was uploaded from a browser, no other file is read.

    Raises:
        ArmdynError: The robot could not be loaded.
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
