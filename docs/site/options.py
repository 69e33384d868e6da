"""The options of a verb on its page, as the command line prints them today."""

import os
import re
import subprocess
import sys

from sphinx.application import Sphinx

MARK = re.compile(r"<!-- help (\w+) -->")
WIDTH = 100
"""Columns of the terminal."""


def _help(verb: str) -> str:
    words = [sys.executable, "-m", "armdyn", verb, "--help"]
    settings = os.environ | {"COLUMNS": str(WIDTH), "NO_COLOR": "1"}
    done = subprocess.run(words, env=settings, capture_output=True, encoding="utf-8", check=True)
    return f"```text\n{done.stdout}```"


def _filled(app: Sphinx, page: str, source: list[str]) -> None:
    source[0] = MARK.sub(lambda match: _help(match[1]), source[0])


def setup(app: Sphinx) -> dict[str, bool]:
    """Put the options in the place that a page keeps for them."""
    app.connect("source-read", _filled)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
