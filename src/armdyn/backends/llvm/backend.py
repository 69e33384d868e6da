"""The backend that makes machine code for the processor of this process.

Code is linked into one engine, and dropped when nobody uses it.
"""

import ctypes
import itertools
import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import llvmlite.binding as llvm

from armdyn.backends import numpy_api
from armdyn.backends.backend import Backend
from armdyn.backends.llvm.module import module
from armdyn.backends.llvm.rollout_loop import StateRows
from armdyn.backends.llvm.target import Target
from armdyn.backends.threads import lock_over_fork
from armdyn.compiler.program import Program

_LOCK = lock_over_fork()
_NAMES = itertools.count()


@dataclass(frozen=True, slots=True)
class LlvmTarget:
    """What code is made for."""

    processor: Target
    """The processor of this process, with vectors of some width."""
    dtype: str = "float64"
    rows: StateRows | None = None
    """If the program is a step of an integrator, what is in its rows."""


@dataclass(frozen=True)
class MachineCode:
    """Machine code and what one must know to call it."""

    code: Any
    """Addresses of its functions by name: "loop", and perhaps "entry" or "rollout_loop"."""
    inputs: tuple[tuple[str, int], ...]
    """Name and length of each argument."""
    shape: tuple[int, ...]
    """Of the output."""
    entry: bool
    """Whether there is a fast entry for one state."""
    content: bytes
    """The same as bytes that can be kept: a line about it, then the object file."""


class LlvmBackend(Backend[LlvmTarget, MachineCode]):
    """Programs as machine code."""

    dtypes = tuple(numpy_api.TYPE_NUMBERS)

    def compile(self, program: Program, target: LlvmTarget) -> MachineCode:
        """Machine code in memory."""
        narrow = target.processor == target.processor.narrow
        entry = narrow and target.rows is None and numpy_api.arrays_are_as_expected()
        ahead = target.processor.bits == Target.host().bits  # narrower code is for a few states
        processor, dtype, rows = target.processor, target.dtype, target.rows
        text = module(program, processor, dtype, entry=entry, ahead=ahead, rows=rows)
        inputs = [(array.name, len(array.symbols)) for array in program.inputs]
        functions = [f for f in ("loop", "entry", "rollout_loop") if f"@{f}(" in text]
        head = {"inputs": inputs, "shape": program.shape, "functions": functions}
        code = object_code(text, target.processor)
        return self.load(json.dumps(head).encode() + b"\n" + code)

    def load(self, content: bytes) -> MachineCode:
        """Machine code in memory from what was kept."""
        line, _, code = content.partition(b"\n")
        head = json.loads(line)
        linked = link(code, head["functions"])
        inputs = tuple((name, size) for name, size in head["inputs"])
        entry = "entry" in head["functions"]
        return MachineCode(linked, inputs, tuple(head["shape"]), entry, content)


def object_code(text: str, target: Target) -> bytes:
    """The object file of a module."""
    with _LOCK:
        parsed = llvm.parse_assembly(f'target triple = "{target.triple}"\n{text}')
        machine = target.machine()
        parsed.data_layout = str(machine.target_data)
        return bytes(machine.emit_object(parsed))


def link(content: bytes, exported: Iterable[str]) -> Any:
    """The addresses of functions by name, in memory as long as this object lives."""
    with _LOCK:
        builder = llvm.JITLibraryBuilder().add_object_img(content)
        for name, address in numpy_api.symbols().items():
            builder.import_symbol(name, address)
        for name in exported:
            builder.export_symbol(name)
        return builder.link(_engine(), f"armdyn{next(_NAMES)}")


@lru_cache(maxsize=1)
def _engine() -> Any:
    """The one engine of the process, never destroyed: code must not outlive it."""
    engine = llvm.create_lljit_compiler(Target.host().machine(), suppress_errors=True)
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(engine))
    return engine
