"""Sine and cosine of the kernels, against whole numbers of 256 binary places."""

import ctypes
import ctypes.util
import math

import numpy as np
import pytest

from armdyn.kernels.llvm.trig import NUMBERS
from support.compiled_programs import compiled, program_of_functions, targets

PLACES = 256
ULPS = 2.0
LIMIT = {dtype: np.dtype(dtype).type(numbers.limit) for dtype, numbers in NUMBERS.items()}
EXTENDED = np.finfo(np.longdouble).nmant > 60
TARGETS = targets()


@pytest.fixture(scope="module", params=TARGETS)
def sincos(request):
    return compiled(program_of_functions("sin", "cos"), TARGETS[request.param])


@pytest.fixture(scope="module", params=TARGETS)
def single(request):
    return compiled(program_of_functions("sin", "cos"), TARGETS[request.param], "float32")


def _arctan_of_inverse(k, places):
    total, power, sign, n = 0, (1 << places) // k, 1, 1
    while power:
        total, power, sign, n = total + sign * (power // n), power // (k * k), -sign, n + 2
    return total


HALF_PI = 2 * (4 * _arctan_of_inverse(5, 2 * PLACES) - _arctan_of_inverse(239, 2 * PLACES)) >> (
    PLACES
)
"""By Machin's formula."""


def scaled(x):
    """A float as a whole number of 2^-256."""
    numerator, denominator = float(x).as_integer_ratio()
    return (numerator << PLACES) // denominator


def exact(x):
    """Sine and cosine of a float as whole numbers of 2^-256, by Taylor's series."""
    turns, r = divmod(scaled(x), HALF_PI)
    series, term, k = [0, 0], 1 << PLACES, 0
    while term:
        series[k % 2] += term if k % 4 < 2 else -term
        k += 1
        term = (term * r >> PLACES) // k
    cosine, sine = series
    return [(sine, cosine), (cosine, -sine), (-sine, -cosine), (-cosine, sine)][turns % 4]


def exact_errors(x, found):
    """Errors in units of the last place of the rounded truth."""
    worst = []
    for value, pair in zip(x, found, strict=True):
        for got, truth in zip(pair, exact(value), strict=True):
            ulp = math.ulp(abs(truth / (1 << PLACES)))
            worst.append(abs(scaled(got) - truth) / (1 << PLACES) / ulp)
    return np.array(worst)


def errors(x, found):
    """The same, with 64 bits instead of 256 where there are such floats and many points."""
    if not EXTENDED:
        return exact_errors(x[:: 1 + len(x) // 4000], found[:: 1 + len(x) // 4000])
    wide = x.astype(np.longdouble)
    truth = np.stack([np.sin(wide), np.cos(wide)], -1)
    size = np.abs(found - truth) / np.spacing(np.abs(truth.astype(float)))
    at = np.argsort(size.max(-1))[-300:]
    return np.append(size.max(-1).astype(float), exact_errors(x[at], found[at]))


def around_quarter_turns(limit, each):
    """Every multiple of π/2 up to the limit, and its neighbours."""
    turns = np.arange(1, int(limit / (math.pi / 2)) + 1)
    middle = turns * (math.pi / 2)
    return np.concatenate([middle + k * np.spacing(middle) for k in range(-each, each + 1)])


def test_the_reference_is_right():
    assert math.pi / 2 == HALF_PI / (1 << PLACES)
    assert exact(0.0) == (0, 1 << PLACES)
    for x in (1e-9, 0.5, 2.0, -3.0, 4.0, 6.0, 77777.0):
        sine, cosine = exact(x)
        assert abs(sine * sine + cosine * cosine - (1 << 2 * PLACES)) < 1 << PLACES + 8
        assert abs(sine / (1 << PLACES) - math.sin(x)) < 2e-16
        assert abs(cosine / (1 << PLACES) - math.cos(x)) < 2e-16


@pytest.mark.slow
def test_two_units_in_the_last_place_up_to_the_limit(sincos, record_property):
    rng = np.random.default_rng(1)
    limit = LIMIT["float64"]
    binades = [rng.uniform(1, 2, 400) * 2.0**k for k in range(-60, 17)]
    x = np.concatenate(
        [
            *binades,
            rng.uniform(-4, 4, 100_000),
            rng.uniform(-limit, limit, 100_000),
            [limit, np.nextafter(limit, 0)],
        ]
    )
    x = np.where(rng.random(x.shape) < 0.5, x, -x)[np.abs(x) <= limit]
    few = x[:: len(x) // 4000]
    worst = max(errors(x, sincos(x[:, None])).max(), exact_errors(few, sincos(few[:, None])).max())
    record_property("largest error in ulps", float(worst))
    assert 0.5 < worst <= ULPS


@pytest.mark.slow
def test_two_units_in_the_last_place_at_all_zeros_and_extrema(sincos):
    x = around_quarter_turns(LIMIT["float64"], 2)
    assert len(x) > 300_000
    assert errors(x, sincos(x[:, None])).max() <= ULPS
    # between the quadrants the sine changes places with the cosine
    edges = x - math.pi / 4
    assert errors(edges, sincos(edges[:, None])).max() <= ULPS


def test_the_smallest_angles(sincos):
    tiny = np.float64(5e-324)
    x = np.concatenate([[tiny, 3 * tiny, 2.3e-308], 2.0 ** np.arange(-1074.0, -27.0)])
    for sign in (1, -1):
        found = sincos(sign * x[:, None])
        np.testing.assert_array_equal(found, np.stack([sign * x, np.ones_like(x)], -1))


@pytest.mark.slow
def test_zero_keeps_its_sign(sincos, single):
    for function in (sincos, single):
        found = function(np.array([[0.0], [-0.0]], dtype=function.types[0][0]))
        assert np.array_equal(np.signbit(found), [[False, False], [True, False]])
        assert np.array_equal(found, [[0, 1], [0, 1]])


def test_beyond_the_limit_the_c_library_answers(sincos):
    rng = np.random.default_rng(2)
    x = np.concatenate([10.0 ** rng.uniform(5.0, 308.0, 2000), [np.nextafter(1e5, 2e5)]])
    x[::2] *= -1
    np.testing.assert_array_equal(
        sincos(x[:, None]), [(math.sin(value), math.cos(value)) for value in x]
    )


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("far", [1e7, -3e8, np.nan, np.inf])
def test_a_lane_does_not_know_its_neighbours(dtype, far):
    sincos = compiled(program_of_functions("sin", "cos"), dtype=dtype)
    x = np.random.default_rng(3).uniform(-300, 300, (4096, 1)).astype(dtype)
    mixed = x.copy()
    mixed[np.random.default_rng(4).random(4096) < 0.3] = far
    with np.errstate(invalid="ignore"):
        found, alone = sincos(mixed), sincos(np.array([far], dtype))
    near = mixed[:, 0] == x[:, 0]
    np.testing.assert_array_equal(found[near], sincos(x)[near])
    np.testing.assert_array_equal(found[~near], np.broadcast_to(alone, found[~near].shape))


@pytest.mark.slow
def test_single_precision_against_double(single, record_property):
    limit, worst = LIMIT["float32"], 0.0
    top = int(limit.view(np.int32))
    rng = np.random.default_rng(5)
    starts = [*rng.integers(np.float32(1e-4).view(np.int32), top - 2**17, 20), top - 2**17]
    near = around_quarter_turns(float(limit), 0).astype(np.float32).view(np.int32)
    pieces = [start + np.arange(2**17 + 1) for start in starts]
    for piece in [*pieces, (near[:, None] + np.arange(-20, 21)).ravel()]:
        x = piece.astype(np.int32).view(np.float32)
        x = x[x <= limit]
        wide = x.astype(float)
        truth = np.stack([np.sin(wide), np.cos(wide)], -1)
        ulp = np.spacing(np.abs(truth.astype(np.float32))).astype(float)
        for sign in (1, -1):
            size = np.abs(single(sign * x[:, None]) - truth * (sign, 1)) / ulp
            worst = max(worst, float(size.max()))
    record_property("largest error in ulps", float(worst))
    assert 0.5 < worst <= ULPS


def test_single_precision_beyond_the_limit_is_that_of_the_c_library(single):
    c = ctypes.CDLL(ctypes.util.find_library("m"))
    truth = []
    x = (10.0 ** np.random.default_rng(6).uniform(2.7, 38, 500)).astype(np.float32)
    for name in ("sinf", "cosf"):
        function = getattr(c, name)
        function.restype, function.argtypes = ctypes.c_float, (ctypes.c_float,)
        truth.append([function(value) for value in x])
    np.testing.assert_array_equal(single(x[:, None]), np.stack(truth, -1).astype(np.float32))


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_flags_are_those_of_numpy(dtype):
    sincos = compiled(program_of_functions("sin", "cos"), dtype=dtype)
    with np.errstate(all="raise", under="ignore"):
        assert np.isnan(sincos(np.full((9, 1), np.nan, dtype))).all()
        assert np.isfinite(sincos(np.array([[0], [1e-30], [3], [300], [1e6]], dtype))).all()
        for function in (sincos, np.sin):
            with pytest.raises(FloatingPointError, match="invalid value"):
                function(np.array([[1], [np.inf]], dtype))
    with np.errstate(invalid="ignore"):
        assert np.isnan(sincos(np.array([[np.inf], [-np.inf]], dtype))).all()
