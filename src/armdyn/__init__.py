"""armdyn: the dynamics compiler for robot arms."""

from typing import TYPE_CHECKING, Any

from armdyn import errors as errors
from armdyn.dynamics import Robot as Robot
from armdyn.formulations.ledger import Ledger as Ledger
from armdyn.loading import from_dh as from_dh
from armdyn.loading import load as load
from armdyn.version import __version__ as __version__

if TYPE_CHECKING:
    from armdyn.analysis.compare import compare as compare
    from armdyn.analysis.operations import count_operations as count_operations
    from armdyn.backends.threads import set_threads as set_threads

__all__ = [
    "Ledger",
    "Robot",
    "compare",
    "count_operations",
    "errors",
    "from_dh",
    "load",
    "set_threads",
]

_LATER = {
    "compare": "armdyn.analysis.compare",
    "count_operations": "armdyn.analysis.operations",
    "set_threads": "armdyn.backends.threads",
}
"""Names that are imported when they are first asked for, with the modules they are in."""


def __getattr__(name: str) -> Any:
    if name in _LATER:
        import importlib  # noqa: PLC0415

        return getattr(importlib.import_module(_LATER[name]), name)
    raise AttributeError(f"module 'armdyn' has no attribute {name!r}")
