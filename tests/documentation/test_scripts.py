"""Every example runs, and the notebooks print what is stored in them."""

import subprocess
import sys

import nbformat
import pytest
from nbclient import NotebookClient

from support.paths import ROOT

EXAMPLES = ROOT / "examples"
SCRIPTS = sorted(EXAMPLES.glob("[0-9][0-9]_*.py"))
NOTEBOOKS = sorted(EXAMPLES.glob("[0-9][0-9]_*.ipynb"))


def test_examples_are_numbered_without_gaps_and_say_how_they_are_run():
    numbers = sorted(int(path.name[:2]) for path in (*SCRIPTS, *NOTEBOOKS))
    assert numbers == list(range(1, len(numbers) + 1))
    assert [p.name for p in SCRIPTS if f"examples/{p.name}" not in p.read_text("utf-8")] == []


@pytest.mark.slow
@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_a_script_runs_without_a_warning(path, tmp_path):
    words = [sys.executable, "-W", "error", path]
    done = subprocess.run(
        words, cwd=tmp_path, capture_output=True, encoding="utf-8", check=False, timeout=300
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_prints_what_is_stored_in_it(path, tmp_path):
    stored = nbformat.read(path, as_version=4)
    fresh = nbformat.read(path, as_version=4)
    NotebookClient(fresh, timeout=300, resources={"metadata": {"path": tmp_path}}).execute()
    assert [_texts(cell) for cell in fresh.cells] == [_texts(cell) for cell in stored.cells]
    assert path.stat().st_size < 100_000
    # formulas can be read where no script and no network sets them
    assert not [
        cell for cell in stored.cells if cell.cell_type == "markdown" and "$" in cell.source
    ]


def _texts(cell):
    # what libraries say of themselves on the other stream differs from machine to machine
    outputs = cell.get("outputs", [])
    printed = [output["text"] for output in outputs if output.get("name") == "stdout"]
    return "".join(printed), [o.data.get("text/html") for o in outputs if "data" in o]
