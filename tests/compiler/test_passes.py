"""Every pass keeps every value, costs no more, and does what its name says."""

import numpy as np
import pytest
from hypothesis import given

from armdyn import from_dh, load
from armdyn.errors import GraphError
from armdyn.formulations.newton_euler import newton_euler
from armdyn.graph import Graph, proved_equal
from armdyn.graph.count import count
from armdyn.graph.nodes import trace
from armdyn.quantities.formulations import FORMULATIONS
from armdyn.shorten.passes import PASSES, angles, factor, fold, hoist, reduce, share
from support.random_graphs import assert_same_outputs, graphs


def traced(model, formulation=newton_euler):
    graph = Graph()
    states = [graph.inputs(k, len(model.joints)) for k in ("q", "qd", "qdd")]
    return list(trace(graph, lambda *x: formulation(model, *x).tau, *states))


@pytest.fixture
def g():
    return Graph()


@pytest.fixture
def symbols(g):
    return [g.input(name) for name in "xyzw"]


@pytest.mark.parametrize("run", dict.fromkeys(PASSES), ids=lambda run: run.__name__)
@given(outputs=graphs)
def test_a_pass_keeps_values_and_costs_no_more(run, outputs):
    after = run(list(outputs))
    assert_same_outputs(outputs, after)
    assert count(after).total <= count(outputs).total


@given(graphs)
def test_all_passes_together(outputs):
    reduced = reduce(outputs)
    assert_same_outputs(outputs, reduced)
    assert count(reduced).total <= count(outputs).total


@given(graphs)
def test_a_second_reduction_is_never_worse(outputs):
    once = reduce(outputs)
    assert count(reduce(once)).total <= count(once).total


def test_nothing_reduces_to_nothing():
    assert reduce([]) == []


def test_every_pass_has_a_name_and_one_line_that_says_what_it_does():
    for run in PASSES:
        assert run.__doc__.splitlines()[0].endswith(".")
    assert [run.__name__ for run in PASSES][:2] == ["fold", "share"]


# what each pass is for


def test_share_computes_one_value_once_however_it_is_written(symbols):
    x, y, z, _ = symbols
    outputs = [x * (y + z), x * y + x * z]
    assert count(share(outputs)).total == 2


def test_hoist_multiplies_constants_beforehand(g, symbols):
    x, y, *_ = symbols
    a, b = g.parameter("a"), g.parameter("b")
    assert count(hoist([a * (b * x)])).total == 1
    assert count(hoist([(a * x) * (b * y)])).total == 2
    assert count(hoist([a * x + b * x])).total == 1
    assert count(hoist([a * x - a * y])).total == 2
    assert count(hoist([(x + a) - b])).total == 1
    assert count(hoist([b - (a + x)])).total == 1
    assert count(hoist([((x + a) + y) + b])).total == 2
    assert count(hoist([2 * (x + a) - b * (y - a)])).total == 4
    assert count(hoist([3 * ((a * (x + b)) * y)])).total == 3
    assert count(hoist([(a * x) / (b * y)])) == count([a * (x / y)])
    assert count(hoist([2 * (0.4 * x), 0.4 * y])).total == 2


def test_hoist_leaves_a_shared_product_shared(g, symbols):
    x, y, z, _ = symbols
    scaled = g.parameter("a") * x
    outputs = [scaled * y, scaled * z]
    assert count(hoist(outputs)).total == count(outputs).total == 3


def test_factor_takes_out_what_gains_most(g, symbols):
    x, y, z, w = symbols
    a, b = g.parameter("a"), g.parameter("b")
    assert count(factor([x * y + x * z])).total == 2
    assert count(factor([x * y - w - x * z])).total == 3
    assert count(factor([x * y * w + x * z * w + y * z])).total == 5
    assert count(factor([x * y + x * z + x * w + y * z])).total == 5
    assert count(factor([a * x * y + b * x * y])).total == 2
    assert count(factor([x + x * y + x * z])).total == 3


def test_factor_leaves_shared_products_alone(symbols):
    x, y, z, _ = symbols
    outputs = [x * y + x * z, x * y, x * z]
    assert count(factor(outputs)).total == count(outputs).total == 3


@pytest.mark.parametrize("sign", [1, -1])
def test_angles_of_parallel_axes_add_up(g, sign):
    p, q, x = g.input("q1"), g.input("q2"), g.input("x")
    c = p.cos() * q.cos() - sign * (p.sin() * q.sin())
    s = p.sin() * q.cos() + sign * (p.cos() * q.sin())
    after = angles([c * x, s * x])
    assert proved_equal([c * x, s * x], after)
    assert proved_equal(after, [(p + sign * q).cos() * x, (p + sign * q).sin() * x])
    assert count(after).total == 3
    assert count(after).trig == 1


def test_angles_finds_three_in_a_row_in_a_rotated_vector(g):
    """A vector that three planar rotations turn, as gravity is along three parallel axes."""
    x, y = g.parameter("a"), g.number(0)
    for q in g.inputs("q", 3):
        x, y = q.cos() * x + q.sin() * y, q.cos() * y - q.sin() * x
    after = angles([x, y])
    assert count([x, y]).total == 14
    assert count(after).total == 4
    assert count(after).trig == 1


def test_angles_adds_no_call_that_saves_nothing(g):
    p, q = g.input("q1"), g.input("q2")
    outputs = [p.cos() * q.cos(), p.sin() * q.sin()]
    assert count(angles(outputs)) == count(outputs)


def test_fold_keeps_only_what_is_needed(g, symbols):
    x, y, *_ = symbols
    outputs = [x * y]
    after = fold(outputs)
    assert len(after[0].graph.nodes) == 3 < len(g.nodes)


def test_fold_builds_a_graph_of_its_own(symbols):
    outputs = [symbols[0] + symbols[1]]
    assert fold(outputs)[0].graph is not outputs[0].graph


# robots


@pytest.mark.parametrize(
    ("robot", "at_most"),
    [("two_link", 33), ("saha_3r", 144), ("renaud_6r", 392), ("ur5e", 402), ("puma560", 486)],
)
def test_newton_euler_as_traced_loses_operations(robot, at_most):
    outputs = traced(load(robot).model)
    assert count(reduce(outputs)).total <= at_most < count(outputs).total


@pytest.mark.parametrize("name", sorted(FORMULATIONS))
def test_every_formulation_reduces_to_the_same_function(name):
    model = load("two_link").model
    outputs = traced(model, FORMULATIONS[name])
    reduced = reduce(outputs)
    assert_same_outputs(
        outputs, reduced, **{f"{k}{i}": 0.3 * i - 0.5 for k in ("q", "qd", "qdd") for i in (1, 2)}
    )
    assert count(reduced).total < count(outputs).total + (name == "minimal")


@pytest.mark.thorough(reason="a chain of a hundred joints")
def test_operations_of_a_long_chain_grow_in_proportion():
    row = {"joint": "revolute", "a": 0.2, "d": 0.1, "mass": 1.0, "com": (0.1, 0.02, 0.0)}
    total, nodes = {}, {}
    for n in (25, 50, 100):
        rows = [row | {"alpha": (np.pi / 2, 0.0)[i % 2], "inertia": np.eye(3)} for i in range(n)]
        outputs = reduce(traced(from_dh(rows).model))
        total[n], nodes[n] = count(outputs).total, len(outputs[0].graph.nodes)
    assert total[100] - total[50] == pytest.approx(2 * (total[50] - total[25]), rel=0.05)
    assert nodes[100] < 2.1 * nodes[50]


# what goes wrong


def test_a_pass_that_changes_a_value_is_named_with_the_output(symbols):
    def wrong(outputs):
        """Break the second output."""
        return [outputs[0], outputs[1] + 1]

    x, y, *_ = symbols
    with pytest.raises(GraphError, match=r"wrong: node \d+, .*does not have the value of output 1"):
        reduce([x, y], [wrong])


def test_a_pass_that_loses_an_output_is_named(symbols):
    def forgetful(outputs):
        """Lose an output."""
        return outputs[1:]

    with pytest.raises(GraphError, match="forgetful: made 1 outputs of 2"):
        reduce(symbols[:2], [forgetful])


def test_a_pass_that_would_cost_more_is_passed_over(symbols):
    def worse(outputs):
        """Write every output in a longer way."""
        spare = outputs[0].graph.input("w") * outputs[0].graph.input("z")
        return [(node + spare) - spare for node in outputs]

    x, y, *_ = symbols
    outputs = [x * y]
    assert reduce(outputs, [worse]) == outputs
