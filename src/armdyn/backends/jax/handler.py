"""What XLA calls: a function that reads a call frame and runs the loop of a kernel on its buffers.

It is emitted by LLVM, so nothing has to be compiled or installed. XLA's arrays are dense, and
results never share memory with arguments, which is what the loop wants.
"""

from math import prod

from armdyn.backends.jax.layout import Layout
from armdyn.backends.kernel import Kernel
from armdyn.backends.llvm.backend import Linked, object_code
from armdyn.backends.llvm.target import Target
from armdyn.backends.llvm.vectors import IrWriter, Vectors


class Handler:
    """The machine code of a handler, with the kernel whose loop it calls."""

    def __init__(self, kernel: Kernel, layout: Layout):
        self.kernel, target = kernel, Target.host()
        vectors = Vectors(target.lanes(kernel.dtype), kernel.dtype, target.fma)
        sizes, shape = tuple(kernel.inputs.values()), kernel.shape
        text = handler_text(vectors, sizes, shape, kernel.address, layout)
        self.code = Linked(object_code(text, target), ["handler"])

    @property
    def address(self) -> int:
        """Of the handler."""
        return self.code["handler"]


def handler_text(
    v: Vectors, inputs: tuple[int, ...], output: tuple[int, ...], loop: int, layout: Layout
) -> str:
    """The module of `@handler(frame)` for vectors of these lengths and a result of this shape.

    `loop` is the address of the loop. All arguments have the batch shape of the result.
    """
    t, arrays = IrWriter(v, "define ptr @handler(ptr %frame) nounwind {"), len(inputs) + 1
    t.label("entry")
    t.let(f"alloca [{arrays} x ptr], align 8", "%pointers")
    t.let(f"alloca [{2 * len(inputs) + 1 + len(output)} x i64], align 8", "%steps")
    t.let("alloca i64, align 8", "%states")
    _answer_query(t, layout)
    t.label("run")
    buffers, made = _field(t, "%frame", layout.arguments), _field(t, "%frame", layout.results)
    for k, size in enumerate(inputs):
        data = _field(t, t.item(buffers, k, "ptr"), layout.data)
        t.do(f"store ptr {data}, ptr {t.at('%pointers', k, 'ptr')}")
        _put(t, k, size * v.size)
        _put(t, arrays + k, v.size)
    t.let(f"load ptr, ptr {made}", "%result")
    data = _field(t, "%result", layout.data)
    t.do(f"store ptr {data}, ptr {t.at('%pointers', len(inputs), 'ptr')}")
    _put(t, len(inputs), prod(output) * v.size)
    for axis in range(len(output)):
        _put(t, arrays + len(inputs) + axis, prod(output[axis + 1 :]) * v.size)
    _count_states(t, len(output), layout)
    t.do("store i64 %n, ptr %states")
    t.do(
        f"call void inttoptr (i64 {loop} to ptr)(ptr %pointers, ptr %states, ptr %steps, ptr null)"
    )
    t.do("ret ptr null")
    return "\n".join([*t.lines, "}"]) + "\n"


def _answer_query(t: IrWriter, layout: Layout) -> None:
    """Before its first call XLA asks which version of the interface a handler was made for."""
    t.let(f"load ptr, ptr {t.at('%frame', layout.extensions)}", "%extension")
    t.branch(t.let("icmp eq ptr %extension, null"), "run", "extended", begin="extended")
    kind = t.let(f"load i32, ptr {t.at('%extension', layout.kind)}")
    asked = t.let(f"icmp eq i32 {kind}, {layout.metadata_kind}")
    t.branch(asked, "answer", "run", begin="answer")
    metadata = _field(t, "%extension", layout.metadata)
    for place, number in enumerate((layout.major, layout.minor)):
        t.do(f"store i32 {number}, ptr {t.at(metadata, layout.version + 4 * place)}")
    t.do("ret ptr null")


def _count_states(t: IrWriter, axes: int, layout: Layout) -> None:
    """%n: the product of the dimensions of %result before the last `axes`."""
    t.let(f"load i64, ptr {t.at('%result', layout.rank)}", "%rank")
    t.let(f"load ptr, ptr {t.at('%result', layout.dimensions)}", "%dimensions")
    t.let(f"sub i64 %rank, {axes}", "%leading")
    t.jump("count", begin="count")
    t.let("phi i64 [0, %run], [%k.next, %more]", "%k")
    t.let("phi i64 [1, %run], [%n.next, %more]", "%n")
    t.branch(t.let("icmp slt i64 %k, %leading"), "more", "compute", begin="more")
    t.let(f"mul i64 %n, {t.item('%dimensions', '%k')}", "%n.next")
    t.let("add i64 %k, 1", "%k.next")
    t.jump("count", begin="compute")


def _field(t: IrWriter, thing: str, offset: int) -> str:
    return t.let(f"load ptr, ptr {t.at(thing, offset)}")


def _put(t: IrWriter, place: int, value: int) -> None:
    t.do(f"store i64 {value}, ptr {t.at('%steps', place, 'i64')}")
