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
MEMORY = 8 * 1024**3
"""Bytes of one run."""


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Begin before anything of armdyn is imported."""
    plan = json.loads(Path(os.environ[PLAN]).read_text())
    early_config.pluginmanager.register(Limited(**plan) if "order" in plan else Noting(**plan))


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
    """Writes the tests that ran, their CPU seconds and whether they passed, and what they entered.

    What a fixture enters counts for all tests of the file.
    """

    def __init__(self, source: str, out: str):
        self.source, self.out = source + os.sep, out
        self.codes: dict[int, CodeType] = {}
        self.seconds: dict[str, float] = defaultdict(float)
        self.started = 0.0
        self.passed: dict[str, bool] = {}
        self.imported: set[str] = set()
        self.fixtures: set[str] = set()
        self.entered: dict[str, set[str]] = defaultdict(set)
        threading.settrace(self.trace)
        sys.settrace(self.trace)

    def trace(self, frame: FrameType, event: str, arg: object) -> None:
        """Called at the start of every function; without a result, not at its lines."""
        code = frame.f_code
        self.codes[id(code)] = code

    def taken(self) -> set[str]:
        """What was entered since the last time."""
        codes, self.codes = self.codes, {}
        return {
            place(code, self.source)
            for code in list(codes.values())
            if code.co_filename.startswith(self.source)
        }

    def pytest_collection_finish(self) -> None:
        """What importing and collecting entered."""
        self.imported = self.taken()
        self.started = time.process_time()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """What setup, call or teardown of a test entered."""
        name, entered = report.nodeid, self.taken()
        self.seconds[name] += time.process_time() - self.started
        self.started = time.process_time()
        if report.when == "call":
            for one in entered:
                self.entered[one].add(name)
            if not report.skipped:
                self.passed[name] = report.passed
        else:
            self.fixtures |= entered
            if report.failed:
                self.passed[name] = False

    def pytest_sessionfinish(self) -> None:
        """Write it."""
        sys.settrace(None)
        number = {name: index for index, name in enumerate(self.passed)}
        data = {
            "tests": [[name, self.seconds[name], passed] for name, passed in self.passed.items()],
            "imported": sorted(self.imported),
            "entered": {
                one: sorted(number[name] for name in names & number.keys())
                for one, names in self.entered.items()
            }
            | dict.fromkeys(self.fixtures, tuple(number.values())),
        }
        Path(self.out).write_text(json.dumps(data))


def place(code: CodeType, source: str) -> str:
    """File and first line of a function or class; a module has the line 0."""
    line = 0 if code.co_name == "<module>" else code.co_firstlineno
    return f"{Path(code.co_filename[len(source) :]).as_posix()}:{line}"
