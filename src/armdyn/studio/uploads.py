"""Files from the browser; their size and name are checked before they are read.

They are refused by the size that they announce, before anything of them is kept.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import viser
from viser import _messages as messages
from viser.infra import ClientId

from armdyn.errors import (
    ArmdynError,
    DescriptionError,
    InertiaError,
    StudioError,
    TrajectoryError,
    UnsupportedJointError,
)
from armdyn.io.files import read_model
from armdyn.io.options import Reading
from armdyn.io.regular import MAX_BYTES, too_large
from armdyn.io.xml import read_xml
from armdyn.model.validate import Finding
from armdyn.robot import Robot
from armdyn.studio.archive import check_mjcf, description, unpack
from armdyn.studio.background import Tell
from armdyn.studio.gate import incompatible_viser
from armdyn.study.check.check import check

DESCRIPTIONS = (".urdf", ".xml", ".toml")
TABLES = (".csv",)


@dataclass(frozen=True, slots=True, eq=False)
class Loaded:
    """A robot, or the reasons why there is none."""

    robot: Robot | None
    findings: Sequence[Finding]
    error: ArmdynError | None = None
    file: Path | None = None
    """The description in an archive."""
    archive: Path | None = None
    """The folder that the archive was unpacked into."""


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
        raise refusal(f"{last}: {too_large(len(content))}")
    stem = re.sub(r"[^\w.-]+", "_", path.stem).strip("._")[:80] or "file"
    kept = folder / f"{stem}{path.suffix.lower()}"
    kept.write_bytes(content)
    return kept


def open_upload(path: Path, tell: Tell = lambda _: None) -> Loaded:
    """The robot in a file that was uploaded, with everything suspicious in it.

    MJCF and macros of xacro can make their readers open other files, so that macros are taken from
    the command line only, and MJCF also from an archive that has all that it names: only files of
    the archive are read for it.
    """
    file, place = path, None
    try:
        if path.suffix == ".zip":
            tell(f"unpacking {path.name}")
            place = unpack(path, path.parent)
            file = description(place)
        by_tag = file.suffix.lower() in (".xml", ".mjcf")
        if by_tag and read_xml(file, DescriptionError).tag != "robot":
            if place is None:
                raise DescriptionError(
                    "this is not URDF. MJCF can name other files to be read, so that it is not "
                    "taken from the browser alone; send a zip with all of them, or open it with: "
                    "armdyn studio FILE.xml",
                    file=path,
                )
            check_mjcf(file)
    except DescriptionError as error:
        message = str(error).removeprefix(f"{path}: ")
        return Loaded(None, [Finding("error", path.name, message)], error)
    loaded = open_robot(file, partial(read_model, file, trusted=False), tell, trusted=False)
    return loaded if place is None else replace(loaded, file=file, archive=place)


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
    findings = check(source, read=read, trusted=trusted).findings
    tell(f"reading {Path(source).name}")
    try:
        try:
            robot = Robot(read()[0])
        except (InertiaError, UnsupportedJointError) as error:
            fix_root = isinstance(error, UnsupportedJointError)
            robot = Robot(read(physical="ignore", fix_root=fix_root)[0])
        if robot.model.floating:
            robot = Robot(replace(robot.model, floating=False))
        return Loaded(robot, findings)
    except ArmdynError as error:
        return Loaded(None, findings, error)


def limit_uploads(client: viser.ClientHandle, refuse: Callable[[BaseException], None]) -> None:
    """Let a window send one file at a time, of the size that it announced and not too large."""
    try:
        gui, socket = client.gui, client._websock_connection
        begin = gui._handle_file_transfer_start
        take = gui._handle_file_transfer_part
        started = messages.FileTransferStartUpload
        part = messages.FileTransferPart
        forget, told = gui._drop_uploads_from_client, messages.FileTransferPartAck
        socket.unregister_handler(started, begin)
        socket.unregister_handler(part, take)
    except (AttributeError, ValueError, AssertionError) as error:
        raise incompatible_viser(error) from None
    missing: dict[str, int] = {}
    """Bytes that are still to come, by the name of the transfer."""

    def start(client_id: ClientId, message: messages.FileTransferStartUpload) -> None:
        missing.clear()
        forget(client_id)
        size, transfer = message.size_bytes, message.transfer_uuid
        if not 0 <= message.part_count <= size <= MAX_BYTES:
            refuse(StudioError(f"{message.filename}: {too_large(size)}"))
            # for the page it has arrived, so that it waits no longer
            socket.queue_message(told(message.source_component_uuid, transfer, size, size))
            return
        missing[transfer] = size
        begin(client_id, message)

    def receive(client_id: ClientId, message: messages.FileTransferPart) -> None:
        rest = missing.get(message.transfer_uuid, 0) - len(message.content)
        if rest < 0 or not message.content:  # more than was announced, or nothing
            missing.pop(message.transfer_uuid, None)
            forget(client_id)
            return
        missing[message.transfer_uuid] = rest
        take(client_id, message)

    socket.register_handler(started, start)
    socket.register_handler(part, receive)
