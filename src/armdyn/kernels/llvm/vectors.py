"""Vector arithmetic as LLVM's text."""

import struct

import numpy as np

from armdyn.arrays import RELATIVE_PIVOT, SINGLE_PIVOT, record
from armdyn.kernels.llvm.fuse import FUSED

LINE = 64
"""Bytes that a cache moves at a time."""
LIBRARY = {"sin": 1, "cos": 1, "exp": 1, "tanh": 1, "atan2": 2, "pow": 2}
"""Functions of the C library that are called lane by lane, and how many arguments they have."""


@record
class Vectors:
    """Vectors of some lanes of double or float."""

    lanes: int
    dtype: str
    """"float64" or "float32"."""
    fma: bool
    blocks: tuple[int, ...] = ()
    """Columns of each array where the lanes of each number lie side by side; none where states are
    rows."""

    @property
    def element(self) -> str:
        """LLVM's name of a number."""
        return "double" if self.dtype == "float64" else "float"

    @property
    def size(self) -> int:
        """Bytes of a number."""
        return 8 if self.dtype == "float64" else 4

    @property
    def bytes(self) -> int:
        """Bytes of a vector."""
        return self.lanes * self.size

    @property
    def type(self) -> str:
        """LLVM's name of a vector."""
        return f"<{self.lanes} x {self.element}>"

    @property
    def integers(self) -> str:
        """The vector of integers of the same size."""
        return f"<{self.lanes} x i{8 * self.size}>"

    @property
    def suffix(self) -> str:
        """Of the names of intrinsics."""
        return f"v{self.lanes}f{8 * self.size}"

    def number(self, value: float) -> str:
        """A number as text; LLVM wants floats as the double of the same value."""
        value = float(value) if self.size == 8 else float(np.float32(value))
        return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"

    def splat(self, value: float) -> str:
        """A number in all lanes."""
        return f"splat ({self.element} {self.number(value)})"

    def whole(self, value: int) -> str:
        """An integer in all lanes."""
        return f"splat (i{8 * self.size} {value})"

    def declarations(self) -> list[str]:
        """The intrinsics and functions of C that may be called."""
        t = self.type
        e = self.element
        s = self.suffix
        f = "" if self.size == 8 else "f"
        known = {"fma": (t, t, t), "sqrt": (t,), "fabs": (t,), "copysign": (t, t)}
        lines = [f"declare {t} @llvm.{k}.{s}({', '.join(given)})" for k, given in known.items()]
        lines.append("declare void @llvm.prefetch.p0(ptr, i32, i32, i32)")
        lines.append("declare i64 @llvm.smin.i64(i64, i64)")
        return lines + [
            f"declare {e} @{name}{f}({', '.join([e] * count)})" for name, count in LIBRARY.items()
        ]


class IrWriter:
    """Lines of a function, the given ones first, with names for what they make."""

    def __init__(self, vectors: Vectors, *lines: str, names: str = "t"):
        self.v = vectors
        self.lines = list(lines)
        self._names = names
        self._made = 0

    def name(self) -> str:
        """A new name."""
        self._made += 1
        return f"%{self._names}{self._made}"

    def let(self, text: str, name: str | None = None) -> str:
        """A line that makes a value; returns its name."""
        name = name or self.name()
        self.lines.append(f"  {name} = {text}")
        return name

    def do(self, text: str) -> None:
        """A line that makes nothing."""
        self.lines.append(f"  {text}")

    def label(self, name: str) -> None:
        """The beginning of a block."""
        self.lines.append(f"{name}:")

    def branch(self, condition: str, yes: str, no: str, *, begin: str = "") -> None:
        """The end of a block, which goes on in one of two others; perhaps the beginning of one."""
        self.do(f"br i1 {condition}, label %{yes}, label %{no}")
        self.lines += [f"{begin}:"] if begin else []

    def jump(self, to: str, *, begin: str = "") -> None:
        """The end of a block, which goes on in another one; perhaps the beginning of one."""
        self.do(f"br label %{to}")
        self.lines += [f"{begin}:"] if begin else []

    def at(self, pointer: str, offset: str | int, kind: str = "i8", name: str | None = None) -> str:
        """The pointer to the element of some number behind a pointer, in bytes unless said."""
        return self.let(f"getelementptr {kind}, ptr {pointer}, i64 {offset}", name)

    def item(self, array: str, place: str | int, kind: str = "i64") -> str:
        """An element of an array."""
        return self.let(f"load {kind}, ptr {self.at(array, place, kind)}")

    def field(self, thing: str, offset: int, kind: str = "ptr") -> str:
        """What a thing has at some bytes behind its beginning."""
        return self.let(f"load {kind}, ptr {self.at(thing, offset)}")

    def load(self, place: str, kind: str = "", align: int = 0) -> str:
        """What lies at a place: a vector, aligned as such unless said."""
        return self.let(f"load {kind or self.v.type}, ptr {place}, align {align or self.v.bytes}")

    def store(self, value: str, place: str, kind: str = "", align: int = 0) -> None:
        """Put a value to a place, of the same kind."""
        kind = kind or self.v.type
        self.do(f"store {kind} {value}, ptr {place}, align {align or self.v.bytes}")

    def ended(self) -> list[str]:
        """All lines of a function that gives nothing back."""
        return [*self.lines, "  ret void", "}"]

    # arithmetic

    def binary(self, op: str, a: str, b: str) -> str:
        """The sum, difference, product or quotient of vectors."""
        return self.let(f"f{op} {self.v.type} {a}, {b}")

    def negated(self, a: str) -> str:
        """-a."""
        return self.let(f"fneg {self.v.type} {a}")

    def fused(self, a: str, b: str, c: str, product: str = "", addend: str = "") -> str:
        """±a b ± c; in two steps where the processor has no such instruction."""
        if not self.v.fma:
            made = self.binary("mul", a, b)
            if not product:
                return self.binary("sub" if addend else "add", made, c)
            if not addend:
                return self.binary("sub", c, made)
            return self.negated(self.binary("add", made, c))
        a = self.negated(a) if product else a
        c = self.negated(c) if addend else c
        return self.intrinsic("fma", a, b, c)

    def intrinsic(self, name: str, *args: str) -> str:
        """A function of vectors that LLVM knows."""
        t = self.v.type
        given = ", ".join(f"{t} {a}" for a in args)
        return self.let(f"call {t} @llvm.{name}.{self.v.suffix}({given})")

    def bits(self, a: str) -> str:
        """The bits of a vector as integers."""
        return self.let(f"bitcast {self.v.type} {a} to {self.v.integers}")

    def from_bits(self, a: str) -> str:
        """Integers as the numbers with these bits."""
        return self.let(f"bitcast {self.v.integers} {a} to {self.v.type}")

    def select(self, mask: str, a: str, b: str) -> str:
        """Lane by lane, a where the mask is set, b elsewhere."""
        t = self.v.type
        return self.let(f"select <{self.v.lanes} x i1> {mask}, {t} {a}, {t} {b}")

    def by_lane(self, function: str, *args: str) -> str:
        """A function of C, applied to every lane.

        It is always called: LLVM would replace pow(x, 2), but only where it sees the exponent.
        """
        v = self.v
        made = "poison"
        function += "" if v.size == 8 else "f"
        for lane in range(v.lanes):
            given = (self.let(f"extractelement {v.type} {a}, i32 {lane}") for a in args)
            listed = ", ".join(f"{v.element} {x}" for x in given)
            y = self.let(f"call {v.element} @{function}({listed}) nobuiltin")
            made = self.let(f"insertelement {v.type} {made}, {v.element} {y}, i32 {lane}")
        return made

    def operation(self, op: str, args: list[str]) -> str:
        """An operation of a program.

        Comparisons are of integers or by equality, which raise no floating-point flag for NaN.
        """
        if op in FUSED:
            return self.fused(args[0], args[1], args[2], *FUSED[op])
        if op in ("add", "sub", "mul", "div"):
            return self.binary(op, *args)
        if op == "neg":
            return self.negated(args[0])
        if op == "sqrt":
            return self.intrinsic("sqrt", args[0])
        if op in ("sign", "signed_power"):
            still = self.let(f"fcmp ueq {self.v.type} {args[0]}, {self.v.splat(0.0)}")
            size = self.v.splat(1.0)
            if op == "signed_power":
                size = self.select(still, size, self.intrinsic("fabs", args[0]))
                size = self.by_lane("pow", size, args[1])
            return self.select(still, args[0], self.intrinsic("copysign", size, args[0]))
        if op == "guard":
            return self._guard(*args)
        if op == "angle_sum":
            a, b = (f"{self.v.type} {x}" for x in args)
            return self.let(f"call {self.v.type} @angle_sum({a}, {b})")
        return self.by_lane(op, args[0])

    def beyond(self, x: str, limit: float) -> str:
        """In which lanes |x| exceeds a limit; as integers, NaN exceeds every limit."""
        v = self.v
        least = self.let(f"bitcast {v.type} {v.splat(limit)} to {v.integers}")
        size = self.bits(self.intrinsic("fabs", x))
        return self.let(f"icmp sgt {v.integers} {size}, {least}")

    def any(self, mask: str) -> str:
        """Whether a mask is set in some lane."""
        lanes = self.v.lanes
        bits = self.let(f"bitcast <{lanes} x i1> {mask} to i{lanes}")
        return self.let(f"icmp ne i{lanes} {bits}, 0")

    def _guard(self, pivot: str, scale: str) -> str:
        size = self.bits(self.intrinsic("fabs", pivot))
        relative = self.v.splat(RELATIVE_PIVOT if self.v.size == 8 else SINGLE_PIVOT)
        least = self.binary("mul", self.intrinsic("fabs", scale), relative)
        sound = self.let(f"icmp sgt {self.v.integers} {size}, {self.bits(least)}")
        return self.select(sound, pivot, self.v.splat(float("nan")))
