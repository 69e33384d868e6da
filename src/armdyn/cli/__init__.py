"""The command line: one verb a file."""

import io
import re
import signal
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import typer

from armdyn.cli.console import print_line
from armdyn.errors import ArmdynError, ArmdynWarning

UsageError: Any = typer.BadParameter.__bases__[0]
"""What typer raises about a command line, whichever click it is built on."""


def main() -> None:
    """Run the command line; errors of the user end with one message and exit code 2."""
    from armdyn.cli.app import app

    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    for argument in sys.argv[1:]:
        if re.search(r"[\x00-\x1f\x7f-\x9f]", argument):  # typer would print it in its own errors
            print_line(f"error: there is a control character in {argument!r}", stderr=True)
            sys.exit(2)
    with _ending_in_order(), warnings.catch_warnings():
        warnings.showwarning = _showing_once()
        warnings.simplefilter("always", ArmdynWarning)
        try:
            sys.exit(app(prog_name="armdyn", standalone_mode=False) or 0)
        except ArmdynError as error:
            print_line(f"error: {error}", stderr=True)
            sys.exit(2)
        except typer.Abort:
            sys.exit(1)
        except UsageError as error:
            if error.ctx is not None and not sys.argv[1:]:
                error.show()  # the help of the whole program
            else:
                print_line(f"error: {_sentence(error)}", stderr=True)
            sys.exit(error.exit_code)
        except OSError as error:
            print_line(f"error: cannot write the result: {error.strerror or error}", stderr=True)
            sys.stdout = None  # nothing more can be flushed to it
            sys.exit(2)


@contextmanager
def _ending_in_order() -> Iterator[None]:
    """Let SIGTERM end the program as an error does, so that nothing temporary stays."""
    before = signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _showing_once() -> Callable[..., None]:
    """Shows each warning in one line, once; the place in our code is of no use to the user."""
    shown: set[str] = set()

    def show(message: Warning | str, *_: object, **__: object) -> None:
        if str(message) not in shown:
            shown.add(str(message))
            print_line(f"warning: {message}", stderr=True)

    return show


def _sentence(error: Any) -> str:
    """What is wrong with a command line, and where help is."""
    text = (
        error.format_message()
        .removeprefix("Invalid value: ")
        .replace(": Value error, ", ": ")
        .rstrip(".")
    )
    text = text[:1].lower() + text[1:]
    where = error.ctx.command_path if error.ctx is not None else "armdyn"
    return text if "--help" in text else f"{text} (see {where} --help)"
