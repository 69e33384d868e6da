"""The one way in which files of the user are opened: regular files of a bounded size, no others."""

import os
import stat
from collections.abc import Callable
from pathlib import Path

from armdyn.errors import ArmdynError, ModelError, shown

MAX_BYTES = 20 * 2**20
"""Largest description of a robot that is read [bytes]; the largest in use have a hundredth of it.
"""
_READ_ONLY = os.O_RDONLY | sum(
    getattr(os, flag, 0) for flag in ("O_NONBLOCK", "O_NOCTTY", "O_CLOEXEC", "O_BINARY")
)


def check_path(value: object) -> Path:
    """The path that a text or a path is, or a ModelError."""
    if not isinstance(value, str | Path):
        raise ModelError(f"expected a path, got {shown(value)}")
    try:
        if b"\0" not in os.fsencode(value):
            return Path(value)
    except UnicodeError:
        pass
    raise ModelError(f"no path has such a character in it, got {shown(value)}")


def read_regular(
    path: str | Path, refusal: Callable[[str], ArmdynError], most: int = MAX_BYTES
) -> bytes:
    """The content of a file of at most `most` bytes; `refusal` makes an error of a reason.

    A pipe is not waited for, a device is not opened, and what a file gains while it is read counts.
    """
    try:
        size = _size(os.stat(path), refusal)
        if size <= most:
            handle = os.open(path, _READ_ONLY)
            with open(handle, "rb") as file:
                size = _size(os.fstat(handle), refusal)
                data = file.read(size + 1) if size <= most else b""
                if len(data) > size:  # it grows, or its size is not known
                    data += file.read(most + 1 - len(data))
            size = max(size, len(data))
    except FileNotFoundError:
        raise refusal("there is no such file") from None
    except PermissionError:
        raise refusal("no permission to read this file") from None
    except ArmdynError:
        raise
    except (OSError, ValueError) as reason:
        text = getattr(reason, "strerror", None) or reason
        raise refusal(f"cannot be read: {text}") from reason
    if size > most:
        raise refusal(too_large(size, most))
    return data


def check_regular(
    path: str | Path, refusal: Callable[[str], ArmdynError], most: int = MAX_BYTES
) -> None:
    """Refuse a file that another library will open, as `read_regular` does; none is no fault."""
    if os.path.exists(path) and (size := _size(os.stat(path), refusal)) > most:
        raise refusal(too_large(size, most))


def _size(status: os.stat_result, refusal: Callable[[str], ArmdynError]) -> int:
    if stat.S_ISDIR(status.st_mode):
        raise refusal("this is a directory, which is no regular file; give the file in it")
    if not stat.S_ISREG(status.st_mode):
        raise refusal("this is a device or a pipe, which is no regular file; save its content")
    return status.st_size


def too_large(size: int, most: int = MAX_BYTES) -> str:
    """Why a file of so many bytes is refused."""
    return f"the file has {size / 2**20:.1f} MB, more than the {most // 2**20} MB that are read"
