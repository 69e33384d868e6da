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


KERNELS = "tests/unit/backends/test_kernel.py::test_"
THOROUGH = (
    "tests/compiler/test_one_program.py::test_counts_of_kernel_c_and_ops_are_one_number",
    "tests/compiler/test_one_program.py::test_programs_that_come_with_armdyn_are_proved_again[jaco2]",
    "tests/compiler/test_one_program.py::test_programs_that_come_with_armdyn_are_proved_again[xarm7]",
    "tests/peers/test_delta.py",
    "tests/properties/test_regressor.py::test_base_parameters_of_special_geometries[gravity1",
    "tests/properties/test_regressor.py::test_base_parameters_of_special_geometries[gravity2",
    "tests/properties/test_regressor.py::test_base_parameters_of_the_catalog",
    "tests/unit/backends/test_c_export.py::test_every_function_agrees_with_the_program[chain",
    "tests/unit/backends/test_c_export.py::test_every_function_agrees_with_the_program[panda",
    f"{KERNELS}every_quantity_is_what_its_formulas_say[panda",
    f"{KERNELS}every_quantity_is_what_its_formulas_say[puma560",
    f"{KERNELS}payload_and_gravity_are_arguments[panda",
    f"{KERNELS}payload_and_gravity_are_arguments[stanford",
    f"{KERNELS}wrenches_are_arguments[world-panda",
    f"{KERNELS}wrenches_are_arguments[world-stanford",
    f"{KERNELS}forward_dynamics_takes_the_cheaper_way",
    "tests/unit/backends/test_lowering.py::test_work_is_about_linear_in_the_joints",
    "tests/unit/bench/test_bench.py::test_compiling_compiles_once_and_loading_does_not",
    "tests/unit/equations/test_cartesian.py",
    "tests/unit/equations/test_closed_forms.py",
    "tests/unit/equations/test_latex.py::test_every_formula_is_mathematics_and_fits_the_page[saha_3r",
    "tests/unit/io/test_catalog.py::test_mass_matrix_is_positive_and_energy_is_kept",
    "tests/unit/simulation/test_adaptive.py",
    "tests/unit/test_dynamics.py::test_cartesian_form_is_the_same_motion[RRRRRRR",
    "tests/unit/test_loops_everywhere.py",
)
"""Whole families of tests that `make test` has no time for, and `make test-thorough` runs."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    for item in items:
        if item.nodeid.startswith(THOROUGH):
            item.add_marker(pytest.mark.thorough)
