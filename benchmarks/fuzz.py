"""Try bad input on armdyn, a million times if it is let; Ctrl-C ends the run and shows the table.

Every try ends well or with an error of armdyn: other exceptions, tries that take longer than thirty
seconds, files that are written and not read back, and JSON that is none are faults. Each kind and
number makes the same try again: --repeat "call 143".
"""

import argparse
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import randrange

from fuzz_tries import KINDS, Fault, Fuzzer
from rich.console import Console
from rich.progress import MofNCompleteColumn, Progress, TimeRemainingColumn
from rich.table import Table

from armdyn.io.shelf import kept_in

SHARES = {"file": 50, "call": 49, "command": 1}
"""Of a hundred tries, how many are of each kind; a command takes as long as many calls."""


def kinds() -> Iterator[str]:
    """The kinds of tries one after the other, without end."""
    order = [
        kind for share in range(max(SHARES.values())) for kind in KINDS if share < SHARES[kind]
    ]
    while True:
        yield from order


def fuzz(fuzzer: Fuzzer, tries: int, first: int) -> tuple[Counter[str], Counter[str], list[Fault]]:
    """Tries and seconds of each kind, and the faults; an interrupt ends it early."""
    made: Counter[str] = Counter()
    seconds: Counter[str] = Counter()
    faults = []
    console = Console(stderr=True)
    columns = *Progress.get_default_columns()[:2], MofNCompleteColumn(), TimeRemainingColumn()
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        task = bar.add_task("fuzzing", total=tries)
        try:
            for number, kind in zip(range(first, first + tries), kinds(), strict=False):
                start = time.perf_counter()
                fault = fuzzer.attempt(kind, number)
                seconds[kind] += time.perf_counter() - start
                made[kind] += 1
                faults += [fault] if fault else []
                bar.update(task, advance=1, description=f"{len(faults)} faults")
        except KeyboardInterrupt:
            pass
    return made, seconds, faults


def main() -> None:
    """Fuzz and print what was found; exit code 1 if there were faults."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tries", type=int, default=1_000_000)
    parser.add_argument("--first", type=int, help="the number of the first try; else it is drawn")
    parser.add_argument("--repeat", metavar="'KIND NUMBER'", help="make one try again")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, kept_in(Path(folder) / "cache"):
        fuzzer = Fuzzer(Path(folder))
        if given.repeat:
            kind, number = given.repeat.split()
            fault = fuzzer.attempt(kind, int(number))
            if fault is None:
                return
            raise fault.error
        first = randrange(10**9) if given.first is None else given.first
        print(f"{given.tries:,} tries from --first {first}")
        made, seconds, faults = fuzz(fuzzer, given.tries, first)
    table = Table("kind", "tries", "faults", "seconds", "ms a try")
    for kind, count in made.items():
        found = sum(fault.kind == kind for fault in faults)
        each = 1000 * seconds[kind] / count
        table.add_row(kind, f"{count:,}", f"{found:,}", f"{seconds[kind]:.0f}", f"{each:.1f}")
    Console().print(table)
    same: dict[tuple[str, str], list[Fault]] = {}
    for fault in faults:
        same.setdefault((type(fault.error).__name__, fault.place), []).append(fault)
    for found in sorted(same.values(), key=len, reverse=True):
        print(f"{len(found):7,} times {found[0]}")
    raise SystemExit(1 if faults else 0)


if __name__ == "__main__":
    main()
