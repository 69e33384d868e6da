"""A plugin for the package `inverse_dynamics_solver` of ROS 2, as source."""

import re
from xml.sax.saxutils import escape

from armdyn.export.c.export import CSources
from armdyn.export.names import comment
from armdyn.export.targets.target import ExportTarget, Package, filled
from armdyn.version import __version__

FUNCTIONS = (
    *("inverse_dynamics", "mass_matrix", "coriolis_vector", "gravity_vector", "friction_torque"),
)


def _package(made: CSources) -> Package:
    # names of packages are in lower case, without two underscores in a row
    name = re.sub("_+", "_", f"{made.prefix.lower()}_inverse_dynamics")
    joints = made.model.coordinate_joints
    words = {
        "PREFIX": made.prefix,
        "PACKAGE": name,
        "NAMESPACE": f"{name}_plugin",  # the name of the package is that of a function of C
        "CLASS": "".join(part.capitalize() for part in name.split("_")),
        "JOINTS": len(joints),
        "TITLE": escape(comment(made.model.title or made.model.name)),
        "VERSION": __version__,
        "ORDER": "\n".join(f"{k}. `{comment(j.name)}`" for k, j in enumerate(joints, start=1)),
    }
    files = {
        "package.xml": "ros2/package.xml",
        "CMakeLists.txt": "ros2/CMakeLists.txt",
        f"{name}.xml": "ros2/plugin.xml",
        f"src/{name}.cpp": "ros2/plugin.cpp",
        "README.md": "ros2/README.md",
    }
    texts = {path: filled(file, words) for path, file in files.items()}
    sources = {f"src/{file}": text for file, text in made.texts.items()}
    return Package({**sources, **texts}, f"colcon build --packages-select {name}")


ROS2 = ExportTarget(
    "ros2",
    "a plugin of inverse_dynamics_solver, as source",
    _package,
    FUNCTIONS,
    fixed=("payload", "gravity", "base_motion"),
    single=False,
    friction=False,
)
