"""Batches whose lanes lie side by side are computed in place, with the bits of rows."""

import numpy as np
import pytest

import armdyn
from armdyn.kernels.kernel import Kernel
from armdyn.kernels.llvm.target import Target
from armdyn.quantities.request import Request
from support.random_robots import random_model
from unit.kernels.test_rows_ahead import LIBC, Guarded

pytestmark = pytest.mark.slow

UR5E = armdyn.load("ur5e").model  # with parallel axes, so that angles are added up
REQUESTS = {
    "torques": (UR5E, Request("inverse_dynamics", friction=False)),
    "a matrix": (UR5E, Request("mass_matrix")),
    "a number": (UR5E, Request("kinetic_energy")),
    "one column": (random_model("RRR", 1), Request("inverse_dynamics", gravity=True)),
    "many segments": (random_model("RRPRRRRR", 3), Request("forward_dynamics")),
}
KERNELS = {
    (name, dtype): Kernel(model, request, dtype)
    for name, (model, request) in REQUESTS.items()
    for dtype in ("float64", "float32")
}


def drawn(kernel, *batch, lanes=None, seed=7):
    """Blocks (*batch, n, lanes) of each argument."""
    rng = np.random.default_rng(seed)
    sizes = kernel.inputs.values()
    shape = lanes or kernel.lanes
    return [rng.uniform(-3, 3, (*batch, n, shape)).astype(kernel.dtype) for n in sizes]


def seen(blocks):
    """As a batch (..., lanes, n)."""
    return [np.swapaxes(block, -1, -2) for block in blocks]


def by_rows(kernel, arrays):
    return kernel(*map(np.ascontiguousarray, arrays))


@pytest.mark.parametrize("name", KERNELS, ids=" ".join)
@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 9, 40])
def test_blocks_have_the_bits_of_rows(name, count):
    kernel = KERNELS[name]
    arrays = seen(drawn(kernel, count))
    result = kernel(*arrays)
    assert np.array_equal(result, by_rows(kernel, arrays))
    assert "_of_blocks" in vars(kernel)
    assert np.moveaxis(result, 1, -1).flags.c_contiguous  # blocks again
    out = np.moveaxis(np.empty((count, *kernel.shape, kernel.lanes), kernel.dtype), -1, 1)
    assert kernel(*arrays, out=out) is out
    assert np.array_equal(out, result)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("angle", [33.0, 500.0, 2e5, 1e30, np.nan])
@pytest.mark.parametrize("name", ["torques", "many segments"])
def test_far_angles_are_noticed_in_blocks(name, angle, dtype):
    kernel = KERNELS[name, dtype]
    blocks = drawn(kernel, 9)
    for block, joint, lane in ((0, 1, 0), (3, 2, 1), (8, 0, -1)):
        blocks[0][block, joint, lane] = np.float64(angle).astype(dtype)
    arrays = seen(blocks)
    with np.errstate(all="ignore"):
        assert np.array_equal(kernel(*arrays), by_rows(kernel, arrays), equal_nan=True)


def test_other_layouts_than_blocks_go_by_rows():
    kernel = Kernel(UR5E, REQUESTS["torques"][1])
    lanes = kernel.lanes
    for others in (lanes - 1, 2 * lanes):
        arrays = seen(drawn(kernel, 3, lanes=others))
        assert np.array_equal(kernel(*arrays), by_rows(kernel, arrays))
    mixed = seen(drawn(kernel, 3))
    mixed[1] = np.ascontiguousarray(mixed[1])
    assert np.array_equal(kernel(*mixed), by_rows(kernel, mixed))
    one_for_all = [*mixed[:2], mixed[2][0, 0]]
    expected = kernel(*mixed[:2], np.broadcast_to(one_for_all[2], mixed[0].shape))
    assert np.array_equal(kernel(*one_for_all), expected)
    strided = seen([block[..., :lanes] for block in drawn(kernel, 3, lanes=2 * lanes)])
    assert np.array_equal(kernel(*strided), by_rows(kernel, strided))
    empty = [array[:0] for array in mixed]
    assert kernel(*empty).shape == (0, lanes, 6)
    assert "_of_blocks" not in vars(kernel)


def test_results_in_the_place_of_an_argument_are_right():
    kernel = KERNELS["torques", "float64"]
    arrays = seen(drawn(kernel, 7))
    expected = by_rows(kernel, arrays)
    for k in range(3):
        given = [np.swapaxes(np.swapaxes(a, 1, 2).copy(), 1, 2) for a in arrays]
        kernel(*given, out=given[k])
        assert np.array_equal(given[k], expected)


@pytest.mark.parametrize("shape", [(4, 5), (2, 1, 3)])
def test_blocks_have_any_leading_shape_and_need_not_follow_each_other(shape):
    kernel = KERNELS["torques", "float64"]
    blocks = drawn(kernel, *shape[:-1], 2 * shape[-1])
    arrays = [array[..., ::2, :, :] for array in seen(blocks)]
    assert np.array_equal(kernel(*arrays), by_rows(kernel, arrays))
    backwards = [array[..., ::-1, :, :] for array in arrays]
    assert np.array_equal(kernel(*backwards), by_rows(kernel, backwards))


def test_threads_change_no_bit_of_blocks():
    kernel = KERNELS["torques", "float64"]
    arrays = seen(drawn(kernel, 20_000 // kernel.lanes + 1))
    armdyn.set_threads(1)
    alone = kernel(*arrays)
    armdyn.set_threads(3)
    assert np.array_equal(kernel(*arrays), alone)
    armdyn.set_threads(None)
    assert np.array_equal(alone, by_rows(kernel, arrays))


@pytest.mark.skipif(not hasattr(LIBC, "mprotect"), reason="pages cannot be protected here")
@pytest.mark.parametrize("name", ["torques", "many segments"])
@pytest.mark.parametrize("at_end", [True, False])
def test_nothing_beyond_blocks_is_read_or_written(name, at_end):
    kernel = KERNELS[name, "float64"]
    for count in (1, 2, 3, 8, 9):
        blocks = drawn(kernel, count)
        kept = [Guarded(block.size, block.dtype, at_end) for block in blocks]
        views = [m.array.reshape(b.shape) for m, b in zip(kept, blocks, strict=True)]
        for view, block in zip(views, blocks, strict=True):
            view[:] = block
        out = Guarded(count * kernel.lanes * kernel.shape[0], "float64", at_end)
        result = np.swapaxes(out.array.reshape(count, *kernel.shape, kernel.lanes), 1, 2)
        kernel(*seen(views), out=result)
        assert np.array_equal(result, by_rows(kernel, seen(blocks)))


def test_lanes_are_those_of_the_processor():
    kernel = KERNELS["torques", "float32"]
    assert kernel.lanes == 2 * KERNELS["torques", "float64"].lanes == Target.host().bits // 32
