"""The fast entry: a function that Python calls with a few arrays of one state, without NumPy.

If each array is a plain vector of the right type and length, the loop runs on their memory at once;
anything else goes to the owner of the entry, a `Kernel`, which runs the same loop, or the method of
a robot, which also gets the states whose results are no numbers and says why.
"""

import math

from armdyn.kernels import numpy_api as api
from armdyn.kernels.llvm.vectors import IrWriter, Vectors

DECLARATIONS = """\
@array_type = external global i8
@method_type = external global i8
@name_out = external global i8
@descr_float32 = external global i8
@descr_float64 = external global i8
declare ptr @array_empty(i32, ptr, ptr, i32)
declare ptr @PyObject_Vectorcall(ptr, ptr, i64, ptr)
declare void @Py_IncRef(ptr)
declare void @Py_DecRef(ptr)
"""


def entry_function(
    v: Vectors, inputs: tuple[int, ...], output: tuple[int, ...], divides: bool
) -> list[str]:
    """`@entry(self, args, nargs, kwnames)`, with the output as `out=` or allocated.

    A program that `divides` may give results that are no numbers.
    """
    head = "define ptr @entry(ptr %self, ptr %args, i64 %nargs, ptr %names) nounwind {"
    t, count = IrWriter(v, *DECLARATIONS.splitlines(), head), len(inputs)
    t.label("start")
    for name, size in (("pointers", count + 1), ("steps", 2 * count + 1 + len(output))):
        t.let(f"alloca [{size} x i64], align 8", f"%{name}")
    t.let("alloca i64, align 8", "%one")
    t.let(f"alloca [{max(1, len(output))} x i64], align 8", "%shape")
    t.branch(t.let(f"icmp eq i64 %nargs, {count}"), "look", "other", begin="look")
    _take_inputs(t, inputs)
    step = v.size  # a dense result
    for axis in reversed(range(len(output))):
        _put(t, "%steps", 2 * count + 1 + axis, str(step))
        _put(t, "%shape", axis, str(output[axis]))
        step *= output[axis]
    t.do("store i64 1, ptr %one")
    t.branch(t.let("icmp eq ptr %names, null"), "fresh", "named")
    _choose_output(t, count, output)
    t.label("run")
    t.let("phi ptr [%made, %fresh], [%out, %keep]", "%result")
    _put(t, "%pointers", count, _field(t, "%result", api.DATA, "ptr"), "ptr")
    t.do("call void @loop(ptr %pointers, ptr %one, ptr %steps, ptr null)")
    if divides:
        _give_back(t, math.prod(output))
    t.do("ret ptr %result")
    t.label("other")
    t.let("call ptr @PyObject_Vectorcall(ptr %self, ptr %args, i64 %nargs, ptr %names)", "%far")
    t.do("ret ptr %far")
    return [*t.lines, "}"]


def _take_inputs(t: IrWriter, inputs: tuple[int, ...]) -> None:
    """Check each argument, and note where its numbers are."""
    count = len(inputs)
    for k, size in enumerate(inputs):
        array = t.item("%args", k, "ptr")
        sound = t.let(f"and i1 true, {_is_vector(t, array, (size,), api.ALIGNED)}", f"%in{k}.ok")
        t.branch(sound, f"in{k}", "other", begin=f"in{k}")
        _put(t, "%pointers", k, _field(t, array, api.DATA, "ptr"), "ptr")
        _put(t, "%steps", k, "0")
        _put(t, "%steps", count + 1 + k, str(t.v.size))
    _put(t, "%steps", count, "0")


def _choose_output(t: IrWriter, count: int, output: tuple[int, ...]) -> None:
    """A fresh array in block %fresh, or the checked `out=` in block %keep; both go to %run."""
    t.label("fresh")
    descr = f"@descr_{t.v.dtype}"
    t.do(f"call void @Py_IncRef(ptr {descr})")  # which the next call takes
    t.let(f"call ptr @array_empty(i32 {len(output)}, ptr %shape, ptr {descr}, i32 0)", "%made")
    t.branch(t.let("icmp eq ptr %made, null"), "failed", "run", begin="failed")
    t.do("ret ptr null")
    t.label("named")
    # methods of other objects name their arguments themselves
    _require(t, t.let(f"xor i1 {_is_method(t)}, true"))
    t.branch(
        t.let(f"icmp eq i64 {_field(t, '%names', 16, 'i64')}, 1"),
        "one.name",
        "other",
        begin="one.name",
    )
    name = _field(t, "%names", 24, "ptr")
    t.branch(t.let(f"icmp eq ptr {name}, @name_out"), "given", "other", begin="given")
    t.let(f"load ptr, ptr {t.at('%args', count, 'ptr')}", "%out")
    t.branch(
        _is_vector(t, "%out", output, api.ALIGNED | api.WRITEABLE), "keep", "other", begin="keep"
    )
    t.do("call void @Py_IncRef(ptr %out)")
    t.jump("run")


def _give_back(t: IrWriter, size: int) -> None:
    """Leave states whose results are no numbers to the owner, if that is a method."""
    t.branch(_is_method(t), "check", "done", begin="check")
    data = _field(t, "%result", api.DATA, "ptr")
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
    t.jump("other")
    t.label("done")


def _is_method(t: IrWriter) -> str:
    return t.let(f"icmp eq ptr {_field(t, '%self', 8, 'ptr')}, @method_type")


def _is_vector(t: IrWriter, array: str, shape: tuple[int, ...], flags: int) -> str:
    """Whether an object is an array of this shape, dense and with these flags."""
    # nothing else may be read before it is known to be an array
    _require(t, t.let(f"icmp eq ptr {_field(t, array, 8, 'ptr')}, @array_type"))
    _require(t, t.let(f"icmp eq i32 {_field(t, array, api.NDIM, 'i32')}, {len(shape)}"))
    descr = _field(t, array, api.DESCR, "ptr")
    sound = t.let(f"icmp eq ptr {descr}, @descr_{t.v.dtype}")
    mask = t.let(f"and i32 {_field(t, array, api.FLAGS, 'i32')}, {flags}")
    sound = t.let(f"and i1 {sound}, {t.let(f'icmp eq i32 {mask}, {flags}')}")
    if not shape:
        return sound
    lengths, strides = (_field(t, array, at, "ptr") for at in (api.DIMENSIONS, api.STRIDES))
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


def _field(t: IrWriter, thing: str, offset: int, kind: str) -> str:
    return t.let(f"load {kind}, ptr {t.at(thing, offset)}")


def _put(t: IrWriter, array: str, place: int, value: str, kind: str = "i64") -> None:
    t.do(f"store {kind} {value}, ptr {t.at(array, place, kind)}")
