"""Pages of the documentation: their examples, commands and tables."""

import re
import shlex
import subprocess
import sys

from support.paths import DOCS, ROOT

PAGES = {
    path.relative_to(ROOT).with_suffix("").as_posix(): path.read_text(encoding="utf-8")
    for path in (ROOT / "README.md", *sorted(DOCS.rglob("*.md")))
}
"""The text of every page, by its path without ending."""


def page(name):
    """The text of a page, without its ending."""
    return (DOCS / f"{name}.md").read_text(encoding="utf-8")


def examples(text):
    """The Python examples of a page, each with the output that stands below it."""
    return re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", text, re.DOTALL)


def outputs(text):
    """What stands below the Python examples of a page that have an output."""
    return [output for _, output in examples(text)]


def python_blocks(text):
    """The code of every Python example of a page."""
    return re.findall(r"```python\n(.*?)```", text, re.DOTALL)


def printed(code, cwd=None):
    """What a program prints in a process of its own, where a warning is an error."""
    words = [sys.executable, "-W", "error", "-c", code]
    run = subprocess.run(words, check=True, capture_output=True, encoding="utf-8", cwd=cwd)
    return run.stdout


def commands(text, verb):
    """The command lines of one verb on a page, in words after `armdyn`."""
    lines = re.findall(rf"^armdyn {verb} .*$", text, re.MULTILINE)
    return [shlex.split(line, comments=True)[1:] for line in lines]


def table(text, mark):
    """The part of a page between two comments with a mark."""
    return re.search(rf"<!-- {mark} -->(.*?)<!-- /{mark} -->", text, re.DOTALL)[1]
