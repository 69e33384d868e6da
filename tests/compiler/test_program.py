"""Programs compute what their graph says, for any batch, and read the same everywhere."""

from dataclasses import replace
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given

from armdyn import load
from armdyn.errors import ShapeError, TraceError
from armdyn.formulations.composite_body import mass_matrix
from armdyn.formulations.newton_euler import newton_euler
from armdyn.graph import Graph, evaluate, reachable
from armdyn.graph.count import NO_OPERATIONS, Operations, count
from armdyn.graph.linearize import linearize
from armdyn.graph.nodes import trace
from armdyn.graph.program import Program
from support.peers import close
from support.processes import printed_with_two_orders_of_hashes
from support.random_graphs import POINT, graphs

SCALARS = dict.fromkeys(POINT)


def inverse_dynamics(name):
    robot = load(name)
    graph = Graph()
    states = [graph.inputs(k, robot.n) for k in ("q", "qd", "qdd")]
    outputs = trace(graph, lambda *x: newton_euler(robot.model, *x).tau, *states)
    return robot, Program.from_outputs(outputs, dict.fromkeys(("q", "qd", "qdd"), robot.n))


@given(graphs)
def test_a_program_computes_what_the_graph_does(outputs):
    program = Program.from_outputs(outputs, SCALARS)
    expected = np.array(evaluate(outputs, POINT), dtype=float)
    np.testing.assert_array_equal(program(*POINT.values()), expected)


@given(graphs)
def test_the_order_holds_each_operation_once_and_operands_first(outputs):
    order = linearize(outputs)
    seen = set()
    for node in order:
        assert all(a.index in seen or a.constant or not a.args for a in node.args)
        seen.add(node.index)
    run = {n.index for n in reachable(outputs) if n.args and not n.constant}
    assert seen == run
    assert len(order) == len(run)


@given(graphs)
def test_sine_and_cosine_of_an_angle_follow_each_other(outputs):
    order = [n for n in linearize(outputs) if n.op in ("sin", "cos")]
    angles = [n.args[0].index for n in order]
    assert all(angles[i] == angles[i - 1] for i in range(1, len(angles)) if angles[i] in angles[:i])


@pytest.mark.parametrize("batch", [(), (1,), (7,), (3, 2), (0,)])
def test_any_batch_shape(batch):
    robot, program = inverse_dynamics("ur5e")
    states = np.random.default_rng(0).uniform(-2, 2, size=(3, *batch, 6))
    result = program(*states)
    assert result.shape == (*batch, 6)
    close(result, newton_euler(robot.model, *states).tau, 1e-12)


def test_one_state_and_a_batch_give_the_same_bits():
    _, program = inverse_dynamics("puma560")
    states = np.random.default_rng(0).uniform(-2, 2, size=(3, 5, 6))
    np.testing.assert_array_equal(program(*states)[3], program(*states[:, 3]))


def test_inputs_broadcast_against_each_other():
    _, program = inverse_dynamics("two_link")
    q = np.linspace(-1, 1, 10).reshape(5, 2)
    np.testing.assert_array_equal(program(q, [1, 2], [0, 1])[4], program(q[4], [1, 2], [0, 1]))


def test_outputs_keep_their_shape():
    robot = load("panda")
    graph = Graph()
    q = graph.inputs("q", robot.n)
    outputs = trace(graph, lambda q: mass_matrix(robot.model, q), q)
    program = Program.from_outputs(outputs, {"q": robot.n})
    state = np.random.default_rng(1).uniform(-2, 2, size=(4, robot.n))
    assert program(state).shape == (4, 7, 7)
    close(program(state), mass_matrix(robot.model, state), 1e-12)


def test_a_single_output_is_a_scalar():
    g = Graph()
    program = Program.from_outputs(g.input("x") * 3, {"x": None})
    assert program(2.0) == 6.0
    assert program([1.0, 2.0]).tolist() == [3.0, 6.0]


def test_inputs_and_constants_can_be_outputs():
    g = Graph()
    x = g.input("x")
    program = Program.from_outputs([x, g.number(2), g.parameter("a", 0.3), -x], {"x": None})
    np.testing.assert_array_equal(program([1.0, 5.0]), [[1, 2, 0.3, -1], [5, 2, 0.3, -5]])


def test_constants_are_worked_out_once():
    g = Graph()
    x, a, b = g.input("x"), g.parameter("a", 0.3), g.parameter("b", 7.0)
    program = Program.from_outputs([(a * b + a.cos()) * x], {"x": None})
    assert [i.op for i in program.instructions] == ["mul"]
    assert program.operations.total == 1
    assert program(2.0)[0] == (0.3 * 7.0 + np.cos(0.3)) * 2.0


def test_a_negated_difference_is_taken_the_other_way_round():
    g = Graph()
    x, y = g.input("x"), g.input("y")
    program = Program.from_outputs([y - x], {"x": None, "y": None})
    assert [i.op for i in program.instructions] == ["sub"]
    assert program(1.0, 3.0)[0] == 2.0


def test_operations_are_those_of_the_graph():
    _, program = inverse_dynamics("renaud_6r")
    assert program.whole.total == program.operations.total == 401


def test_instructions_are_those_that_are_counted():
    _, program = inverse_dynamics("ur5e")
    ops = [i.op for i in program.instructions]
    assert ops.count("mul") == program.operations.mul
    added = sum(ops.count(op) for op in ("add", "sub", "angle_sum"))
    assert added == program.operations.add
    assert ops.count("sin") + ops.count("cos") == 2 * program.operations.trig


def test_the_listing_says_everything():
    g = Graph()
    x, a = g.input("q1"), g.parameter("a", 0.5)
    text = Program.from_outputs([a * a * x.sin() + 2], {"q": 1}).text
    assert text == (
        "inputs\n  q(1)\nbeforehand\n  a  # 0.5\n  c1 = a * a  # 0.25\n"
        "instructions  # 1 + 1 = 2\n  v1 = sin(q1)\n  v2 = c1 * v1\n  v3 = v2 + 2\n"
        "outputs (1,)\n  [0] = v3\n"
    )


def test_two_processes_write_the_same_listing():
    code = (
        "from armdyn import load\n"
        "from armdyn.shorten.passes import reduce\n"
        "from armdyn.graph.program import Program\n"
        "from armdyn.shorten.shorten import resubstitute\n"
        "from armdyn.graph.nodes import trace\n"
        "from armdyn.graph import Graph\n"
        "from armdyn.formulations.newton_euler import newton_euler\n"
        "m, g = load('saha_3r').model, Graph()\n"
        "s = [g.inputs(k, 3) for k in ('q', 'qd', 'qdd')]\n"
        "out = trace(g, lambda *x: newton_euler(m, *x).tau, *s)\n"
        "sizes = dict.fromkeys(('q', 'qd', 'qdd'), 3)\n"
        "print(Program.from_outputs(resubstitute(reduce(out)), sizes).text)\n"
    )
    texts = printed_with_two_orders_of_hashes(code)
    assert texts[0] == texts[1]
    assert "instructions" in texts[0]


def test_a_symbol_that_is_no_input_is_named():
    g = Graph()
    outputs = [g.input("q1") + g.input("payload") * g.input("qd2")]
    message = (
        r"symbols payload, qd2, which are not among the inputs of the program: q\(1\), qd\(1\)"
    )
    with pytest.raises(TraceError, match=message):
        Program.from_outputs(outputs, {"q": 1, "qd": 1})


def test_a_symbol_in_two_inputs_is_named():
    with pytest.raises(TraceError, match="the symbols q1 are in two inputs"):
        Program.from_outputs([Graph().input("q1")], {"q": 2, "q1": None})


def test_a_parameter_without_a_value_is_named_when_the_program_is_called():
    g = Graph()
    program = Program.from_outputs([g.parameter("length") * g.input("x")], {"x": None})
    assert "length" in program.text
    with pytest.raises(TraceError, match="the parameters length have no value"):
        program(1.0)


def test_outputs_of_two_graphs_are_refused():
    with pytest.raises(TraceError, match="belongs to another graph"):
        Program.from_outputs([Graph().input("x"), Graph().input("x")], {"x": None})


def test_an_output_that_is_no_node_is_refused():
    with pytest.raises(TraceError, match=r"the output 3\.0 is not a node"):
        Program.from_outputs([3.0], {})


def test_arrays_of_the_wrong_number_or_shape_are_refused():
    _, program = inverse_dynamics("two_link")
    with pytest.raises(ShapeError, match=r"takes 3 arrays \(q, qd, qdd\), got 1"):
        program([0, 0])
    with pytest.raises(ShapeError, match=r"qd: expected shape \(\.\.\., 2\)"):
        program([0, 0], [0, 0, 0], [0, 0])


def test_names_of_symbols_are_never_executed():
    g = Graph()
    name = "x;raise SystemExit"
    assert Program.from_outputs([g.input(name) * 2], {name: None})(4.0)[0] == 8.0


def test_a_robot_without_joints():
    assert Program.from_outputs(np.empty((0,), dtype=object), {"q": 0})(np.empty((5, 0))).shape == (
        5,
        0,
    )


def test_an_empty_program():
    program = Program.from_outputs(np.empty((0,), dtype=object), {"x": None})
    assert program([1.0, 2.0]).shape == (2, 0)
    assert count([]).total == program.operations.total == 0


def test_operations_are_those_without_rotors_and_friction():
    g = Graph()
    x, y = g.input("x"), g.input("y")
    whole = Program.from_outputs([x * y + x.sin() / y], dict.fromkeys("xy"))
    links, more = Operations(1, 0), Operations(1, 1)
    program = replace(whole, split=lambda: (links, more))
    assert (program.operations, program.rotors) == (links, Operations(0, 1))
    assert program.friction == Operations(0, 0, div=1, trig=1)
    assert program.operations + program.rotors + program.friction == program.whole
    assert (whole.operations, whole.rotors) == (whole.whole, NO_OPERATIONS)


FAR = {
    "a sum": (lambda p, q, x: p + q, (1, 1)),
    "a difference": (lambda p, q, x: q - p, (-1, 1)),
    "an opposite": (lambda p, q, x: -(p + q), (-1, -1)),
    "a joint that follows": (lambda p, q, x: 0.5 * p + (q - 0.25 * p), (0.25, 1)),
    "sums of sums": (lambda p, q, x: (p + q) + (p - q - q), (2, -1)),
}


@pytest.mark.parametrize("name", FAR)
def test_sines_of_sums_of_far_angles_have_all_their_bits(name):
    """A plain sum of angles of 1e9 rad has lost 1e-7 rad."""
    g = Graph()
    p, q, x = (g.input(name) for name in ("p", "q", "x"))
    total, times = FAR[name]
    angle = total(p, q, x)
    program = Program.from_outputs([angle.sin(), angle.cos()], dict.fromkeys(("p", "q", "x")))
    at = (1.0e9 + 0.376, -0.7e9 - 0.1093, 0.0)
    exact = sum(k * Fraction(v) for k, v in zip(map(Fraction, times), at, strict=False))
    with mpmath.workdps(40):
        wanted = mpmath.mpf(exact.numerator) / exact.denominator
        expected = [float(mpmath.sin(wanted)), float(mpmath.cos(wanted))]
    np.testing.assert_allclose(program(*at), expected, rtol=0, atol=3e-15)


def test_a_sum_that_is_more_than_an_angle_keeps_its_value():
    g = Graph()
    p, q = g.input("p"), g.input("q")
    for outputs in ([p + q, (p + q).sin()], [(p + q).sin(), (p + q) * q], [(p * p - q).sin()]):
        program = Program.from_outputs(outputs, dict.fromkeys("pq"))
        assert "angle_sum" not in [step.op for step in program.instructions]
        values = evaluate(outputs, {"p": 101.3, "q": -7.9})
        np.testing.assert_array_equal(program(101.3, -7.9), values)
