"""A change of the public face is seen: docs/api.txt has every name with its signature."""

import pytest
from api_text import FILE, api_text


@pytest.mark.slow
def test_the_file_has_every_public_name_with_its_signature():
    assert FILE.read_text(encoding="utf-8") == api_text(), "run: python docs/site/api_text.py"
