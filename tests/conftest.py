"""Settings for the whole suite."""

import os
import re
import shutil
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from armdyn.cli import main

settings.register_profile(
    "armdyn",
    max_examples=3,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("armdyn")

if find_spec("pinocchio") is None:  # it is not published for Windows
    _USES = re.compile(r"^(?:import pinocchio|from support\.(?:peers|design_arms) )", re.MULTILINE)
    collect_ignore = [
        str(path)
        for path in Path(__file__).parent.rglob("test_*.py")
        if _USES.search(path.read_text(encoding="utf-8"))
    ]


def pytest_configure(config):
    """One cache for a run and all its workers, which inherit the variable; never the user's own."""
    if not hasattr(config, "workerinput"):
        folder = tempfile.mkdtemp(prefix="armdyn-tests-")
        os.environ["ARMDYN_CACHE_DIR"] = folder
        config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))


@pytest.fixture
def command(monkeypatch, capsys):
    """Run a command line: its exit code, its output and its complaints."""

    def call(*words: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["armdyn", *map(str, words)])
        with pytest.raises(SystemExit) as end:
            main()
        captured = capsys.readouterr()
        return int(end.value.code or 0), captured.out, captured.err

    return call


@pytest.fixture
def file(tmp_path):
    """A function that writes a text to a file and returns its path."""

    def write(text, name="robot.urdf"):
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


THOROUGH = (
    "tests/compiler/test_one_program.py::test_counts_of_kernel_c_and_ops_are_one_number",
    "tests/peers/test_delta.py",
    "tests/properties/test_regressor.py::test_base_parameters_of_the_catalog",
    "tests/unit/equations/test_cartesian.py",
    "tests/unit/equations/test_closed_forms.py",
    "tests/unit/io/test_catalog.py::test_mass_matrix_is_positive_and_energy_is_kept",
    "tests/unit/simulation/test_adaptive.py",
    "tests/unit/test_loops_everywhere.py",
)
"""Whole families of tests that `make test` has no time for, and `make test-thorough` runs."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    for item in items:
        if item.nodeid.startswith(THOROUGH):
            item.add_marker(pytest.mark.thorough)
