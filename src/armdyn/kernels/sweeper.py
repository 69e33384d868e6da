"""Sweeps in machine code: states made, evaluated and reduced in one loop."""

import ctypes
from collections.abc import Mapping
from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.forks import cached_property
from armdyn.kernels.build import machine_code
from armdyn.kernels.kernel import Kernel
from armdyn.kernels.llvm.backend import LlvmTarget
from armdyn.kernels.llvm.loop import PAGE
from armdyn.kernels.llvm.sweep_loop import JOB, MADE
from armdyn.kernels.llvm.target import Target

PADDING = 8 * MADE
"""Numbers behind the last one of a table that may be read: lanes of the widest vectors."""
_sweep_loop: Any = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_size: Any = ctypes.CFUNCTYPE(ctypes.c_int64)


class Sweeper:
    """The loop of a kernel over jobs; it can be pickled, and is compiled where it is used."""

    def __init__(self, kernel: Kernel, target: Target | None = None):
        """Take the kernel, and a processor; None: that of the process that computes."""
        self.kernel = kernel
        self.target = target

    def __reduce__(self) -> tuple[Any, ...]:
        return Sweeper, (self.kernel, self.target)

    @cached_property
    def _built(self) -> tuple[Any, Any, int]:
        k = self.kernel
        target = LlvmTarget(self.target or Target.host(), k.dtype, sweep=True)
        code = machine_code(k.model, k.request, target, k.cache, k.given_program)
        return code, _sweep_loop(code.code["sweep_loop"]), int(_size(code.code["sweep_scratch"])())

    def run(self, words: Mapping[str, Any]) -> None:
        """Do a job: words by the names of `JOB`, arrays as pointers to them, 0 if left out."""
        _, loop, size = self._built
        scratch = np.empty(size + PAGE, dtype=np.uint8)
        begin = -(-scratch.ctypes.data // PAGE) * PAGE
        given = {"per_cell": 1} | dict(words) | {"slots": begin}
        numbers = [given.get(name, 0) for name in JOB]
        job = np.array([_word(number) for number in numbers], dtype=np.uint64)
        loop(job.ctypes.data)


def _word(value: Any) -> int:
    if isinstance(value, np.ndarray):
        assert value.flags.c_contiguous
        return int(value.ctypes.data)
    return int(value) & (2**64 - 1)


def padded(table: Array) -> Array:
    """A table (columns, states) with the last state repeated behind it."""
    wide = np.empty((len(table), table.shape[1] + PADDING), dtype=table.dtype)
    wide[:, : table.shape[1]] = table
    wide[:, table.shape[1] :] = table[:, -1:]
    return wide
