"""Programs that were searched for, by the pattern of the robot that they are for.

Those of common robots come with armdyn, in one archive; what deep searches find is kept in a folder
of the user. A program depends on the pattern alone, so whoever has it saves time, and nobody gets
another one.
"""

import hashlib
import io
import json
import zipfile
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import as_file, files
from typing import Any

from armdyn.forks import lock_over_fork
from armdyn.graph.program import Program
from armdyn.io.shelf import Shelf, cache_folder
from armdyn.version import __version__

FORMAT = 1
"""Changes with the meaning of a key, so that old programs are not taken for new ones."""
FOLDER, SUFFIX = "programs", ".json"
LARGEST_FILE = 16 * 1024**2
"""Bytes of one file."""
LARGEST_CACHE = 64 * 1024**2
"""Bytes of all of them."""
SHIPPED = "shipped.zip"
"""The archive beside this file."""

_LOCK = lock_over_fork()


def key_of(what: Any, pattern: list[Any]) -> str:
    """The name under which the program of a part of a quantity is kept for a pattern."""
    return hashlib.sha256(json.dumps([FORMAT, what, pattern]).encode()).hexdigest()[:32]


def shipped(key: str) -> Program | None:
    """The program that comes with armdyn, or None."""
    with _LOCK:
        archive = _archive()
        if archive is None or key not in archive.namelist():
            return None
        return Program.from_data(json.loads(archive.read(key)))


@lru_cache(maxsize=1)
def _archive() -> zipfile.ZipFile | None:
    try:
        with as_file(files(__package__) / SHIPPED) as path:
            # in memory: forks would share the place in an open file
            return zipfile.ZipFile(io.BytesIO(path.read_bytes()))
    except FileNotFoundError:
        return None


@dataclass(frozen=True, slots=True)
class ProgramStore(Shelf):
    """A folder of small JSON files; a damaged or foreign one is as good as none."""

    suffix: str = SUFFIX

    def find(self, key: str) -> Program | None:
        """The program that this version of armdyn kept, or None."""
        content = self.load(key + SUFFIX, LARGEST_FILE)
        try:
            version, digest, text = json.loads(content or b"")
            if version != __version__ or digest != _digest(text):
                return None
            return Program.from_data(json.loads(text))
        except (ValueError, TypeError, AttributeError, RecursionError):
            return None

    def store(self, key: str, program: Program) -> None:
        """Keep a program; a folder that cannot be written is no error."""
        text = json.dumps(program.data())
        content = json.dumps([__version__, _digest(text), text]).encode()
        self.keep(key + SUFFIX, content, LARGEST_CACHE)


def user_programs() -> ProgramStore | None:
    """The programs kept for this user; None if nothing is to be kept on disk."""
    folder = cache_folder(FOLDER)
    return None if folder is None else ProgramStore(folder)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
