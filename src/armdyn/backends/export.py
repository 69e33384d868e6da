"""One way to every language."""

from collections.abc import Callable
from pathlib import Path

from armdyn.backends.c.export import export_c
from armdyn.backends.options import Exported, ExportOptions
from armdyn.backends.python.export import export_python
from armdyn.errors import check_known
from armdyn.model import RobotModel

LANGUAGES: dict[str, Callable[[RobotModel, str | Path, ExportOptions | None], Exported]] = {
    "c": export_c,
    "python": export_python,
}


def export(
    model: RobotModel,
    directory: str | Path,
    language: str = "c",
    options: ExportOptions | None = None,
) -> Exported:
    """Write functions of a robot as source code in a language of `LANGUAGES`."""
    check_known("language", language, LANGUAGES)
    return LANGUAGES[language](model, directory, options)
