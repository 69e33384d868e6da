"""Exported C for MATLAB and Octave: a MEX file, a function of each quantity, a build and a test."""

import numpy as np

from armdyn.arrays import Array
from armdyn.export.c.export import CSources
from armdyn.export.c.selftest import expectations, tolerance
from armdyn.export.export_comments import function_lines
from armdyn.export.options import Function
from armdyn.export.targets.target import ExportTarget, Package, filled


def _package(made: CSources) -> Package:
    name, single = made.prefix, made.options.single
    texts = filled(
        made,
        {f"{name}_{file}": f"mex/{file}" for file in ("mex.c", "build.m", "test.m")},
        CLASS="mxSINGLE_CLASS" if single else "mxDOUBLE_CLASS",
        CLASS_NAME="single" if single else "double",
        CALLS=made.each(_call),
        TABLE="\n".join(_entry(f) for f in made.functions),
        MOST=max(len(f.program.inputs) for f in made.functions),
        CHECKS="\n".join(_checks(made)),
    )
    texts |= {f"+{name}/{f.name}.m": _function(made, f) for f in made.functions}
    try_it = f"octave --quiet --no-history --eval '{name}_build; {name}_test'"
    return {**made.texts, **texts}, try_it


def _call(made: CSources, f: Function) -> list[str]:
    prefix = made.prefix
    given = [f"x[{k}]" for k in range(len(f.program.inputs))]
    head = f"static void call_{f.name}(const real *const *x, real *y)"
    if f.program.shape:
        return [head, "{", f"    {prefix}_{f.name}({', '.join([*given, 'y'])});", "}", ""]
    return [head, "{", f"    y[0] = {prefix}_{f.name}({', '.join(given)});", "}", ""]


def _entry(f: Function) -> str:
    """The row of a function in the table: its arguments, and the shape of its result."""
    inputs = ", ".join(f'{{"{i.name}", {i.size}}}' for i in f.program.inputs)
    pages, rows, columns = _shape(f)
    shape = f"{len(f.program.shape)}, {rows}, {columns}, {pages}"
    return f'    {{"{f.name}", call_{f.name}, {len(f.program.inputs)}, {{{inputs}}}, {shape}}},'


def _shape(f: Function) -> tuple[int, int, int]:
    """Pages, rows and columns of the result of one state; a vector is a column."""
    shape = (*f.program.shape, 1) if len(f.program.shape) == 1 else f.program.shape
    pages, rows, columns = (1, 1, 1, *shape)[-3:]
    return pages, rows, columns


def _function(made: CSources, f: Function) -> str:
    names = ", ".join(i.name for i in f.program.inputs)
    result = f.quantity.symbol or "value"
    about = [f"% {line}".rstrip() for line in function_lines(made.model, f)]
    more = (
        "% Each argument is a column, or a matrix with a state in each column; the last dimension",
        "% of the result then counts the states.",
    )
    lines = [f"function {result} = {f.name}({names})", *about, "%", *more]
    call = f"    {result} = {made.prefix}_mex('{f.name}', {names});"
    return "\n".join([*lines, call, "end"]) + "\n"


def _checks(made: CSources) -> list[str]:
    """The states of the self-test and what is expected there."""
    states, expected = expectations(made.model, made.functions, made.real)
    kind = "single" if made.options.single else "double"
    given = {name: f"{kind}({_matrix(values.T)})" for name, values in states.items()}
    lines = [f"    given.{name} = {matrix};" for name, matrix in given.items()]
    for f in made.functions:
        pages, rows, columns = _shape(f)
        # MATLAB counts the entries of a page by columns
        values = expected[f.name].reshape(-1, pages, rows, columns).transpose(0, 1, 3, 2)
        want = _matrix(values.reshape(len(values), -1))
        names = ", ".join(f"given.{i.name}" for i in f.program.inputs)
        call = f"{made.prefix}.{f.name}({names})"
        least = f"{tolerance(f, made.real):g}"
        lines += [f"    failures += differs('{f.name}', {call}, {want}, {least});"]
    return lines


def _matrix(values: Array) -> str:
    """A matrix of MATLAB, on lines that are not too long for it."""
    rows = [", ...\n        ".join(_chunks(row)) for row in np.atleast_2d(values)]
    return "[" + "; ...\n        ".join(rows) + "]"


def _chunks(row: Array, length: int = 6) -> list[str]:
    words = ["NaN" if np.isnan(x) else f"{x:.17g}" for x in row]
    return [", ".join(words[k : k + length]) for k in range(0, len(words), length)]


MEX = ExportTarget("mex", "a MEX file for MATLAB and Octave, with build and test", _package)
