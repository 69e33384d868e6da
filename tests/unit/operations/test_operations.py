"""Operation counts through the public functions, and what the report says about the literature."""

import json

import pytest
from typer.testing import CliRunner

import armdyn
from armdyn.cli import app
from armdyn.errors import ModelError, SingularityError, UnknownNameError
from armdyn.graph.count import Operations
from armdyn.model import Connection, Inertia, assemble
from armdyn.quantities.program import quantity_program
from armdyn.quantities.request import Request
from armdyn.study.operations.count import count_operations
from armdyn.study.operations.report import (
    PAPER,
    PUBLISHED,
    augmented_body_steps,
    operation_report,
    steps_report,
)
from support.random_robots import random_model


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


@pytest.mark.slow
@pytest.mark.parametrize("quantity", ["inverse_dynamics", "mass_matrix", "gravity"])
def test_every_stage_takes_no_more_than_the_one_before(quantity):
    robot = armdyn.load("saha_3r")
    stages = ("written", "customised", "regrouped", "minimal")
    counts = [armdyn.count_operations(robot, quantity, stage).total for stage in stages]
    assert counts == sorted(counts, reverse=True)
    assert counts[-1] < counts[0] / 10


def test_two_link_arm_of_the_textbook():
    robot = armdyn.load("two_link")
    assert armdyn.count_operations(robot, formulation="augmented_body", stage="customised") == (
        Operations(17, 10, trig=2)
    )
    assert armdyn.count_operations(robot).total <= 22
    assert armdyn.count_operations(robot, "gravity").total <= 4
    assert armdyn.count_operations(robot, "mass_matrix").total <= 4


def test_renaud_arm():
    robot = armdyn.load("renaud_6r")
    assert armdyn.count_operations(robot).total <= 206
    assert armdyn.count_operations(robot, "mass_matrix").total <= 123
    assert armdyn.count_operations(robot, "gravity").total <= 17
    written = armdyn.count_operations(robot, formulation="augmented_body", stage="customised")
    assert (written.mul, written.add) == (179, 127)


def test_steps_of_the_paper_are_reproduced_but_for_two_shared_products():
    steps = augmented_body_steps(armdyn.load("renaud_6r").model)
    assert steps.keys() == PAPER.keys()
    for name, operations in steps.items():
        shared = 2 if name == "3a, 3b" else 0
        assert (operations.mul, operations.add) == (PAPER[name].mul - shared, PAPER[name].add)
    notes = "\n".join(steps_report(armdyn.load("renaud_6r").model).notes)
    assert "counted 179 + 127 = 306, printed 181 + 127 = 308" in notes
    assert "counted 164 + 115 = 279, printed 164 + 115 = 279" in notes


def test_printed_formulas_at_six_joints():
    counts = {name: PUBLISHED[name].count(6) for name in PUBLISHED}
    assert counts["lagrange_euler"] == Operations(101348, 77405)
    assert counts["newton_euler_link"] == Operations(792, 662)
    assert counts["dalembert"] == Operations(2963, 2209)


@pytest.mark.slow
def test_the_report_says_where_a_printed_formula_does_not_match():
    report = operation_report(armdyn.load("two_link").model, ("inverse_dynamics",))
    rows = {row.method: row for row in report.rows}
    assert rows["dalembert"].published == Operations(475, 329)
    assert rows["dalembert"].published != rows["dalembert"].general
    assert "dalembert 13/6 n³" in report.notes[0]
    assert "every value computed once" in report.notes[0]
    assert rows["minimal"].stages["minimal"].total == min(
        row.stages["minimal"].total for row in report.rows
    )


def test_branches_on_the_base_are_counted_apart_and_added():
    body = Inertia.from_com(1.0, (0.1, 0.2, 0.3), [[0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.1]])
    links = {name: body for name in ("base", "a", "b")}
    one = assemble(
        "one", {k: links[k] for k in ("base", "a")}, [Connection("1", "revolute", "base", "a")]
    )
    two = assemble(
        "two",
        links,
        [Connection("1", "revolute", "base", "a"), Connection("2", "revolute", "base", "b")],
    )
    single = count_operations(one, formulation="augmented_body", stage="customised")
    assert (
        count_operations(two, formulation="augmented_body", stage="customised") == single + single
    )


@pytest.mark.slow
def test_any_axes_and_branches_can_be_counted():
    tree = random_model("RPRR", 3, tree=True)
    customised = count_operations(tree, stage="customised", formulation="denoc")
    assert count_operations(tree).total < customised.total


def test_unknown_names_are_listed():
    robot = armdyn.load("two_link")
    with pytest.raises(UnknownNameError, match="quantity 'torque'"):
        armdyn.count_operations(robot, "torque")
    with pytest.raises(UnknownNameError, match=r"stage 'minimum'. Did you mean 'minimal'"):
        armdyn.count_operations(robot, stage="minimum")
    with pytest.raises(UnknownNameError, match="method for gravity 'denoc'"):
        armdyn.count_operations(robot, "gravity", formulation="denoc")


def test_stages_that_a_method_does_not_have_are_said():
    robot = armdyn.load("two_link")
    with pytest.raises(ModelError, match="'minimal' has no count at stage 'customised'"):
        armdyn.count_operations(robot, formulation="minimal", stage="customised")
    tree = random_model("RRRRR", 3, tree=True)
    with pytest.raises(ModelError, match="some are written for chains"):
        count_operations(tree, formulation="newton_euler_base")


def test_links_that_only_rotors_make_regular_have_no_forward_dynamics_of_their_own():
    rows = [dict(joint="revolute", rotor_inertia=0.1), dict(joint="prismatic", rotor_inertia=1.0)]
    robot = armdyn.from_dh(rows)
    with pytest.raises(SingularityError, match="without rotors, is singular"):
        armdyn.count_operations(robot, "forward_dynamics", "customised")
    program = quantity_program(robot.model, Request("forward_dynamics"))
    assert armdyn.count_operations(robot, "forward_dynamics") == program.operations
    assert program.rotors.total == 0


@pytest.mark.slow
def test_ops_on_the_command_line(tmp_path):
    run = CliRunner().invoke(app, ["ops", "two_link", "--plot", str(tmp_path / "ops.png")])
    assert run.exit_code == 0
    assert "augmented_body" in run.output
    assert "12 + 10" in run.output
    assert (tmp_path / "ops.png").stat().st_size > 10_000
    run = CliRunner().invoke(app, ["ops", "two_link", "--json", "--quantity", "gravity"])
    data = json.loads(run.output)
    assert {row["quantity"] for row in data["rows"]} == {"gravity"}
    run = CliRunner().invoke(app, ["ops", "renaud_6r", "--steps"])
    assert "62 + 50 = 112" in run.output
