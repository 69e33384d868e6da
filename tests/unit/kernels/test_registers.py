"""Registers are decided before LLVM: never more values than there are, and the same results."""

import re
from collections import Counter

import numpy as np
import pytest

from armdyn.graph import Graph
from armdyn.graph.program import Program
from armdyn.kernels.llvm.registers import WholeVectors, in_registers
from armdyn.kernels.llvm.vectors import IrWriter, Vectors
from support.compiled_programs import compiled

V = Vectors(4, "float64", True)
VALUES, ROUNDS = 12, 30


def sums(seed):
    """Code that makes values from values drawn at random, and stores all of them at its end."""
    rng = np.random.default_rng(seed)
    t = IrWriter(V)
    values = [t.load(t.at("%here", k * V.bytes)) for k in range(VALUES)]
    for _ in range(ROUNDS):
        a, b, c = (values[k] for k in rng.choice(VALUES, 3, replace=False))
        values[rng.integers(VALUES)] = t.fused(a, b, c, *rng.choice(["", "-"], 2))
        values[rng.integers(VALUES)] = t.binary("mul", a, V.splat(rng.uniform(1, 2)))
    for k, value in enumerate(values):
        t.store(value, t.at("%next", k * V.bytes))
    return t.lines


def most_alive(lines):
    """How many vectors are alive at a time, but for what goes into the one line that uses it."""
    names = [name for line in lines for name in re.findall(r"%[\w.]+", line)]
    uses = {name: count - 1 for name, count in Counter(names).items()}
    last = {name: k for k, line in enumerate(lines) for name in re.findall(r"%[\w.]+", line)}
    alive, most = set(), 0
    for k, line in enumerate(lines):
        alive = {name for name in alive if last[name] > k}
        made = re.match(r"  (%[\w.]+) = (?!getelementptr|alloca|fneg|bitcast)(\w+)", line)
        if made and last[made[1]] > k and (made[2] != "load" or uses[made[1]] > 1):
            alive.add(made[1])
        most = max(most, len(alive))
    return most


@pytest.mark.parametrize("registers", [5, 8, 16])
@pytest.mark.parametrize("seed", range(5))
def test_no_more_values_are_alive_than_there_are_registers(seed, registers):
    lines = sums(seed)
    decided = in_registers(V, lines, registers, WholeVectors(V))
    assert most_alive(decided) < registers
    assert "splat" not in "".join(decided)
    if registers < 8:
        assert most_alive(lines) > registers
        assert any("store volatile" in line for line in decided)


def test_what_nothing_reads_is_left_out():
    t = IrWriter(V)
    value = t.load(t.at("%here", 0))
    t.fused(value, value, value)
    t.store(value, t.at("%next", 0))
    assert not any("fma" in line for line in in_registers(V, t.lines, 16, None))


def test_a_value_is_not_taken_for_its_negative_that_was_stored():
    graph = Graph()
    x = [graph.input(f"x{k + 1}") for k in range(4)]
    product = x[0] * x[1]
    sums = [product * (k + 1.5) + x[k % 4] for k in range(40)]
    outputs = np.array([-product, *sums, product], dtype=object)
    program = Program.from_outputs(outputs, {"x": 4})
    given = np.random.default_rng(0).uniform(-1, 1, (50, 4))
    result = compiled(program, lengths=(5, 10))(given)
    assert np.array_equal(result[:, 0], -result[:, -1])
    assert np.array_equal(result[:, -1], given[:, 0] * given[:, 1])
