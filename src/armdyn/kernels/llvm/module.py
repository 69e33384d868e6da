"""A program as a module of LLVM: the loop that NumPy calls, and what it is made of."""

import math
from functools import reduce
from itertools import accumulate, pairwise

from armdyn.graph.operations import FAR_ANGLE
from armdyn.graph.program import Program
from armdyn.kernels.llvm.ahead import Unit, merged, units_ahead
from armdyn.kernels.llvm.loop import Loop, begin_function
from armdyn.kernels.llvm.registers import WholeVectors, in_registers
from armdyn.kernels.llvm.rollout_loop import RolloutLoop, StateRows
from armdyn.kernels.llvm.rows import (
    GROUP,
    from_slot,
    load_function,
    scatter_function,
    write_columns,
)
from armdyn.kernels.llvm.segments import (
    LENGTHS,
    Plan,
    Segment,
    SineCosine,
    best_plan,
)
from armdyn.kernels.llvm.sweep_loop import SweepLoop
from armdyn.kernels.llvm.target import Target
from armdyn.kernels.llvm.trig import angle_sum_functions, sine_cosine_functions
from armdyn.kernels.llvm.vectors import IrWriter, Vectors


def module(
    program: Program,
    target: Target,
    dtype: str = "float64",
    *,
    rows: StateRows | None = None,
    sweep: bool = False,
    blocks: bool = False,
    lengths: tuple[int, int] = LENGTHS,
) -> str:
    """The text of the module that computes a program, with `@loop` for NumPy.

    Args:
        program: What to compute.
        target: For which processor.
        dtype: "float64" or "float32".
        rows: What is in the rows of a step of an integrator, for `@rollout_loop`.
        sweep: Whether to write `@sweep_loop`, which makes and reduces blocks of states.
        blocks: Whether arrays are blocks of lanes, each of which `@loop` counts as one state.
        lengths: Fewest and most operations in a segment.
    """
    inputs = tuple(len(a.symbols) for a in program.inputs)
    blocks = blocks or sweep
    vectors = Vectors(target.lanes(dtype), dtype, target.fma, inputs if blocks else ())
    output = program.shape
    wide = vectors.lanes % GROUP == 0 and math.prod(output) >= GROUP and not blocks
    pieces = best_plan(program, target, lengths, GROUP if wide else 1, blocks)
    lines = vectors.declarations()
    for columns in () if blocks else sorted(set(inputs)):
        lines += load_function(vectors, columns)
    if any(isinstance(step, SineCosine) for step in pieces.steps):
        lines += sine_cosine_functions(vectors)
    lines += begin_function(vectors, pieces)
    lines += segment_functions(vectors, pieces, program, target, inputs)
    lines += [] if blocks else scatter_function(vectors, output)
    lines += Loop(vectors, pieces, inputs, output).lines()
    lines += SweepLoop(vectors, math.prod(output)).lines() if sweep else []
    lines += RolloutLoop(vectors, rows, len(inputs) + 1).lines() if rows else []
    return "\n".join(lines) + "\n"


def segment_functions(
    v: Vectors, pieces: Plan, program: Program, target: Target, arrays: tuple[int, ...] = ()
) -> list[str]:
    """The functions of segments, and what they call; each says whether an angle was far from zero.

    With `arrays`, those behind the first steps are given the slots of another vector, of which they
    do the first steps between their own operations, and rows to transpose and fetch meanwhile.
    """
    constants = {
        place: v.splat(constant.value)
        for place, constant in enumerate(program.constants, start=len(program.symbols))
        if constant.value is not None
    }
    units = units_ahead(v, pieces, arrays, constants, program.shape) if arrays else []
    segments = {k: step for k, step in enumerate(pieces.steps) if isinstance(step, Segment)}
    straight = [k for k, step in segments.items() if k >= pieces.ahead and not step.adds_angles]
    sizes = [1 + len(segments[k].operations) for k in straight]  # one of none takes units too
    ends = [end / max(1, sum(sizes)) for end in accumulate(sizes, initial=0)]
    work = {
        number: [some[round(a * len(some)) : round(b * len(some))] for some in units]
        for number, (a, b) in zip(straight, pairwise(ends), strict=True)
    }
    # other processors take a constant from memory into all lanes within an operation
    table = WholeVectors(v) if v.lanes > 1 and target.bits < 512 else None
    given = ["ptr %here", *(f"ptr %in{k}" for k in range(len(v.blocks)))]
    rows = [f"ptr %ahead{k}, i64 %stride{k}" for k in range(len(arrays))]
    more = ["ptr %next", "ptr %out, i64 %out.stride", *rows] if arrays else []
    lines = angle_sum_functions(v) if any(s.adds_angles for s in segments.values()) else []
    for number, step in segments.items():
        taken = ", ".join([*given, *(more if number >= pieces.ahead else ())])
        lines.append(f"define internal i1 @segment{number}({taken}) noinline nounwind {{")
        if step.adds_angles:
            lines += _sums(v, step, constants)
            continue
        *text, end = _straight(v, step, constants, work.get(number, []))
        lines += [*in_registers(v, text, target.registers, table), end, "}"]
    return [*(table.lines() if table and table.numbers else []), *lines]


def _straight(
    v: Vectors, segment: Segment, constants: dict[int, str], work: list[list[Unit]]
) -> list[str]:
    """Operations, with units for another vector spread between them.

    Values are stored as soon as they are made, but at the end where their slot is read here, or
    where they are made elsewhere.
    """
    t = IrWriter(v)
    names = dict(constants)

    def name(value: int) -> str:
        if value not in names:
            names[value] = from_slot(t, segment.loads[value])
        return names[value]

    def store(value: int) -> None:
        t.store(name(value), t.at("%here", segment.stores[value] * v.bytes))

    place = {value: k for k, (value, _, _) in enumerate(segment.operations)}
    read = set(segment.loads.values())
    late = [x for x, slot in segment.stores.items() if slot in read or x not in place]
    results = sorted(
        (max(place.get(x, -1) for x in values), column, values)
        for column, values in segment.results
    )
    for k, (value, op, args) in enumerate(segment.operations):
        names[value] = t.operation(op, [name(a) for a in args])
        if value in segment.stores and value not in late:
            store(value)
        while results and results[0][0] <= k:
            _, column, values = results.pop(0)
            write_columns(t, column, [name(x) for x in values])
    for _, column, values in results:  # of a segment without operations
        write_columns(t, column, [name(x) for x in values])
    lines = t.lines
    t.lines = []
    far = ""
    for units in work:
        text = []
        for some, excesses in units:
            text += some
            for excess in excesses:
                far = t.let(f"or {v.integers} {far}, {excess}") if far else excess
            text = text + t.lines
            t.lines = []
        lines = merged(lines, text)
    for value in late:
        name(value)
    for value in late:
        store(value)
    mask = t.let(f"icmp slt {v.integers} {far}, zeroinitializer") if far else ""
    t.do(f"ret i1 {t.any(mask) if far else 'false'}")
    return [*lines, *t.lines]


def _sums(v: Vectors, segment: Segment, constants: dict[int, str]) -> list[str]:
    """The function of a segment that adds angles: where a sum is far from zero, all once more."""
    t = IrWriter(v)
    operations = segment.operations
    t.jump("near", begin="near")
    known = dict(constants)
    for value, slot in segment.loads.items():
        known[value] = from_slot(t, slot)
    near = dict(known)
    far = dict(known)
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
    for value, slot in segment.stores.items():
        t.store(names[value], t.at("%here", slot * v.bytes))
    return [*t.lines, "  ret i1 false", "}"]
