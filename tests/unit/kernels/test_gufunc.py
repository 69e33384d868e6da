"""Kernels as generalized ufuncs: every layout of every array, the same bits for every state."""

from functools import cache

import numpy as np
import pytest

import armdyn
from armdyn.errors import ShapeError
from armdyn.kernels.kernel import Kernel
from armdyn.quantities.request import Request
from support.compiled_programs import HOST
from support.memory_layouts import LAYOUTS, read_only

KERNELS = {
    "torques": ("panda", "inverse_dynamics", "float64"),
    "matrix": ("panda", "mass_matrix", "float64"),
    "number": ("panda", "kinetic_energy", "float64"),
    "long rows": ("panda", "regressor", "float64"),
    "three entries": ("saha_3r", "bias", "float64"),
    "two entries": ("two_link", "coriolis_vector", "float64"),
    "single": ("panda", "inverse_dynamics", "float32"),
    "single matrix": ("two_link", "mass_matrix", "float32"),
}
IN_PLACE = ("torques", "three entries", "two entries", "single")
TILE = 4 * HOST.lanes("float32")
SIZES = [
    *range(41),
    TILE // 2 - 1,
    TILE // 2,
    TILE // 2 + 1,
    TILE - 1,
    TILE,
    TILE + 1,
    3 * TILE + 5,
]


@cache
def built(name):
    robot, quantity, dtype = KERNELS[name]
    return armdyn.load(robot).kernel(quantity, dtype=dtype).__self__


@pytest.fixture(params=KERNELS)
def kernel(request):
    return built(request.param)


def states(kernel, *batch, seed=1):
    rng = np.random.default_rng(seed)
    sizes = kernel.inputs.values()
    return [rng.uniform(-2, 2, (*batch, size)).astype(kernel.dtype) for size in sizes]


def one_by_one(kernel, given):
    """The result of each state alone, as the fast entry gives it."""
    batch = given[0].shape[:-1]
    results = np.empty(batch + kernel.shape, kernel.dtype)
    for place in np.ndindex(batch):
        results[place] = kernel.call(*(x[place].copy() for x in given))
    return results


@pytest.mark.slow
def test_same_bits_for_any_number_of_states(kernel):
    given = states(kernel, max(SIZES))
    alone = one_by_one(kernel, given)
    assert np.isfinite(alone).all()
    for size in SIZES:
        assert np.array_equal(kernel.gufunc(*(x[:size] for x in given)), alone[:size])
        assert np.array_equal(
            kernel(*(x[-size or None :] for x in given))[:size], alone[-size:][:size]
        )


@pytest.mark.slow
def test_same_bits_for_a_million_states():
    kernel = built("torques")
    given = states(kernel, 1000)
    alone = one_by_one(kernel, given)
    many = kernel(*(np.tile(x, (1001, 1))[1:] for x in given))
    for k in range(0, 1000, 37):
        assert np.array_equal(many[1000 * k + 999 :][:1000], alone)


@pytest.mark.slow
@pytest.mark.parametrize("layout", LAYOUTS)
def test_same_bits_for_any_layout_of_arguments(kernel, layout):
    given = states(kernel, 21)
    alone = one_by_one(kernel, given)
    for which in range(len(given)):
        laid = [layout(x) if k == which else x for k, x in enumerate(given)]
        before = laid[which].copy()
        assert np.array_equal(before, given[which])
        for function in (kernel.gufunc, kernel, kernel.call):
            assert np.array_equal(function(*laid), alone)
        assert np.array_equal(laid[which], before)


@pytest.mark.slow
@pytest.mark.parametrize("layout", [x for x in LAYOUTS if x is not read_only])
def test_same_bits_for_any_layout_of_the_output(kernel, layout):
    given = states(kernel, 21)
    alone = one_by_one(kernel, given)
    for function in (kernel.gufunc, kernel, kernel.call):
        out = layout(np.full((21, *kernel.shape), 7.0, kernel.dtype))
        assert function(*given, out=out) is out
        assert np.array_equal(out, alone)


def test_nothing_is_written_beside_the_output(kernel):
    for size in (1, 2, 3, 7, 8, 9, 33):
        given = states(kernel, size)
        table = np.full((size + 2, 3, *kernel.shape, 2), 7.0, kernel.dtype)
        out = table[1:-1, 1, ..., 1]
        kernel.gufunc(*given, out=out)
        assert np.array_equal(out, one_by_one(kernel, given))
        out[...] = 7.0
        assert (table == 7.0).all()


def test_two_axes_of_states_and_a_slice_of_them(kernel):
    given = states(kernel, 5, 9)
    alone = one_by_one(kernel, given)
    assert np.array_equal(kernel(*given), alone)
    assert np.array_equal(kernel(*(x.swapaxes(0, 1) for x in given)), alone.swapaxes(0, 1))
    assert np.array_equal(kernel(*(x[::2, ::-3] for x in given)), alone[::2, ::-3])


def test_broadcasting(kernel):
    q, *others = states(kernel, 6)
    repeated = kernel(np.broadcast_to(q[2], (40, q.shape[-1])), *(x[2] for x in others))
    assert np.array_equal(
        repeated, np.broadcast_to(one_by_one(kernel, [q, *others])[2], repeated.shape)
    )
    if others:
        table = kernel(q[:, None], *others)
        assert table.shape == (6, 6, *kernel.shape)
        for i, row in enumerate(table):
            for j, entry in enumerate(row):
                assert np.array_equal(
                    entry, kernel.call(q[i].copy(), *(x[j].copy() for x in others))
                )


@pytest.mark.parametrize("batch", [(0,), (3, 0), (0, 5)])
def test_no_states_give_no_results(kernel, batch):
    given = states(kernel, *batch)
    for function in (kernel, kernel.call, kernel.gufunc):
        assert function(*given).shape == (*batch, *kernel.shape)
    out = np.empty((*batch, *kernel.shape), kernel.dtype)
    assert kernel(*given, out=out) is out


@pytest.mark.parametrize("name", IN_PLACE)
def test_in_place_and_overlapping(name):
    kernel = built(name)
    given = states(kernel, 33)
    alone = one_by_one(kernel, given)
    for which in range(len(given)):
        taken = [x.copy() for x in given]
        assert kernel(*taken, out=taken[which]) is taken[which]
        assert np.array_equal(taken[which], alone)
    for shift in (1, 2, 5, 17):
        ahead, behind = slice(shift, None), slice(0, -shift)
        for first, second in ((ahead, behind), (behind, ahead)):
            buffer = np.empty((33 + shift, given[0].shape[-1]), kernel.dtype)
            buffer[first] = given[0]
            kernel(buffer[first], *given[1:], out=buffer[second])
            assert np.array_equal(buffer[second], alone)


def test_one_array_for_all_arguments(kernel):
    q = states(kernel, 11)[0]
    given = [q] * len(kernel.inputs)
    assert np.array_equal(kernel(*given), one_by_one(kernel, given))


def test_numbers_of_other_types_are_converted():
    torques = built("torques").call
    q = np.array([[1, 0, -1, 2, 0, 1, 0]] * 3)
    expected = torques(*(q.astype(float),) * 3)
    for kind in ("int8", "int64", "uint8", "float16", "float32", "longdouble", ">f8", ">i4"):
        given = np.abs(q) if kind == "uint8" else q
        truth = torques(*(given.astype(float),) * 3)
        assert np.array_equal(torques(*(given.astype(kind),) * 3), truth)
    assert np.array_equal(torques(*(q.tolist(),) * 3), expected)
    assert np.array_equal(torques(*(q[0].astype("f"),) * 3), expected[0])
    assert np.array_equal(torques(*(q == 1,) * 3), torques(*((q == 1) * 1.0,) * 3))
    single = built("single").call(*(q.astype(float),) * 3)
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, expected, rtol=0, atol=3e-6 * np.abs(expected).max())


def test_a_wider_or_narrower_output_is_cast():
    given = states(built("torques"), 4)
    exact = built("torques").call(*given)
    out = np.empty((4, 7), "f")
    assert np.array_equal(built("torques").call(*given, out=out), exact.astype("f"))
    wide = np.empty((4, 7))
    single = built("single").call(*given)
    assert np.array_equal(built("single").call(*given, out=wide), single)


def test_nan_goes_through_in_its_own_state_without_a_warning(kernel):
    given = states(kernel, 40)
    alone = one_by_one(kernel, given)
    marked = [x.copy() for x in given]
    for x in marked:
        x[5::7, 0] = np.nan
    for function in (kernel, kernel.call, kernel.gufunc):
        with np.errstate(all="raise", under="ignore"):
            found = function(*marked)
        kept = np.ones(40, bool)
        kept[5::7] = False
        assert np.array_equal(found[kept], alone[kept])
    whole = kernel(*(np.full_like(x, np.nan) for x in given))
    # what is the same in every state, as zeros of a regressor, does not depend on the state
    changing = (alone != alone[0]).any(0)
    assert np.isnan(whole[:, changing]).all()


def test_infinite_and_huge_states_are_reported_as_numpy_does():
    torques, zero = built("torques").call, np.zeros((3, 7))
    with pytest.warns(RuntimeWarning, match="invalid value encountered in inverse_dynamics"):
        assert np.isnan(torques(zero + np.inf, zero, zero)).any()
    with np.errstate(over="raise"), pytest.raises(FloatingPointError, match="overflow"):
        torques(zero, zero + 1e200, zero)
    with np.errstate(over="ignore", invalid="ignore"):
        assert not np.isfinite(torques(zero + 1, zero + 1e200, zero)).all()


def test_numpy_itself_refuses_wrong_shapes_and_types():
    gufunc = built("torques").gufunc
    assert gufunc.signature == "(7),(7),(7)->(7)"
    assert gufunc.types == ["ddd->d"]
    assert (gufunc.nin, gufunc.nout) == (3, 1)
    zero = np.zeros(7)
    with pytest.raises(ValueError, match="mismatch in its core dimension"):
        gufunc(zero, zero, np.zeros(6))
    with pytest.raises(TypeError, match="could not be safely coerced"):
        gufunc(zero, zero, zero + 1j)


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (np.zeros(6), r"qd: expected shape \(..., 7\), the last axis being the 7 joints, got shape \(6,\)"),
        (np.zeros((7, 1)), r"qd: expected shape \(..., 7\).*got shape \(7, 1\)"),
        (np.float64(1.0), r"qd: expected shape \(..., 7\).*got shape \(\)"),
        (np.zeros(7) + 1j, "qd: expected real numbers"),
        (["a"] * 7, "qd: expected real numbers"),
        (None, "qd: expected real numbers"),
        (np.ma.array(np.zeros(7), mask=np.eye(7)[1]), "qd: expected real .* none of them masked"),
        (np.zeros((4, 7)), r"do not fit together: q \(3, 7\), qd \(4, 7\), qdd \(3, 7\)"),
    ],
)  # fmt: skip
def test_kernels_say_which_argument_is_wrong(bad, message):
    good = np.zeros((3, 7))
    with pytest.raises(ShapeError, match=message):
        built("torques").call(good, bad, good)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("skip", [0, 1, 5])
def test_results_too_large_for_caches_are_the_same(dtype, skip):
    """Those of at least 8 MB are written by another way, in whole lines of the cache."""
    kernel = Kernel(armdyn.load("puma560").model, Request("mass_matrix"), dtype)
    size = np.dtype(dtype).itemsize
    n = 8 * 1024**2 // (36 * size) + 37
    q = np.random.default_rng(skip).uniform(-3, 3, (n, 6)).astype(dtype)
    guarded = np.full(36 * n + 2 * 7 + skip, -7.0, dtype)
    out = guarded[7 + skip : 7 + skip + 36 * n].reshape(n, 6, 6)
    kernel.gufunc(q, out=out)
    parts = [kernel.gufunc(q[i : i + 999]) for i in range(0, n, 999)]
    assert np.array_equal(out, np.concatenate(parts))
    assert (guarded[: 7 + skip] == -7).all()
    assert (guarded[7 + skip + 36 * n :] == -7).all()
