"""Results that are reduced where they are made: what is kept of blocks of a sweep.

The memories are those of `armdyn.sweeping.reductions`. What a lane adds up does not depend on the
width of vectors: states whose places in their run differ by a multiple of `LANES` go together.
"""

from collections.abc import Callable
from functools import reduce

from armdyn.kernels.llvm.sweep_states import each, positions, slot, splat
from armdyn.kernels.llvm.vectors import IrWriter, Vectors

LANES = 8
"""Lanes of a memory."""
FRACTION_BITS = 7
LEAST_POWER = -24
MOST_POWER = 40
"""Bins of quantiles: bits of the fraction, and the powers of two between which they lie."""
MAGNITUDES = (MOST_POWER - LEAST_POWER) << FRACTION_BITS
FIRST_KEY = (1023 + LEAST_POWER) << FRACTION_BITS
_GIVEN = "ptr %slots, i64 %blocks, i64 %row, i64 %last, i64 %first, ptr %kept"


def reduce_functions(v: Vectors, entries: int) -> list[str]:
    """A function for each reduction of so many results."""
    makers = _extremes, _moments, _histogram, _quantiles, _exceeded
    return [line for make in makers for line in make(v, entries)]


def _function(v: Vectors, name: str, more: str = "") -> IrWriter:
    t = IrWriter(v, f"define internal void @{name}({_GIVEN}{more}) noinline nounwind {{")
    t.label("entry")
    return t


def _result(t: IrWriter, entries: int, block: str, entry: str) -> str:
    """The results of an entry."""
    return t.load(slot(t, entries, block, entry))


Entry = Callable[[str, str, str, str], None]
"""What is done with an entry of a vector of results: of which entry and vector, which of its states
are there, and what was made for all its entries."""


def _each_result(
    t: IrWriter, entries: int, entry: Entry, of_vector: Callable[[str], str] = lambda b: ""
) -> list[str]:
    """The function with a loop over vectors, and in it over so many entries."""

    def block(b: str) -> None:
        _, there = positions(t, b)
        made = of_vector(b)
        each(t, "e", entries, lambda e: entry(e, b, there, made))

    each(t, "b", "%blocks", block)
    return t.ended()


def _extremes(v: Vectors, entries: int) -> list[str]:
    """`@extremes`: a look whether a result is a new extreme, and rarely what then is to be done."""
    t = _function(v, "extremes")
    lanes = v.lanes
    ints = v.integers
    size = 5 * LANES * 8

    def kept(entry: int, what: int) -> str:
        return t.at("%kept", entry * size + what * LANES * 8)

    def block(b: str) -> None:
        values = []
        masks = []
        for e in range(entries):
            value = _result(t, entries, b, str(e))
            most, least = (t.load(kept(e, k), align=8) for k in (0, 1))
            masks.append(t.let(f"fcmp ugt {v.type} {value}, {most}"))
            masks.append(t.let(f"fcmp olt {v.type} {value}, {least}"))
            values.append(value)
        some = reduce(lambda a, b: t.let(f"or <{lanes} x i1> {a}, {b}"), masks)
        t.branch(t.any(some), "new", "old", begin="new")
        places, there = positions(t, b)
        numbers = t.let(f"add {ints} {places}, {splat(t, '%first', 'i64')}")
        for e, value in enumerate(values):
            for what, test in ((0, "ogt"), (1, "olt")):
                best = kept(e, what)
                at = kept(e, 2 + what)
                old = t.load(best, align=8)
                better = t.let(f"fcmp {test} {v.type} {value}, {old}")
                t.store(t.select(better, value, old), best, align=8)
                before = t.load(at, ints, 8)
                chosen = f"select <{lanes} x i1> {better}, {ints} {numbers}, {ints} {before}"
                t.store(t.let(chosen), at, ints, 8)
            lost = t.let(f"fcmp uno {v.type} {value}, {value}")
            _count(t, t.let(f"and <{lanes} x i1> {lost}, {there}"), kept(e, 4))
        t.jump("old", begin="old")

    each(t, "b", "%blocks", block)
    return t.ended()


def _count(t: IrWriter, mask: str, place: str) -> None:
    """Add one where a mask is set."""
    ints = t.v.integers
    ones = t.let(f"zext <{t.v.lanes} x i1> {mask} to {ints}")
    total = t.let(f"add {ints} {t.load(place, ints, 8)}, {ones}")
    t.store(total, place, ints, 8)


def _moments(v: Vectors, entries: int) -> list[str]:
    """`@moments`: sums of distances and of their squares."""
    t = _function(v, "moments")
    lanes = v.lanes
    vector = t.let(f"udiv i64 %row, {lanes}")

    def lane_of(b: str) -> str:
        turn = t.let(f"urem i64 {t.let(f'add i64 {vector}, {b}')}, {LANES // lanes}")
        return t.let(f"mul i64 {turn}, {lanes * 8}")

    def entry(e: str, b: str, there: str, lane: str) -> None:
        begin = t.at(t.at("%kept", t.let(f"mul i64 {e}, {4 * LANES * 8}")), lane)
        shift, first, second, lost = (t.at(begin, k * LANES * 8) for k in range(4))
        value = _result(t, entries, b, e)
        known = t.let(f"fcmp ord {v.type} {value}, {value}")
        counted = t.let(f"and <{lanes} x i1> {known}, {there}")
        away = t.binary("sub", value, t.load(shift, align=8))
        away = t.select(counted, away, v.splat(0.0))
        total = t.binary("add", t.load(first, align=8), away)
        t.store(total, first, align=8)
        squares = t.fused(away, away, t.load(second, align=8))
        t.store(squares, second, align=8)
        missing = t.let(f"xor <{lanes} x i1> {known}, splat (i1 true)")
        _count(t, t.let(f"and <{lanes} x i1> {missing}, {there}"), lost)

    return _each_result(t, entries, entry, lane_of)


def _bump(t: IrWriter, places: str, kind: str, there: str, base: str) -> None:
    """Count one more at a place of every lane that is there."""
    lanes = t.v.lanes
    for lane in range(lanes):
        place = t.let(f"extractelement <{lanes} x {kind}> {places}, i32 {lane}")
        place = place if kind == "i64" else t.let(f"zext {kind} {place} to i64")
        one = t.let(f"zext i1 {t.let(f'extractelement <{lanes} x i1> {there}, i32 {lane}')} to i64")
        at = t.at(base, place, "i64")
        t.store(t.let(f"add i64 {t.load(at, 'i64', 8)}, {one}"), at, "i64", 8)


def _histogram(v: Vectors, entries: int) -> list[str]:
    """`@histogram`: %bounds are the lower ends and the scales of all entries, %bins how many."""
    t = _function(v, "histogram", ", ptr %bounds, i64 %bins")
    lanes = v.lanes
    count = f"<{lanes} x i32>"
    end = splat(t, t.let("sitofp i64 %bins to double"), "double")
    end = t.binary("add", end, v.splat(1.0))
    nowhere = splat(t, t.let(f"trunc i64 {t.let('add i64 %bins, 2')} to i32"), "i32")
    length = t.let("add i64 %bins, 3")

    def entry(e: str, b: str, there: str, _: str) -> None:
        value = _result(t, entries, b, e)
        low = splat(t, t.item("%bounds", e, "double"), "double")
        far = t.let(f"add i64 {e}, {entries}")
        scale = splat(t, t.item("%bounds", far, "double"), "double")
        place = t.binary("mul", t.binary("sub", value, low), scale)
        place = t.binary("add", place, v.splat(1.0))
        above = t.let(f"fcmp ogt {v.type} {place}, {v.splat(0.0)}")
        place = t.select(above, place, v.splat(0.0))
        below = t.let(f"fcmp olt {v.type} {place}, {end}")
        place = t.select(below, place, end)
        whole = t.let(f"fptosi {v.type} {place} to {count}")
        lost = t.let(f"fcmp uno {v.type} {value}, {value}")
        whole = t.let(f"select <{lanes} x i1> {lost}, {count} {nowhere}, {count} {whole}")
        base = t.at("%kept", t.let(f"mul i64 {e}, {length}"), "i64")
        _bump(t, whole, "i32", there, base)

    return _each_result(t, entries, entry)


def _quantiles(v: Vectors, entries: int) -> list[str]:
    """`@quantiles`: bins by sign, power of two and the first bits of the fraction."""
    t = _function(v, "quantiles")
    lanes = v.lanes
    ints = v.integers

    def chosen(mask: str, a: str, b: str) -> str:
        return t.let(f"select <{lanes} x i1> {mask}, {ints} {a}, {ints} {b}")

    def entry(e: str, b: str, there: str, _: str) -> None:
        value = _result(t, entries, b, e)
        size = t.bits(t.intrinsic("fabs", value))
        key = t.let(f"lshr {ints} {size}, {v.whole(52 - FRACTION_BITS)}")
        key = t.let(f"sub {ints} {key}, {v.whole(FIRST_KEY)}")
        key = chosen(t.let(f"icmp sgt {ints} {key}, {v.whole(0)}"), key, v.whole(0))
        most = v.whole(MAGNITUDES - 1)
        key = chosen(t.let(f"icmp slt {ints} {key}, {most}"), key, most)
        negative = t.let(f"icmp slt {ints} {t.bits(value)}, {v.whole(0)}")
        down = t.let(f"sub {ints} {most}, {key}")
        up = t.let(f"add {ints} {key}, {v.whole(MAGNITUDES)}")
        lost = t.let(f"fcmp uno {v.type} {value}, {value}")
        place = chosen(lost, v.whole(2 * MAGNITUDES), chosen(negative, down, up))
        base = t.at("%kept", t.let(f"mul i64 {e}, {2 * MAGNITUDES + 1}"), "i64")
        _bump(t, place, "i64", there, base)

    return _each_result(t, entries, entry)


def _exceeded(v: Vectors, entries: int) -> list[str]:
    """`@exceeded`: %bounds are the limits of all entries, %keep how many states are kept."""
    t = _function(v, "exceeded", ", ptr %bounds, i64 %keep")
    lanes = v.lanes
    length = t.let("add i64 %keep, 1")

    def first_of(b: str) -> str:
        begin = t.let(f"add i64 %row, {t.let(f'mul i64 {b}, {lanes}')}")
        return t.let(f"add i64 {begin}, %first")

    def entry(e: str, b: str, there: str, begin: str) -> None:
        size = t.intrinsic("fabs", _result(t, entries, b, e))
        limit = splat(t, t.item("%bounds", e, "double"), "double")
        beyond = t.let(f"fcmp ogt {v.type} {size}, {limit}")
        beyond = t.let(f"and <{lanes} x i1> {beyond}, {there}")
        t.branch(t.any(beyond), "some", "none", begin="some")
        kept = t.at("%kept", t.let(f"mul i64 {e}, {length}"), "i64")
        for lane in range(lanes):
            there_is = t.let(f"extractelement <{lanes} x i1> {beyond}, i32 {lane}")
            t.branch(there_is, f"is{lane}", f"next{lane}", begin=f"is{lane}")
            count = t.load(kept, "i64", 8)
            after = t.let(f"add i64 {count}, 1")
            t.store(after, kept, "i64", 8)
            room = t.let(f"icmp slt i64 {count}, %keep")
            t.branch(room, f"keep{lane}", f"next{lane}", begin=f"keep{lane}")
            number = t.let(f"add i64 {begin}, {lane}")
            t.store(number, t.at(kept, after, "i64"), "i64", 8)
            t.jump(f"next{lane}", begin=f"next{lane}")
        t.jump("none", begin="none")

    return _each_result(t, entries, entry, first_of)
