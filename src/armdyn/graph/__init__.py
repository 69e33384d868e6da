"""The expression graph."""

from armdyn.graph.evaluate import evaluate as evaluate
from armdyn.graph.field import FiniteField as FiniteField
from armdyn.graph.field import proved_equal as proved_equal
from armdyn.graph.nodes import Graph as Graph
from armdyn.graph.nodes import Node as Node
from armdyn.graph.visit import reachable as reachable
from armdyn.graph.visit import transcribe as transcribe
