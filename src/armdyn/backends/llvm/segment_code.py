"""The code of a segment: its operations on one vector of states."""

from armdyn.backends.llvm.cache_lines import Line, fetch
from armdyn.backends.llvm.segments import Segment
from armdyn.backends.llvm.vectors import IrWriter


def segment_function(
    t: IrWriter, segment: Segment, constants: dict[int, str], fetched: list[Line]
) -> list[str]:
    """The function of a segment, which also fetches lines from the rows of arrays.

    Values are loaded where they are first used and stored as soon as they are made. There is no
    loop in the function, so that constants are not kept in registers which values then lack.
    """
    v, operations, names = t.v, segment.operations, dict(constants)

    def name(value: int) -> str:
        """The name of a value, which is loaded if need be."""
        if value not in names:
            at = t.at("%here", segment.loads[value] * v.bytes)
            names[value] = t.let(f"load {v.type}, ptr {at}, align {v.bytes}")
        return names[value]

    def store(value: int) -> None:
        at = t.at("%here", segment.stores[value] * v.bytes)
        t.do(f"store {v.type} {name(value)}, ptr {at}, align {v.bytes}")

    # values whose slot is read here, or that are made elsewhere, are stored at the end
    read, made = set(segment.loads.values()), {value for value, _, _ in operations}
    early = {k for k, slot in segment.stores.items() if slot not in read and k in made}
    for place, (value, op, args) in enumerate(operations):
        names[value] = t.operation(op, [name(a) for a in args])
        if value in early:
            store(value)
        done = len(fetched) * place // len(operations)
        for line in fetched[done : len(fetched) * (place + 1) // len(operations)]:
            fetch(t, line)
    late = [value for value in segment.stores if value not in early]
    for value in late:
        name(value)
    for value in late:
        store(value)
    t.do("ret void")
    return [*t.lines, "}"]
