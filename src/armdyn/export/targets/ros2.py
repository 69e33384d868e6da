"""A plugin for the package `inverse_dynamics_solver` of ROS 2, as source."""

import re
from xml.sax.saxutils import escape

from armdyn.export.c.export import CSources
from armdyn.export.names import comment
from armdyn.export.targets.target import ExportTarget, Package, filled

FUNCTIONS = (
    *("inverse_dynamics", "mass_matrix", "coriolis_vector", "gravity_vector", "friction_torque"),
)


def _package(made: CSources) -> Package:
    # names of packages are in lower case, without two underscores in a row
    name = re.sub("_+", "_", f"{made.prefix.lower()}_inverse_dynamics")
    joints = made.model.coordinate_joints
    files = {
        "package.xml": "ros2/package.xml",
        "CMakeLists.txt": "ros2/CMakeLists.txt",
        f"{name}.xml": "ros2/plugin.xml",
        f"src/{name}.cpp": "ros2/plugin.cpp",
        "README.md": "ros2/README.md",
    }
    texts = filled(
        made,
        files,
        PACKAGE=name,
        NAMESPACE=f"{name}_plugin",  # the name of the package is that of a function of C
        CLASS="".join(part.capitalize() for part in name.split("_")),
        TITLE=escape(comment(made.model.title or made.model.name)),
        ORDER="\n".join(f"{k}. `{comment(j.name)}`" for k, j in enumerate(joints, start=1)),
    )
    sources = {f"src/{file}": text for file, text in made.texts.items()}
    return {**sources, **texts}, f"colcon build --packages-select {name}"


ROS2 = ExportTarget(
    "ros2",
    "a plugin of inverse_dynamics_solver, as source",
    _package,
    FUNCTIONS,
    fixed=("payload", "gravity", "base_motion"),
    single=False,
    friction=False,
)
