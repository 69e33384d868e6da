"""Programs as Python: one module that needs NumPy, and takes arrays and symbols of others as well.

What libraries spell differently is in a few helpers that are written to the module.
"""

from collections.abc import Sequence
from pathlib import Path
from textwrap import wrap

from armdyn.arrays import RELATIVE_PIVOT
from armdyn.errors import ModelError
from armdyn.export.body import ConstantTable, FunctionBody, Statements, exact_constant
from armdyn.export.export_comments import file_lines, function_lines
from armdyn.export.names import prefix_of
from armdyn.export.options import Exported, ExportOptions, Function, functions_of, write_all
from armdyn.graph.operations import FAR_ANGLE, FUNCTIONS
from armdyn.graph.program import Program
from armdyn.model import RobotModel

COLUMNS = 100


def export_python(
    model: RobotModel, directory: str | Path, options: ExportOptions | None = None
) -> Exported:
    """Write functions of a robot as prefix.py, which does not need armdyn."""
    options = options or ExportOptions()
    if options.single:
        raise ModelError(
            "float is for C; a Python function computes in the precision of the arrays it is given"
        )
    if options.processors:
        raise ModelError("code and stack are measured of C, not of Python; name no processor")
    prefix = prefix_of(model.name, options.prefix)
    functions = functions_of(model, options)
    first = functions[0]
    arguments = ", ".join(f"[0.0] * {i.size}" for i in first.program.inputs)
    try_it = f'python -c "import {prefix}; print({prefix}.{first.name}({arguments}))"'
    texts = {f"{prefix}.py": module(model, functions, options)}
    programs = {f.name: f.program for f in functions}
    return Exported(write_all(directory, texts), programs, try_it)


def module(model: RobotModel, functions: Sequence[Function], options: ExportOptions) -> str:
    """The text of the module."""
    table = ConstantTable()
    written = [line for f in functions for line in _function(model, f, table)]
    lines = ['"""' + file_lines(model, options)[0], "", *file_lines(model, options)[1:], ""]
    lines += [*_BATCHES, '"""', "", "import numpy as np", ""]
    lines += [f"{name} = {exact_constant(value)}" for name, value in table.values.items()]
    lines += _ARRAY.splitlines()
    used = {i.op for f in functions for i in f.program.instructions}
    lines += _WHERE.splitlines() if used & _CHOOSING else []
    lines += [line for op, text in _HELPERS.items() if op in used for line in text.splitlines()]
    return "\n".join([*lines, *written]) + "\n"


_BATCHES = (
    "Every argument has any leading batch shape, (..., n), and these broadcast; a matrix has the",
    "shape (..., rows, columns). The library of the arrays is xp: numpy, jax.numpy, torch, cupy",
    "and their like, or casadi or sympy, which take columns or lists of symbols and give matrices.",
)
_ARRAY = """

def _entries(xp, x, n):
    if not hasattr(xp, "stack"):
        return [x[i] for i in range(n)]  # a column of symbols
    x = x if hasattr(x, "shape") else xp.asarray(x)
    return [x[..., i] for i in range(n)]


def _zero(xp, *entries):
    return xp.zeros_like(sum(entries)) if hasattr(xp, "zeros_like") else 0.0


def _result(xp, entries, *shape):
    if hasattr(xp, "stack"):
        made = xp.stack(entries, -1)
        return xp.reshape(made, (*made.shape[:-1], *shape))
    columns = shape[-1] if len(shape) > 1 else 1
    rows = [entries[k : k + columns] for k in range(0, len(entries), columns)]
    if hasattr(xp, "vertcat"):  # CasADi
        return xp.vertcat(*(xp.horzcat(*row) for row in rows))
    return xp.Matrix(rows)
"""
_WHERE = """

def _where(xp, condition, yes, no):
    if hasattr(xp, "where"):
        return xp.where(condition, yes, no)
    if hasattr(xp, "if_else"):  # CasADi
        return xp.if_else(condition, yes, no)
    return xp.Piecewise((yes, condition), (no, True))
"""
_GUARD = f"""

def _guard(xp, pivot, scale):
    \"\"\"A pivot that is more than rounding of the inertia it comes from, else NaN.\"\"\"
    if hasattr(xp, "Piecewise"):
        return pivot  # symbols of SymPy are not rounded
    return _where(xp, abs(pivot) > {RELATIVE_PIVOT!r} * abs(scale), pivot, float("nan"))
"""
_SIGNED_POWER = """

def _signed_power(xp, x, exponent):
    \"\"\"sgn(x) |x|^exponent, and 0 where x is 0.\"\"\"
    return xp.sign(x) * _where(xp, x == 0, 1.0, abs(x)) ** exponent
"""
_ANGLE_SUM = f"""

def _angle_sum(xp, a, b):
    \"\"\"a + b; where it is far from zero, less whole turns, so that it is not rounded.\"\"\"
    total = a + b
    if not hasattr(xp, "where"):
        return total  # symbols are not rounded
    far = abs(total) > {FAR_ANGLE!r}
    if xp is np and not np.any(far):
        return total
    return xp.where(far, _without_turns(xp, a) + _without_turns(xp, b), total)


def _without_turns(xp, x):
    return xp.arctan2(xp.sin(x), xp.cos(x)) if hasattr(x, "shape") else x
"""
_HELPERS = {"angle_sum": _ANGLE_SUM, "signed_power": _SIGNED_POWER, "guard": _GUARD}
_CHOOSING = {"signed_power", "guard"}
"""Helpers that call `_where`."""


def _function(model: RobotModel, function: Function, table: ConstantTable) -> list[str]:
    program = function.program
    text = FunctionBody(program, _LANGUAGE, table)
    names = [i.name for i in program.inputs]
    comment = function_lines(model, function)
    lines = ["", "", f"def {function.name}({', '.join(names)}, xp=np):"]
    lines += ['    """' + comment[0], *(f"    {line}".rstrip() for line in comment[1:]), '    """']
    results = _results(program, text)
    whole = any("_zero(" in line for line in results)  # which reads every argument
    for array in program.inputs:
        if array.name in text.used or whole:
            entries = wrap("".join(f"{symbol}, " for symbol in array.symbols), COLUMNS - 10)
            lines += ["    (", *(f"        {line}" for line in entries)]
            lines += [f"    ) = _entries(xp, {array.name}, {len(array.symbols)})"]
    lines += [f"    {statement}" for statement in text.statements]
    return [*lines, *results]


def _results(program: Program, text: FunctionBody) -> list[str]:
    """The outputs as one array; those that do not depend on every argument get the batch shape."""
    whole = _whole(program)
    outputs = [
        value if k in whole else "zero" if value == "0.0" else f"{value} + zero"
        for k, value in zip(program.outputs, text.outputs, strict=True)
    ]
    lines = []
    if any("zero" in output for output in outputs):
        firsts = ", ".join(i.symbols[0] for i in program.inputs)
        lines += [f"    zero = _zero(xp, {firsts})"]
    if not program.shape:
        return [*lines, f"    return {outputs[0]}"]
    rows = ["        "]
    for output in outputs:
        if len(rows[-1] + output) > COLUMNS - 2:
            rows.append("        ")
        rows[-1] += ("" if rows[-1].isspace() else " ") + output + ","
    shape = ", ".join(map(str, program.shape))
    return [*lines, "    return _result(xp, [", *rows, f"    ], {shape})"]


def _whole(program: Program) -> set[int]:
    """The values that depend on every input array, and so have the batch shape of all."""
    on: list[frozenset[str]] = [frozenset([i.name]) for i in program.inputs for _ in i.symbols]
    on += [frozenset()] * len(program.constants)
    for instruction in program.instructions:
        on.append(frozenset().union(*(on[k] for k in instruction.args)))
    return {k for k, names in enumerate(on) if len(names) == len(program.inputs)}


_LANGUAGE = Statements(
    number=exact_constant,
    entry=lambda name, i: f"{name}{i + 1}",
    functions={op: f"xp.{op}(" for op in FUNCTIONS} | {op: f"_{op}(xp, " for op in _HELPERS},
    declare="{name} = {value}",
    reuse=True,
)
