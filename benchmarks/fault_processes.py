"""Attacks on processes: signals, forks, memory and time."""

import contextlib
import gc
import os
import resource
import signal as signals
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

import armdyn
from armdyn.errors import ArmdynError
from armdyn.io.atomic import write_text
from armdyn.kernels.cache import ObjectCache
from armdyn.robot import Robot

WRITER = """
import sys, time
import numpy as np
from armdyn.io.csv.table import write_csv
print("ready", flush=True)
columns = {"t": np.arange(50_000.0)}
while True:
    write_csv("out.csv", columns, progress=lambda rows: time.sleep(0.001))
"""
KEEPER = """
import hashlib
from pathlib import Path
from armdyn.kernels.cache import ObjectCache
cache, number = ObjectCache(Path("kernels")), 0
print("ready", flush=True)
while True:
    key = hashlib.sha256(bytes([number % 5])).hexdigest()
    cache.put(key, bytes([number % 5]) * 200_000)
    number += 1
"""
KERNELS = 60
"""Kernels of one try of the attack on memory."""
KEPT_OF_A_KERNEL = 2000
"""Bytes that may stay of a kernel that was dropped."""


@contextlib.contextmanager
def bounded(seconds: float, megabytes: float) -> Iterator[Callable[[], bool]]:
    """A function that tells whether the block took at most so much time and memory."""

    def peak() -> float:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

    start, before = time.monotonic(), peak()
    ends: list[float] = []
    yield lambda: ends[0] <= seconds and ends[1] <= megabytes
    ends += [time.monotonic() - start, peak() - before]


def _killed(folder: Path, code: str, number: int, signal: str) -> None:
    """Run code in another process, and end it by a signal after a while."""
    running = subprocess.Popen(
        [sys.executable, "-c", code], cwd=folder, stdout=subprocess.PIPE, text=True
    )
    assert running.stdout is not None
    running.stdout.readline()
    time.sleep(0.01 + 0.007 * number)
    running.send_signal(signals.Signals[signal])
    running.wait()
    running.stdout.close()


def killed_writer(folder: Path, number: int, signal: str) -> bool:
    """Whether a file is whole or not there, and nothing stays beside it."""
    _killed(folder, WRITER, number, signal)
    if signal == "SIGKILL":
        write_text(folder / "next", "new")
        (folder / "next").unlink()
    whole = not (folder / "out.csv").exists() or (folder / "out.csv").read_text().endswith(
        "49999\n"
    )
    return whole and set(os.listdir(folder)) <= {"out.csv"}


def killed_cache(folder: Path, number: int) -> bool:
    """Whether every kernel that is found is whole, and the next write leaves nothing half done."""
    _killed(folder, KEEPER, number, "SIGKILL")
    cache = ObjectCache(folder / "kernels")
    cache.put("e" * 64, b"next")
    found = [cache.get(entry.name.partition(".")[0]) for entry in cache.entries()]
    whole = all(one == b"next" or one == one[:1] * 200_000 for one in found if one is not None)
    return whole and None not in found and not list((folder / "kernels").glob(".*"))


def _arm(number: int, joints: int = 1) -> Robot:
    """An arm that nobody has compiled yet."""
    row = {"joint": "revolute", "a": 0.5 + 1e-6 * number, "alpha": 0.3, "d": 0.1, "theta": 0.0}
    row |= {"mass": 1.0, "com": (0.1, 0.0, 0.0), "inertia": 0.1 * np.eye(3)}
    return armdyn.from_dh([row] * joints)


def _torque(robot: Robot) -> None:
    robot.inverse_dynamics(*np.full((3, robot.n), 0.1))


def forked(folder: Path, number: int) -> bool:
    """Whether a child computes, or gets an error, while a thread of its parent compiles."""
    os.environ["ARMDYN_CACHE_DIR"] = "off"
    stop, shared = threading.Event(), _arm(10**6 + number, 2)

    def compile_all() -> None:
        for count in range(10**6):
            if stop.is_set():
                return
            _torque(_arm(1000 * number + count, 2))

    thread = threading.Thread(target=compile_all)
    thread.start()
    time.sleep(0.05 + 0.037 * (number % 10))
    child = os.fork()
    if child == 0:
        try:
            _torque(shared)
        finally:
            os._exit(0)
    stop.set()
    thread.join()
    end = time.monotonic() + 30
    while time.monotonic() < end:
        if os.waitpid(child, os.WNOHANG)[0]:
            return True
        time.sleep(0.01)
    os.kill(child, signals.SIGKILL)
    os.waitpid(child, 0)
    return False


def forgets_kernels(folder: Path, number: int) -> bool:
    """Whether the memory of kernels is free again after they were dropped."""
    os.environ["ARMDYN_CACHE_DIR"] = "off"

    def resident() -> int:
        gc.collect()
        pages = Path("/proc/self/statm").read_text().split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE")

    def make(first: int) -> None:
        for count in range(KERNELS):
            _torque(_arm(first + count))

    make(10**6 * (2 * number + 1))
    before = resident()
    make(10**6 * (2 * number + 2))
    return resident() - before < KEPT_OF_A_KERNEL * KERNELS


def simulation_ends(folder: Path, number: int) -> bool:
    """Whether a run from a state without a motion ends."""
    method = ("DOP853", "RK45", "rk4", "LSODA", "Radau")[number % 5]
    start = np.full(2, 10.0 ** (154 - 3 * (number // 5)))
    with bounded(seconds=15.0, megabytes=300.0) as spent, contextlib.suppress(ArmdynError):
        armdyn.simulate(armdyn.load("two_link"), start, start, 0.1, method=method)
    return spent()
