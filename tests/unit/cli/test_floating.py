"""Bases that float on the command line: what works, and what is refused in a sentence."""

import json

import numpy as np
import pytest

import armdyn
from armdyn import Inertia
from armdyn.simulation import quintic, sampled

ROD = {"joint": "revolute", "a": 1.0, "mass": 1.0, "com": [-0.5, 0, 0]}
ROWS = [ROD | {"inertia": np.diag([0.01, 0.1, 0.1]), "limits": [-3, 3]} for _ in range(2)]


@pytest.fixture
def files(tmp_path):
    """A robot file, and a motion of its joints."""
    arm = armdyn.from_dh(ROWS, gravity=[0, 0, 0], name="planar")
    arm = arm.with_link("base", Inertia.box((1, 1, 0.5), mass=5.0))
    arm.save(tmp_path / "planar.toml")
    sampled(quintic([0, 0.5], [1, -0.5], 1.0), 0.01).save(tmp_path / "move.csv")
    return tmp_path / "planar.toml", tmp_path / "move.csv"


def data(command, *words):
    code, out, err = command(*words, "--json")
    assert (code, err) == (0, "")
    return json.loads(out)


@pytest.mark.slow
def test_torques_of_a_base_that_floats_drive_its_simulation(command, files, tmp_path):
    """The torques of a motion, put into a simulation, move joints and base as they were to move."""
    robot, move = files
    floats = robot, "--free-base", "--base", "1,2,3,0.1,0.2,0.3"
    twist = "--base-twist", "0.1,0,0,0,0,0.2"
    told = data(command, "torque", *floats, move, *twist, "-o", tmp_path / "tau.csv")
    assert told["residual"] < 1e-12
    start = "--q0", "0,0.5", "--torque", tmp_path / "tau.csv", "--method", "rk4", "--dt", "0.01"
    back = data(command, "simulate", *floats, *start, *twist, "-o", tmp_path / "back.csv")
    for key, value in told["base"].items():
        np.testing.assert_allclose(back["base"][key], value, atol=1e-2)
    np.testing.assert_allclose(back["q"], [1, -0.5], atol=1e-3)
    np.testing.assert_allclose(back["base"]["position"], told["base"]["position"], atol=1e-4)
    again = data(command, "torque", *floats, tmp_path / "back.csv")
    assert again["base"]["position"] == pytest.approx(back["base"]["position"], abs=1e-10)


@pytest.mark.slow
def test_a_robot_that_floats_is_described_counted_and_exported(command, files, tmp_path):
    robot, _ = files
    assert data(command, "info", robot, "--free-base")["floating"]
    counted = data(command, "ops", robot, "--free-base")["programs"]
    assert {row["quantity"][:5] for row in counted} == {"free_"}
    made = data(command, "export", robot, "--free-base", "-o", tmp_path / "c")
    assert set(made["functions"]) == {row["quantity"] for row in counted}
    assert "void planar_free_forward_dynamics(" in (tmp_path / "c" / "planar.h").read_text()


REFUSED = {
    "terms": ["{move}"],
    "worst": [],
    "reduced": ["{move}"],
    "simplify": [],
    "excite": ["--duration", "2"],
    "identify": ["{move}"],
    "compare": [],
    "sweep": [],
    "equations": [],
    "size": ["{move}", "{move}"],
}


@pytest.mark.parametrize("verb", REFUSED)
def test_what_needs_a_base_that_is_held_says_so(command, files, verb):
    robot, move = files
    words = [word.format(move=move) for word in REFUSED[verb]]
    code, out, err = command(verb, robot, "--free-base", *words)
    assert (code, out) == (2, "")
    (line,) = err.strip().splitlines()
    assert line.startswith("error: nothing holds the base 'base' of 'planar'")
    assert "robot.free_base" in line
    assert "--fix-root" in line


def test_bases_in_a_plane_have_equations(command, files):
    _, out, _ = command("equations", files[0], "--base-joints", "x,y,rz")
    assert "M11 = m3 + m4 + m5" in out
    assert "M12 = 0" in out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["torque", "--q", "0,0", "--base-twist", "0,0,0,0,0,1"], "--base-twist is for a base"),
        (["simulate", "--free-base", "--base-twist", "1,2"], "--base-twist: expected 6 numbers"),
        (["info", "--free-base", "--fix-root"], "--free-base: --fix-root and --base-joints hold"),
        (["info", "--base-joints", "x,w"], "joint of a base named 'w'"),
    ],
)
def test_options_that_do_not_fit_are_refused(command, files, words, message):
    code, _, err = command(words[0], files[0], *words[1:])
    assert code == 2
    assert message in err


def test_a_base_under_loops_does_not_float(command):
    code, _, err = command("simulate", "four_bar", "--free-base")
    assert code == 2
    assert "a base that floats under closed loops is not computed" in err
