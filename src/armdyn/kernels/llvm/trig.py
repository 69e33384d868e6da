"""Sine and cosine of vectors.

x = n π/2 + r with |r| ≤ π/4: n comes from adding a number so large that its last bit is worth one,
and π/2 is subtracted in pieces short enough that n times each is exact. Then

    sin r = r + r³ S(r²),    cos r = 1 - r²/2 + r⁴ C(r²)

with S and C interpolated at the Chebyshev points of [0, (π/4)²]; n mod 4 says which of the two is
wanted, and its sign. Beyond `limit` the pieces would not be exact any more, and lanes there, as
those with NaN and infinities, get what the C library says; the others in the same vector do not,
for what a lane gives must not depend on its neighbours.
"""

import math
from functools import reduce
from itertools import chain

from armdyn.arrays import record
from armdyn.graph.operations import FAR_ANGLE
from armdyn.kernels.llvm.vectors import IrWriter, Vectors

FLOPS = {"float64": 37, "float32": 27}
"""Multiplications and additions for one angle."""


@record
class Numbers:
    """What the approximation is made of in one precision."""

    limit: float
    magic: float
    """1.5 times the power of two from which on all numbers are whole."""
    pieces: tuple[float, ...]
    """π/2 as a sum, large pieces first."""
    sine: tuple[float, ...]
    """S, lowest power first."""
    cosine: tuple[float, ...]
    """C, lowest power first."""


def _floats(*hexadecimal: str) -> tuple[float, ...]:
    return tuple(map(float.fromhex, hexadecimal))


NUMBERS = {
    "float64": Numbers(
        limit=1e5,
        magic=1.5 * 2.0**52,
        pieces=_floats("0x1.921fb54440000p+0", "0x1.68c234c4c0000p-39", "0x1.98a2e03707344p-77"),
        sine=(
            -0.16666666666666666,
            0.008333333333330936,
            -0.00019841269836740532,
            2.7557316093198404e-06,
            -2.5051129896450185e-08,
            1.5917988979397435e-10,
        ),
        cosine=(
            0.041666666666666664,
            -0.0013888888888887389,
            2.48015872987544e-05,
            -2.755731726587808e-07,
            2.087614504941318e-09,
            -1.138254464534925e-11,
        ),
    ),
    "float32": Numbers(
        limit=400.0,
        magic=1.5 * 2.0**23,
        # the second piece ends at 2^-24: no rounding yet
        pieces=_floats("0x1.921ep+0", "0x1.b5p-16", "0x1.110ap-26", "0x1.4611a6p-42"),
        sine=(-0.16666664656312208, 0.00833274710466453, -0.0001958763909873762),
        cosine=(0.04166666465348879, -0.001388830186756237, 2.454768977246003e-05),
    ),
}


SIDE_BY_SIDE = {16: 3, 32: 3, 64: 2}
"""By the bytes of a vector, angles whose operations alternate: those of one wait for each other."""


def sine_cosine_functions(v: Vectors, most: int = 4) -> list[str]:
    """`@sin_cos` for %count angles in consecutive slots, and its slow path.

    Where fewer angles are left than are taken side by side, the last one is taken again.
    """
    t = IrWriter(
        v,
        "define internal void @sin_cos(ptr %angles, ptr %sines, ptr %cosines, i64 %count) "
        "noinline nounwind {",
    )
    t.label("entry")
    t.let("sub i64 %count, 1", "%last")
    t.jump("loop", begin="loop")
    t.let("phi i64 [0, %entry], [%i.next, %done]", "%i")
    places = []
    together = min(most, SIDE_BY_SIDE[v.bytes])
    for k in range(together):
        i = t.let(f"call i64 @llvm.smin.i64(i64 {t.let(f'add i64 %i, {k}')}, i64 %last)")
        places.append([t.at(f"%{name}", i, v.type) for name in ("angles", "sines", "cosines")])
    t.let(f"add i64 %i, {together}", "%i.next")
    angles = [t.load(angle) for angle, _, _ in places]
    far = [_is_far(t, x) for x in angles]
    mask = reduce(lambda a, b: t.let(f"or <{v.lanes} x i1> {a}, {b}"), far)
    t.branch(t.any(mask), "far", "near", begin="near")
    writers = [IrWriter(v, names=f"side{j}.") for j in range(together)]
    for writer, x, (_, *results) in zip(writers, angles, places, strict=True):
        for value, place in zip(sine_and_cosine(writer, x), results, strict=True):
            writer.store(value, place)
    t.lines += chain.from_iterable(zip(*(writer.lines for writer in writers), strict=True))
    t.jump("done", begin="far")
    for some in places:
        t.do(f"call void @sin_cos.far({', '.join(f'ptr {place}' for place in some)})")
    t.jump("done", begin="done")
    t.branch(t.let("icmp slt i64 %i.next, %count"), "loop", "exit", begin="exit")
    return [*t.ended(), *_far(v)]


def _is_far(t: IrWriter, x: str) -> str:
    """In which lanes the approximation does not hold."""
    return t.beyond(x, NUMBERS[t.v.dtype].limit)


def _remainder(t: IrWriter, x: str, quarters: int) -> tuple[str, str]:
    """The whole n, still added to `magic`, and r in x = n (quarters π/2) + r; up to the limit."""
    v = t.v
    k = NUMBERS[t.v.dtype]
    rounded = t.fused(x, v.splat(2.0 / math.pi / quarters), v.splat(k.magic))
    n = t.binary("sub", rounded, v.splat(k.magic))
    for piece in k.pieces:
        x = t.fused(n, v.splat(quarters * piece), x, "-")
    return rounded, x


def angle_sum_functions(v: Vectors) -> list[str]:
    """`@angle_sum`, in the lanes where a + b is far from zero without whole turns."""
    t = IrWriter(v, f"define internal {v.type} @wrap({v.type} %x) noinline cold nounwind {{")
    _, near = _remainder(t, "%x", 4)
    far = _is_far(t, "%x")
    t.branch(t.any(far), "far", "near", begin="near")
    t.do(f"ret {v.type} {near}")
    t.label("far")
    x = t.select(far, "%x", v.splat(0.0))
    turned = t.by_lane("atan2", t.by_lane("sin", x), t.by_lane("cos", x))
    t.do(f"ret {v.type} {t.select(far, turned, near)}")
    given = f"{v.type} %a, {v.type} %b"
    s = IrWriter(v, f"define internal {v.type} @angle_sum({given}) noinline cold nounwind {{")
    total = s.binary("add", "%a", "%b")
    wrapped = [s.let(f"call {v.type} @wrap({v.type} {x})") for x in ("%a", "%b")]
    s.do(f"ret {v.type} {s.select(s.beyond(total, FAR_ANGLE), s.binary('add', *wrapped), total)}")
    return [*t.lines, "}", *s.lines, "}"]


def sine_and_cosine(t: IrWriter, x: str) -> tuple[str, str]:
    """Sine and cosine up to the limit."""
    v = t.v
    k = NUMBERS[t.v.dtype]
    rounded, r = _remainder(t, x, 1)
    z = t.binary("mul", r, r)
    sine = _polynomial(t, z, k.sine)
    sine = t.fused(t.binary("mul", z, r), sine, r)
    minus = t.let(f"and {v.integers} {t.bits(r)}, {v.whole(-1 << 8 * v.size - 1)}")
    sine = t.let(f"or {v.integers} {t.bits(sine)}, {minus}")  # S < 0, so r = -0 would give +0
    sine = t.from_bits(sine)
    cosine = _polynomial(t, z, (1.0, -0.5, *k.cosine))
    quadrant = t.bits(rounded)
    # bits of n come to the place of a sign: the first swaps, the second is the sign of the sine;
    # the cosine is one ahead
    top = 8 * v.size - 2
    odd = t.let(f"shl {v.integers} {quadrant}, {v.whole(top + 1)}")
    swap = t.let(f"icmp slt {v.integers} {odd}, zeroinitializer")
    turns = t.let(f"shl {v.integers} {quadrant}, {v.whole(top)}")
    ahead = t.let(f"add {v.integers} {turns}, {v.whole(1 << top)}")
    return (
        _signed(t, t.select(swap, cosine, sine), turns),
        _signed(t, t.select(swap, sine, cosine), ahead),
    )


def _polynomial(t: IrWriter, z: str, coefficients: tuple[float, ...]) -> str:
    value = t.v.splat(coefficients[-1])
    for coefficient in coefficients[-2::-1]:
        value = t.fused(value, z, t.v.splat(coefficient))
    return value


def _signed(t: IrWriter, value: str, turns: str) -> str:
    """The value, its sign changed where the highest bit is set."""
    v = t.v
    sign = t.let(f"and {v.integers} {turns}, {v.whole(-1 << 8 * v.size - 1)}")
    return t.from_bits(t.let(f"xor {v.integers} {t.bits(value)}, {sign}"))


def _far(v: Vectors) -> list[str]:
    head = "define internal void @sin_cos.far(ptr %x, ptr %s, ptr %c) noinline cold nounwind {"
    t = IrWriter(v, head)
    x = t.load("%x")
    far = _is_far(t, x)
    near = sine_and_cosine(t, t.select(far, v.splat(0.0), x))
    for function, place, value in zip(("sin", "cos"), ("%s", "%c"), near, strict=True):
        chosen = t.select(far, t.by_lane(function, t.select(far, x, v.splat(0.0))), value)
        t.store(chosen, place)
    return t.ended()
