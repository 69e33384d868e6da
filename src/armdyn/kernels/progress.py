"""A note when something takes longer than people like to wait without one."""

import logging
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

PATIENCE = 1.0
"""Seconds of silence."""
_LOG = logging.getLogger("armdyn")


@contextmanager
def note(text: str) -> Iterator[None]:
    """Say what is going on if the block takes over a second: on a terminal, and in the log."""
    timer = threading.Timer(PATIENCE, _say, (text,))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _say(text: str) -> None:
    _LOG.info(text)
    if sys.stderr is not None and sys.stderr.isatty():
        print(f"armdyn: {text}", file=sys.stderr, flush=True)
