"""The command line: one verb a file."""

import io
import sys
import warnings

from armdyn.errors import ArmdynError, ArmdynWarning


def main() -> None:
    """Run the command line; errors of the user end with one message and exit code 2."""
    from armdyn.cli.app import app

    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    with warnings.catch_warnings():
        warnings.showwarning = _show_warning
        warnings.simplefilter("always", ArmdynWarning)
        try:
            app()
        except ArmdynError as error:
            print(f"error: {error}", file=sys.stderr)
            sys.exit(2)
        except OSError as error:
            print(f"error: cannot write the result: {error.strerror or error}", file=sys.stderr)
            sys.stdout = None  # nothing more can be flushed to it
            sys.exit(2)


def _show_warning(message: Warning | str, *_: object, **__: object) -> None:
    """One line for the user; the place in our code is of no use there."""
    print(f"warning: {message}", file=sys.stderr)
