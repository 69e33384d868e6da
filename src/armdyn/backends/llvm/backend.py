"""The backend that makes machine code for the processor of this process."""

import json
from dataclasses import dataclass
from typing import Any

from armdyn.backends import numpy_api
from armdyn.backends.backend import Capabilities
from armdyn.backends.llvm.jit import link, object_code
from armdyn.backends.llvm.module import module
from armdyn.backends.llvm.rollout_loop import StateRows
from armdyn.backends.llvm.target import Target
from armdyn.compiler.program import Program


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


class LlvmBackend:
    """Programs as machine code."""

    name = "llvm"
    capabilities = Capabilities(tuple(numpy_api.TYPE_NUMBERS), kept_on_disk=True, rollouts=True)

    def compile(self, program: Program, target: LlvmTarget) -> MachineCode:
        """Machine code in memory."""
        return self.load(self.file(program, target))

    def file(self, program: Program, target: LlvmTarget) -> bytes:
        """The same as bytes that can be kept: a line about it, then the object file."""
        narrow = target.processor == target.processor.narrow
        entry = narrow and target.rows is None and numpy_api.arrays_are_as_expected()
        text = module(program, target.processor, target.dtype, entry=entry, rows=target.rows)
        inputs = [(array.name, len(array.symbols)) for array in program.inputs]
        functions = [f for f in ("loop", "entry", "rollout_loop") if f"@{f}(" in text]
        head = {"inputs": inputs, "shape": program.shape, "functions": functions}
        return json.dumps(head).encode() + b"\n" + object_code(text, target.processor)

    def load(self, content: bytes) -> MachineCode:
        """Machine code in memory from what was kept."""
        line, _, code = content.partition(b"\n")
        head = json.loads(line)
        linked = link(code, head["functions"])
        inputs = tuple((name, size) for name, size in head["inputs"])
        return MachineCode(linked, inputs, tuple(head["shape"]), "entry" in head["functions"])
