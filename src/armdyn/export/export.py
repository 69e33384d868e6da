"""One way to every language and every target."""

from collections.abc import Callable
from pathlib import Path

from armdyn.errors import ModelError, check_known
from armdyn.export.c.export import c_sources, export_c
from armdyn.export.options import Exported, ExportOptions, write_all
from armdyn.export.python import export_python
from armdyn.export.targets.cmake import CMAKE
from armdyn.export.targets.ctypes_wrapper import CTYPES
from armdyn.export.targets.eigen import EIGEN
from armdyn.export.targets.fmu import FMU, FMU_SOURCE
from armdyn.export.targets.kernels import KERNELS
from armdyn.export.targets.mex import MEX
from armdyn.export.targets.ros2 import ROS2
from armdyn.export.targets.target import ExportTarget
from armdyn.model import RobotModel

LANGUAGES: dict[str, Callable[[RobotModel, str | Path, ExportOptions | None], Exported]] = {
    "c": export_c,
    "python": export_python,
}
TARGETS: dict[str, ExportTarget] = {
    target.name: target for target in (CMAKE, CTYPES, EIGEN, FMU, FMU_SOURCE, KERNELS, MEX, ROS2)
}
"""Programs for which exported C is wrapped."""


def export(
    model: RobotModel,
    directory: str | Path,
    language: str = "c",
    options: ExportOptions | None = None,
    target: str | None = None,
) -> Exported:
    """Write functions of a robot as source code in a language of `LANGUAGES`.

    With a target of `TARGETS`, C is wrapped for another program. All files are written or none.
    """
    check_known("language", language, LANGUAGES)
    if options and options.platform is not None and target != KERNELS.name:
        raise ModelError("a platform is for the target kernels; name that target, or no platform")
    if target is None:
        return LANGUAGES[language](model, directory, options)
    check_known("target", target, TARGETS)
    if language != "c":
        raise ModelError(f"the target {target} wraps C, not {language}; leave out the language")
    record = TARGETS[target]
    made = c_sources(model, record.options(options or ExportOptions()))
    contents, try_it = record.package(made)
    return Exported(write_all(directory, contents), made.programs, try_it)
