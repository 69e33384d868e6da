"""The loop of a sweep: blocks of states made, evaluated and reduced, some at a time, in one call.

A job is some runs of states (`armdyn.sweeping.space.lattice_words`), or rows in memory. States and
results are in a memory that stays in the caches and nowhere else.
"""

from itertools import chain

from armdyn.kernels.llvm.rows import load_function
from armdyn.kernels.llvm.sweep_results import reduce_functions
from armdyn.kernels.llvm.sweep_states import each, fill_functions
from armdyn.kernels.llvm.vectors import IrWriter, Vectors

JOB = (
    "slots",  # the scratch memory
    "runs",
    "states",  # in a run
    "total",  # states in all: the last run may be shorter
    "first_state",  # its number
    "per_cell",  # runs that are reduced together
    "evaluate",  # whether to compute, and not only to make states
    "splat_count", "splat_columns", "splat_values",
    "table_count", "table_columns", "table_values", "table_stride",
    "random_count", "random_columns", "random_keys", "random_step", "random_low", "random_width",
    "sobol_count", "sobol_columns", "sobol_outer", "sobol_inner", "sobol_stride", "sobol_low",
    "sobol_width",
    "rows",  # pointers to the rows of each argument, or null
    "extremes", "extremes_bytes", "moments", "moments_bytes",
    "histogram", "histogram_bytes", "histogram_bounds", "histogram_bins",
    "quantiles", "quantiles_bytes",
    "exceeded", "exceeded_bytes", "exceeded_bounds", "exceeded_keep",
)  # fmt: skip
"""The words of a job; memories of reductions are null where there are none."""
_POINTERS = {
    name
    for name in JOB
    if name in ("slots", "rows", "extremes", "moments", "histogram", "quantiles", "exceeded")
    or name.endswith(("columns", "values", "keys", "low", "width", "outer", "inner", "bounds"))
}
REDUCTIONS = {
    "extremes": (),
    "moments": (),
    "histogram": ("ptr %histogram_bounds", "i64 %histogram_bins"),
    "quantiles": (),
    "exceeded": ("ptr %exceeded_bounds", "i64 %exceeded_keep"),
}
"""What each reduction is given besides."""


MADE = 4
"""Vectors of states that are made together, which would wait for each other's numbers."""
VECTORS = 16
"""Vectors of states that are made, evaluated and reduced together: they stay in the caches."""


class SweepLoop:
    """The writer of `@sweep_loop(job)` around a `@loop`, and of `@sweep_scratch()`, its memory.

    States are made and results reduced in double precision; in single precision they are converted
    on the way to the loop and back.
    """

    def __init__(self, v: Vectors, entries: int):
        self.v = v
        self.wide = Vectors(v.bytes // 8, "float64", v.fma)
        self.columns = sum(v.blocks)
        self.entries = entries
        self.t = IrWriter(self.wide, "define void @sweep_loop(ptr %job) nounwind {")

    def lines(self) -> list[str]:
        """The functions."""
        t = self.t
        lanes = self.wide.lanes
        t.label("entry")
        for place, name in enumerate(JOB):
            kind = "ptr" if name in _POINTERS else "i64"
            t.let(f"load {kind}, ptr {t.at('%job', place, 'i64')}", f"%{name}")
        size = self._memories()
        self._run()
        t.label("tile")
        t.let("phi i64 [0, %run.begin], [%row.next, %tile.end]", "%row")
        t.let(f"add i64 %row, {VECTORS * lanes}", "%row.next")
        left = t.let(f"add i64 {t.let('sub i64 %n, %row')}, {lanes - 1}")
        blocks = t.let(f"udiv i64 {left}, {lanes}")
        t.let(f"call i64 @llvm.smin.i64(i64 {blocks}, i64 {VECTORS})", "%blocks")
        some = t.let(f"udiv i64 {t.let(f'add i64 %blocks, {MADE - 1}')}, {MADE}")
        each(t, "some", some, self._make)
        t.branch(t.let("icmp ne i64 %evaluate, 0"), "wanted", "tile.end", begin="wanted")
        self._evaluate()
        self._reduce()
        t.jump("tile.end", begin="tile.end")
        t.branch(t.let("icmp slt i64 %row.next, %n"), "tile", "run.end", begin="run.end")
        t.let("add i64 %o, 1", "%o.next")
        t.let("sub i64 %left, %n", "%left.next")
        t.let("add i64 %first, %n", "%first.next")
        t.branch(t.let("icmp slt i64 %o.next, %runs"), "run", "exit", begin="exit")
        scratch = f"define i64 @sweep_scratch() nounwind {{\n  ret i64 {size}\n}}"
        return [
            *sorted({*self.wide.declarations()}.difference(self.v.declarations())),
            *fill_functions(self.wide, self.columns, MADE, VECTORS),
            *reduce_functions(self.wide, self.entries),
            *chain.from_iterable(load_function(self.wide, k) for k in {*self.v.blocks}),
            *t.ended(),
            *scratch.splitlines(),
        ]

    def _memories(self) -> int:
        """Where states and results are, and what `@loop` is told of them; returns the bytes."""
        t = self.t
        v = self.v
        per = v.lanes // self.wide.lanes
        self.state_bytes = self.columns * v.bytes
        sizes = {"slots": self.columns, "results": self.entries}
        at = 0
        for kind, vectors in (("wide", VECTORS), ("narrow", VECTORS // per if per > 1 else 0)):
            for name, columns in sizes.items():
                t.at("%slots", at, name=f"%{name}.{kind}")
                at += vectors * columns * v.bytes
        slots, results = (f"%{name}.{'narrow' if per > 1 else 'wide'}" for name in sizes)
        starts = [t.at(slots, sum(v.blocks[:k]) * v.bytes) for k in range(len(v.blocks))]
        places = [(place, self.state_bytes) for place in starts]
        places.append((results, self.entries * v.bytes))
        t.let("alloca i64, align 8", "%count")
        for name, kind in (("args", "ptr"), ("steps", "i64")):
            t.let(f"alloca [{len(places)} x {kind}], align 8", f"%{name}")
        for k, (place, distance) in enumerate(places):
            t.do(f"store ptr {place}, ptr {t.at('%args', k, 'ptr')}")
            t.do(f"store i64 {distance}, ptr {t.at('%steps', k, 'i64')}")
        return at

    def _evaluate(self) -> None:
        """The program on all blocks."""
        t = self.t
        per = self.v.lanes // self.wide.lanes
        count = t.let(f"udiv i64 {t.let(f'add i64 %blocks, {per - 1}')}, {per}")
        t.do(f"store i64 {count}, ptr %count")
        if per > 1:
            self._convert("slots", self.columns)
        t.do("call void @loop(ptr %args, ptr %count, ptr %steps, ptr null)")
        if per > 1:
            self._convert("results", self.entries)

    def _convert(self, name: str, columns: int) -> None:
        """States from doubles to floats, or results back, in all blocks that there may be."""
        t = self.t
        w = self.wide
        small = f"<{w.lanes} x float>"

        def column(c: str) -> None:
            for b in range(VECTORS):
                wide = t.at(t.at(f"%{name}.wide", b * columns * w.bytes), c, w.type)
                block = t.at(t.at(f"%{name}.narrow", b // 2 * columns * w.bytes), c, w.type)
                half = t.at(block, b % 2, small)
                if name == "slots":
                    x = t.let(f"fptrunc {w.type} {t.load(wide)} to {small}")
                    t.store(x, half, small, w.bytes // 2)
                else:
                    x = t.load(half, small, w.bytes // 2)
                    t.store(t.let(f"fpext {small} {x} to {w.type}"), wide)

        each(t, f"{name}.all", columns, column)

    def _run(self) -> None:
        """The next run: how many states it has, its columns that stay, and what it is kept in."""
        t = self.t
        t.jump("run", begin="run")
        t.let("phi i64 [0, %entry], [%o.next, %run.end]", "%o")
        t.let("phi i64 [%total, %entry], [%left.next, %run.end]", "%left")
        t.let("phi i64 [%first_state, %entry], [%first.next, %run.end]", "%first")
        t.let("call i64 @llvm.smin.i64(i64 %left, i64 %states)", "%n")
        t.let("sub i64 %n, 1", "%last")
        cell = t.let("udiv i64 %o, %per_cell")
        for name in REDUCTIONS:
            far = t.let(f"mul i64 {cell}, %{name}_bytes")
            t.let(f"getelementptr i8, ptr %{name}, i64 {far}", f"%{name}.kept")
        for name, values in (("splat", "splat_values"), ("sobol", "sobol_outer")):
            far = t.let(f"mul i64 %o, %{name}_count")
            t.let(f"getelementptr i64, ptr %{values}, i64 {far}", f"%{values}.run")
        given = "i64 %splat_count, ptr %splat_columns, ptr %splat_values.run"
        t.do(f"call void @fill_splat(ptr %slots.wide, {given})")
        t.jump("run.begin", begin="run.begin")
        t.jump("tile")

    def _make(self, number: str) -> None:
        """The states of some vectors, which are made together."""
        t = self.t
        slots = t.at("%slots.wide", t.let(f"mul i64 {number}, {MADE * self.state_bytes}"))
        row = t.let(f"add i64 %row, {t.let(f'mul i64 {number}, {MADE * self.wide.lanes}')}")
        given = "i64 %table_count, ptr %table_columns, ptr %table_values, i64 %table_stride"
        t.do(f"call void @fill_table(ptr {slots}, i64 {row}, {given})")
        given = (
            "i64 %random_count, ptr %random_columns, ptr %random_keys, i64 %random_step, "
            "ptr %random_low, ptr %random_width"
        )
        t.do(f"call void @fill_random(ptr {slots}, i64 {row}, i64 %last, i64 %first, {given})")
        given = (
            "i64 %sobol_count, ptr %sobol_columns, ptr %sobol_outer.run, ptr %sobol_inner, "
            "i64 %sobol_stride, ptr %sobol_low, ptr %sobol_width"
        )
        t.do(f"call void @fill_sobol(ptr {slots}, i64 {row}, {given})")
        t.branch(t.let("icmp eq ptr %rows, null"), "made", "load", begin="load")
        for b in range(MADE):
            first = t.let(f"add i64 {row}, {b * self.wide.lanes}")
            first = t.let(f"call i64 @llvm.smin.i64(i64 {first}, i64 %last)")
            for k, columns in enumerate(self.v.blocks):
                base = t.item("%rows", k, "ptr")
                slot = b * self.columns + sum(self.v.blocks[:k])
                t.do(
                    f"call void @load{columns}(ptr {base}, i64 {columns * 8}, i64 {first}, "
                    f"i64 %last, i64 8, ptr {t.at(slots, slot * self.wide.bytes)})"
                )
        t.jump("made", begin="made")

    def _reduce(self) -> None:
        t = self.t
        begin = "ptr %results.wide, i64 %blocks, i64 %row, i64 %last, i64 %first"
        for name, more in REDUCTIONS.items():
            none = t.let(f"icmp eq ptr %{name}, null")
            t.branch(none, f"{name}.end", f"{name}.begin", begin=f"{name}.begin")
            given = ", ".join([begin, f"ptr %{name}.kept", *more])
            t.do(f"call void @{name}({given})")
            t.jump(f"{name}.end", begin=f"{name}.end")
