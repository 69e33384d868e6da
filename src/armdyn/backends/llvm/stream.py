"""Writing large results past the caches.

A line that is written in parts has to be fetched first, although nobody wants what was in it. The
rows of a tile are therefore gathered in a small memory and written line by line, whole, where the
result is so large that it would not stay in a cache anyway.
"""

from armdyn.backends.llvm.fetch import LINE
from armdyn.backends.llvm.vectors import IrWriter, Vectors

UNCACHED_BYTES = 8 * 1024**2
"""Bytes of a result that no cache keeps."""
GATHERED_BYTES = 24 * 1024
"""Bytes of the rows of a tile that can be gathered in the first cache."""

FENCE = "declare void @llvm.x86.sse.sfence()"


def stream_function(v: Vectors) -> list[str]:
    """`@stream(to, from, bytes)`: a copy, in whole lines where the target has them."""
    t = IrWriter(v)
    e, line = v.element, f"<{LINE // v.size} x {v.element}>"
    t.lines.append(
        "define internal void @stream(ptr %to, ptr %from, i64 %bytes) noinline nounwind {"
    )
    t.label("entry")
    address = t.let("ptrtoint ptr %to to i64")
    t.let(f"and i64 {t.let(f'sub i64 0, {address}')}, {LINE - 1}", "%head")
    whole = t.let(f"and i64 {t.let('sub i64 %bytes, %head')}, {-LINE}")
    t.let(f"add i64 %head, {whole}", "%tail")
    t.do("br label %single")
    # numbers before the first whole line, and then those after the last
    t.label("single")
    t.let("phi i64 [0, %entry], [%i.next, %number], [%tail, %after]", "%i")
    t.let("phi i64 [%head, %entry], [%end, %number], [%bytes, %after]", "%end")
    t.branch(t.let("icmp slt i64 %i, %end"), "number", "done")
    t.label("number")
    _copy(t, e, "%i", v.size, "")
    t.let(f"add i64 %i, {v.size}", "%i.next")
    t.do("br label %single")
    t.label("done")
    t.branch(t.let("icmp eq i64 %end, %bytes"), "exit", "lines")
    t.label("lines")
    t.let("phi i64 [%head, %done], [%k.next, %one]", "%k")
    t.branch(t.let("icmp slt i64 %k, %tail"), "one", "after")
    t.label("one")
    _copy(t, line, "%k", LINE, ", !nontemporal !0")
    t.let(f"add i64 %k, {LINE}", "%k.next")
    t.do("br label %lines")
    t.label("after")
    t.do("br label %single")
    t.label("exit")
    t.do("ret void")
    return [*t.lines, "}", "!0 = !{i32 1}", FENCE]


def _copy(t: IrWriter, kind: str, offset: str, align: int, hint: str) -> None:
    source = t.at("%from", offset)
    target = t.at("%to", offset)
    value = t.let(f"load {kind}, ptr {source}, align {t.v.size}")
    t.do(f"store {kind} {value}, ptr {target}, align {align}{hint}")
