"""What the pages of the documentation show is what happens."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from armdyn.analysis.simplification.goals import WORDS
from armdyn.cli import main
from armdyn.programs.request import OPTIONS

DOCS = Path(__file__).parents[2] / "docs"
KERNELS = (DOCS / "kernels.md").read_text(encoding="utf-8")
SIMPLIFY = (DOCS / "simplify.md").read_text(encoding="utf-8")


def test_the_example_of_the_kernels_runs():
    code = re.search(r"```python\n(.*?)```", KERNELS, re.DOTALL)[1]
    result = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, encoding="utf-8"
    )
    assert result.stdout.startswith("(7),(7),(7)->(7) ")


def test_every_quantity_is_listed_with_its_arguments_and_options():
    table = re.search(r"<!-- quantities -->(.*?)<!-- /quantities -->", KERNELS, re.DOTALL)[1]
    rows = re.findall(r"^\| `(\w+)` \| (.*?) \| (.*?) ?\|$", table, re.MULTILINE)
    assert {
        name: (tuple(a.split(", ")), tuple(filter(None, o.split(", ")))) for name, a, o in rows
    } == OPTIONS


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
