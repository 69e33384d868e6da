"""Simulations as pictures: what is drawn is what happened."""

import matplotlib as mpl
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import armdyn
from armdyn.errors import WriteError
from armdyn.report.figures import STYLE
from armdyn.simulation import ComputedTorque, quintic
from armdyn.simulation.plots import EVENTS, curves, draw, spread
from armdyn.simulation.system import WORK

pytestmark = pytest.mark.slow

PUMA = armdyn.load("puma560")


@pytest.fixture(scope="module")
def fall():
    """A Puma 560 that falls on a stop and comes to rest, pulled by its tool."""
    return armdyn.simulate(
        PUMA, [0, 0.8, -2.2, 0, 0.5, 0], np.ones(6), 1.4, stops=True, dt=0.01,
        torque=[5.0, 1.0, 0.0, 0.1, 0.0, 0.0], external_wrench=[3, -2, 1, 0.1, 0, 0.2],
    )  # fmt: skip


@pytest.fixture(scope="module")
def many():
    arm = armdyn.load("two_link")
    start = np.random.default_rng(5).uniform(-1, 1, (4, 10, 2))
    return armdyn.simulate(arm, start, None, 0.4, method="rk4", dt=0.001, torque=[1.0, 0.5])


def panels(figure):
    titles = [axes.get_title("left") for axes in figure.axes]
    return {
        title.split()[-1]: axes for title, axes in zip(titles, figure.axes, strict=True) if title
    }


def test_the_terms_add_up_to_the_torque_whether_joints_slip_stick_or_stop(fall):
    assert {"sticks", "starts", "hits"} <= {event.kind for event in fall.events}
    terms = fall.terms()
    np.testing.assert_allclose(sum(terms.values()), fall.tau, atol=1e-10)
    held = (fall.qd == 0) & (fall.qdd == 0)
    assert np.abs(terms["dry friction"][held]).max() > 1.0
    assert not terms["viscous"][held].any()
    assert np.abs(terms["stops"]).max() > 1.0
    without = armdyn.simulate(PUMA, np.zeros(6), np.ones(6), 0.1, friction=False, dt=0.05).terms()
    assert not without["viscous"].any()
    assert not without["dry friction"].any()


def test_energy_is_what_there_was_and_what_was_given_and_taken(fall):
    lines = curves(fall).energy
    given = sum(lines[name] * sign for name, sign in zip(WORK, (1, -1, 1, -1), strict=True))
    total = lines["kinetic"] + lines["potential"]
    np.testing.assert_allclose(lines["total"], total, rtol=1e-12)
    np.testing.assert_allclose(total - total[:, :1], given, atol=1e-7)
    assert lines["potential"].min() == 0


def test_powers_add_up_to_the_rate_of_kinetic_energy():
    arm = armdyn.load("craig_two_link")
    motion = armdyn.simulate(arm, [0.5, 0.3], None, 0.4, torque=[9.0, 2.0], dt=1e-3)
    lines = curves(motion).power
    assert set(lines) == {"total", "actuators", "gravity", "friction"}
    rate = np.gradient(motion.kinetic, motion.t, edge_order=2)
    np.testing.assert_allclose(lines["total"][0], rate, rtol=1e-3, atol=1e-2)


def test_every_joint_has_a_panel_with_its_torque_its_terms_and_its_events(fall):
    lines = curves(fall)
    by_joint = panels(draw(fall, lines))
    assert list(by_joint) == list(PUMA.joint_names)
    for i, (name, axes) in enumerate(by_joint.items()):
        drawn = {tuple(line.get_ydata()) for line in axes.lines}
        assert tuple(fall.tau[:, i]) in drawn
        assert {tuple(values[0, :, i]) for values in lines.terms.values()} <= drawn
        marks = [path.vertices[0, 0] for c in axes.collections for path in c.get_paths()]
        times = [event.t for event in fall.events if event.joint == name]
        np.testing.assert_allclose(sorted(marks), sorted(times))
        assert len(axes.collections) == len({e.kind for e in fall.events if e.joint == name})


def test_the_legend_names_what_acts_and_what_happened(fall):
    figure = draw(fall, curves(fall))
    words = [text.get_text() for text in figure.subfigs[1].legends[0].get_texts()]
    assert words == [
        "total", "inertial", "coriolis", "gravity", "rotor", "viscous", "dry friction", "external",
        "stops", *(kind for kind in EVENTS if any(e.kind == kind for e in fall.events)),
    ]  # fmt: skip
    said = " ".join(text.get_text() for text in figure.texts)
    assert f"{len(fall.events)} events" in said
    assert f"energy drift {fall.energy_drift:.1e}".replace("-", "\N{MINUS SIGN}") in said
    free = armdyn.simulate(armdyn.load("two_link"), [0.5, 0.3], None, 0.5, dt=0.1)
    figure = draw(free, curves(free))
    words = [text.get_text() for text in figure.subfigs[1].legends[0].get_texts()]
    assert words == ["total", "inertial", "coriolis", "gravity"]


def test_many_arms_are_drawn_by_their_quantiles(many):
    lines = curves(many)
    arms = many.q.reshape(40, -1, 2)
    assert lines.q.shape == (5, len(lines.t), 2)
    chosen = np.searchsorted(many.t, lines.t)
    np.testing.assert_array_equal(many.t[chosen], lines.t)
    np.testing.assert_allclose(lines.q[0], np.median(arms, axis=0)[chosen])
    for k, share in ((1, 0.9), (3, 0.5)):
        inside = (lines.q[k] <= arms[:, chosen]) & (arms[:, chosen] <= lines.q[k + 1])
        np.testing.assert_allclose(inside.mean(axis=0), share, atol=0.051)
    assert (lines.t[0], lines.t[-1]) == (many.t[0], many.t[-1])
    middle = np.median((many.tau * many.qd).sum(-1).reshape(40, -1), axis=0)[chosen]
    np.testing.assert_allclose(lines.power["actuators"][0], middle)


def test_many_arms_have_a_panel_of_positions_for_each_joint_and_of_torques_where_there_are(many):
    lines = curves(many)
    with mpl.rc_context(STYLE):
        figure = draw(many, lines)
    assert [axes.get_title("left") for axes in figure.axes[2:]] == 2 * ["q1  joint1", "q2  joint2"]
    for i, axes in enumerate(figure.axes[2:4]):
        assert tuple(lines.q[0, :, i]) in {tuple(line.get_ydata()) for line in axes.lines}
        assert len(axes.collections) == 2
    words = [text.get_text() for text in figure.subfigs[1].legends[0].get_texts()]
    assert words == ["median", "half of the arms", "nine tenths"]
    free = armdyn.simulate(many.robot, many.q[0, :, 0], None, 0.1, method="rk4", dt=0.05)
    assert len(draw(free, curves(free)).axes) == 4


def test_in_blocks_many_arms_give_the_same_lines(many, monkeypatch):
    whole = curves(many)
    monkeypatch.setattr("armdyn.simulation.plots.BLOCK_STATES", 500)
    parts = curves(many)
    for name, values in whole.terms.items():
        np.testing.assert_allclose(parts.terms[name], values, atol=1e-12)
    np.testing.assert_allclose(parts.energy["potential"], whole.energy["potential"], atol=1e-12)


@pytest.mark.parametrize(
    ("name", "start"), [("a.png", b"\x89PNG"), ("a.pdf", b"%PDF"), ("a.svg", b"<?xml")]
)
def test_the_picture_is_a_file_of_its_kind(many, tmp_path, name, start):
    many.plot(tmp_path / name)
    assert (tmp_path / name).read_bytes().startswith(start)
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("n", [1, 2, 4, 7])
def test_panels_do_not_overlap(n):
    arm = armdyn.load("panda")
    middle = dict(zip(arm.joint_names, arm.limits.mean(axis=1), strict=True))
    locked = {joint: middle[joint] for joint in arm.joint_names[n:]}
    arm = armdyn.load("panda", locked=locked)
    goal = np.full(n, -0.5)
    motion = armdyn.simulate(
        arm, np.zeros(n), None, 0.2, controller=ComputedTorque(arm, quintic(np.zeros(n), goal, 0.2)),
        dt=0.02, rtol=1e-4, atol=1e-4,
    )  # fmt: skip
    with mpl.rc_context(STYLE):
        figure = draw(motion, curves(motion))
        assert len(figure.axes) == 3 + n
        figure.draw_without_rendering()
        boxes = [axes.get_tightbbox() for axes in figure.axes]
    for i, box in enumerate(boxes):
        others = boxes[:i] + boxes[i + 1 :]
        assert not any(box.shrunk(0.98, 0.98).overlaps(other) for other in others)
        assert figure.bbox.x0 <= box.x0
        assert box.x1 <= figure.bbox.x1
        assert figure.bbox.y0 <= box.y0


@settings(max_examples=100)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=9))
def test_names_of_lines_are_apart_in_order_and_near(heights):
    heights = np.array(heights)
    moved = spread(heights, 0.1)
    order = np.argsort(heights, kind="stable")
    assert (np.diff(moved[order]) >= 0.1 - 1e-12).all()
    assert moved.mean() == pytest.approx(heights.mean())
    raised = spread(heights, 0.1, low=0.05)
    assert (np.diff(raised[order]) >= 0.1 - 1e-12).all()
    assert raised.min() >= 0.05
    assert (raised >= moved).all()
    if (np.diff(heights[order]) >= 0.1).all():
        np.testing.assert_allclose(moved, heights, atol=1e-12)


def test_another_ending_is_refused(many, tmp_path):
    with pytest.raises(WriteError, match="the ending must be one of .png, .pdf, .svg"):
        many.plot(tmp_path / "a.jpeg")
