"""Locks and cached properties that a fork can stand.

A fork copies locks as they are, but only the thread that forks: a lock that another thread holds at
that moment is never released in the child.
"""

import concurrent.futures.thread  # noqa: F401  (it has locks for forks too; not in one's midst)
import functools
import os
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from importlib import import_module
from typing import Any, TypeVar

Value = TypeVar("Value")


class cached_property(functools.cached_property[Value]):  # noqa: N801  (as the one of Python)
    """One without a lock; Python 3.11 has one for all objects of a class."""

    def __init__(self, compute: Callable[[Any], Value]):
        super().__init__(compute)
        self.lock = nullcontext()


def lock_over_fork(lock: AbstractContextManager[Any] | None = None) -> AbstractContextManager[Any]:
    """A lock that a fork waits for: so it is free in the child, and nothing is half done.

    It is made of a lock that is there, or new; the same thread may take it several times. Of two
    such locks that are taken one in the other, the inner one must be made first.
    """
    _LOCKS.append(threading.RLock() if lock is None else lock)
    return _LOCKS[-1]


_LOCKS: list[AbstractContextManager[Any]] = []
_HELD: list[AbstractContextManager[Any]] = []

IMPORTING = threading.RLock()
"""Held, outside all others, while modules are imported that not everybody needs.

Python has a lock for each module, which a child would wait for.
"""


def imported(place: str) -> Any:
    """What "package.module:name" names, whose module is imported when it is first asked for."""
    module, _, name = place.partition(":")
    with IMPORTING:
        return getattr(import_module(module), name)


def _hold() -> None:
    with IMPORTING:  # no more locks are made meanwhile
        for lock in (IMPORTING, *reversed(_LOCKS)):
            lock.__enter__()
            _HELD.append(lock)


def _release() -> None:
    while _HELD:
        _HELD.pop().__exit__(None, None, None)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_hold, after_in_parent=_release, after_in_child=_release)
