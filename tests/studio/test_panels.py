"""What the panels show, without a browser."""

import re

import numpy as np
import pytest

pytest.importorskip("viser")

import armdyn
from armdyn.dynamics import Robot
from armdyn.io.catalog import catalog_names
from armdyn.model.validate import Finding
from armdyn.operations.count import STAGES
from armdyn.operations.report import operation_report
from armdyn.simplification.simplify import simplify
from armdyn.structure.structure import structure
from armdyn.studio import svg
from armdyn.studio.arm import Evaluator, State, pose, slider_limits
from armdyn.studio.panels.design import design_html
from armdyn.studio.panels.files import check_html
from armdyn.studio.panels.now import grown, heat_map, torque_bars
from armdyn.studio.panels.play import plots
from armdyn.studio.panels.study import operation_bars, structure_html
from armdyn.studio.recording import Recording
from armdyn.studio.visuals import NotDrawn

HOSTILE = "<img src=x onerror='alert(1)'>\"&"
RECT = re.compile(r"<rect ([^>]*)>")


def rects(html, *names):
    """The attributes of the rectangles that have data of these names."""
    found = [dict(re.findall(r"([\w-]+)='([^']*)'", text)) for text in RECT.findall(html)]
    return [r for r in found if all(f"data-{name}" in r for name in names)]


@pytest.fixture(scope="module")
def puma():
    return armdyn.load("puma560")


@pytest.fixture(scope="module")
def moving(puma):
    rng = np.random.default_rng(3)
    return State(pose(puma), *rng.uniform(-2, 2, (2, 6)), payload=2.5)


def bars(robot, ledger, scales=None, limited=None):
    scales = grown(np.full(robot.n, np.inf), ledger) if scales is None else scales
    limited = np.zeros(robot.n, dtype=bool) if limited is None else limited
    return torque_bars(ledger, robot.joint_names, ["N·m"] * robot.n, scales, limited), scales


def test_bars_add_up_to_the_torque_of_the_loaded_arm(puma, moving):
    ledger = Evaluator(puma)(moving).ledger
    html, _ = bars(puma, ledger)
    wanted = puma.with_payload(2.5).ledger(moving.q, moving.qd, moving.qdd)
    for i in range(6):
        drawn = {r["data-term"]: float(r["data-value"])
                 for r in rects(html, "joint", "term") if r["data-joint"] == str(i)}  # fmt: skip
        for term, values in wanted.terms.items():
            assert drawn.get(term, 0.0) == pytest.approx(values[i], abs=1e-9)
        assert sum(drawn.values()) == pytest.approx(wanted.total[i], abs=1e-9)
    totals = re.findall(r"class='total' data-joint='\d' data-value='([^']*)'", html)
    np.testing.assert_allclose(np.array(totals, dtype=float), wanted.total, atol=1e-9)


def test_the_length_of_a_bar_is_its_share_of_the_scale_on_the_side_of_its_sign(puma, moving):
    ledger = Evaluator(puma)(moving).ledger
    html, scales = bars(puma, ledger)
    middle, half = svg.WIDTH / 2, svg.WIDTH / 2 - 4
    for r in rects(html, "joint", "term"):
        value, scale = float(r["data-value"]), scales[int(r["data-joint"])]
        assert float(r["width"]) == pytest.approx(half * abs(value) / scale, abs=0.006)
        left, right = float(r["x"]), float(r["x"]) + float(r["width"])
        assert left >= middle - 0.01 if value > 0 else right <= middle + 0.01
        assert 3.9 <= left <= right <= svg.WIDTH - 3.9


def test_a_torque_beyond_the_limit_stays_in_the_picture_and_is_marked(puma, moving):
    ledger = Evaluator(puma)(moving).ledger
    tight = np.full(6, 0.5 * np.abs(ledger.total).min())
    html, _ = bars(puma, ledger, tight, np.ones(6, dtype=bool))
    assert html.count(" !</text>") == 6
    assert all(float(r["x"]) + float(r["width"]) <= svg.WIDTH - 3.9 for r in rects(html, "term"))


def test_scales_hold_what_they_show_never_shrink_and_ignore_rounding(puma, moving):
    evaluate = Evaluator(puma)
    first = grown(np.full(6, np.inf), evaluate(moving).ledger)
    up = np.maximum(np.stack(list(evaluate(moving).ledger.terms.values())), 0).sum(0)
    assert (first >= up).all()
    rest = evaluate(State.rest(pose(puma))).ledger
    np.testing.assert_array_equal(grown(first, rest), first)
    alone = grown(np.full(6, np.inf), rest)
    assert alone.min() >= 1e-3 * np.abs(rest.total).max()


def test_the_heat_map_has_every_element_and_deeper_colours_for_larger_ones(puma):
    M = puma.mass_matrix(pose(puma))
    cells = rects(heat_map(M, puma.joint_names), "row", "column")
    shown = np.zeros((6, 6))
    depth = np.zeros((6, 6))
    for cell in cells:
        place = int(cell["data-row"]), int(cell["data-column"])
        shown[place], depth[place] = float(cell["data-value"]), float(cell["fill-opacity"])
    np.testing.assert_array_equal(shown, M)
    order = np.argsort(np.abs(M).ravel())
    assert (np.diff(depth.ravel()[order]) >= -1e-3).all()
    signs = {c["fill"] for c in cells if float(c["data-value"]) < -1e-3}
    assert signs.isdisjoint({c["fill"] for c in cells if float(c["data-value"]) > 1e-3})


def test_the_bars_of_operations_are_the_counts_of_the_report():
    model = armdyn.load("two_link").model
    rows = operation_report(model, ("inverse_dynamics",)).rows
    shown = {(r["data-method"], r["data-stage"]): (int(r["data-total"]), float(r["width"]))
             for r in rects(operation_bars(rows), "method")}  # fmt: skip
    counts = {(row.method, stage): row.stages[stage].total
              for row in rows for stage in STAGES if row.stages.get(stage)}  # fmt: skip
    assert {key: total for key, (total, _) in shown.items()} == counts
    totals, widths = np.array(sorted(shown.values())).T
    assert (np.diff(widths) >= 0).all()
    assert len(totals) > 10


def test_the_map_of_the_structure_tells_zeros_and_constants_apart():
    found = structure(armdyn.load("saha_3r"))
    html = structure_html(found)
    statuses = [r["data-status"] for r in rects(html, "status")]
    wanted = [e.status for row, g in zip(found.D, found.g, strict=True) for e in (*row, g)]
    assert statuses == wanted
    assert {*statuses} > {"zero", "varies"}


def test_a_design_tells_what_changes():
    found = simplify(armdyn.load("two_link"), symbolic=False)
    html = design_html(found.report())
    assert "constant: reached" in html
    for change in found.design.changes:
        assert f"<td>{change.name}</td>" in html


def test_plots_have_a_line_for_each_joint_and_the_cursor_at_its_time():
    t = np.linspace(1.0, 3.0, 50)
    waves = np.sin(np.outer(t, [1.0, 2.0]))
    recording = Recording("two waves", t, waves, waves, waves, waves)
    html = plots(recording, ("a", "b"), 0.5)
    assert html.count("<polyline") == 6
    times, places = re.findall(r"data-time='([\d.]+)' x1='([\d.]+)'", html)[0]
    assert float(times) == 1.5
    points = np.array(re.findall(r"points='([^']*)'", html)[0].replace(",", " ").split(), float)
    left, right = points[0], points[-2]
    assert (float(places) - left) / (right - left) == pytest.approx(0.25, abs=1e-3)


def test_names_from_files_cannot_become_markup():
    n = 2
    t, values = np.linspace(0, 1, 9), np.ones((9, n))
    ledger = armdyn.load("two_link").ledger(*np.ones((3, n)))
    made = [
        torque_bars(ledger, [HOSTILE] * n, ["N·m"] * n, np.ones(n), np.zeros(n, dtype=bool)),
        heat_map(np.eye(n), [HOSTILE] * n),
        plots(Recording(HOSTILE, t, *[values] * 4, note=HOSTILE), (HOSTILE, "b"), 0.0),
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
    assert svg.number(value) == words


def test_round_scales():
    assert [svg.nice(x) for x in (0.7, 1.0, 1.1, 2.1, 5.1, 99.0, 0.0)] == [1, 1, 2, 5, 10, 100, 1]


def test_a_long_arm_is_not_compiled_and_shows_the_same_torques(puma, moving, monkeypatch):
    wanted = Evaluator(puma)(moving)
    monkeypatch.setattr("armdyn.studio.arm.COMPILED_JOINTS", 5)
    monkeypatch.setattr(Robot, "kernel", None)
    found = Evaluator(puma)(moving)
    assert found.mass_matrix is None
    for name, values in wanted.ledger.terms.items():
        np.testing.assert_allclose(found.ledger.terms[name], values, atol=1e-9, err_msg=name)
    np.testing.assert_allclose(found.reactions.forces, wanted.reactions.forces, atol=1e-9)
