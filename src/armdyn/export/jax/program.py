"""A program in jax.numpy, for devices that armdyn has no kernels for; a long one as a tape.

XLA takes seconds to compile a thousand operations one after the other, because it fuses and copies
them; a loop over a tape it compiles in a fraction of a second, however long the tape is. Each step
reads two values for each of its lanes, does one kind of operation with all of them, and appends the
results to the values.
"""

import inspect
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from graphlib import TopologicalSorter
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from armdyn.arrays import Array
from armdyn.export.library import array_functions
from armdyn.graph.program import Program

LANES = 8
"""Operations side by side in a step."""
MOST_UNROLLED = 600
"""Instructions up to which a program is written out, which XLA compiles in a second or two; a
longer one becomes a loop over its tape."""


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
    needs = {
        place: {k for k in instruction.args if k >= first}
        for place, instruction in enumerate(program.instructions, start=first)
    }
    heights: Counter[int] = Counter()
    for place, needed in reversed(needs.items()):
        for k in needed:
            heights[k] = max(heights[k], 1 + heights[place])
    waiting = TopologicalSorter(needs)
    waiting.prepare()
    ready: dict[str, list[int]] = defaultdict(list)
    steps: list[tuple[str, list[int]]] = []
    while waiting.is_active():
        for place in waiting.get_ready():
            ready[program.instructions[place - first].op].append(place)
        op = max(ready, key=lambda op: len(ready[op]))
        ready[op].sort(key=heights.__getitem__)
        chosen = [ready[op].pop() for _ in range(min(lanes, len(ready[op])))]
        waiting.done(*chosen)
        steps.append((op, chosen))
    return steps


def program_function(program: Program) -> Callable[..., Any]:
    """A function of vectors (*batch, n), all of one batch shape and type."""
    unrolled = len(program.instructions) <= MOST_UNROLLED
    run = partial(_unrolled, program) if unrolled else partial(_looped, program, tape(program))

    def call(*vectors: Any) -> Any:
        entries = jnp.moveaxis(jnp.concatenate(vectors, -1), -1, 0)
        made = jnp.moveaxis(run(entries), 0, -1)
        return made.reshape(made.shape[:-1] + program.shape)

    return call


def _unrolled(program: Program, entries: Any) -> Any:
    outputs = program.evaluated(list(entries), array_functions(jnp))
    return jnp.stack(
        [jnp.broadcast_to(y, entries.shape[1:]).astype(entries.dtype) for y in outputs]
    )


def _looped(program: Program, steps: Tape, entries: Any) -> Any:
    batch, lanes = entries.shape[1:], steps.operands.shape[-1]
    constants = jnp.asarray([c.value for c in program.constants], entries.dtype)
    constants = jnp.broadcast_to(
        constants.reshape((-1,) + (1,) * len(batch)), (len(constants), *batch)
    )
    room = jnp.zeros((len(steps.codes) * lanes, *batch), entries.dtype)
    branches = [_of_two(array_functions(jnp)[op]) for op in steps.operations]

    def step(values: Any, at: Any) -> tuple[Any, None]:
        place, code, operands = at
        made = jax.lax.switch(code, branches, values[operands[0]], values[operands[1]])
        return jax.lax.dynamic_update_slice_in_dim(values, made, place, 0), None

    places = steps.first + lanes * np.arange(len(steps.codes), dtype=np.int32)
    values = jnp.concatenate([entries, constants, room])
    values, _ = jax.lax.scan(step, values, (places, steps.codes, steps.operands))
    return values[steps.outputs]


def _of_two(function: Callable[..., Any]) -> Callable[[Any, Any], Any]:
    """A function of two operands; one that has a single operand takes the first."""
    if isinstance(function, np.ufunc | jnp.ufunc):
        return function if function.nin == 2 else lambda x, y: function(x)
    single = len(inspect.signature(function).parameters) == 1
    return (lambda x, y: function(x)) if single else function
