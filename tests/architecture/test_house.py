"""The house keeps its own rules."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import armdyn
from armdyn.quantities.formulations import FORMULATIONS

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "src").rglob("*.py"))
HEAVY = ("llvmlite", "scipy", "matplotlib", "sympy", "mujoco", "pinocchio", "typer", "rich")


def test_every_public_name_exists():
    for name in armdyn.__all__:
        assert hasattr(armdyn, name)


@pytest.mark.parametrize("statement", ["import armdyn", "import armdyn.cli"])
def test_importing_loads_nothing_heavy(statement):
    light = HEAVY if "cli" not in statement else HEAVY[:6]
    code = f"{statement}, sys; print([m for m in {light!r} if m in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_half_of_all_files_are_short_and_none_is_long():
    lengths = sorted(len(path.read_text(encoding="utf-8").splitlines()) for path in SOURCES)
    assert lengths[len(lengths) // 2] < 190
    assert lengths[-1] < 500


def test_every_formulation_is_documented():
    text = (ROOT / "docs" / "formulations.md").read_text(encoding="utf-8")
    for name in FORMULATIONS:
        assert f"| `{name}` |" in text


def test_no_path_of_a_machine_in_the_project():
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    files = [ROOT / name for name in listed.stdout.split()] or SOURCES
    pattern = re.compile(r"/(?:home|root|Users|work)/\w")
    for path in files:
        if path.suffix in (".py", ".md", ".toml", ".csv", ".urdf", ".xml") and path.exists():
            assert not pattern.search(path.read_text(encoding="utf-8")), path
