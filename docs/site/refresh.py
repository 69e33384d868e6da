"""Run the examples of pages and write what they print below them: `refresh.py docs/tour.md ...`.

An example of Python has its output in a block of text below it. In a block of the console, each
line that begins with `$ armdyn` is run, and what follows it is its output.
"""

import contextlib
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PYTHON = re.compile(r"(```python\n(.*?)```\n)(?:\n```text\n(.*?)```\n)?", re.DOTALL)
CONSOLE = re.compile(r"```console\n(.*?)```\n", re.DOTALL)
WIDTH = 100
"""Columns of the terminal in which commands are shown."""


def ran(command: str, folder: Path) -> str:
    """What a command prints, both streams as they come."""
    settings = os.environ | {"COLUMNS": str(WIDTH), "NO_COLOR": "1", "TERM": "dumb"}
    words = [sys.executable, "-m", command.split(maxsplit=1)[0]]
    line = " ".join([*words, *command.split()[1:]])
    done = subprocess.run(
        line, shell=True, cwd=folder, env=settings, text=True, encoding="utf-8",
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
    )  # fmt: skip
    return "\n".join(line.rstrip() for line in done.stdout.rstrip().splitlines()) + "\n"


def console_commands(block: str) -> list[str]:
    """The command lines of a block of the console."""
    return re.findall(r"^\$ (.*)$", block, re.MULTILINE)


def console_block(commands: list[str], folder: Path) -> str:
    """A block of the console with commands and what they print now."""
    return "\n".join(f"$ {command}\n{ran(command, folder)}" for command in commands)


def same(shown: str, now: str) -> bool:
    """Whether an output is the one that is shown, where three dots stand for anything."""
    return bool(re.fullmatch(".*?".join(map(re.escape, shown.split("..."))), now, re.DOTALL))


def refreshed(text: str, folder: Path) -> str:
    """A page with the outputs of today."""
    names: dict[str, object] = {}

    def python(match: re.Match[str]) -> str:
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(match[2], names)
        output = printed.getvalue()
        if match[3] and same(match[3], output):
            return match[0]
        return match[1] + (f"\n```text\n{output}```\n" if output else "")

    def console(match: re.Match[str]) -> str:
        now = console_block(console_commands(match[1]), folder)
        return match[0] if same(match[1], now) else f"```console\n{now}```\n"

    with contextlib.chdir(folder):
        return CONSOLE.sub(console, PYTHON.sub(python, text))


def furnish(folder: Path) -> None:
    """Put into a folder what a reader has: the files of the examples, a description of an arm."""
    shutil.copytree(ROOT / "examples", folder / "examples")
    shutil.copy(ROOT / "tests/robots/arm.urdf", folder)


if __name__ == "__main__":
    for page in map(Path, sys.argv[1:]):
        with tempfile.TemporaryDirectory(prefix="armdyn-pages-") as place:
            furnish(Path(place))
            new = refreshed(page.read_text(encoding="utf-8"), Path(place))
        page.write_text(new, encoding="utf-8")
