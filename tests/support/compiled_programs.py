"""Programs as machine code, for this processor or for lesser ones that it can stand in for."""

from dataclasses import replace

import numpy as np

from armdyn.graph import Graph
from armdyn.graph.program import Program
from armdyn.kernels import numpy_api
from armdyn.kernels.llvm.backend import Linked, object_code
from armdyn.kernels.llvm.module import module
from armdyn.kernels.llvm.target import Target

HOST = Target.host()
X86 = HOST.triple.startswith("x86_64")


def host_without(*missing):
    """This processor without some features; LLVM leaves out all that need them."""
    present = {part[1:] for part in HOST.features.split(",") if part.startswith("+")}
    features = ",".join((HOST.features, *(f"-{name}" for name in missing)))
    return Target.of(HOST.triple, HOST.cpu, present - set(missing), features)


def targets():
    """Every kind of processor that this one can run the code of, by name."""
    found = {"host": HOST, "host without fma": replace(HOST, fma=False)}
    if X86:
        found["sse2"] = Target.of(HOST.triple, "x86-64", {"sse2"}, "")
    if X86 and "+avx2" in HOST.features:
        found["avx2"] = host_without("avx512f")
        found["avx2 without fma"] = host_without("avx512f", "fma")
        found["128 bits"] = replace(found["avx2"], bits=128)
    return found


def compiled(program, target=HOST, dtype="float64", **cuts):
    """A program as a gufunc."""
    code = Linked(object_code(module(program, target, dtype, **cuts), target), ("loop",))
    sizes = [len(array.symbols) for array in program.inputs]
    given = ",".join(f"({size})" for size in sizes)
    signature = f"{given}->({','.join(map(str, program.shape))})"
    return numpy_api.gufunc(code["loop"], dtype, signature, len(sizes), "test", "", code)


def assembly(program, target, dtype="float64"):
    """The instructions of a program."""
    import llvmlite.binding as llvm

    text = llvm.parse_assembly(module(program, target, dtype))
    text.triple = target.triple
    return target.machine().emit_assembly(text)


def program_of_functions(*names):
    """The program of some functions of one number, (..., 1) to (..., len(names))."""
    graph = Graph()
    x = graph.input("x1")
    outputs = [graph.function(name, x) for name in names]
    return Program.from_outputs(np.array(outputs, dtype=object), {"x": 1})
