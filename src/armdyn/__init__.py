"""armdyn: the dynamics compiler for robot arms."""

from armdyn import errors as errors
from armdyn.dynamics import Robot as Robot
from armdyn.formulations.ledger import Ledger as Ledger
from armdyn.loading import from_dh as from_dh
from armdyn.loading import load as load

__version__ = "0.1.0"
__all__ = ["Ledger", "Robot", "errors", "from_dh", "load"]
