"""Every Python example of every page runs as it is printed, and prints what stands below it."""

import pytest
from refresh import same

from support.pages import PAGES, outputs, printed, python_blocks

ELSEWHERE = {"docs/torch"}
"""What needs another environment: `make test-torch` runs it."""
WITH_CODE = [name for name, text in PAGES.items() if python_blocks(text) and name not in ELSEWHERE]


@pytest.mark.slow
@pytest.mark.parametrize("name", WITH_CODE)
def test_the_examples_of_a_page_run_in_one_go(name, folder):
    code = "\n".join(python_blocks(PAGES[name]))
    said = "".join(outputs(PAGES[name]))
    assert same(said, printed(code, folder))


def test_three_dots_are_rare():
    assert sum("..." in text for page in PAGES.values() for text in outputs(page)) <= 5
