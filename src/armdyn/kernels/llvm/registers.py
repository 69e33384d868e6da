"""Which values of straight-line code lie in registers, decided before LLVM allocates.

LLVM's own allocation loses a quarter of the time of long straight-line code. Here at most as many
values are alive as there are registers, so that LLVM only has to name these. The value whose next
use is furthest away makes room. Values that lie in memory are loaded beside the operation that
uses them, which takes them as an operand from there; others are stored on the stack, by volatile
stores and loads, which LLVM leaves as they are.
"""

import re
from collections import defaultdict
from dataclasses import dataclass, field
from heapq import nlargest

from armdyn.kernels.llvm.vectors import Vectors

SPARE = 1
"""Registers that are left to LLVM."""
SOON = 8
"""Lines within which a value from memory is used again if it stays in a register."""
PREFERENCE = 8
"""How many times further away the next use of a value seems that need not be stored."""
NEVER = 1 << 30

_STORE = re.compile(r"  store (<[^>]*>) (%[\w.]+), ptr (%[\w.]+), align (\d+)")
_NAME = re.compile(r"%[\w.]+")
_SPLAT = re.compile(r"splat \((double|float|i64|i32) (?!0x0{16}\)|0\))[^)]*\)")
"""A number in all lanes, but zero, which takes no memory."""
_VECTOR = re.compile(r"<\d+ x \w+>")
_SHIFTS = ("shl", "lshr")
_RETYPED = ("bitcast", "fcmp", "icmp", "select", "shufflevector")
"""Operations whose result has another type than their first operand."""
_RENAMED = ("bitcast",)
"""What takes no register of its own, and is written where it is used. Negatives are not: stored at
the end of a segment, one of a slot would be read when that has been written anew."""
_Line = tuple[str, str, list[str], bool]
"""The vector that a line makes, or nothing; its text; the vectors it uses, once each, and whether
some of them through renamed ones."""


@dataclass(slots=True)
class WholeVectors:
    """Constants as whole vectors in memory, of which operations take them as operands."""

    v: Vectors
    numbers: dict[str, int] = field(default_factory=dict)
    """By the text of the number in all lanes."""

    def place(self, text: str) -> tuple[str, str]:
        """The name of a constant, and where it lies."""
        number = self.numbers.setdefault(text, len(self.numbers))
        offset = number * self.v.bytes
        return f"%constant{number}", f"getelementptr (i8, ptr @constants, i64 {offset})"

    def lines(self) -> list[str]:
        """The table; LLVM would read through one that is constant."""
        kinds = [f"<{self.v.lanes} x {text[7:].partition(' ')[0]}>" for text in self.numbers]
        entries = ", ".join(f"{k} {text}" for k, text in zip(kinds, self.numbers, strict=True))
        fields = ", ".join(kinds)
        return [f"@constants = internal global {{{fields}}} {{{entries}}}, align {self.v.bytes}"]


def in_registers(
    v: Vectors, lines: list[str], registers: int, table: WholeVectors | None
) -> list[str]:
    """Lines of a function without branches, so that few values are alive at a time.

    What is loaded must not change before it is used for the last time. With a table, constants are
    taken from there.
    """
    return _Allocation(v, lines, registers - SPARE, table).lines


class _Allocation:
    def __init__(self, v: Vectors, lines: list[str], room: int, table: WholeVectors | None):
        self.v = v
        self.table = table
        self.room = room
        self.kind: dict[str, str] = {}
        """Type of each vector."""
        self.masks: set[str] = set()
        """Which may lie in registers of another kind, and never wait in memory."""
        self.home: dict[str, str] = {}
        """How to load what lies in memory."""
        self.renamed: dict[str, tuple[str, list[str]]] = {}
        """How to write what takes no register, and the vectors that takes."""
        self.names: dict[str, str] = {}
        """The names under which values were loaded last; all others have their own."""
        self.resident: set[str] = set()
        self.spilled: dict[str, int] = {}
        self.free: list[int] = []
        self.spills = self.count = 0
        self.lines: list[str] = []
        code = _live([entry for line in lines if (entry := self._entered(line))])
        self.uses: dict[str, list[int]] = defaultdict(lambda: [NEVER])
        """The lines that have yet to use each value, the next one last."""
        for place in reversed(range(len(code))):
            for value in code[place][2]:
                self.uses[value].append(place)
        for place, entry in enumerate(code):
            self._write(place, *entry)
        if self.spills:
            size = self.spills * v.bytes
            self.lines.insert(0, f"  %spills = alloca [{size} x i8], align {v.bytes}")

    def _entered(self, line: str) -> _Line | None:
        """The entry of a line, unless it is written where its value is used."""
        name, equals, rest = line.partition(" = ")
        if rest.startswith("getelementptr"):
            return "", line, [], False
        name, (op, _, rest) = name[2:], rest.partition(" ") if equals else ("", "", line)
        kind = _result(op, rest) if equals else ""
        if op not in _SHIFTS and (kind or not equals):
            rest = self._tabled(rest)
        direct = [name for name in _NAME.findall(rest) if name in self.kind]
        used = self._bases(direct)
        if not kind:
            return "", line if equals else rest, used, used != direct
        self.kind[name] = kind
        if kind.endswith(" i1>"):
            self.masks.add(name)
        if op == "load":
            self.home[name] = f"load {rest}"
        elif op in _RENAMED:
            self.renamed[name] = f"{op} {rest}", used
        else:
            return name, f"  {name} = {op} {rest}", used, used != direct
        return None

    def _tabled(self, line: str) -> str:
        """A line with names in the place of its constants."""
        table = self.table
        if table is None or "splat" not in line:
            return line

        def name(match: re.Match[str]) -> str:
            made, place = table.place(match[0])
            self.kind[made] = kind = f"<{self.v.lanes} x {match[1]}>"
            self.home[made] = f"load {kind}, ptr {place}, align {self.v.bytes}"
            return made

        return _SPLAT.sub(name, line)

    def _bases(self, names: list[str]) -> list[str]:
        """The vectors behind names, once each; those that renamed ones take come last."""
        used = dict.fromkeys(names)
        for name in [name for name in used if name in self.renamed]:
            del used[name]
            used |= dict.fromkeys(self.renamed[name][1])
        return list(used)

    def _write(self, place: int, name: str, line: str, used: list[str], through: bool) -> None:
        if not (name or used or len(self.resident) > self.room):
            self.lines.append(line)
            return
        uses = self.uses
        for value in used:
            uses[value].pop()
        missing = [value for value in used if value not in self.resident]
        missing.sort(key=lambda value: uses[value][-1])
        staying = sum([uses[value][-1] - place <= SOON for value in missing])
        left = [value for value in used if uses[value][-1] == NEVER]
        ending = sum([value not in missing for value in left])
        made = bool(name) and uses[name][-1] != NEVER
        beside = staying + max(0, len(missing) - staying - 1)
        self._make_room(place, used, max(beside, staying + made - ending))
        for value in missing:
            self._load(value, place)
        changed = through or not self.names.keys().isdisjoint(used)
        self.lines.append(self._resolved(line) if changed else line)
        self.resident.difference_update(left)
        if made:
            self.resident.add(name)
        self.free += [self.spilled.pop(value) for value in left if value in self.spilled]
        stored = None if name else _STORE.fullmatch(line)
        if stored and stored[2] in used and int(stored[4]) == self.v.bytes:
            self.home[stored[2]] = f"load {stored[1]}, ptr {stored[3]}, align {stored[4]}"

    def _make_room(self, place: int, used: list[str], wanted: int) -> None:
        """Take values from registers until so many more have room."""
        excess = len(self.resident) + wanted - self.room
        if excess <= 0:
            return

        def distance(value: str) -> tuple[int, str]:
            clean = value in self.home or value in self.spilled
            return (self.uses[value][-1] - place) * (PREFERENCE if clean else 1), value

        others = self.resident.difference(used, self.masks)
        for value in nlargest(excess, others, key=distance):
            self.resident.discard(value)
            if value not in self.home and value not in self.spilled:
                if not self.free:
                    self.free = [self.spills]
                    self.spills += 1
                self.spilled[value] = self.free.pop()
                pointer = self._spill(value)
                name = self.names.get(value, value)
                stored = f"{self.kind[value]} {name}, ptr {pointer}"
                self.lines.append(f"  store volatile {stored}, align {self.v.bytes}")

    def _spill(self, value: str) -> str:
        offset = self.spilled[value] * self.v.bytes
        return self._let(f"getelementptr i8, ptr %spills, i64 {offset}")

    def _load(self, value: str, place: int) -> None:
        again = self.home.get(value)
        if again is None:
            spilled = f"{self.kind[value]}, ptr {self._spill(value)}"
            again = f"load volatile {spilled}, align {self.v.bytes}"
        self.names[value] = self._let(again)
        if self.uses[value][-1] - place <= SOON:
            self.resident.add(value)

    def _let(self, text: str) -> str:
        self.count += 1
        self.lines.append(f"  %again{self.count} = {text}")
        return f"%again{self.count}"

    def _resolved(self, line: str) -> str:
        """A line with the names that values have now."""
        head, equals, rest = line.rpartition(" = ")

        def name(match: re.Match[str]) -> str:
            if match[0] in self.renamed:
                return self._let(self._resolved(self.renamed[match[0]][0]))
            return self.names.get(match[0], match[0])

        return head + equals + _NAME.sub(name, rest)


def _live(code: list[_Line]) -> list[_Line]:
    """The lines that write something, or whose value one of those needs."""
    needed: set[str] = set()
    kept = []
    for line in reversed(code):
        if not line[0] or line[0] in needed:
            needed.update(line[2])
            kept.append(line)
    return kept[::-1]


def _result(op: str, rest: str) -> str:
    """The type of the vector that a line makes; nothing if it makes none."""
    if op not in _RETYPED:
        of_vectors = rest.startswith("<") and op != "extractelement"
        return rest[: rest.index(">") + 1] if of_vectors else ""
    if not (kinds := _VECTOR.findall(rest)):
        return ""
    if op == "bitcast":
        return rest.partition(" to ")[2] if rest.endswith(">") else ""
    if op == "select":
        return kinds[1]
    if op == "shufflevector":
        count = kinds[2].partition(" x ")[0]
        return f"{count} x {kinds[0].partition(' x ')[2]}"
    return kinds[0].partition(" x ")[0] + " x i1>"
