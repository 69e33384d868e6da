"""Robots in graphs: symbols, run-time inputs, and the shortest programs."""

import os
import re
from dataclasses import replace

import numpy as np
import pytest

import armdyn
from armdyn.arrays import frozen
from armdyn.formulations.articulated_body import articulated_body
from armdyn.formulations.augmented_body import augmented_body
from armdyn.formulations.denoc_forward import denoc_forward
from armdyn.formulations.newton_euler import newton_euler
from armdyn.formulations.parameters import robot_parameters
from armdyn.graph import Graph, proved_equal
from armdyn.graph.count import count
from armdyn.graph.nodes import trace
from armdyn.graph.program import Program
from armdyn.model.edit import without_rounding
from armdyn.quantities.program import QUANTITIES, quantity_program
from armdyn.quantities.request import Request
from armdyn.shorten.canonical.frames import canonical, with_tip_phase
from armdyn.shorten.canonical.model import branches, model_from_canonical
from armdyn.shorten.minimal.options import options
from armdyn.shorten.minimal.torques import minimal
from armdyn.shorten.parts import BIAS, MASS_MATRIX, TORQUES, WEIGHT, forward_dynamics
from armdyn.shorten.program_store import ProgramStore, key_of
from armdyn.shorten.run_time import payload_vector
from armdyn.shorten.shortest import shortest
from armdyn.shorten.symbolic import generic, pattern, symbolic
from support.arms import ARMS
from support.counted_arms import minimal_outputs, prepared
from support.elastic_arms import elastic_arm
from support.peers import close
from support.programs import EvaluatedRobot, kept_program
from support.random_robots import random_model, random_states

STATE = ("q", "qd", "qdd")


def traced(robot):
    graph, n = Graph(), len(robot.links)
    model = model_from_canonical(symbolic(robot, graph))
    states = [graph.inputs(name, n) for name in ("q", "qd", "qdd")]
    return trace(graph, lambda *s: augmented_body(model, *s).tau, *states)


@pytest.mark.parametrize("name", ["two_link", "stanford", "scara", "panda"])
def test_a_robot_of_symbols_has_the_torques_of_the_robot(name):
    model = armdyn.load(name).model
    n = len(model.joints)
    program = Program.from_outputs(traced(canonical(model)), {"q": n, "qd": n, "qdd": n})
    states = random_states(model, 3, batch=(4,))
    close(program(*states), newton_euler(model, *states).tau, 1e-11)


@pytest.mark.slow
@pytest.mark.parametrize("part", [TORQUES, WEIGHT, BIAS])
@pytest.mark.parametrize("name", ["two_link", "scara", "saha_3r"])
def test_shortest_programs_are_proved_equal_to_augmented_bodies(name, part):
    (robot,) = branches(canonical(armdyn.load(name).model)).values()
    outputs = minimal_outputs(robot, part)
    graph, n = outputs[0].graph, len(robot.links)
    symbols = model_from_canonical(symbolic(prepared(robot), graph))
    states = [graph.inputs(key, n) if key in part.vectors else np.zeros(n) for key in STATE]
    reference = trace(graph, lambda: augmented_body(symbols, *states).tau)
    assert proved_equal(outputs, reference)
    assert count(outputs).total <= count(reference).total


@pytest.mark.slow
def test_shortest_forward_dynamics_inverts_the_torques():
    model = armdyn.load("scara").model
    outputs = minimal_outputs(canonical(model), forward_dynamics(np.zeros(4)))
    program = Program.from_outputs(np.array(outputs), {"q": 4, "qd": 4, "tau": 4})
    q, qd, qdd = random_states(model, 7, batch=(3,))
    close(program(q, qd, newton_euler(model, q, qd, qdd).tau), qdd, 1e-8)


def test_shortest_mass_matrix_is_its_lower_triangle():
    robot = armdyn.load("scara")
    outputs = minimal_outputs(canonical(robot.model), MASS_MATRIX)
    program = Program.from_outputs(np.array(outputs), {"q": 4})
    q = random_states(robot.model, 8)[0]
    close(program(q), robot.mass_matrix(q)[np.tril_indices(4)], 1e-11)


def test_a_program_is_kept_by_the_zeros_of_a_robot(tmp_path):
    store, robot = ProgramStore(tmp_path / "programs"), prepared(canonical(two_link().model))
    program, key = shortest(robot, TORQUES), key_of("torques", pattern(robot))
    store.store(key, program)
    (file,) = (tmp_path / "programs").iterdir()
    heavier = prepared(canonical(two_link().with_gravity((0, -3.7, 0)).model))
    assert store.find(key_of("torques", pattern(heavier))).data() == program.data()
    other = prepared(canonical(armdyn.load("saha_3r").model))
    assert store.find(key_of("torques", pattern(other))) is None
    text = file.read_text()
    for damage in ("", "[]", text[:-20], text.replace("*", "+", 1), text.replace("0.", "1.", 1)):
        file.write_text(damage)
        assert store.find(key) is None
    deep, huge = "[" * 100_000, '["1", 2, ' + "9" * 6000 + "]"
    for damage in (deep, huge, "null", "3", '["1", "2", 3]', '["1", "2", null]', "\0\xff"):
        file.write_text(damage)
        assert store.find(key) is None
    if hasattr(os, "mkfifo"):
        file.unlink()
        os.mkfifo(file)
        assert store.find(key) is None
        store.store(key, program)
        assert store.find(key).data() == program.data()
        file.parent.chmod(0o777)
        assert store.find(key) is None
        store.store(key_of("weight", []), program)
        assert file.parent.stat().st_mode & 0o777 == 0o700
        assert store.find(key) is None


@pytest.mark.parametrize(
    "data",
    [
        [],
        [[], [], [["+", 0, 1]], [0]],
        [[["q", 1]], [], [], [1]],
        [[["q", "x"]], [], [], [0]],
        [[], [["number", []]], [], [0]],
        [[], [["parameter", 3]], [], [0]],
        [[], [["other", "q"]], [], [0]],
        [[["q", 1]], [["+", 0, 2]], [], [0]],
        [[["q", 1]], [], [["+", 0]], [0]],
        [[["q", 1]], [], [], [float("inf")]],
        3,
    ],
)
def test_what_is_no_program_is_said(data):
    with pytest.raises(ValueError, match="program"):
        Program.from_data(data)


def two_link():
    return armdyn.load("two_link")


@pytest.mark.slow
def test_a_program_depends_on_the_zeros_of_a_robot_alone():
    """Not on its numbers, nor on what was asked for before."""
    robot = prepared(canonical(armdyn.load("saha_3r").model))
    assert pattern(generic(robot)) == pattern(robot)
    assert shortest(generic(robot), TORQUES) == shortest(robot, TORQUES)


def test_a_long_chain_takes_the_default_choices_and_grows_linearly():
    counts = []
    for n in (20, 40):
        robot = canonical(random_model("R" * n, 4))
        graph = Graph()
        symbols = symbolic(robot, graph)
        states = [graph.inputs(name, n) for name in ("q", "qd", "qdd")]
        choices = options(robot).start
        outputs = trace(graph, lambda *s, r=symbols, c=choices: minimal(r, *s, c).tau, *states)
        counts.append(count(outputs).total)
    assert counts[1] < 2.15 * counts[0]


@pytest.mark.slow
def test_payloads_of_a_batch_are_known_at_run_time():
    robot = EvaluatedRobot(armdyn.load("panda").model)
    program = quantity_program(robot.model, Request("inverse_dynamics", payload=True))
    states = random_states(robot.model, 9, batch=(3,))
    close(program(*states, np.zeros(10)), robot.inverse_dynamics(*states), 1e-10)
    com, tensor = np.array([0.05, -0.1, 0.2]), np.diag([0.02, 0.03, 0.04]) + 0.001
    masses = np.stack([payload_vector(m, com, m * tensor) for m in (0.5, 1.0, 2.0)])
    each = [robot.with_payload(m, com, m * tensor) for m in (0.5, 1.0, 2.0)]
    expected = [r.inverse_dynamics(*(x[i] for x in states)) for i, r in enumerate(each)]
    close(program(*states, masses), expected, 1e-10)


@pytest.mark.parametrize("name", ["scara", "hinge_tree", "regrouped_mixed", "light_wrist"])
def test_gravity_that_is_an_argument_is_that_of_the_robot(name):
    model = ARMS[name].model
    field = np.random.default_rng(8).normal(size=3) * 9.81
    q, *_ = random_states(model, 4, batch=(3,))
    program = quantity_program(model, Request("gravity_vector", gravity=True))
    for g in (field, model.gravity, np.zeros(3), *np.eye(3)):
        still = np.zeros_like(q)
        expected = newton_euler(replace(model, gravity=frozen(g)), q, still, still).tau
        close(program(q, np.broadcast_to(g, (3, 3))), expected, 1e-10)


def test_torques_of_a_program_are_those_of_the_robot():
    model = armdyn.load("ur5e").model
    states = random_states(model, 2, batch=(2, 2))
    program = quantity_program(model, Request("inverse_dynamics"))
    expected = armdyn.Robot(model).inverse_dynamics(*states, formulation="newton_euler")
    close(program(*states), expected, 1e-11)


@pytest.mark.parametrize("name", ["screws", "hinge_tree", "scara"])
def test_forward_dynamics_by_a_method_is_the_method_as_it_is_written(name):
    model = without_rounding(ARMS[name].model)
    graph, none = Graph(), np.zeros(len(model.joints))
    q, qd, tau = states = [graph.inputs(k, len(model.joints)) for k in ("q", "qd", "tau")]
    rest = tau - newton_euler(model, q, qd, none).tau
    for method, written in (
        ("articulated_body", articulated_body(model, *states)[1]),
        ("denoc", denoc_forward(model, q, rest)[1]),
    ):
        request = Request("forward_dynamics", method=method, friction=False)
        outputs = [graph.node(x) for x in written.tolist()]
        assert quantity_program(ARMS[name].model, request).operations == count(outputs)


@pytest.mark.slow
def test_no_program_multiplies_by_zero_or_one(arm):
    for name in ("inverse_dynamics", "mass_matrix", "jacobian"):
        program = kept_program(arm.model, Request(name))
        first = len(program.symbols)
        value = {first + i: abs(c.value) for i, c in enumerate(program.constants)}
        for instruction in program.instructions:
            if instruction.op == "mul":
                assert not {value.get(k) for k in instruction.args} & {0.0, 1.0}


def test_a_combination_that_vanishes_costs_nothing():
    """Jxx6 = Jyy6 in the Puma, and their difference multiplies."""
    model = armdyn.load("puma560").model
    graph = Graph()
    robot = symbolic(with_tip_phase(canonical(model)), graph)
    states = [graph.inputs(name, 6) for name in ("q", "qd", "qdd")]
    any_puma = count(trace(graph, lambda *s: minimal(robot, *s).tau, *states)).total
    this_puma = quantity_program(
        model, Request("inverse_dynamics", friction=False)
    ).operations.total
    assert this_puma < any_puma


SCARA = ARMS["scara"].model


@pytest.mark.slow
@pytest.mark.parametrize("name", QUANTITIES)
def test_a_quantity_says_its_shape_and_whether_it_solves_equations(name):
    model = elastic_arm(ARMS["scara"]).model if "rates" in name or "elastic" in name else SCARA
    program = kept_program(model, Request(name))  # one division is one by a time
    assert (program.operations.div > 1) == QUANTITIES[name].solves
    robot = armdyn.Robot(SCARA)
    lengths = {"n": 4, "N": 4, "P": 0, "L": 0, "m": 4}  # it moves along x, y, z and turns about z
    lengths["p"] = sum(p.linear for p in robot_parameters(robot.model))
    lengths["rank"] = robot.base_parameters().rank
    shape = [str(x).replace("link rank", "10").replace(" (", "*(") for x in QUANTITIES[name].shape]
    assert program.shape == tuple(eval(re.sub(r"(\d) (\w)", r"\1*\2", x), lengths) for x in shape)
