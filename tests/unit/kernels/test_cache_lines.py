"""Results that no cache keeps: the same numbers, and nothing beside them."""

import numpy as np
import pytest

from armdyn.graph.nodes import Graph
from armdyn.graph.program import Program
from armdyn.kernels.llvm.vectors import LINE
from support.compiled_programs import compiled

UNCACHED_BYTES = 8 * 1024**2


def products(columns):
    graph = Graph()
    x = [graph.input(f"x{k + 1}") for k in range(2)]
    values = [x[0] * (k + 1.5) + x[1] for k in range(columns)]
    return Program.from_outputs(np.array(values), {"x": 2})


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("columns", [1, 3, 7, 40])
def test_results_beyond_the_caches_are_those_of_small_batches_wherever_they_begin(columns, dtype):
    size = np.dtype(dtype).itemsize
    states = UNCACHED_BYTES // (columns * size) + 100
    function = compiled(products(columns), dtype=dtype)
    given = np.random.default_rng(1).uniform(-1, 1, (states, 2)).astype(dtype)
    expected = np.concatenate([function(some) for some in np.array_split(given, 50)])
    for n in (states, states - 1, states - 37):
        for behind in range(0, LINE, size):
            memory = np.full(n * columns + 2 * LINE, 7, dtype)
            first = (behind - memory.ctypes.data) % LINE // size + LINE // size
            out = memory[first : first + n * columns].reshape(n, columns)
            assert out.ctypes.data % LINE == behind
            function(given[:n], out=out)
            assert np.array_equal(out, expected[:n])
            assert (memory[:first] == 7).all()
            assert (memory[first + n * columns :] == 7).all()
