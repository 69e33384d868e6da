"""Programs that were searched for, by the pattern of the robot that they are for.

Those of common robots come with armdyn, in one archive; what deep searches find is kept in a folder
of the user. A program depends on the pattern alone, so whoever has it saves time, and nobody gets
another one.
"""

import hashlib
import io
import json
import zipfile
from functools import lru_cache
from importlib.resources import as_file, files
from typing import Any

from armdyn.arrays import record
from armdyn.forks import lock_over_fork
from armdyn.graph.program import Program
from armdyn.io.shelf import Shelf, cache_folder
from armdyn.version import __version__

FORMAT = 1
"""Changes with the meaning of a key, so that old programs are not taken for new ones."""
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


@record
class ProgramStore(Shelf):
    """Programs by their keys; a damaged file or one of another version is as good as none."""

    suffix: str = ".json"
    largest: int = 16 * 1024**2
    most: int = 64 * 1024**2

    def find(self, key: str) -> Program | None:
        """The program that this version of armdyn kept, or None."""
        content = self.get(key)
        if content is None:
            return None
        version, data = json.loads(content)
        return Program.from_data(data) if version == __version__ else None

    def store(self, key: str, program: Program) -> None:
        """Keep a program; a folder that cannot be written is no error."""
        self.put(key, json.dumps([__version__, program.data()]).encode())


def user_programs() -> ProgramStore | None:
    """The programs kept for this user; None if nothing is to be kept on disk."""
    folder = cache_folder("programs")
    return None if folder is None else ProgramStore(folder)
