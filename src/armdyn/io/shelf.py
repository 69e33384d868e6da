"""Files of one kind that are kept in a folder of this user."""

import re
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from armdyn.errors import CacheError
from armdyn.io.private import Entry, PrivateFolder, opened


@dataclass(frozen=True, slots=True)
class Shelf:
    """Files named by a digest in hex and a suffix; whatever else is in the folder is left alone."""

    folder: Path
    suffix: str

    def load(self, name: str, most: int) -> bytes | None:
        """A file of at most `most` bytes that nobody else can have written, or None."""
        try:
            with opened(self.folder) as folder:
                return None if folder.open_to_others else folder.read(name, most)
        except OSError:
            return None

    def keep(self, name: str, content: bytes, most: int | None = None) -> None:
        """Write a file, and keep at most `most` bytes of files; it is no error if that fails."""
        with suppress(OSError), opened(self.folder, create=True) as folder:
            doubtful = folder.open_to_others
            folder.close_to_others()
            if doubtful:
                self.trim(folder)
            folder.write(name, content)
            if most is not None:
                self.trim(folder, most)

    def entries(self) -> list[Entry]:
        """What is there, the least recently used first."""
        try:
            with opened(self.folder) as folder:
                return self._whole(folder.entries())
        except FileNotFoundError:
            return []

    def clear(self) -> list[Entry]:
        """Remove everything, and what killed processes left; returns what was removed."""
        try:
            with opened(self.folder) as folder:
                folder.remove_abandoned()
                return self.trim(folder)
        except FileNotFoundError:
            return []
        except PermissionError as error:
            raise CacheError(
                f"cannot remove files from {str(self.folder)!r}: {error.strerror}; "
                "make the folder writable"
            ) from error

    def trim(self, folder: PrivateFolder, most: int | None = None) -> list[Entry]:
        """Remove the least recently used beyond `most` bytes; without `most` nothing stays.

        Returns what was removed.
        """
        surplus = entries = self._whole(folder.entries())
        if most is not None:
            total = sum(entry.size for entry in entries)
            surplus = []
            for entry in entries:
                if total <= most:
                    break
                surplus.append(entry)
                total -= entry.size
        return [entry for entry in surplus if folder.remove(entry.name)]

    def _whole(self, entries: list[Entry]) -> list[Entry]:
        name = re.compile(rf"[0-9a-f]+{re.escape(self.suffix)}")
        return sorted((e for e in entries if name.fullmatch(e.name)), key=lambda e: e.used)
