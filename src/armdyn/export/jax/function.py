"""Quantities of a robot as functions of JAX, and the primitive that stands for them.

The primitive is a quantity or one of its products with Jacobians. On the CPU it is a call of the
kernel, elsewhere the program in jax.numpy. Its derivative along a direction is the same primitive
in the mode "jvp", which is linear in the direction and has the mode "vjp" for its transpose: so
forward and reverse mode of JAX come down to the two kernels. Their derivatives are taken by JAX
from their programs.
"""

import inspect
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from graphlib import TopologicalSorter
from itertools import accumulate
from math import prod
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import ShapedArray
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

from armdyn.arrays import Array, check_truth
from armdyn.errors import BridgeError, ShapeError
from armdyn.export.jax.handler import check_version, handler
from armdyn.export.library import array_functions, batch_shape, target_name
from armdyn.graph.program import Program
from armdyn.kernels.kernel import Kernel
from armdyn.kernels.llvm.backend import Linked

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


class JaxFunction:
    """A quantity as a pure function of arrays of JAX, for `jit`, `vmap`, `grad`, `jvp`, `scan`.

    It takes the vectors of its kernel, (..., n) with leading shapes that broadcast, and gives
    (..., *shape). `kernel` is the kernel that runs on the CPU.
    """

    def __init__(self, kernels: Callable[[str | None], Kernel], by_program: bool):
        """Take the kernels of a quantity (None), of its "vjp" and "jvp".

        With `by_program` the CPU runs the program, too.
        """
        self.kernels = kernels
        self.by_program = check_truth("program", by_program)
        self.kernel = kernels(None)
        self.inputs, self.shape = self.kernel.inputs, self.kernel.shape
        self.sizes = tuple(self.inputs.values())
        self.__name__ = self.__qualname__ = self.kernel.request.quantity
        self.__doc__ = f"{self.kernel!r} in JAX"
        self._check_x64()
        if not by_program and jax.default_backend() == "cpu":
            check_version(jax.ffi.include_dir())

    def __repr__(self) -> str:
        return f"<JaxFunction of {self.kernel!r}>"

    def __call__(self, *vectors: Any) -> Any:
        """The quantity for vectors in the order of `inputs`."""
        self._check_x64()
        arrays = [jnp.asarray(v) for v in vectors]
        batch = batch_shape(self.__name__, self.inputs, "array", arrays, np.broadcast_shapes)
        for name, array in zip(self.inputs, arrays, strict=True):
            if not jnp.issubdtype(array.dtype, np.floating) and array.dtype.kind not in "iub":
                raise ShapeError(f"{name}: expected real numbers, got {array.dtype}")
        dtype = self.kernel.dtype
        whole = [jnp.broadcast_to(a, batch + a.shape[-1:]).astype(dtype) for a in arrays]
        return call(self, None, *whole)[0]

    def _check_x64(self) -> None:
        if self.kernel.dtype == "float64" and not jax.config.jax_enable_x64:
            raise BridgeError(
                f"JAX has no float64 unless x64 is enabled, and {self.__name__} computes in it. "
                'Enable it with jax.config.update("jax_enable_x64", True) before the first '
                'array is made, or compute in single precision: robot.jax(..., dtype="float32")'
            )

    def target(self, mode: str | None) -> str:
        """The name under which XLA knows the kernel of a mode."""
        kernel = self.kernels(mode)
        name = target_name(kernel) + (".parts" if mode == "vjp" else "")
        if name not in _HANDLERS:
            parts = self.sizes if mode == "vjp" else ()
            check_version(jax.ffi.include_dir())
            code = handler(kernel, parts)
            _HANDLERS[name] = kernel, code
            capsule = jax.ffi.pycapsule(code["handler"])
            jax.ffi.register_ffi_target(name, capsule, platform="cpu")
        return name

    def results(self, mode: str | None) -> list[tuple[int, ...]]:
        """Shape of each result of a mode for one state: "vjp" has one for each argument."""
        return [(size,) for size in self.sizes] if mode == "vjp" else [self.shape]


_HANDLERS: dict[str, tuple[Kernel, Linked]] = {}
"""What is registered, by name: XLA keeps it for good, and so must we."""
call_p = Primitive("armdyn")
call_p.multiple_results = True


@cache
def _program(quantity: JaxFunction, mode: str | None) -> Callable[..., list[Any]]:
    """The program of a mode in jax.numpy, which gives a list of results."""
    run = program_function(quantity.kernels(mode).program)
    cuts = tuple(accumulate(quantity.sizes))[:-1] if mode == "vjp" else ()
    return lambda *vectors: jnp.split(run(*vectors), cuts, -1)


def call(quantity: JaxFunction, mode: str | None, *vectors: Any) -> list[Any]:
    """A quantity or a product for vectors (*batch, n) of one batch shape and the right type."""
    made: list[Any] = call_p.bind(*vectors, quantity=quantity, mode=mode)
    return made


@cache
def _jitted(quantity: JaxFunction, mode: str | None) -> Any:
    return jax.jit(partial(call, quantity, mode))


def _abstract(*vectors: Any, quantity: JaxFunction, mode: str | None) -> list[Any]:
    batch = vectors[0].shape[:-1]
    dtype = np.dtype(quantity.kernel.dtype)
    return [ShapedArray(batch + shape, dtype) for shape in quantity.results(mode)]


def _by_kernel(*vectors: Any, quantity: JaxFunction, mode: str | None) -> Any:
    if quantity.by_program:
        return _by_program(*vectors, quantity=quantity, mode=mode)
    batch, shapes = vectors[0].shape[:-1], quantity.results(mode)
    made = [jax.ShapeDtypeStruct(batch + shape, quantity.kernel.dtype) for shape in shapes]
    return jax.ffi.ffi_call(quantity.target(mode), made)(*vectors)


def _by_program(*vectors: Any, quantity: JaxFunction, mode: str | None) -> Any:
    return _program(quantity, mode)(*vectors)


def _along(
    primals: Sequence[Any], tangents: Sequence[Any], *, quantity: JaxFunction, mode: str | None
) -> tuple[list[Any], list[Any]]:
    directions = [ad.instantiate_zeros(t) for t in tangents]
    if mode is not None:
        return jax.jvp(_program(quantity, mode), tuple(primals), tuple(directions))
    value = call(quantity, None, *primals)
    return value, call(quantity, "jvp", *primals, *directions)


def _transposed(
    given: Sequence[Any], *args: Any, quantity: JaxFunction, mode: str | None
) -> list[Any]:
    """From weights of the entries of J t to those of the direction t, which is all unknown."""
    (weights,), count = given, len(quantity.sizes)
    primals, directions = args[:count], args[count:]
    if type(weights) is ad.Zero:
        return [None] * len(args)
    batch = weights.shape[: weights.ndim - len(quantity.shape)]
    parts = call(quantity, "vjp", *primals, weights.reshape((*batch, prod(quantity.shape))))
    wanted = [ad.is_undefined_primal(t) for t in directions]
    return [None] * count + [p if w else None for p, w in zip(parts, wanted, strict=True)]


def _batched(
    vectors: Sequence[Any], axes: Sequence[int | None], *, quantity: JaxFunction, mode: str | None
) -> tuple[list[Any], list[int]]:
    size = next(v.shape[a] for v, a in zip(vectors, axes, strict=True) if a is not None)
    whole = [
        jnp.broadcast_to(v, (size, *v.shape)) if a is None else jnp.moveaxis(v, a, 0)
        for v, a in zip(vectors, axes, strict=True)
    ]
    return call(quantity, mode, *whole), [0] * len(quantity.results(mode))


call_p.def_impl(lambda *vectors, quantity, mode: _jitted(quantity, mode)(*vectors))
call_p.def_abstract_eval(_abstract)
ad.primitive_jvps[call_p] = _along
ad.primitive_transposes[call_p] = _transposed
batching.primitive_batchers[call_p] = _batched
mlir.register_lowering(call_p, mlir.lower_fun(_by_program, multiple_results=True))
mlir.register_lowering(call_p, mlir.lower_fun(_by_kernel, multiple_results=True), platform="cpu")
