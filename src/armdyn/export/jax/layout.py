"""Where XLA puts what a handler of its foreign function interface reads.

The header of that interface comes with jaxlib and has a version; a handler reads memory by these
offsets, so a version that is not known here gets none.
"""

import re
from pathlib import Path

from armdyn.errors import BridgeError

HEADER = Path("xla", "ffi", "api", "c_api.h")


VERSION = 0, 3
"""The one that is known; all offsets are of it, in bytes, for pointers of eight bytes."""
EXTENSIONS, ARGUMENTS, RESULTS = 8, 72, 112
"""Of the list of extensions in a call frame, and of the pointers to arguments and results there."""
DATA, RANK, DIMENSIONS = 24, 32, 40
"""Of the numbers in a buffer, then its rank and its dimensions."""
KIND, METADATA, METADATA_KIND = 8, 24, 1
"""Of the type of an extension, and of the metadata in one of the type `METADATA_KIND`."""
METADATA_VERSION = 24
"""Of the two numbers of the version in metadata."""


def check_version(include: str) -> None:
    """A BridgeError if the jaxlib whose headers are in a folder has another version."""
    version = _header_version(Path(include, HEADER))
    if version == VERSION:
        return
    found = "none that can be read" if version is None else "version {}.{}".format(*version)
    raise BridgeError(
        "this jaxlib has a foreign function interface of XLA whose version armdyn does not know "
        f"({HEADER.as_posix()}: {found}; known: {'.'.join(map(str, VERSION))}): kernels cannot be "
        "called from JAX. Use robot.jax(..., program=True), which needs no kernel, or another "
        "jaxlib"
    )


def _header_version(header: Path) -> tuple[int, int] | None:
    try:
        text = header.read_text(encoding="utf-8")
    except OSError:
        return None
    found = [re.search(rf"^#define XLA_FFI_API_{w} (\d+)$", text, re.M) for w in ("MAJOR", "MINOR")]
    if found[0] is None or found[1] is None:
        return None
    return int(found[0][1]), int(found[1][1])
