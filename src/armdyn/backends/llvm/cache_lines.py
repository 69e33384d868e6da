"""Lines of the caches: fetching rows before they are needed, writing large results past the caches.

No prefetcher of a processor expects that a tile of states is read in one go and then nothing for a
while. So each segment fetches its share of the rows of the next tile, and of those that this tile
will write. Where a result is too large for the caches, the rows of a tile are gathered in a small
memory and written in whole lines: a line that is written in parts would have to be fetched first.
"""

from math import prod

from armdyn.backends.llvm.vectors import IrWriter, Vectors

LINE = 64
"""Bytes that a cache moves at a time."""
DECLARATION = "declare void @llvm.prefetch.p0(ptr, i32, i32, i32)"

FIRST_CACHE_BYTES = 12 * 1024
"""Bytes of arguments that the first cache has room for beside everything else."""
UNCACHED_BYTES = 8 * 1024**2
"""Bytes of a result that no cache keeps."""
GATHERED_BYTES = 24 * 1024
"""Bytes of the rows of a tile that can be gathered in the first cache."""

Line = tuple[int, int, bool, int]
"""Which array, the offset in its rows of one vector, whether they are written, and how near they
are brought: 3 is the first cache, 2 the second."""


def shares(
    v: Vectors, inputs: tuple[int, ...], output: tuple[int, ...], lengths: list[int], tile: int
) -> list[list[Line]]:
    """The lines that segments of some lengths fetch, as if rows followed each other.

    Those of the inputs are so many vectors of states behind the rows that segments are given.
    """
    near = 3 if v.lanes * v.size * sum(inputs) <= FIRST_CACHE_BYTES else 2
    lines: list[tuple[float, Line]] = []
    for array, columns in enumerate((*inputs, prod(output))):
        size = v.lanes * columns * v.size
        written = array == len(inputs)
        place = 3 if written else near
        far = 0 if written else tile * size
        lines += [(at / size, (array, far + at, written, place)) for at in range(0, size, LINE)]
    ordered = [line for _, line in sorted(lines)]
    result, done, given = [], 0, 0
    for length in lengths:
        done += length
        end = len(ordered) * done // max(1, sum(lengths))
        result.append(ordered[given:end])
        given = end
    return result


def fetch(t: IrWriter, line: Line) -> None:
    """Fetch a line."""
    array, offset, written, near = line
    place = t.at(f"%ahead{array}", offset)
    t.do(f"call void @llvm.prefetch.p0(ptr {place}, i32 {int(written)}, i32 {near}, i32 1)")


def stream_function(v: Vectors) -> list[str]:
    """`@stream(to, from, bytes)`: a copy, in whole lines where the target has them."""
    head = "define internal void @stream(ptr %to, ptr %from, i64 %bytes) noinline nounwind {"
    t = IrWriter(v, head)
    t.label("entry")
    address = t.let("ptrtoint ptr %to to i64")
    t.let(f"and i64 {t.let(f'sub i64 0, {address}')}, {LINE - 1}", "%head")
    whole = t.let(f"and i64 {t.let('sub i64 %bytes, %head')}, {-LINE}")
    t.let(f"add i64 %head, {whole}", "%tail")
    t.jump("single")
    # numbers before the first whole line, and then those after the last
    t.label("single")
    t.let("phi i64 [0, %entry], [%i.next, %number], [%tail, %after]", "%i")
    t.let("phi i64 [%head, %entry], [%end, %number], [%bytes, %after]", "%end")
    t.branch(t.let("icmp slt i64 %i, %end"), "number", "done", begin="number")
    _copy(t, v.element, "%i", v.size, "")
    t.let(f"add i64 %i, {v.size}", "%i.next")
    t.jump("single", begin="done")
    t.branch(t.let("icmp eq i64 %end, %bytes"), "exit", "lines", begin="lines")
    t.let("phi i64 [%head, %done], [%k.next, %one]", "%k")
    t.branch(t.let("icmp slt i64 %k, %tail"), "one", "after", begin="one")
    _copy(t, f"<{LINE // v.size} x {v.element}>", "%k", LINE, ", !nontemporal !0")
    t.let(f"add i64 %k, {LINE}", "%k.next")
    t.jump("lines", begin="after")
    t.jump("single", begin="exit")
    t.do("ret void")
    return [*t.lines, "}", "!0 = !{i32 1}", "declare void @llvm.x86.sse.sfence()"]


def _copy(t: IrWriter, kind: str, offset: str, align: int, hint: str) -> None:
    source, target = t.at("%from", offset), t.at("%to", offset)
    value = t.let(f"load {kind}, ptr {source}, align {t.v.size}")
    t.do(f"store {kind} {value}, ptr {target}, align {align}{hint}")
