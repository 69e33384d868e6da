"""Our own line to a window, beside that of viser: differences of what is shown, and wishes."""

import asyncio
import contextlib
import json
import math
import secrets
import threading
from collections.abc import Callable, Iterator
from queue import SimpleQueue
from typing import Any

from websockets.asyncio.server import ServerConnection
from websockets.exceptions import ConnectionClosed

from armdyn.arrays import check_whole
from armdyn.errors import StudioError, require, shown

LONGEST_MESSAGE = 2**20
"""Characters of a message that is read."""
WHOLE = 0.5
"""A list of which a larger part has changed is sent as a whole."""

Hear = Callable[[dict[str, Any]], None]
"""Called with a message of the page."""


def patches(old: Any, new: Any, path: tuple[Any, ...] = ()) -> Iterator[list[Any]]:
    """What makes the old value the new one: pairs of a path into it and what stands there."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in old.keys() - new.keys():
            yield [[*path, key], None]
        for key, value in new.items():
            if key not in old:
                yield [[*path, key], value]
            else:
                yield from patches(old[key], value, (*path, key))
    elif old == new:
        return
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        changed = [i for i, (a, b) in enumerate(zip(old, new, strict=True)) if a != b]
        if len(changed) > WHOLE * len(new):
            yield [[*path], new]
        else:
            for i in changed:
                yield from patches(old[i], new[i], (*path, i))
    else:
        yield [[*path], new]


class Wire:
    """The line of one window; every method may be called from any thread."""

    def __init__(self, fail: Callable[[BaseException], None]):
        """Errors of what the page asks for are told with `fail`."""
        self.key = secrets.token_urlsafe(16)
        """What a page must know to be this window."""
        self._fail = fail
        self._lock = threading.Lock()
        self._shown: dict[str, Any] = {}
        self._heard: dict[str, Hear] = {}
        self._line: tuple[asyncio.AbstractEventLoop, asyncio.Event] | None = None
        self._asked: SimpleQueue[str | bytes | None] = SimpleQueue()
        threading.Thread(target=self._run, daemon=True, name="armdyn-studio-page").start()
        self.sent = 0
        """Characters that were sent."""

    def show(self, **parts: Any) -> None:
        """Let the page show other parts: plain data, which nobody changes afterwards."""
        with self._lock:
            self._shown |= parts
        line = self._line
        if line is not None:
            with contextlib.suppress(RuntimeError):  # the loop has ended
                line[0].call_soon_threadsafe(line[1].set)

    @property
    def connected(self) -> bool:
        """Whether there is a page at the other end."""
        return self._line is not None

    def on(self, kind: str, hear: Hear) -> None:
        """Say who hears messages of a kind."""
        self._heard[kind] = hear

    def hear(self, text: str | bytes) -> None:
        """Take a message of the page."""
        try:
            if len(text) > LONGEST_MESSAGE:
                raise StudioError(f"a message of the page has {len(text)} characters")
            message = json.loads(text)
            kind = message.get("do") if isinstance(message, dict) else None
            if kind not in self._heard:
                raise StudioError(f"the page asks for {shown(kind)}, which nobody knows; reload it")
            self._heard[kind](message)
        except RecursionError:
            self._fail(StudioError("a message of the page is nested too deep"))
        except ValueError as error:
            self._fail(StudioError(f"a message of the page cannot be read: {error}"))
        except Exception as error:
            self._fail(error)

    async def serve(self, connection: ServerConnection) -> None:
        """Speak with a page until it is closed; the last one that came is spoken with."""
        asked = asyncio.Event()
        asked.set()
        self._line = asyncio.get_running_loop(), asked
        sending = asyncio.create_task(self._send(connection, asked))
        try:
            async for text in connection:
                self._asked.put(text)
        except ConnectionClosed:
            pass
        finally:
            sending.cancel()
            if self._line is not None and self._line[1] is asked:
                self._line = None

    def close(self) -> None:
        """End it."""
        self._line = None
        self._asked.put(None)

    def _run(self) -> None:
        """Do what the page asks for, one after the other."""
        while (text := self._asked.get()) is not None:
            self.hear(text)

    async def _send(self, connection: ServerConnection, asked: asyncio.Event) -> None:
        before: dict[str, Any] = {}
        with contextlib.suppress(ConnectionClosed):
            while True:
                await asked.wait()
                asked.clear()
                with self._lock:
                    now = dict(self._shown)
                changes = [*patches(before, now)]
                before = now
                if changes:
                    text = json.dumps(changes, separators=(",", ":"), allow_nan=False)
                    self.sent += len(text)
                    await connection.send(text)


def number(message: dict[str, Any], name: str, low: float, high: float) -> float:
    """A number of a message, within bounds."""
    value = message.get(name)
    good = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    require(good, name, "a number", value, StudioError)
    if not low <= value <= high:  # type: ignore[operator]
        raise StudioError(f"{name}: expected {low:g} to {high:g}, got {value:g}")
    return float(value)  # type: ignore[arg-type]


def index(message: dict[str, Any], name: str, count: int) -> int:
    """A whole number of a message, from 0 to below a count."""
    return check_whole(name, message.get(name), 0, count - 1, StudioError)
