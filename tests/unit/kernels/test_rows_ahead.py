"""Rows of the next tile are read early, but none that does not exist."""

import ctypes
import mmap

import numpy as np
import pytest

import armdyn
from armdyn.graph import Graph
from armdyn.graph.program import Program
from armdyn.kernels.llvm.segments import Segment, best_plan
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
    near = {k * lanes + d for k in (2, 3, 4, 9) for d in (-1, 0, 1, lanes)}
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
def test_what_is_done_ahead_reads_and_writes_slots_that_nothing_else_changes(name):
    """The first steps leave the inputs where they are, so that they can be done once more."""
    program = PROGRAMS[name]
    pieces = best_plan(program, HOST, group=4)
    assert pieces.ahead > 0
    inputs = sum(len(array.symbols) for array in program.inputs)
    for step in pieces.steps[: pieces.ahead]:
        if isinstance(step, Segment):
            assert min(step.stores.values()) >= inputs
        else:
            assert min(step.sines, step.cosines) >= inputs
            assert step.wanted <= {*range(step.sines, step.cosines + step.count)}
    results = [
        group for step in pieces.steps if isinstance(step, Segment) for group in step.results
    ]
    columns = {first + k: value for first, values in results for k, value in enumerate(values)}
    assert tuple(columns[k] for k in range(len(program.outputs))) == program.outputs


def test_results_that_are_inputs_are_not_overwritten():
    graph = Graph()
    x = [graph.input(f"x{k + 1}") for k in range(5)]
    program = Program.from_outputs(np.array([x[3], x[0] * x[1], x[4]]), {"x": 5})
    given = np.random.default_rng(1).uniform(-1, 1, (100, 5))
    expected = np.stack([given[:, 3], given[:, 0] * given[:, 1], given[:, 4]], -1)
    assert np.array_equal(compiled(program)(given), expected)


@pytest.mark.parametrize("count", [1, 7, 8, 9, 100])
def test_programs_without_operations_are_computed_in_every_batch(count):
    graph = Graph()
    x = [graph.input(f"x{k + 1}") for k in range(5)]
    given = np.random.default_rng(3).uniform(-1, 1, (count, 5))
    program = Program.from_outputs(np.array([x[3], x[0], x[4]]), {"x": 5})
    assert np.array_equal(compiled(program)(given), given[:, [3, 0, 4]])
    sines = [graph.function(name, x[k]) for name in ("sin", "cos") for k in (4, 1)]
    function = compiled(Program.from_outputs(np.array(sines), {"x": 5}))
    expected = np.concatenate([np.sin(given[:, [4, 1]]), np.cos(given[:, [4, 1]])], -1)
    np.testing.assert_allclose(function(given), expected, rtol=4e-16)


def test_results_may_take_the_place_of_the_first_argument():
    program = PROGRAMS["panda torques"]
    function = compiled(program)
    states = np.random.default_rng(2).uniform(-1, 1, (3, 203, 7))
    expected = function(*states)
    first = states[0].copy()
    function(first, *states[1:], out=first)
    assert np.array_equal(first, expected)


def test_what_no_segment_could_do_ahead_is_not_left_to_one():
    graph = Graph()
    sines = [graph.function(name, graph.input("x1")) for name in ("sin", "cos")]
    program = Program.from_outputs(np.array(sines), {"x": 1})
    assert best_plan(program, HOST, group=1).ahead == 1
