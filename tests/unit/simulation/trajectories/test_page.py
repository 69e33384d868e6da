"""The page on trajectories shows what happens."""

import re
import subprocess
import sys
from pathlib import Path

from armdyn.simulation import trajectories

PAGE = (Path(__file__).parents[4] / "docs" / "trajectories.md").read_text(encoding="utf-8")


def test_its_examples_run_and_print_what_they_say(tmp_path):
    code = "\n".join(re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL))
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        check=True,
        capture_output=True,
        encoding="utf-8",
        cwd=tmp_path,
    )
    said = re.findall(r"print\(.*\)  # (.*)", PAGE)
    lines = result.stdout.splitlines()
    assert len(said) == len(lines) == 2
    for comment, line in zip(said, lines, strict=True):
        pieces = map(re.escape, comment.split("..."))
        assert re.fullmatch(".*".join(pieces), line)
    assert (tmp_path / "move.csv").exists()


def test_its_table_names_every_function():
    rows = set(re.findall(r"^\| `(\w+)\(", PAGE, re.MULTILINE))
    offered = {name for name in vars(trajectories) if callable(getattr(trajectories, name))}
    assert rows | {"sampled"} == offered
