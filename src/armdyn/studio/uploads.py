"""Files from the browser; their size and name are checked before they are read.

They are refused by the size that they announce, before anything of them is kept. A zip is unpacked
into a folder of its own, which nothing in it leads out of.
"""

import re
import stat
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path, PurePosixPath

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
    shown,
)
from armdyn.io.files import read_model
from armdyn.io.mesh import MAX_MESH_BYTES
from armdyn.io.options import Reading
from armdyn.io.regular import MAX_BYTES, too_large
from armdyn.io.xml import read_xml
from armdyn.model.validate import Finding
from armdyn.robot import Robot
from armdyn.studio.background import Tell
from armdyn.studio.gate import incompatible_viser
from armdyn.study.check.check import check

MAX_FILES = 500
MAX_UNPACKED = 100 * 2**20
"""Bytes of all files of an archive together."""
MAX_DEPTH = 12
"""Folders in folders."""
MAX_NAME = 200
"""Characters of a path in an archive."""
CHUNK = 2**16
ARCHIVED = (".urdf", ".xml", ".mjcf", ".toml")
"""Endings of descriptions in an archive."""
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_ELSEWHERE = re.compile(r"[\\:\0]|^/|^~")
"""What no path within an archive has."""
_FILE_ATTRIBUTE = re.compile(r"file\w*|\w*dir")
"""Attributes of MJCF that name files or folders."""


def unpack(path: Path, folder: Path) -> Path:
    """Unpack an archive into a new folder, or refuse all of it; the folder."""
    place = folder / f"{path.stem}_unpacked"
    while place.exists():
        place = place.with_name(place.name + "_")
    try:
        with zipfile.ZipFile(path) as archive:
            entries = [entry for entry in archive.infolist() if not entry.is_dir()]
            _check(path, entries)
            place.mkdir()
            _extract(path, archive, entries, place)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, OSError) as error:
        if isinstance(error, ArmdynError):
            raise
        raise _refusal(path, f"cannot be unpacked: {error}") from None
    return place


def description(place: Path) -> Path:
    """The description in an unpacked archive: the only one, or the one that is nearest to its top.

    Files of MJCF that another one includes do not count.
    """
    robots = _robots(place)
    if not robots:
        macros = any(file.suffix == ".xacro" for file in place.rglob("*"))
        advice = "; expand the xacro first, and send the result" if macros else ""
        raise DescriptionError(
            f"{place.name.removesuffix('_unpacked')}: there is no robot in this archive: no "
            f"{', '.join(ARCHIVED)} file that describes one{advice}"
        )
    depth = min(len(file.parts) for file in robots)
    top = [file for file in robots if len(file.parts) == depth]
    if len(top) > 1:
        names = ", ".join(str(file.relative_to(place)) for file in top)
        raise DescriptionError(
            f"there are several robots in this archive: {names}; leave one in it"
        )
    return top[0]


def _robots(place: Path) -> list[Path]:
    """Every file that describes a robot and that no other one includes."""
    found = [file for file in sorted(place.rglob("*")) if file.suffix.lower() in ARCHIVED]
    robots = [file for file in found if _describes(file)]
    included = {(file.parent / name).resolve() for file in robots for name in _includes(file)}
    return [file for file in robots if file.resolve() not in included]


def check_mjcf(file: Path) -> None:
    """Refuse MJCF that names anything outside of its archive, before anything else reads it."""
    waiting, seen = [file], {file}
    while waiting:
        now = waiting.pop()
        for element in read_xml(now, DescriptionError).walk():
            if element.tag in ("plugin", "extension"):
                raise DescriptionError(
                    f"<{element.tag}> makes MuJoCo load programs, so it is not taken from the "
                    "browser",
                    file=now,
                )
            for name, value in element.attributes.items():
                if _FILE_ATTRIBUTE.fullmatch(name):
                    _check_inside(now, element.tag, name, value)
            other = file.parent / element.attributes.get("file", "")
            if element.tag == "include" and other.is_file() and other not in seen:
                seen.add(other)
                waiting.append(other)


def _check_inside(file: Path, tag: str, name: str, value: str) -> None:
    parts = PurePosixPath(value).parts
    if _ELSEWHERE.search(value) or ".." in parts:
        raise DescriptionError(
            f"<{tag}> has {name}={shown(value)}, which leads out of its archive; only files of the "
            "archive are read",
            file=file,
        )


def find_in(name: str, folder: Path, place: Path) -> Path | None:
    """The file of an archive that a description in a folder means by a name; None if there is none.

    Packages are folders of the archive, or the archive itself.
    """
    plain = re.sub(r"^(package|model|file)://", "", name)
    parts = [part for part in PurePosixPath(plain).parts if part not in ("/", ".")]
    if "\0" in name or not parts:
        return None
    places = [folder / plain, *(base.joinpath(*parts[k:]) for k in range(len(parts))
                                for base in (folder, place))]  # fmt: skip
    for path in places:
        real = path.resolve()
        if real.is_relative_to(place.resolve()) and real.is_file():
            return real
    tail = parts[-1].lower()
    same = [file for file in place.rglob("*") if file.name.lower() == tail and file.is_file()]
    return same[0] if len(same) == 1 else None


def _check(path: Path, entries: list[zipfile.ZipInfo]) -> None:
    """Refuse an archive by its table."""
    if len(entries) > MAX_FILES:
        raise _refusal(path, f"it has {len(entries)} files, more than {MAX_FILES}")
    total = sum(entry.file_size for entry in entries)
    if total > MAX_UNPACKED:
        raise _refusal(path, _too_much(total))
    seen: set[str] = set()
    for entry in entries:
        name = entry.filename
        parts, kind = PurePosixPath(name).parts, stat.S_IFMT(entry.external_attr >> 16)
        faults = {
            "leads out of it": _ELSEWHERE.search(name) or {".", ".."} & {*parts},
            "is too long or too deep": len(name) > MAX_NAME or len(parts) > MAX_DEPTH,
            "is a link or a device, not a file": kind not in (0, stat.S_IFREG),
            "is encrypted": entry.flag_bits & 1,
            "is packed in a way that is not read; use deflate": entry.compress_type not in _METHODS,
            f"has {entry.file_size / 2**20:.0f} MB": entry.file_size > MAX_MESH_BYTES,
            "is in it twice": name.lower() in seen,
        }
        for fault, found in faults.items():
            if found:
                raise _refusal(path, f"{shown(name[:80])} {fault}")
        seen.add(name.lower())


def _extract(
    path: Path, archive: zipfile.ZipFile, entries: list[zipfile.ZipInfo], place: Path
) -> None:
    """Write the files; what they really have counts, not what the table says."""
    written = 0
    for entry in entries:
        target = place.joinpath(*PurePosixPath(entry.filename).parts)
        target.parent.mkdir(parents=True, exist_ok=True)
        with archive.open(entry) as source, open(target, "xb") as file:
            while block := source.read(CHUNK):
                written += len(block)
                if written > MAX_UNPACKED:
                    raise _refusal(path, _too_much(written))
                file.write(block)


def _too_much(size: int) -> str:
    return (
        f"it unpacks to {size / 2**20:.0f} MB or more, above the {MAX_UNPACKED // 2**20} MB that "
        "are taken"
    )


def _refusal(path: Path, reason: str) -> DescriptionError:
    return DescriptionError(f"{path.name}: {reason}")


def _describes(file: Path) -> bool:
    """Whether a file describes a robot by its ending or its first element."""
    if file.suffix.lower() in (".urdf", ".toml"):
        return True
    try:
        return read_xml(file, DescriptionError).tag in ("robot", "mujoco")
    except ArmdynError:
        return False


def _includes(file: Path) -> Iterator[str]:
    if file.suffix.lower() in (".xml", ".mjcf"):
        for element in read_xml(file, DescriptionError).walk():
            if element.tag == "include":
                yield element.attributes.get("file", "")


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
