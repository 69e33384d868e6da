"""The links that one joint on the base carries, with the short programs of their parts."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.graph.nodes import Graph, Node
from armdyn.shorten.canonical.frames import CanonicalRobot
from armdyn.shorten.canonical.model import branches, members_of_branches
from armdyn.shorten.canonical.regroup import regroup
from armdyn.shorten.parts import Part
from armdyn.shorten.shortest import SearchBudget, shortest_sound
from armdyn.shorten.symbolic import entries, symbolic, valued


@dataclass(frozen=True, slots=True)
class Branch:
    """One branch of a robot whose numbers are parameters of a graph."""

    members: list[int]
    """The places of its links in the robot."""
    numbers: CanonicalRobot
    """Its numbers, prepared for `shortest`."""
    symbols: dict[str, Any]
    """Its entries in the graph, by the names of parameters."""

    @staticmethod
    def all_of(robot: CanonicalRobot, graph: Graph) -> "tuple[Branch, ...]":
        """The branches of a robot of numbers."""
        parts = map(regroup, branches(symbolic(robot, graph)))
        pairs = zip(members_of_branches(robot), parts, strict=True)
        return tuple(Branch(members, valued(part), entries(part)) for members, part in pairs)

    def times(self, factor: float) -> "Branch":
        """The branch with inertias multiplied by a number."""
        heavier = {k: factor * v if k[0] in "JM" else v for k, v in self.symbols.items()}
        return replace(self, symbols=heavier)

    def shortest(
        self, part: Part, given: Mapping[str, Array], rotors: Array, budget: SearchBudget
    ) -> list[Node]:
        """The shortest program of a part, on vectors and inertias of rotors of the whole robot."""
        known = dict(self.symbols)
        for k, i in enumerate(self.members, start=1):
            known |= {f"{name}{k}": given[name][i] for name in part.vectors}
            known[f"Ia{k}"] = rotors[i]
        graph: Graph = rotors[0].graph
        felt = [rotors[i] for i in self.members] if part.rotors else []
        inertias = np.array([graph.values.get(rotor.name, 0.0) for rotor in felt])
        program = shortest_sound(self.numbers, part, budget, inertias)
        return program.nodes(graph, known)
