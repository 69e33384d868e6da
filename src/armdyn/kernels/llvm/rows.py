"""Between arrays of states, a row each, and vectors of lanes, a state each.

Rows of four numbers and more are loaded and stored four columns at a time and transposed in
registers; the last four overlap their neighbours. Anything else (short rows, strided columns) goes
number by number. Lanes beyond the last state repeat it.

The rows of the next tile are transposed by the segments of this one: that takes other units of the
processor than arithmetic, so it costs little between operations. The next rows take the slots of
the inputs, each group of columns once the program has read those for the last time. Where a tile
has no next one that is whole, or where columns do not follow each other, segments read their own
scratch memory instead, and nothing of what they make is used: no row beyond the end of an array is
ever read.
"""

from collections.abc import Callable
from dataclasses import dataclass

from armdyn.kernels.llvm.segments import Plan, Segment
from armdyn.kernels.llvm.vectors import IrWriter, Vectors

GROUP = 4
"""Columns that are transposed together."""
UNROLLED = 64
"""Columns up to which the groups are written out; beyond, they are a loop."""

_ARGUMENTS = "ptr %base, i64 %stride, i64 %row, i64 %last, i64 %blocks"


def load_function(v: Vectors, columns: int, slots: int) -> list[str]:
    """`@load7` for 7 columns: the rows of an array, from %row on, to consecutive slots.

    %step is the distance of the columns in bytes.
    """
    given = f"{_ARGUMENTS}, i64 %step, ptr %slots"
    t = IrWriter(v, f"define internal void @load{columns}({given}) noinline nounwind {{")

    def wide(column: str) -> None:
        places = _places(t, t.let(f"mul i64 {column}, {v.size}"))
        for k, vector in enumerate(four_columns(t, places)):
            t.store(vector, _slot(t, t.let(f"add i64 {column}, {k}")))

    def narrow(column: str) -> None:
        vector = "poison"
        for lane, place in enumerate(_places(t, t.let(f"mul i64 {column}, %step"))):
            x = t.let(f"load {v.element}, ptr {place}, align 1")
            vector = t.let(f"insertelement {v.type} {vector}, {v.element} {x}, i32 {lane}")
        t.store(vector, _slot(t, column))

    t.label("entry")
    dense = t.let(f"icmp eq i64 %step, {v.size}")
    _blocks(t, dense, columns, slots, wide, narrow)
    return t.ended()


def store_function(v: Vectors, table: list[int], slots: int) -> list[str]:
    """`@store`: slots, found through a table, to the rows of an array.

    %dense says that the columns follow each other; otherwise `@place` finds them by %steps.
    """
    entries = ", ".join(f"i32 {slot}" for slot in table)
    given = f"{_ARGUMENTS}, i1 %dense, ptr %steps, ptr %slots"
    t = IrWriter(
        v,
        f"@table = private constant [{len(table)} x i32] [{entries}]",
        f"define internal void @store({given}) noinline nounwind {{",
    )

    def value(column: str) -> str:
        if column.isdigit():
            slot = _slot(t, str(table[int(column)]))
        else:
            entry = t.let(f"getelementptr i32, ptr @table, i64 {column}")
            slot = _slot(t, t.let(f"zext i32 {t.let(f'load i32, ptr {entry}')} to i64"))
        return t.load(slot)

    def wide(column: str) -> None:
        places = _places(t, t.let(f"mul i64 {column}, {v.size}"))
        four = [value(_plus(t, column, k)) for k in range(GROUP)]
        for j, vector in enumerate(transposed(t, four)):
            for g in range(v.lanes // GROUP):
                place = places[GROUP * g + j]
                t.store(_part(t, vector, g), place, f"<{GROUP} x {v.element}>", v.size)

    def narrow(column: str) -> None:
        vector = value(column)
        offset = t.let(f"call i64 @place(i64 {column}, ptr %steps)")
        for lane, place in enumerate(_places(t, offset)):
            x = t.let(f"extractelement {v.type} {vector}, i32 {lane}")
            t.do(f"store {v.element} {x}, ptr {place}, align 1")

    t.label("entry")
    _blocks(t, "%dense", len(table), slots, wide, narrow)
    return t.ended()


def place_function(v: Vectors, shape: tuple[int, ...]) -> list[str]:
    """`@place`: where an entry of an array lies, by its number in C order and by the strides."""
    t = IrWriter(v, "define internal i64 @place(i64 %c, ptr %steps) nounwind {")
    rest, total = "%c", "0"
    for axis in reversed(range(len(shape))):
        digit = t.let(f"urem i64 {rest}, {shape[axis]}")
        rest = t.let(f"udiv i64 {rest}, {shape[axis]}")
        far = t.let(f"mul i64 {digit}, {t.item('%steps', axis)}")
        total = t.let(f"add i64 {total}, {far}")
    return [*t.lines, f"  ret i64 {total}", "}"]


# transposing


def four_columns(t: IrWriter, places: list[str]) -> list[str]:
    """Four numbers that follow each other in the rows of all lanes, as four vectors."""
    kind = f"<{GROUP} x {t.v.element}>"
    loaded = [t.load(place, kind, t.v.size) for place in places]
    return transposed(t, [_joined(t, loaded[j::GROUP]) for j in range(GROUP)])


def transposed(t: IrWriter, four: list[str]) -> list[str]:
    """Four vectors, each group of four lanes transposed as a matrix of 4 by 4."""
    lanes = t.v.lanes

    def mix(a: str, b: str, pattern: tuple[int, int, int, int]) -> str:
        """Of each group of lanes, 0 to 3 mean those of a, 4 to 7 those of b."""
        groups = range(0, lanes, GROUP)
        places = [g + (k if k < GROUP else lanes + k - GROUP) for g in groups for k in pattern]
        return _shuffled(t, lanes, a, b, places)

    a, b, c, d = four
    even, odd = (0, 4, 2, 6), (1, 5, 3, 7)
    front = mix(a, b, even), mix(a, b, odd)
    back = mix(c, d, even), mix(c, d, odd)
    low, high = (0, 1, 4, 5), (2, 3, 6, 7)
    return [mix(f, b, half) for half in (low, high) for f, b in zip(front, back, strict=True)]


def _joined(t: IrWriter, parts: list[str]) -> str:
    """Parts one after the other in one vector."""
    size = GROUP
    while len(parts) > 1:
        pairs = zip(parts[::2], parts[1::2], strict=True)
        parts = [_shuffled(t, size, a, b, list(range(2 * size))) for a, b in pairs]
        size *= 2
    return parts[0]


def _part(t: IrWriter, vector: str, g: int) -> str:
    if t.v.lanes == GROUP:
        return vector
    places = list(range(GROUP * g, GROUP * g + GROUP))
    return _shuffled(t, t.v.lanes, vector, "poison", places)


def _shuffled(t: IrWriter, lanes: int, a: str, b: str, places: list[int]) -> str:
    kind = f"<{lanes} x {t.v.element}>"
    text = ", ".join(f"i32 {p}" for p in places)
    return t.let(f"shufflevector {kind} {a}, {kind} {b}, <{len(places)} x i32> <{text}>")


# where things are


def _plus(t: IrWriter, column: str, k: int) -> str:
    return str(int(column) + k) if column.isdigit() else t.let(f"add i64 {column}, {k}")


def _slot(t: IrWriter, slot: str) -> str:
    """Where a slot of this block lies."""
    size = t.v.bytes
    offset = str(int(slot) * size) if slot.isdigit() else t.let(f"mul i64 {slot}, {size}")
    return t.at("%here", offset)


def _places(t: IrWriter, offset: str) -> list[str]:
    """The numbers at an offset in the rows of all lanes."""
    column = t.at("%first", offset)
    return [t.let(f"getelementptr i8, ptr {column}, i64 %lane{k}") for k in range(t.v.lanes)]


def _blocks(
    t: IrWriter,
    dense: str,
    columns: int,
    slots: int,
    wide: Callable[[str], None],
    narrow: Callable[[str], None],
) -> None:
    """A loop over vectors of states, and in it over columns, four at a time or one by one.

    Each vector has so many slots; where the value `dense` is true, columns follow each other.
    """
    v, lanes = t.v, range(t.v.lanes)
    # distances of the rows from the first: full vectors, and the last one, which may be short
    for k in lanes:
        t.let(f"mul i64 %stride, {k}", f"%full{k}")
    t.jump("block", begin="block")
    t.let("phi i64 [0, %entry], [%b.next, %end]", "%b")
    place = t.let(f"mul i64 %b, {slots * v.bytes}")
    t.let(f"getelementptr i8, ptr %slots, i64 {place}", "%here")
    row = t.let(f"add i64 %row, {t.let(f'mul i64 %b, {v.lanes}')}")
    t.let(f"getelementptr i8, ptr %base, i64 {t.let(f'mul i64 {row}, %stride')}", "%first")
    t.let(f"sub i64 %last, {row}", "%left")
    t.branch(t.let(f"icmp sge i64 %left, {v.lanes - 1}"), "rows", "short", begin="short")
    for k in lanes:
        least = t.let(f"call i64 @llvm.smin.i64(i64 %left, i64 {k})")
        t.let(f"mul i64 %stride, {least}", f"%short{k}")
    t.jump("rows", begin="rows")
    for k in lanes:
        t.let(f"phi i64 [%full{k}, %block], [%short{k}, %short]", f"%lane{k}")
    if columns >= GROUP and v.lanes % GROUP == 0:
        t.branch(dense, "wide", "narrow", begin="wide")
        _groups(t, columns, wide)
    else:
        t.jump("narrow")
    t.label("narrow")
    t.let("phi i64 [0, %rows], [%c.next, %narrow]", "%c")
    narrow("%c")
    t.let("add i64 %c, 1", "%c.next")
    t.branch(t.let(f"icmp slt i64 %c.next, {columns}"), "narrow", "end", begin="end")
    t.let("add i64 %b, 1", "%b.next")
    t.branch(t.let("icmp slt i64 %b.next, %blocks"), "block", "exit", begin="exit")


def groups(columns: int) -> list[int]:
    """The first columns of the groups, the last of which may overlap the one before."""
    return [min(column, columns - GROUP) for column in range(0, columns, GROUP)]


def _groups(t: IrWriter, columns: int, wide: Callable[[str], None]) -> None:
    if columns <= UNROLLED:
        for column in groups(columns):
            wide(str(column))
        t.jump("end")
        return
    t.let("phi i64 [0, %rows], [%g.next, %wide]", "%g")
    wide(t.let(f"call i64 @llvm.smin.i64(i64 %g, i64 {columns - GROUP})"))
    t.let(f"add i64 %g, {GROUP}", "%g.next")
    t.branch(t.let(f"icmp slt i64 %g.next, {columns}"), "wide", "end")


@dataclass(frozen=True, slots=True)
class Group:
    """Four columns of an input."""

    array: int
    column: int
    slot: int
    """Of the first column."""
    place: int
    """The operation of the segment after which the group is transposed."""


def groups_ahead(v: Vectors, pieces: Plan, inputs: tuple[int, ...]) -> dict[int, list[Group]]:
    """The groups that each segment transposes, by the number of its step; none if that cannot be.

    Short rows are left out.
    """
    lengths = {k: len(s.operations) for k, s in enumerate(pieces.steps) if isinstance(s, Segment)}
    total, read = sum(lengths.values()), _last_reads(pieces, sum(inputs))
    possible = pieces.inputs_stay and total and not v.lanes % GROUP
    if not possible or min(pieces.outputs) < sum(inputs):
        return {}
    found = []
    for array, columns in enumerate(inputs):
        first = sum(inputs[:array])
        for column in groups(columns) if columns >= GROUP else ():
            slot = first + column
            found.append((max(read[slot : slot + GROUP]), array, column, slot))
    if any(free >= total for free, *_ in found):
        return {}
    result: dict[int, list[Group]] = {}
    for k, (free, array, column, slot) in enumerate(sorted(found)):
        place = max(free, total * k // len(found))
        for number, length in lengths.items():
            if place < length:
                result.setdefault(number, []).append(Group(array, column, slot, place))
                break
            place -= length
    return result


def _last_reads(pieces: Plan, inputs: int) -> list[int]:
    """For each input, how many operations of the program begin before it is read no more."""
    last, done = [0] * inputs, 0
    for step in pieces.steps:
        if isinstance(step, Segment):
            for place, (_, _, args) in enumerate(step.operations):
                for a in args:
                    if a < inputs:
                        last[a] = done + place
            copied = [a for a in step.stores if a < inputs]
            done += len(step.operations)
        else:
            copied = [a for a in range(step.angles, step.angles + step.count) if a < inputs]
        for a in copied:
            last[a] = done
    return last


def transpose(t: IrWriter, group: Group) -> None:
    """Load a group from the rows of all lanes, and store it in its slots."""
    v = t.v
    row = t.at(f"%ahead{group.array}", group.column * v.size)
    places = [t.at(row, t.let(f"mul i64 %stride{group.array}, {k}")) for k in range(v.lanes)]
    for k, vector in enumerate(four_columns(t, places)):
        t.store(vector, t.at("%here", (group.slot + k) * v.bytes))
