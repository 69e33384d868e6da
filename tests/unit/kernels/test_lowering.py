"""From programs to segments: whatever is moved, fused or put into a slot, the values stay."""

import re
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import armdyn
from armdyn.arrays import RELATIVE_PIVOT, SINGLE_PIVOT
from armdyn.graph import Graph
from armdyn.graph.field import PRIME
from armdyn.graph.linearize import delay, tighten
from armdyn.graph.operations import OPERATIONS
from armdyn.graph.program import Constant, Input, Instruction, Program
from armdyn.kernels.llvm.fuse import FUSED, fuse
from armdyn.kernels.llvm.module import module
from armdyn.kernels.llvm.segments import Planner, Segment, best_plan, hastened, lower
from armdyn.quantities.program import quantity_program
from armdyn.quantities.request import Request
from support.compiled_programs import HOST, compiled, targets
from support.peers import close
from support.random_graphs import POINT, graphs
from support.random_robots import random_model

UNARY, BINARY = ("neg", "sin", "cos", "sqrt"), ("add", "sub", "mul", "div")


@st.composite
def programs(draw):
    """Programs in which sums, products and angles meet in every way; none is ever simplified."""
    symbols, constants = draw(st.integers(1, 5)), draw(st.integers(0, 3))
    first, instructions = symbols + constants, []
    kinds = st.sampled_from((*UNARY, *BINARY, "add", "sub", "mul", "add", "sub", "mul"))
    for op in draw(st.lists(kinds, max_size=60)):
        last = first + len(instructions) - 1
        latest = st.integers(max(0, last - 6), last)
        places = st.one_of(st.integers(0, last), latest)
        args = tuple(draw(places) for _ in range(1 if op in UNARY else 2))
        if op in ("sin", "cos") and symbols <= args[0] < first:
            continue  # those of constants are constants
        if Instruction(op, args) not in instructions:  # an expression is in a program once
            instructions.append(Instruction(op, args))
    outputs = draw(st.lists(st.integers(0, first + len(instructions) - 1), min_size=1, max_size=8))
    return Program(
        inputs=(Input("x", symbols),),
        constants=tuple(Constant("number", (), str(k), 0.5 + k) for k in range(constants)),
        instructions=tuple(instructions),
        outputs=tuple(outputs),
        shape=(len(outputs),),
    )


def operation(op, args):
    """An operation over a finite field; functions are arbitrary, only always the same."""
    if op in FUSED:
        times, plus = (-1 if sign else 1 for sign in FUSED[op])
        return (times * args[0] * args[1] + plus * args[2]) % PRIME
    if op in ("add", "sub"):
        return (args[0] + (args[1] if op == "add" else -args[1])) % PRIME
    if op == "mul":
        return args[0] * args[1] % PRIME
    if op == "neg":
        return -args[0] % PRIME
    return hash((op, *args)) % PRIME


def leaves(program):
    rng = np.random.default_rng(1)
    count = len(program.symbols) + len(program.constants)
    return [int(x) for x in rng.integers(0, PRIME, count)]


def truth(program):
    values = leaves(program)
    for instruction in program.instructions:
        values.append(operation(instruction.op, [values[a] for a in instruction.args]))
    return values


def carried_out(program, pieces):
    """The outputs of a plan, in a memory in which nothing is but what was put there."""
    known, inputs = leaves(program), len(program.symbols)
    memory = dict(enumerate(known[:inputs]))
    for step in pieces.steps:
        if isinstance(step, Segment):
            values = {k: v for k, v in enumerate(known) if k >= inputs}
            values |= {value: memory[slot] for value, slot in step.loads.items()}
            for value, op, args in step.operations:
                values[value] = operation(op, [values[a] for a in args])
            assert len(set(step.stores.values())) == len(step.stores)
            memory |= {slot: values[value] for value, slot in step.stores.items()}
        else:
            for i in range(step.count):
                angle = memory[step.angles + i]
                memory[step.sines + i] = operation("sin", [angle])
                memory[step.cosines + i] = operation("cos", [angle])
    assert all(0 <= slot < pieces.slots for slot in memory)
    return [memory[slot] for slot in pieces.outputs]


def check_order(program, lowered):
    """Operands first, every value once, sines and cosines between the layers."""
    there = set(range(len(program.symbols) + len(program.constants)))
    for layer in lowered:
        for value, _, args in layer.operations:
            assert set(args) <= there
            assert value not in there
            there.add(value)
        for angle, sine, cosine in layer.angles:
            assert angle in there
            there |= {sine, cosine} - {-1}
    assert lowered[-1].angles == ()
    assert set(program.outputs) <= there


@pytest.mark.slow
@settings(max_examples=100)
@given(programs(), st.booleans())
def test_fused_sums_are_the_sums(program, split):
    values = truth(program)
    first = len(program.symbols) + len(program.constants)
    before = {first + i: (op.op, op.args) for i, op in enumerate(program.instructions)}
    found = dict(enumerate(values[:first]))
    after = fuse(before, program.outputs, split)
    for value, (op, args) in after.items():
        found[value] = operation(op, [found[a] for a in args])
    assert [found[k] for k in program.outputs] == [values[k] for k in program.outputs]


@pytest.mark.slow
@settings(max_examples=100)
@given(programs())
def test_products_are_fused_into_sums_if_only_sums_use_them(program):
    lowered = lower(program, fma=True)
    check_order(program, lowered)
    made = {v: (op, args) for layer in lowered for v, op, args in layer.operations}
    begun = {args[2] for op, args in made.values() if op in FUSED}
    fused = {args[:2] for op, args in made.values() if op in FUSED}
    first = len(program.symbols) + len(program.constants)
    for value, instruction in enumerate(program.instructions, start=first):
        users = {i.op for i in program.instructions if value in i.args}
        only_sums = users <= {"add", "sub"} and value not in program.outputs
        if instruction.op == "mul" and only_sums:
            assert value not in made or value in begun
        elif instruction.op == "mul":
            assert instruction.args not in fused
    assert len(made) <= len(program.instructions)


@pytest.mark.slow
@settings(max_examples=100)
@given(programs(), st.integers(1, 9), st.integers(0, 9), st.booleans())
def test_segments_and_slots_keep_every_value(program, shortest, more, fma):
    values, lengths = truth(program), (shortest, shortest + more)
    needed = lower(program, fma)
    for lowered in (needed, hastened(needed)):
        check_order(program, lowered)
        assert carried_out(program, Planner(program).plan(lowered, lengths)) == [
            values[k] for k in program.outputs
        ]


def operations_of(pieces):
    segments = (step for step in pieces.steps if isinstance(step, Segment))
    return {value: rest for segment in segments for value, *rest in segment.operations}


@pytest.mark.slow
@settings(max_examples=50)
@given(programs(), st.integers(1, 9), st.booleans())
def test_processors_choose_an_order_and_nothing_else(program, shortest, fma):
    """Whatever registers and segments there are, the same operations round in the same way."""
    values = truth(program)
    targets = [replace(HOST, fma=fma, registers=count) for count in (6, 16, 32)]
    plans = [best_plan(program, target) for target in targets]
    plans.append(best_plan(program, targets[0], (shortest, 2 * shortest)))
    for pieces in plans:
        assert carried_out(program, pieces) == [values[k] for k in program.outputs]
        assert operations_of(pieces) == operations_of(plans[0])


@pytest.mark.slow
@pytest.mark.parametrize("fma", [True, False])
@pytest.mark.parametrize(
    ("name", "quantity"),
    [
        ("panda", "forward_dynamics"),
        ("puma560", "ledger"),
        ("tree", "inverse_dynamics_derivatives"),
    ],
)
def test_segments_of_robots(name, quantity, fma):
    model = random_model("RRPRRRPR", 3, tree=True) if name == "tree" else armdyn.load(name).model
    program = quantity_program(model, Request(quantity))
    lowered = lower(program, fma)
    values = truth(program)
    for shortest, longest in ((80, 160), (5, 9), (40, 41)):
        pieces = Planner(program).plan(lowered, (shortest, longest))
        assert carried_out(program, pieces) == [values[k] for k in program.outputs]
        lengths = [len(s.operations) for s in pieces.steps if isinstance(s, Segment)]
        assert max(lengths) <= longest
        assert sum(lengths) == sum(len(layer.operations) for layer in lowered)
        assert sum(0 < length < shortest for length in lengths) <= len(lowered)
        assert pieces.slots < len(program.symbols) + len(program.instructions)


@given(programs())
def test_another_order_computes_the_same_values_operands_first(program):
    first = len(program.symbols) + len(program.constants)
    operands = {first + i: op.args for i, op in enumerate(program.instructions)}
    tight = tighten(list(operands), operands)
    for order in (tight, delay(tight, operands)):
        assert sorted(order) == sorted(operands)
        place = {value: i for i, value in enumerate(order)}
        assert all(place[a] < place[v] for v, args in operands.items() for a in args if a in place)


@pytest.mark.slow
@given(graphs, st.sampled_from(sorted(targets())), st.integers(1, 30))
def test_machine_code_of_any_program(outputs, target, longest):
    program = Program.from_outputs(np.array(outputs), {"x": None, "y": None, "q": 2})
    function = compiled(program, targets()[target], lengths=(1, longest))
    rng = np.random.default_rng(7)
    states = {name: value + rng.normal(0, 0.3, 11) for name, value in POINT.items()}
    arrays = states["x"], states["y"], np.stack([states["q1"], states["q2"]], -1)
    found = function(arrays[0][:, None], arrays[1][:, None], arrays[2])
    expected = program(*arrays)
    close(found, expected, 1e-12)
    assert np.array_equal(found[3], function(*(x[3].reshape(-1) for x in arrays)))


@pytest.mark.slow
@pytest.mark.parametrize("target", targets())
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_every_operation_with_every_kind_of_number(target, dtype):
    graph = Graph()
    a, b = graph.input("x1"), graph.input("x2")
    outputs = [getattr(graph, op)(a, b) for op in ("add", "sub", "mul", "div", "guard")]
    outputs += [-a, *(graph.function(op, a) for op in ("sqrt", "exp", "tanh", "sign"))]
    names = ("add", "sub", "mul", "div", "guard", "neg", "sqrt", "exp", "tanh", "sign")
    program = Program.from_outputs(np.array(outputs), {"x": 2})
    numbers = [0.0, -0.0, 1.0, -2.5, 1e-30, -1e-3, 3e20, np.inf, -np.inf, np.nan]
    x = np.array(np.meshgrid(numbers, numbers), dtype).reshape(2, -1).T
    with np.errstate(all="ignore"):
        found = compiled(program, targets()[target], dtype)(x)
        for k, name in enumerate(names):
            given = (x[:, 0], x[:, 1])[: 2 if k < 5 else 1]
            expected = OPERATIONS[name].value(*given)
            np.testing.assert_allclose(
                found[:, k], expected, rtol=4 * np.finfo(dtype).eps, atol=0, err_msg=name
            )
            signs = ~np.isnan(expected) & ((name != "sign") | (expected != 0))
            assert np.array_equal(np.signbit(found[signs, k]), np.signbit(expected[signs])), name


def test_pivots_that_are_rounding_are_not_numbers():
    graph = Graph()
    program = Program.from_outputs(
        np.array([graph.guard(graph.input("x1"), graph.input("x2"))]), {"x": 2}
    )
    for dtype, least in (("float64", RELATIVE_PIVOT), ("float32", SINGLE_PIVOT)):
        function = compiled(program, HOST, dtype)
        for scale in (1.0, 1e-8, -3e5):
            pivot = np.array([1.5, -1.5, 0.5, -0.5, 0.0]) * least * abs(scale)
            pairs = np.stack([pivot, np.full(5, scale)], -1).astype(dtype)
            assert np.isnan(function(pairs)[:, 0]).tolist() == [False, False, True, True, True]


@pytest.mark.slow
def test_work_is_about_linear_in_the_joints():
    """Operations, segments and scratch memory of long chains and big trees."""
    for tree in (False, True):
        sizes = []
        for n in (10, 20, 40):
            model = random_model("R" * n, 5, tree=tree)
            program = quantity_program(model, Request("inverse_dynamics"))
            pieces = Planner(program).plan(lower(program, HOST.fma, split=False))
            best = best_plan(program, HOST)
            sizes.append((len(program.instructions), len(pieces.steps), pieces.slots))
            assert best.slots <= 1.2 * pieces.slots  # what runs is not far from it
            assert len(best.steps) <= len(pieces.steps) + 1
        for small, large in pairwise(sizes):
            assert all(b <= 2.6 * a for a, b in zip(small, large, strict=True))


@pytest.mark.parametrize("form", [{}, {"blocks": True}, {"sweep": True}], ids=str)
def test_functions_are_called_with_what_they_take(form):
    """LLVM does not say it if they are not, and what they read then is chance."""
    model = random_model("RRRRRRRR", 3)
    for quantity in ("inverse_dynamics", "forward_dynamics"):
        program = quantity_program(model, Request(quantity, friction=False))
        text = module(program, HOST, **form)
        kinds = {}
        for name, taken in re.findall(r"^define [^@]*@([\w.]+)\((.*?)\)", text, re.MULTILINE):
            kinds[name] = [part.split()[0] for part in taken.split(",") if part]
        calls = [c for c in re.findall(r"call [^@]*@([\w.]+)\((.*)\)", text) if c[0] in kinds]
        assert {"begin", "sin_cos"} < {name for name, _ in calls} or form == {"sweep": True}
        for name, passed in calls:
            assert [part.split()[0] for part in passed.split(",")] == kinds[name], name
