"""The code of a segment: its operations on one vector of states."""

from armdyn.backends.llvm.fetch import Line, fetch
from armdyn.backends.llvm.segments import Segment
from armdyn.backends.llvm.vectors import IrWriter, Vectors


class SegmentWriter:
    """Writes a segment as a function.

    Values are loaded where they are first used and stored as soon as they are made. There is no
    loop in the function, so that constants are not kept in registers which values then lack.
    """

    def __init__(self, v: Vectors, segment: Segment, constants: dict[int, str]):
        self.v, self.segment, self.constants = v, segment, constants
        self.t = IrWriter(v)
        self.names: dict[int, str] = {}

    def function(self, name: str, arrays: int, fetched: list[Line]) -> list[str]:
        """The function, which also fetches lines from the rows of arrays."""
        t, operations = self.t, self.segment.operations
        ahead = "".join(f", ptr %ahead{k}" for k in range(arrays))
        t.lines.append(f"define internal void @{name}(ptr %here{ahead}) noinline nounwind {{")
        early = self._stored_early()
        for place, (value, op, args) in enumerate(operations):
            self.names[value] = t.operation(op, [self._name(a) for a in args])
            if value in early:
                self._store(value)
            done = len(fetched) * place // len(operations)
            for line in fetched[done : len(fetched) * (place + 1) // len(operations)]:
                fetch(t, line)
        late = [value for value in self.segment.stores if value not in early]
        for value in late:
            self._name(value)
        for value in late:
            self._store(value)
        t.do("ret void")
        return [*t.lines, "}"]

    def _stored_early(self) -> set[int]:
        """Values made here whose slot is not read here: the others are stored at the end."""
        read = set(self.segment.loads.values())
        made = {value for value, _, _ in self.segment.operations}
        return {v for v, slot in self.segment.stores.items() if slot not in read and v in made}

    def _name(self, value: int) -> str:
        """The name of a value, which is loaded if need be."""
        if value in self.constants:
            return self.constants[value]
        if value not in self.names:
            at = self._place(self.segment.loads[value])
            self.names[value] = self.t.let(f"load {self.v.type}, ptr {at}, align {self.v.bytes}")
        return self.names[value]

    def _store(self, value: int) -> None:
        at = self._place(self.segment.stores[value])
        self.t.do(f"store {self.v.type} {self._name(value)}, ptr {at}, align {self.v.bytes}")

    def _place(self, slot: int) -> str:
        return self.t.at("%here", slot * self.v.bytes)
