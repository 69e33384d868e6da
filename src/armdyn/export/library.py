"""Bridges to other libraries: whether one is there, and what a kernel is called in it."""

import hashlib
import re
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec

from armdyn.errors import BridgeError, MissingExtraError
from armdyn.kernels.kernel import Kernel
from armdyn.version import __version__

LEAST = {"jax": (0, 10), "torch": (2, 4), "casadi": (3, 6)}
"""The oldest version of each library that armdyn asks for; its extras say the same."""


def check_library(name: str, purpose: str) -> None:
    """A MissingExtraError if a library is not installed, a BridgeError if it is too old."""
    if find_spec(name) is None:
        raise MissingExtraError(name, name, purpose)
    try:
        found = version(name)
    except PackageNotFoundError:  # found on the path, not installed
        return
    numbers = tuple(int(part) for part in re.findall(r"\d+", found)[:2])
    if numbers < LEAST[name]:
        least = ".".join(map(str, LEAST[name]))
        raise BridgeError(
            f"{purpose} needs {name} {least} or later, found {found}. Install a newer one with: "
            f"pip install '{name}>={least}'"
        )


def target_name(kernel: Kernel) -> str:
    """A name that this and no other kernel has, as libraries may keep it for good or on disk."""
    what = repr((kernel.model.digest, kernel.request, kernel.dtype, __version__))
    return f"armdyn.{kernel.request.quantity}.{hashlib.sha256(what.encode()).hexdigest()[:24]}"
