"""A lock that a forked process does not inherit from a thread that it does not have."""

import os
import threading
from contextlib import AbstractContextManager


def lock_over_fork() -> AbstractContextManager[bool]:
    """A lock that a fork waits for: so it is free in the child, and nothing is half done.

    Of two such locks that are taken one in the other, the inner one must be made first.
    """
    lock = threading.RLock()
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(
            before=lock.acquire, after_in_parent=lock.release, after_in_child=lock.release
        )
    return lock
