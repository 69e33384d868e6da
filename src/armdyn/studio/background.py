"""Threads beside the page: long jobs, and pictures at a limited rate."""

import ctypes
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

PICTURE_PERIOD = 1 / 30
"""The shortest time between two pictures [s]."""
PATIENCE = 0.3
"""Time that a cancelled job has to end at a step of its own, before it is ended anywhere [s]."""

Tell = Callable[[str], None]
"""Called with the present step of a job; it ends the job if that was cancelled."""


class CancelledError(BaseException):
    """Ends a job that was cancelled, or whose window is closed; no handler of errors stops it."""


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


@dataclass(slots=True, eq=False)
class Job:
    """Work beside the page."""

    number: int
    name: str
    robot: str
    """The title of the robot that it is about."""
    step: str
    thread: threading.Thread = field(default_factory=threading.Thread)
    working: bool = True
    """Whether it can still be ended anywhere: its work goes on."""
    wanted: bool = True


class Jobs:
    """Long work of one window about one robot; a new job takes the place of one of its name."""

    def __init__(self, show: Callable[[list[Job]], None], fail: Callable[[BaseException], None]):
        """Show the running jobs with `show`, and errors with `fail`."""
        self._show, self._fail = show, fail
        self._lock = threading.Lock()
        self._showing = threading.Lock()
        """Held while the jobs are shown, so that none that has ended is shown last."""
        self._jobs: dict[int, Job] = {}
        self._count = 0
        self._closed = False

    def start(
        self, name: str, work: Callable[[Tell], Any], done: Callable[[Any], None], robot: str = ""
    ) -> None:
        """Start a job, and cancel one of the same name that is still running.

        The work may tell its present step; `done` gets its result, in the same thread.
        """
        for job in self.running:
            if job.name == name:
                self.cancel(job.number)
        with self._lock:
            if self._closed:
                return
            self._count += 1
            job = Job(self._count, name, robot, name)
            job.thread = threading.Thread(
                target=self._run, args=(job, work, done), daemon=True, name=f"armdyn-studio-{name}"
            )
            self._jobs[job.number] = job
        self._tell()
        job.thread.start()

    def cancel(self, number: int | None = None) -> None:
        """End a job, or all: at its next step, or a moment later wherever it is.

        It is forgotten at once, so that it keeps no other from beginning.
        """
        with self._lock:
            chosen = [job for key, job in self._jobs.items() if number in (None, key)]
            for job in chosen:
                job.wanted = False
                del self._jobs[job.number]
        for job in chosen:
            timer = threading.Timer(PATIENCE, _end, (job,))
            timer.daemon = True
            timer.start()
        self._tell()

    def close(self) -> None:
        """End every job, and begin none."""
        self._closed = True
        self.cancel()

    @property
    def running(self) -> tuple[Job, ...]:
        """The jobs that are running."""
        with self._lock:
            return tuple(self._jobs.values())

    def _run(self, job: Job, work: Callable[[Tell], Any], done: Callable[[Any], None]) -> None:
        def tell(what: str) -> None:
            if not job.wanted:
                raise CancelledError
            job.step = what
            self._tell()

        try:
            try:
                result = work(tell)
            finally:
                job.working = False
            if job.wanted:
                done(result)
        except CancelledError:
            pass
        except Exception as error:
            if job.wanted:
                self._fail(error)
        finally:
            with self._lock:
                self._jobs.pop(job.number, None)
            self._tell()

    def _tell(self) -> None:
        with self._showing:
            if not self._closed:
                self._show([*self.running])


def _end(job: Job) -> None:
    """Raise an error in the thread of a job, if it is still at work."""
    if job.working and job.thread.ident is not None and job.thread.is_alive():
        ended = ctypes.c_ulong(job.thread.ident), ctypes.py_object(CancelledError)
        ctypes.pythonapi.PyThreadState_SetAsyncExc(*ended)
