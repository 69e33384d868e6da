"""A window without a browser: what comes back, and what ends, when another robot comes."""

import json

import numpy as np
import pytest

pytest.importorskip("viser")

import armdyn
from armdyn.errors import SimulationError, UnknownNameError
from armdyn.studio.arm import Arm, Evaluator, State
from armdyn.studio.panels.timeline import PlayedMotion
from armdyn.studio.recording import there_and_back
from armdyn.studio.session import MOST_WINDOWS, Memories
from support.studio_windows import bare_window, until


@pytest.fixture(scope="module")
def studio(bare_studio):
    return bare_studio


@pytest.fixture
def window(studio):
    with bare_window(studio) as (_, session):
        yield session


@pytest.fixture(scope="module")
def sent():
    """An arm that is in no catalog."""
    robot = armdyn.load("two_link").with_link("link2", mass=2.5, physical="ignore")
    return Arm(robot, Evaluator(robot), source="mine.toml")


def panel(session, name):
    return next(p for p in session.panels if type(p).__name__ == name)


def restore(session, memory, robot="mine.toml", q=(0.3, -0.4)):
    asked = {"do": "restore", "robot": robot, "catalog": False, "memory": memory}
    session.page.hear(json.dumps(asked | {"q": q, "qd": [0, 0.5], "qdd": [0, 0], "payload": 1.5}))


def test_a_reload_brings_back_what_no_address_can_have(studio, sent):
    with bare_window(studio) as (_, before):
        before.enter(sent)
        panel(before, "PosesPanel").put({"up": State.rest(np.array([1.5, 0.0]))})
        before.see({"centres": True, "axes": False})
        name = before.memory.name
        assert before.page._shown["memory"] == name
    until(lambda: before not in studio.sessions, what="the end of the window")
    with bare_window(studio) as (_, after):
        restore(after, name)
        assert after.arm is sent
        np.testing.assert_allclose(after.state.q, [0.3, -0.4])
        np.testing.assert_allclose(after.state.qd, [0, 0.5])
        assert after.state.payload == 1.5
        assert list(panel(after, "PosesPanel").poses) == ["up"]
        assert after.scene.view["centres"]
        assert not after.scene.view["axes"]
        assert panel(after, "MotionPanel")._boxes["centres"].value
        # it is remembered under its own name from now on
        assert after.memory.arm is sent
        assert after.memory.name != name


def test_an_edited_arm_comes_back_with_its_original(studio):
    with bare_window(studio) as (_, before):
        edit = panel(before, "EditPanel")
        edit.put("link1", mass="4")
        edit.use()
        until(lambda: before.arm.source == "two_link (edited)", what="the edited arm")
        name, made = before.memory.name, before.arm
    with bare_window(studio) as (_, after):
        restore(after, name, "two_link (edited)")
        assert after.arm is made
        panel(after, "EditPanel")._restore()
        assert after.arm.source == "two_link"
        np.testing.assert_allclose(after.state.q, [0.3, -0.4])


@pytest.mark.parametrize("memory", ["guess", None, 3, ["x"]])
def test_what_is_not_remembered_is_said(window, monkeypatch, memory):
    told, arm = [], window.arm
    monkeypatch.setattr(window, "tell", lambda *words: told.append(words))
    restore(window, memory)
    ((title, words),) = told
    assert title == "Open the file again"
    assert "'mine.toml'" in words
    assert window.arm is arm


def test_only_the_last_windows_are_remembered():
    memories = Memories()
    first = memories.new()
    for _ in range(MOST_WINDOWS - 1):
        assert memories.find(first.name) is first  # asked for, so that it stays
        second = memories.new()
    for _ in range(MOST_WINDOWS):
        memories.new()
    assert memories.find(first.name) is None
    assert memories.find(second.name) is None
    assert memories.find(None) is None


@pytest.mark.slow
def test_another_robot_stops_the_motion_of_the_one_before(window, sent):
    timeline = panel(window, "TimelinePanel")
    move = PlayedMotion("a move", lambda robot, _: there_and_back(robot, [0, 0], [1, 1], 20.0))
    timeline.make(move)
    until(lambda: timeline.recording is not None, what="the motion")
    until(lambda: window.state.q[0] > 0.001, what="its beginning")
    waiting = PlayedMotion("another move", lambda robot, tell: forever(tell))
    timeline.make(waiting, play=False)
    (job,) = window.jobs.running
    q = np.array([0.2, 0.1])
    window.enter(sent, State.rest(q))
    assert timeline.recording is None
    assert not timeline._playing.is_set()
    assert window.page._shown["motion"] is None
    assert window.page._shown["curve"] is None
    assert not window.jobs.running
    until(lambda: not job.thread.is_alive(), what="the end of the job")
    np.testing.assert_array_equal(window.state.q, q)
    assert timeline.recording is None


def test_another_number_keeps_the_motion_and_the_poses(window):
    timeline, edit = panel(window, "TimelinePanel"), panel(window, "EditPanel")
    panel(window, "PosesPanel").put({"up": State.rest(np.array([1.5, 0.0]))})
    move = PlayedMotion("a move", lambda robot, _: there_and_back(robot, [0, 0], [1, 1], 2.0))
    timeline.make(move, play=False)
    before = until(lambda: timeline.recording, what="the motion")
    window.page.hear('{"do": "seek", "time": 0.5}')
    q = window.state.q
    edit.put("link1", mass="4")
    edit.use()
    until(lambda: timeline.recording is not before, what="the motion of the edited arm")
    after = timeline.recording
    np.testing.assert_array_equal(after.q, before.q)
    wanted = window.arm.robot.inverse_dynamics(after.q, after.qd, after.qdd)
    np.testing.assert_allclose(after.tau, wanted, atol=1e-9)
    assert not np.allclose(after.tau, before.tau, atol=1e-3)
    assert window.page._shown["motion"]["time"] == 0.5
    np.testing.assert_allclose(window.state.q, q)
    assert list(panel(window, "PosesPanel").poses) == ["up"]
    edit._restore()
    until(lambda: timeline.recording is not after, what="the motion of the original")
    np.testing.assert_array_equal(timeline.recording.tau, before.tau)


def test_a_motion_that_the_edited_arm_cannot_make_is_not_plotted(window, sent, monkeypatch):
    timeline, failed, robot = panel(window, "TimelinePanel"), [], window.arm.robot

    def move(arm, _):
        if arm is not robot:
            raise SimulationError("not with these numbers")
        return there_and_back(arm, [0, 0], [1, 1], 2.0)

    timeline.make(PlayedMotion("a move", move), play=False)
    until(lambda: timeline.recording, what="the motion")
    monkeypatch.setattr(window.jobs, "_fail", failed.append)
    window.enter(sent, State.rest(np.zeros(2)), variant=True)
    until(lambda: failed, what="the error")
    assert timeline.recording is None
    assert window.page._shown["motion"] is None


def forever(tell):
    while True:
        tell("on and on")


def test_the_frame_of_the_tool_is_drawn_only_when_asked_for(window):
    assert not window.scene.view["tool"]
    (frame,) = window.scene._drawing._extras["tool"]
    assert not frame.visible
    window.see({"tool": True})
    assert frame.visible
    window.see({"tool": False})
    assert not frame.visible


def test_a_link_of_the_tree_is_chosen(window, monkeypatch):
    edit, failed = panel(window, "EditPanel"), []
    monkeypatch.setattr(window.page, "_fail", failed.append)
    window.page.hear('{"do": "part", "name": "link2"}')
    assert edit._choice.value == "link2"
    assert edit._fields["mass"].value == "1"
    window.page.hear('{"do": "part", "name": "<b>"}')
    assert isinstance(failed[0], UnknownNameError)
    assert edit._choice.value == "link2"
