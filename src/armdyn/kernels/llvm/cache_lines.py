"""Lines of the caches: fetching rows before they are needed, writing large results past the caches.

No prefetcher of a processor expects that a tile of states is read in one go and then nothing for a
while. So each segment fetches its share of the rows of the next tile, and of those that this tile
will write. Where a result is too large for the caches, the rows of a tile are gathered in a small
memory and written in whole lines: a line that is written in parts would have to be fetched first.
"""

from math import prod

from armdyn.kernels.llvm.vectors import IrWriter, Vectors

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


def stream_functions(v: Vectors) -> list[str]:
    """`@stream(to, gathered, bytes, first)` and `@numbers(to, from, begin, end)`.

    Rows are gathered as far behind the beginning of a line as they are in the array. `@stream`
    writes whole lines, and keeps the numbers of the last one, which the next rows complete, at the
    beginning of the memory; `@numbers` writes those before the first line and behind the last.
    """
    line = f"<{LINE // v.size} x {v.element}>"
    head = "define internal void @stream(ptr %to, ptr %gathered, i64 %bytes, i1 %first)"
    t = IrWriter(v, f"{head} noinline nounwind {{")
    t.label("entry")
    behind = behind_line(t, "%to")
    target = t.at("%to", t.let(f"sub i64 0, {behind}"))
    whole = t.let(f"and i64 {t.let(f'add i64 {behind}, %bytes')}, {-LINE}")
    next_line = t.let(f"and i64 {t.let(f'add i64 {behind}, {LINE - 1}')}, {-LINE}")
    start = t.let(f"select i1 %first, i64 {next_line}, i64 0")
    begin = t.let(f"select i1 %first, i64 {behind}, i64 0")
    t.do(f"call void @numbers(ptr {target}, ptr %gathered, i64 {begin}, i64 {start})")
    t.do(f"call void @lines(ptr {target}, ptr %gathered, i64 {start}, i64 {whole})")
    t.store(t.load(t.at("%gathered", whole), line, LINE), "%gathered", line, LINE)
    return [
        *_copy_function(v, "numbers", v.element, v.size, ""),
        *_copy_function(v, "lines", line, LINE, ", !nontemporal !0"),
        *(*t.ended(), "!0 = !{i32 1}", "declare void @llvm.x86.sse.sfence()"),
    ]


def behind_line(t: IrWriter, place: str) -> str:
    """How many bytes a place is behind the beginning of its line."""
    return t.let(f"and i64 {t.let(f'ptrtoint ptr {place} to i64')}, {LINE - 1}")


def _copy_function(v: Vectors, name: str, kind: str, size: int, hint: str) -> list[str]:
    """A function that copies what lies between two offsets, in pieces of a kind and a size."""
    given = "ptr %to, ptr %from, i64 %begin, i64 %end"
    t = IrWriter(v, f"define internal void @{name}({given}) nounwind {{")
    t.label("entry")
    t.jump("next", begin="next")
    t.let("phi i64 [%begin, %entry], [%i.next, %one]", "%i")
    t.branch(t.let("icmp slt i64 %i, %end"), "one", "exit", begin="one")
    value = t.load(t.at("%from", "%i"), kind, size)
    t.do(f"store {kind} {value}, ptr {t.at('%to', '%i')}, align {size}{hint}")
    t.let(f"add i64 %i, {size}", "%i.next")
    t.jump("next", begin="exit")
    return t.ended()
