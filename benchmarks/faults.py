"""Attack armdyn in every way that once succeeded, and count what it survives.

Each attack runs in a process of its own, for a bounded time, in a temporary folder; what goes over
a network goes to the loopback alone. `-o docs/reliability.md` puts the table into that page.
"""

import argparse
import contextlib
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from fault_attacks import ATTACKS, Attack

from armdyn.cli.console import print_line, print_table, table
from armdyn.io.atomic import write_text

MEMORY = 4 * 2**30
"""Bytes of address space that an attack may take."""
GRACE = 60.0
"""Seconds for which an attack may stay in one try before that counts as a hang."""
MARKS = "<!-- faults.py -->", "<!-- end of faults.py -->"
"""What is between them in the page is replaced."""


@dataclass(frozen=True)
class Outcome:
    """How an attack ended."""

    attack: Attack
    tries: int
    survived: int
    note: str

    @property
    def cells(self) -> tuple[str, ...]:
        """Its row of the table."""
        return self.attack.title, f"{self.tries:,}", f"{self.survived:,}{self.note}"


def attempt(attack: Attack, seconds: float) -> None:
    """Make the tries of an attack in this process, and print a word after each."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    report = os.fdopen(os.dup(1), "w")  # attacks may do as they like with standard output
    end = time.monotonic() + seconds
    with tempfile.TemporaryDirectory(prefix="armdyn-faults-") as name:
        os.environ["ARMDYN_CACHE_DIR"] = str(Path(name) / "cache")
        os.chdir(name)
        for number in range(attack.tries):
            folder = Path(name) / str(number)
            folder.mkdir()
            print("try", file=report, flush=True)
            survived = attack.survives(folder, number)
            print("survived" if survived else "lost", file=report, flush=True)
            if time.monotonic() > end:
                break


def outcome(attack: Attack, seconds: float) -> Outcome:
    """Run an attack in another process; a crash or a hang is a try that was not survived."""
    words = [sys.executable, __file__, "--attack", attack.title, "--seconds", str(seconds)]
    running = subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        text, errors = running.communicate(timeout=seconds + GRACE)
        note = f", then exit code {running.returncode}" if running.returncode else ""
    except subprocess.TimeoutExpired:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(running.pid, signal.SIGKILL)
        text, errors = running.communicate()
        note = ", then a hang"
    found = text.split()
    result = Outcome(attack, found.count("try"), found.count("survived"), note)
    if result.survived < result.tries:
        print_line(errors[-2000:], stderr=True)
    return result


def page(outcomes: list[Outcome], path: Path) -> None:
    """Put the table into the page, between the marks."""
    head = ("attack", "tries", "survived")
    lines = ["| " + " | ".join(cells) + " |" for cells in (head, *(o.cells for o in outcomes))]
    lines.insert(1, "|---|---:|---:|")
    block = "\n".join((MARKS[0], "", *lines, "", MARKS[1]))
    text = path.read_text(encoding="utf-8")
    write_text(path, re.sub(f"{MARKS[0]}.*{MARKS[1]}", lambda _: block, text, flags=re.DOTALL))


def main() -> None:
    """Attack, print the table, and end with exit code 1 if a try was not survived."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=20.0, help="for each attack")
    parser.add_argument("--only", help="attacks whose title has this in it")
    parser.add_argument("--attack", help=argparse.SUPPRESS)
    parser.add_argument("-o", "--output", type=Path, help="the page to put the table into")
    given = parser.parse_args()
    if given.attack:
        attempt(next(a for a in ATTACKS if a.title == given.attack), given.seconds)
        return
    chosen = [attack for attack in ATTACKS if given.only is None or given.only in attack.title]
    outcomes = []
    for attack in chosen:
        print_line(attack.title, stderr=True)
        outcomes.append(outcome(attack, given.seconds))
    rows = table("attack", "tries", "survived", left=("attack",))
    for found in outcomes:
        rows.add_row(*found.cells)
    print_table(rows)
    if given.output is not None:
        page(outcomes, given.output)
    raise SystemExit(any(o.note or o.survived < o.tries for o in outcomes))


if __name__ == "__main__":
    main()
