"""What segments do for the next vector between their own operations.

While the operations of one vector of states wait for each other, the rows of a later one are
transposed, its angles added up, and their sines and cosines computed. That is done in units, each
of which reads the slots of its vector and writes others, so any segment can take any of them as
long as their order stays. Where an angle is too far from zero for the plain way, the segment says
so, and the loop does the sums, sines and cosines of that vector once more, in their slow way.

No prefetcher of a processor expects that some states are read in one go and then nothing for a
while. So the rows of the vector after the next one are fetched too, and those that it will write.
"""

import re
from itertools import chain, pairwise, zip_longest
from math import prod

from armdyn.graph.operations import FAR_ANGLE
from armdyn.kernels.llvm.rows import GROUP, four_columns, from_slot, one_column
from armdyn.kernels.llvm.segments import Plan, Segment, SineCosine, groups
from armdyn.kernels.llvm.trig import NUMBERS, sine_and_cosine
from armdyn.kernels.llvm.vectors import LINE, IrWriter, Vectors

TOGETHER = 3
FEWER_TOGETHER = 2
ENOUGH_BETWEEN = 40
"""Angles whose lines alternate, as those of one wait for each other: fewer, which take fewer
registers, where so many operations for each angle are there to go between."""
FIRST_CACHE_BYTES = 12 * 1024
"""Bytes of arguments that the first cache has room for beside everything else."""
Unit = tuple[list[str], list[str]]
"""Lines, and names of integers that are negative in lanes where an angle is too far."""


def units_ahead(
    v: Vectors,
    pieces: Plan,
    arrays: tuple[int, ...],
    constants: dict[int, str],
    output: tuple[int, ...],
) -> list[list[Unit]]:
    """Rows that nothing here waits for, units up to the sines and cosines, and lines to fetch."""
    transposed = {} if v.blocks else _rows(v, arrays)
    first = pieces.steps[: pieces.ahead]
    rest = pieces.steps[pieces.ahead :]
    read = set[int]()
    angles = set[int]()
    source = dict[int, int]()
    summed = set[int]()
    for step in first:
        if isinstance(step, SineCosine):
            places = range(step.angles, step.angles + step.count)
            angles |= {source.get(slot, slot) for slot in places}
            continue
        read.update(step.loads.values())
        if not step.operations:  # angles are brought side by side
            source |= {slot: step.loads[value] for value, slot in step.stores.items()}
    read |= angles
    early = [unit for slots, unit in transposed.items() if read & set(slots)]
    late = [unit for slots, unit in transposed.items() if not read & set(slots)]
    for number, step in enumerate(first):
        if isinstance(step, SineCosine):
            between = sum(len(s.operations) for s in rest if isinstance(s, Segment)) / step.count
            together = TOGETHER if between < ENOUGH_BETWEEN else FEWER_TOGETHER
            together = min(together, -(-step.count // 2))  # some are there before the last ones
            early += _sines(v, step, source, summed, together)
        elif step.operations:
            early.append(_sums(IrWriter(v, names=f"sum{number}."), step, constants, angles))
            sums = {value for value, op, _ in step.operations if op == "angle_sum"}
            summed |= {slot for value, slot in step.stores.items() if value in sums}
    return [late, early, _lines_fetched(v, arrays, output)]


def _lines_fetched(v: Vectors, arrays: tuple[int, ...], output: tuple[int, ...]) -> list[Unit]:
    """Fetching of lines, as if rows followed each other: of the vector behind the one ahead."""
    near = 3 if v.bytes * sum(arrays) <= FIRST_CACHE_BYTES else 2  # the first cache, the second
    places = [(f"%ahead{k}", columns, 0, near) for k, columns in enumerate(arrays)]
    units: list[tuple[float, Unit]] = []
    for pointer, columns, written, cache in [*places, ("%out", prod(output), 1, 3)]:
        size = v.bytes * columns
        for at in range(0, size, LINE):
            t = IrWriter(v, names=f"fetch{len(units)}.")
            place = t.at(pointer, size + at)
            t.do(f"call void @llvm.prefetch.p0(ptr {place}, i32 {written}, i32 {cache}, i32 1)")
            units.append((at / size, (t.lines, [])))
    return [unit for _, unit in sorted(units)]


_FREE = re.compile(r"  %[\w.]+ = (getelementptr|bitcast|fneg|load|mul i64)")
"""Lines that become part of another instruction."""


def merged(lines: list[str], others: list[str]) -> list[str]:
    """Lines with others spread evenly between them."""
    every = _instructions(lines) or [[]]
    more = _instructions(others)
    ends = [len(more) * place // len(every) for place in range(len(every) + 1)]
    parts = zip(every, pairwise(ends), strict=True)
    return [line for own, (a, b) in parts for some in (own, *more[a:b]) for line in some]


def _instructions(lines: list[str]) -> list[list[str]]:
    """Lines, each with the free ones before it."""
    found: list[list[str]] = [[]]
    for line in lines:
        found[-1].append(line)
        if not _FREE.match(line):
            found.append([])
    return found if found[-1] else found[:-1]


def _next_slot(t: IrWriter, slot: int) -> str:
    return t.at("%next", slot * t.v.bytes)


def _rows(v: Vectors, inputs: tuple[int, ...]) -> dict[tuple[int, ...], Unit]:
    """Four columns of the rows of each array, by the slots that they come to."""
    units: dict[tuple[int, ...], Unit] = {}
    for array, columns in enumerate(inputs):
        wide = columns >= GROUP and v.lanes % GROUP == 0
        for column in groups(columns, GROUP if wide else 1):
            t = IrWriter(v, names=f"row{array}.{column}.")
            row = t.at(f"%ahead{array}", column * v.size)
            places = [t.at(row, t.let(f"mul i64 %stride{array}, {k}")) for k in range(v.lanes)]
            vectors = four_columns(t, places) if wide else [one_column(t, places)]
            first = sum(inputs[:array]) + column
            for slot, vector in enumerate(vectors, start=first):
                t.store(vector, _next_slot(t, slot))
            units[tuple(range(first, first + len(vectors)))] = t.lines, []
    return units


def _sums(t: IrWriter, step: Segment, constants: dict[int, str], angles: set[int]) -> Unit:
    """Operations before the angles; the far ones of these are found with their sines."""
    names = dict(constants)
    far = []
    for value, slot in step.loads.items():
        names[value] = from_slot(t, slot, "next", "ahead")
    for value, op, args in step.operations:
        total = op == "angle_sum"
        names[value] = t.operation("add" if total else op, [names[a] for a in args])
        if total and step.stores.get(value) not in angles:
            far.append(_excess(t, names[value], FAR_ANGLE))
    for value, slot in step.stores.items():
        t.store(names[value], _next_slot(t, slot))
    return t.lines, far


def _excess(t: IrWriter, x: str, limit: float) -> str:
    """Integers that are negative where |x| exceeds a limit, as NaN does."""
    v = t.v
    most = t.let(f"bitcast {v.type} {v.splat(limit)} to {v.integers}")
    size = t.bits(t.intrinsic("fabs", x))
    return t.let(f"sub {v.integers} {most}, {size}")


def _sines(
    v: Vectors, step: SineCosine, source: dict[int, int], summed: set[int], together: int
) -> list[Unit]:
    """Sines and cosines of so many angles at a time, by the slots that angles come from."""
    units = []
    for first in range(0, step.count, together):
        texts = []
        far = []
        for k in range(first, min(first + together, step.count)):
            t = IrWriter(v, names=f"angle{step.angles + k}.")
            slot = source.get(step.angles + k, step.angles + k)
            x = from_slot(t, slot, "next", "ahead")
            limit = FAR_ANGLE if slot in summed else NUMBERS[v.dtype].limit
            excess = _excess(t, x, limit)
            mask = t.let(f"icmp slt {v.integers} {excess}, zeroinitializer")
            near = t.select(mask, "zeroinitializer", x)  # far ones would raise flags of arithmetic
            for value, place in zip(
                sine_and_cosine(t, near), (step.sines, step.cosines), strict=True
            ):
                if place + k in step.wanted:
                    t.store(value, _next_slot(t, place + k))
            texts.append(t.lines)
            far += [excess]
        lines = chain.from_iterable(zip_longest(*texts, fillvalue=""))
        units.append(([line for line in lines if line], far))
    return units
