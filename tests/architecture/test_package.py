"""The package as people meet it: names, help and types."""

import pydoc
import subprocess
import sys
from importlib.resources import files
from types import FunctionType

import pytest

import armdyn

FUNCTIONS = ("compare", "equations", "simplify", "simulate", "count_operations", "set_threads")
HEAVY = ("llvmlite", "scipy", "matplotlib", "sympy", "mujoco", "pinocchio", "typer", "rich")


def answer(code):
    """What a program prints in a fresh process."""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return run.stdout.strip()


@pytest.mark.slow
@pytest.mark.parametrize("statement", ["import armdyn", "import armdyn.cli"])
def test_importing_loads_nothing_heavy(statement):
    light = HEAVY if "cli" not in statement else HEAVY[:6]
    assert answer(f"{statement}, sys; print([m for m in {light!r} if m in sys.modules])") == "[]"


def test_every_public_name_exists_and_is_listed():
    assert [name for name in armdyn.__all__ if not hasattr(armdyn, name)] == []
    assert set(armdyn.__all__) <= set(dir(armdyn))


@pytest.mark.slow
@pytest.mark.parametrize(
    "statement",
    [
        "import armdyn",
        "import armdyn.study.compare, armdyn.closed_forms",
        "import armdyn.study.compare.compare, armdyn.closed_forms.forms",
        "from armdyn.study.compare import peers; from armdyn.closed_forms import forms; import armdyn",
        "import armdyn; armdyn.compare; import armdyn.study.compare.compare, armdyn.closed_forms.pages",
    ],
)
def test_functions_stay_functions_whatever_is_imported_first(statement):
    kinds = f"{{type(getattr(armdyn, name)).__name__ for name in {FUNCTIONS!r}}}"
    assert answer(f"{statement}; print({kinds})") == "{'function'}"


def test_the_functions_come_from_the_package_itself():
    from armdyn import compare, equations

    assert isinstance(compare, FunctionType)
    assert isinstance(equations, FunctionType)


def test_a_name_that_does_not_exist_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'armdyn' has no attribute 'simulator'"):
        armdyn.simulator  # noqa: B018


def test_help_names_everything_that_is_public():
    text = pydoc.plain(pydoc.render_doc(armdyn))
    assert [name for name in armdyn.__all__ if name not in text] == []


def test_the_package_says_that_it_is_typed():
    assert files("armdyn").joinpath("py.typed").is_file()
