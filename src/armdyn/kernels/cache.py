"""Compiled kernels on disk, for this user alone: what is read here is executed later."""

from armdyn.arrays import record
from armdyn.io.shelf import Shelf, cache_folder


@record
class ObjectCache(Shelf):
    """Kernels by their digests, shared by all processes of a user."""

    suffix: str = ".kernel"
    largest: int = 64 * 1024**2
    most: int = 256 * 1024**2

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(entry.size for entry in self.entries())


def user_cache() -> ObjectCache | None:
    """The cache of this user; None if nothing is to be kept on disk."""
    folder = cache_folder("kernels")
    return None if folder is None else ObjectCache(folder)
