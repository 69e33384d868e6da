"""The one writer of files, which appear whole or not at all.

The content goes to a temporary file in the same folder, which takes the place of the old file at
the end. Links are followed. What is no plain file, or has several names, is never replaced: it gets
the content when that is complete.

A temporary file is locked while its process lives. The next write to the folder removes those
without a lock, which killed processes left.
"""

import os
import re
import secrets
import shutil
import signal
import stat
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import IO, Any

from armdyn.errors import WriteError
from armdyn.io.regular import check_path

try:
    import fcntl
except ImportError:  # Windows, which removes no file that is open
    fcntl = None  # type: ignore[assignment]

POSIX = os.name == "posix"
STANDARD_OUTPUT = "-"
MAX_LINKS = 40
"""Links that lead to a file one after the other; Linux follows as many."""

_PART = re.compile(r"\.armdyn-[0-9a-f]{16}\.part")
_SAFE = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOCTTY", 0)
_AT_ONCE = getattr(os, "O_NONBLOCK", 0)


@contextmanager
def replacing(path: str | Path) -> Iterator[IO[bytes]]:
    """A stream whose content goes to `path` if the block succeeds; "-" is standard output."""
    with writing(repr(str(path))), _destination(str(check_path(path))) as stream:
        yield stream


@contextmanager
def writing(what: str, advice: str = "") -> Iterator[None]:
    """Make errors of the system in the block a WriteError that names what was written."""
    try:
        yield
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise WriteError(f"cannot write {what}: {reason}{advice}") from error


def write_text(path: str | Path, text: str) -> None:
    """Write text as UTF-8, whole or not at all."""
    with replacing(path) as stream:
        stream.write(text.encode("utf-8"))


def ending(path: str | Path, standard: str) -> str:
    """The ending of a path in lower case, or the `standard` one for standard output."""
    return standard if str(path) == STANDARD_OUTPUT else check_path(path).suffix.lower()


def _destination(path: str) -> Any:
    """The stream of the way in which content gets to a path."""
    if path == STANDARD_OUTPUT:
        binary = getattr(sys.stdout, "buffer", None)
        if binary is None:
            raise OSError("standard output takes no bytes here")
        return _poured(lambda: nullcontext(binary))
    descriptor = _descriptor(path)
    if descriptor is not None:
        return _poured(lambda: open(os.dup(descriptor), "wb"))
    path = os.path.realpath(path)
    try:
        old = os.lstat(path)
    except FileNotFoundError:
        return appearing(path)
    if stat.S_ISBLK(old.st_mode):
        raise OSError("it is a disk")
    if stat.S_ISREG(old.st_mode) and old.st_nlink == 1:
        if not os.access(path, os.W_OK):
            raise OSError("it is write-protected")
        return appearing(path, old=old)
    return _poured(lambda: _open_existing(path))


def _descriptor(path: str) -> int | None:
    """The number of the open file of this process that a path such as /dev/stdout names."""
    for _ in range(MAX_LINKS):
        folder, name = os.path.split(path)
        folder = os.path.realpath(folder)
        if folder in (f"/proc/{os.getpid()}/fd", "/dev/fd") and name.isdecimal():
            return int(name)
        if not os.path.islink(path):
            break
        path = os.path.join(folder, os.readlink(path))
    return None


@contextmanager
def _poured(target: Any) -> Iterator[IO[bytes]]:
    """A stream whose content is written to the stream that `target()` opens at the end."""
    with tempfile.TemporaryFile() as stream:
        yield stream
        stream.seek(0)
        sys.stdout.flush()  # which may be the same file
        with target() as into:
            shutil.copyfileobj(stream, into)
            into.flush()


def _open_existing(path: str) -> IO[bytes]:
    """A pipe, a device or a file, opened to be written; a pipe that nobody reads is an error."""
    handle = os.open(path, os.O_WRONLY | os.O_TRUNC | _SAFE | _AT_ONCE)
    os.set_blocking(handle, True)
    return open(handle, "wb")


@contextmanager
def appearing(
    path: str, mode: int = 0o666, old: os.stat_result | None = None, dir_fd: int | None = None
) -> Iterator[IO[bytes]]:
    """A stream to a temporary file that becomes `path` if the block succeeds.

    It gets the mode, less the umask of the process, or owner and mode of the `old` file. The path
    is relative to the open folder `dir_fd`, if there is one.
    """
    folder = os.path.dirname(path)
    remove_abandoned(folder, dir_fd)
    part = os.path.join(folder, f".armdyn-{secrets.token_hex(8)}.part")
    with _removed_at_the_end(part, dir_fd):
        with open(_created(part, mode, dir_fd), "wb") as stream:
            yield stream
            stream.flush()
            if old is not None and POSIX:
                with suppress(OSError):  # only root gives files away
                    os.fchown(stream.fileno(), old.st_uid, old.st_gid)
                os.fchmod(stream.fileno(), stat.S_IMODE(old.st_mode) & 0o777)
            if POSIX:  # before the lock is lost
                os.replace(part, path, src_dir_fd=dir_fd, dst_dir_fd=dir_fd)
        if not POSIX:  # Windows renames no open file
            os.replace(part, path)


def _created(part: str, mode: int, dir_fd: int | None) -> int:
    """A new file, locked."""
    while True:
        handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _SAFE, mode, dir_fd=dir_fd)
        if fcntl is None:
            return handle
        with suppress(OSError):  # some network drives have no locks
            fcntl.flock(handle, fcntl.LOCK_EX)
        if os.fstat(handle).st_nlink:
            return handle
        os.close(handle)  # another process took it for abandoned before it was locked


@contextmanager
def _removed_at_the_end(part: str, dir_fd: int | None) -> Iterator[None]:
    """Remove a temporary file after the block, and before a signal ends the process."""
    process = os.getpid()

    def remove() -> None:
        if os.getpid() == process:  # a fork has the handler too, but not the file
            with suppress(OSError):
                os.unlink(part, dir_fd=dir_fd)

    def end(number: int, _: object) -> None:
        remove()
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    ending = [signal.SIGTERM, *([signal.SIGHUP] if POSIX else [])]
    main = threading.current_thread() is threading.main_thread()
    handled = [s for s in ending if main and signal.getsignal(s) is signal.SIG_DFL]
    for number in handled:
        signal.signal(number, end)
    try:
        yield
    finally:
        remove()
        for number in handled:
            signal.signal(number, signal.SIG_DFL)


def remove_abandoned(folder: str, dir_fd: int | None = None) -> None:
    """Remove the temporary files of processes that are no more."""
    with suppress(OSError):
        for name in os.listdir((folder or ".") if dir_fd is None else dir_fd):
            if _PART.fullmatch(name):
                with suppress(OSError):
                    _remove_unlocked(os.path.join(folder, name), dir_fd)


def _remove_unlocked(part: str, dir_fd: int | None) -> None:
    if fcntl is None:
        os.unlink(part)
        return
    handle = os.open(part, os.O_RDWR | _SAFE | _AT_ONCE, dir_fd=dir_fd)
    try:
        status = os.fstat(handle)
        if stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid():
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.unlink(part, dir_fd=dir_fd)
    finally:
        os.close(handle)
