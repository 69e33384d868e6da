"""Between arrays of states, a row each, and vectors of lanes, a state each.

Rows of four numbers and more are loaded and stored four columns at a time and transposed in
registers; the last four overlap their neighbours. Anything else (short rows, strided columns) goes
number by number. Lanes beyond the last state repeat it.
"""

from math import prod

from armdyn.kernels.llvm.segments import groups
from armdyn.kernels.llvm.vectors import IrWriter, Vectors

GROUP = 4
"""Columns that are transposed together."""
UNROLLED = 64
"""Columns up to which they are loaded so; more are a loop, one by one."""


def load_function(v: Vectors, columns: int) -> list[str]:
    """`@load7` for 7 columns: the rows of an array, from %row on, to consecutive slots.

    %step is the distance of the columns in bytes.
    """
    given = "ptr %base, i64 %stride, i64 %row, i64 %last, i64 %step, ptr %slots"
    t = IrWriter(v, f"define internal void @load{columns}({given}) noinline nounwind {{")
    t.label("entry")
    left = t.let("sub i64 %last, %row")
    lanes = []
    for k in range(v.lanes):
        least = t.let(f"call i64 @llvm.smin.i64(i64 {left}, i64 {k})")
        lanes.append(t.at("%base", t.let(f"mul i64 %stride, {t.let(f'add i64 %row, {least}')}")))
    if GROUP <= columns <= UNROLLED and v.lanes % GROUP == 0:
        dense = t.let(f"icmp eq i64 %step, {v.size}")
        t.branch(dense, "wide", "narrow", begin="wide")
        for column in groups(columns, GROUP):
            places = [t.at(lane, column * v.size) for lane in lanes]
            for slot, vector in enumerate(four_columns(t, places), start=column):
                t.store(vector, t.at("%slots", slot * v.bytes))
        t.jump("exit", begin="narrow")
    else:
        t.jump("narrow", begin="narrow")
    t.let("phi i64 [0, %entry], [%c.next, %narrow]", "%c")
    offset = t.let("mul i64 %c, %step")
    vector = one_column(t, [t.at(lane, offset) for lane in lanes])
    t.store(vector, t.at("%slots", "%c", v.type))
    t.let("add i64 %c, 1", "%c.next")
    t.branch(t.let(f"icmp slt i64 %c.next, {columns}"), "narrow", "exit", begin="exit")
    return t.ended()


def from_slot(t: IrWriter, slot: int, vector: str = "here", array: str = "in") -> str:
    """What is in a slot of a vector; inputs may lie in blocks."""
    column = slot
    for k, columns in enumerate(t.v.blocks):
        if column < columns:
            return t.load(t.at(f"%{array}{k}", column * t.v.bytes), align=t.v.size)
        column -= columns
    return t.load(t.at(f"%{vector}", slot * t.v.bytes))


def write_columns(t: IrWriter, column: int, values: list[str]) -> None:
    """Results into the columns of the rows of all lanes: four together, or one; or of a block."""
    v = t.v
    if v.blocks:
        t.store(values[0], t.at("%out", column * v.bytes), align=v.size)
        return
    first = t.at("%out", column * v.size)
    places = [t.at(first, t.let(f"mul i64 %out.stride, {k}")) for k in range(v.lanes)]
    if len(values) == 1:
        for lane, place in enumerate(places):
            x = t.let(f"extractelement {v.type} {values[0]}, i32 {lane}")
            t.store(x, place, v.element, v.size)
        return
    for j, vector in enumerate(transposed(t, values)):
        for g in range(v.lanes // GROUP):
            part = _part(t, vector, g)
            t.store(part, places[GROUP * g + j], f"<{GROUP} x {v.element}>", v.size)


def scatter_function(v: Vectors, shape: tuple[int, ...]) -> list[str]:
    """`@scatter`: dense rows to those of an array, whose axes have the strides %steps."""
    given = "ptr %from, ptr %to, i64 %stride, i64 %rows, ptr %steps"
    t = IrWriter(v, f"define internal void @scatter({given}) noinline nounwind {{")
    t.label("entry")
    t.let(f"mul i64 %rows, {prod(shape)}", "%count")
    t.jump("number", begin="number")
    t.let("phi i64 [0, %entry], [%i.next, %number]", "%i")
    place = "%to"
    rest = "%i"
    for axis in reversed(range(len(shape))):
        digit = t.let(f"urem i64 {rest}, {shape[axis]}")
        rest = t.let(f"udiv i64 {rest}, {shape[axis]}")
        place = t.at(place, t.let(f"mul i64 {digit}, {t.item('%steps', axis)}"))
    place = t.at(place, t.let(f"mul i64 {rest}, %stride"))
    x = t.load(t.at("%from", "%i", v.element), v.element, v.size)
    t.store(x, place, v.element, 1)
    t.let("add i64 %i, 1", "%i.next")
    t.branch(t.let("icmp slt i64 %i.next, %count"), "number", "exit", begin="exit")
    return t.ended()


# transposing


def four_columns(t: IrWriter, places: list[str]) -> list[str]:
    """Four numbers that follow each other in the rows of all lanes, as four vectors."""
    v = t.v
    if v.lanes == GROUP and v.size == 8:
        return [*_two_columns(t, places), *_two_columns(t, [t.at(p, 2 * v.size) for p in places])]
    kind = f"<{GROUP} x {v.element}>"
    loaded = [t.load(place, kind, v.size) for place in places]
    return transposed(t, [_joined(t, loaded[j::GROUP]) for j in range(GROUP)])


def one_column(t: IrWriter, places: list[str]) -> str:
    """The numbers at places, one by one."""
    vector = "poison"
    v = t.v
    for lane, place in enumerate(places):
        x = t.let(f"load {v.element}, ptr {place}, align 1")
        vector = t.let(f"insertelement {v.type} {vector}, {v.element} {x}, i32 {lane}")
    return vector


def _two_columns(t: IrWriter, places: list[str]) -> list[str]:
    """Two doubles of the rows of four lanes: halves are joined while they are loaded."""
    a, b, c, d = (t.load(place, f"<2 x {t.v.element}>", t.v.size) for place in places)
    even, odd = (_shuffled(t, 2, x, y, [0, 1, 2, 3]) for x, y in ((a, c), (b, d)))
    return [_shuffled(t, 4, even, odd, order) for order in ([0, 4, 2, 6], [1, 5, 3, 7])]


def transposed(t: IrWriter, four: list[str]) -> list[str]:
    """Four vectors, each group of four lanes transposed as a matrix of 4 by 4."""
    lanes = t.v.lanes

    def mix(a: str, b: str, pattern: tuple[int, int, int, int]) -> str:
        """Of each group of lanes, 0 to 3 mean those of a, 4 to 7 those of b."""
        groups = range(0, lanes, GROUP)
        places = [g + (k if k < GROUP else lanes + k - GROUP) for g in groups for k in pattern]
        return _shuffled(t, lanes, a, b, places)

    a, b, c, d = four
    even = (0, 4, 2, 6)
    odd = (1, 5, 3, 7)
    front = mix(a, b, even), mix(a, b, odd)
    back = mix(c, d, even), mix(c, d, odd)
    low = (0, 1, 4, 5)
    high = (2, 3, 6, 7)
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
