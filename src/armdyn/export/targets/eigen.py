"""A header of C++ that calls exported C with the vectors and matrices of Eigen."""

import math

from armdyn.export.c.export import CSources, comment_block, head_by_lines
from armdyn.export.export_comments import function_lines
from armdyn.export.options import Function
from armdyn.export.targets.target import ExportTarget, Package, filled


def eigen_header(made: CSources) -> dict[str, str]:
    """The text of prefix.hpp by its name."""
    return filled(made, {f"{made.prefix}.hpp": "eigen.hpp"}, FUNCTIONS=made.each(_function))


def _function(made: CSources, f: Function) -> list[str]:
    """A function that gives its result, and one that writes it to memory."""
    inputs, shape = f.program.inputs, f.program.shape
    given = [f"const Eigen::Ref<const Vector<{i.size}>>& {i.name}" for i in inputs]
    passed = [f"{i.name}.data()" for i in inputs]
    about = comment_block(function_lines(made.model, f), "/**")
    call, name = f"{made.prefix}_{f.name}", f.quantity.symbol
    if not shape:
        body = [f"    return {call}({', '.join(passed)});"]
        return [*about, *head_by_lines(f"inline Real {f.name}(", given), "{", *body, "}", ""]
    columns = shape[-1] if len(shape) > 1 else 1
    size = f"{math.prod(shape) // columns}, {columns}"
    line = f"    {call}({', '.join([*passed, f'{name}.data()'])});"
    value = [f"    Matrix<{size}> {name};", line, f"    return {name};"]
    return [
        *(*about, *head_by_lines(f"inline Matrix<{size}> {f.name}(", given), "{", *value, "}", ""),
        f"/** The same, written to memory: row by row, as {name}. */",
        *head_by_lines(f"inline void {f.name}(", [*given, f"Map<{size}> {name}"]),
        *("{", line, "}", ""),
    ]


def _package(made: CSources) -> Package:
    name = made.prefix
    compiled = f"cc -std=c99 -O2 -c {name}.c && printf '#include \"{name}.hpp\"\\n' > try.cpp"
    try_it = f"{compiled} && c++ -I/usr/include/eigen3 -c try.cpp"
    return made.texts | eigen_header(made), try_it


EIGEN = ExportTarget("eigen", "C and a header of C++ with Eigen::Map", _package)
