"""The source as syntax trees: its modules, what they import, and their functions."""

import ast
from functools import lru_cache

from grimp import build_graph

from support.paths import SOURCE

FILES = sorted(SOURCE.rglob("*.py"))


def module_name(path):
    """The dotted name by which a file is imported."""
    parts = path.relative_to(SOURCE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def text_of(path):
    return path.read_text(encoding="utf-8")


@lru_cache(maxsize=4)  # kept trees hold up the collector of garbage
def tree_of(path):
    """The syntax tree of a file."""
    return ast.parse(text_of(path))


def imports():
    """For every module the modules it imports: local and type-checking imports count."""
    graph = build_graph("armdyn", cache_dir=None)
    return {name: graph.find_modules_directly_imported_by(name) for name in graph.modules}


def functions(path):
    """Every function and method of a file as a syntax tree."""
    return [node for node in ast.walk(tree_of(path)) if isinstance(node, ast.FunctionDef)]
