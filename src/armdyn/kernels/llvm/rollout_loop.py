"""The loop around the loop: many steps of many arms in one call, without Python in between.

Arms go through all steps in blocks whose rows stay in the first caches, advanced in place by
`@loop`. After each step `@rollout_loop` checks the bounds of every arm, keeps the largest last
correction, and copies the states that are wanted.
"""

from armdyn.arrays import record
from armdyn.kernels.llvm.vectors import IrWriter, Vectors

JOB = (
    "args",  # for @loop: pointers to the first arm's rows at the first step
    "steps",  # for @loop: distances of arms, then of columns
    "advance",  # for each array, how far its pointer moves with each step
    "arms",
    "most",  # arms in a block
    "count",  # of steps
    "every",  # of which one is recorded
    "wait",  # steps until the next record
    "positions",
    "rates",  # where records go
    "distance",  # of the records of one arm from those of the next
    "limit",  # of the size of a state, the bits of a double
    "corrections",  # the largest of each arm
    "bad_step",
    "bad_arm",  # the first step after which an arm is out of bounds, and the first such arm
)
"""The words of a job."""
_POINTERS = ("args", "steps", "advance", "positions", "rates", "corrections")


@record
class StateRows:
    """The rows of a step: n positions, n rates, the size of the state, perhaps a correction."""

    n: int
    extra: int


class RolloutLoop:
    """The writer of `@rollout_loop(job)` around a `@loop`, whose first array is the output too."""

    def __init__(self, v: Vectors, rows: StateRows, arrays: int):
        self.t = IrWriter(v)
        self.v = v
        self.rows = rows
        self.arrays = arrays
        self.width = (2 * rows.n + rows.extra) * v.size

    def lines(self) -> list[str]:
        """The function."""
        t = self.t
        t.lines += [
            "declare void @llvm.memcpy.inline.p0.p0.i64(ptr, ptr, i64, i1)",
            "define void @rollout_loop(ptr %job) nounwind {",
        ]
        t.label("entry")
        for place, name in enumerate(JOB):
            kind = "ptr" if name in _POINTERS else self.v.element if name == "limit" else "i64"
            t.let(f"load {kind}, ptr {t.at('%job', place, 'i64')}", f"%{name}")
        t.let(f"alloca [{self.arrays} x ptr], align 8", "%here")
        t.let("alloca i64, align 8", "%n")
        t.jump("block")
        self._block()
        self._look()
        self._record()
        t.label("block.end")
        t.let("icmp slt i64 %first.next, %arms", "%more")
        t.branch("%more", "block", "exit", begin="exit")
        return t.ended()

    def _block(self) -> None:
        """The next arms, and in them the next step, from the first one on."""
        t = self.t
        t.label("block")
        t.let("phi i64 [0, %entry], [%first.next, %block.end]", "%first")
        t.let("add i64 %first, %most", "%first.next")
        left = t.let("sub i64 %arms, %first")
        t.let(f"call i64 @llvm.smin.i64(i64 {left}, i64 %most)", "%size")
        t.do("store i64 %size, ptr %n")
        for k in range(self.arrays):
            base = t.item("%args", k, "ptr")
            stride = t.item("%steps", k)
            moved = t.at(base, t.let(f"mul i64 {stride}, %first"))
            t.do(f"store ptr {moved}, ptr {t.at('%here', k, 'ptr')}")
        t.let(f"load ptr, ptr {t.at('%here', 0, 'ptr')}", "%states")
        far = t.let("mul i64 %distance, %first")
        for name in ("positions", "rates"):
            t.let(f"getelementptr i8, ptr %{name}, i64 {far}", f"%{name}.block")
        t.let(f"getelementptr {self.v.element}, ptr %corrections, i64 %first", "%worst")
        t.jump("step", begin="step")
        t.let("phi i64 [0, %block], [%s.next, %next]", "%s")
        t.let("phi i64 [%wait, %block], [%left.next, %next]", "%left")
        t.let("phi i64 [0, %block], [%offset.next, %next]", "%offset")
        t.do("call void @loop(ptr %here, ptr %n, ptr %steps, ptr null)")
        t.jump("look")

    def _look(self) -> None:
        """Each arm's size, and its last correction."""
        t = self.t
        e = self.v.element
        n = self.rows.n
        t.label("look")
        t.let("phi i64 [0, %step], [%a.next, %look]", "%a")
        t.let("phi i64 [-1, %step], [%bad.next, %look]", "%bad")
        row = t.at("%states", t.let(f"mul i64 %a, {self.width}"))
        size = t.let(f"load {e}, ptr {t.at(row, 2 * n * self.v.size)}")
        sound = t.let(f"fcmp ole {e} {size}, %limit")  # NaN is not
        sound = t.let(f"or i1 {sound}, {t.let('icmp sge i64 %bad, 0')}")
        t.let(f"select i1 {sound}, i64 %bad, i64 %a", "%bad.next")
        if self.rows.extra > 1:
            made = t.let(f"load {e}, ptr {t.at(row, (2 * n + 1) * self.v.size)}")
            place = t.at("%worst", "%a", e)
            before = t.let(f"load {e}, ptr {place}")
            larger = t.let(f"fcmp ogt {e} {made}, {before}")
            t.do(f"store {e} {t.let(f'select i1 {larger}, {e} {made}, {e} {before}')}, ptr {place}")
        t.let("add i64 %a, 1", "%a.next")
        t.branch(t.let("icmp slt i64 %a.next, %size"), "look", "looked", begin="looked")
        t.branch(t.let("icmp sge i64 %bad.next, 0"), "failed", "ahead", begin="failed")
        step, arm = (t.at("%job", JOB.index(name), "i64") for name in ("bad_step", "bad_arm"))
        known = t.let(f"load i64, ptr {step}")
        t.branch(t.let(f"icmp slt i64 %s, {known}"), "earlier", "block.end", begin="earlier")
        t.do(f"store i64 %s, ptr {step}")
        t.do(f"store i64 {t.let('add i64 %first, %bad.next')}, ptr {arm}")
        t.jump("block.end")

    def _record(self) -> None:
        """Copy the states of the block if it is time, and go on."""
        t = self.t
        bytes_ = self.rows.n * self.v.size
        t.label("ahead")
        for k in range(self.arrays):
            place = t.at("%here", k, "ptr")
            by = t.item("%advance", k)
            t.do(f"store ptr {t.at(t.let(f'load ptr, ptr {place}'), by)}, ptr {place}")
        t.let("sub i64 %left, 1", "%left.less")
        t.branch(t.let("icmp eq i64 %left.less, 0"), "copy", "next", begin="copy")
        t.let("phi i64 [0, %ahead], [%c.next, %copy]", "%c")
        row = t.at("%states", t.let(f"mul i64 %c, {self.width}"))
        to = t.let(f"add i64 %offset, {t.let('mul i64 %c, %distance')}")
        for part, name in enumerate(("positions", "rates")):
            given = f"{t.at(f'%{name}.block', to)}, ptr {t.at(row, part * bytes_)}"
            t.do(f"call void @llvm.memcpy.inline.p0.p0.i64(ptr {given}, i64 {bytes_}, i1 false)")
        t.let("add i64 %c, 1", "%c.next")
        t.branch(t.let("icmp slt i64 %c.next, %size"), "copy", "copied", begin="copied")
        t.let(f"add i64 %offset, {bytes_}", "%offset.copied")
        t.jump("next", begin="next")
        t.let("phi i64 [%left.less, %ahead], [%every, %copied]", "%left.next")
        t.let("phi i64 [%offset, %ahead], [%offset.copied, %copied]", "%offset.next")
        t.let("add i64 %s, 1", "%s.next")
        t.branch(t.let("icmp slt i64 %s.next, %count"), "step", "block.end")
