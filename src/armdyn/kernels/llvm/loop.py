"""The loop that NumPy calls: all states, tile by tile, through the segments of a program.

Segments are called with the place of their vector in the scratch memory and, for each array, with
the rows that they shall fetch meanwhile (`cache_lines`).
"""

from math import prod

from armdyn.kernels.llvm.cache_lines import LINE, UNCACHED_BYTES, behind_line
from armdyn.kernels.llvm.segments import Plan, Segment
from armdyn.kernels.llvm.vectors import IrWriter, Vectors

PAGE = 4096
"""Bytes from whose multiple the scratch memory begins: loads that lie as far behind a multiple as
stores do which are under way wait for them, and where the stack lies is chance."""
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


class Loop:
    """The writer of `@loop(args, dims, steps, data)`, as NumPy calls it.

    `inputs` are the lengths of the input vectors, `output` is the shape of a result. Rows of the
    inputs `early` are transposed by the segments of the tile before (`rows`); with `stream`,
    large results go past the caches.
    """

    def __init__(
        self,
        v: Vectors,
        pieces: Plan,
        inputs: tuple[int, ...],
        output: tuple[int, ...],
        tile: int,
        early: set[int],
        stream: bool,
    ):
        self.v, self.pieces, self.tile, self.stream = v, pieces, tile, stream
        self.early = sorted(early)
        self.inputs, self.output, self.row_bytes = inputs, output, prod(output) * v.size
        self.t = IrWriter(
            v, "define void @loop(ptr %args, ptr %dims, ptr %steps, ptr %data) nounwind {"
        )
        self.size = pieces.slots * tile * v.bytes
        self.label = "tile"

    def lines(self) -> list[str]:
        """The function, and what it calls if there is no memory."""
        t, arrays = self.t, len(self.inputs) + 1
        t.label("entry")
        t.let("load i64, ptr %dims", "%n")
        t.let("icmp sgt i64 %n, 0", "%some")
        t.branch("%some", "begin", "exit", begin="begin")
        self.bases = [t.item("%args", k, "ptr") for k in range(arrays)]
        self.strides = [t.item("%steps", k) for k in range(arrays)]
        cores = [t.item("%steps", arrays + k) for k in range(arrays - 1)]
        t.let(f"getelementptr i64, ptr %steps, i64 {2 * arrays - 1}", "%core")
        dense = self._dense()
        t.let("sub i64 %n, 1", "%last")
        self._large(dense)
        close = "true"
        for k in self.early:
            same = t.let(f"icmp eq i64 {cores[k]}, {self.v.size}")
            close = t.let(f"and i1 {close}, {same}")
        start = self._scratch()
        t.label("tile")
        t.let(f"phi i64 [0, %{start}], [%row.next, %tile.end]", "%row")
        t.let(f"phi i1 [false, %{start}], [%more, %tile.end]", "%there")
        t.let(f"add i64 %row, {self.tile * self.v.lanes}", "%row.next")
        whole = t.let(f"add i64 %row, {2 * self.tile * self.v.lanes}")
        t.let(f"and i1 {t.let(f'icmp sle i64 {whole}, %n')}, {close}", "%more")
        blocks = t.let(f"add i64 {t.let('sub i64 %n, %row')}, {self.v.lanes - 1}")
        blocks = t.let(f"udiv i64 {blocks}, {self.v.lanes}")
        self.blocks = t.let(f"call i64 @llvm.smin.i64(i64 {blocks}, i64 {self.tile})")
        self._gather()
        self._load(cores)
        self._steps()
        t.do(
            f"call void @store(ptr {self.out}, i64 {self.strides[-1]}, i64 {self.out_row}, "
            f"i64 {self.out_last}, i64 {self.blocks}, i1 {dense}, ptr %core, ptr %slots)"
        )
        self._write()
        t.jump("tile.end", begin="tile.end")
        t.branch(t.let("icmp slt i64 %row.next, %n"), "tile", "end", begin="end")
        self._finish()
        if self.size > STACK:
            t.do("call void @free(ptr %memory)")
        t.jump("exit", begin="exit")
        return [*t.ended(), *(NO_MEMORY.splitlines() if self.size > STACK else [])]

    def _dense(self) -> str:
        """Whether the entries of the output follow each other in C order."""
        t, dense, expected = self.t, "true", self.v.size
        for axis in reversed(range(len(self.output))):
            same = t.let(f"icmp eq i64 {t.item('%core', axis)}, {expected}")
            dense = t.let(f"and i1 {dense}, {same}")
            expected *= self.output[axis]
        return dense

    def _scratch(self) -> str:
        """The slots of a tile, on the stack if they are few; returns the label after it."""
        t = self.t
        if self.size <= STACK:
            t.let(f"alloca [{self.size} x i8], align {PAGE}", "%slots")
            t.jump("tile")
            return "begin"
        t.let(f"call ptr @malloc(i64 {self.size + LINE})", "%memory")
        t.let("icmp eq ptr %memory, null", "%none")
        t.branch("%none", "full", "aligned", begin="full")
        t.do("call void @no_memory()")
        t.do("ret void")
        t.label("aligned")
        address = t.let(f"add i64 {t.let('ptrtoint ptr %memory to i64')}, {LINE - 1}")
        t.let(f"inttoptr i64 {t.let(f'and i64 {address}, -{LINE}')} to ptr", "%slots")
        t.jump("tile")
        return "aligned"

    def _large(self, dense: str) -> None:
        """Whether the result is written past the caches: large, and its rows follow each other."""
        if not self.stream:
            return
        t, size = self.t, self.row_bytes
        room = self.tile * self.v.lanes * size + 2 * LINE
        t.let(f"alloca [{room} x i8], align {LINE}", "%gathered")
        large = t.let(f"icmp sge i64 %n, {-(-UNCACHED_BYTES // size)}")
        close = t.let(f"icmp eq i64 {self.strides[-1]}, {size}")
        t.let(f"and i1 {t.let(f'and i1 {large}, {close}')}, {dense}", "%large")

    def _gather(self) -> None:
        """Where this tile's results go: to the array, or first to a place where lines get whole."""
        t = self.t
        if not self.stream:
            self.out, self.out_row, self.out_last = self.bases[-1], "%row", "%last"
            return
        t.let(f"and i1 {t.let('icmp sle i64 %row.next, %n')}, %large", "%apart")
        self.place = t.at(self.bases[-1], t.let(f"mul i64 %row, {self.row_bytes}"))
        gathered = t.at("%gathered", behind_line(t, self.place))
        self.out = t.let(f"select i1 %apart, ptr {gathered}, ptr {self.bases[-1]}")
        self.out_row = t.let("select i1 %apart, i64 0, i64 %row")
        last = self.tile * self.v.lanes - 1
        self.out_last = t.let(f"select i1 %apart, i64 {last}, i64 %last")

    def _write(self) -> None:
        """The gathered rows to the array."""
        if not self.stream:
            return
        t, size = self.t, self.tile * self.v.lanes * self.row_bytes
        t.branch("%apart", "write", "tile.end", begin="write")
        first = t.let("icmp eq i64 %row, 0")
        t.do(f"call void @stream(ptr {self.place}, ptr %gathered, i64 {size}, i1 {first})")

    def _finish(self) -> None:
        """The numbers behind the last whole line that was gathered."""
        if not self.stream:
            return
        t, rows = self.t, self.tile * self.v.lanes
        t.branch("%large", "finish", "written", begin="finish")
        gathered = t.let(f"mul i64 {t.let(f'udiv i64 %n, {rows}')}, {rows * self.row_bytes}")
        place = t.at(self.bases[-1], gathered)
        left = behind_line(t, place)
        line = t.at(place, t.let(f"sub i64 0, {left}"))
        t.do(f"call void @numbers(ptr {line}, ptr %gathered, i64 0, i64 {left})")
        t.do("call void @llvm.x86.sse.sfence()")
        t.jump("written", begin="written")

    def _slot(self, number: int) -> str:
        return self.t.at("%slots", number * self.v.bytes)

    def _load(self, cores: list[str]) -> None:
        """Transpose the rows of this tile, but for those that were transposed with the last one."""
        t, arrays = self.t, range(len(self.inputs))
        self._load_arrays([k for k in arrays if k not in self.early], cores)
        t.branch("%there", "loaded", "load", begin="load")
        self._load_arrays(self.early, cores)
        t.jump("loaded", begin="loaded")
        self.label = "loaded"

    def _load_arrays(self, arrays: list[int], cores: list[str]) -> None:
        for k in arrays:
            self.t.do(
                f"call void @load{self.inputs[k]}(ptr {self.bases[k]}, i64 {self.strides[k]}, "
                f"i64 %row, i64 %last, i64 {self.blocks}, i64 {cores[k]}, "
                f"ptr {self._slot(sum(self.inputs[:k]))})"
            )

    def _steps(self) -> None:
        """The segments on every vector of the tile, and sines and cosines."""
        ahead = self._ahead()
        for number, step in enumerate(self.pieces.steps):
            if isinstance(step, Segment):
                self._each_block(number, ahead)
                continue
            places = (self._slot(k) for k in (step.angles, step.sines, step.cosines))
            given = ", ".join(f"ptr {place}" for place in places)
            self.t.do(f"call void @sin_cos({given}, i64 {step.count}, i64 {self.blocks})")

    def _ahead(self) -> list[tuple[str, str]]:
        """Rows and their distance: the next tile's of the inputs, and this one's of the results.

        Where the next tile is not whole, segments transpose what lies in the scratch memory.
        """
        t = self.t
        found = []
        for k, stride in enumerate(self.strides[:-1]):
            place = t.at(self.bases[k], t.let(f"mul i64 {stride}, %row.next"))
            if k in self.early:
                place = t.let(f"select i1 %more, ptr {place}, ptr %slots")
            far = t.let(f"select i1 %more, i64 {stride}, i64 0") if k in self.early else stride
            found.append((place, far))
        results = t.at(self.out, t.let(f"mul i64 {self.strides[-1]}, {self.out_row}"))
        return [*found, (results, self.strides[-1])]

    def _each_block(self, number: int, ahead: list[tuple[str, str]]) -> None:
        t, b, here = self.t, f"%b{number}", f"%here{number}"
        t.jump(f"each{number}", begin=f"each{number}")
        t.let(f"phi i64 [0, %{self.label}], [{b}.next, %each{number}]", b)
        place = t.let(f"mul i64 {b}, {self.pieces.slots * self.v.bytes}")
        t.let(f"getelementptr i8, ptr %slots, i64 {place}", here)
        rows = t.let(f"mul i64 {b}, {self.v.lanes}")
        given = "".join(
            f", ptr {t.at(start, t.let(f'mul i64 {rows}, {stride}'))}, i64 {stride}"
            for start, stride in ahead
        )
        t.do(f"call void @segment{number}(ptr {here}{given})")
        t.let(f"add i64 {b}, 1", f"{b}.next")
        more = t.let(f"icmp slt i64 {b}.next, {self.blocks}")
        t.branch(more, f"each{number}", f"after{number}")
        self.label = f"after{number}"
        t.label(self.label)
