"""Every Python example of every page runs as it is printed, and prints what stands below it."""

import re
import shutil

import pytest

from support.pages import PAGES, outputs, printed, python_blocks
from support.paths import ROOT

WITH_CODE = [name for name, text in PAGES.items() if python_blocks(text)]


@pytest.fixture
def folder(tmp_path):
    """A folder as a reader has it: with the files of the examples and a description of an arm."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    shutil.copy(ROOT / "tests/robots/arm.urdf", tmp_path)
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize("name", WITH_CODE)
def test_the_examples_of_a_page_run_in_one_go(name, folder):
    code = "\n".join(python_blocks(PAGES[name]))
    said = "".join(outputs(PAGES[name]))
    # three dots stand for what differs from machine to machine
    pattern = ".*?".join(map(re.escape, said.split("...")))
    assert re.fullmatch(pattern, printed(code, folder), re.DOTALL)


def test_three_dots_are_rare():
    assert sum("..." in text for page in PAGES.values() for text in outputs(page)) <= 5
