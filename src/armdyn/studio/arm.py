"""A robot in a window: compiled, with its looks and its check, and its snapshots in any state."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from armdyn.arrays import Array
from armdyn.io.catalog import catalog_names
from armdyn.model import RobotModel
from armdyn.model.validate import Finding
from armdyn.robot import Robot
from armdyn.studio.background import Tell
from armdyn.studio.evaluator import Evaluator as Evaluator
from armdyn.studio.evaluator import PointForces as PointForces
from armdyn.studio.evaluator import Snapshot as Snapshot
from armdyn.studio.evaluator import State as State
from armdyn.studio.mjcf_looks import is_mjcf, mjcf_visuals
from armdyn.studio.uploads import Loaded
from armdyn.studio.visuals import NotDrawn, Visual, visuals
from armdyn.thresholds import COMPILED_IN_STUDIO


@dataclass(frozen=True, slots=True, eq=False)
class Arm:
    """A robot in a window."""

    robot: Robot
    evaluator: Evaluator
    pieces: tuple[Visual, ...] = ()
    """The looks of its links, from its description."""
    missing: tuple[NotDrawn, ...] = ()
    """Meshes that are not drawn."""
    findings: tuple[Finding, ...] = ()
    """What its check found."""
    source: str = ""
    """The catalog name or the file that it came from, or what else it is."""
    in_catalog: bool = False
    """Whether the source is a name in the catalog."""

    @property
    def title(self) -> str:
        """Its title, or its name."""
        return self.robot.model.title or self.robot.name

    @property
    def faults(self) -> tuple[Finding, ...]:
        """The errors of its check: a robot with any of them cannot exist as it is described."""
        return tuple(finding for finding in self.findings if finding.level == "error")

    @property
    def mass(self) -> float:
        """Mass of everything that moves [kg]."""
        return sum(link.inertia.mass for link in self.robot.model.links)


def arm_of(loaded: Loaded, source: str, file: Path | None, uploaded: bool, tell: Tell) -> Arm:
    """Compile a robot and read its looks from its file, if there is one.

    `source` is what people call the place that it came from. For a file that was uploaded from a
    browser, no other file is read. Where the robot could not be loaded, its error is raised.
    """
    robot = loaded.robot
    if robot is None:
        assert loaded.error is not None
        raise loaded.error
    pieces, missing = _looks(loaded, file, uploaded)
    how = "compiling" if robot.n <= COMPILED_IN_STUDIO.value else "drawing"
    tell(f"{how} {robot.name}")
    missing = list(dict.fromkeys(missing))
    found = tuple(pieces), tuple(missing), tuple(loaded.findings)
    return Arm(robot, Evaluator(robot), *found, source, source in catalog_names() and file is None)


def branches(model: RobotModel) -> bool:
    """Whether several chains hang on the base or on a link."""
    parents = [joint.parent for joint in model.joints]
    return len({*parents}) < len(parents) and not model.loops


def _looks(
    loaded: Loaded, file: Path | None, uploaded: bool
) -> tuple[list[Visual], list[NotDrawn]]:
    """What the links look like, from the file or the archive that the robot came in."""
    described = loaded.file or file
    if described is None:
        return [], []
    # MJCF that came from a browser was checked to name files of its archive alone
    if (not uploaded or loaded.archive) and is_mjcf(described):
        return mjcf_visuals(described), []
    return visuals(described, meshes=not uploaded, within=loaded.archive)


def slider_limits(robot: Robot) -> Array:
    """Where the sliders of the positions end, (n, 2): at the limits, where there are any."""
    low, high = robot.model.ranges.T
    reach = np.array([robot.model.joints[i].type.reach for i in robot.model.independent])
    return np.stack([low, high], -1) + np.where(high > low, 0.0, reach)[:, None] * [-1.0, 1.0]


def pose(robot: Robot) -> Array:
    """A first pose, bent a little, so that no term of the torque is zero without need.

    One with legs or several arms stands upright, as it is described.
    """
    low, high = slider_limits(robot).T
    if branches(robot.model):
        return np.clip(np.zeros(robot.n), low, high)
    bent = np.array([0.0 if i == 0 else 0.5 * (-1) ** i for i in range(robot.n)])
    turns = np.array([robot.model.joints[i].type.turns for i in robot.model.independent])
    wanted = np.where(turns, bent, 0.5 * (low + high))
    return np.clip(wanted, low + 0.1 * (high - low), high - 0.1 * (high - low))
