"""Quantities of a robot as functions of CasADi."""

from typing import Any

import numpy as np

from armdyn.arrays import check_text
from armdyn.errors import BridgeError, shown
from armdyn.export.library import ARITHMETIC, array_functions, check_library
from armdyn.export.names import identifier
from armdyn.graph.program import Program
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
    result = _matrix(casadi, program, outputs)
    return casadi.Function(name, vectors, [result], names, [f"{request.quantity}_result"])


def _matrix(casadi: Any, program: Program, outputs: list[Any]) -> Any:
    """The outputs in two axes, where those that are always zero take no room."""
    shape = program.shape
    rows, columns = (int(np.prod(shape[:-1])), shape[-1]) if len(shape) > 1 else (len(outputs), 1)
    column_major = [outputs[r * columns + c] for c in range(columns) for r in range(rows)]
    return casadi.sparsify(casadi.reshape(casadi.vertcat(*column_major), rows, columns))
