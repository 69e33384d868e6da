"""A program as a module of LLVM: the loop that NumPy calls, and what it is made of."""

import math
from functools import reduce

from armdyn.graph.operations import FAR_ANGLE
from armdyn.graph.program import Program
from armdyn.kernels.llvm.cache_lines import (
    DECLARATION,
    GATHERED_BYTES,
    LINE,
    Line,
    fetch,
    shares,
    stream_functions,
)
from armdyn.kernels.llvm.loop import Loop
from armdyn.kernels.llvm.rollout_loop import RolloutLoop, StateRows
from armdyn.kernels.llvm.rows import (
    Group,
    groups_ahead,
    load_function,
    place_function,
    store_function,
    transpose,
)
from armdyn.kernels.llvm.segments import LENGTHS, Plan, Segment, SineCosine, best_plan
from armdyn.kernels.llvm.sweep_loop import SweepLoop
from armdyn.kernels.llvm.target import Target
from armdyn.kernels.llvm.trig import angle_sum_functions, sine_cosine_functions
from armdyn.kernels.llvm.vectors import IrWriter, Vectors

SCRATCH = 24 * 1024
"""Bytes of scratch memory that stay in the first cache beside the rows."""
LONGEST_WAIT = 20
"""Operations after which a value that lies in memory is loaded again, not kept in a register."""
LEAST_VECTORS_AHEAD = 2
"""Vectors in a tile from which on the rows of the next tile are transposed in this one."""
MOST_VECTORS = 4
"""Vectors of states in a tile; more only push the scratch memory out of the first cache."""


def module(
    program: Program,
    target: Target,
    dtype: str = "float64",
    *,
    ahead: bool = True,
    rows: StateRows | None = None,
    sweep: bool = False,
    tile: int | None = None,
    lengths: tuple[int, int] = LENGTHS,
) -> str:
    """The text of the module that computes a program, with `@loop` for NumPy.

    Args:
        program: What to compute.
        target: For which processor.
        dtype: "float64" or "float32".
        ahead: Whether segments transpose the rows of the next tile, which pays for batches.
        rows: What is in the rows of a step of an integrator, for `@rollout_loop`.
        sweep: Whether to write `@sweep_loop`, which makes and reduces states, and no `@loop`.
        tile: Vectors of states that a segment runs over; None: as many as fit the first cache.
        lengths: Fewest and most operations in a segment.
    """
    vectors = Vectors(target.lanes(dtype), dtype, target.fma)
    most = SCRATCH // (LEAST_VECTORS_AHEAD * vectors.bytes) if ahead or sweep else 0
    pieces = best_plan(program, target, lengths, most)
    if tile is None:
        tile = max(1, min(MOST_VECTORS, SCRATCH // max(1, pieces.slots * vectors.bytes)))
    inputs, output = tuple(len(a.symbols) for a in program.inputs), program.shape
    gathered = tile * vectors.bytes * math.prod(output)
    streams = target.triple.startswith("x86_64") and LINE <= gathered <= GATHERED_BYTES
    streams = streams and rows is None
    lines = [*vectors.declarations(), "declare i64 @llvm.smin.i64(i64, i64)", DECLARATION]
    for columns in sorted(set(inputs)):
        lines += load_function(vectors, columns, pieces.slots)
    if any(isinstance(step, SineCosine) for step in pieces.steps):
        lines += sine_cosine_functions(vectors, pieces.slots)
    if sweep:
        lines += segment_functions(vectors, pieces, program)
        return "\n".join([*lines, *SweepLoop(vectors, pieces, inputs, output, tile).lines()]) + "\n"
    lines += place_function(vectors, output)
    lines += store_function(vectors, pieces.outputs, pieces.slots)
    groups = groups_ahead(vectors, pieces, inputs)
    lines += segment_functions(vectors, pieces, program, groups, tile)
    lines += stream_functions(vectors) if streams else []
    early = {group.array for some in groups.values() for group in some}
    lines += Loop(vectors, pieces, inputs, output, tile, early, streams).lines()
    lines += RolloutLoop(vectors, rows, len(inputs) + 1).lines() if rows else []
    return "\n".join(lines) + "\n"


def segment_functions(
    vectors: Vectors,
    pieces: Plan,
    program: Program,
    groups: dict[int, list[Group]] | None = None,
    tile: int = 0,
) -> list[str]:
    """The functions that compute, and what they call.

    With `groups`, the rows of the next tile are transposed and fetched between the operations.
    """
    lines = []
    if any(instruction.op == "angle_sum" for instruction in program.instructions):
        lines += angle_sum_functions(vectors)
    constants = {
        place: vectors.splat(constant.value)
        for place, constant in enumerate(program.constants, start=len(program.symbols))
        if constant.value is not None
    }
    sizes = [len(s.operations) if isinstance(s, Segment) else 0 for s in pieces.steps]
    inputs = tuple(len(array.symbols) for array in program.inputs)
    fetched = shares(vectors, inputs, program.shape, sizes, tile if groups else 0)
    arrays = range(len(inputs) + 1) if groups is not None else ()
    given = ["ptr %here", *(f"ptr %ahead{k}, i64 %stride{k}" for k in arrays)]
    for number, step in enumerate(pieces.steps):
        if isinstance(step, Segment):
            head = f"define internal void @segment{number}({', '.join(given)})"
            t = IrWriter(vectors, f"{head} noinline nounwind {{")
            segment = _segment_of_sums if step.adds_angles else _segment
            rows = (fetched[number], groups.get(number, [])) if groups is not None else ([], [])
            lines += segment(t, step, constants, *rows)
    return lines


def _segment(
    t: IrWriter,
    segment: Segment,
    constants: dict[int, str],
    fetched: list[Line],
    ahead: list[Group],
) -> list[str]:
    """The function of a segment, which also transposes and fetches rows.

    Values are loaded where they are first used and stored as soon as they are made. There is no
    loop in the function, so that constants are not kept in registers which values then lack.
    """
    v, operations, names = t.v, segment.operations, dict(constants)
    used: dict[int, int] = {}
    """Which operation used a value from memory last."""

    def name(value: int, place: int) -> str:
        """The name of a value for an operation, which is loaded if need be."""
        if value in segment.loads and place - used.get(value, -math.inf) > LONGEST_WAIT:
            names[value] = t.load(t.at("%here", segment.loads[value] * v.bytes))
        used[value] = place
        return names[value]

    def store(value: int) -> None:
        t.store(names[value], t.at("%here", segment.stores[value] * v.bytes))

    # values whose slot is read here, or that are made elsewhere, are stored at the end
    read = set(segment.loads.values())
    made = {value for value, _, _ in operations}
    early = {k for k, slot in segment.stores.items() if slot not in read and k in made}
    for place, (value, op, args) in enumerate(operations):
        names[value] = t.operation(op, [name(a, place) for a in args])
        if value in early:
            store(value)
        _rows(t, fetched, ahead, place, len(operations))
    late = [value for value in segment.stores if value not in early]
    for value in late:
        name(value, len(operations))
    for value in late:
        store(value)
    return t.ended()


def _segment_of_sums(
    t: IrWriter,
    segment: Segment,
    constants: dict[int, str],
    fetched: list[Line],
    ahead: list[Group],
) -> list[str]:
    """The function of a segment that adds angles: where a sum is far from zero, all once more."""
    v, operations = t.v, segment.operations
    t.jump("near", begin="near")
    known = dict(constants)
    for value, slot in segment.loads.items():
        known[value] = t.load(t.at("%here", slot * v.bytes))
    near, far = dict(known), dict(known)
    outside = []
    for value, op, args in operations:
        near[value] = t.operation("add" if op == "angle_sum" else op, [near[a] for a in args])
        outside += [t.beyond(near[value], FAR_ANGLE)] if op == "angle_sum" else []
    mask = reduce(lambda a, b: t.let(f"or <{v.lanes} x i1> {a}, {b}"), outside)
    t.branch(t.any(mask), "far", "end", begin="far")
    for value, op, args in operations:
        far[value] = t.operation(op, [far[a] for a in args])
    t.jump("end", begin="end")
    both = {k: (near[k], far[k]) for k in segment.stores}
    names = {
        k: n if n == f else t.let(f"phi {v.type} [{n}, %near], [{f}, %far]")
        for k, (n, f) in both.items()
    }
    for place in range(len(operations)):
        _rows(t, fetched, ahead, place, len(operations))
    for value, slot in segment.stores.items():
        t.store(names[value], t.at("%here", slot * v.bytes))
    return t.ended()


def _rows(t: IrWriter, fetched: list[Line], ahead: list[Group], place: int, count: int) -> None:
    """What is done for other rows after one of so many operations."""
    for group in (group for group in ahead if group.place == place):
        transpose(t, group)
    for line in fetched[len(fetched) * place // count : len(fetched) * (place + 1) // count]:
        fetch(t, line)
