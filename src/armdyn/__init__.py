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
    from armdyn.analysis.equations.forms import equations as equations
    from armdyn.analysis.operations import count_operations as count_operations
    from armdyn.analysis.simplification.simplify import simplify as simplify
    from armdyn.backends.threads import set_threads as set_threads
    from armdyn.simulation.simulate import simulate as simulate

__all__ = [
    "Ledger",
    "Robot",
    "compare",
    "count_operations",
    "equations",
    "errors",
    "from_dh",
    "load",
    "set_threads",
    "simplify",
    "simulate",
]

_LATER = {
    "compare": "armdyn.analysis.compare",
    "count_operations": "armdyn.analysis.operations",
    "equations": "armdyn.analysis.equations.forms",
    "set_threads": "armdyn.backends.threads",
    "simplify": "armdyn.analysis.simplification.simplify",
    "simulate": "armdyn.simulation.simulate",
}
"""Names that are imported when they are first asked for, with the modules they are in."""


def __getattr__(name: str) -> Any:
    if name in _LATER:
        import importlib  # noqa: PLC0415

        return getattr(importlib.import_module(_LATER[name]), name)
    raise AttributeError(f"module 'armdyn' has no attribute {name!r}")
