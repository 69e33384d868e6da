"""The options of a verb on its page, as the command line prints them today."""

import re

from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from typer.testing import CliRunner

from armdyn.cli import app

MARK = re.compile(r"<!-- help (\w+) -->")
WIDTH = 100
"""Columns of the terminal."""


def _help(verb: str) -> str:
    settings = {"COLUMNS": str(WIDTH), "NO_COLOR": "1"}
    done = CliRunner().invoke(app, [verb, "--help"], env=settings, prog_name="armdyn")
    if done.exit_code:
        raise ExtensionError(f"armdyn {verb} --help ends with {done.exit_code}: {done.exception!r}")
    return f"```text\n{done.stdout}```"


def _filled(site: Sphinx, page: str, source: list[str]) -> None:
    source[0] = MARK.sub(lambda match: _help(match[1]), source[0])


def setup(site: Sphinx) -> dict[str, bool]:
    """Put the options in the place that a page keeps for them."""
    site.connect("source-read", _filled)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
