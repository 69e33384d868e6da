"""Kernels as object files, for the linker of this or another machine."""

import re

from armdyn.arrays import record
from armdyn.graph.program import Program
from armdyn.kernels.llvm.backend import object_code
from armdyn.kernels.llvm.loop import NO_MEMORY
from armdyn.kernels.llvm.module import module
from armdyn.kernels.llvm.target import Target

ABORT = """\
declare ptr @malloc(i64)
declare void @free(ptr)
declare void @abort()
define internal void @no_memory() noinline cold nounwind {
  call void @abort()
  ret void
}
"""
"""Where there is no Python to be told that there is no memory."""


@record
class Platform:
    """A kind of machine that object files are made for."""

    triple: str
    """As LLVM and compilers write it."""
    cpu: str
    present: tuple[str, ...]
    """What every such processor has, as LLVM calls it."""
    format: str
    """Of the object files."""

    @property
    def target(self) -> Target:
        """The processor for the code generator."""
        features = ",".join(f"+{name}" for name in self.present)
        return Target.of(self.triple, self.cpu, set(self.present), features)


_AVX2 = ("avx", "avx2", "fma")
PLATFORMS = {
    "aarch64-linux": Platform("aarch64-linux-gnu", "generic", ("neon",), "ELF"),
    "aarch64-darwin": Platform("arm64-apple-macosx11.0.0", "apple-m1", ("neon",), "Mach-O"),
    "x86_64-linux": Platform("x86_64-linux-gnu", "x86-64-v3", _AVX2, "ELF"),
    "x86_64-darwin": Platform("x86_64-apple-macosx11.0.0", "x86-64-v3", _AVX2, "Mach-O"),
    "x86_64-windows": Platform("x86_64-pc-windows-msvc", "x86-64-v3", _AVX2, "COFF"),
}
"""By the name that FMI uses too."""


def kernel_object(program: Program, name: str, platform: Platform, dtype: str = "float64") -> bytes:
    """An object file with a function of this name, which NumPy could call as a loop.

    It is the code of a `Kernel` on such a machine: whole batches in SIMD, each state with the same
    bits in any batch.
    """
    text = module(program, platform.target, dtype)
    text = text.replace(NO_MEMORY.rstrip("\n"), ABORT.rstrip("\n"))
    return object_code(re.sub(r"@loop\b", f"@{name}", text), platform.target)
