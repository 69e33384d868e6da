"""The loop that NumPy calls: all states, vector by vector, through the segments of a program.

Segments are called with the slots of this vector and of the next one in the scratch memory, and
with the rows of both (`ahead`). Where the next vector is not whole, or columns do not follow each
other, they do the same with zeros, and that vector begins anew: no row beyond the end of an array
is ever read. Results go to their rows; where these are too few for all lanes, or their
columns do not follow each other, to a memory beside first.
"""

from functools import reduce
from itertools import accumulate
from math import prod
from operator import mul

from armdyn.kernels.llvm.segments import Plan, Segment
from armdyn.kernels.llvm.vectors import LINE, IrWriter, Vectors

PAGE = 4096
"""Bytes from whose multiple the scratch memory begins: loads that lie as far behind a multiple as
stores do which are under way wait for them, and where the stack lies is chance. So the slots of two
vectors are half of that apart, beyond whole multiples."""
STACK = 64 * 1024
"""Largest scratch memory on the stack; a larger one is allocated."""
GATHERED = 8 * 1024
"""Bytes of results that are gathered before they go to their rows."""
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


def begin_function(v: Vectors, pieces: Plan) -> list[str]:
    """`@begin`: the steps that need nothing but inputs, for a vector."""
    more = [f"ptr %in{k}" for k in range(len(v.blocks))]
    given = ", ".join(["ptr %slots", *more])
    t = IrWriter(v, f"define internal void @begin({given}) noinline nounwind {{")
    _write_steps(t, pieces, range(pieces.ahead), "%slots", ", ".join(["", *more]))
    return t.ended()


def _write_steps(t: IrWriter, pieces: Plan, numbers: range, here: str, given: str) -> str:
    """Steps on a vector; returns whether an angle of the next one is far from zero.

    `given` is what segments get besides the place of its slots.
    """
    far = "false"
    for number in numbers:
        step = pieces.steps[number]
        if isinstance(step, Segment):
            some = t.let(f"call i1 @segment{number}(ptr {here}{given})")
            far = t.let(f"or i1 {far}, {some}")
        else:
            slots = (t.at(here, k * t.v.bytes) for k in (step.angles, step.sines, step.cosines))
            t.do(f"call void @sin_cos({_pointers(*slots)}, i64 {step.count})")
    return far


def _pointers(*places: str) -> str:
    """Places as arguments."""
    return ", ".join(f"ptr {place}" for place in places)


class Loop:
    """The writer of `@loop(args, dims, steps, data)`, as NumPy calls it.

    `inputs` are the lengths of the input vectors, `output` is the shape of a result. Vectors are
    taken one after the other, each with what is done for the next. Of blocks, each is a state here.
    """

    def __init__(self, v: Vectors, pieces: Plan, inputs: tuple[int, ...], output: tuple[int, ...]):
        self.v = v
        self.lanes = 1 if v.blocks else v.lanes
        self.pieces = pieces
        self.inputs = inputs
        self.output = output
        self.row_bytes = prod(output) * v.size
        zeros = max(inputs) * v.lanes // self.lanes
        self.t = IrWriter(
            v,
            f"@zeros = private constant [{zeros} x {v.element}] zeroinitializer",
            "define void @loop(ptr %args, ptr %dims, ptr %steps, ptr %data) nounwind {",
        )
        size = pieces.slots * v.bytes
        self.distance = -(-(size - PAGE // 2) // PAGE) * PAGE + PAGE // 2
        vector_bytes = v.lanes * self.row_bytes
        self.most = max(1, GATHERED // vector_bytes)
        self.gathered = -(-(self.distance + size) // LINE) * LINE
        self.size = self.gathered + (0 if v.blocks else self.most * vector_bytes + 2 * LINE)

    def lines(self) -> list[str]:
        """The function, and what it calls if there is no memory."""
        t = self.t
        arrays = len(self.inputs) + 1
        t.label("entry")
        t.let("load i64, ptr %dims", "%n")
        t.let("icmp sgt i64 %n, 0", "%some")
        t.branch("%some", "begin", "exit", begin="begin")
        self.bases = [t.item("%args", k, "ptr") for k in range(arrays)]
        self.strides = [t.item("%steps", k) for k in range(arrays)]
        self._look_at_columns(arrays)
        t.let("sub i64 %n, 1", "%last")
        start = self._scratch()
        t.label("vectors")
        t.let(f"phi i64 [0, %{start}], [%row.next, %vectors.end]", "%row")
        t.let(f"phi i1 [false, %{start}], [%ready, %vectors.end]", "%there")
        t.let(f"phi ptr [%slots, %{start}], [%here.next, %vectors.end]", "%here")
        t.let(f"phi ptr [%others, %{start}], [%here.now, %vectors.end]", "%next")
        t.let("sub i64 %n, %row", "%left")
        self._count()
        rows = t.let(f"mul i64 %blocks, {self.lanes}")
        t.let(f"add i64 %row, {rows}", "%row.next")
        t.let(f"and i1 %dense, {t.let(f'icmp sge i64 %left, {rows}')}", "%straight")
        self._load()
        self._choose_rows()
        self._vectors()
        if not self.v.blocks:
            self._write()
        t.jump("vectors.end", begin="vectors.end")
        t.branch(t.let("icmp slt i64 %row.next, %n"), "vectors", "end", begin="end")
        if self.size > STACK:
            t.do("call void @free(ptr %memory)")
        t.jump("exit", begin="exit")
        return [*t.ended(), *(NO_MEMORY.splitlines() if self.size > STACK else [])]

    def _look_at_columns(self, arrays: int) -> None:
        """Whether those of inputs, and of results, follow each other; in blocks they do."""
        t = self.t
        inputs: list[tuple[str, int]] = []
        outputs: list[tuple[str, int]] = []
        if not self.v.blocks:
            self.cores = [t.item("%steps", arrays + k) for k in range(arrays - 1)]
            t.let(f"getelementptr i64, ptr %steps, i64 {2 * arrays - 1}", "%core")
            inputs = [(core, self.v.size) for core in self.cores]
            sizes = accumulate(reversed(self.output), mul, initial=self.v.size)
            axes = reversed(range(len(self.output)))  # of results in C order
            outputs = [(t.item("%core", k), s) for k, s in zip(axes, sizes, strict=False)]
        for name, pairs in (("%close", inputs), ("%dense", outputs)):
            same = (t.let(f"icmp eq i64 {distance}, {size}") for distance, size in pairs)
            every = reduce(lambda a, b: t.let(f"and i1 {a}, {b}"), same, "true")
            t.let(f"and i1 {every}, true", name)

    def _count(self) -> None:
        """How many vectors are taken, and whether each has a whole successor, to be begun."""
        t = self.t
        whole = t.let(f"udiv i64 %left, {self.lanes}")
        t.let(f"and i1 %close, {t.let(f'icmp sge i64 {whole}, 2')}", "%ready")
        most = t.let(f"select i1 %dense, i64 %n, i64 {self.most}")
        others = t.let(f"sub i64 {whole}, 1")
        others = t.let(f"call i64 @llvm.smin.i64(i64 {others}, i64 {most})")
        t.let(f"select i1 %ready, i64 {others}, i64 1", "%blocks")

    def _scratch(self) -> str:
        """The slots of two vectors, on the stack if they are few; returns the label after it."""
        t = self.t
        start = "begin"
        if self.size <= STACK:
            t.let(f"alloca [{self.size} x i8], align {PAGE}", "%slots")
        else:
            start = "aligned"
            t.let(f"call ptr @malloc(i64 {self.size + PAGE})", "%memory")
            t.let("icmp eq ptr %memory, null", "%none")
            t.branch("%none", "full", start, begin="full")
            t.do("call void @no_memory()")
            t.do("ret void")
            t.label(start)
            address = t.let(f"add i64 {t.let('ptrtoint ptr %memory to i64')}, {PAGE - 1}")
            t.let(f"inttoptr i64 {t.let(f'and i64 {address}, -{PAGE}')} to ptr", "%slots")
        t.let(f"getelementptr i8, ptr %slots, i64 {self.distance}", "%others")
        t.let(f"getelementptr i8, ptr %slots, i64 {self.gathered}", "%gathered")
        t.jump("vectors")
        return start

    def _load(self) -> None:
        """Rows, sums, sines and cosines of a vector, unless the one before it has done that."""
        t = self.t
        firsts = zip(self.bases, self.strides[:-1], strict=False) if self.v.blocks else ()
        self.inside = [t.at(base, t.let(f"mul i64 %row, {stride}")) for base, stride in firsts]
        t.branch("%there", "loaded", "load", begin="load")
        for k, columns in enumerate(() if self.v.blocks else self.inputs):
            slot = t.at("%here", sum(self.inputs[:k]) * self.v.bytes)
            t.do(
                f"call void @load{columns}(ptr {self.bases[k]}, i64 {self.strides[k]}, i64 %row, "
                f"i64 %last, i64 {self.cores[k]}, ptr {slot})"
            )
        t.do(f"call void @begin({_pointers('%here', *self.inside)})")
        t.jump("loaded", begin="loaded")

    def _choose_rows(self) -> None:
        """Where the rows of the next vector begin, and where those of the results of this go."""
        t = self.t
        out = self.strides[-1]
        ahead = t.let(f"add i64 %row, {self.lanes}")
        t.let(
            f"getelementptr i8, ptr {self.bases[-1]}, i64 {t.let(f'mul i64 %row, {out}')}", "%rows"
        )
        self.places = [
            (
                t.let("select i1 %straight, ptr %rows, ptr %gathered"),
                t.let(f"select i1 %straight, i64 {out}, i64 {self.row_bytes}"),
            )
        ]
        for base, stride in zip(self.bases[:-1], self.strides[:-1], strict=True):
            place = t.at(base, t.let(f"mul i64 {stride}, {ahead}"))
            place = t.let(f"select i1 %ready, ptr {place}, ptr @zeros")
            self.places.append((place, t.let(f"select i1 %ready, i64 {stride}, i64 0")))

    def _vectors(self) -> None:
        """One vector after the other, its slots and those of its successor in turn."""
        t = self.t
        steps = [t.let(f"mul i64 {stride}, {self.lanes}") for _, stride in self.places]
        t.jump("vector", begin="vector")
        t.let("phi i64 [0, %loaded], [%i.next, %vector.end]", "%i")
        t.let("phi ptr [%here, %loaded], [%here.next, %vector.end]", "%here.now")
        t.let("phi ptr [%next, %loaded], [%here.now, %vector.end]", "%here.next")
        for k, (place, _) in enumerate(self.places):
            t.let(f"phi ptr [{place}, %loaded], [%rows{k}.next, %vector.end]", f"%rows{k}")
        for k, place in enumerate(self.inside):
            t.let(f"phi ptr [{place}, %loaded], [%rows{k + 1}, %vector.end]", f"%in{k}")
        inside = [f"%in{k}" for k in range(len(self.inside))]
        rows = "".join(f", ptr %rows{k}, i64 {s}" for k, (_, s) in enumerate(self.places))
        numbers = range(self.pieces.ahead, len(self.pieces.steps))
        given = f", {_pointers(*inside, '%here.next')}{rows}"
        far = _write_steps(t, self.pieces, numbers, "%here.now", given)
        t.branch(t.let(f"and i1 {far}, %ready"), "far", "vector.end", begin="far")
        ahead = (f"%rows{k}" for k in range(1, len(self.inside) + 1))
        t.do(f"call void @begin({_pointers('%here.next', *ahead)})")
        t.jump("vector.end", begin="vector.end")
        for k, step in enumerate(steps):
            t.let(f"getelementptr i8, ptr %rows{k}, i64 {step}", f"%rows{k}.next")
        t.let("add i64 %i, 1", "%i.next")
        t.branch(t.let("icmp slt i64 %i.next, %blocks"), "vector", "computed", begin="computed")

    def _write(self) -> None:
        """Results that lie beside to their rows."""
        t = self.t
        out = self.strides[-1]
        t.branch("%straight", "vectors.end", "beside", begin="beside")
        count = t.let("sub i64 %row.next, %row")
        count = t.let(f"call i64 @llvm.smin.i64(i64 %left, i64 {count})")
        given = f"ptr %gathered, ptr %rows, i64 {out}, i64 {count}, ptr %core"
        t.do(f"call void @scatter({given})")
