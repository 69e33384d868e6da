"""What is kept of windows until the studio ends, so that a reload comes back to all of it.

The address of a page has robot and state; a file that was sent, an edited arm and poses do not fit
into it. They are kept here under a name that nobody guesses, which the address has instead.
"""

import secrets
import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field

from armdyn.studio.arm import Arm, State

MOST_WINDOWS = 16
"""Windows that are remembered; of more, those that were opened or asked for last."""


@dataclass(slots=True, eq=False)
class Memory:
    """What one window had last."""

    name: str = field(default_factory=lambda: secrets.token_urlsafe(12))
    """What a page must know to get it back."""
    arm: Arm | None = None
    original: Arm | None = None
    """The arm before it was edited."""
    poses: Mapping[str, State] = field(default_factory=dict)
    view: Mapping[str, bool] = field(default_factory=dict)
    """Which parts of the view are seen."""


class Memories:
    """The memories of the last windows; every method may be called from any thread."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, Memory] = OrderedDict()
        self._lock = threading.Lock()

    def new(self) -> Memory:
        """The memory of a new window."""
        memory = Memory()
        with self._lock:
            self._kept[memory.name] = memory
            while len(self._kept) > MOST_WINDOWS:
                self._kept.popitem(last=False)
        return memory

    def find(self, name: object) -> Memory | None:
        """The memory of that name, if it is still there."""
        with self._lock:
            found = self._kept.get(name) if isinstance(name, str) else None
            if found is not None:
                self._kept.move_to_end(found.name)
            return found
