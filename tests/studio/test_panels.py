"""What the panels show, without a browser."""

import dataclasses
import re

import numpy as np
import pytest

pytest.importorskip("viser")


import armdyn
from armdyn.io.catalog import catalog_names
from armdyn.model.validate import Finding
from armdyn.robot import Robot
from armdyn.studio import marks
from armdyn.studio.arm import Arm, Evaluator, State, pose, slider_limits
from armdyn.studio.panels.design import design_html
from armdyn.studio.panels.files import check_html
from armdyn.studio.panels.joints import joint_groups, what_matters
from armdyn.studio.panels.study import operation_bars, structure_html
from armdyn.studio.recording import Recording, simulated
from armdyn.studio.visuals import NotDrawn
from armdyn.study.operations.count import STAGES
from armdyn.study.operations.report import operation_report
from armdyn.study.simplify.simplify import simplify
from armdyn.study.structure.structure import structure
from armdyn.thresholds import COMPILED_IN_STUDIO
from support.random_robots import random_model

HOSTILE = "<img src=x onerror='alert(1)'>\"&"
WIDTH = re.compile(r"width:([\d.]+)%")
MARK = re.compile(r"<i ([^>]*)>")


def marked(html, *names):
    """The attributes of the pieces of a picture that have data of these names."""
    found = [dict(re.findall(r"([\w-]+)='([^']*)'", text)) for text in MARK.findall(html)]
    return [r for r in found if all(f"data-{name}" in r for name in names)]


@pytest.fixture(scope="module")
def puma():
    return armdyn.load("puma560")


@pytest.fixture(scope="module")
def moving(puma):
    rng = np.random.default_rng(3)
    return State(pose(puma), *rng.uniform(-2, 2, (2, 6)), payload=2.5)


def forked(names):
    """A model of two chains from the base, with these names of its joints."""
    model = random_model("R" * len(names), 1)
    half = len(names) // 2
    joints = [
        dataclasses.replace(joint, name=name, parent=-1 if i == half else joint.parent)
        for i, (joint, name) in enumerate(zip(model.joints, names, strict=True))
    ]
    return dataclasses.replace(model, joints=tuple(joints))


def test_a_snapshot_is_that_of_the_loaded_arm(puma, moving):
    found = Evaluator(puma)(moving)
    loaded = puma.with_payload(2.5)
    wanted = loaded.ledger(moving.q, moving.qd, moving.qdd)
    for term, values in wanted.terms.items():
        np.testing.assert_allclose(found.terms[term], values, atol=1e-9, err_msg=term)
    np.testing.assert_allclose(found.total, wanted.total, atol=1e-9)
    masses = [link.inertia.mass for link in loaded.model.links]
    np.testing.assert_allclose(found.weights.forces, np.outer(masses, puma.gravity), atol=1e-9)
    frames = loaded.joint_frames(moving.q)
    centres = [T[:3, :3] @ link.inertia.com + T[:3, 3]
               for T, link in zip(frames, loaded.model.links, strict=True)]  # fmt: skip
    np.testing.assert_allclose(found.weights.points, centres, atol=1e-12)
    np.testing.assert_allclose(found.tool, puma.forward_kinematics(moving.q), atol=1e-12)


def test_rounding_is_no_torque():
    """A balanced arm needs no torque at rest: what is left of its gravity is not drawn."""
    robot = armdyn.load("two_link").with_gravity((0, 0, 0))
    link = robot.model.links[1].name
    balanced = robot.with_link(link, com=(0, 0, 0))
    evaluate = Evaluator(balanced)
    noisy = dataclasses.replace(
        State.rest(np.array([0.3, 0.2])), terms={"gravity": np.array([5e-15, 0.0])}
    )
    assert not evaluate(noisy).total.any()
    assert not evaluate(noisy).terms["gravity"].any()
    small = dataclasses.replace(noisy, terms={"gravity": 1e-6 * evaluate.scales})
    assert (evaluate(small).total != 0).all()


@pytest.mark.parametrize(
    ("edit", "level", "words"),
    [
        ({}, "fine", r"Joint 2 uses \d+ % of its motor here; gravity is nearly all of it\."),
        ({"payload": 200.0}, "over", r"Joint \d needs \d{3,} % of its motor here: that is more"),
        (
            {"qd": np.array([0, 0, 0, 0, 0, 15.0])},
            "over",
            r"Joint 6 turns at .* of its highest speed",
        ),
        ({"terms": {"gravity": np.ones(6), "dry friction": -np.ones(6)}}, "fine", "add up to zero"),
        ({"terms": {"gravity": np.zeros(6)}}, "fine", "every term is zero"),
        ({"q": np.array([-2.7925, 0, 0, 0, 0, 0])}, "fine", r"Joint 1 is at its stop\."),
    ],
)
def test_the_sentence_says_what_matters(puma, edit, level, words):
    limited = puma.with_limits(velocity=[10.0] * 6) if "qd" in edit else puma
    low = limited.limits[0, 0]
    if "q" in edit:
        edit = {"q": np.array([low, *edit["q"][1:]])}
    arm = Arm(limited, Evaluator(limited))
    state = dataclasses.replace(State.rest(pose(puma)), **edit)
    said = what_matters(arm, arm.evaluator(state))
    assert said.level == level
    assert re.search(words, said.text), said.text


def test_an_arm_without_limits_says_what_it_needs():
    robot = armdyn.load("two_link")
    arm = Arm(robot, Evaluator(robot))
    snapshot = arm.evaluator(State.rest(np.array([0.1, 0.2])))
    said = what_matters(arm, snapshot).text
    assert f"needs most: {np.abs(snapshot.total).max():.3g} N·m; gravity is" in said
    assert "No limit of its motor is known." in said


def test_the_bars_of_operations_are_the_counts_of_the_report():
    model = armdyn.load("two_link").model
    rows = operation_report(model, ("inverse_dynamics",)).rows
    shown = {(r["data-method"], r["data-stage"]): (int(r["data-total"]), float(WIDTH.search(r["style"])[1]))
             for r in marked(operation_bars(rows), "method")}  # fmt: skip
    counts = {(row.method, stage): row.stages[stage].total
              for row in rows for stage in STAGES if row.stages.get(stage)}  # fmt: skip
    assert {key: total for key, (total, _) in shown.items()} == counts
    totals, widths = np.array(sorted(shown.values())).T
    assert (np.diff(widths) >= 0).all()
    assert len(totals) > 10


def test_the_map_of_the_structure_tells_zeros_and_constants_apart():
    found = structure(armdyn.load("saha_3r"))
    html = structure_html(found)
    statuses = [r["data-status"] for r in marked(html, "status")]
    wanted = [e.status for row, g in zip(found.D, found.g, strict=True) for e in (*row, g)]
    assert statuses == wanted
    assert {*statuses} > {"zero", "varies"}


def test_a_design_tells_what_changes():
    found = simplify(armdyn.load("two_link"), symbolic=False)
    html = design_html(found)
    assert "constant: reached" in html
    for change in found.changes:
        assert f">{change.name}</td>" in html


def test_a_motion_is_one_number_in_bars_and_plots(puma):
    seen = simulated(puma, State.rest(pose(puma)), 0.5, False, lambda _: None)
    evaluate = Evaluator(puma)
    for time in (0.0, 0.0123, 0.31, 0.5):
        snapshot = evaluate(seen.at(time, 0.0))
        np.testing.assert_allclose(snapshot.total, 0.0, atol=1e-9)  # nothing drives it
        for joint in range(6):
            curve = seen.curve(joint, 0.0, 0.5)
            for name, values in curve["terms"].items():
                wanted = np.interp(time, curve["t"], values)
                assert snapshot.terms[name][joint] == pytest.approx(wanted, rel=1e-5, abs=1e-5)


def test_a_simulation_has_stops_and_says_so():
    panda = armdyn.load("panda")
    seen = simulated(panda, State.rest(pose(panda)), 2.0, False, lambda _: None)
    low, high = panda.limits.T
    assert (seen.q >= low - 1e-6).all()
    assert (seen.q <= high + 1e-6).all()
    assert re.search(r"joint limits are stops; hit by \S+ at \d", seen.note)
    free = armdyn.load("two_link")
    assert "no joint has limits" in simulated(free, State.rest(np.zeros(2)), 0.1, False, print).note


def test_a_long_motion_is_thinned_without_losing_its_peaks():
    t = np.linspace(0.0, 10.0, 20_001)
    tau = np.sin(40 * t)[:, None]
    tau[12_345] = 7.0
    seen = Recording("", t, tau, tau, tau, tau, {"gravity": tau}, limits=np.array([2.0]))
    whole = seen.curve(0, 0.0, 10.0)
    assert len(whole["t"]) <= 610
    assert max(whole["total"]) == 7.0
    assert min(whole["total"]) == pytest.approx(-1, abs=1e-4)
    close = seen.curve(0, 5.0, 5.1)
    np.testing.assert_allclose(close["total"], np.interp(close["t"], t, tau[:, 0]), atol=1e-6)
    assert len(close["t"]) == pytest.approx(201, abs=3)


def test_joints_of_a_chain_are_a_group():
    names = [f"{side}_{word}" for side in ("left_arm", "right_arm") for word in "abcdef"]
    assert joint_groups(armdyn.load("puma560").model) == [""] * 6
    tree = forked(names)
    assert joint_groups(tree) == ["left_arm"] * 6 + ["right_arm"] * 6


def test_names_from_files_cannot_become_markup():
    made = [
        check_html(HOSTILE, [Finding("error", HOSTILE, HOSTILE)], [NotDrawn(HOSTILE, HOSTILE)]),
    ]
    for html in made:
        assert "&lt;img" in html
        assert "<img" not in html
        assert "onerror='" not in html


@pytest.mark.parametrize("name", catalog_names())
def test_every_robot_begins_within_its_sliders(name):
    robot = armdyn.load(name)
    low, high = slider_limits(robot).T
    q = pose(robot)
    assert (low < q).all()
    assert (q < high).all()
    lower, upper = robot.limits.T
    assert (low >= lower).all()
    assert (high <= upper).all()


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (0.0, "0"),
        (1e-9, "0"),
        (-3.14159, "−3.14"),
        (1234.5, "1234"),
        (0.0123, "0.012"),
        (2e-4, "2e−4"),
    ],
)
def test_numbers_are_short(value, words):
    assert marks.number(value) == words


def test_a_long_arm_is_not_compiled_and_shows_the_same_torques(puma, moving, monkeypatch):
    wanted = Evaluator(puma)(moving)
    few = dataclasses.replace(COMPILED_IN_STUDIO, value=5)
    monkeypatch.setattr("armdyn.studio.arm.COMPILED_IN_STUDIO", few)
    monkeypatch.setattr(Robot, "kernel", None)
    found = Evaluator(puma)(moving)
    assert found.mass_matrix is None
    for name, values in wanted.ledger.terms.items():
        np.testing.assert_allclose(found.ledger.terms[name], values, atol=1e-9, err_msg=name)
    np.testing.assert_allclose(found.reactions.forces, wanted.reactions.forces, atol=1e-9)
