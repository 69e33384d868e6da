"""Random expression graphs, and what two lists of outputs must have in common."""

import numpy as np
from hypothesis import strategies as st

from armdyn.graph import Graph, evaluate, proved_equal

NUMBERS = (0, 1, -1, 2, 0.5, -0.3)
OPERATIONS = ("add", "sub", "mul", "neg", "sin", "cos", "divide")

steps = st.lists(
    st.tuples(st.sampled_from(OPERATIONS), st.integers(0, 10**6), st.integers(0, 10**6)),
    min_size=1,
    max_size=40,
)


def outputs_of(program):
    """The last few results of a list of (operation, operand, operand) on a fixed set of leaves."""
    graph = Graph()
    inputs = [graph.input(name) for name in ("x", "y", "q1", "q2")]
    parameters = [graph.parameter(name, value) for name, value in (("a", 0.7), ("b", -1.3))]
    pool = inputs + parameters + [graph.number(value) for value in NUMBERS]
    p, q = inputs[2:]
    angles = [p, q, p + q, p - q, 2 * p, (p + 0.3) + 0.6, parameters[0] - q]
    for op, i, j in program:
        a, b = pool[i % len(pool)], pool[j % len(pool)]
        if op in ("sin", "cos"):
            pool.append(graph.function(op, angles[i % len(angles)]))
        elif op == "neg":
            pool.append(-a)
        elif op == "divide":
            pool.append(a / (2 + b * b))
        else:
            pool.append(getattr(graph, op)(a, b))
    return pool[-4:]


graphs = st.builds(outputs_of, steps)

POINT = {"x": 0.4, "y": -0.8, "q1": 1.1, "q2": -0.6}


def assert_same_outputs(before, after, **values):
    """Assert that two lists of outputs are equal over the finite field and, to rounding, in float."""
    assert proved_equal(before, after)
    old, new = (np.array(evaluate(x, POINT | values), dtype=float) for x in (before, after))
    np.testing.assert_allclose(new, old, rtol=1e-9, atol=1e-9 * max(1.0, np.abs(old).max()))
