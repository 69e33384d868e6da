"""Where XLA puts what a handler of its foreign function interface reads.

The header of that interface comes with jaxlib and has a version; a handler reads memory by these
offsets, so a version that is not known here gets none.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from armdyn.errors import BridgeError

HEADER = Path("xla", "ffi", "api", "c_api.h")


@dataclass(frozen=True, slots=True)
class Layout:
    """Offsets in bytes, for pointers of eight bytes."""

    major: int
    minor: int
    extensions: int = 8
    """Of the list of extensions in a call frame."""
    arguments: int = 72
    """Of the pointer to the arguments in a call frame."""
    results: int = 112
    """Of the pointer to the results in a call frame."""
    data: int = 24
    """Of the numbers in a buffer, then its rank and its dimensions."""
    rank: int = 32
    dimensions: int = 40
    kind: int = 8
    """Of the type of an extension, and of the metadata in one of the type `metadata_kind`."""
    metadata: int = 24
    metadata_kind: int = 1
    version: int = 24
    """Of the two numbers of the version in metadata."""


LAYOUTS = {(0, minor): Layout(0, minor) for minor in (3,)}
"""By the version of the header."""


def layout(include: str) -> Layout:
    """The layout of the jaxlib whose headers are in a folder; a BridgeError if it is not known."""
    version = _header_version(Path(include, HEADER))
    if version in LAYOUTS:
        return LAYOUTS[version]
    known = ", ".join(f"{major}.{minor}" for major, minor in LAYOUTS)
    found = "none that can be read" if version is None else "version {}.{}".format(*version)
    raise BridgeError(
        "this jaxlib has a foreign function interface of XLA whose version armdyn does not know "
        f"({HEADER.as_posix()}: {found}; known: {known}): kernels cannot be called from JAX. Use "
        "robot.jax(..., program=True), which needs no kernel, or another jaxlib"
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
