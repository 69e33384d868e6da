"""Change one place of the source at a time, and count the changes that tests notice.

The unchanged source runs first, to see which test enters which function, and how long it takes.
Then each mutant runs the tests that enter its function, until one fails: those near its room, then
all others, the quick ones first and as many as --most seconds allow: what is caught so is caught by
all of them. Python 3.12 and later see what tests enter with hardly any delay. --json and --map keep
what is done, so that a run can go on later; --only runs mutants again, --tests takes the tests of
another checkout, --replay compares what survivors compute.
"""

import argparse
import random
import re
import signal
import tempfile
from collections import Counter
from collections.abc import Iterable
from itertools import zip_longest
from pathlib import Path
from typing import Any

from mutant_places import Mutant, places
from mutant_trees import PACKAGE, PYTEST, Tree, chosen, copies, in_trees, keep, kept, survey
from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).parents[1]
ROOMS = {
    "formulations": ["tests/unit/formulations"],
    "loops": ["tests/unit/loops"],
    "shorten": ["tests/compiler", "tests/unit/shorten", "tests/unit/test_portraits.py"],
    "graph": ["tests/unit/graph", "tests/compiler/test_program.py"],
    "quantities": ["tests/unit/quantities"],
    "model": ["tests/unit/model", "tests/unit/io", "tests/unit/check"],
    "simulation": ["tests/unit/simulation"],
    "identification": ["tests/unit/identification"],
}
"""Folders of the package in which places are changed, and the tests near them."""
APART = ("tests/studio/", "tests/torch/", "tests/targets/")
"""Tests that run in a browser or with programs of others, by a command of their own."""
UNSEEN_IN_REPLAY = {"simulation", "identification"}
"""Rooms of which replay.py tells little."""
DRAWINGS = {"curves", "page", "panels", "phase_plane", "picture", "plots", "report"}
"""Files of pictures and prose, whose numbers are a matter of taste."""
DRAWING_FUNCTIONS = re.compile(r"(\w*_)?figure|_draw_\w+|_log_scale")
"""Functions of other files that draw their pictures."""
EQUIVALENT = {
    ("formulations/scaled_newton.py", "float(x @ (self.b))"): "the same product of two vectors",
    ("graph/division.py", "elif w >= 0:"): "it is not zero there",
    ("graph/nodes.py", "if x.value <= 0:"): "zero is gone there",
    ("graph/operations.py", "np.where(x == 0, 2.0"): "it is multiplied by zero",
    ("graph/ring.py", "if min(x, y) >= 0:"): "neither is zero there",
    ("graph/ring.py", "if max(x, y) <= 0:"): "neither is zero there",
    ("loops/coordinates.py", "np.empty(1)"): "nobody reads it before there are positions",
    ("loops/iteration.py", "(s - SOME).sign()"): "a half turn goes either way",
    ("", ".reshape(-2, "): "any negative length is what is left",
    ("", ".reshape(2, -2)"): "any negative length is what is left",
    ("", ".reshape(1, -2, "): "any negative length is what is left",
    ("loops/loop_coordinates.py", " @ (g)"): "the same product of two vectors",
    ("identification/payload.py", "phi @ (phi @ A)"): "the matrix is symmetric",
    ("simulation/fixed.py", "steps // every + 2"): "rows that are not read",
    ("simulation/system.py", "np.inf], (n, 2)"): "two columns alone are read",
    ("formulations/base_parameters.py", "1 if x <= self.prime - x"): "a prime is odd",
    ("formulations/base_parameters.py", "_SPARE_ROWS = 9"): "rows are more than the rank even so",
    ("formulations/base_parameters.py", "count - _SPARE_ROWS"): "rows are more than the rank",
    ("graph/operations.py", "parity=-2"): "only the sign of a parity is read",
    ("identification/excitation/excite.py", "(COLOURS["): "how lines look",
    ("identification/excitation/search.py", "if new < value + ENOUGH"): "a tie of floats",
    ("identification/payload.py", "weights = 2 /"): "the next line divides by the largest",
    ("model/joint_types.py", "2.0, 0.0)"): "axes are made unit vectors",
    ("model/joint_types.py", "speed: float = 1.0"): "fixed joints alone have it, and no speed",
    ("shorten/passes.py", "product((1, -2)"): "only the sign is read",
    ("quantities/derivatives.py", "motion[1].shape[-1]"): "all have one shape",
    ("shorten/candidates.py", "int(self._mask) + 2"): "an entry that no index reaches",
    ("shorten/canonical/frames.py", "sine(z, self.z[child]) >= self.tolerance"): "a last bit",
    ("shorten/canonical/regroup.py", "if plain else 1.0"): "numbers among symbols are 0 and ±1",
    ("shorten/minimal/articulated.py", "link.type.turn**3"): "a turn is 0 or 1",
    ("shorten/candidates.py", "count[made.cell] >= 0"): "these makers are repeated no times",
    ("simulation/trajectories/time_optimal.py", "if fastest < slowest or"): "halving finds it too",
}
"""Changes that change no value, program or count: file (empty: any) and what the line has then, and
the reason."""

STAGES = ("near", "elsewhere")
COLUMNS = (*STAGES, "timeout", "equivalent", "survived")
SPARE_SECONDS = 30.0
"""Of a test, beyond several times what it takes without a mutant."""
OUT_OF_TIME = {-getattr(signal, name, 0) for name in ("SIGPROF", "SIGXCPU", "SIGKILL")}
FAILED = (1, 2, 3, 4)
"""Exit codes of pytest: a test, the collection, pytest itself, the conftest."""
Result = dict[str, Any]
"""Change, status (one of `COLUMNS`), the test that failed, CPU seconds; what a replay found."""


def why_equivalent(change: str) -> str:
    """The reason why a change, as `Mutant.change` has it, changes nothing; empty: it may."""
    for (file, part), reason in EQUIVALENT.items():
        if change.startswith(file and f"{file}:") and part in change.partition("→")[2]:
            return reason
    return ""


def mutants_of(tree: Tree, rooms: Iterable[str]) -> dict[str, list[Mutant]]:
    """Every mutant of the rooms, in the order of files and places."""
    package = tree.folder / PACKAGE
    return {
        room: [
            mutant
            for path in sorted((package / room).rglob("*.py"))
            if path.stem not in DRAWINGS
            for mutant in places(path.relative_to(package).as_posix(), path.read_bytes())
            if not DRAWING_FUNCTIONS.fullmatch(mutant.scope.rpartition(".")[2])
        ]
        for room in rooms
    }


def tests_of(tree: Tree) -> list[str]:
    """The test files that `make test` runs, but for the pages."""
    return [file for file in tree.files(["tests"]) if not file.startswith(APART)]


def drawn(mutants: dict[str, list[Mutant]], number: int, seed: int) -> list[Mutant]:
    """One of each room in turn; more of them begin with the same ones."""
    for room, found in mutants.items():
        random.Random(f"{seed} {room}").shuffle(found)
    turns = zip_longest(*mutants.values())
    return [mutant for turn in turns for mutant in turn if mutant][:number]


def run(tree: Tree, tests: dict[str, float]) -> tuple[int, float, str]:
    """Run tests in their order until one fails, within several times their seconds."""
    longest, total = max(tests.values()), sum(tests.values())
    plan = {
        "order": list(tests),
        "test_seconds": SPARE_SECONDS + 5 * longest,
        "seconds": 2 * SPARE_SECONDS + 3 * total,
    }
    files = dict.fromkeys(name.partition("::")[0] for name in tests)
    return tree.run([*PYTEST, "-x", *files], plan, 5 * plan["seconds"])


def failure(text: str) -> str:
    """The test that failed, or the last line if pytest names none."""
    failed = re.findall(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", text, re.MULTILINE)
    return (failed or text.splitlines() or [""])[-1]


def examined(tree: Tree, mutant: Mutant, seen: dict[str, Any], most: float) -> Result:
    """Who catches a mutant, within so many seconds of tests at each stage."""
    result = {"change": mutant.change, "status": "survived", "test": "", "seconds": 0.0}
    near = tree.files(ROOMS[mutant.room])
    elsewhere = [file for file in tests_of(tree) if file not in near]
    for stage, files in zip(STAGES, (near, elsewhere), strict=True):
        tests = chosen(seen, mutant, files, most)
        if not tests:
            continue
        with tree.changed(mutant):
            code, seconds, text = run(tree, tests)
        result["seconds"] += seconds
        if code in OUT_OF_TIME:
            return result | {"status": "timeout"}
        if code in FAILED or code < 0:
            return result | {"status": stage, "test": failure(text)}
        if code:
            raise SystemExit(f"pytest ended with {code} for {mutant.name}:\n{text}")
    return result


def replayed(trees: list[Tree], survivors: list[Mutant]) -> dict[str, str]:
    """What replay.py finds different in each survivor."""
    from replay import differences, plan, record  # noqa: PLC0415

    with tempfile.TemporaryDirectory() as folder:
        what = plan(Path(folder), False)
        base = record(trees[0].folder, what)

        def work(tree: Tree, mutant: Mutant) -> tuple[str, str]:
            with tree.changed(mutant):
                found = differences(base, record(tree.folder, what))
            gravest = found[0] if found else None
            words = gravest and f"{gravest.kind} of {gravest.robot}, {gravest.item}"
            return mutant.name, words or "unchanged in replay"

        seen = [mutant for mutant in survivors if mutant.room not in UNSEEN_IN_REPLAY]
        return dict(in_trees(trees, work, seen, "replay"))


def print_results(results: dict[str, Result]) -> None:
    """A table by room, and the mutants that nobody caught."""
    counts = Counter((name.partition(":")[0], one["status"]) for name, one in results.items())
    rooms = list(dict.fromkeys(room for room, _ in counts))
    table = Table("room", "drawn", *COLUMNS, "caught")
    for title, members in [*((room, [room]) for room in rooms), ("all", rooms)]:
        row = {column: sum(counts[room, column] for room in members) for column in COLUMNS}
        total = sum(row.values())
        share = sum(row[stage] for stage in STAGES) / max(1, total - row["equivalent"])
        table.add_row(title, str(total), *map(str, row.values()), f"{100 * share:.1f} %")
    console = Console(soft_wrap=True)
    console.print(table)
    for name, one in results.items():
        if one["status"] not in STAGES:
            reason = why_equivalent(one["change"]) or one.get("replay", "")
            console.print(f"{one['status']} {name} {reason}\n    {one['change']}", markup=False)


def campaign(
    trees: list[Tree], wanted: list[Mutant], seen: dict[str, Any], given: argparse.Namespace
) -> dict[str, Result]:
    """The results of mutants, printed and kept as they come; those of before are taken."""
    done, path, console = kept(given.json), given.json, Console(soft_wrap=True)

    def work(tree: Tree, mutant: Mutant) -> tuple[Mutant, Result]:
        result = done.get(mutant.name, {})
        if result.get("change") != mutant.change or given.only:
            result = examined(tree, mutant, seen, given.most)
        return mutant, result

    results: dict[str, Result] = {}
    for mutant, result in in_trees(trees, work, wanted, "mutants"):
        if result["status"] == "survived" and why_equivalent(mutant.change):
            result["status"] = "equivalent"
        results[mutant.name] = done[mutant.name] = result
        keep(path, done)
        told = f"{result['status']}, {result['seconds']:.0f} s: {mutant.name} {result['test']}"
        console.print(told, markup=False)
    failed = sorted({result["test"] for result in results.values()} & seen["tests"].keys())
    code, _, text = (
        run(trees[0], {name: seen["tests"][name][0] for name in failed}) if failed else (0, 0, "")
    )
    if code:
        raise SystemExit(f"fails also without a mutant, here after others: {failure(text)}")
    return results


def main(words: list[str] | None = None, source: Path = ROOT) -> dict[str, Result]:
    """Draw mutants, run them and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=120)
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    parser.add_argument("--rooms", default=",".join(ROOMS), help="some of them")
    parser.add_argument("--only", default="", help="names of mutants, to run these alone")
    parser.add_argument("--json", type=Path, help="a file for the results")
    parser.add_argument("--map", type=Path, help="a file for what tests enter")
    parser.add_argument("--tests", type=Path, default=source, help="a checkout with other tests")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--most", type=float, default=3600.0, help="seconds of tests a stage")
    parser.add_argument("--trust", action="store_true", help="leave out tests that fail anyway")
    parser.add_argument("--replay", action="store_true", help="see what survivors change")
    given = parser.parse_args(words)
    with copies(source, given.tests, given.workers) as trees:
        mutants = mutants_of(trees[0], given.rooms.split(","))
        total = sum(map(len, mutants.values()))
        wanted = drawn(mutants, total if given.only else given.count, given.seed)
        if given.only:
            wanted = [mutant for mutant in wanted if mutant.name in given.only.split(",")]
        print(f"{len(wanted)} of {total} mutants, --seed {given.seed}", flush=True)
        seen = survey(trees, tests_of(trees[0]), given.map)
        broken = [name for name, (_, passed) in seen["tests"].items() if not passed]
        if broken and not given.trust:
            raise SystemExit("\n".join(["tests that fail without a mutant:", *broken]))
        number = len(seen["tests"]) - len(broken)
        print(f"{number} tests, without {len(broken)} that fail anyway", flush=True)
        results = campaign(trees, wanted, seen, given)
        if given.replay:
            left = [one for one in wanted if results[one.name]["status"] == "survived"]
            for name, told in replayed(trees, left).items():
                results[name]["replay"] = told
            keep(given.json, kept(given.json) | results)
    print_results(results)
    return results


if __name__ == "__main__":
    main()
