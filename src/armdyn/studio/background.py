"""Threads beside the page: long jobs, and pictures at a limited rate."""

import threading
from collections.abc import Callable
from typing import Any

PICTURE_PERIOD = 1 / 30
"""The shortest time between two pictures [s]."""

Tell = Callable[[str], None]
"""Called with the present step of a job; it ends the job if that was cancelled."""


class CancelledError(Exception):
    """Ends a job that was cancelled, or whose window is closed."""


class Latest:
    """Calls a function in a thread when asked, with at least a period between two calls.

    All requests during a call count as one, so that the next call draws the last value.
    """

    def __init__(self, function: Callable[[], None], period: float = PICTURE_PERIOD):
        self._function, self._period = function, period
        self._asked, self._stopped = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True, name="armdyn-studio-latest")
        self._thread.start()

    def ask(self) -> None:
        """Ask for a call; this returns at once."""
        self._asked.set()

    def stop(self) -> None:
        """No more calls."""
        self._stopped.set()
        self._asked.set()

    def _run(self) -> None:
        while True:
            self._asked.wait()
            if self._stopped.is_set():
                return
            self._asked.clear()
            self._function()
            self._stopped.wait(self._period)


class Jobs:
    """Long work of one window, each kind once at a time."""

    def __init__(self, show: Callable[[list[str]], None], fail: Callable[[BaseException], None]):
        """Show the steps of the running jobs with `show`, and errors with `fail`."""
        self._show, self._fail = show, fail
        self._lock = threading.Lock()
        self._now: dict[str, str] = {}
        self._run_number: dict[str, int] = {}
        """Of the run of each kind whose result is wanted."""
        self._closed = False

    def start(self, name: str, work: Callable[[Tell], Any], done: Callable[[Any], None]) -> bool:
        """Start a job unless one of this name is running, and say whether it was started.

        The work may tell its present step; `done` gets its result, in the same thread.
        """
        with self._lock:
            if name in self._now or self._closed:
                return False
            self._now[name] = name
            number = self._run_number[name] = self._run_number.get(name, 0) + 1
        self._tell()
        threading.Thread(
            target=self._run, args=(name, number, work, done), daemon=True,
            name=f"armdyn-studio-{name}",
        ).start()  # fmt: skip
        return True

    def cancel(self) -> None:
        """Forget all running jobs: each ends when it next tells its step, and others may begin."""
        with self._lock:
            for name in self._now:
                self._run_number[name] += 1
            self._now.clear()
        self._tell()

    def close(self) -> None:
        """End each job when it next tells its step, and forget its result."""
        self._closed = True

    @property
    def running(self) -> tuple[str, ...]:
        """The names of the jobs that are running."""
        with self._lock:
            return tuple(self._now)

    def _run(
        self, name: str, number: int, work: Callable[[Tell], Any], done: Callable[[Any], None]
    ) -> None:
        def wanted() -> bool:
            return not self._closed and self._run_number[name] == number

        def tell(what: str) -> None:
            with self._lock:
                if not wanted():
                    raise CancelledError
                self._now[name] = what
            self._tell()

        try:
            result = work(tell)
            if wanted():
                done(result)
        except CancelledError:
            pass
        except Exception as error:
            if wanted():
                self._fail(error)
        finally:
            with self._lock:
                if self._run_number[name] == number:
                    self._now.pop(name, None)
            self._tell()

    def _tell(self) -> None:
        if not self._closed:
            with self._lock:
                now = list(self._now.values())
            self._show(now)
