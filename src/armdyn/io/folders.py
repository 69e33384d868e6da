"""Where armdyn keeps what it can compute again."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from armdyn.errors import CacheError

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
