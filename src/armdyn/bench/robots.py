"""The robots of the benchmark, as files that every library can read."""

import atexit
import importlib.metadata
import shutil
import tempfile
import warnings
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from armdyn.dynamics import Robot
from armdyn.errors import ArmdynWarning
from armdyn.io.files import load_model, save_model
from armdyn.model import FrictionLaw, RobotModel, Rotor

PACKAGE = "example-robot-data"


@dataclass(frozen=True, slots=True)
class Source:
    """Where a robot is found."""

    title: str
    file: str
    """Its file in the package example-robot-data."""
    catalog: str | None
    """What stands in for it where the package is not installed; None: nothing does."""
    held: tuple[str, ...] = ()
    """Joints of the file that are held still."""


SOURCES = {
    "panda": Source("Panda, 7 joints", "panda.urdf", "panda", ("panda_finger_joint1",)),
    "ur5": Source("UR5, 6 joints", "ur5_robot.urdf", "ur5e"),
    "talos": Source("Talos reduced, 32 joints", "talos_reduced.urdf", None),
}


@dataclass(frozen=True)
class Arm:
    """A robot without friction and rotors."""

    title: str
    robot: Robot
    file: Path
    """URDF of the robot; joints that ours does not have are held at zero."""
    plain: Path
    """URDF of what moves, without anything to look at."""


@lru_cache(maxsize=8)
def arm(name: str) -> Arm | None:
    """A robot of the benchmark; None if it is not on this machine."""
    source, file = SOURCES[name], _file(SOURCES[name].file)
    if file is None and source.catalog is None:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ArmdynWarning)
        if file is not None:
            held = dict.fromkeys(source.held, 0.0)
            return _made(source.title, load_model(file, locked=held, physical="warn"), file)
        model = load_model(str(source.catalog))
        return _made(f"{model.title or model.name}, {len(model.joints)} joints", model, None)


def _made(title: str, model: RobotModel, file: Path | None) -> Arm:
    bare = tuple(replace(j, friction=FrictionLaw(), rotor=Rotor()) for j in model.joints)
    model = replace(model, joints=bare)
    plain = _folder() / f"{model.name}.urdf"
    save_model(model, plain)
    return Arm(title, Robot(model), file or plain, plain)


def _file(name: str) -> Path | None:
    """A file of the package, if it is installed."""
    try:
        listed = importlib.metadata.files(PACKAGE) or []
    except importlib.metadata.PackageNotFoundError:
        return None
    found = [Path(str(file.locate())) for file in listed if file.name == name]
    return next((path for path in found if path.is_file()), None)


@lru_cache(maxsize=1)
def _folder() -> Path:
    """A folder for files that peers read, removed when the process ends."""
    folder = tempfile.mkdtemp(prefix="armdyn-bench-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)
