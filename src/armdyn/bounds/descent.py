"""The bound of a box in machine code, of as many boxes at once as a vector has lanes.

The loops over control points are nested, so that the sums of all but the last joints are shared by
the points below. At a point a quick bound is enough almost everywhere; elsewhere the speeds are
assigned one by one, and given up where what is left cannot reach the level.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.bounds.boxes import Support, Tensor, controls, corners
from armdyn.bounds.polynomials import UP, U
from armdyn.kernels.llvm.backend import Linked, object_code
from armdyn.kernels.llvm.sweep_states import each, splat
from armdyn.kernels.llvm.target import Target
from armdyn.kernels.llvm.vectors import IrWriter, Vectors

_function: Any = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class BoundCode:
    """The machine code for one row."""

    def __init__(self, tensor: Tensor):
        self.tensor = tensor
        target = Target.host()
        self._vectors = vectors = Vectors(target.lanes("float64"), "float64", target.fma)
        self.lanes = lanes = vectors.lanes
        self._values = self._compiled("values", _values(vectors, tensor))
        self._bounds: dict[Support, tuple[Any, Any]] = {}
        size = vectors.bytes
        # the place behind the last group stays zero
        self._tables = [np.ascontiguousarray(places * size) for _, places in tensor.steps]
        memory = [np.repeat(np.append(tensor.start, 0.0)[:, None], lanes, axis=1)]
        memory += [np.zeros((len(places) + 1, lanes)) for places in self._tables]
        self._memory = memory

    def _compiled(self, name: str, lines: list[str]) -> tuple[Any, Any]:
        """The code of a function, which must be kept, and the function."""
        text = "\n".join([*lines, *self._vectors.declarations()])
        code = Linked(object_code(text, Target.host()), [name])
        return code, _function(code[name])

    def exceeds(self, support: Support, middle: Array, half: Array, level: Array) -> Array:
        """Whether the bound of ±torque is above the level, for each box, (m,).

        Boxes are |q - middle| <= half, (m, joints); the level is for the torque and its
        opposite, (2,). Rounding, with u = 2⁻⁵³ and r the largest control value of each joint:
        those are right to 64 u r, as sines are to four last
        places; a joint adds five products, so that an entry is right to 80 u for each joint of
        Σ|k| Π r; the sum over entries and speeds rounds no more often than there are entries, and
        twelve times for each speed.
        """
        columns = zip(self.tensor.kinds, middle.T, half.T, strict=True)
        points = [controls(kind, m, h) for kind, m, h in columns]
        largest = self.tensor.row.scale * float(np.prod([np.abs(point).max() for point in points]))
        count = 80 * len(points) + len(self.tensor.entries) + 12 * len(support.speeds) + 20
        if support not in self._bounds:
            lines = _bound(self._vectors, self.tensor, support)
            self._bounds[support] = self._compiled("bound", lines)
        packed, groups = self._packed(points)
        over = np.zeros(groups, dtype=np.int64)
        levels = np.array(level - count * U * UP * largest)
        self._do(self._bounds[support], packed, groups, over, levels)
        return ((over[:, None] & (1 << np.arange(self.lanes))) != 0).ravel()[: len(middle)]

    def entries(self, q: Array) -> Array:
        """The entries (m, entries) at positions (m, joints)."""
        columns = zip(self.tensor.kinds, q.T, strict=True)
        points = [controls(kind, x, np.zeros_like(x))[:, :1] for kind, x in columns]
        packed, groups = self._packed(points)
        found = np.empty((groups, len(self.tensor.entries), self.lanes))
        self._do(self._values, packed, groups, found, found)
        return np.moveaxis(found, 1, 2).reshape(-1, found.shape[1])[: len(q)]

    def _packed(self, points: Sequence[Array]) -> tuple[Array, int]:
        """Control points (boxes, points, functions) of each joint, side by side for lanes."""
        m, lanes = len(points[0]), self.lanes
        groups = -(-m // lanes)
        rows = np.minimum(np.arange(groups * lanes), m - 1)
        parts = []
        for point, (used, _) in zip(points, self.tensor.steps, strict=True):
            part = point[rows][:, :, used].reshape(groups, lanes, -1)
            parts.append(np.swapaxes(part, 1, 2).reshape(groups, -1))
        controls = np.ascontiguousarray(np.concatenate(parts, axis=1))
        return controls, groups

    def _do(
        self, compiled: tuple[Any, Any], controls: Array, groups: int, result: Array, more: Array
    ) -> None:
        job = [controls, result, more, *self._memory, *self._tables]
        words = np.array([groups, *(array.ctypes.data for array in job)], dtype=np.uint64)
        compiled[1](words.ctypes.data)


def _bound(v: Vectors, tensor: Tensor, support: Support) -> list[str]:
    """`@bound`: which boxes exceed the levels."""

    def decide(t: IrWriter, memory: str, group: str, result: str, more: str) -> None:
        levels = [splat(t, t.field(more, 8 * k, "double"), "double") for k in range(2)]
        _leaf(t, support, memory, len(tensor.entries), levels, t.at(result, group, "i64"))

    lines = _function_of(v, tensor, "bound", tensor.kinds, decide)
    return [*lines, *_speeds(v, support)]


def _values(v: Vectors, tensor: Tensor) -> list[str]:
    """`@values`: the entries at positions."""
    entries, size = len(tensor.entries), v.bytes

    def copy(t: IrWriter, memory: str, group: str, result: str, more: str) -> None:
        to = t.at(result, t.let(f"mul i64 {group}, {entries * size}"))
        for k in range(entries):
            t.store(t.load(t.at(memory, k * size), align=8), t.at(to, k * size), align=8)

    return _function_of(v, tensor, "values", [1] * len(tensor.kinds), copy)


def _function_of(
    v: Vectors, tensor: Tensor, name: str, points: Sequence[int], leaf: Callable[..., None]
) -> list[str]:
    """A function that does something at all combinations of so many points of the joints."""
    t = IrWriter(v, f"define void @{name}(ptr %job) {{")
    t.label("entry")
    size, steps = v.bytes, tensor.steps
    count, widths = len(steps), [len(used) for used, _ in steps]
    groups = t.field("%job", 0, "i64")
    controls, result, more = (t.field("%job", 8 * k) for k in range(1, 4))
    memory = [t.field("%job", 8 * (4 + k)) for k in range(count + 1)]
    tables = [t.field("%job", 8 * (5 + count + k)) for k in range(count)]
    stride = sum(p * w for p, w in zip(points, widths, strict=True)) * size

    def joint(k: int, g: str, base: str, offset: int) -> None:
        if k == count:
            leaf(t, memory[k], g, result, more)
            return

        def point(p: str) -> None:
            row = t.at(base, t.let(f"mul i64 {p}, {widths[k] * size}"))
            factors = [t.load(t.at(row, offset + f * size), align=8) for f in range(widths[k])]

            def one(n: str) -> None:
                table = t.at(tables[k], t.let(f"mul i64 {n}, {8 * widths[k]}"))
                total = v.splat(0.0)
                for f, factor in enumerate(factors):
                    value = t.load(t.at(memory[k], t.field(table, 8 * f, "i64")), align=8)
                    total = t.fused(factor, value, total)
                to = t.at(memory[k + 1], t.let(f"mul i64 {n}, {size}"))
                t.store(total, to, align=8)

            each(t, f"n{k}", len(steps[k][1]), one)
            joint(k + 1, g, base, offset + points[k] * widths[k] * size)

        each(t, f"p{k}", points[k], point)

    def group(g: str) -> None:
        joint(0, g, t.at(controls, t.let(f"mul i64 {g}, {stride}")), 0)
        t.jump("decided", begin="decided")

    each(t, "group", groups, group)
    return t.ended()


def _leaf(
    t: IrWriter, s: Support, memory: str, entries: int, levels: Sequence[str], place: str
) -> None:
    """What is done with the entries at a control point: the quick bound, and perhaps `@speeds`."""
    v, zero, half = t.v, t.v.splat(0.0), t.v.splat(0.5)
    e = [t.load(t.at(memory, k * v.bytes), align=8) for k in range(entries)]
    held, both = zero, zero
    for k in s.M:
        held = t.binary("add", held, t.intrinsic("fabs", e[k]))
    for k in s.B[np.triu_indices(len(s.B), 1)]:
        both = t.binary("add", both, t.intrinsic("fabs", e[k])) if k >= 0 else both
    g = e[s.G[0]] if s.G else zero
    even = g
    for k in s.C[s.C >= 0]:  # max(c, 0) = (|c| + c) / 2
        both = t.fused(half, t.intrinsic("fabs", e[k]), both)
        even = t.fused(half, e[k], even)
    both = t.binary("add", both, held)
    bits, number = f"<{v.lanes} x i1>", f"i{v.lanes}"
    for op, level in zip(("add", "sub"), levels, strict=True):
        top = t.binary(op, both, even)
        mask = t.let(f"fcmp ogt {v.type} {top}, {level}")
        asked = t.let(f"bitcast {bits} {mask} to {number}")
        before = t.let(f"trunc i64 {t.let(f'load i64, ptr {place}')} to {number}")
        left = t.let(f"and {number} {asked}, {t.let(f'xor {number} {before}, -1')}")
        hot, cold = f"hot.{op}", f"cold.{op}"
        t.branch(t.let(f"icmp eq {number} {left}, 0"), cold, hot, begin=hot)
        sign = v.splat(1.0 if op == "add" else -1.0)
        value = t.binary(op, held, g)
        given = f"ptr {memory}, {v.type} {value}, {v.type} {sign}, {v.type} {level}"
        found = t.let(f"call {number} @speeds({given}, {number} {left})")
        now = t.let(f"or {number} {before}, {found}")
        t.do(f"store i64 {t.let(f'zext {number} {now} to i64')}, ptr {place}")
        t.branch(t.let(f"icmp eq {number} {now}, -1"), "decided", cold, begin=cold)


def _speeds(v: Vectors, s: Support) -> list[str]:
    """`@speeds`: the lanes among those asked for in which the torque exceeds the level."""
    number, n = f"i{v.lanes}", len(s.speeds)
    bits, zero = f"<{v.lanes} x i1>", v.splat(0.0)
    head = f"ptr %e, {v.type} %value, {v.type} %sign, {v.type} %level, {number} %asked"
    t = IrWriter(v, f"define internal {number} @speeds({head}) noinline nounwind {{")
    t.label("entry")
    over = t.let(f"alloca {number}")

    def entry(k: int) -> str:
        value = t.load(t.at("%e", k * v.bytes), align=8)
        return t.binary("mul", "%sign", value)

    def settle(value: str, name: str) -> None:
        """Note the lanes that exceed the level; all of them are enough."""
        beyond = t.let(f"fcmp ogt {v.type} {value}, %level")
        word = t.let(f"bitcast {bits} {beyond} to {number}")
        now = t.let(f"or {number} {word}, {t.let(f'load {number}, ptr {over}')}")
        t.do(f"store {number} {now}, ptr {over}")
        left = t.let(f"and {number} %asked, {t.let(f'xor {number} {now}, -1')}")
        t.branch(t.let(f"icmp eq {number} {left}, 0"), "out", name, begin=name)

    t.do(f"store {number} 0, ptr {over}")
    C = [entry(k) if k >= 0 else zero for k in s.C]
    B = [[entry(s.B[j, k]) if k > j and s.B[j, k] >= 0 else "" for k in range(n)] for j in range(n)]
    rest = _rest(t, B, C)

    def pushed(lin: list[str], k: int, speed: str) -> list[str]:
        """What multiplies each speed when another one is assigned."""
        return [t.fused(speed, B[k][j], lin[j]) if B[k][j] else lin[j] for j in range(n)]

    # first the signs that seem best: most boxes that exceed the level show it at once
    value, lin = "%value", [zero] * n
    for k in range(n):
        value = t.binary("add", value, t.intrinsic("fabs", lin[k]))
        value = t.binary("add", value, C[k])
        lin = pushed(lin, k, t.intrinsic("copysign", v.splat(1.0), lin[k]))
    settle(value, "all")

    def assign(k: int, value: str, lin: list[str]) -> None:
        """All values of a speed, and of those after it."""
        size = t.intrinsic("fabs", lin[k])
        if k == n - 1:
            settle(t.binary("add", value, _largest(t, size, C[k])), "next")
            return

        def move(p: str) -> None:
            row = t.at(f"@corners{k}", t.let(f"mul i64 {p}, 24"))
            speed, convex, concave = (
                splat(t, t.field(row, 8 * i, "double"), "double") for i in range(3)
            )
            then = value
            if C[k] != zero:
                positive = t.let(f"fcmp ogt {v.type} {C[k]}, {zero}")
                then = t.fused(t.select(positive, convex, concave), C[k], then)
            then = t.fused(speed, lin[k], then)
            after = pushed(lin, k, speed)
            reach = t.binary("add", then, rest[k + 1])
            for x in after[k + 1 :]:
                reach = t.binary("add", reach, t.intrinsic("fabs", x))
            beyond = t.let(f"fcmp ogt {v.type} {reach}, %level")
            word = t.let(f"bitcast {bits} {beyond} to {number}")
            known = t.let(f"xor {number} {t.let(f'load {number}, ptr {over}')}, -1")
            open_ = t.let(f"and {number} {word}, {t.let(f'and {number} %asked, {known}')}")
            none = t.let(f"icmp eq {number} {open_}, 0")
            t.branch(none, f"skip{k}", f"in{k}", begin=f"in{k}")
            assign(k + 1, then, after)
            t.jump(f"skip{k}", begin=f"skip{k}")

        each(t, f"speed{k}", len(_moves(s, k)), move)

    if n:
        assign(0, "%value", [zero] * n)
    t.jump("out", begin="out")
    found = t.let(f"load {number}, ptr {over}")
    t.do(f"ret {number} {t.let(f'and {number} {found}, %asked')}")
    return [*(_corner_table(v, s, k) for k in range(n - 1)), *t.lines, "}"]


def _rest(t: IrWriter, B: Sequence[Sequence[str]], C: Sequence[str]) -> list[str]:
    """What speeds from each one on can add among themselves."""
    v, zero = t.v, t.v.splat(0.0)
    rest = [zero] * (len(C) + 1)
    for k in range(len(C) - 1, -1, -1):
        rest[k] = rest[k + 1]
        for x in filter(None, B[k]):
            rest[k] = t.binary("add", rest[k], t.intrinsic("fabs", x))
        if C[k] != zero:
            positive = t.let(f"fcmp ogt {v.type} {C[k]}, {zero}")
            rest[k] = t.binary("add", rest[k], t.select(positive, C[k], zero))
    return rest


def _corner_table(v: Vectors, s: Support, k: int) -> str:
    """The values of a speed, and what multiplies its square there."""
    flat = [x for move in _moves(s, k) for x in move]
    listed = ", ".join(f"double {v.number(x)}" for x in flat)
    return f"@corners{k} = private constant [{len(flat)} x double] [{listed}]"


def _moves(s: Support, k: int) -> list[tuple[float, float, float]]:
    """The values of a speed; of the first one no negative ones, as all may turn round."""
    signs = (1.0,) if k == 0 else (1.0, -1.0)
    return [(sign * v, q, w) for v, q, w in corners(s.tangents[k]) for sign in signs]


def _largest(t: IrWriter, p: str, c: str) -> str:
    """The largest p v + c v² of 0 <= v <= 1, for p >= 0."""
    v, zero = t.v, t.v.splat(0.0)
    end = t.binary("add", p, c)
    if c == zero:
        return end
    edge = t.fused(v.splat(2.0), c, p)
    inside = t.let(f"fcmp olt {v.type} {edge}, {zero}")  # so that c < 0
    size = t.select(inside, c, v.splat(-1.0))
    inner = t.binary("div", t.binary("mul", p, p), t.binary("mul", size, v.splat(-4.0)))
    return t.select(inside, inner, end)
