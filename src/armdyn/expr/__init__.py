"""The expression graph."""

from armdyn.expr.evaluate import FiniteField as FiniteField
from armdyn.expr.evaluate import evaluate as evaluate
from armdyn.expr.evaluate import proved_equal as proved_equal
from armdyn.expr.graph import Graph as Graph
from armdyn.expr.graph import Node as Node
from armdyn.expr.printer import show as show
from armdyn.expr.visit import reachable as reachable
from armdyn.expr.visit import transcribe as transcribe
