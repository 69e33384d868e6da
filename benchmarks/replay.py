"""Compare what two trees of armdyn compute: programs, counts, values and files, robot by robot.

Each tree runs in a process of its own and is asked through the public face alone, so that it does
not matter what its rooms and modules are called.
"""

import argparse
import io
import json
import os
import re
import subprocess
import sys
import tarfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from itertools import zip_longest
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from rich.console import Console
from rich.markup import escape
from rich.progress import Progress
from rich.table import Table

ROOT = Path(__file__).parents[1]
LAST_BIT = 1e-12
"""Differences up to this, relative to the largest entry, are rounding."""
MOST_ROWS = 60
"""Differences that are printed."""
KINDS = ("value", "count", "last bit", "text")
"""Classes of differences, the gravest first."""
PARTS = ("data", "kernels", "others", "files", "options", "verbs")
"""Methods of `replay_items.Recorder`."""
QUICK = {
    **dict.fromkeys(("panda", "stanford", "scara", "five_bar"), 4),
    **dict.fromkeys(("arms/screws", "arms/mixed_tree", "arms/regrouped_tree"), 4),
    **dict.fromkeys(("two_link", "four_bar", "arms/hand"), 6),
}
"""How many of the parts some robots get in the quick set; the others get two."""
Item = dict[str, Any]
"""Some of: texts by name, an operation count as text and its total, values, an error."""
Record = dict[str, dict[str, Item]]
"""What a tree computes, by robot and item."""


@dataclass(frozen=True)
class Difference:
    """What one item of a robot differs in."""

    robot: str
    item: str
    kind: str
    """One of `KINDS`."""
    detail: str
    worse: bool = False
    """Whether it is a value, or a count that went up."""


def differences(base: Record, head: Record) -> list[Difference]:
    """What differs between two records, the gravest first."""
    found = []
    for robot in base.keys() | head.keys():
        one, other = base.get(robot, {}), head.get(robot, {})
        loaded = not any("error" in items.get("all", {}) for items in (one, other))
        for item in (one.keys() | other.keys()) if loaded else ("all",):
            pair = one.get(item), other.get(item)
            details = dict(_compared(*pair))
            if details:
                kind = min(details, key=KINDS.index)
                totals = [(side or {}).get("total", 0) for side in pair]
                worse = kind == "value" or totals[0] < totals[1]
                found.append(Difference(robot, item, kind, "; ".join(details.values()), worse))
    return sorted(found, key=lambda d: (KINDS.index(d.kind), d.robot, d.item))


def _compared(one: Item | None, other: Item | None) -> Iterator[tuple[str, str]]:
    """The classes of difference of an item, each with a detail."""
    if one is None or other is None:
        yield "value", f"only in {'head' if one is None else 'base'}"
        return
    errors = one.get("error"), other.get("error")
    if errors != (None, None):
        if None in errors:
            side = "base" if errors[0] else "head"
            yield "value", f"error in {side} only: {errors[0] or errors[1]}"
        elif errors[0] != errors[1]:
            yield "text", f"error: {errors[0]} → {errors[1]}"
        return
    a, b = np.array(one.get("values", [])), np.array(other.get("values", []))
    if a.shape != b.shape:
        yield "value", f"{a.size} → {b.size} numbers"
    elif not np.array_equal(a, b, equal_nan=True):
        with np.errstate(invalid="ignore"):
            apart = np.where((a == b) | (np.isnan(a) & np.isnan(b)), 0.0, np.abs(a - b)).max()
        apart /= np.max(np.abs(a), where=np.isfinite(a), initial=0.0) or 1.0
        yield ("last bit" if apart <= LAST_BIT else "value"), f"values differ by {apart:.1e}"
    if one.get("count") != other.get("count"):
        yield "count", f"{one.get('count')} → {other.get('count')}"
    texts = one.get("texts", {}), other.get("texts", {})
    names = [n for n in {**texts[0], **texts[1]} if texts[0].get(n) != texts[1].get(n)]
    if names:
        lines = [text.get(names[0], "").splitlines() for text in texts]
        pairs = enumerate(zip_longest(*lines, fillvalue=""), 1)
        place, (was, now) = next(((k, p) for k, p in pairs if p[0] != p[1]), (0, ("", "")))
        yield "text", f"{', '.join(names)}: line {place}: {was[:60]!r} → {now[:60]!r}"


def record(tree: Path, plan: Mapping[str, Any], tell: Callable[[], Any] = lambda: None) -> Record:
    """What the armdyn in tree/src computes by a `plan`; `tell` is called after each robot."""
    source = str(tree.resolve() / "src")
    script = str(ROOT / "benchmarks" / "replay_items.py")
    command = [sys.executable, script, source, json.dumps(plan)]
    found: Record = {}
    with TemporaryDirectory() as cache:
        own = {"PYTHONPATH": source, "ARMDYN_CACHE_DIR": cache, "OPENBLAS_NUM_THREADS": "1"}
        with subprocess.Popen(command, stdout=subprocess.PIPE, env=os.environ | own) as child:
            for line in child.stdout or ():
                found |= json.loads(line)
                tell()
    if child.returncode:
        raise RuntimeError(f"{tree}: the process ended with {child.returncode}")
    return found


def plan(folder: Path, whole: bool, robots: str = "", quantities: str = "") -> dict[str, Any]:
    """Robots with their parts, and quantities with their arguments and options.

    The list of robots that tests use is written into a folder as files, which older trees can load.
    Quantities are those of docs/kernels.md.
    """
    code = (
        "import armdyn, json, sys; from support.arms import ARMS\n"
        "for name, arm in ARMS.items(): armdyn.Robot(arm.model).save(f'{name}.toml')\n"
        "print(json.dumps([armdyn.robots(), list(ARMS)]))"
    )
    path = os.pathsep.join(str(ROOT / name) for name in ("src", "tests"))
    command, env = [sys.executable, "-W", "ignore", "-c", code], os.environ | {"PYTHONPATH": path}
    names = json.loads(subprocess.check_output(command, env=env, cwd=folder))
    sources = {name: name for name in names[0]}
    sources |= {f"arms/{name}": str(folder / f"{name}.toml") for name in names[1]}
    chosen = robots.split(",") if robots else sources
    page = (ROOT / "docs" / "kernels.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \| ([\w, ]+) \|([\w, ]*)\|$", page, re.MULTILINE)
    table = {name: [re.findall(r"\w+", cell) for cell in cells] for name, *cells in rows}
    wanted = quantities.split(",") if quantities else table
    depth = {name: len(PARTS) if whole else QUICK.get(name, 2) for name in chosen}
    return {
        "robots": {name: [sources[name], PARTS[: depth[name]]] for name in chosen},
        "quantities": {name: table[name] for name in wanted},
    }


@contextmanager
def tree_of(name: str) -> Iterator[Path]:
    """A folder, or a temporary one with the sources of a commit."""
    if Path(name).is_dir():
        yield Path(name)
        return
    with TemporaryDirectory() as folder:
        packed = subprocess.check_output(["git", "-C", ROOT, "archive", name, "src"])
        with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
            archive.extractall(folder, filter="data")
        yield Path(folder)


def replay(base: Path, head: Path, plan: Mapping[str, Any]) -> tuple[Record, Record]:
    """The records of two trees, made side by side."""
    with Progress(console=Console(stderr=True)) as progress, ThreadPoolExecutor(2) as pool:
        robots = len(plan["robots"])
        bars = [progress.add_task(name, total=robots) for name in ("base", "head")]
        tells = [partial(progress.advance, bar) for bar in bars]
        one, other = pool.map(record, (base, head), (plan, plan), tells)
    return one, other


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare, print a table; 1 if a value differs or a count went up."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("base", help="a commit, or a folder with src in it")
    parser.add_argument("--head", type=Path, default=ROOT, help="the other folder; this one")
    parser.add_argument("--all", action="store_true", help="every part of every robot")
    parser.add_argument("--robots", default="", help="some of them, as panda,arms/elbow")
    parser.add_argument("--quantities", default="", help="some of docs/kernels.md")
    parser.add_argument("--json", type=Path, help="a file for all differences")
    given = parser.parse_args(arguments)
    with TemporaryDirectory() as folder, tree_of(given.base) as base:
        what = plan(Path(folder), given.all, given.robots, given.quantities)
        records = replay(base, given.head, what)
    found = differences(*records)
    if given.json:
        given.json.write_text(json.dumps([asdict(one) for one in found], indent=1))
    print_differences(found, records)
    return int(any(one.worse for one in found))


def print_differences(found: Sequence[Difference], records: tuple[Record, Record]) -> None:
    """The gravest as a table, and how many of each kind there are."""
    console, table = Console(), Table("robot", "item", "class", "detail", box=None)
    for one in found[:MOST_ROWS]:
        table.add_row(*map(escape, (one.robot, one.item, one.kind, one.detail)))
    if found:
        console.print(table)
    if len(found) > MOST_ROWS:
        console.print(f"... and {len(found) - MOST_ROWS} more, all of which --json writes")
    items = [item for robot in records[1].values() for item in robot.values()]
    counts = Counter(one.kind for one in found)
    kinds = ", ".join(f"{counts[kind]} {kind}" for kind in KINDS)
    errors = sum("error" in item for item in items)
    spent = os.times()
    console.print(
        f"{len(records[1])} robots, {len(items)} items ({errors} of them errors): {kinds}; "
        f"{spent.children_user + spent.children_system:.0f} s of CPU"
    )


if __name__ == "__main__":
    sys.exit(main())
