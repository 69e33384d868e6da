"""The processor: how wide its vectors are, and whether it multiplies and adds in one step."""

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import llvmlite.binding as llvm
import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, slots=True)
class Target:
    """What code is made for."""

    triple: str
    cpu: str
    features: str
    """As LLVM writes them: "+avx2,+fma,-avx512f"."""
    bits: int
    """Width of a vector register that arithmetic is fast on."""
    fma: bool
    """Whether fused multiply-adds are instructions; a call for each would be slow."""
    registers: int = 16
    """Vectors that the processor holds."""

    @staticmethod
    @lru_cache(maxsize=1)
    def host() -> "Target":
        """The processor of this process."""
        features = llvm.get_host_cpu_features()
        present = {name for name, has in features.items() if has}
        name = llvm.get_host_cpu_name()
        return Target.of(llvm.get_process_triple(), name, present, features.flatten())

    @staticmethod
    def of(triple: str, cpu: str, present: set[str], features: str) -> "Target":
        """The target with these features."""
        if not triple.startswith(("x86_64", "amd64", "i686", "i386")):
            # 128-bit vectors with fused multiply-adds are part of 64-bit ARM
            return Target(triple, cpu, features, 128, triple.startswith(("aarch64", "arm64")), 32)
        if {"avx2", "avx512f", "avx512dq", "avx512vl"} <= present:
            return Target(triple, cpu, features, 512, "fma" in present, 32)
        return Target(triple, cpu, features, 256 if "avx2" in present else 128, "fma" in present)

    @property
    def narrow(self) -> "Target":
        """The same with vectors that are soonest done with one state."""
        return replace(self, bits=min(self.bits, 256))

    def lanes(self, dtype: npt.DTypeLike) -> int:
        """How many numbers a vector holds."""
        return self.bits // (8 * np.dtype(dtype).itemsize)

    def machine(self) -> Any:
        """LLVM's code generator for it."""
        here = self.triple == llvm.get_process_triple()
        if here:
            llvm.initialize_native_target()
            llvm.initialize_native_asmprinter()
        else:
            llvm.initialize_all_targets()
            llvm.initialize_all_asmprinters()
        options = {"opt": 1, "reloc": "pic", "codemodel": "small", "jit": here}
        return llvm.Target.from_triple(self.triple).create_target_machine(
            self.cpu, self.features, **options
        )
