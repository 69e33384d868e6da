"""A program as a module of LLVM: the loop that NumPy calls, and what it is made of."""

import math
from functools import reduce

from armdyn.graph.operations import FAR_ANGLE
from armdyn.graph.program import Program
from armdyn.kernels import numpy_api as api
from armdyn.kernels.llvm.cache_lines import (
    DECLARATION,
    GATHERED_BYTES,
    LINE,
    Line,
    fetch,
    shares,
    stream_functions,
)
from armdyn.kernels.llvm.loop import STACK, Loop
from armdyn.kernels.llvm.rollout_loop import RolloutLoop, StateRows
from armdyn.kernels.llvm.rows import (
    Group,
    groups_ahead,
    load_function,
    place_function,
    store_function,
    transpose,
)
from armdyn.kernels.llvm.segments import LENGTHS, Plan, Segment, SineCosine, best_plan
from armdyn.kernels.llvm.sweep_loop import SweepLoop
from armdyn.kernels.llvm.target import Target
from armdyn.kernels.llvm.trig import angle_sum_functions, sine_cosine_functions
from armdyn.kernels.llvm.vectors import IrWriter, Vectors

SCRATCH = 24 * 1024
"""Bytes of scratch memory that stay in the first cache beside the rows."""
LONGEST_WAIT = 20
"""Operations after which a value that lies in memory is loaded again, not kept in a register."""
LEAST_VECTORS_AHEAD = 2
"""Vectors in a tile from which on the rows of the next tile are transposed in this one."""
MOST_VECTORS = 4
"""Vectors of states in a tile; more only push the scratch memory out of the first cache."""


def module(
    program: Program,
    target: Target,
    dtype: str = "float64",
    *,
    entry: bool = False,
    ahead: bool = True,
    rows: StateRows | None = None,
    sweep: bool = False,
    tile: int | None = None,
    lengths: tuple[int, int] = LENGTHS,
) -> str:
    """The text of the module that computes a program, with `@loop` for NumPy.

    Args:
        program: What to compute.
        target: For which processor.
        dtype: "float64" or "float32".
        entry: Whether to add `@entry`, which Python can call with one state, unless the program
            needs much scratch memory.
        ahead: Whether segments transpose the rows of the next tile, which pays for batches.
        rows: What is in the rows of a step of an integrator, for `@rollout_loop`.
        sweep: Whether to write `@sweep_loop`, which makes and reduces states, and no `@loop`.
        tile: Vectors of states that a segment runs over; None: as many as fit the first cache.
        lengths: Fewest and most operations in a segment.
    """
    vectors = Vectors(target.lanes(dtype), dtype, target.fma)
    most = SCRATCH // (LEAST_VECTORS_AHEAD * vectors.bytes) if ahead or sweep else 0
    pieces = best_plan(program, target, lengths, most)
    if tile is None:
        tile = max(1, min(MOST_VECTORS, SCRATCH // max(1, pieces.slots * vectors.bytes)))
    inputs, output = tuple(len(a.symbols) for a in program.inputs), program.shape
    gathered = tile * vectors.bytes * math.prod(output)
    streams = target.triple.startswith("x86_64") and LINE <= gathered <= GATHERED_BYTES
    streams = streams and rows is None
    lines = [*vectors.declarations(), "declare i64 @llvm.smin.i64(i64, i64)", DECLARATION]
    for columns in sorted(set(inputs)):
        lines += load_function(vectors, columns, pieces.slots)
    if sweep:
        lines += _segments(vectors, pieces, program, tile, {}, fetches=False)
        lines += _angle_sums(vectors, program)
        return "\n".join([*lines, *SweepLoop(vectors, pieces, inputs, output, tile).lines()]) + "\n"
    lines += place_function(output)
    lines += store_function(vectors, pieces.outputs, pieces.slots)
    groups = groups_ahead(vectors, pieces, inputs)
    lines += _segments(vectors, pieces, program, tile, groups)
    lines += _angle_sums(vectors, program)
    lines += stream_functions(vectors) if streams else []
    early = {group.array for some in groups.values() for group in some}
    lines += Loop(vectors, pieces, inputs, output, tile, early, streams).lines()
    lines += RolloutLoop(vectors, rows, len(inputs) + 1).lines() if rows else []
    if entry and pieces.slots * tile * vectors.bytes <= STACK:
        divides = any(i.op in ("div", "sqrt", "guard") for i in program.instructions)
        lines += entry_function(vectors, inputs, output, divides)
    return "\n".join(lines) + "\n"


def _angle_sums(vectors: Vectors, program: Program) -> list[str]:
    """The functions that add angles, if they are needed."""
    needed = any(instruction.op == "angle_sum" for instruction in program.instructions)
    return angle_sum_functions(vectors) if needed else []


def _segments(
    vectors: Vectors,
    pieces: Plan,
    program: Program,
    tile: int,
    ahead: dict[int, list[Group]],
    fetches: bool = True,
) -> list[str]:
    """The functions that compute, between which the rows of the next tile are transposed."""
    lines = []
    if any(isinstance(step, SineCosine) for step in pieces.steps):
        lines += sine_cosine_functions(vectors, pieces.slots)
    constants = {
        place: vectors.splat(constant.value)
        for place, constant in enumerate(program.constants, start=len(program.symbols))
        if constant.value is not None
    }
    sizes = [len(s.operations) if isinstance(s, Segment) else 0 for s in pieces.steps]
    inputs = tuple(len(array.symbols) for array in program.inputs)
    fetched = shares(vectors, inputs, program.shape, sizes, tile if ahead else 0)
    given = [f"ptr %ahead{k}, i64 %stride{k}" for k in range(len(inputs) + 1)]
    for number, step in enumerate(pieces.steps):
        if isinstance(step, Segment):
            head = f"define internal void @segment{number}(ptr %here, {', '.join(given)})"
            t = IrWriter(vectors, f"{head} noinline nounwind {{")
            lines_ahead = fetched[number] if fetches else []
            segment = _segment_of_sums if step.adds_angles else _segment
            lines += segment(t, step, constants, lines_ahead, ahead.get(number, []))
    return lines


def _segment(
    t: IrWriter,
    segment: Segment,
    constants: dict[int, str],
    fetched: list[Line],
    ahead: list[Group],
) -> list[str]:
    """The function of a segment, which also transposes and fetches rows.

    Values are loaded where they are first used and stored as soon as they are made. There is no
    loop in the function, so that constants are not kept in registers which values then lack.
    """
    v, operations, names = t.v, segment.operations, dict(constants)
    used: dict[int, int] = {}
    """Which operation used a value from memory last."""

    def name(value: int, place: int) -> str:
        """The name of a value for an operation, which is loaded if need be."""
        if value in segment.loads and place - used.get(value, -math.inf) > LONGEST_WAIT:
            at = t.at("%here", segment.loads[value] * v.bytes)
            names[value] = t.let(f"load {v.type}, ptr {at}, align {v.bytes}")
        used[value] = place
        return names[value]

    def store(value: int) -> None:
        at = t.at("%here", segment.stores[value] * v.bytes)
        t.do(f"store {v.type} {names[value]}, ptr {at}, align {v.bytes}")

    # values whose slot is read here, or that are made elsewhere, are stored at the end
    read, made = set(segment.loads.values()), {value for value, _, _ in operations}
    early = {k for k, slot in segment.stores.items() if slot not in read and k in made}
    for place, (value, op, args) in enumerate(operations):
        names[value] = t.operation(op, [name(a, place) for a in args])
        if value in early:
            store(value)
        _rows(t, fetched, ahead, place, len(operations))
    late = [value for value in segment.stores if value not in early]
    for value in late:
        name(value, len(operations))
    for value in late:
        store(value)
    t.do("ret void")
    return [*t.lines, "}"]


def _segment_of_sums(
    t: IrWriter,
    segment: Segment,
    constants: dict[int, str],
    fetched: list[Line],
    ahead: list[Group],
) -> list[str]:
    """The function of a segment that adds angles: where a sum is far from zero, all once more."""
    v, operations = t.v, segment.operations
    t.jump("near", begin="near")
    known = dict(constants)
    for value, slot in segment.loads.items():
        at = t.at("%here", slot * v.bytes)
        known[value] = t.let(f"load {v.type}, ptr {at}, align {v.bytes}")
    near, far = dict(known), dict(known)
    outside = []
    for value, op, args in operations:
        near[value] = t.operation("add" if op == "angle_sum" else op, [near[a] for a in args])
        outside += [t.beyond(near[value], FAR_ANGLE)] if op == "angle_sum" else []
    mask = reduce(lambda a, b: t.let(f"or <{v.lanes} x i1> {a}, {b}"), outside)
    t.branch(t.any(mask), "far", "end", begin="far")
    for value, op, args in operations:
        far[value] = t.operation(op, [far[a] for a in args])
    t.jump("end", begin="end")
    both = {k: (near[k], far[k]) for k in segment.stores}
    names = {
        k: n if n == f else t.let(f"phi {v.type} [{n}, %near], [{f}, %far]")
        for k, (n, f) in both.items()
    }
    for place in range(len(operations)):
        _rows(t, fetched, ahead, place, len(operations))
    for value, slot in segment.stores.items():
        t.do(f"store {v.type} {names[value]}, ptr {t.at('%here', slot * v.bytes)}, align {v.bytes}")
    t.do("ret void")
    return [*t.lines, "}"]


def _rows(t: IrWriter, fetched: list[Line], ahead: list[Group], place: int, count: int) -> None:
    """What is done for other rows after one of so many operations."""
    for group in (group for group in ahead if group.place == place):
        transpose(t, group)
    for line in fetched[len(fetched) * place // count : len(fetched) * (place + 1) // count]:
        fetch(t, line)


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
    """`@entry(self, args, nargs, kwnames)`: Python calls it with a few arrays of one state.

    If each array is a plain vector of the right type and length, the loop runs on their memory at
    once, the output given as `out=` or allocated; anything else goes to the owner of the entry, a
    `Kernel`, which runs the same loop, or the method of a robot, which also gets the states whose
    results are no numbers and says why. A program that `divides` may give such.
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
