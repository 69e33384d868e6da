"""How fast this processor multiplies and adds: independent fused operations, and nothing else."""

import ctypes
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from armdyn.bench.timing import Contender
from armdyn.graph.operations import OPERATIONS
from armdyn.kernels.kernel import Kernel
from armdyn.kernels.llvm.backend import Linked, object_code
from armdyn.kernels.llvm.fuse import FUSED
from armdyn.kernels.llvm.segments import Segment, SineCosine, best_plan
from armdyn.kernels.llvm.target import Target
from armdyn.kernels.llvm.trig import FLOPS
from armdyn.kernels.llvm.vectors import IrWriter, Vectors

CHAINS = 12
"""Independent sums: enough for two units with a latency of five, few enough for the registers."""
UNROLLED = 4
"""Steps of each in one pass of the loop."""
PASSES = 20_000
"""Passes in one run: about a tenth of a millisecond a chain."""


@dataclass(frozen=True)
class Peak:
    """The loop in memory."""

    code: Any
    lanes: int
    call: Any

    @property
    def flops(self) -> int:
        """Multiplications and additions of one run."""
        return 2 * self.lanes * CHAINS * UNROLLED * PASSES

    def contender(self) -> Contender:
        """The loop with each operation as a state, so that its time is that of one operation."""
        out = (ctypes.c_double * self.lanes)()
        place = ctypes.addressof(out)

        def run() -> object:
            self.call(PASSES, place)
            return out

        return Contender("fused multiply-adds", run, self.flops)


@lru_cache(maxsize=1)
def peak_loop() -> Peak:
    """The loop for this processor."""
    target = Target.host()
    vectors = Vectors(target.lanes("float64"), "float64", target.fma)
    code = Linked(object_code(_text(vectors), target), ("peak",))
    kind = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_void_p)
    return Peak(code, vectors.lanes, kind(code["peak"]))


def kernel_flops(kernel: Kernel) -> int:
    """Multiplications, additions and divisions that one state takes, sines and cosines included.

    As they are executed: a product that is fused into two sums is computed twice, and counts twice.
    """
    steps = best_plan(kernel.program, Target.host()).steps
    cost = {op.name: int(op.cost in ("add", "mul", "div")) for op in OPERATIONS.values()}
    cost |= dict.fromkeys(FUSED, 2)
    segments = (step.operations for step in steps if isinstance(step, Segment))
    flops = sum(cost[op] for operations in segments for _, op, _ in operations)
    angles = sum(step.count for step in steps if isinstance(step, SineCosine))
    return flops + angles * FLOPS[kernel.dtype]


def _text(v: Vectors) -> str:
    """x ← x/2 + 1/4 in every chain, which stays near 1/2 and so meets no slow number."""
    t = IrWriter(v)
    t.lines.append("define void @peak(i64 %n, ptr %out) nounwind {")
    t.label("entry")
    t.do("br label %loop")
    t.label("loop")
    t.let("phi i64 [0, %entry], [%next, %loop]", "%i")
    chains = [
        t.let(f"phi {v.type} [{v.splat(1.0 + k)}, %entry], [%end{k}, %loop]", f"%start{k}")
        for k in range(CHAINS)
    ]
    for _ in range(UNROLLED):
        chains = [t.fused(x, v.splat(0.5), v.splat(0.25)) for x in chains]
    for k, x in enumerate(chains):
        t.let(f"bitcast {v.type} {x} to {v.type}", f"%end{k}")
    t.let("add i64 %i, 1", "%next")
    t.let("icmp slt i64 %next, %n", "%more")
    t.do("br i1 %more, label %loop, label %exit")
    t.label("exit")
    total = chains[0]
    for x in chains[1:]:
        total = t.binary("add", total, x)
    t.do(f"store {v.type} {total}, ptr %out, align 8")
    t.do("ret void")
    return "\n".join([*v.declarations(), *t.lines, "}"]) + "\n"
