"""The rows of the next tile, transposed by the segments of this one.

Transposing takes other units of the processor than arithmetic, so it costs little between
operations. The next rows take the slots of the inputs, each group of columns once the program has
read those for the last time. Where a tile has no next one that is whole, or where columns do not
follow each other, segments read their own scratch memory instead, and nothing of what they make is
used: no row beyond the end of an array is ever read.
"""

from dataclasses import dataclass

from armdyn.kernels.llvm.rows import GROUP, four_columns, groups
from armdyn.kernels.llvm.segments import Plan, Segment
from armdyn.kernels.llvm.vectors import IrWriter, Vectors


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
        at = t.at("%here", (group.slot + k) * v.bytes)
        t.do(f"store {v.type} {vector}, ptr {at}, align {v.bytes}")
