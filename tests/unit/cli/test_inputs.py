"""Motions and states as people have them, and wrong ones that must not pass in silence."""

import io
import json
import sys

import numpy as np
import pytest

import armdyn
from armdyn.errors import ArmdynWarning, SimulationError
from armdyn.io.csv.trajectory import trajectory_from_csv
from armdyn.io.log import meaning_of

JOINTS = ("shoulder", "elbow", "slide_2")


@pytest.fixture
def motion(tmp_path):
    """A motion of two joints, as lines of t, q1, q2."""
    t = np.linspace(0, 1, 9)
    return "\n".join(f"{x:.3f},{np.sin(x):.9f},{-x:.9f}" for x in t) + "\n"


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("shoulder", ("q", 0)),
        ("elbow.position", ("q", 1)),
        ("/joint_states/elbow/velocity", ("qd", 1)),
        ("velocity_slide_2", ("qd", 2)),
        ("slide_2_acc", ("qdd", 2)),
        ("position[shoulder]", ("q", 0)),
        ("elbow/effort", ("tau", 1)),
        ("q3", ("q", 3)),
        ("Q3", ("q", 3)),
        ("qdd_1", ("qdd", 1)),
        ("fx", None),
        ("finger", None),
        ("finger/position", None),
    ],
)
def test_columns_are_known_by_the_names_of_joints(name, meant):
    found = meaning_of(name, JOINTS)
    assert (found and (found.quantity, found.joint)) == meant


DIALECTS = {
    "semicolons and decimal commas": ("t;q1;q2\n", ";", ","),
    "tabs": ("t\tQ1\tQ2\n", "\t", "."),
    "joints from 0": ("time,q0,q1\n", ",", "."),
    "names of joints": ("time,joint1/position,joint2/position\n", ",", "."),
}


@pytest.mark.parametrize("name", DIALECTS)
def test_torques_are_the_same_whatever_wrote_the_motion(command, tmp_path, motion, name):
    header, separator, point = DIALECTS[name]
    text = motion.replace(",", separator).replace(".", point)
    (tmp_path / "plain.csv").write_text("t,q1,q2\n" + motion)
    (tmp_path / "other.csv").write_text(header + text)
    plain, other = (
        json.loads(command("torque", "two_link", tmp_path / f"{n}.csv", "--json")[1])
        for n in ("plain", "other")
    )
    assert other["joints"] == plain["joints"]


def test_columns_that_torque_does_not_know_are_noted_and_misspelt_ones_refused(
    command, tmp_path, motion
):
    lines = motion.splitlines()
    (tmp_path / "m.csv").write_text("t,q1,q2,mode\n" + "\n".join(f"{x},on" for x in lines))
    code, out, _ = command("torque", "two_link", tmp_path / "m.csv")
    assert code == 0
    assert "not used: 'mode'" in " ".join(out.split())
    both = "\n".join(f"{x},1,1" for x in lines)
    (tmp_path / "m.csv").write_text("t,q1,q2,qqd1,qqd2\n" + both)
    code, _, err = command("torque", "two_link", tmp_path / "m.csv")
    assert code == 2
    assert "m.csv:1: the column 'qqd1' is not known; did you mean 'qd1'?" in err


def test_a_log_with_names_in_any_order_is_the_numbered_motion(tmp_path, motion):
    (tmp_path / "plain.csv").write_text("t,q1,q2\n" + motion)
    (tmp_path / "log.csv").write_text("time,joint1/position,joint2/position\n" + motion)
    model = armdyn.load("two_link").model
    plain, log = (trajectory_from_csv(tmp_path / f"{n}.csv", model) for n in ("plain", "log"))
    for one, other in zip((plain.t, plain.q, plain.qdd), (log.t, log.q, log.qdd), strict=True):
        np.testing.assert_array_equal(one, other)
    (tmp_path / "swapped.csv").write_text("time,joint2,joint1\n" + motion)
    swapped = trajectory_from_csv(tmp_path / "swapped.csv", model)
    np.testing.assert_array_equal(swapped.q, plain.q[:, ::-1])


def test_degrees_are_of_angles_and_not_of_lengths(tmp_path, motion):
    rows = [dict(joint=kind, mass=1.0) for kind in ("revolute", "prismatic")]
    model = armdyn.from_dh(rows).model
    (tmp_path / "m.csv").write_text("t,q1,q2\n" + motion)
    plain = trajectory_from_csv(tmp_path / "m.csv", model)
    turned = trajectory_from_csv(tmp_path / "m.csv", model, degrees=True)
    for group in ("q", "qd", "qdd"):
        one, other = getattr(plain, group), getattr(turned, group)
        np.testing.assert_allclose(other[:, 0], np.radians(one[:, 0]), rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(other[:, 1], one[:, 1], atol=1e-12)


def test_a_motion_comes_from_standard_input(command, monkeypatch, tmp_path, motion):
    (tmp_path / "m.csv").write_text("t,q1,q2\n" + motion)
    expected = json.loads(command("torque", "two_link", tmp_path / "m.csv", "--json")[1])
    stdin = io.TextIOWrapper(io.BytesIO(("t,q1,q2\n" + motion).encode()))
    monkeypatch.setattr(sys, "stdin", stdin)
    code, out, _ = command("torque", "two_link", "-", "--json")
    assert code == 0
    assert json.loads(out)["joints"] == expected["joints"]
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
    code, _, err = command("torque", "two_link", "-")
    assert code == 2
    assert "standard input: it is empty; expected a header" in err


def test_one_state_needs_no_file(command):
    words = ("--q", "30,-60", "--qd", "10,0", "--degrees", "--payload", "1,0.1,0,0,0.1,0.2,0.2")
    code, out, _ = command("torque", "two_link", *words, "--json")
    assert code == 0
    found = [joint["peak"] for joint in json.loads(out)["joints"]]
    held = armdyn.load("two_link").with_payload(1.0, (0.1, 0, 0), np.diag([0.1, 0.2, 0.2]))
    state = np.radians([30, -60]), np.radians([10, 0]), np.zeros(2)
    np.testing.assert_allclose(found, held.inverse_dynamics(*state), rtol=1e-12)
    assert "at one state" in command("torque", "two_link", "--q", "0,0")[1]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("torque", "two_link"), "give a trajectory, or the positions of one state by --q"),
        (("torque", "two_link", "--qd", "1,1"), "by --q beside --qd"),
        (("torque", "two_link", "a.csv", "--q", "1,1"), "give a trajectory or --q, not both"),
        (("torque", "two_link", "--q", "1"), "--q: expected 2 numbers, got '1'"),
        (("torque", "two_link", "--q", "1,nan"), "--q, --qd and --qdd take finite numbers"),
        (("info", "two_link", "--payload", "1,2"), "expected 1, 4, 7 or 10 numbers"),
        (("simulate", "two_link", "--duration", "0.1", "--dt", "1"), "do not fit into a duration"),
    ],
)
def test_what_cannot_be_meant_is_refused(command, words, message):
    code, _, err = command(*words)
    assert code == 2
    assert message in err


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("info", "panda", "--lock", "joint1=90"), "locked at 90 rad, beyond its limits"),
        (("info", "panda", "--gravity", "0,0,9.81"), "points up in the world"),
        (("torque", "two_link", "--q", "90,0"), "if these are degrees, say --degrees"),
        (
            ("simulate", "puma560", "--q0", "0,9,0,0,0,0", "--duration", "0.01", "--dt", "0.01"),
            "joint2 starts at 9, beyond its limits of -0.7854",
        ),
        (("simulate", "panda", "--duration", "1e-6"), "joint4 starts at 0, beyond its limits"),
    ],
)
def test_what_is_hardly_meant_is_warned_of(command, words, message):
    code, _, err = command(*words)
    assert code == 0
    assert "warning: " in err
    assert message in err


def test_a_dh_table_without_inertia_is_warned_of():
    with pytest.warns(ArmdynWarning, match="no row has a mass, com or inertia"):
        armdyn.from_dh([dict(joint="revolute", a=0.5)])


def test_records_must_fit_into_the_duration():
    with pytest.raises(SimulationError, match="take a shorter dt, or none"):
        armdyn.simulate(armdyn.load("two_link"), [0, 0], duration=0.1, dt=0.2)
