"""A program as a tape for a loop: steps of equal operations side by side.

XLA takes seconds to compile a thousand operations one after the other, because it fuses and copies
them; a loop over a tape it compiles in a fraction of a second, however long the tape is. Each step
reads two values for each of its lanes, does one kind of operation with all of them, and appends the
results to the values.
"""

from collections import Counter, defaultdict
from dataclasses import dataclass

import numpy as np

from armdyn.arrays import Array
from armdyn.graph.program import Program

LANES = 8
"""Operations side by side in a step."""


@dataclass(frozen=True, eq=False)
class Tape:
    """Steps of operations."""

    operations: tuple[str, ...]
    """The operations that occur."""
    codes: Array
    """Which of them each step does, (steps,)."""
    operands: Array
    """Places of the values that it reads, (steps, 2, lanes)."""
    first: int
    """Values before those of the first step: entries of the arguments, then constants."""
    outputs: Array
    """Places of the outputs, in C order."""


def tape(program: Program, lanes: int = LANES) -> Tape:
    """The tape of a program.

    Of the operations that are ready, the kind of which there are most comes first, and of these
    those which the longest chain of others waits for.
    """
    first = len(program.symbols) + len(program.constants)
    steps = _steps(program, first, lanes)
    at = {place: place for place in range(first)}
    for row, (_, chosen) in enumerate(steps):
        at |= {place: first + row * lanes + lane for lane, place in enumerate(chosen)}
    names = tuple(dict.fromkeys(op for op, _ in steps))
    operands = np.zeros((len(steps), 2, lanes), dtype=np.int32)
    for row, (_, chosen) in enumerate(steps):
        filled = chosen + chosen[-1:] * (lanes - len(chosen))  # lanes left over repeat the last
        args = [program.instructions[place - first].args for place in filled]
        operands[row] = [[at[a[side]] for a in args] for side in (0, -1)]
    codes = np.array([names.index(op) for op, _ in steps], dtype=np.int32)
    return Tape(names, codes, operands, first, np.array([at[k] for k in program.outputs]))


def _steps(program: Program, first: int, lanes: int) -> list[tuple[str, list[int]]]:
    """For each step its operation and the places of the program that it computes."""
    heights, users, missing = _waiting(program, first)
    ready: dict[str, list[int]] = defaultdict(list)
    for place, instruction in enumerate(program.instructions, start=first):
        if not missing[place]:
            ready[instruction.op].append(place)
    steps: list[tuple[str, list[int]]] = []
    while any(ready.values()):
        op = max(ready, key=lambda op: len(ready[op]))
        ready[op].sort(key=heights.__getitem__)
        chosen = [ready[op].pop() for _ in range(min(lanes, len(ready[op])))]
        for user in (user for place in chosen for user in users[place]):
            missing[user] -= 1
            if not missing[user]:
                ready[program.instructions[user - first].op].append(user)
        steps.append((op, chosen))
    return steps


def _waiting(
    program: Program, first: int
) -> tuple[dict[int, int], dict[int, set[int]], Counter[int]]:
    """For each value how long the chain behind it is, what uses it, and how many it waits for."""
    users: dict[int, set[int]] = defaultdict(set)
    missing: Counter[int] = Counter()
    for place, instruction in enumerate(program.instructions, start=first):
        made_here = {k for k in instruction.args if k >= first}
        missing[place] = len(made_here)
        for k in made_here:
            users[k].add(place)
    heights: dict[int, int] = {}
    for place in reversed(range(first, first + len(program.instructions))):
        heights[place] = 1 + max((heights[user] for user in users[place]), default=0)
    return heights, users, missing
