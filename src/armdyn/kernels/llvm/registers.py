"""Which values of straight-line code lie in registers, decided before LLVM allocates.

LLVM's own allocation loses a quarter of the time of long straight-line code. Here at most as many
values are alive as there are registers, so that LLVM only has to name these. The value whose next
use is furthest away makes room. Values that lie in memory are loaded beside the operation that
uses them, which takes them as an operand from there; others are stored on the stack, by volatile
stores and loads, which LLVM leaves as they are.
"""

import re
from bisect import bisect_right
from collections import defaultdict
from dataclasses import dataclass, field

from armdyn.kernels.llvm.vectors import Vectors

SPARE = 1
"""Registers that are left to LLVM."""
SOON = 8
"""Lines within which a value from memory is used again if it stays in a register."""
PREFERENCE = 8
"""How many times further away the next use of a value seems that need not be stored."""
NEVER = 1 << 30

_DEFINITION = re.compile(r"  (%[\w.]+) = (\w+) (.*)")
_STORE = re.compile(r"  store (<[^>]*>) (%[\w.]+), ptr (%[\w.]+), align (\d+)")
_NAME = re.compile(r"%[\w.]+")
_SPLAT = re.compile(r"splat \((double|float|i64|i32) (?!0x0{16}\)|0\))[^)]*\)")
"""A number in all lanes, but zero, which takes no memory."""
_VECTOR = re.compile(r"<\d+ x \w+>")
_SHIFTS = ("shl", "lshr")
_RENAMED = ("bitcast",)
"""What takes no register of its own, and is written where it is used. Negatives are not: stored at
the end of a segment, one of a slot would be read when that has been written anew."""


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
        self.renamed: dict[str, str] = {}
        self.names: dict[str, str] = {}
        """Of values in registers, and of others when they were there last."""
        self.resident: set[str] = set()
        self.spilled: dict[str, int] = {}
        self.free: list[int] = []
        self.spills = self.count = 0
        self.lines: list[str] = []
        code = self._live([self._entered(line) for line in lines])
        self.uses: dict[str, list[int]] = defaultdict(list)
        for place, (_, line) in enumerate(code):
            for value in self._bases(line):
                self.uses[value].append(place)
        for place, (name, line) in enumerate(code):
            self._write(place, name, line)
        if self.spills:
            size = self.spills * v.bytes
            self.lines.insert(0, f"  %spills = alloca [{size} x i8], align {v.bytes}")

    def _entered(self, line: str) -> tuple[str, str]:
        """The name of the vector that a line makes, or nothing, and the line."""
        parts = _DEFINITION.match(line)
        if not parts:
            return "", self._tabled(line)
        name, op, rest = parts.groups()
        kind = _result(op, rest)
        if not kind:
            return "", line
        self.kind[name] = kind
        self.masks |= {name} if kind.endswith(" i1>") else set()
        line = line if op in _SHIFTS else self._tabled(line)
        if op == "load":
            self.home[name] = f"load {rest}"
        elif op in _RENAMED:
            self.renamed[name] = line.partition(" = ")[2]
        return name, line

    def _tabled(self, line: str) -> str:
        """A line with names in the place of its constants."""
        table = self.table
        if table is None:
            return line

        def name(match: re.Match[str]) -> str:
            made, place = table.place(match[0])
            self.kind[made] = kind = f"<{self.v.lanes} x {match[1]}>"
            self.home[made] = f"load {kind}, ptr {place}, align {self.v.bytes}"
            return made

        return _SPLAT.sub(name, line)

    def _live(self, code: list[tuple[str, str]]) -> list[tuple[str, str]]:
        """The lines that write something, or whose value one of those needs."""
        needed: set[str] = set()
        kept = []
        for name, line in reversed(code):
            if not name or name in needed:
                used = line.partition(" = ")[2] if name else line
                needed.update(_NAME.findall(used))
                if name not in self.home and name not in self.renamed:
                    kept.append((name, line))
        return kept[::-1]

    def _bases(self, line: str) -> list[str]:
        """The vectors that a line uses, once each."""
        rest = line.partition(" = ")[2] or line
        found = dict.fromkeys(name for name in _NAME.findall(rest) if name in self.kind)
        for name in [name for name in found if name in self.renamed]:
            del found[name]
            found |= dict.fromkeys(self._bases(self.renamed[name]))
        return list(found)

    def _next(self, value: str, place: int) -> int:
        """The line that uses a value next."""
        uses = self.uses[value]
        at = bisect_right(uses, place)
        return uses[at] if at < len(uses) else NEVER

    def _write(self, place: int, name: str, line: str) -> None:
        used = sorted(self._bases(line), key=lambda value: self._next(value, place))
        missing = [value for value in used if value not in self.resident]
        staying = sum(self._next(value, place) - place <= SOON for value in missing)
        ending = sum(self._next(x, place) == NEVER for x in used if x in self.resident)
        made = bool(name) and bool(self.uses[name])
        beside = staying + max(0, len(missing) - staying - 1)
        self._make_room(place, used, max(beside, staying + made - ending))
        for value in missing:
            self._load(value, place)
        text = self._resolved(line)
        left = [value for value in used if self._next(value, place) == NEVER]
        self.resident.difference_update(left)
        self.lines.append(text)
        if name and self.uses[name]:
            self.names[name] = name
            self.resident.add(name)
        self.free += [self.spilled.pop(value) for value in left if value in self.spilled]
        stored = _STORE.fullmatch(line)
        if stored and stored[2] in used and int(stored[4]) == self.v.bytes:
            self.home[stored[2]] = f"load {stored[1]}, ptr {stored[3]}, align {stored[4]}"

    def _make_room(self, place: int, used: list[str], wanted: int) -> None:
        """Take values from registers until so many more have room."""

        def distance(value: str) -> int:
            clean = value in self.home or value in self.spilled
            return (self._next(value, place) - place) * (PREFERENCE if clean else 1)

        while len(self.resident) + wanted > self.room:
            others = self.resident.difference(used, self.masks)
            if not others:
                return
            value = max(others, key=lambda x: (distance(x), x))
            self.resident.discard(value)
            if value not in self.home and value not in self.spilled:
                if not self.free:
                    self.free = [self.spills]
                    self.spills += 1
                self.spilled[value] = self.free.pop()
                pointer = self._spill(value)
                stored = f"{self.kind[value]} {self.names[value]}, ptr {pointer}"
                self.lines.append(f"  store volatile {stored}, align {self.v.bytes}")

    def _spill(self, value: str) -> str:
        offset = self.spilled[value] * self.v.bytes
        return self._let(f"getelementptr i8, ptr %spills, i64 {offset}")

    def _load(self, value: str, place: int) -> None:
        if value in self.home:
            self.names[value] = self._let(self.home[value])
        else:
            kind = self.kind[value]
            pointer = self._spill(value)
            self.names[value] = self._let(
                f"load volatile {kind}, ptr {pointer}, align {self.v.bytes}"
            )
        if self._next(value, place) - place <= SOON:
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
                return self._let(self._resolved(self.renamed[match[0]]))
            return self.names.get(match[0], match[0])

        return head + equals + _NAME.sub(name, rest)


def _result(op: str, rest: str) -> str:
    """The type of the vector that a line makes; nothing if it makes none."""
    if op in ("getelementptr", "extractelement") or not (kinds := _VECTOR.findall(rest)):
        return ""
    if op == "bitcast":
        return rest.partition(" to ")[2] if rest.endswith(">") else ""
    if op in ("icmp", "fcmp"):
        return kinds[0].partition(" x ")[0] + " x i1>"
    if op == "select":
        return kinds[1]
    if op == "shufflevector":
        count = kinds[2].partition(" x ")[0]
        return f"{count} x {kinds[0].partition(' x ')[2]}"
    if op in ("load", "call"):
        return kinds[0] if rest.startswith("<") else ""
    return kinds[0]
