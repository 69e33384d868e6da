"""Object files of Linux on x86-64 in memory, in one piece.

LLVM's own loader asks for memory section by section. In a process with more than 2 GB of memory the
system may put constants further from the code than its instructions reach; LLVM then aborts.

Reference: System V Application Binary Interface, AMD64 Architecture Processor Supplement.
"""

import ctypes
import mmap
import platform
import struct
import sys
import weakref
from collections.abc import Collection, Mapping
from typing import NamedTuple

HERE = sys.platform == "linux" and platform.machine() == "x86_64"
"""Whether such files run in this process."""
if HERE:
    _C = ctypes.CDLL(None, use_errno=True)
    _POINTER = ctypes.c_void_p
    _SIZE = ctypes.c_size_t
    _INT = ctypes.c_int
    _C.mmap.argtypes = (_POINTER, _SIZE, _INT, _INT, _INT, ctypes.c_long)
    _C.mmap.restype = _POINTER
    _C.munmap.argtypes = (_POINTER, _SIZE)
    _C.mprotect.argtypes = (_POINTER, _SIZE, _INT)
SYMBOLS = 2
RELOCATIONS = 4
ZEROS = 8
"""Types of sections."""
IN_MEMORY = 2
"""A flag of sections."""
ADDRESS = 1
NEAR = 2
CALL = 4
BY_TABLE = (9, 41, 42)
"""Types of relocations: a whole address, a distance, that of a function, that of an address."""
_JUMP = b"\xff\x25\x00\x00\x00\x00"
"""To the address that stands behind this instruction."""
_ENTRY = 16
"""Bytes of a jump with its address."""


class ElfSection(NamedTuple):
    """A header of a section."""

    name: int
    type: int
    flags: int
    address: int
    offset: int
    size: int
    link: int
    info: int
    align: int
    entry: int


class ElfCode:
    """Code in memory, which it leaves with this object.

    `exported` functions have their `addresses`; what the code calls is in `outside`, by name.
    """

    def __init__(self, content: bytes, exported: Collection[str], outside: Mapping[str, int]):
        self.content = content
        self.addresses = dict[str, int]()
        (first,) = struct.unpack_from("<Q", content, 0x28)
        size, count = struct.unpack_from("<HH", content, 0x3A)
        at = [first + k * size for k in range(count)]
        self.sections = [ElfSection(*struct.unpack_from("<IIQQQQIIQQ", content, a)) for a in at]
        self.places: dict[int, int] = {}
        """Where sections are in this memory; jumps out of it come behind them."""
        self.end = 0
        for k, section in enumerate(self.sections):
            if section.flags & IN_MEMORY and section.size:
                self.places[k] = -(-self.end // section.align) * section.align
                self.end = self.places[k] + section.size
        self.end = -(-self.end // _ENTRY) * _ENTRY
        self.size = -(-(self.end + _ENTRY * len(outside)) // mmap.PAGESIZE) * mmap.PAGESIZE
        self.base = _memory(self.size)
        weakref.finalize(self, _C.munmap, self.base, self.size).atexit = False
        for k, place in self.places.items():
            if self.sections[k].type != ZEROS:
                data = self._data(self.sections[k])
                ctypes.memmove(self.base + place, data, len(data))
        self.jumps: dict[int, int] = {}
        """By the address of something outside, its jump."""
        symbols = self._symbols(exported, outside)
        for section in self.sections:
            if section.type == RELOCATIONS and section.info in self.places:
                for row in struct.iter_unpack("<QQq", self._data(section)):
                    self._relocate(self.base + self.places[section.info], symbols, *row)
        if _C.mprotect(self.base, self.size, mmap.PROT_READ | mmap.PROT_EXEC):
            raise OSError(ctypes.get_errno(), "the system does not run code that was just made")

    def _data(self, section: ElfSection) -> bytes:
        data = self.content[section.offset : section.offset + section.size]
        if len(data) < section.size:
            raise ValueError("an object file ends too early")
        return data

    def _symbols(self, exported: Collection[str], outside: Mapping[str, int]) -> list[int]:
        """The address of each symbol; 0 for those that nothing refers to."""
        (table,) = (section for section in self.sections if section.type == SYMBOLS)
        texts = self._data(self.sections[table.link])
        symbols = []
        for start, _, _, section, value, _ in struct.iter_unpack("<IBBHQQ", self._data(table)):
            name = texts[start : texts.index(b"\0", start)].decode()
            if section in self.places:
                symbols.append(self.base + self.places[section] + value)
                self.addresses |= {name: symbols[-1]} if name in exported else {}
            else:
                symbols.append(outside[name] if name and not section else 0)
        return symbols

    def _relocate(self, base: int, symbols: list[int], place: int, info: int, addend: int) -> None:
        here = base + place
        kind = info & 0xFFFFFFFF
        symbol = symbols[info >> 32]
        if kind == ADDRESS:
            ctypes.c_int64.from_address(here).value = symbol + addend
            return
        if kind in BY_TABLE:
            symbol = self._jump(symbol) + len(_JUMP)
        elif kind == CALL and not self.base <= symbol < self.base + self.size:
            symbol = self._jump(symbol)
        elif kind not in (NEAR, CALL):
            raise ValueError(f"relocations of type {kind} are not known")
        distance = symbol + addend - here
        if not -(2**31) <= distance < 2**31:
            raise ValueError(f"a distance of {distance} bytes is too far for a relocation")
        ctypes.c_int32.from_address(here).value = distance

    def _jump(self, symbol: int) -> int:
        """The jump to something outside."""
        if symbol not in self.jumps:
            self.jumps[symbol] = self.base + self.end
            self.end += _ENTRY
            code = _JUMP + struct.pack("<Q", symbol)
            ctypes.memmove(self.jumps[symbol], code, len(code))
        return self.jumps[symbol]


def _memory(size: int) -> int:
    """Memory that can be written."""
    rights = mmap.PROT_READ | mmap.PROT_WRITE
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
    address = _C.mmap(None, size, rights, flags, -1, 0)
    if address in (None, ctypes.c_void_p(-1).value):
        raise MemoryError(f"no memory for {size} bytes of code")
    return int(address)
