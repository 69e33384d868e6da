"""The backend that makes machine code for the processor of this process."""

import json
import weakref
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import llvmlite.binding as llvm

from armdyn.forks import lock_over_fork
from armdyn.graph.program import Program
from armdyn.kernels import numpy_api
from armdyn.kernels.llvm import elf
from armdyn.kernels.llvm.entry import entry_module
from armdyn.kernels.llvm.module import module
from armdyn.kernels.llvm.rollout_loop import StateRows
from armdyn.kernels.llvm.target import Target

_LOCK = lock_over_fork(getattr(llvm.ffi.lib, "_lock", None))
"""That of all calls of LLVM, by whomever: nobody forks while one is under way."""
FUNCTIONS = ("loop", "entry", "values", "choose", "rollout_loop", "sweep_loop", "sweep_scratch")
"""What may be called from outside."""


@dataclass(frozen=True, slots=True)
class LlvmTarget:
    """What code is made for."""

    processor: Target
    """The processor of this process, with vectors of some width."""
    dtype: str = "float64"
    rows: StateRows | None = None
    """If the program is a step of an integrator, what is in its rows."""
    sweep: bool = False
    """Whether states are made and reduced in the same loop."""
    entry: bool = False
    """Whether Python calls it with one state."""
    blocks: bool = False
    """Whether states lie in blocks, the lanes of each number side by side."""


class Linked:
    """Code in memory, which it leaves with this object.

    Where LLVM's loader is used, it has an engine of its own: shared ones keep about 10 kB of every
    library for good.
    """

    def __init__(self, content: bytes, exported: Sequence[str]):
        if elf.HERE:
            self._code = elf.ElfCode(content, exported, numpy_api.symbols())
            self._addresses = self._code.addresses
            return
        with _LOCK:
            for name, address in numpy_api.symbols().items():
                llvm.add_symbol(name, address)
            machine = Target.host().machine()
            engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
            engine.add_object_file(llvm.ObjectFileRef.from_data(content))
            engine.finalize_object()
            self._addresses = {name: engine.get_function_address(name) for name in exported}
        weakref.finalize(self, _unload, engine).atexit = False

    def __getitem__(self, name: str) -> int:
        """The address of a function."""
        return self._addresses[name]


def _unload(engine: Any) -> None:
    with _LOCK:  # so that nobody forks meanwhile
        engine.close()


@dataclass(frozen=True)
class MachineCode:
    """Machine code and what one must know to call it."""

    code: Linked
    """With "loop", and perhaps "rollout_loop"; or "sweep_loop"; or those for one state."""
    inputs: tuple[tuple[str, int], ...]
    """Name and length of each argument."""
    shape: tuple[int, ...]
    """Of the output."""
    entry: bool
    """Whether it is called with one state."""
    content: bytes
    """The same as bytes that can be kept: a line about it, then the object file."""


def build(program: Program, target: LlvmTarget) -> MachineCode:
    """The machine code of a program: its plan, the text of a module, and that compiled and linked.

    `armdyn.kernels.llvm.segments.best_plan` and `armdyn.kernels.llvm.module.module` give the first
    two to be printed.
    """
    processor = target.processor
    dtype = target.dtype
    if target.entry:
        text = entry_module(program, processor, dtype)
    else:
        sweep, blocks = target.sweep, target.blocks
        text = module(program, processor, dtype, rows=target.rows, sweep=sweep, blocks=blocks)
    inputs = [(array.name, len(array.symbols)) for array in program.inputs]
    functions = [f for f in FUNCTIONS if f"@{f}(" in text]
    head = {"inputs": inputs, "shape": program.shape, "functions": functions}
    return linked(json.dumps(head).encode() + b"\n" + object_code(text, processor))


def linked(content: bytes) -> MachineCode:
    """Machine code in memory from what was kept."""
    line, _, code = content.partition(b"\n")
    head = json.loads(line)
    functions = head["functions"]
    inputs = tuple((name, size) for name, size in head["inputs"])
    shape = tuple(head["shape"])
    entry = "entry" in functions
    return MachineCode(Linked(code, functions), inputs, shape, entry, content)


def object_code(text: str, target: Target) -> bytes:
    """The object file of a module, in a context of its own: the global one keeps all constants."""
    whole = f'target triple = "{target.triple}"\n{text}'
    with _LOCK, llvm.create_context() as context, llvm.parse_assembly(whole, context) as parsed:
        machine = target.machine()
        parsed.data_layout = str(machine.target_data)
        return bytes(machine.emit_object(parsed))
