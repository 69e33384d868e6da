"""armdyn: the dynamics compiler for robot arms."""

from typing import TYPE_CHECKING, Any

from armdyn import errors as errors
from armdyn.dynamics import Robot as Robot
from armdyn.formulations.ledger import Ledger as Ledger
from armdyn.loading import from_dh as from_dh
from armdyn.loading import load as load

if TYPE_CHECKING:
    from armdyn.analysis.operations import count_operations as count_operations

__version__ = "0.1.0"
__all__ = ["Ledger", "Robot", "count_operations", "errors", "from_dh", "load"]

_LATER = {"count_operations": "armdyn.analysis.operations"}
"""Names that are imported when they are first asked for, with the modules they are in."""


def __getattr__(name: str) -> Any:
    if name in _LATER:
        import importlib  # noqa: PLC0415

        return getattr(importlib.import_module(_LATER[name]), name)
    raise AttributeError(f"module 'armdyn' has no attribute {name!r}")
