"""What the tests of the pages share."""

import pytest
from refresh import furnish


@pytest.fixture
def folder(tmp_path):
    """A folder as a reader of the pages has it."""
    furnish(tmp_path)
    return tmp_path
