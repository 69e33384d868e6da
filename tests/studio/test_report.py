"""What is taken away: a report that needs nothing else, and a film of a motion."""

import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from io import BytesIO

import numpy as np
import pytest

pytest.importorskip("viser")

import armdyn
from armdyn.model.validate import Finding
from armdyn.studio.arm import Arm, Evaluator, State
from armdyn.studio.panels.exports import csv, report_html
from armdyn.studio.recording import film, skeleton, there_and_back
from armdyn.studio.shapes import stage

HOSTILE = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def two_link():
    robot = armdyn.load("two_link")
    robot = armdyn.Robot(replace(robot.model, title=HOSTILE, note=HOSTILE))
    return Arm(robot, Evaluator(robot), findings=(Finding("error", "link1", HOSTILE),))


def test_a_report_is_whole_escaped_and_asks_for_nothing_else(two_link, tmp_path):
    state = State(np.array([0.3, 0.4]), np.array([1.0, 0.5]), np.zeros(2), 0.5)
    told = []
    html = report_html(two_link, state, b"\x89PNG", tmp_path, told.append)
    assert "<script" not in html
    assert "is not valid" in html
    assert not re.search(r"(src|href)=['\"](?!data:)", html)
    formulas = [ET.fromstring(text) for text in re.findall(r"<math.*?</math>", html, re.DOTALL)]
    assert len(formulas) > 8
    assert html.count("data:image/svg+xml;base64,") == 2
    assert html.count("data:image/png;base64,") == 1
    tau = two_link.robot.with_payload(0.5).inverse_dynamics(state.q, state.qd, state.qdd)
    assert all(f"{value:.5g} N·m" in html for value in tau)
    for heading in ("Limits", "worst case", "Equations of motion", "Check", "Links", "C code"):
        assert re.search(f"<h2>.*{heading}", html)
    assert "two_link_inverse_dynamics" in html
    assert not list(tmp_path.iterdir())
    assert told


def test_report_and_table_say_what_the_page_shows_of_a_simulation(two_link, tmp_path):
    """At a stop the motor gives nothing, though the motion alone would take a torque."""
    zero, pushed = np.zeros(2), np.array([-3.25, 1.5])
    terms = {"inertial": np.array([2.0, -1.0]), "stops": pushed, "gravity": -pushed}
    state = State(np.array([0.3, 0.4]), zero, zero, 0.5, terms)
    seen = two_link.evaluator(state)
    assert not np.allclose(seen.total, seen.ledger.total)
    html = report_html(two_link, state, None, tmp_path, lambda _: None)
    table = re.search(r"<h2>This state</h2>(.*?)</table>", html, re.DOTALL)[1]
    for word in ("stops", "-3.25", "2 N·m", "-1 N·m"):
        assert word in table
    head, row = csv(two_link, state, None)[1].decode().splitlines()
    row = dict(zip(head.split(","), map(float, row.split(",")), strict=True))
    assert [row[f"tau{i}"] for i in (1, 2)] == [2, -1]
    assert [row[f"stops{i}"] for i in (1, 2)] == [*pushed]


@pytest.mark.parametrize("name", ["two_link", "five_bar"])
def test_a_film_follows_the_tool(name):
    image = pytest.importorskip("PIL.Image")
    robot = armdyn.load(name)
    q = np.full(robot.n, 0.2) if name == "two_link" else robot.model.ranges.mean(1)
    recording = there_and_back(robot, q, q + 0.1, 0.5)
    told = []
    made = image.open(BytesIO(film(robot, recording, told.append)))
    assert made.format == "GIF"
    assert made.n_frames == len(told) == 6
    assert made.size[0] >= 600
    for k in (0, 100, 300):
        lines = skeleton(robot, recording.q[k])
        tool = robot.forward_kinematics(recording.q[k])[:3, 3]
        np.testing.assert_allclose(lines[-1][-1], stage(robot.model).turn @ tool, atol=1e-9)
