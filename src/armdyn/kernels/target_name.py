"""The name of a kernel in other libraries, which may keep it for good or on disk."""

import hashlib

from armdyn.kernels.kernel import Kernel
from armdyn.version import __version__


def target_name(kernel: Kernel) -> str:
    """A name that this and no other kernel has."""
    what = repr((kernel.model.digest, kernel.request, kernel.dtype, __version__))
    return f"armdyn.{kernel.request.quantity}.{hashlib.sha256(what.encode()).hexdigest()[:24]}"
