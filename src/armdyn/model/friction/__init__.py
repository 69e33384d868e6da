"""Friction laws: each file holds one term, and `law` adds them up."""

from armdyn.model.friction.law import PARAMETERS as PARAMETERS
from armdyn.model.friction.law import TERMS as TERMS
from armdyn.model.friction.law import FrictionLaw as FrictionLaw
