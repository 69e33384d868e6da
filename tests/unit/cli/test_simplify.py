"""`armdyn simplify`: the report, the files and the exit codes."""

import json
from functools import partial

import numpy as np
import pytest

import armdyn

POLAR = """format = 1
name = "polar"
convention = "standard"

[[joint]]
joint = "revolute"
a = 0.0
alpha = 1.5707963267948966
d = 0.0
mass = 2.0
com = [0.0, 0.0, 0.1]
inertia = [0.02, 0.02, 0.02]

[[joint]]
joint = "prismatic"
a = 0.0
alpha = 0.0
d = 0.3
theta = 0.0
mass = 1.5
com = [0.0, 0.0, -0.1]
inertia = [0.01, 0.01, 0.01]
"""


@pytest.fixture
def run(command):
    return partial(command, "simplify")


@pytest.mark.slow
def test_the_report_tells_how_and_how_long(run):
    code, out, err = run("saha_3r")
    assert (code, err) == (0, "")
    for part in ("Saha 3R arm: the goal is reached: constant", "Branch 1, feasible",
                 "x2 = -a2 m3/m2", "Mass matrix", "gravity before", "Time", "design"):  # fmt: skip
        assert part in out


@pytest.mark.slow
def test_options_reach_the_design_and_files_are_written(run, tmp_path):
    robot, plot, move = (tmp_path / name for name in ("new.toml", "new.png", "move.csv"))
    t = np.linspace(0, 1, 11)
    np.savetxt(move, np.column_stack([t, t**3, t**2]), delimiter=",", header="t,q1,q2", comments="")
    code, out, err = run(
        "two_link", "--free", "link2.mass,link2.com,link2.inertia", "--add-only", "--no-symbolic",
        "--bounds", "link2.mass=:4,m2=1:", "--weights", "link2.inertia=10", "--margin", "1e-3",
        "--trajectory", move, "-o", robot, "--plot", plot, "--json",
    )  # fmt: skip
    assert (code, err) == (0, "")
    data = json.loads(out)
    assert data["files"] == [str(robot), str(plot)]
    assert plot.read_bytes().startswith(b"\x89PNG")
    new, old = armdyn.load(robot), armdyn.load("two_link")
    M = new.mass_matrix(np.random.default_rng(0).uniform(-3, 3, (20, 2)))
    np.testing.assert_allclose(M, np.broadcast_to(M[0], M.shape), atol=1e-9)
    (link,) = data["links"]
    weights = sum(weight["mass"] for weight in link["counterweights"])
    assert link["after"]["mass"] == pytest.approx(link["before"]["mass"] + weights, rel=1e-5)
    assert new.model.links[1].inertia.mass <= 4 + 1e-6
    assert new.model.links[0].inertia == old.model.links[0].inertia
    assert (data["trajectory"]["file"], data["trajectory"]["duration"]) == (str(move), 1.0)
    assert (data["conditions"], data["branches"]) == ([], [])


@pytest.mark.slow
def test_the_exit_code_is_1_where_the_goal_is_out_of_reach(run, tmp_path):
    source, nearest = tmp_path / "polar.toml", tmp_path / "nearest.urdf"
    source.write_text(POLAR)
    code, out, err = run(source, "-o", nearest)
    assert (code, err) == (1, "")
    assert "not reached" in out.splitlines()[0]
    assert "D11 = ... + m̃2 |e1 × e2|² q2²" in out
    assert armdyn.load(nearest).n == 2


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("nowhere.urdf",), "nowhere.urdf: there is no such file"),
        (("saha_3r", "--free", "link2.mas"), "Did you mean 'link2.mass'"),
        (("saha_3r", "--free", ","), "nothing is free to change"),
        (("saha_3r", "--goal", "constnt"), "there is no goal 'constnt'"),
        (("saha_3r", "--goal", "decouple=1,1"), "cannot be decoupled from itself"),
        (("saha_3r", "--bounds", "x2"), "--bounds: expected WORD=LOW:HIGH,..., got 'x2'"),
        (("saha_3r", "--bounds", "x2=3"), "--bounds x2: expected LOW:HIGH, got '3'"),
        (("saha_3r", "--bounds", "x2=nan:1"), "--bounds x2: expected numbers, got 'nan:1'"),
        (("saha_3r", "--bounds", "x2=a:1"), "--bounds x2: expected a number, got 'a'"),
        (("saha_3r", "--free", "m2", "--bounds", "m2=-2:-1"), "m2 must be positive"),
        (("saha_3r", "--bounds", "m2=1:2"), "m2 is not free to change"),
        (("saha_3r", "--weights", "x2=0"), "weight of 'x2': expected a positive number"),
        (("saha_3r", "--weights", "x2"), "--weights: expected WORD=NUMBER,..., got 'x2'"),
        (("saha_3r", "--margin", "2"), "margin: expected a number from 0 to below 0.1"),
        (("saha_3r", "--add-only"), "material can only be added where the mass is free"),
        (("saha_3r", "--trajectory", "none.csv"), "there is no file none.csv"),
        (("saha_3r", "-o", "new.txt"), "the ending must be one of .toml, .urdf"),
        (("saha_3r", "--plot", "new.txt"), "the ending must be one of .png, .pdf, .svg"),
        (("saha_3r", "-o", "nowhere/new.toml"), "there is no folder nowhere"),
    ],
)
def test_bad_input_is_one_message_and_exit_code_2(run, words, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, err = run(*words)
    assert (code, out) == (2, "")
    assert message in " ".join(err.replace("│", " ").split())
    assert "Traceback" not in err
    assert list(tmp_path.iterdir()) == []


def test_the_robot_itself_is_not_overwritten(run, tmp_path):
    source = tmp_path / "polar.toml"
    source.write_text(POLAR)
    code, _, err = run(source, "-o", source)
    assert code == 2
    assert "is the robot itself" in " ".join(err.replace("│", " ").split())
    assert source.read_text() == POLAR
