"""A program for one state, as Python calls it: plain numbers, all angles of a layer at once.

`@values` computes it; `@entry` is the builtin of a `Kernel`, `@choose` that of a method of a robot,
which finds the `@values` of the options it is called with.
"""

import math

from armdyn.graph.program import Program
from armdyn.kernels import numpy_api as api
from armdyn.kernels.llvm.loop import STACK
from armdyn.kernels.llvm.module import segment_functions
from armdyn.kernels.llvm.segments import Plan, Segment, SineCosine, best_plan
from armdyn.kernels.llvm.target import Target
from armdyn.kernels.llvm.trig import sine_cosine_functions
from armdyn.kernels.llvm.vectors import LINE, IrWriter, Vectors

DECLARATIONS = """\
@array_type = external global i8
@descr_float32 = external global i8
@descr_float64 = external global i8
declare ptr @array_empty(i32, ptr, ptr, i32)
declare ptr @PyObject_Vectorcall(ptr, ptr, i64, ptr)
declare void @Py_IncRef(ptr)
declare void @Py_DecRef(ptr)
declare void @PyErr_Clear()
"""
SIZE = 16
ITEMS = 24
"""Where a tuple has its length and its items."""
CALLED = "(ptr %self, ptr %args, i64 %nargs, ptr %names) nounwind {"
"""How Python calls a builtin: the names of the last arguments are a tuple, or null."""


def entry_module(program: Program, target: Target, dtype: str = "float64") -> str:
    """The text of a module for one state, or nothing if its scratch memory is large."""
    one = Vectors(1, dtype, target.fma)
    sides = Vectors(target.narrow.lanes(dtype), dtype, target.fma)
    pieces = best_plan(program, target)
    if pieces.slots * one.size > STACK:
        return ""
    words = (f"@name_{word} = external global i8" for word in api.WORDS)
    declared = dict.fromkeys((*words, *one.declarations(), *sides.declarations()))
    lines = [*DECLARATIONS.splitlines(), *declared]
    lines += segment_functions(one, pieces, program, target)
    lines += _Values(one, sides, program, pieces).lines()
    inputs = [array.name for array in program.inputs]
    return "\n".join([*lines, *_entry(one, len(inputs)), *_choose(one, inputs)]) + "\n"


def _entry(v: Vectors, count: int) -> list[str]:
    """`@entry`: the owner, a `Kernel`, takes what is not plain; the output may be named `out`."""
    t = IrWriter(v, f"define ptr @entry{CALLED}")
    t.label("start")
    _require(t, t.let(f"icmp eq i64 %nargs, {count}"))
    t.jump("all", begin="all")
    t.branch(t.let("icmp eq ptr %names, null"), "run", "named", begin="named")
    _require(t, t.let(f"icmp eq i64 {t.field('%names', SIZE, 'i64')}, 1"))
    _require(t, t.let(f"icmp eq ptr {t.field('%names', ITEMS)}, @name_out"))
    given = t.item("%args", count, "ptr")
    t.jump("out", begin="out")
    t.jump("run", begin="run")
    out = t.let(f"phi ptr [null, %all], [{given}, %out]")
    t.let(f"call ptr @values(ptr %args, ptr {out}, i1 false)", "%result")
    return _end(t, "%self")


def _choose(v: Vectors, inputs: list[str]) -> list[str]:
    """`@choose`: arguments may be named in their order, and the last one may be an option.

    The owner is a `BoundMethod`, which has the function of every option that was used, and the
    method of the robot that takes everything else.
    """
    t = IrWriter(v, f"define ptr @choose{CALLED}")
    count = len(inputs)
    t.label("start")
    bound = t.field("%self", api.STRUCTURE)
    method = t.item(bound, 0, "ptr")
    t.branch(t.let("icmp eq ptr %names, null"), "sum", "named", begin="named")
    size = t.field("%names", SIZE, "i64")
    t.jump("sum", begin="sum")
    named = t.let(f"phi i64 [0, %start], [{size}, %named]")
    words = t.at("%names", ITEMS)
    more = t.let(f"sub i64 {t.let(f'add i64 %nargs, {named}')}, {count}")
    _require(t, t.let(f"icmp ule i64 {more}, 1"))
    _require(t, t.let(f"icmp ule i64 {more}, {named}"))
    for k, name in enumerate(inputs):
        t.jump(f"input{k}", begin=f"input{k}")
        t.branch(t.let(f"icmp ugt i64 %nargs, {k}"), f"end{k}", f"word{k}", begin=f"word{k}")
        word = t.item(words, t.let(f"sub i64 {k}, %nargs"), "ptr")
        expected = f"@name_{name}" if name in api.WORDS else "null"
        t.branch(t.let(f"icmp eq ptr {word}, {expected}"), f"end{k}", "other", begin=f"end{k}")
    t.jump("inputs", begin="inputs")
    t.branch(t.let(f"icmp eq i64 {more}, 0"), "look", "option", begin="option")
    word = t.item(words, t.let(f"sub i64 {named}, 1"), "ptr")
    value = t.item("%args", count, "ptr")
    t.jump("look", begin="look")
    word = t.let(f"phi ptr [null, %inputs], [{word}, %option]")
    value = t.let(f"phi ptr [null, %inputs], [{value}, %option]")
    t.jump("variant", begin="variant")
    t.let("phi i64 [1, %look], [%next, %another]", "%k")
    function = t.item(bound, t.let("add i64 %k, 2"), "ptr")
    _require(t, t.let(f"icmp ne ptr {function}, null"))
    same = t.let(f"icmp eq ptr {t.item(bound, '%k', 'ptr')}, {word}")
    equal = t.let(f"icmp eq ptr {t.item(bound, t.let('add i64 %k, 1'), 'ptr')}, {value}")
    t.branch(t.let(f"and i1 {same}, {equal}"), "run", "another", begin="another")
    t.let("add i64 %k, 3", "%next")
    t.jump("variant", begin="run")
    t.let(f"call ptr {function}(ptr %args, ptr null, i1 true)", "%result")
    return _end(t, method)


def _end(t: IrWriter, owner: str) -> list[str]:
    """Give back %result; the owner takes what has none, and what comes to block %other."""
    _require(t, t.let("icmp ne ptr %result, null"))
    t.do("ret ptr %result")
    t.label("other")
    given = f"ptr {owner}, ptr %args, i64 %nargs, ptr %names"
    t.do(f"ret ptr {t.let(f'call ptr @PyObject_Vectorcall({given})')}")
    return [*t.lines, "}"]


class _Values:
    """The writer of `@values(args, out, numbers)`: the result of one state, or null.

    There is none unless each argument is a plain vector of the right type and length, and the
    output null or a plain array; with `numbers`, none where the result is not of numbers.
    """

    def __init__(self, one: Vectors, sides: Vectors, program: Program, pieces: Plan):
        self.sides = sides
        self.program = program
        self.pieces = pieces
        self.t = IrWriter(one, "define ptr @values(ptr %args, ptr %out, i1 %numbers) nounwind {")

    def lines(self) -> list[str]:
        """The function."""
        t = self.t
        program = self.program
        size = self.t.v.size
        inputs = [len(a.symbols) for a in program.inputs]
        output = program.shape
        t.label("start")
        t.let(f"alloca [{max(1, len(output))} x i64], align 8", "%shape")
        t.let(f"alloca [{self.pieces.slots * size} x i8], align {LINE}", "%slots")
        counts = [step.count for step in self.pieces.steps if isinstance(step, SineCosine)]
        groups = -(-max(counts, default=0) // self.sides.lanes)
        sines = sine_cosine_functions(self.sides, groups) if groups else []
        for name in ("angles", "sines", "cosines"):
            t.let(f"alloca [{groups} x {self.sides.type}], align {LINE}", f"%{name}")
        data = [self._input(k, length) for k, length in enumerate(inputs)]
        _choose_output(t, output)
        t.let("phi ptr [%fresh, %made], [%out, %keep]", "%result")
        for k, length in enumerate(inputs):
            self._copy(data[k], t.at("%slots", sum(inputs[:k]) * size), length)
        self._steps()
        results = t.field("%result", api.DATA)
        for k, slot in enumerate(self.pieces.outputs):
            self._copy(t.at("%slots", slot * size), t.at(results, k * size), 1)
        if any(i.op in ("div", "sqrt", "guard") for i in program.instructions):
            _give_back(t, math.prod(output))
        t.do("ret ptr %result")
        t.label("other")
        t.do("ret ptr null")
        return [*sines, *t.lines, "}"]

    def _input(self, k: int, length: int) -> str:
        """Check an argument; returns where its numbers are."""
        t = self.t
        array = t.item("%args", k, "ptr")
        _require(t, _is_vector(t, array, (length,), api.ALIGNED))
        return t.field(array, api.DATA)

    def _steps(self) -> None:
        """The segments, and between them sines and cosines."""
        for number, step in enumerate(self.pieces.steps):
            if isinstance(step, Segment):
                self.t.let(f"call i1 @segment{number}(ptr %slots)")
            else:
                self._sines(step)

    def _sines(self, step: SineCosine) -> None:
        """Angles from their slots, side by side, to sines and cosines; the last one fills up.

        They are loaded one by one: a vector would have to wait until the stores of its parts have
        reached the cache.
        """
        t = self.t
        v = self.sides
        size = self.sides.size
        groups = -(-step.count // v.lanes)
        for group in range(groups):
            vector = "poison"
            for lane in range(v.lanes):
                angle = step.angles + min(group * v.lanes + lane, step.count - 1)
                x = t.let(f"load {v.element}, ptr {t.at('%slots', angle * size)}")
                vector = t.let(f"insertelement {v.type} {vector}, {v.element} {x}, i32 {lane}")
            t.do(f"store {v.type} {vector}, ptr {t.at('%angles', group, v.type)}")
        given = "ptr %angles, ptr %sines, ptr %cosines"
        t.do(f"call void @sin_cos({given}, i64 {groups})")
        for name, slot in (("%sines", step.sines), ("%cosines", step.cosines)):
            self._copy(name, t.at("%slots", slot * size), step.count)

    def _copy(self, source: str, target: str, count: int) -> None:
        """So many numbers from one place to another, in vectors where it can be."""
        t = self.t
        v = self.sides
        done = 0
        while done < count:
            whole = count - done >= v.lanes
            kind = v.type if whole else v.element
            x = t.load(t.at(source, done * v.size), kind, v.size)
            t.store(x, t.at(target, done * v.size), kind, v.size)
            done += v.lanes if whole else 1


def _choose_output(t: IrWriter, output: tuple[int, ...]) -> None:
    """A fresh array in block %made, or the checked one in block %keep; both go on in %run."""
    t.branch(t.let("icmp eq ptr %out, null"), "new", "given", begin="new")
    for axis, length in enumerate(output):
        t.do(f"store i64 {length}, ptr {t.at('%shape', axis, 'i64')}")
    descr = f"@descr_{t.v.dtype}"
    t.do(f"call void @Py_IncRef(ptr {descr})")  # which the next call takes
    t.let(f"call ptr @array_empty(i32 {len(output)}, ptr %shape, ptr {descr}, i32 0)", "%fresh")
    t.branch(t.let("icmp eq ptr %fresh, null"), "full", "made", begin="full")
    t.do("call void @PyErr_Clear()")  # the owner will say it
    t.jump("other", begin="made")
    t.jump("run", begin="given")
    _require(t, _is_vector(t, "%out", output, api.ALIGNED | api.WRITEABLE))
    t.do("call void @Py_IncRef(ptr %out)")
    t.jump("keep", begin="keep")
    t.jump("run", begin="run")


def _give_back(t: IrWriter, size: int) -> None:
    """Give no result that is not of numbers, if numbers are asked for."""
    t.branch("%numbers", "check", "done", begin="check")
    data = t.field("%result", api.DATA)
    t.jump("each")
    t.label("each")
    t.let("phi i64 [0, %check], [%next, %each]", "%k")
    t.let("phi i1 [false, %check], [%strange, %each]", "%before")
    bits, ones = ("i64", 0x7FF0000000000000) if t.v.size == 8 else ("i32", 0x7F800000)
    exponent = t.let(f"and {bits} {t.item(data, '%k', bits)}, {ones}")
    t.let(f"or i1 %before, {t.let(f'icmp eq {bits} {exponent}, {ones}')}", "%strange")
    t.let("add i64 %k, 1", "%next")
    t.branch(t.let(f"icmp ult i64 %next, {size}"), "each", "checked", begin="checked")
    t.branch("%strange", "lost", "done", begin="lost")
    t.do("call void @Py_DecRef(ptr %result)")
    t.jump("other", begin="done")


def _is_vector(t: IrWriter, array: str, shape: tuple[int, ...], flags: int) -> str:
    """Whether an object is an array of this shape, dense and with these flags."""
    # nothing else may be read before it is known to be an array
    _require(t, t.let(f"icmp eq ptr {t.field(array, 8)}, @array_type"))
    _require(t, t.let(f"icmp eq i32 {t.field(array, api.NDIM, 'i32')}, {len(shape)}"))
    descr = t.field(array, api.DESCR)
    sound = t.let(f"icmp eq ptr {descr}, @descr_{t.v.dtype}")
    mask = t.let(f"and i32 {t.field(array, api.FLAGS, 'i32')}, {flags}")
    sound = t.let(f"and i1 {sound}, {t.let(f'icmp eq i32 {mask}, {flags}')}")
    if not shape:
        return sound
    lengths, strides = (t.field(array, at) for at in (api.DIMENSIONS, api.STRIDES))
    step = t.v.size
    for axis in reversed(range(len(shape))):
        for where, expected in ((lengths, shape[axis]), (strides, step)):
            same = t.let(f"icmp eq i64 {t.item(where, axis)}, {expected}")
            sound = t.let(f"and i1 {sound}, {same}")
        step *= shape[axis]
    return sound


def _require(t: IrWriter, condition: str) -> None:
    """Go on in a new block if the condition holds, and to %other if not."""
    name = f"is{t.name()[1:]}"
    t.branch(condition, name, "other", begin=name)
