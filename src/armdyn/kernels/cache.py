"""Compiled kernels on disk, for this user alone.

What is read here is executed later, so a file counts only if nobody else can have written it and
if it begins with a digest of the format, the key and the content.
"""

import hashlib
import re
from dataclasses import dataclass

from armdyn.errors import CacheError
from armdyn.io.shelf import Shelf, cache_folder

MAGIC = b"armdyn kernel 1\n"
"""Changes with the layout of the file."""
FOLDER = "kernels"
SUFFIX = ".kernel"
LARGEST_FILE = 64 * 1024**2
"""Bytes of one file."""
LARGEST_CACHE = 256 * 1024**2
"""Bytes of all of them."""

_HEAD = len(MAGIC) + hashlib.sha256().digest_size


@dataclass(frozen=True, slots=True)
class ObjectCache(Shelf):
    """Bytes by keys, shared by all processes of a user; a key is a SHA-256 digest in hex."""

    suffix: str = SUFFIX
    most: int = LARGEST_CACHE
    """Bytes beyond which the least recently used are removed."""

    def get(self, key: str) -> bytes | None:
        """What was put, bit for bit, or None."""
        data = self.load(_name(key), LARGEST_FILE)
        if data is None or data[:_HEAD] != _head(key, data[_HEAD:]):
            return None
        return data[_HEAD:]

    def put(self, key: str, content: bytes) -> None:
        """Keep content; if that is not possible, it is not kept, and that is no error."""
        name = _name(key)
        if _HEAD + len(content) <= LARGEST_FILE:
            self.keep(name, _head(key, content) + content, self.most)

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(entry.size for entry in self.entries())


def user_cache() -> ObjectCache | None:
    """The cache of this user; None if nothing is to be kept on disk."""
    folder = cache_folder(FOLDER)
    return None if folder is None else ObjectCache(folder)


def _name(key: str) -> str:
    if not re.fullmatch(r"[0-9a-f]{64}", key):
        raise CacheError(f"the key {key!r} is no SHA-256 digest: expected 64 lower-case hex digits")
    return key + SUFFIX


def _head(key: str, content: bytes) -> bytes:
    return MAGIC + hashlib.sha256(MAGIC + key.encode() + content).digest()
