"""Copies of a checkout in which mutants.py changes the source and runs tests."""

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import accumulate, count
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from mutant_places import Mutant
from mutant_probe import PLAN, WORKER
from rich.progress import track

PACKAGE = Path("src", "armdyn")
PYTEST = [
    *("-m", "pytest", "-q", "--tb=no", "-p", "no:cacheprovider", "-p", "mutant_probe"),
    *("-p", "pytest_timeout", "-o", "timeout=0"),  # tests have their seconds in the plan
]
PROBE = "mutant_probe.py"
LONGEST_RUN = 7200.0
"""Seconds by the clock."""

_stamps = count(1)


@dataclass(frozen=True)
class Tree:
    """A copy of everything that tests read, with the source in it."""

    folder: Path

    def run(
        self, words: Iterable[str], plan: object = None, longest: float = LONGEST_RUN
    ) -> tuple[int, float, str]:
        """Exit code, CPU seconds and output of Python with these words."""
        with tempfile.TemporaryDirectory(dir=self.folder.parent, ignore_cleanup_errors=True) as own:
            told, output = Path(own, "plan.json"), Path(own, "output")
            told.write_text(json.dumps(plan))
            variables = {
                "PYTHONPATH": f"{self.folder / 'src'}{os.pathsep}{self.folder.parent}",
                "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
                "OPENBLAS_NUM_THREADS": "1",
                "TMPDIR": own,
                PLAN: str(told),
            }
            with output.open("w") as stream:
                process = subprocess.Popen(
                    [sys.executable, *words],
                    cwd=self.folder,
                    env={k: v for k, v in os.environ.items() if k != WORKER} | variables,
                    stdin=subprocess.DEVNULL,
                    stdout=stream,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
            late = threading.Timer(longest, os.killpg, (process.pid, signal.SIGKILL))
            late.start()
            os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
            late.cancel()
            with suppress(ProcessLookupError, PermissionError):  # what it left behind
                os.killpg(process.pid, signal.SIGKILL)
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            text = output.read_text(errors="replace")
        return process.returncode, used.ru_utime + used.ru_stime, text

    def files(self, places: Iterable[str]) -> list[str]:
        """The test files in folders, and those that are named."""
        found = [
            path
            for place in places
            for path in (self.folder / place, *sorted((self.folder / place).rglob("test_*.py")))
            if path.is_file()
        ]
        return list(dict.fromkeys(path.relative_to(self.folder).as_posix() for path in found))

    @contextmanager
    def changed(self, mutant: Mutant) -> Iterator[None]:
        """The source with a change; a time of its own tells the file from every compiled one."""
        path = self.folder / PACKAGE / mutant.file
        source, stat = path.read_bytes(), path.stat()
        path.write_bytes(mutant.of(source))
        os.utime(path, (stat.st_atime, int(stat.st_mtime) + next(_stamps)))
        try:
            yield
        finally:
            path.write_bytes(source)
            os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))


@contextmanager
def copies(source: Path, tests: Path, number: int) -> Iterator[list[Tree]]:
    """Trees with the source of one checkout and everything else of another."""
    unwanted = shutil.ignore_patterns(".venv", ".git", ".*_cache", "__pycache__", "build", "demo")
    with tempfile.TemporaryDirectory(prefix="mutants-", ignore_cleanup_errors=True) as work:
        first, *others = trees = [Tree(Path(work, str(index))) for index in range(number)]
        shutil.copytree(tests, first.folder, ignore=unwanted)
        shutil.rmtree(first.folder / "src")
        shutil.copytree(source / "src", first.folder / "src", ignore=unwanted)
        shutil.copy(Path(__file__).with_name(PROBE), work)
        for tree in others:
            shutil.copytree(first.folder, tree.folder)
        for tree in trees:
            _, _, text = tree.run(["-c", "import armdyn; print(armdyn.__file__)"])
            if not text.startswith(str(tree.folder)):
                raise SystemExit(f"tests would import another armdyn: {text}")
        yield trees


def in_trees(
    trees: list[Tree], work: Callable[[Tree, Any], Any], things: list[Any], title: str
) -> Iterator[Any]:
    """Results of work on things, as they come, one in each tree at a time."""
    idle: SimpleQueue[Tree] = SimpleQueue()
    for tree in trees:
        idle.put(tree)

    def one(thing: Any) -> Any:
        tree = idle.get()
        try:
            return work(tree, thing)
        finally:
            idle.put(tree)

    with ThreadPoolExecutor(len(trees)) as pool:
        try:
            jobs = as_completed([pool.submit(one, thing) for thing in things])
            for job in track(jobs, title, len(things)):
                yield job.result()
        finally:
            pool.shutdown(cancel_futures=True)


def keep(path: Path | None, data: object) -> None:
    """Write a file, if one is wanted, whole or not at all."""
    if path:
        beside = path.with_name(path.name + ".new")
        beside.write_text(json.dumps(data, ensure_ascii=False), encoding="utf-8")
        beside.replace(path)


def kept(path: Path | None) -> Any:
    """What a file has that was kept before."""
    return json.loads(path.read_text(encoding="utf-8")) if path and path.exists() else {}


# what tests enter


def survey(trees: list[Tree], files: list[str], path: Path | None) -> dict[str, Any]:
    """What tests of the unchanged source enter; what is kept of files that are as they were stays.

    "tests" have their seconds and whether they passed, "entered" the tests that enter a function,
    "beside" those that enter any function of a file.
    """
    known, digest = kept(path) or {"files": {}, "parts": []}, digests(trees[0], files)
    new = [file for file in files if known["files"].get(file) != digest[file]]
    if new:
        known["parts"] += noted(trees, new)
        known["files"] |= {file: digest[file] for file in new}
        keep(path, known)
    tests: dict[str, tuple[float, bool]] = {}
    entered: dict[str, set[str]] = defaultdict(set)
    for part in known["parts"]:
        tests |= part["tests"]
        for one, names in part["entered"].items():
            entered[one].update(names)
        for file, ones in part["fixtures"].items():
            for one in ones:
                entered[one].update(name for name in part["tests"] if name.startswith(f"{file}::"))
    taking = [item for part in known["parts"] for item in part["taking"].items()]
    for part in known["parts"]:
        for key, ones in part["program"].items():
            names = {name for other, takers in taking if other == key for name in takers}
            for one in ones:
                entered[one] |= names
    beside: dict[str, set[str]] = defaultdict(set)
    for one, names in entered.items():
        beside[one.partition(":")[0]] |= names
    imported = {one for part in known["parts"] for one in part["imported"]}
    return {"tests": tests, "entered": entered, "beside": beside, "imported": imported}


def noted(trees: list[Tree], files: list[str]) -> list[dict[str, Any]]:
    """What `mutant_probe.Noting` writes of test files, by worker."""
    tree, out = trees[0], trees[0].folder.with_suffix(".noted.")
    plan = {"source": str(tree.folder / PACKAGE), "out": str(out)}
    words = ["-p", "xdist", "-n", str(len(trees)), "--dist", "worksteal", "-m", "not thorough"]
    code, _, text = tree.run([*PYTEST, *words, *files], plan)
    if code not in (0, 1, 5):  # all passed, some failed, all are thorough
        raise SystemExit(f"tests do not run:\n{text}")
    return [json.loads(path.read_text()) for path in sorted(out.parent.glob(f"{out.name}*"))]


def digests(tree: Tree, files: list[str]) -> dict[str, str]:
    """Of each test file with what all of them use; the source may change, its functions stay."""
    paths = [*sorted((tree.folder / "tests/support").rglob("*.py")), tree.folder.parent / PROBE]
    shared = hashlib.sha256(b"\0".join(path.read_bytes() for path in paths)).digest()
    return {
        file: hashlib.sha256(shared + (tree.folder / file).read_bytes()).hexdigest()
        for file in files
    }


def chosen(
    seen: dict[str, Any], mutant: Mutant, files: list[str], most: float = LONGEST_RUN
) -> dict[str, float]:
    """The tests of files that enter the function of a mutant, with their seconds, quick ones first.

    They take so many seconds at most. A constant, a class and what only an import enters are
    changed for whoever enters a function beside them.
    """
    place = f"{mutant.file}:{mutant.scope}"
    names = seen["entered"].get(place, ())
    if not names and (not mutant.scope or place in seen["imported"]):
        names = seen["beside"].get(mutant.file, ())
    groups: dict[str, list[tuple[float, str]]] = {file: [] for file in files}
    for name in names:
        seconds, passed = seen["tests"].get(name, (0.0, False))
        if passed and (group := groups.get(name.partition("::")[0])) is not None:
            group.append((seconds, name))
    ordered = sorted(
        (sum(seconds for seconds, _ in group), sorted(group)) for group in groups.values()
    )
    tests = [(name, seconds) for _, group in ordered for seconds, name in group]
    ends = accumulate(seconds for _, seconds in tests)
    return {name: seconds for (name, seconds), end in zip(tests, ends, strict=True) if end <= most}
