"""States that are made where they are used: columns of a sweep, by its numbers.

A column is splat (one value in a run of states), tabled (the same values in every run), made from
the number of the state by a counter, or a point of Sobol's sequence: see `armdyn.sweeping`.
"""

from collections.abc import Callable

from armdyn.kernels.llvm.vectors import IrWriter, Vectors

MIXERS = (30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)
"""Shift and factor of the steps of SplitMix64."""
LAST_SHIFT = 31
HALF = 0x000FFFFFFFF00000
MOVES = {"lshr": 12, "shl": 20}
"""The first 32 bits of a fraction, and how far the halves of a word are from them."""
ONE = 0x3FF0000000000000
"""The bits of 1.0."""


def each(t: IrWriter, name: str, count: str | int, body: Callable[[str], None]) -> None:
    """A loop over 0 to `count` - 1, perhaps none."""
    t.jump(f"{name}.pre", begin=f"{name}.pre")
    t.jump(name, begin=name)
    i = t.let(f"phi i64 [0, %{name}.pre], [%{name}.next, %{name}.latch]", f"%{name}.i")
    more = t.let(f"icmp slt i64 {i}, {count}")
    t.branch(more, f"{name}.body", f"{name}.end", begin=f"{name}.body")
    body(i)
    t.jump(f"{name}.latch", begin=f"{name}.latch")
    t.let(f"add i64 {i}, 1", f"%{name}.next")
    t.jump(name, begin=f"{name}.end")


def splat(t: IrWriter, value: str, element: str) -> str:
    """A number in all lanes."""
    kind = f"<{t.v.lanes} x {element}>"
    one = t.let(f"insertelement {kind} poison, {element} {value}, i32 0")
    return t.let(f"shufflevector {kind} {one}, {kind} poison, <{t.v.lanes} x i32> zeroinitializer")


def positions(t: IrWriter, block: str | int) -> tuple[str, str]:
    """The places of the states of a vector in their run, and which of them are there."""
    ints = t.v.integers
    lanes = t.v.lanes
    first = t.let(f"add i64 %row, {t.let(f'mul i64 {block}, {lanes}')}")
    counted = ", ".join(f"i64 {k}" for k in range(lanes))
    places = t.let(f"add {ints} {splat(t, first, 'i64')}, <{counted}>")
    last = splat(t, "%last", "i64")
    there = t.let(f"icmp sle {ints} {places}, {last}")
    clamped = t.let(f"select <{lanes} x i1> {there}, {ints} {places}, {ints} {last}")
    return clamped, there


def fill_functions(v: Vectors, slots: int, made: int, vectors: int) -> list[str]:
    """`@fill_table`, `@fill_random` and `@fill_sobol` of some vectors, and `@fill_splat` of all.

    Those behind the last state are made too, and nothing of them is used: what is done for one
    vector waits for its results, so those of others go on meanwhile.
    """
    form = v, slots, range(made)
    return [*_splat(v, slots, range(vectors)), *_table(*form), *_random(*form), *_sobol(*form)]


def slot(t: IrWriter, slots: int, block: str | int, column: str) -> str:
    """Where a value of a vector lies."""
    far = t.let(f"mul i64 {block}, {slots}")
    return t.at("%slots", t.let(f"add i64 {far}, {column}"), t.v.type)


def _function(v: Vectors, name: str, given: str) -> IrWriter:
    head = f"define internal void @{name}(ptr %slots, {given}) noinline nounwind {{"
    t = IrWriter(v, head)
    t.label("entry")
    return t


def _splat(v: Vectors, slots: int, blocks: range) -> list[str]:
    t = _function(v, "fill_splat", "i64 %count, ptr %columns, ptr %values")

    def column(k: str) -> None:
        place = t.item("%columns", k)
        value = splat(t, t.item("%values", k, "double"), "double")
        for b in blocks:
            t.store(value, slot(t, slots, b, place))

    each(t, "k", "%count", column)
    return t.ended()


def _table(v: Vectors, slots: int, blocks: range) -> list[str]:
    given = "i64 %row, i64 %count, ptr %columns, ptr %values, i64 %stride"
    t = _function(v, "fill_table", given)

    def column(k: str) -> None:
        place = t.item("%columns", k)
        begin = t.at(t.at("%values", t.let(f"mul i64 {k}, %stride")), "%row", "double")
        for b in blocks:
            row = t.load(t.at(begin, b, v.type), align=8)
            t.store(row, slot(t, slots, b, place))

    each(t, "k", "%count", column)
    return t.ended()


def _numbers_between(t: IrWriter, k: str) -> Callable[[str], str]:
    """The function from words of 52 bits to numbers from low to low + width."""
    v = t.v
    low, width = (splat(t, t.item(f"%{name}", k, "double"), "double") for name in ("low", "width"))

    def number(words: str) -> str:
        unit = t.from_bits(t.let(f"or {v.integers} {words}, {v.whole(ONE)}"))
        unit = t.binary("sub", unit, v.splat(1.0))
        return t.binary("add", low, t.binary("mul", unit, width))

    return number


def _random(v: Vectors, slots: int, blocks: range) -> list[str]:
    given = (
        "i64 %row, i64 %last, i64 %first, i64 %count, ptr %columns, ptr %keys, i64 %step, "
        "ptr %low, ptr %width"
    )
    t = _function(v, "fill_random", given)
    ints = v.integers
    t.branch(t.let("icmp sgt i64 %count, 0"), "some", "none", begin="some")
    first, step = (splat(t, name, "i64") for name in ("%first", "%step"))
    numbers = [t.let(f"add {ints} {positions(t, b)[0]}, {first}") for b in blocks]
    words = [t.let(f"mul {ints} {number}, {step}") for number in numbers]

    def pair(k: str) -> None:
        key = splat(t, t.item("%keys", k), "i64")
        first = t.let(f"mul i64 {k}, 2")
        z = [t.let(f"add {ints} {word}, {key}") for word in words]
        for shift, factor in MIXERS:
            z = [_shifted(t, x, shift) for x in z]
            z = [t.let(f"mul {ints} {x}, {v.whole(factor)}") for x in z]
        z = [_shifted(t, x, LAST_SHIFT) for x in z]
        # the second column of the last pair may be the first one again, which is to stay
        for column, move in ((t.let(f"add i64 {first}, 1"), "shl"), (first, "lshr")):
            number = _numbers_between(t, column)
            place = t.item("%columns", column)
            for b, x in zip(blocks, z, strict=True):
                moved = t.let(f"{move} {ints} {x}, {v.whole(MOVES[move])}")
                bits = t.let(f"and {ints} {moved}, {v.whole(HALF)}")
                t.store(number(bits), slot(t, slots, b, place))

    each(t, "k", "%count", pair)
    t.jump("none", begin="none")
    return t.ended()


def _shifted(t: IrWriter, x: str, shift: int) -> str:
    """x and its bits so many places lower, added without carry."""
    lower = t.let(f"lshr {t.v.integers} {x}, {t.v.whole(shift)}")
    return t.let(f"xor {t.v.integers} {x}, {lower}")


def _sobol(v: Vectors, slots: int, blocks: range) -> list[str]:
    given = (
        "i64 %row, i64 %count, ptr %columns, ptr %outer, ptr %inner, i64 %stride, ptr %low, "
        "ptr %width"
    )
    t = _function(v, "fill_sobol", given)
    ints = v.integers

    def column(k: str) -> None:
        place = t.item("%columns", k)
        number = _numbers_between(t, k)
        word = splat(t, t.item("%outer", k), "i64")
        begin = t.at(t.at("%inner", t.let(f"mul i64 {k}, %stride")), "%row", "i64")
        for b in blocks:
            inner = t.load(t.at(begin, b, ints), ints, 8)
            words = t.let(f"xor {ints} {inner}, {word}")
            t.store(number(words), slot(t, slots, b, place))

    each(t, "k", "%count", column)
    return t.ended()
