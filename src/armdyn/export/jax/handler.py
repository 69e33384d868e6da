"""What XLA calls: a function that reads a call frame and runs the loop of a kernel on its buffers.

It is emitted by LLVM, so nothing has to be compiled or installed. XLA's arrays are dense, and
results never share memory with arguments, which is what the loop wants. A kernel has one result; if
its parts are wanted as arrays of their own, the loop runs over blocks of states that stay in the
nearest cache, and each is cut apart there: XLA would read and write all of it once more.

The header of XLA's foreign function interface comes with jaxlib and has a version; a handler reads
memory by offsets of one version, so another one gets none.
"""

import re
from math import prod
from pathlib import Path

from armdyn.errors import BridgeError
from armdyn.kernels.kernel import Kernel
from armdyn.kernels.llvm.backend import Linked, object_code
from armdyn.kernels.llvm.target import Target
from armdyn.kernels.llvm.vectors import IrWriter, Vectors

BLOCK_BYTES, FEWEST_STATES = 16384, 16
"""Room for the results of a block, half of a small first cache, and the least it has room for."""
HEADER = Path("xla", "ffi", "api", "c_api.h")
VERSION = 0, 3
"""The one that is known; all offsets are of it, in bytes, for pointers of eight bytes."""
EXTENSIONS, ARGUMENTS, RESULTS = 8, 72, 112
"""Of the list of extensions in a call frame, and of the pointers to arguments and results there."""
DATA, RANK, DIMENSIONS = 24, 32, 40
"""Of the numbers in a buffer, then its rank and its dimensions."""
KIND, METADATA, METADATA_KIND = 8, 24, 1
"""Of the type of an extension, and of the metadata in one of the type `METADATA_KIND`."""
METADATA_VERSION = 24
"""Of the two numbers of the version in metadata."""
COPY = "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)"


def handler(kernel: Kernel, parts: tuple[int, ...] = ()) -> Linked:
    """The machine code of a handler, which calls the loop of a kernel: that must live as long.

    `parts` are the sizes of the arrays that the result, a vector, is cut into; one: it is not cut.
    """
    target = Target.host()
    vectors = Vectors(target.lanes(kernel.dtype), kernel.dtype, target.fma)
    frame = _Frame(vectors, tuple(kernel.inputs.values()), kernel.shape)
    text = frame.cut(kernel.address, parts) if len(parts) > 1 else frame.whole(kernel.address)
    return Linked(object_code(text, target), ["handler"])


class _Frame:
    """The text of `@handler(frame)` for vectors of some lengths and a result of some shape.

    All arguments have the batch shape of the result.
    """

    def __init__(self, v: Vectors, inputs: tuple[int, ...], output: tuple[int, ...]):
        self.v, self.inputs, self.output = v, inputs, output
        self.t = t = IrWriter(v, "define ptr @handler(ptr %frame) nounwind {")
        t.label("entry")
        t.let(f"alloca [{len(inputs) + 1} x ptr], align 8", "%pointers")
        t.let(f"alloca [{2 * len(inputs) + 1 + len(output)} x i64], align 8", "%steps")
        t.let("alloca i64, align 8", "%states")

    def whole(self, loop: int) -> str:
        """The module of a handler with one result; `loop` is the address of the loop."""
        results = self._begun(len(self.output))
        self._put_pointer(len(self.inputs), self._data(results, 0))
        for k, data in enumerate(self.arguments):
            self._put_pointer(k, data)
        self._run(loop, "%n")
        return self._ended()

    def cut(self, loop: int, parts: tuple[int, ...]) -> str:
        """The same with a result for each part of the vector that the loop computes."""
        t, row = self.t, prod(self.output) * self.v.size
        block = max(FEWEST_STATES, BLOCK_BYTES // row)
        t.let(f"alloca [{block * row} x i8], align 64", "%room")
        results = self._begun(1)
        made = [self._data(results, k) for k in range(len(parts))]
        self._put_pointer(len(self.inputs), "%room")
        t.jump("block", begin="block")
        t.let("phi i64 [0, %compute], [%done.next, %copied]", "%done")
        t.let("sub i64 %n, %done", "%left")
        t.branch(t.let("icmp sgt i64 %left, 0"), "some", "end", begin="some")
        few = t.let(f"icmp slt i64 %left, {block}")
        t.let(f"select i1 {few}, i64 %left, i64 {block}", "%now")
        for k, (data, size) in enumerate(zip(self.arguments, self.inputs, strict=True)):
            self._put_pointer(k, self._row(data, "%done", size))
        self._run(loop, "%now")
        t.jump("copy", begin="copy")
        t.let("phi i64 [0, %some], [%row.next, %copy]", "%row")
        t.let("add i64 %done, %row", "%at")
        first = 0
        for data, size in zip(made, parts, strict=True):
            source = t.at(self._row("%room", "%row", prod(self.output)), first * self.v.size)
            given = f"ptr {self._row(data, '%at', size)}, ptr {source}, i64 {size * self.v.size}"
            t.do(f"call void @llvm.memcpy.p0.p0.i64({given}, i1 false)")
            first += size
        t.let("add i64 %row, 1", "%row.next")
        t.branch(t.let("icmp slt i64 %row.next, %now"), "copy", "copied", begin="copied")
        t.let("add i64 %done, %now", "%done.next")
        t.jump("block", begin="end")
        return self._ended() + COPY + "\n"

    def _begun(self, axes: int) -> str:
        """Reads the frame; returns the pointer to the results, by the first of which %n is counted.

        The last `axes` of a result are those of one state.
        """
        t, arrays = self.t, len(self.inputs) + 1
        _answer_query(t)
        t.label("run")
        buffers = t.field("%frame", ARGUMENTS)
        results = t.field("%frame", RESULTS)
        self.arguments = [self._data(buffers, k) for k in range(len(self.inputs))]
        for k, size in enumerate(self.inputs):
            self._put_step(k, size)
            self._put_step(arrays + k, 1)
        self._put_step(len(self.inputs), prod(self.output))
        for axis in range(len(self.output)):
            self._put_step(arrays + len(self.inputs) + axis, prod(self.output[axis + 1 :]))
        t.let(f"load ptr, ptr {results}", "%result")
        _count_states(t, axes)
        return results

    def _run(self, loop: int, states: str) -> None:
        t = self.t
        t.do(f"store i64 {states}, ptr %states")
        t.do(
            f"call void inttoptr (i64 {loop} to ptr)"
            "(ptr %pointers, ptr %states, ptr %steps, ptr null)"
        )

    def _ended(self) -> str:
        self.t.do("ret ptr null")
        return "\n".join([*self.t.lines, "}"]) + "\n"

    def _data(self, buffers: str, place: int) -> str:
        return self.t.field(self.t.item(buffers, place, "ptr"), DATA)

    def _row(self, data: str, row: str, size: int) -> str:
        """The pointer to a row of some numbers."""
        return self.t.at(data, row, f"[{size} x {self.v.element}]")

    def _put_pointer(self, place: int, data: str) -> None:
        self.t.do(f"store ptr {data}, ptr {self.t.at('%pointers', place, 'ptr')}")

    def _put_step(self, place: int, numbers: int) -> None:
        step = numbers * self.v.size
        self.t.do(f"store i64 {step}, ptr {self.t.at('%steps', place, 'i64')}")


def _answer_query(t: IrWriter) -> None:
    """Before its first call XLA asks which version of the interface a handler was made for."""
    t.let(f"load ptr, ptr {t.at('%frame', EXTENSIONS)}", "%extension")
    t.branch(t.let("icmp eq ptr %extension, null"), "run", "extended", begin="extended")
    kind = t.let(f"load i32, ptr {t.at('%extension', KIND)}")
    asked = t.let(f"icmp eq i32 {kind}, {METADATA_KIND}")
    t.branch(asked, "answer", "run", begin="answer")
    metadata = t.field("%extension", METADATA)
    for place, number in enumerate(VERSION):
        t.do(f"store i32 {number}, ptr {t.at(metadata, METADATA_VERSION + 4 * place)}")
    t.do("ret ptr null")


def _count_states(t: IrWriter, axes: int) -> None:
    """%n: the product of the dimensions of %result before the last `axes`."""
    t.let(f"load i64, ptr {t.at('%result', RANK)}", "%rank")
    t.let(f"load ptr, ptr {t.at('%result', DIMENSIONS)}", "%dimensions")
    t.let(f"sub i64 %rank, {axes}", "%leading")
    t.jump("count", begin="count")
    t.let("phi i64 [0, %run], [%k.next, %more]", "%k")
    t.let("phi i64 [1, %run], [%n.next, %more]", "%n")
    t.branch(t.let("icmp slt i64 %k, %leading"), "more", "compute", begin="more")
    t.let(f"mul i64 %n, {t.item('%dimensions', '%k')}", "%n.next")
    t.let("add i64 %k, 1", "%k.next")
    t.jump("count", begin="compute")


def check_version(include: str) -> None:
    """A BridgeError if the jaxlib whose headers are in a folder has another version."""
    version = _header_version(Path(include, HEADER))
    if version == VERSION:
        return
    found = "none that can be read" if version is None else "version {}.{}".format(*version)
    raise BridgeError(
        "this jaxlib has a foreign function interface of XLA whose version armdyn does not know "
        f"({HEADER.as_posix()}: {found}; known: {'.'.join(map(str, VERSION))}): kernels cannot be "
        "called from JAX. Use robot.jax(..., program=True), which needs no kernel, or another "
        "jaxlib"
    )


def _header_version(header: Path) -> tuple[int, int] | None:
    try:
        text = header.read_text(encoding="utf-8")
    except OSError:
        return None
    found = [re.search(rf"^#define XLA_FFI_API_{w} (\d+)$", text, re.M) for w in ("MAJOR", "MINOR")]
    if found[0] is None or found[1] is None:
        return None
    return int(found[0][1]), int(found[1][1])
