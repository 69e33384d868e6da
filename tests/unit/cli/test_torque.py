"""`armdyn torque` with wrenches, a base that moves, and reactions."""

import json

import numpy as np
import pytest

import armdyn

T = np.linspace(0, 1, 21)
Q = np.column_stack([np.sin(T), np.cos(2 * T)])
PULL = np.column_stack([np.outer(T, [10.0, 20.0, 0.0]), np.outer(T, [0.0, 0.0, 1.0])])


def write(path, header, *columns):
    table = np.column_stack(columns)
    np.savetxt(path, table, delimiter=",", header=header, comments="", fmt="%.15g")
    return path


@pytest.fixture
def move(tmp_path):
    return write(tmp_path / "move.csv", "t,q1,q2", T, Q)


def data(command, *words):
    code, out, err = command("torque", "two_link", *words, "--json")
    assert (code, err) == (0, "")
    return json.loads(out)


@pytest.mark.slow
def test_a_wrench_on_the_command_line_is_that_of_the_file(command, move, tmp_path):
    held = data(command, move, "--wrench", "5,0,0,0,0,0.5")
    names = "t,q1,q2,fx,fy,fz,nx,ny,nz"
    same = np.tile([5, 0, 0, 0, 0, 0.5], (len(T), 1))
    filed = data(command, write(tmp_path / "held.csv", names, T, Q, same))
    assert filed["joints"] == held["joints"]
    table = tmp_path / "out.csv"
    file = write(tmp_path / "pull.csv", names, T, Q, PULL)
    code, _, _ = command("torque", "two_link", file, "--wrench-frame", "tool", "-o", table)
    assert code == 0
    read = np.genfromtxt(table, delimiter=",", names=True)
    arm = armdyn.load("two_link")
    zero = np.zeros(2)
    rest = arm.inverse_dynamics(Q, zero, zero)
    expected = arm.inverse_dynamics(Q, zero, zero, PULL, wrench_frame="tool") - rest
    np.testing.assert_allclose(read["external2"], expected[:, 1], atol=1e-9)
    np.testing.assert_allclose(read["hand_x"], arm.forward_kinematics(Q)[:, 0, 3], rtol=1e-10)


@pytest.mark.slow
def test_rotors_that_spin_have_a_column(command, move, tmp_path):
    arm = armdyn.load("two_link")
    given = {"axis": [0, 0, 1], "carrier": "link1", "inertia": 2e-3, "gear_ratio": -30.0}
    spun, table = arm.with_rotor(arm.joint_names[1], **given), tmp_path / "out.csv"
    spun.save(tmp_path / "spun.toml")
    code, out, _ = command("torque", tmp_path / "spun.toml", move, "-o", table)
    assert code == 0
    assert " spin " in out
    read = np.genfromtxt(table, delimiter=",", names=True)
    assert np.abs(read["spin1"]).max() > 0.05
    terms = ("inertial", "coriolis", "gravity", "rotor", "spin")
    for i in "12":
        total = sum(read[f"{term}{i}"] for term in terms)
        np.testing.assert_allclose(read[f"tau{i}"], total, atol=1e-9)


@pytest.mark.slow
def test_a_base_that_accelerates_is_a_term(command, move, tmp_path):
    lift = write(tmp_path / "lift.csv", "t,ax,ay,az", [0, 1], [[0, 2.0, 0], [0, 2.0, 0]])
    moved = data(command, move, "--base-motion", lift)
    gravity = armdyn.load("two_link").gravity - [0, 2.0, 0]
    field = data(command, move, "--gravity", ",".join(map(str, gravity)))
    for one, other in zip(moved["joints"], field["joints"], strict=True):
        assert one["peak"] == pytest.approx(other["peak"])
        assert abs(one["terms"]["base"]["peak"]) > 0.1


@pytest.mark.slow
def test_a_picture_of_reactions(command, move, tmp_path):
    path = tmp_path / "carried.png"
    found = data(command, move, "--reactions", "--plot", path)
    assert path.read_bytes().startswith(b"\x89PNG")
    assert {"force", "axial", "radial", "moment", "tilting", "twisting"} < set(
        found["reactions"][0]
    )


def test_bad_loads_are_refused(command, move, tmp_path):
    pull = write(tmp_path / "pull.csv", "t,q1,q2,fx,fy,fz,nx,ny,nz", T, Q, PULL)
    half = write(tmp_path / "half.csv", "t,q1,q2,fx,fy", T, Q, PULL[:, :2])
    short = write(tmp_path / "short.csv", "t,ax,ay,az", [0, 0.5], np.zeros((2, 3)))
    for words, said in (
        ((pull, "--wrench", "1,0,0,0,0,0"), "has a wrench already"),
        ((half,), "the columns fz, nx, ny, nz are missing"),
        ((move, "--wrench", "1,2"), "expected 6 numbers"),
        ((move, "--wrench", "1,0,0,0,0,0", "--wrench-link", "elbow"), "named 'elbow'"),
        ((move, "--base-motion", short), "needed from 0 to 1 s"),
        ((move, "--base-motion", move), "there is no motion in it; a motion of a base has"),
        ((move, "--reactions", "--motors", "--plot", tmp_path / "a.png"), "leave one out"),
    ):
        code, out, err = command("torque", "two_link", *words)
        assert (code, out) == (2, "")
        assert said in " ".join(err.replace("│", " ").split())
    code, _, err = command("simulate", "two_link", "--target", pull, "--controller", "gravity-pd")
    assert code == 2
    assert "fx" in err
