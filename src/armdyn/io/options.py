"""What may be asked of a file when a robot is read from it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy.typing as npt

from armdyn.arrays import check_number, check_text, check_truth
from armdyn.errors import InertiaError, LoopError, ModelError, TopologyError, shown
from armdyn.io.edits import with_rotors_along_joints
from armdyn.loops.choice import with_coordinates
from armdyn.model import RobotModel
from armdyn.model.edit import check_locked, with_base, with_gravity
from armdyn.model.validate import Finding, Physical, physical_warnings

Reading = tuple[RobotModel, tuple[Finding, ...]]
"""A robot, and what its owner should know about the description it was read from."""


@dataclass(frozen=True, slots=True, eq=False)
class LoadOptions:
    """What to make of a description; see `armdyn.load`."""

    locked: Mapping[str, float] | None = None
    tool: str | None = None
    gravity: npt.ArrayLike | None = None
    base: npt.ArrayLike | None = None
    physical: Physical = "error"
    fix_root: bool = False
    density: float | None = None
    hull: bool = False
    model: str | None = None
    spinning_rotors: bool = False
    coordinates: Sequence[str] | None = None
    loops: str | Path | Mapping[str, object] | Sequence[Mapping[str, object]] | None = None
    trusted: bool = True
    """Whether the file may name others to be read (meshes), and macros of xacro are expanded, which
    evaluates expressions of the file."""

    def __post_init__(self) -> None:
        check_locked(self.locked)
        check_truth("fix_root", self.fix_root)
        check_truth("hull", self.hull)
        check_truth("spinning_rotors", self.spinning_rotors)
        if self.density is not None and check_number("density", self.density) <= 0:
            raise ModelError(f"density: expected a positive number, got {shown(self.density)}")
        for name in ("tool", "model"):
            if getattr(self, name) is not None:
                check_text(name, getattr(self, name))

    def reading(self, path: Path, model: RobotModel, findings: Iterable[Finding]) -> Reading:
        """A robot from a file where it is wished to be, with the findings and what is odd in it."""
        with named_file(path):
            model = model if self.gravity is None else with_gravity(model, self.gravity)
            model = model if self.base is None else with_base(model, self.base)
            model = with_rotors_along_joints(model) if self.spinning_rotors else model
            if self.coordinates is not None:
                model = with_coordinates(model, self.coordinates)
            return model, (*findings, *physical_warnings(model, self.physical))


DEFAULT_OPTIONS = LoadOptions()


@contextmanager
def named_file(path: Path) -> Iterator[None]:
    """Begin errors about a robot as a whole with the file that it is read from."""
    try:
        yield
    except (TopologyError, LoopError, InertiaError) as error:
        error.args = (f"{path}: {error}",)
        raise
