"""The robots of the speed table, from example-robot-data where it is installed."""

import importlib.metadata
from dataclasses import replace
from pathlib import Path

from armdyn.io.files import read_model
from armdyn.robot import Robot

PACKAGE = "example-robot-data"
FILES = {
    "panda": ("panda.urdf", {"panda_finger_joint1": 0.0}),
    "ur5": ("ur5_robot.urdf", {}),
    "talos": ("talos_reduced.urdf", {}),
}
"""File in the package, and joints that are held still, of each robot that it has."""
STAND_INS = {"panda": "panda", "ur5": "ur5e", "puma560": "puma560"}
"""The robot of the catalog that is taken where the package is not installed."""


def robot(name: str) -> Robot | None:
    """A robot of the table; None if it is not on this machine."""
    file, held = FILES.get(name, ("", {}))
    path = package_file(file)
    if path is None and name not in STAND_INS:
        return None
    if path is None:
        return Robot(read_model(STAND_INS[name])[0])
    model, _ = read_model(path, locked=held, physical="warn")
    return Robot(replace(model, name=name))


def package_file(name: str) -> Path | None:
    """A file of the package, if it is installed."""
    try:
        listed = importlib.metadata.files(PACKAGE) or []
    except importlib.metadata.PackageNotFoundError:
        return None
    found = [Path(str(file.locate())) for file in listed if file.name == name]
    return next((path for path in found if path.is_file()), None)
