"""Files from the browser; their size and name are checked before they are read."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from armdyn.check.check import check_report
from armdyn.dynamics import Robot
from armdyn.errors import (
    ArmdynError,
    DescriptionError,
    InertiaError,
    TrajectoryError,
    UnsupportedJointError,
)
from armdyn.io.files import read_model
from armdyn.io.options import Reading
from armdyn.io.regular import MAX_BYTES
from armdyn.io.xml import read_xml
from armdyn.model.validate import Finding
from armdyn.studio.background import Tell

DESCRIPTIONS = (".urdf", ".xml", ".toml")
TABLES = (".csv",)


@dataclass(frozen=True, slots=True, eq=False)
class Loaded:
    """A robot, or the reasons why there is none."""

    robot: Robot | None
    findings: list[Finding]
    error: ArmdynError | None = None


def keep(folder: Path, name: str, content: bytes, endings: tuple[str, ...]) -> Path:
    """Write a file from the browser into a folder; nothing in its name leads out of the folder."""
    last = re.split(r"[/\\]", name)[-1]
    refusal = TrajectoryError if endings == TABLES else DescriptionError
    path = Path(last)
    if path.suffix.lower() not in endings:
        raise refusal(
            f"{last}: the ending is {path.suffix!r}; expected one of {', '.join(endings)}"
        )
    if len(content) > MAX_BYTES:
        raise refusal(too_large(last, len(content)))
    stem = re.sub(r"[^\w.-]+", "_", path.stem).strip("._")[:80] or "file"
    kept = folder / f"{stem}{path.suffix.lower()}"
    kept.write_bytes(content)
    return kept


def too_large(name: str, size: int) -> str:
    """Why a file of so many bytes is refused."""
    limit = MAX_BYTES // 2**20
    return f"{name}: the file has {size / 2**20:.1f} MB, more than the {limit} MB that are read"


def open_upload(path: Path, tell: Tell = lambda _: None) -> Loaded:
    """The robot in a file that was uploaded, with everything suspicious in it.

    MJCF and macros of xacro can make their readers open other files, so that they are taken from
    the command line only.
    """
    try:
        if path.suffix == ".xml" and read_xml(path, DescriptionError).tag != "robot":
            raise DescriptionError(
                "this is not URDF. MJCF can name other files to be read, so that it is not taken "
                "from the browser; open it with: armdyn studio FILE.xml",
                file=path,
            )
    except DescriptionError as error:
        message = str(error).removeprefix(f"{path}: ")
        return Loaded(None, [Finding("error", path.name, message)], error)
    return open_robot(path, partial(read_model, path, trusted=False), tell, trusted=False)


def open_robot(
    source: str | Path,
    read: Callable[..., Reading] | None = None,
    tell: Tell = lambda _: None,
    trusted: bool = True,
) -> Loaded:
    """A robot from the catalog or a file, with everything suspicious in it.

    One whose bodies cannot exist is shown all the same, so that people see what is wrong. `read`
    reads it with the keywords `physical` and `fix_root`; None: as it is. Files that a source names
    are read if it is trusted.
    """
    read = read or partial(read_model, source)
    tell(f"checking {Path(source).name}")
    findings = check_report(source, read, trusted)
    tell(f"reading {Path(source).name}")
    try:
        try:
            robot = Robot(read()[0])
        except (InertiaError, UnsupportedJointError) as error:
            fix_root = isinstance(error, UnsupportedJointError)
            robot = Robot(read(physical="ignore", fix_root=fix_root)[0])
        return Loaded(robot, findings)
    except ArmdynError as error:
        return Loaded(None, findings, error)
