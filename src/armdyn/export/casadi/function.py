"""Quantities of a robot as functions of CasADi."""

from collections.abc import Callable
from typing import Any

import numpy as np

from armdyn.arrays import RELATIVE_PIVOT
from armdyn.export.library import check_library
from armdyn.export.library_tables import ARITHMETIC
from armdyn.export.names import identifier
from armdyn.graph.program import Program
from armdyn.model import RobotModel
from armdyn.quantities.program import quantity_program
from armdyn.quantities.request import request_of


def casadi_function(
    model: RobotModel, quantity: str, *, name: str | None = None, **options: Any
) -> Any:
    """A quantity as a `casadi.Function` on SX symbols, from the program that kernels are made from.

    CasADi differentiates it exactly, evaluates it in its own way and writes it as C.

    Args:
        model: The robot.
        quantity: As in `Robot.kernel`, and so are the other options but `dtype`.
        name: Of the function; None: that of the quantity.
        options: Those of `Robot.kernel`.

    Returns:
        A function of column vectors by their names in the kernel ("q", "qd", ...). Its result is a
        column or a matrix; what has more axes is stacked row by row, as (2 n, n) for (2, n, n).
    """
    check_library("casadi", "a function of CasADi")
    import casadi  # noqa: PLC0415

    program = quantity_program(model, request_of(quantity, **options))
    vectors = [casadi.SX.sym(i.name, len(i.symbols)) for i in program.inputs]
    entries = [vector[k] for vector in vectors for k in range(vector.numel())]
    outputs = program.evaluated(entries, _functions(casadi))
    names = [identifier(i.name) if " " in i.name else i.name for i in program.inputs]
    result = _matrix(casadi, program, outputs)
    return casadi.Function(name or quantity, vectors, [result], names, [f"{quantity}_result"])


def _matrix(casadi: Any, program: Program, outputs: list[Any]) -> Any:
    """The outputs in two axes, where those that are always zero take no room."""
    shape = program.shape
    rows, columns = (int(np.prod(shape[:-1])), shape[-1]) if len(shape) > 1 else (len(outputs), 1)
    column_major = [outputs[r * columns + c] for c in range(columns) for r in range(rows)]
    return casadi.sparsify(casadi.reshape(casadi.vertcat(*column_major), rows, columns))


def _functions(casadi: Any) -> dict[str, Callable[..., Any]]:
    """The table of CasADi; angles are added without regard to whole turns."""

    def guard(pivot: Any, scale: Any) -> Any:
        sound = casadi.fabs(pivot) > RELATIVE_PIVOT * casadi.fabs(scale)
        return casadi.if_else(sound, pivot, float("nan"))

    def signed_power(x: Any, exponent: float) -> Any:
        size = casadi.if_else(x == 0, 1.0, casadi.fabs(x))
        return casadi.sign(x) * size**exponent

    named = {name: getattr(casadi, name) for name in ("sin", "cos", "sqrt", "exp", "tanh", "sign")}
    own = {"angle_sum": ARITHMETIC["add"], "guard": guard, "signed_power": signed_power}
    return ARITHMETIC | named | own
