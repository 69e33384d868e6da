"""Locks that a forked process does not inherit from a thread that it does not have."""

import os
from typing import Protocol, TypeVar


class Lock(Protocol):
    """What can be acquired and released."""

    def acquire(self) -> bool:
        """Wait for it and take it."""

    def release(self) -> None:
        """Give it back."""


AnyLock = TypeVar("AnyLock", bound=Lock)


def held_over_fork(lock: AnyLock) -> AnyLock:
    """The lock, which a fork waits for: so it is free in the child, and nothing is half done.

    Of two such locks that are taken one in the other, the inner one must be made first.
    """
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(
            before=lock.acquire, after_in_parent=lock.release, after_in_child=lock.release
        )
    return lock
