"""A program as a module of LLVM: the loop that NumPy calls, and what it is made of."""

from dataclasses import dataclass

from armdyn.backends.llvm.entry import entry_function
from armdyn.backends.llvm.lower import lower
from armdyn.backends.llvm.rows import load_function, place_function, store_function
from armdyn.backends.llvm.segments import Plan, Segment, Turn, plan
from armdyn.backends.llvm.target import Target
from armdyn.backends.llvm.trig import turn_functions
from armdyn.backends.llvm.vectors import Text, Vectors
from armdyn.compiler.program import Program

SCRATCH = 10 * 1024
"""Bytes of scratch memory that stay in the first cache beside the rows."""
MOST_VECTORS = 4
"""Vectors of states in a tile; more only push the scratch memory out of the first cache."""
STACK = 64 * 1024
"""Largest scratch memory on the stack; a larger one is allocated."""


NO_MEMORY = """\
declare ptr @malloc(i64)
declare void @free(ptr)
declare i32 @PyGILState_Ensure()
declare void @PyGILState_Release(i32)
declare ptr @PyErr_NoMemory()
define internal void @no_memory() noinline cold nounwind {
  %state = call i32 @PyGILState_Ensure()
  %none = call ptr @PyErr_NoMemory()
  call void @PyGILState_Release(i32 %state)
  ret void
}
"""


@dataclass(frozen=True, slots=True)
class Shape:
    """What the loop is called with."""

    inputs: tuple[int, ...]
    """Length of each input vector."""
    output: tuple[int, ...]

    @property
    def entries(self) -> int:
        """Numbers in the output of one state."""
        count = 1
        for size in self.output:
            count *= size
        return count


def module(
    program: Program,
    target: Target,
    dtype: str = "float64",
    *,
    entry: bool = False,
    tile: int | None = None,
    **cuts: int,
) -> str:
    """The text of the module that computes a program, with `@loop` for NumPy.

    Args:
        program: What to compute.
        target: For which processor.
        dtype: "float64" or "float32".
        entry: Whether to add `@entry`, which Python can call with one state; programs that need
            much scratch memory have none.
        tile: Vectors of states that a segment runs over; None: as many as fit the first cache.
        cuts: Shortest and longest segment.
    """
    vectors = Vectors(target.lanes(dtype), dtype, target.fma)
    pieces = plan(lower(program, target.fma), **cuts)
    if tile is None:
        tile = max(1, min(MOST_VECTORS, SCRATCH // max(1, pieces.slots * vectors.bytes)))
    shape = Shape(tuple(len(a.symbols) for a in program.inputs), program.shape)
    lines = [*vectors.declarations(), "declare i64 @llvm.smin.i64(i64, i64)"]
    for columns in sorted(set(shape.inputs)):
        lines += load_function(vectors, columns, tile)
    lines += place_function(shape.output)
    lines += store_function(vectors, pieces.outputs, tile)
    if any(isinstance(step, Turn) for step in pieces.steps):
        lines += turn_functions(vectors, tile)
    first = len(program.symbols)
    constants = {
        place: vectors.splat(constant.value)
        for place, constant in enumerate(program.constants, start=first)
        if constant.value is not None
    }
    for number, step in enumerate(pieces.steps):
        if isinstance(step, Segment):
            lines += _segment(vectors, number, step, constants, tile)
    lines += _loop(vectors, pieces, shape, tile)
    if entry and pieces.slots * tile * vectors.bytes <= STACK:
        lines += entry_function(vectors, shape.inputs, shape.output)
    return "\n".join(lines) + "\n"


def _segment(
    v: Vectors, number: int, segment: Segment, constants: dict[int, str], tile: int
) -> list[str]:
    """The operations on one vector of states.

    Without a loop around them, so that constants are not kept in registers that they then lack.
    """
    t = Text(v)
    t.lines.append(f"define internal void @segment{number}(ptr %here) noinline nounwind {{")
    names: dict[int, str] = {}

    def place(slot: int) -> str:
        return t.let(f"getelementptr i8, ptr %here, i64 {slot * tile * v.bytes}")

    def load(value: int) -> None:
        if value in constants:
            names[value] = constants[value]
        elif value not in names:
            at = place(segment.loads[value])
            names[value] = t.let(f"load {v.type}, ptr {at}, align {v.bytes}")

    def store(value: int) -> None:
        at = place(segment.stores[value])
        t.do(f"store {v.type} {names[value]}, ptr {at}, align {v.bytes}")

    # a slot that is read here as well is written at the end
    read, made = set(segment.loads.values()), {value for value, _, _ in segment.operations}
    early = {v for v, slot in segment.stores.items() if slot not in read and v in made}
    for value, op, args in segment.operations:
        for a in args:
            load(a)
        names[value] = t.operation(op, [names[a] for a in args])
        if value in early:
            store(value)
    late = [value for value in segment.stores if value not in early]
    for value in late:
        load(value)
    for value in late:
        store(value)
    t.do("ret void")
    return [*t.lines, "}"]


def _loop(v: Vectors, pieces: Plan, shape: Shape, tile: int) -> list[str]:
    """`@loop(args, dims, steps, data)`, as NumPy calls it: all states, tile by tile."""
    t = Text(v)
    t.lines.append("define void @loop(ptr %args, ptr %dims, ptr %steps, ptr %data) nounwind {")
    t.label("entry")
    size = pieces.slots * tile * v.bytes
    t.let("load i64, ptr %dims", "%n")
    t.let("icmp sgt i64 %n, 0", "%some")
    t.do("br i1 %some, label %begin, label %exit")
    t.label("begin")
    count = len(shape.inputs) + 1

    def word(array: str, place: int, kind: str = "i64") -> str:
        pointer = t.let(f"getelementptr {kind}, ptr {array}, i64 {place}")
        return t.let(f"load {kind}, ptr {pointer}")

    bases = [word("%args", k, "ptr") for k in range(count)]
    strides = [word("%steps", k) for k in range(count)]
    cores = [word("%steps", count + k) for k in range(len(shape.inputs))]
    t.let(f"getelementptr i64, ptr %steps, i64 {2 * count - 1}", "%core")
    dense = _dense(t, shape, v.size)
    t.let("sub i64 %n, 1", "%last")
    if size <= STACK:
        t.let(f"alloca [{size} x i8], align 64", "%slots")
        t.do("br label %tile")
        start = "%begin"
    else:
        t.let(f"call ptr @malloc(i64 {size + 64})", "%memory")
        t.let("icmp eq ptr %memory, null", "%none")
        t.do("br i1 %none, label %full, label %aligned")
        t.label("full")
        t.do("call void @no_memory()")
        t.do("ret void")
        t.label("aligned")
        address = t.let("ptrtoint ptr %memory to i64")
        address = t.let(f"and i64 {t.let(f'add i64 {address}, 63')}, -64")
        t.let(f"inttoptr i64 {address} to ptr", "%slots")
        t.do("br label %tile")
        start = "%aligned"
    t.label("tile")
    t.let(f"phi i64 [0, {start}], [%row.next, %{_last(pieces)}]", "%row")
    left = t.let("sub i64 %n, %row")
    blocks = t.let(f"udiv i64 {t.let(f'add i64 {left}, {v.lanes - 1}')}, {v.lanes}")
    blocks = t.let(f"call i64 @llvm.smin.i64(i64 {blocks}, i64 {tile})")

    def slot(number: int) -> str:
        return t.let(f"getelementptr i8, ptr %slots, i64 {number * tile * v.bytes}")

    first = 0
    for base, stride, core, columns in zip(bases, strides, cores, shape.inputs, strict=False):
        t.do(
            f"call void @load{columns}(ptr {base}, i64 {stride}, i64 %row, i64 %last, "
            f"i64 {blocks}, i64 {core}, ptr {slot(first)})"
        )
        first += columns
    before = "tile"
    for number, step in enumerate(pieces.steps):
        if isinstance(step, Segment):
            before = _each_block(t, number, blocks, before)
            continue
        places = ", ".join(f"ptr {slot(k)}" for k in (step.angles, step.sines, step.cosines))
        t.do(f"call void @turn({places}, i64 {step.count}, i64 {blocks})")
    t.do(
        f"call void @store(ptr {bases[-1]}, i64 {strides[-1]}, i64 %row, i64 %last, i64 {blocks}, "
        f"i1 {dense}, ptr %core, ptr %slots)"
    )
    t.let(f"add i64 %row, {tile * v.lanes}", "%row.next")
    t.let("icmp slt i64 %row.next, %n", "%more")
    t.do("br i1 %more, label %tile, label %end")
    t.label("end")
    if size > STACK:
        t.do("call void @free(ptr %memory)")
    t.do("br label %exit")
    t.label("exit")
    t.do("ret void")
    return [*t.lines, "}", *(NO_MEMORY.splitlines() if size > STACK else [])]


def _last(pieces: Plan) -> str:
    """The label under which a tile ends."""
    segments = [k for k, step in enumerate(pieces.steps) if isinstance(step, Segment)]
    return f"after{segments[-1]}" if segments else "tile"


def _each_block(t: Text, number: int, blocks: str, before: str) -> str:
    """A segment on every vector of the tile; returns the label after it."""
    b, here = f"%b{number}", f"%here{number}"
    t.do(f"br label %each{number}")
    t.label(f"each{number}")
    t.let(f"phi i64 [0, %{before}], [{b}.next, %each{number}]", b)
    t.let(f"getelementptr {t.v.type}, ptr %slots, i64 {b}", here)
    t.do(f"call void @segment{number}(ptr {here})")
    t.let(f"add i64 {b}, 1", f"{b}.next")
    more = t.let(f"icmp slt i64 {b}.next, {blocks}")
    t.do(f"br i1 {more}, label %each{number}, label %after{number}")
    t.label(f"after{number}")
    return f"after{number}"


def _dense(t: Text, shape: Shape, size: int) -> str:
    """Whether the entries of the output follow each other in C order."""
    dense, expected = "true", size
    for axis in reversed(range(len(shape.output))):
        place = t.let(f"getelementptr i64, ptr %core, i64 {axis}")
        same = t.let(f"icmp eq i64 {t.let(f'load i64, ptr {place}')}, {expected}")
        dense = t.let(f"and i1 {dense}, {same}")
        expected *= shape.output[axis]
    return dense
