"""Other processors: right results without AVX-512, AVX2 or FMA, and no instruction they lack."""

import re
from dataclasses import replace

import numpy as np
import pytest

import armdyn
from armdyn.kernels.llvm.target import Target
from armdyn.quantities.program import quantity_program
from armdyn.quantities.request import Request
from support.compiled_programs import HOST, X86, assembly, compiled, targets
from support.peers import close
from support.random_robots import random_model, random_states

TARGETS = targets()
PROGRAMS = {
    "panda torques": quantity_program(armdyn.load("panda").model, Request("inverse_dynamics")),
    "puma accelerations": quantity_program(
        armdyn.load("puma560").model, Request("forward_dynamics")
    ),
    "tree masses": quantity_program(random_model("RPRRP", 8, tree=True), Request("mass_matrix")),
}
FORBIDDEN = {
    "avx2": r"%zmm|\{%k\d|%[xy]mm(1[6-9]|2\d|3\d)",
    "avx2 without fma": r"%zmm|\{%k\d|vfn?m(add|sub)",
    "sse2": r"%[yz]mm|\bv[a-z]+p[sd]\b|roundsd|pmulld",
    "host without fma": r"vfn?m(add|sub)",
}


def states(program, batch=(37,)):
    rng = np.random.default_rng(4)
    return [rng.uniform(-2, 2, (*batch, len(array.symbols))) for array in program.inputs]


@pytest.mark.slow
@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("target", TARGETS)
def test_results_are_right_on_every_processor(name, target):
    program = PROGRAMS[name]
    given = states(program)
    scale = np.abs(program(*given)).max()
    found = compiled(program, TARGETS[target])(*given)
    # accelerations lose what the condition of the mass matrix takes
    np.testing.assert_allclose(found, program(*given), rtol=0, atol=3e-13 * scale)
    single = compiled(program, TARGETS[target], "float32")(*(x.astype("f") for x in given))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, program(*given), rtol=0, atol=2e-4 * scale)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "dtype"),
    [("panda torques", "float64"), ("tree masses", "float64"), ("tree masses", "float32")],
)
@pytest.mark.parametrize("fused", [True, False])
def test_bits_depend_on_fused_operations_alone(name, dtype, fused):
    """Not on the width of vectors or the length of segments."""
    program = PROGRAMS[name]
    given = [x.astype(dtype) for x in states(program)]
    first, *others = [
        compiled(program, target, dtype) for target in TARGETS.values() if target.fma == fused
    ] or pytest.skip("this processor has no fused operations")
    for lengths in ((10, 20), (40, 60), (400, 500)):
        cut = compiled(program, replace(HOST, fma=fused), dtype, lengths=lengths)
        others.append(cut)
    for other in others:
        np.testing.assert_array_equal(other(*given), first(*given))


@pytest.mark.slow
@pytest.mark.skipif(not X86, reason="the instructions of x86 are looked for")
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("target", FORBIDDEN)
def test_no_instruction_is_used_that_the_processor_lacks(target, dtype):
    if target not in TARGETS:
        pytest.skip("this processor is a lesser one itself")
    for program in PROGRAMS.values():
        text = assembly(program, TARGETS[target], dtype)
        assert re.search(r"mulp[sd]", text)
        assert re.findall(FORBIDDEN[target], text) == []


@pytest.mark.slow
@pytest.mark.skipif(not X86, reason="the instructions of x86 are looked for")
def test_wide_vectors_and_fused_operations_are_used_where_they_are():
    text = {name: assembly(PROGRAMS["panda torques"], target) for name, target in TARGETS.items()}
    if HOST.fma:
        assert len(re.findall(r"vfn?m(?:add|sub)\w+pd", text["host"])) > 150
    if HOST.bits == 512:
        assert len(re.findall("%zmm", text["host"])) > 300
    if "avx2" in text:
        assert len(re.findall("%ymm", text["avx2"])) > 300
    assert not re.search("call.*fma", text["sse2"])


def test_the_processor_of_this_process_is_the_one_that_llvm_sees():
    assert Target.host() is Target.host()
    assert HOST.lanes("float32") == 2 * HOST.lanes("float64") == HOST.bits // 32
    assert ("+fma" in HOST.features.split(",")) == (HOST.fma and X86)


@pytest.mark.parametrize(
    ("triple", "present", "bits", "fma"),
    [
        ("x86_64-unknown-linux-gnu", {"avx2", "fma", "avx512f", "avx512dq", "avx512vl"}, 512, True),
        ("x86_64-unknown-linux-gnu", {"avx2", "fma", "avx512f"}, 256, True),  # Knights Landing
        ("x86_64-pc-windows-msvc", {"avx2", "fma"}, 256, True),
        ("x86_64-apple-darwin", {"avx"}, 128, False),
        ("x86_64-unknown-linux-gnu", {"avx", "fma"}, 128, True),  # Piledriver
        ("x86_64-unknown-linux-gnu", set(), 128, False),
        ("arm64-apple-darwin23.1.0", {"neon"}, 128, True),
        ("aarch64-unknown-linux-gnu", {"sve"}, 128, True),
        ("armv7l-unknown-linux-gnueabihf", {"neon"}, 128, False),
        ("riscv64-unknown-linux-gnu", set(), 128, False),
    ],
)
def test_width_and_fused_operations_by_processor(triple, present, bits, fma):
    target = Target.of(triple, "", present, "")
    assert (target.bits, target.fma) == (bits, fma)
    assert target.lanes("float64") == bits // 64


@pytest.mark.slow
def test_long_and_short_rows_on_every_processor():
    """Rows of up to three numbers, of many, and matrices of a hundred entries."""
    for kinds in ("R", "PR", "RRR", "RRRR", "RPRRR", "R" * 9):
        model = random_model(kinds, len(kinds))
        program = quantity_program(model, Request("mass_matrix"))
        q = random_states(model, 1, batch=(19,))[0]
        for target in TARGETS.values():
            close(compiled(program, target)(q), program(q), 1e-13)
