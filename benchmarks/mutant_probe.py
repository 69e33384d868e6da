"""A plugin of pytest for mutants.py.

It notes which test enters which function, or runs a list of tests within limits of time and memory.
"""

import json
import os
import signal
import sys
import threading
import time
from collections import defaultdict
from pathlib import Path
from types import CodeType, FrameType

import pytest

PLAN = "MUTANT_PLAN"
"""The variable that names the file of the plan."""
WORKER = "PYTEST_XDIST_WORKER"
"""The variable that names a worker."""
MEMORY = 8 * 1024**3
"""Bytes of one run."""


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Begin before anything of armdyn is imported."""
    plan = json.loads(Path(os.environ[PLAN]).read_text())
    if "order" in plan:
        early_config.pluginmanager.register(Limited(**plan))
    elif WORKER in os.environ:
        early_config.pluginmanager.register(Noting(**plan))


class Limited:
    """Runs the tests of a list; a test or a run that takes too long ends the process."""

    def __init__(self, order: list[str], test_seconds: float, seconds: float):
        import resource  # noqa: PLC0415  # Windows has none

        self.order = {name: rank for rank, name in enumerate(order)}
        self.test_seconds = test_seconds
        resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 1, int(seconds) + 1))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        self.pytest_runtest_logstart()

    def pytest_runtest_logstart(self) -> None:
        """The default action of the signal is the end, also within a loop of C."""
        signal.setitimer(signal.ITIMER_PROF, self.test_seconds)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Leave the tests of the list, in its order."""
        chosen = [item for item in items if item.nodeid in self.order]
        items[:] = sorted(chosen, key=lambda item: self.order[item.nodeid])


class Noting:
    """Writes the tests that a worker ran, their CPU seconds, if they passed, and what they entered.

    What a fixture enters counts for all tests of its file; what making a program enters, for all
    tests that take this program from those that are kept for the run.
    """

    def __init__(self, source: str, out: str):
        self.source, self.out = source + os.sep, out + os.environ[WORKER]
        self.codes: dict[int, CodeType] = {}
        self.seconds: dict[str, float] = defaultdict(float)
        self.started = 0.0
        self.passed: dict[str, bool] = {}
        self.imported: set[str] = set()
        self.fixtures: dict[str, set[str]] = defaultdict(set)
        self.entered: dict[str, set[str]] = defaultdict(set)
        self.program: dict[str, set[str]] = defaultdict(set)
        self.programs: set[str] = set()
        self.taking: dict[str, set[str]] = defaultdict(set)
        if sys.version_info >= (3, 12):  # hardly slower; tracing takes several times as long
            watch = sys.monitoring
            watch.use_tool_id(watch.COVERAGE_ID, "mutants")
            watch.register_callback(watch.COVERAGE_ID, watch.events.PY_START, self.start)
            watch.set_events(watch.COVERAGE_ID, watch.events.PY_START)
        else:
            threading.settrace(self.trace)
            sys.settrace(self.trace)

    def start(self, code: CodeType, offset: int) -> object:
        """Called at the first start of a function, until the events are restarted."""
        self.codes[id(code)] = code
        return sys.monitoring.DISABLE

    def trace(self, frame: FrameType, event: str, arg: object) -> None:
        """Called at the start of every function; without a result, not at its lines."""
        self.codes[id(frame.f_code)] = frame.f_code

    def taken(self) -> set[str]:
        """What was entered since the last time."""
        codes, self.codes = self.codes, {}
        if sys.version_info >= (3, 12):
            sys.monitoring.restart_events()
        return {
            place(code, self.source)
            for code in list(codes.values())
            if code.co_filename.startswith(self.source)
        }

    def pytest_collection_finish(self) -> None:
        """What importing and collecting entered; from here on programs are noted."""
        self.imported = self.taken()
        self.started = time.process_time()
        if programs := sys.modules.get("support.programs"):
            kept = programs.kept_program

            def noted(model: object, request: object) -> object:
                key, before = f"{model.digest} {request}", self.codes
                misses, _ = kept.cache_info().misses, self.taken()
                program = kept(model, request)
                if kept.cache_info().misses > misses:
                    self.program[key] |= self.taken()
                self.codes |= before
                self.programs.add(key)
                return program

            programs.kept_program = noted

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """What setup, call or teardown of a test entered."""
        name, entered = report.nodeid, self.taken()
        programs, self.programs = self.programs, set()
        self.seconds[name] += time.process_time() - self.started
        self.started = time.process_time()
        for key in programs:
            self.taking[key].add(name)
        if report.when == "call":
            for one in entered:
                self.entered[one].add(name)
            if not report.skipped:
                self.passed[name] = report.passed
        else:
            self.fixtures[name.partition("::")[0]] |= entered
            if report.failed:
                self.passed[name] = False

    def pytest_sessionfinish(self) -> None:
        """Write it."""
        sys.settrace(None)
        data = {
            "tests": {name: [self.seconds[name], passed] for name, passed in self.passed.items()},
            "imported": sorted(self.imported),
            "entered": {one: sorted(names) for one, names in self.entered.items()},
            "fixtures": {file: sorted(entered) for file, entered in self.fixtures.items()},
            "program": {key: sorted(entered) for key, entered in self.program.items()},
            "taking": {key: sorted(names) for key, names in self.taking.items()},
        }
        Path(self.out).write_text(json.dumps(data))


def place(code: CodeType, source: str) -> str:
    """File and qualified name of a function or class."""
    return f"{Path(code.co_filename[len(source) :]).as_posix()}:{code.co_qualname}"
