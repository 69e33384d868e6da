"""The source keeps its directions and its sizes."""

import tomllib
from graphlib import TopologicalSorter

import pytest

from support.paths import ROOT, SOURCE
from support.source_code import FILES, functions, imports, module_name, text_of

LONGEST_FILE, LONGEST_FUNCTION = 600, 80
"""Outer walls; what counts is the sum of lines by room, see test_budgets."""


def test_no_import_comes_back_to_where_it_started():
    TopologicalSorter(imports()).prepare()  # raises a CycleError that names the modules


def test_the_layers_name_every_room_once():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (contract,) = settings["tool"]["importlinter"]["contracts"]
    layers = [room for layer in contract["layers"] for room in layer.split(" | ")]
    rooms = {path.stem for path in SOURCE.glob("*.py")} | {
        path.parent.name for path in SOURCE.glob("*/__init__.py")
    }
    assert contract["exhaustive"]
    assert sorted(layers) == sorted(rooms - {"__init__"})


def test_half_of_all_files_are_short_and_none_is_long_but_the_robot():
    """Its methods are one line each behind docstrings: cut for length, they need a class a file."""
    lengths = {path: len(text_of(path).splitlines()) for path in FILES}
    assert sorted(lengths.values())[len(FILES) // 2] < 190
    long = [path for path, length in lengths.items() if length > LONGEST_FILE]
    assert [module_name(path) for path in long] == ["armdyn.robot"]


@pytest.mark.slow
def test_functions_fit_a_screen():
    """A verb of the command line has a long signature: only its body counts."""
    long = set()
    for path in FILES:
        verb = path.parent == SOURCE / "cli"
        for function in functions(path):
            start = function.body[0].lineno if verb else function.lineno
            if function.end_lineno - start + 1 > LONGEST_FUNCTION:
                long.add(f"{module_name(path)}.{function.name}")
    assert long == set()
