"""Rows of the next tile are read early, but none that does not exist."""

import ctypes
import mmap

import numpy as np
import pytest

import armdyn
from armdyn.graph import Graph
from armdyn.graph.program import Program
from armdyn.kernels.llvm.module import MOST_VECTORS
from armdyn.kernels.llvm.rows import groups_ahead
from armdyn.kernels.llvm.segments import Segment, best_plan
from armdyn.kernels.llvm.vectors import Vectors
from armdyn.quantities.program import quantity_program
from armdyn.quantities.request import Request
from support.compiled_programs import HOST, compiled
from support.random_robots import random_model

pytestmark = pytest.mark.slow

PAGE = mmap.PAGESIZE
LIBC = ctypes.CDLL(None)
PANDA = armdyn.load("panda").model
PROGRAMS = {
    "panda torques": quantity_program(PANDA, Request("inverse_dynamics", friction=False)),
    "payload and gravity": quantity_program(
        PANDA, Request("gravity_vector", payload=True, gravity=True)
    ),
    "three joints": quantity_program(random_model("RPR", 2), Request("inverse_dynamics")),
    "many segments": quantity_program(random_model("R" * 12, 3), Request("inverse_dynamics")),
}
LAYOUTS = ("plain", "one row for all", "every second row", "backwards", "every second column")


class Guarded:
    """Memory for an array that ends where memory ends, or begins where it begins."""

    def __init__(self, count, dtype, at_end):
        size = count * np.dtype(dtype).itemsize
        pages = -(-max(size, 1) // PAGE)
        self.memory = mmap.mmap(-1, (pages + 2) * PAGE)
        start = ctypes.addressof(ctypes.c_char.from_buffer(self.memory))
        for page in (start, start + (pages + 1) * PAGE):
            assert LIBC.mprotect(ctypes.c_void_p(page), PAGE, 0) == 0
        first = (pages + 1) * PAGE - size if at_end else PAGE
        self.array = np.frombuffer(self.memory, dtype, count, first)


def guarded(values, layout):
    """The same rows in memory whose neighbours cannot be read, so that trying ends the process."""
    rows, columns = values.shape
    by_row = {"every second row": 2}.get(layout, 1)
    by_column = {"every second column": 2}.get(layout, 1)
    if layout == "one row for all":
        memory = Guarded(columns, values.dtype, at_end=True)
        memory.array[:] = values[0]
        return memory, np.broadcast_to(memory.array, values.shape)
    # the last number of the last row is the last of the memory, or the first is the first
    row = columns * by_column
    count = ((rows - 1) * by_row + 1) * row - (by_column - 1)
    memory = Guarded(count, values.dtype, at_end=layout != "backwards")
    size = values.dtype.itemsize
    view = np.lib.stride_tricks.as_strided(
        memory.array, values.shape, (by_row * row * size, by_column * size)
    )
    if layout == "backwards":
        view = view[::-1]
    view[:] = values
    return memory, view


def counts(lanes):
    tile = MOST_VECTORS * lanes
    near = {k * tile + d for k in (1, 2, 3) for d in (-1, 0, 1, lanes)}
    return sorted({*range(1, lanes + 2), *near})


@pytest.mark.skipif(not hasattr(LIBC, "mprotect"), reason="pages cannot be protected here")
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_nothing_beyond_the_arrays_is_read(name, dtype):
    program = PROGRAMS[name]
    function = compiled(program, HOST, dtype)
    rng = np.random.default_rng(5)
    most = counts(HOST.lanes(dtype))[-1]
    states = [rng.uniform(-2, 2, (most, len(a.symbols))).astype(dtype) for a in program.inputs]
    expected = np.concatenate([function(*(x[i : i + 1] for x in states)) for i in range(most)])
    for count in counts(HOST.lanes(dtype)):
        for layout in LAYOUTS:
            kept = [guarded(x[:count], layout) for x in states]
            out = Guarded(count * expected[0].size, dtype, at_end=True)
            given = [view for _, view in kept]
            result = out.array.reshape(count, *expected.shape[1:])
            function(*given, out=result)
            if layout == "one row for all":
                assert np.array_equal(result, np.broadcast_to(expected[0], result.shape))
            else:
                assert np.array_equal(result, expected[:count]), (count, layout)


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_group_is_transposed_once_after_its_slots_were_read(name):
    program = PROGRAMS[name]
    sizes = tuple(len(array.symbols) for array in program.inputs)
    pieces = best_plan(program, HOST)
    ahead = groups_ahead(Vectors(4, "float64", True), pieces, sizes)
    groups = [(g.array, g.column + k) for some in ahead.values() for g in some for k in range(4)]
    wanted = {(k, c) for k, size in enumerate(sizes) if size >= 4 for c in range(size)}
    assert set(groups) == wanted
    written = set()
    for number, step in enumerate(pieces.steps):
        if not isinstance(step, Segment):
            assert not written & set(range(step.angles, step.angles + step.count))
            continue
        for place, (_, _, args) in enumerate(step.operations):
            assert not written & set(args)
            here = [g for g in ahead.get(number, ()) if g.place == place]
            written |= {g.slot + k for g in here for k in range(4)}
        assert not written & set(step.stores)
    assert not written & set(pieces.outputs)
    assert len(written) == len(wanted)


def test_results_that_are_inputs_are_not_overwritten():
    """Rows are not transposed early where an input is a result, and results are right."""
    graph = Graph()
    x = [graph.input(f"x{k + 1}") for k in range(5)]
    program = Program.from_outputs(np.array([x[3], x[0] * x[1], x[4]]), {"x": 5})
    given = np.random.default_rng(1).uniform(-1, 1, (100, 5))
    expected = np.stack([given[:, 3], given[:, 0] * given[:, 1], given[:, 4]], -1)
    assert np.array_equal(compiled(program)(given), expected)


def test_results_may_take_the_place_of_the_first_argument():
    program = PROGRAMS["panda torques"]
    function = compiled(program)
    states = np.random.default_rng(2).uniform(-1, 1, (3, 203, 7))
    expected = function(*states)
    first = states[0].copy()
    function(first, *states[1:], out=first)
    assert np.array_equal(first, expected)
