"""Robots in graphs: symbols, run-time inputs, kept choices, and the shortest programs."""

import json

import numpy as np
import pytest

import armdyn
from armdyn.canonical.frames import canonical, with_tip_phase
from armdyn.canonical.model import branches, model_from_canonical
from armdyn.compiler.count import count
from armdyn.compiler.program import Program
from armdyn.compiler.trace import trace
from armdyn.errors import UnknownNameError
from armdyn.expr import Graph, proved_equal
from armdyn.formulations.augmented_body import augmented_body
from armdyn.formulations.newton_euler import newton_euler
from armdyn.minimal.options import options
from armdyn.minimal.torques import minimal
from armdyn.quantities.choice_store import ChoiceStore, pattern
from armdyn.quantities.registry import quantity_program
from armdyn.quantities.request import Request
from armdyn.quantities.run_time import payload_vector
from armdyn.quantities.shortest import SearchBudget, minimal_outputs
from armdyn.quantities.symbolic import symbolic
from support.peers import close
from support.random_robots import random_model, random_states, special_model


def traced(robot, runtime=()):
    graph, n = Graph(), len(robot.links)
    model = model_from_canonical(symbolic(robot, graph, runtime))
    states = [graph.inputs(name, n) for name in ("q", "qd", "qdd")]
    return trace(graph, lambda *s: augmented_body(model, *s).tau, *states)


@pytest.mark.parametrize("name", ["two_link", "stanford", "scara", "panda"])
def test_a_robot_of_symbols_has_the_torques_of_the_robot(name):
    model = armdyn.load(name).model
    n = len(model.joints)
    program = Program.from_outputs(traced(canonical(model)), {"q": n, "qd": n, "qdd": n})
    states = random_states(model, 3, batch=(4,))
    close(program(*states), newton_euler(model, *states).tau, 1e-11)


def test_a_payload_can_be_an_input_of_the_program():
    robot = armdyn.load("panda")
    last = canonical(robot.model).links[-1]
    names = ("M7", "MX7", "MY7", "MZ7")
    program = Program.from_outputs(
        traced(canonical(robot.model), names),
        {"q": 7, "qd": 7, "qdd": 7, **dict.fromkeys(names)},
    )
    states = random_states(robot.model, 5, batch=(3,))
    same = program(*states, last.M, *last.u)
    close(same, robot.inverse_dynamics(*states), 1e-11)
    heavier = program(*states, last.M + 2.0, *last.u)
    # two kilograms more at the origin of the last canonical frame, found by the symbolic route
    moved = trace_with_mass(robot.model, 2.0)
    close(heavier, moved(*states), 1e-11)
    assert np.abs(heavier - same).max() > 1.0


def trace_with_mass(model, mass):
    from dataclasses import replace

    robot = canonical(model)
    links = (*robot.links[:-1], replace(robot.links[-1], M=robot.links[-1].M + mass))
    outputs = traced(replace(robot, links=links))
    return Program.from_outputs(outputs, {"q": 7, "qd": 7, "qdd": 7})


def test_unknown_run_time_names_are_listed():
    with pytest.raises(UnknownNameError, match=r"gravity named 'mass7'.*M1"):
        traced(canonical(armdyn.load("two_link").model), ("mass7",))


@pytest.mark.slow
@pytest.mark.parametrize("quantity", ["inverse_dynamics", "gravity", "bias"])
@pytest.mark.parametrize("name", ["two_link", "scara", "saha_3r"])
def test_shortest_programs_are_proved_equal_to_augmented_bodies(name, quantity):
    (robot,) = branches(canonical(armdyn.load(name).model))
    outputs = minimal_outputs(robot, quantity)
    graph, n = outputs[0].graph, len(robot.links)
    symbols = model_from_canonical(symbolic(with_tip_phase(robot), graph))
    zero = np.zeros(n)
    qd = zero if quantity == "gravity" else graph.inputs("qd", n)
    qdd = graph.inputs("qdd", n) if quantity == "inverse_dynamics" else zero
    reference = trace(
        graph, lambda q: augmented_body(symbols, q, qd, qdd).tau, graph.inputs("q", n)
    )
    assert proved_equal(outputs, reference)
    assert count(outputs).total <= count(reference).total


@pytest.mark.slow
def test_shortest_forward_dynamics_inverts_the_torques():
    model = armdyn.load("scara").model
    outputs = minimal_outputs(canonical(model), "forward_dynamics")
    program = Program.from_outputs(np.array(outputs), {"q": 4, "qd": 4, "tau": 4})
    q, qd, qdd = random_states(model, 7, batch=(3,))
    close(program(q, qd, newton_euler(model, q, qd, qdd).tau), qdd, 1e-8)


def test_shortest_mass_matrix_is_its_lower_triangle():
    robot = armdyn.load("scara")
    outputs = minimal_outputs(canonical(robot.model), "mass_matrix")
    program = Program.from_outputs(np.array(outputs), {"q": 4})
    q = random_states(robot.model, 8)[0]
    close(program(q), robot.mass_matrix(q)[np.tril_indices(4)], 1e-11)


@pytest.mark.slow
def test_choices_are_kept_by_the_zeros_of_a_robot(tmp_path):
    kept, told = ChoiceStore(tmp_path / "choices"), []
    robot = canonical(armdyn.load("two_link").model)
    first = minimal_outputs(robot, "inverse_dynamics", SearchBudget(kept=kept))
    (file,) = (tmp_path / "choices").iterdir()
    choices = kept.find(robot, "inverse_dynamics")
    assert choices is not None
    assert choices == kept.find(robot, "inverse_dynamics")
    heavier = canonical(armdyn.load("two_link").with_gravity((0, -3.7, 0)).model)
    assert pattern(heavier) == pattern(robot)
    assert kept.find(heavier, "inverse_dynamics") == choices
    assert kept.find(canonical(armdyn.load("saha_3r").model), "inverse_dynamics") is None
    again = minimal_outputs(
        robot, "inverse_dynamics", SearchBudget(kept=kept, progress=told.append)
    )
    assert count(again) == count(first)
    for damage in ("", "[]", '{"links": 3}', json.dumps({"links": [{"squares": "ab"}] * 2})):
        file.write_text(damage)
        assert kept.find(robot, "inverse_dynamics") is None


@pytest.mark.parametrize("name", ["two_link", "puma560"])
@pytest.mark.parametrize("damage", [{"column": "no"}, {"first_axes": "x"}, {"squares": "ab"}])
def test_no_damaged_choice_passes(tmp_path, name, damage):
    robot, kept = canonical(armdyn.load(name).model), ChoiceStore(tmp_path)
    start = options(robot).start
    kept.store(robot, "inverse_dynamics", start)
    assert kept.find(robot, "inverse_dynamics") == start
    for i in range(len(robot.links)):
        kept.store(robot, "inverse_dynamics", start.with_link(i, **damage))
        assert kept.find(robot, "inverse_dynamics") is None


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
@pytest.mark.parametrize("model", [armdyn.load("panda").model, random_model("RPRR", 6, tree=True)])
def test_a_payload_known_at_run_time_is_a_payload(model):
    robot = armdyn.Robot(model)
    program = quantity_program(model, Request("inverse_dynamics", payload=True))
    states = random_states(model, 9, batch=(3,))
    close(program(*states, np.zeros(10)), robot.inverse_dynamics(*states), 1e-10)
    com, tensor = np.array([0.05, -0.1, 0.2]), np.diag([0.02, 0.03, 0.04]) + 0.001
    held = program(*states, payload_vector(1.7, com, tensor))
    close(held, robot.with_payload(1.7, com, tensor).inverse_dynamics(*states), 1e-10)
    masses = np.stack([payload_vector(m, com, m * tensor) for m in (0.5, 1.0, 2.0)])
    each = [robot.with_payload(m, com, m * tensor) for m in (0.5, 1.0, 2.0)]
    expected = [r.inverse_dynamics(*(x[i] for x in states)) for i, r in enumerate(each)]
    close(program(*states, masses), expected, 1e-10)


def test_torques_of_a_program_are_those_of_the_robot():
    model = armdyn.load("ur5e").model
    states = random_states(model, 2, batch=(2, 2))
    program = quantity_program(model, Request("inverse_dynamics"))
    expected = armdyn.Robot(model).inverse_dynamics(*states, formulation="newton_euler")
    close(program(*states), expected, 1e-11)


@pytest.mark.parametrize("seed", range(6))
def test_no_program_multiplies_by_zero_or_one(seed):
    model = special_model(seed)
    for name in ("inverse_dynamics", "mass_matrix", "jacobian"):
        program = quantity_program(model, Request(name))
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
