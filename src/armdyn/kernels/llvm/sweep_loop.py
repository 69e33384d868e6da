"""The loop of a sweep: states are made, evaluated and reduced tile by tile, in one call.

A job is some runs of states (`armdyn.sweeping.space.lattice_words`), or rows in memory. States and
results are in the scratch memory of a tile and nowhere else.
"""

from armdyn.kernels.llvm.loop import tile_distance, write_steps
from armdyn.kernels.llvm.segments import Plan
from armdyn.kernels.llvm.sweep_results import reduce_functions
from armdyn.kernels.llvm.sweep_states import fill_functions
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


class SweepLoop:
    """The writer of `@sweep_loop(job)` and `@sweep_scratch()`, the bytes of its memory."""

    def __init__(self, v: Vectors, pieces: Plan, inputs: tuple[int, ...], tile: int):
        self.v = v
        self.pieces = pieces
        self.inputs = inputs
        self.tile = tile
        self.t = IrWriter(v, "define void @sweep_loop(ptr %job) nounwind {")

    def lines(self) -> list[str]:
        """The functions."""
        t = self.t
        lanes = self.v.lanes
        distance = tile_distance(self.v, self.pieces, self.tile)
        t.label("entry")
        for place, name in enumerate(JOB):
            kind = "ptr" if name in _POINTERS else "i64"
            t.let(f"load {kind}, ptr {t.at('%job', place, 'i64')}", f"%{name}")
        t.let(f"getelementptr i8, ptr %slots, i64 {distance}", "%others")
        t.let("icmp ne i64 %evaluate, 0", "%wanted")
        self._run()
        t.label("tile")
        t.let("phi i64 [0, %run.begin], [%row.next, %tile.end]", "%row")
        t.let("phi ptr [%slots, %run.begin], [%next, %tile.end]", "%here")
        t.let("phi ptr [%others, %run.begin], [%here, %tile.end]", "%next")
        t.let(f"add i64 %row, {self.tile * lanes}", "%row.next")
        t.let("icmp slt i64 %row.next, %n", "%more")
        left = t.let(f"add i64 {t.let('sub i64 %n, %row')}, {lanes - 1}")
        blocks = t.let(f"udiv i64 {left}, {lanes}")
        t.let(f"call i64 @llvm.smin.i64(i64 {blocks}, i64 {self.tile})", "%blocks")
        t.branch("%more", "make", "made", begin="make")
        self._make("%next", "%row.next")
        t.jump("made", begin="made")
        t.branch("%wanted", "evaluated", "reduced", begin="evaluated")
        numbers = range(self.pieces.ahead, len(self.pieces.steps))
        far = write_steps(t, self.pieces, numbers, "evaluated", "%here", self._given)
        t.branch(t.let(f"and i1 {far}, %more"), "far", "reduced", begin="far")
        t.do(f"call void @begin(ptr %next, i64 {self.tile})")
        t.jump("reduced", begin="reduced")
        self._reduce()
        t.jump("tile.end", begin="tile.end")
        t.branch("%more", "tile", "run.end", begin="run.end")
        t.let("add i64 %o, 1", "%o.next")
        t.let("sub i64 %left, %n", "%left.next")
        t.let("add i64 %first, %n", "%first.next")
        t.branch(t.let("icmp slt i64 %o.next, %runs"), "run", "exit", begin="exit")
        size = distance + self.pieces.slots * self.tile * self.v.bytes
        scratch = f"define i64 @sweep_scratch() nounwind {{\n  ret i64 {size}\n}}"
        return [
            *fill_functions(self.v, self.pieces.slots, self.tile),
            *reduce_functions(self.v, self.pieces.outputs, self.pieces.slots),
            *self._fill_rows(),
            *t.ended(),
            *scratch.splitlines(),
        ]

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
        for slots in ("%slots", "%others"):
            t.do(f"call void @fill_splat(ptr {slots}, {given})")
        self._make("%slots", "0")
        t.branch("%wanted", "run.first", "run.begin", begin="run.first")
        t.do(f"call void @begin(ptr %slots, i64 {self.tile})")
        t.jump("run.begin", begin="run.begin")
        t.jump("tile")

    def _given(self, block: str) -> str:
        """The next tile's slots of a vector; there are no rows."""
        t = self.t
        slots = t.at("%next", t.let(f"mul i64 {block}, {self.pieces.slots * self.v.bytes}"))
        return f", ptr {slots}"

    def _make(self, slots: str, row: str) -> None:
        """The states of a tile, from a row on."""
        t = self.t
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
        t.do(f"call void @fill_rows(ptr {slots}, i64 {row}, i64 %last, ptr %rows)")

    def _reduce(self) -> None:
        t = self.t
        begin = "ptr %here, i64 %blocks, i64 %row, i64 %last, i64 %first"
        for name, more in REDUCTIONS.items():
            none = t.let(f"icmp eq ptr %{name}, null")
            t.branch(none, f"{name}.end", f"{name}.begin", begin=f"{name}.begin")
            given = ", ".join([begin, f"ptr %{name}.kept", *more])
            t.do(f"call void @{name}({given})")
            t.jump(f"{name}.end", begin=f"{name}.end")

    def _fill_rows(self) -> list[str]:
        """`@fill_rows`: states from rows in memory, if there are any."""
        given = "ptr %slots, i64 %row, i64 %last, ptr %rows"
        t = IrWriter(self.v, f"define internal void @fill_rows({given}) nounwind {{")
        t.branch(t.let("icmp eq ptr %rows, null"), "exit", "load", begin="load")
        left = t.let(f"add i64 {t.let('sub i64 %last, %row')}, {self.v.lanes}")
        blocks = t.let(f"udiv i64 {left}, {self.v.lanes}")
        blocks = t.let(f"call i64 @llvm.smin.i64(i64 {blocks}, i64 {self.tile})")
        for k, columns in enumerate(self.inputs):
            base = t.item("%rows", k, "ptr")
            size = columns * self.v.size
            slot = t.at("%slots", sum(self.inputs[:k]) * self.v.bytes)
            t.do(
                f"call void @load{columns}(ptr {base}, i64 {size}, i64 %row, i64 %last, "
                f"i64 {blocks}, i64 {self.v.size}, ptr {slot})"
            )
        t.jump("exit", begin="exit")
        return t.ended()
