"""The augmented-body method counted step by step, as Renaud's table does."""

from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from armdyn.arrays import Array, frozen
from armdyn.formulations.augmented_body import augmented_body
from armdyn.graph.count import NO_OPERATIONS, Operations, count, count_nodes
from armdyn.graph.nodes import Graph, Node
from armdyn.graph.visit import reachable
from armdyn.model import RobotModel
from armdyn.shorten.canonical.frames import canonical
from armdyn.shorten.canonical.model import branches, model_from_canonical
from armdyn.shorten.canonical.regroup import axis_in_parent
from armdyn.shorten.symbolic import symbolic
from armdyn.study.operations.count import count_operations, stage_count, traced
from armdyn.study.operations.methods import METHODS

STEPS = {
    "1a, 1b": "angular velocity ω",
    "2": "its products ω ωᵀ",
    "3a, 3b": "angular acceleration a",
    "4": "b = S(a) + S(ω)²",
    "5, 6": "acceleration α of the origins",
    "7, 8": "forces e",
    "9, 10": "moments n and torques",
}
"""The steps of the method, and what each computes."""
PAPER = {
    "1a, 1b": Operations(18, 12),
    "2": Operations(25, 0),
    "3a, 3b": Operations(28, 22),
    "4": Operations(0, 15),
    "5, 6": Operations(22, 12),
    "7, 8": Operations(26, 16),
    "9, 10": Operations(62, 50),
}
"""What the paper prints for its 6R arm; its total is 181 + 127."""
PAPER_MERGED = Operations(164, 115)
"""What it prints after y5 and z6, which act only as y5 - z6, are merged by hand."""
METHOD = next(method for method in METHODS if method.name == "augmented_body")


@dataclass(frozen=True, slots=True)
class StepCount:
    """What one step of the method costs."""

    name: str
    quantity: str
    operations: Operations


def augmented_body_steps(model: RobotModel) -> list[StepCount]:
    """The operations of each step that reach the torques, every one counted where it is first made.

    A product that two steps use belongs to the first of them.
    """
    made: dict[str, list[Node]] = {name: [] for name in STEPS}
    for part in branches(canonical(model)):
        graph = Graph()
        symbols = model_from_canonical(symbolic(part, graph))
        motion = (graph.inputs(name, len(symbols.joints)) for name in ("q", "qd", "qdd"))
        bodies = augmented_body(symbols, *motion)
        live = {node.index for node in reachable(_nodes(graph, bodies.tau))}
        products = [w[:, None] * w[None, :] for w in bodies.w]
        stages = bodies.w, products, bodies.a, bodies.b, bodies.alpha, bodies.e, [bodies.tau]
        for name, arrays in zip(STEPS, stages, strict=True):
            for node in reachable(node for array in arrays for node in _nodes(graph, array)):
                if node.index in live:
                    live.remove(node.index)
                    made[name].append(node)
    return [StepCount(name, STEPS[name], count_nodes(nodes)) for name, nodes in made.items()]


def _nodes(graph: Graph, array: Array) -> list[Node]:
    found = (graph.node(value) for value in np.ravel(np.asarray(array, dtype=object)))
    return [node for node in found if node is not None]


@dataclass(frozen=True, slots=True)
class StepsReport:
    """The steps of the method for one robot, beside the paper's where it is the paper's robot."""

    steps: list[StepCount]
    paper: dict[str, Operations] | None
    notes: list[str]

    def data(self) -> dict[str, Any]:
        """The report as plain data."""
        return {
            "steps": [
                {
                    "step": step.name,
                    "quantity": step.quantity,
                    "counted": asdict(step.operations),
                    "printed": asdict(self.paper[step.name]) if self.paper else None,
                }
                for step in self.steps
            ],
            "notes": self.notes,
        }


def steps_report(model: RobotModel) -> StepsReport:
    """The steps with their totals, and what regrouping makes of them."""
    steps = augmented_body_steps(model)
    total = sum((step.operations for step in steps), NO_OPERATIONS)
    notes = [f"counted {total}"]
    paper = PAPER if model.name == "renaud_6r" else None
    if paper:
        notes = [
            f"counted {total}, printed {sum(PAPER.values(), NO_OPERATIONS)}: two products of "
            "step 3 are products of step 2 as well, and are counted there once",
            f"with y5 and z6 merged into y5 - z6: counted {_merged_count(model)}, printed "
            f"{PAPER_MERGED}",
        ]
    regrouped, reduced = (stage_count(model, METHOD, stage) for stage in ("regrouped", "minimal"))
    notes += [
        f"on base parameters, gathered by machine: {regrouped}; after all passes {reduced}",
        f"by the minimal formulation: {count_operations(model)}",
    ]
    return StepsReport(steps, paper, notes)


def _merged_count(model: RobotModel) -> Operations:
    """The count with the first moment along the last axis handed to link 5, as the paper does."""
    robot = canonical(model)
    *first, fifth, sixth = robot.links
    axis, _ = axis_in_parent(sixth)
    fifth = replace(fifth, u=frozen(fifth.u + sixth.u[2] * axis))
    sixth = replace(sixth, u=frozen([sixth.u[0], sixth.u[1], 0.0]))
    return count(traced(replace(robot, links=(*first, fifth, sixth)), METHOD))
