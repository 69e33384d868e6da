"""Fetching rows before they are needed, a few lines of the cache at a time between operations.

The states of a tile are read in one go and then nothing for a while, which no prefetcher of a
processor expects; and a line that is only written to has to be there first. So each segment fetches
its share of the rows of the next tile, and of those that this tile will write.
"""

from math import prod

from armdyn.backends.llvm.vectors import IrWriter, Vectors

LINE = 64
"""Bytes that a cache moves at a time."""
DECLARATION = "declare void @llvm.prefetch.p0(ptr, i32, i32, i32)"

FIRST_CACHE_BYTES = 12 * 1024
"""Bytes of arguments that the first cache has room for beside everything else."""

Line = tuple[int, int, bool, int]
"""Which array, the offset in its rows of one vector, whether they are written, and how near they
are brought: 3 is the first cache, 2 the second."""


def shares(
    v: Vectors, inputs: tuple[int, ...], output: tuple[int, ...], lengths: list[int]
) -> list[list[Line]]:
    """The lines that segments of some lengths fetch, as if rows followed each other."""
    near = 3 if v.lanes * v.size * sum(inputs) <= FIRST_CACHE_BYTES else 2
    lines: list[tuple[float, Line]] = []
    for array, columns in enumerate((*inputs, prod(output))):
        size = v.lanes * columns * v.size
        written = array == len(inputs)
        place = 3 if written else near
        lines += [(at / size, (array, at, written, place)) for at in range(0, size, LINE)]
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
