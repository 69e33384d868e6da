"""Quantities of a robot as functions of CasADi."""

from typing import Any

from armdyn.arrays import check_text
from armdyn.errors import BridgeError, shown
from armdyn.export.library import ARITHMETIC, array_functions, check_library
from armdyn.export.names import identifier
from armdyn.model import RobotModel
from armdyn.quantities.program import quantity_program
from armdyn.quantities.request import Request


def casadi_function(model: RobotModel, request: Request, name: str | None) -> Any:
    """A quantity as a `casadi.Function`, as `Robot.casadi` explains it."""
    check_library("casadi", "a function of CasADi")
    import casadi  # noqa: PLC0415

    program = quantity_program(model, request)
    name = request.quantity if name is None else check_text("name of a function", name)
    if not name.isascii() or not casadi.Function.check_name(name):
        raise BridgeError(f"name: CasADi takes letters, digits and single _, got {shown(name)}")
    vectors = [casadi.SX.sym(i.name, len(i.symbols)) for i in program.inputs]
    entries = [vector[k] for vector in vectors for k in range(vector.numel())]
    table = array_functions(casadi, casadi.if_else) | {"angle_sum": ARITHMETIC["add"]}
    outputs = program.evaluated(entries, table)
    names = [identifier(i.name) if " " in i.name else i.name for i in program.inputs]
    columns = program.shape[-1] if len(program.shape) > 1 else 1
    by_columns = [y for c in range(columns) for y in outputs[c::columns]]
    matrix = casadi.reshape(casadi.vertcat(*by_columns), len(outputs) // columns, columns)
    result = casadi.sparsify(matrix)  # what is always zero takes no room
    return casadi.Function(name, vectors, [result], names, [f"{request.quantity}_result"])
