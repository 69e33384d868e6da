"""A header of C++ that calls exported C with the vectors and matrices of Eigen."""

import math

from armdyn.export.c.export import CSources
from armdyn.export.export_comments import function_lines
from armdyn.export.options import Function
from armdyn.export.targets.target import ExportTarget, Package, filled


def eigen_header(made: CSources) -> str:
    """The text of prefix.hpp."""
    functions = [line for f in made.functions for line in _function(made, f)]
    words = {
        "PREFIX": made.prefix,
        "GUARD": f"{made.prefix.upper()}_HPP",
        "REAL": made.real,
        "JOINTS": len(made.model.independent),
        "FUNCTIONS": "\n".join(functions),
    }
    return filled("eigen.hpp", words)


def _function(made: CSources, f: Function) -> list[str]:
    """A function that gives its result, and one that writes it to memory."""
    inputs, shape = f.program.inputs, f.program.shape
    given = [f"const Eigen::Ref<const Vector<{i.size}>>& {i.name}" for i in inputs]
    passed = [f"{i.name}.data()" for i in inputs]
    about = ["/**", *(f" * {line}".rstrip() for line in function_lines(made.model, f)), " */"]
    call, name = f"{made.prefix}_{f.name}", f.quantity.symbol
    if not shape:
        body = [f"    return {call}({', '.join(passed)});"]
        return [*about, *_head("Real", f.name, given), "{", *body, "}", ""]
    columns = shape[-1] if len(shape) > 1 else 1
    size = f"{math.prod(shape) // columns}, {columns}"
    line = f"    {call}({', '.join([*passed, f'{name}.data()'])});"
    value = [f"    Matrix<{size}> {name};", line, f"    return {name};"]
    return [
        *(*about, *_head(f"Matrix<{size}>", f.name, given), "{", *value, "}", ""),
        f"/** The same, written to memory: row by row, as {name}. */",
        *(*_head("void", f.name, [*given, f"Map<{size}> {name}"]), "{", line, "}", ""),
    ]


def _head(result: str, name: str, arguments: list[str]) -> list[str]:
    ends = [*(f"{a}," for a in arguments[:-1]), f"{arguments[-1]})"]
    return [f"inline {result} {name}(", *(f"    {end}" for end in ends)]


def _package(made: CSources) -> Package:
    name = made.prefix
    compiled = f"cc -std=c99 -O2 -c {name}.c && printf '#include \"{name}.hpp\"\\n' > try.cpp"
    try_it = f"{compiled} && c++ -I/usr/include/eigen3 -c try.cpp"
    return Package({**made.texts, f"{name}.hpp": eigen_header(made)}, try_it)


EIGEN = ExportTarget("eigen", "C and a header of C++ with Eigen::Map", _package)
