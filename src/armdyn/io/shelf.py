"""Where armdyn keeps what it can compute again: files of one kind in a folder of this user alone.

A folder is opened once, no link followed, and looked at; its files are opened, renamed and removed
in what was opened. So nobody can put another folder or file in place between the look and the step.
Windows has neither these handles nor these owners and modes: there, paths do, and nothing is asked.
"""

import hashlib
import os
import re
import stat
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

from armdyn.errors import CacheError
from armdyn.io.atomic import POSIX, appearing, remove_abandoned

VARIABLE = "ARMDYN_CACHE_DIR"
"""The environment variable that names another folder, or says "off"."""
OFF = ("", "off")


_TEMPORARY: list[Path] = []


@contextmanager
def kept_in(folder: str | Path) -> Iterator[None]:
    """Keep everything in this folder until the block ends, unless the variable names another."""
    _TEMPORARY.append(Path(folder))
    try:
        yield
    finally:
        _TEMPORARY.pop()


def cache_folder(name: str) -> Path | None:
    """The folder for what is kept of one kind; None: nothing is kept on disk."""
    root = cache_root()
    return None if root is None else root / name


def cache_root() -> Path | None:
    """The folder of everything that is kept for this user; None: nothing is."""
    given = os.environ.get(VARIABLE)
    if given is None:
        return _TEMPORARY[-1] if _TEMPORARY else _of_user()
    if given.strip().lower() in OFF:
        return None
    path = Path(os.path.expanduser(given))
    if not path.is_absolute():
        raise CacheError(
            f"{VARIABLE} is {given!r}: expected an absolute path, or 'off' to keep nothing on disk"
        )
    return path


def _of_user() -> Path | None:
    """By the custom of the system; None for a user without a home."""
    try:
        if sys.platform == "win32":
            root = Path(os.environ.get("LOCALAPPDATA") or Path.home())
        elif sys.platform == "darwin":
            root = Path.home() / "Library" / "Caches"
        else:
            root = Path(os.environ.get("XDG_CACHE_HOME", ""))
            root = root if root.is_absolute() else Path.home() / ".cache"
    except RuntimeError:
        return None
    return root / "armdyn"


DAY = 86_400.0

_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
_FILE = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


@dataclass(frozen=True, slots=True)
class Entry:
    """A file of a folder."""

    name: str
    size: int
    used: float
    """When it was written or, to the day, last read, in seconds of the epoch."""


@dataclass(frozen=True, slots=True)
class PrivateFolder:
    """An open folder of this user; names in it are names of files, not paths."""

    path: Path
    handle: int | None
    """None on Windows."""

    @property
    def open_to_others(self) -> bool:
        """Whether group or others can put files here."""
        return self.handle is not None and bool(os.fstat(self.handle).st_mode & _OTHERS_WRITE)

    def entries(self, suffix: str) -> list[Entry]:
        """Its files named by a digest and a suffix, the least recently used first."""
        listed, digest = [], re.compile(rf"[0-9a-f]+{re.escape(suffix)}")
        with os.scandir(self.path if self.handle is None else self.handle) as items:
            for item in (item for item in items if digest.fullmatch(item.name)):
                with suppress(FileNotFoundError):  # another process removed it
                    status = item.stat(follow_symlinks=False)
                    if stat.S_ISREG(status.st_mode):
                        listed.append(Entry(item.name, status.st_size, status.st_mtime))
        return sorted(listed, key=lambda entry: entry.used)

    def read(self, name: str, most: int) -> bytes:
        """A file of at most `most` bytes that nobody but this user can have written."""
        handle = os.open(self._at(name), os.O_RDONLY | _FILE, dir_fd=self.handle)
        try:
            status = os.fstat(handle)
            if not _own_file(status) or status.st_size > most:
                raise CacheError(f"{str(self.path / name)!r} is not a file that armdyn wrote")
            with open(handle, "rb", closefd=False) as stream:
                content = stream.read(most)
        finally:
            os.close(handle)
        if abs(time.time() - status.st_mtime) > DAY:
            with suppress(OSError):
                os.utime(self._at(name), dir_fd=self.handle, follow_symlinks=self.handle is None)
        return content

    def write(self, name: str, content: bytes) -> None:
        """Write a file for this user alone, whole or not at all."""
        with appearing(self._at(name), 0o600, dir_fd=self.handle) as stream:
            stream.write(content)

    def trim(self, suffix: str, most: int | None = None) -> list[Entry]:
        """Remove the least recently used beyond `most` bytes; without `most` nothing stays.

        Returns what was removed.
        """
        entries, removed = self.entries(suffix), []
        sizes = [*accumulate(entry.size for entry in reversed(entries))][::-1]  # from each one on
        for entry, size in zip(entries, sizes, strict=True):
            if most is None or size > most:
                with suppress(FileNotFoundError):
                    os.unlink(self._at(entry.name), dir_fd=self.handle)
                    removed.append(entry)
        return removed

    def _at(self, name: str) -> str:
        return str(self.path / name) if self.handle is None else name


@contextmanager
def opened(path: Path, create: bool = False) -> Iterator[PrivateFolder]:
    """A folder, made first if wanted; a CacheError if it is no folder of this user.

    Links above it are followed, once.
    """
    path = Path(os.path.realpath(path.parent)) / path.name
    if create and not os.path.lexists(path):
        _check_parents(path)
        for folder in reversed((path, *path.parents)):
            with suppress(FileExistsError):
                folder.mkdir(0o700)
    if not POSIX:
        yield PrivateFolder(path, None)
        return
    try:
        handle = os.open(path, _FOLDER)
    except FileNotFoundError:
        raise
    except OSError as error:
        what = "is a symbolic link" if path.is_symlink() else f"cannot be opened: {error.strerror}"
        raise CacheError(_refusal(path, what)) from error
    try:
        owner = os.fstat(handle).st_uid
        if owner != os.geteuid():
            raise CacheError(_refusal(path, f"belongs to another user (number {owner})"))
        _check_parents(path)
        yield PrivateFolder(path, handle)
    finally:
        os.close(handle)


def _check_parents(path: Path) -> None:
    """Refuse a folder that another user could move away, to put one of his own in its place."""
    if not POSIX:
        return
    user = os.geteuid()
    trusted = {user, 0, os.stat("/").st_uid}  # in a container root can have another number
    for parent in path.parents:
        with suppress(FileNotFoundError):
            status = os.stat(parent)
            own_group = user != 0 and status.st_gid == user  # by custom, nobody else is in it
            writers = status.st_mode & (stat.S_IWOTH if own_group else _OTHERS_WRITE)
            if status.st_uid not in trusted or (writers and not status.st_mode & stat.S_ISVTX):
                raise CacheError(_refusal(path, f"is in {str(parent)!r}, which others can change"))


def _own_file(status: os.stat_result) -> bool:
    """Whether it is a plain file under one name (or none, if it was just replaced), and ours."""
    private = not POSIX or (
        status.st_uid == os.geteuid()
        and not status.st_mode & _OTHERS_WRITE
        and status.st_nlink <= 1
    )
    return stat.S_ISREG(status.st_mode) and private


def _refusal(path: Path, what: str) -> str:
    return (
        f"the folder {str(path)!r} {what}; expected a folder of this user, so it is left alone and "
        "nothing is kept there. Remove it, or name another place with ARMDYN_CACHE_DIR"
    )


_HEAD = len(b"armdyn 1 \n") + 2 * hashlib.sha256().digest_size


@dataclass(frozen=True, slots=True)
class Shelf:
    """Contents by keys, which are digests; whatever else is in the folder is left alone.

    A file counts only if nobody else can have written it, and if it begins with a digest of the
    format, the key and the content.
    """

    folder: Path
    suffix: str
    """Of the names of files; a key comes before it."""
    largest: int
    """Bytes that a file may have."""
    most: int
    """Bytes of all files beyond which the least recently used are removed."""

    def get(self, key: str) -> bytes | None:
        """What was put, bit for bit, or None."""
        name = self._name(key)
        try:
            with opened(self.folder) as folder:
                data = b"" if folder.open_to_others else folder.read(name, self.largest)
        except OSError:
            return None
        content = data[_HEAD:]
        return content if data[:_HEAD] == _head(name, content) else None

    def put(self, key: str, content: bytes) -> None:
        """Keep content; if that is not possible, it is not kept, and that is no error."""
        name = self._name(key)
        if _HEAD + len(content) > self.largest:
            return
        with suppress(OSError), opened(self.folder, create=True) as folder:
            doubtful = folder.open_to_others
            if folder.handle is not None:
                mode = stat.S_IMODE(os.fstat(folder.handle).st_mode)
                if mode & _OTHERS:  # group and others
                    os.fchmod(folder.handle, mode & ~_OTHERS)
            if doubtful:
                folder.trim(self.suffix)
            folder.write(name, _head(name, content) + content)
            folder.trim(self.suffix, self.most)

    def _name(self, key: str) -> str:
        if not re.fullmatch(r"([0-9a-f]{32}){1,2}", key):
            expected = "expected 32 or 64 lower-case hex digits"
            raise CacheError(f"the key {key!r} is no digest: {expected}")
        return key + self.suffix

    def entries(self) -> list[Entry]:
        """What is there, the least recently used first."""
        with suppress(FileNotFoundError), opened(self.folder) as folder:
            return folder.entries(self.suffix)
        return []

    def clear(self) -> list[Entry]:
        """Remove everything, and what killed processes left; returns what was removed."""
        try:
            with suppress(FileNotFoundError), opened(self.folder) as folder:
                remove_abandoned(
                    "" if folder.handle is not None else str(folder.path), folder.handle
                )
                return folder.trim(self.suffix)
        except PermissionError as error:
            raise CacheError(
                f"cannot remove files from {str(self.folder)!r}: {error.strerror}; "
                "make the folder writable"
            ) from error
        return []


def _head(name: str, content: bytes) -> bytes:
    return b"armdyn 1 %s\n" % hashlib.sha256(name.encode() + content).hexdigest().encode()
