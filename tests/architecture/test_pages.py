"""What the pages of the documentation show is what happens."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from armdyn.cli import main
from armdyn.cli.simulate_options import GAINS
from armdyn.quantities.registry import QUANTITIES
from armdyn.simplification.goals import WORDS
from armdyn.simulation import controllers
from armdyn.simulation.simulate import ADAPTIVE, NATIVE

DOCS = Path(__file__).parents[2] / "docs"
KERNELS = (DOCS / "kernels.md").read_text(encoding="utf-8")
SIMPLIFY = (DOCS / "simplify.md").read_text(encoding="utf-8")
SIMULATION = (DOCS / "simulation.md").read_text(encoding="utf-8")


def test_the_example_of_the_kernels_runs():
    code = re.search(r"```python\n(.*?)```", KERNELS, re.DOTALL)[1]
    result = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, encoding="utf-8"
    )
    assert result.stdout.startswith("(7),(7),(7)->(7) ")


def test_the_example_of_the_equations_prints_what_stands_below_it():
    page = (DOCS / "equations.md").read_text(encoding="utf-8")
    code, output = re.search(r"```python\n(.*?)```\n\n```text\n(.*?)```", page, re.DOTALL).groups()
    result = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, encoding="utf-8"
    )
    assert result.stdout == output


def test_every_command_of_the_equations_runs(tmp_path):
    page = (DOCS / "equations.md").read_text(encoding="utf-8")
    for line in re.search(r"```sh\n(.*?)```", page, re.DOTALL)[1].splitlines():
        words = line.split()
        subprocess.run(
            [sys.executable, "-m", *words], check=True, capture_output=True, cwd=tmp_path
        )
    assert {path.name for path in tmp_path.iterdir()} == {"saha.tex", "puma_closed.py"}


def test_every_quantity_is_listed_with_its_arguments_and_options():
    table = re.search(r"<!-- quantities -->(.*?)<!-- /quantities -->", KERNELS, re.DOTALL)[1]
    rows = re.findall(r"^\| `(\w+)` \| (.*?) \| (.*?) ?\|$", table, re.MULTILINE)
    assert {
        name: (tuple(a.split(", ")), tuple(filter(None, o.split(", ")))) for name, a, o in rows
    } == {name: (record.arguments, record.options) for name, record in QUANTITIES.items()}


def test_the_examples_of_simplifying_print_what_stands_below_them():
    examples = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", SIMPLIFY, re.DOTALL)
    assert len(examples) == SIMPLIFY.count("```python")
    code = "".join(code for code, _ in examples)
    result = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, encoding="utf-8"
    )
    assert result.stdout == "".join(output for _, output in examples)


@pytest.mark.parametrize("line", re.findall(r"^armdyn simplify .*$", SIMPLIFY, re.MULTILINE))
def test_the_commands_of_simplifying_run(line, monkeypatch, tmp_path, capsys):
    words = shlex.split(line, comments=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", words)
    with pytest.raises(SystemExit) as end:
        main()
    assert (end.value.code or 0, capsys.readouterr().err) == (0, "")
    written = {word for word in words if word.startswith("new.")}
    assert {path.name for path in tmp_path.iterdir()} == written


def test_every_goal_is_listed():
    table = re.search(r"<!-- goals -->(.*?)<!-- /goals -->", SIMPLIFY, re.DOTALL)[1]
    assert tuple(re.findall(r"^\| `(.*?)` \|", table, re.MULTILINE)) == WORDS


def test_the_examples_of_simulation_print_what_stands_below_them(tmp_path):
    examples = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", SIMULATION, re.DOTALL)
    assert len(examples) == SIMULATION.count("```python")
    code = "".join(code for code, _ in examples)
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        check=True, capture_output=True, encoding="utf-8", cwd=tmp_path,
    )  # fmt: skip
    assert result.stdout == "".join(output for _, output in examples)
    assert {path.name for path in tmp_path.iterdir()} == {"fall.png", "fall.csv"}


@pytest.mark.parametrize("line", re.findall(r"^armdyn simulate .*$", SIMULATION, re.MULTILINE))
def test_the_commands_of_simulation_run(line, monkeypatch, tmp_path, capsys):
    words = shlex.split(line, comments=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", words)
    with pytest.raises(SystemExit) as end:
        main()
    assert (end.value.code or 0, capsys.readouterr().err) == (0, "")
    written = {word for word in words if word.endswith((".csv", ".png", ".parquet"))}
    assert {path.name for path in tmp_path.iterdir()} == written


def test_every_controller_and_every_method_is_listed():
    table = re.search(r"<!-- controllers -->(.*?)<!-- /controllers -->", SIMULATION, re.DOTALL)[1]
    rows = re.findall(r"^\| `(\w+)\(.*`([a-z-]+)` \|$", table, re.MULTILINE)
    assert [name for name, _ in rows] == [
        name for name, kind in vars(controllers).items()
        if isinstance(kind, type) and kind.__module__ == controllers.__name__ and name[0] != "_"
    ]  # fmt: skip
    assert [word for _, word in rows] == list(GAINS)
    listed = re.findall(r'`"(\w+)"`', SIMULATION.split("## Methods")[1].split("##")[0])
    assert {*listed} == {*ADAPTIVE, *NATIVE}
