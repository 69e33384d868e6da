"""A program in jax.numpy, for devices that armdyn has no kernels for."""

import inspect
from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from armdyn.export.jax.tape import Tape, tape
from armdyn.export.library_tables import array_functions
from armdyn.graph.program import Program

MOST_UNROLLED = 600
"""Instructions up to which a program is written out, which XLA compiles in a second or two; a
longer one becomes a loop over its tape."""


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
