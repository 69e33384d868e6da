"""The page on trajectories shows what happens."""

import re

import pytest

from armdyn.simulation import trajectories
from support.pages import page, printed, python_blocks

PAGE = page("trajectories")


@pytest.mark.slow
def test_its_examples_run_and_print_what_they_say(tmp_path):
    lines = printed("\n".join(python_blocks(PAGE)), tmp_path).splitlines()
    said = re.findall(r"print\(.*\)  # (.*)", PAGE)
    assert len(said) == len(lines) == 2
    for comment, line in zip(said, lines, strict=True):
        pieces = map(re.escape, comment.split("..."))
        assert re.fullmatch(".*".join(pieces), line)
    assert (tmp_path / "move.csv").exists()


def test_its_table_names_every_function():
    rows = set(re.findall(r"^\| `(\w+)\(", PAGE, re.MULTILINE))
    offered = {name for name in vars(trajectories) if callable(getattr(trajectories, name))}
    assert rows | {"sampled"} == offered
