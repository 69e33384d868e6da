"""A program as a module of LLVM: the loop that NumPy calls, and what it is made of."""

from armdyn.backends.llvm.entry import entry_function
from armdyn.backends.llvm.fetch import DECLARATION, shares
from armdyn.backends.llvm.loop import STACK, Shape, loop_function, row_bytes
from armdyn.backends.llvm.lower import lower
from armdyn.backends.llvm.rollout_loop import StateRows, rollout_function
from armdyn.backends.llvm.rows import load_function, place_function, store_function
from armdyn.backends.llvm.segment_code import SegmentWriter
from armdyn.backends.llvm.segments import LENGTHS, Plan, Segment, SineCosine, plan
from armdyn.backends.llvm.stream import GATHERED_BYTES, stream_function
from armdyn.backends.llvm.target import Target
from armdyn.backends.llvm.trig import sine_cosine_functions
from armdyn.backends.llvm.vectors import Vectors
from armdyn.compiler.program import Program

SCRATCH = 14 * 1024
"""Bytes of scratch memory that stay in the first cache beside the rows."""
MOST_VECTORS = 4
"""Vectors of states in a tile; more only push the scratch memory out of the first cache."""


def module(
    program: Program,
    target: Target,
    dtype: str = "float64",
    *,
    entry: bool = False,
    rows: StateRows | None = None,
    tile: int | None = None,
    lengths: tuple[int, int] = LENGTHS,
) -> str:
    """The text of the module that computes a program, with `@loop` for NumPy.

    Args:
        program: What to compute.
        target: For which processor.
        dtype: "float64" or "float32".
        entry: Whether to add `@entry`, which Python can call with one state; programs that need
            much scratch memory have none.
        rows: If the program is a step of an integrator, what is in its rows; then there is
            `@rollout_loop` for many steps too.
        tile: Vectors of states that a segment runs over; None: as many as fit the first cache.
        lengths: Fewest and most operations in a segment.
    """
    vectors = Vectors(target.lanes(dtype), dtype, target.fma)
    pieces = plan(lower(program, target.fma), lengths)
    if tile is None:
        tile = max(1, min(MOST_VECTORS, SCRATCH // max(1, pieces.slots * vectors.bytes)))
    shape = Shape(tuple(len(a.symbols) for a in program.inputs), program.shape)
    gathered = tile * vectors.lanes * row_bytes(vectors, shape)
    streams = target.triple.startswith("x86_64") and gathered <= GATHERED_BYTES and rows is None
    lines = [*vectors.declarations(), "declare i64 @llvm.smin.i64(i64, i64)", DECLARATION]
    lines += _between_rows_and_slots(vectors, pieces, shape)
    lines += _segments(vectors, pieces, shape, program)
    lines += stream_function(vectors) if streams else []
    lines += loop_function(vectors, pieces, shape, tile, streams)
    lines += rollout_function(vectors, rows, len(shape.inputs) + 1) if rows else []
    if entry and pieces.slots * tile * vectors.bytes <= STACK:
        lines += entry_function(vectors, shape.inputs, shape.output)
    return "\n".join(lines) + "\n"


def _between_rows_and_slots(vectors: Vectors, pieces: Plan, shape: Shape) -> list[str]:
    """The functions that load the arguments and store the results."""
    lines = []
    for columns in sorted(set(shape.inputs)):
        lines += load_function(vectors, columns, pieces.slots)
    lines += place_function(shape.output)
    return lines + store_function(vectors, pieces.outputs, pieces.slots)


def _segments(vectors: Vectors, pieces: Plan, shape: Shape, program: Program) -> list[str]:
    """The functions that compute, between which the rows of the next tile are fetched."""
    lines = []
    if any(isinstance(step, SineCosine) for step in pieces.steps):
        lines += sine_cosine_functions(vectors, pieces.slots)
    constants = {
        place: vectors.splat(constant.value)
        for place, constant in enumerate(program.constants, start=len(program.symbols))
        if constant.value is not None
    }
    sizes = [len(s.operations) if isinstance(s, Segment) else 0 for s in pieces.steps]
    fetched = shares(vectors, shape.inputs, shape.output, sizes)
    for number, step in enumerate(pieces.steps):
        if isinstance(step, Segment):
            writer = SegmentWriter(vectors, step, constants)
            lines += writer.function(f"segment{number}", len(shape.inputs) + 1, fetched[number])
    return lines
