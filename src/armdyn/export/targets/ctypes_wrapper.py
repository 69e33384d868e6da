"""A module of Python that calls exported C by ctypes, and compiles it where there is need."""

from armdyn.export.c.export import CSources
from armdyn.export.export_comments import file_lines, function_lines
from armdyn.export.options import Function
from armdyn.export.targets.target import ExportTarget, Package, filled


def _package(made: CSources) -> Package:
    title, *about = file_lines(made.model, made.options)
    name = f"{made.prefix}_ctypes"
    words = {"TITLE": title, "ABOUT": "\n".join(about), "FUNCTIONS": made.each(_function)}
    texts = made.texts | filled(made, {f"{name}.py": "ctypes.py.in"}, **words)
    first = made.functions[0]
    zeros = ", ".join(f"[0.0] * {i.size}" for i in first.program.inputs)
    return texts, f'python -c "import {name}; print({name}.{first.name}({zeros}))"'


def _function(made: CSources, f: Function) -> list[str]:
    names = [i.name for i in f.program.inputs]
    sizes = ", ".join(f'("{i.name}", {i.size}, {i.name})' for i in f.program.inputs)
    head, *about = function_lines(made.model, f)
    doc = [f"    {line}".rstrip() for line in about]
    return [
        *("", "", f"def {f.name}({', '.join(names)}):"),
        *(f'    """{head}', *doc, '    """'),
        f'    return _call("{f.name}", {f.program.shape!r}, [{sizes}])',
    ]


CTYPES = ExportTarget("ctypes", "C and a module of Python that calls it by ctypes", _package)
