"""Limits that a motion exceeds: by how much, when, and how a picture shows it."""

import numpy as np
import pytest

import armdyn
from armdyn.report.figures import LIMIT_ROOM, draw_limit, peak_words
from armdyn.simulation.limits import DEGREES_BEYOND, Excess, excess_section, excesses, many_turns


@pytest.fixture(scope="module")
def pendulum():
    bar = dict(joint="revolute", mass=2.0, inertia=(0, 0, 1.0), inertia_about="origin")
    bar |= dict(limits=(-0.5, 0.8), velocity_limit=0.9, effort_limit=0.7)
    return armdyn.from_dh([bar, bar | dict(effort_limit=0, velocity_limit=0)], physical="ignore")


def motion():
    t = np.linspace(0, 2 * np.pi, 2001)
    return t, np.repeat(np.sin(t)[:, None], 2, axis=1), np.repeat(np.cos(t)[:, None], 2, axis=1)


def test_an_excess_has_its_size_and_its_times(pendulum):
    t, q, qd = motion()
    found = {(e.joint, e.what, e.limit): e for e in excesses(pendulum.model, t, q, qd, -q)}
    high = found["joint1", "position", 0.8]
    assert (high.value, high.beyond) == pytest.approx((1.0, 0.2), abs=1e-6)
    assert (high.t, high.first) == pytest.approx((np.pi / 2, np.arcsin(0.8)), abs=5e-3)
    assert found["joint1", "position", -0.5].beyond == pytest.approx(0.5, abs=1e-6)
    assert found["joint1", "speed", 0.9].t == 0
    torque = found["joint1", "torque", 0.7]
    assert (torque.value, torque.unit) == (pytest.approx(1.0, abs=1e-6), "N·m")
    assert "torque 1 N·m at 1.571 s, 0.3 beyond its limit of 0.7, beyond it from" in str(torque)
    # a limit of zero is one that nobody knows
    assert {what for joint, what, _ in found if joint == "joint2"} == {"position"}


def test_of_many_arms_the_one_that_is_farthest_counts(pendulum):
    t, q, qd = motion()
    arms = np.array([0.1, 1.0, 0.9])[:, None, None]
    many = excesses(pendulum.model, t, arms * q, arms * qd, 0 * arms * q)
    assert many == excesses(pendulum.model, t, q, qd, 0 * q)
    assert not excesses(pendulum.model, t, 0.4 * q, 0.4 * qd, 0.4 * q)


def test_at_a_limit_none_is_exceeded(pendulum):
    """The first instant beyond it comes after that."""
    t = np.arange(4.0)
    q = np.array([-0.5, 0.8, 0.9, 0.8])[:, None] * [1.0, 0.0]
    (only,) = excesses(pendulum.model, t, q, 0.0 * q, 0.0 * q)
    assert (only.what, only.value, only.t, only.first) == ("position", 0.9, 2.0, 2.0)
    assert not excesses(pendulum.model, t, 0.0 * q, q, 0.0 * q)
    still = np.full((4, 2), 0.7)
    assert not excesses(pendulum.model, t, 0.0 * q, 0.0 * q, still)
    arms = np.stack([0.0 * q, q])
    assert excesses(pendulum.model, t, arms, 0.0 * arms, 0.0 * arms) == (only,)


def test_angles_are_taken_for_degrees_beyond_two_turns_if_somebody_wrote_them():
    def far(value, what="position", unit="rad"):
        return Excess("elbow", what, 1.0, value, 0.2, 0.1, unit)

    assert far(1.01 * DEGREES_BEYOND).looks_like_degrees
    assert far(-1.01 * DEGREES_BEYOND).looks_like_degrees
    for told in (far(DEGREES_BEYOND), far(99.0, "speed"), far(99.0, unit="m")):
        assert not told.looks_like_degrees
    hint = "armdyn takes radians"
    excess = (far(1.0), far(99.0))
    assert [hint in excess_section(excess, given=x).text() for x in (True, False)] == [True, False]
    assert hint in excess_section(excess).text()
    assert hint not in excess_section(excess[:1]).text()


def test_a_limit_is_drawn_where_it_matters():
    figure = pytest.importorskip("matplotlib.figure").Figure()
    t, q, _ = motion()
    for limit, lines, marks in ((0.7, 2, 2), (1.5, 2, 2), (2 * LIMIT_ROOM, 0, 0), (np.inf, 0, 0)):
        axes = figure.add_subplot()
        drawn = draw_limit(axes, t, q.T[:1], limit)
        assert (len(axes.lines), len(axes.collections)) == (lines, marks)
        assert (drawn is None) == (not lines)
        area = [sum(map(len, marked.get_paths())) for marked in axes.collections]
        assert (sum(area) > 0) == (limit == 0.7)
    assert peak_words(-576.4, "N·m", 150.0)["label"] == "peak \N{MINUS SIGN}576 of 150 N·m"
    assert peak_words(12.0, "N")["label"] == "peak 12 N"


def test_many_turns_are_told_of_joints_that_turn_without_limits():
    free = dict(
        joint="revolute", mass=2.0, inertia=(0, 0, 1.0), inertia_about="origin", name="free"
    )
    rows = [
        free,
        free | dict(limits=(-50, 50), name="held"),
        free | dict(joint="prismatic", name="rail"),
    ]
    model = armdyn.from_dh(rows, physical="ignore").model
    q = np.array([[0, 50, 50], [-18 * np.pi, 0, 0]])
    assert list(many_turns(model, q)) == ["free is at 56.55 rad, 9 turns, and has no limits"]
    assert list(many_turns(model, q / 10)) == []
    assert list(many_turns(model, np.full((1, 3), DEGREES_BEYOND))) == []
    assert len(list(many_turns(model, np.full((1, 3), -1.01 * DEGREES_BEYOND)))) == 1
