"""The loop that NumPy calls: all states, tile by tile, through the segments of a program.

Segments are called with the places of their vector in the scratch memory, of this tile and of the
next one, and with the rows of both (`ahead`). Where the next tile is not whole, or columns do not
follow each other, they do the same with zeros, and the next tile begins anew: no row beyond the end
of an array is ever read. Results go to their rows; where these are too few for all lanes, or their
columns do not follow each other, to a memory beside first.
"""

from collections.abc import Callable, Iterable
from itertools import accumulate
from math import prod
from operator import mul

from armdyn.kernels.llvm.segments import Plan, Segment
from armdyn.kernels.llvm.vectors import LINE, IrWriter, Vectors

PAGE = 4096
"""Bytes from whose multiple the scratch memory begins: loads that lie as far behind a multiple as
stores do which are under way wait for them, and where the stack lies is chance. So the slots of two
tiles are half of that apart, beyond whole multiples."""
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
    """`@begin`: the steps that need nothing but inputs, for %blocks vectors of a tile.

    Besides it is given the first block of arrays that lie so, and how far the next one is.
    """
    arrays = len(v.blocks)
    more = "".join(f", ptr %in{k}, i64 %stride{k}" for k in range(arrays))
    head = f"define internal void @begin(ptr %slots, i64 %blocks{more}) noinline nounwind {{"
    t = IrWriter(v, head)

    def given(block: str) -> str:
        far = [t.let(f"mul i64 {block}, %stride{k}") for k in range(arrays)]
        return "".join(f", ptr {t.at(f'%in{k}', by)}" for k, by in enumerate(far))

    t.label("entry")
    write_steps(t, pieces, range(pieces.ahead), "entry", "%slots", given)
    return t.ended()


def write_steps(
    t: IrWriter,
    pieces: Plan,
    numbers: range,
    label: str,
    here: str,
    given: Callable[[str], str],
) -> str:
    """Steps on %blocks vectors of a tile; returns whether one of the next tile is far from zero.

    `given` writes what segments get besides the place of a vector, by its number. The code comes
    from the block `label`, and goes on in the last one that it begins.
    """
    v = t.v
    far = "false"
    for number in numbers:
        step = pieces.steps[number]
        if not isinstance(step, Segment):
            slots = (t.at(here, k * v.bytes) for k in (step.angles, step.sines, step.cosines))
            places = ", ".join(f"ptr {place}" for place in slots)
            t.do(f"call void @sin_cos({places}, i64 {step.count}, i64 %blocks)")
            continue
        b = f"%b{number}"
        each = f"each{number}"
        after = f"after{number}"
        t.jump(each, begin=each)
        t.let(f"phi i64 [0, %{label}], [{b}.next, %{each}]", b)
        before = t.let(f"phi i1 [{far}, %{label}], [%far{number}, %{each}]")
        place = t.at(here, t.let(f"mul i64 {b}, {pieces.slots * v.bytes}"))
        some = t.let(f"call i1 @segment{number}(ptr {place}{given(b)})")
        far = t.let(f"or i1 {before}, {some}", f"%far{number}")
        t.let(f"add i64 {b}, 1", f"{b}.next")
        t.branch(t.let(f"icmp slt i64 {b}.next, %blocks"), each, after, begin=after)
        label = after
    return far


def _given(places: Iterable[tuple[str, str]]) -> str:
    """Places and distances as arguments."""
    return "".join(f", ptr {place}, i64 {stride}" for place, stride in places)


class Loop:
    """The writer of `@loop(args, dims, steps, data)`, as NumPy calls it.

    `inputs` are the lengths of the input vectors, `output` is the shape of a result. A program that
    is one segment, but for its first steps, takes as many vectors as there are one after the other,
    each with what is done for the next; a longer one takes tiles. Of blocks, each is a state here.
    """

    def __init__(
        self,
        v: Vectors,
        pieces: Plan,
        inputs: tuple[int, ...],
        output: tuple[int, ...],
        tile: int,
    ):
        self.v = v
        self.lanes = 1 if v.blocks else v.lanes
        self.pieces = pieces
        self.tile = tile
        self.inputs = inputs
        self.output = output
        self.row_bytes = prod(output) * v.size
        zeros = max(inputs) * v.lanes // self.lanes
        self.t = IrWriter(
            v,
            f"@zeros = private constant [{zeros} x {v.element}] zeroinitializer",
            "define void @loop(ptr %args, ptr %dims, ptr %steps, ptr %data) nounwind {",
        )
        self.single = pieces.single
        size = pieces.slots * tile * v.bytes
        self.distance = -(-(size - PAGE // 2) // PAGE) * PAGE + PAGE // 2
        vector_bytes = v.lanes * self.row_bytes
        self.most = max(1, GATHERED // vector_bytes) if self.single else tile
        slots = -(-(self.distance + size) // LINE) * LINE
        self.gathered = slots
        self.size = slots + (0 if v.blocks else self.most * vector_bytes + 2 * LINE)

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
        t.label("tile")
        t.let(f"phi i64 [0, %{start}], [%row.next, %tile.end]", "%row")
        t.let(f"phi i1 [false, %{start}], [%ready, %tile.end]", "%there")
        t.let(f"phi ptr [%slots, %{start}], [%here.next, %tile.end]", "%here")
        t.let(f"phi ptr [%others, %{start}], [%next.next, %tile.end]", "%next")
        t.let("sub i64 %n, %row", "%left")
        self._count()
        rows = t.let(f"mul i64 %blocks, {self.lanes}")
        t.let(f"add i64 %row, {rows}", "%row.next")
        t.let(f"and i1 %dense, {t.let(f'icmp sge i64 %left, {rows}')}", "%straight")
        self._load()
        self._choose_rows()
        if self.single:
            self._vectors()
        else:
            self._steps()
        if not self.v.blocks:
            self._write()
        t.jump("tile.end", begin="tile.end")
        t.branch(t.let("icmp slt i64 %row.next, %n"), "tile", "end", begin="end")
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
        self._equal("%close", inputs)
        self._equal("%dense", outputs)

    def _count(self) -> None:
        """The vectors of this tile, and whether their successors are whole: these can be begun."""
        t = self.t
        lanes = self.lanes
        if self.single:
            whole = t.let(f"udiv i64 %left, {lanes}")
            t.let(f"and i1 %close, {t.let(f'icmp sge i64 {whole}, 2')}", "%ready")
            most = t.let(f"select i1 %dense, i64 %n, i64 {self.most}")
            others = t.let(f"sub i64 {whole}, 1")
            others = t.let(f"call i64 @llvm.smin.i64(i64 {others}, i64 {most})")
            t.let(f"select i1 %ready, i64 {others}, i64 1", "%blocks")
            return
        whole = t.let(f"icmp sge i64 %left, {2 * self.tile * lanes}")
        t.let(f"and i1 {whole}, %close", "%ready")
        blocks = t.let(f"udiv i64 {t.let(f'add i64 %left, {lanes - 1}')}, {lanes}")
        t.let(f"call i64 @llvm.smin.i64(i64 {blocks}, i64 {self.tile})", "%blocks")

    def _equal(self, name: str, pairs: list[tuple[str, int]]) -> None:
        """Whether all distances are those of numbers that follow each other."""
        t = self.t
        all_are = "true"
        for distance, size in pairs:
            all_are = t.let(f"and i1 {all_are}, {t.let(f'icmp eq i64 {distance}, {size}')}")
        t.let(f"and i1 {all_are}, true", name)

    def _scratch(self) -> str:
        """The slots of two tiles, on the stack if they are few; returns the label after it."""
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
        t.jump("tile")
        return start

    def _load(self) -> None:
        """Rows, sums, sines and cosines of this tile, unless the last one has done that."""
        t = self.t
        blocks = "1" if self.single else "%blocks"
        firsts = zip(self.bases, self.strides[:-1], strict=False) if self.v.blocks else ()
        self.inside = [(t.at(base, t.let(f"mul i64 %row, {by}")), by) for base, by in firsts]
        t.branch("%there", "loaded", "load", begin="load")
        for k, columns in enumerate(() if self.v.blocks else self.inputs):
            slot = t.at("%here", sum(self.inputs[:k]) * self.v.bytes)
            t.do(
                f"call void @load{columns}(ptr {self.bases[k]}, i64 {self.strides[k]}, i64 %row, "
                f"i64 %last, i64 {blocks}, i64 {self.cores[k]}, ptr {slot})"
            )
        t.do(f"call void @begin(ptr %here, i64 {blocks}{_given(self.inside)})")
        t.jump("loaded", begin="loaded")

    def _choose_rows(self) -> None:
        """Where the rows of the next tile begin, and where those of the results of this one go."""
        t = self.t
        out = self.strides[-1]
        ahead = t.let(f"add i64 %row, {self.tile * self.lanes}")
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
        self.ahead = self.places[1:] if self.v.blocks else []

    def _vectors(self) -> None:
        """One vector after the other, its slots and those of its successor in turn."""
        t, (number,) = self.t, range(self.pieces.ahead, len(self.pieces.steps))
        steps = [t.let(f"mul i64 {stride}, {self.lanes}") for _, stride in self.places]
        t.jump("vector", begin="vector")
        t.let("phi i64 [0, %loaded], [%i.next, %vector.end]", "%i")
        t.let("phi ptr [%here, %loaded], [%here.next, %vector.end]", "%here.now")
        t.let("phi ptr [%next, %loaded], [%here.now, %vector.end]", "%here.next")
        for k, (place, _) in enumerate(self.places):
            t.let(f"phi ptr [{place}, %loaded], [%rows{k}.next, %vector.end]", f"%rows{k}")
        for k, (place, _) in enumerate(self.inside):
            t.let(f"phi ptr [{place}, %loaded], [%rows{k + 1}, %vector.end]", f"%in{k}")
        inside = "".join(f", ptr %in{k}" for k in range(len(self.inside)))
        rows = _given([(f"%rows{k}", s) for k, (_, s) in enumerate(self.places)])
        far = t.let(f"call i1 @segment{number}(ptr %here.now{inside}, ptr %here.next{rows})")
        t.branch(t.let(f"and i1 {far}, %ready"), "far", "vector.end", begin="far")
        ahead = _given([(f"%rows{k}", s) for k, (_, s) in enumerate(self.ahead, start=1)])
        t.do(f"call void @begin(ptr %here.next, i64 1{ahead})")
        t.jump("vector.end", begin="vector.end")
        for k, step in enumerate(steps):
            t.let(f"getelementptr i8, ptr %rows{k}, i64 {step}", f"%rows{k}.next")
        t.let("add i64 %i, 1", "%i.next")
        t.branch(t.let("icmp slt i64 %i.next, %blocks"), "vector", "computed", begin="computed")
        t.let("getelementptr i8, ptr %here.now, i64 0", "%next.next")

    def _steps(self) -> None:
        """The steps of a long program, each on all vectors of the tile."""
        t = self.t
        numbers = range(self.pieces.ahead, len(self.pieces.steps))
        far = write_steps(t, self.pieces, numbers, "loaded", "%here", self._given)
        t.branch(t.let(f"and i1 {far}, %ready"), "far", "computed", begin="far")
        t.do(f"call void @begin(ptr %next, i64 %blocks{_given(self.ahead)})")
        t.jump("computed", begin="computed")
        for name, other in (("here", "next"), ("next", "here")):
            t.let(f"getelementptr i8, ptr %{other}, i64 0", f"%{name}.next")

    def _given(self, block: str) -> str:
        """The next tile's slots of a vector, the rows of its results, and the next tile's rows.

        Before them the blocks that it is computed from, if its inputs lie in such.
        """
        t = self.t
        firsts = [t.at(p, t.let(f"mul i64 {block}, {stride}")) for p, stride in self.inside]
        slots = t.at("%next", t.let(f"mul i64 {block}, {self.pieces.slots * self.v.bytes}"))
        row = t.let(f"mul i64 {block}, {self.lanes}")
        rows = [(t.at(p, t.let(f"mul i64 {row}, {stride}")), stride) for p, stride in self.places]
        return "".join(f", ptr {place}" for place in (*firsts, slots)) + _given(rows)

    def _write(self) -> None:
        """Results that lie beside to their rows."""
        t = self.t
        out = self.strides[-1]
        t.branch("%straight", "tile.end", "beside", begin="beside")
        count = t.let("sub i64 %row.next, %row")
        count = t.let(f"call i64 @llvm.smin.i64(i64 %left, i64 {count})")
        given = f"ptr %gathered, ptr %rows, i64 {out}, i64 {count}, ptr %core"
        t.do(f"call void @scatter({given})")
