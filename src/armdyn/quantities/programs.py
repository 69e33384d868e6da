"""Every quantity of a robot as a straight-line program.

Torques and mass matrices come from the minimal formulation, whatever follows from them by
differentiation comes from the graph, and kinematics from the pages of `armdyn.formulations`.
"""

from collections.abc import Callable, Mapping

import numpy as np

from armdyn.arrays import Array
from armdyn.compiler.program import Program
from armdyn.errors import SingularityError
from armdyn.expr.evaluate import settle
from armdyn.model import RobotModel
from armdyn.quantities.registry import checked
from armdyn.quantities.request import Request
from armdyn.quantities.traced_robot import TracedRobot


def quantity_program(model: RobotModel, request: Request) -> Program:
    """The program of a quantity.

    Its arguments are those of the quantity, then payload, gravity and wrenches if they are asked
    for.
    """
    quantity = checked(request, model)
    traced = TracedRobot(model, request, quantity.arguments)

    def entries() -> Array:
        return quantity.build(traced, *map(traced.vector, quantity.arguments))

    return program_of(traced, quantity.name, entries, traced.inputs)


def program_of(
    traced: TracedRobot, what: str, entries: Callable[[], Array], inputs: Mapping[str, int]
) -> Program:
    """The program of what is made of a robot in a graph.

    Args:
        traced: The robot.
        what: A name for it, for the message if it does not exist.
        entries: Makes the entries.
        inputs: Length of each argument, in order.
    """
    try:
        outputs = traced.nodes(entries())
        settled = np.array(settle(outputs.flat), dtype=object).reshape(outputs.shape)
    except ZeroDivisionError:
        raise SingularityError(
            f"{what}: the mass matrix is singular whatever the configuration, because "
            f"a joint of {traced.model.name!r} moves no inertia; give its link a mass, or the "
            "joint a rotor inertia"
        ) from None
    return Program.from_outputs(settled, inputs)
