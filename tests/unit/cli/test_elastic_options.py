"""Joints that give on the command line."""

import json

import numpy as np
import pytest

import armdyn
from armdyn.simulation import sampled, smooth_move

pytestmark = pytest.mark.slow
ROW = dict(
    joint="revolute", a=0.5, mass=4.0, com=(-0.25, 0, 0), inertia=(0, 1 / 12, 1 / 12),
    rotor_inertia=1e-4, gear_ratio=80.0, transmission_stiffness=3000.0, limits=(-2, 2),
)  # fmt: skip
TWO = armdyn.from_dh([ROW, ROW], gravity=(0, -9.81, 0), name="two")


@pytest.fixture
def path(tmp_path):
    TWO.save(tmp_path / "two.toml")
    return tmp_path / "two.toml"


def test_modes_of_a_configuration_and_of_the_workspace(command, path):
    code, out, _ = command("info", path, "--modes", "0.3,-0.4")
    assert code == 0
    modes = TWO.elastic.modes([0.3, -0.4])
    for frequency in (*modes.frequencies, *TWO.elastic.modes([0.3, -0.4], "locked").frequencies):
        assert f"{frequency:.4g}" in out
    code, out, _ = command("info", path, "--modes", "workspace", "--json")
    told = json.loads(out)
    assert (
        min(told["locked"]["frequencies"])
        <= TWO.elastic.modes([0.3, -0.4], "locked").frequencies[0]
    )
    code, _, complaint = command("info", "two_link", "--modes", "0,0")
    assert code == 2
    assert "no joint has a transmission_stiffness" in complaint


def test_motions_of_motors_and_links(command, path, tmp_path):
    words = (
        "simulate",
        path,
        "--elastic",
        "--q0",
        "0.1,0.2",
        "--move",
        "0.5,0.4",
        "--duration",
        "0.3",
    )
    words = (*words, "--controller", "elastic-feedforward", "--kp", "400", "--kd", "20")
    code, out, _ = command(*words, "--rtol", "1e-6", "--json")
    told = json.loads(out)
    assert code == 0
    np.testing.assert_allclose(told["q"][:2], [0.5, 0.4], atol=1e-4)
    code, out, _ = command("simulate", path, "--elastic", "--arms", "2", "--duration", "0.01")
    assert code == 0
    assert "by rk4" in out


def test_torques_of_motors_along_a_file(command, path, tmp_path):
    move = smooth_move([0.1, 0.2], [0.5, 0.4], 0.5)
    sampled(move, 0.005).save(tmp_path / "move.csv")
    found = tmp_path / "motors.csv"
    code, _, _ = command("torque", path, tmp_path / "move.csv", "--elastic", "60", "-o", found)
    assert code == 0
    table = np.genfromtxt(found, delimiter=",", names=True)
    middle = len(table) // 2
    expected = TWO.elastic.inverse_dynamics(*move.derivatives(table["t"][middle]))
    given = [table[f"tau{i}"][middle] for i in (1, 2)]
    np.testing.assert_allclose(given, expected.tau, rtol=0.02)
    given = [table[f"theta{i}"][middle] for i in (1, 2)]
    np.testing.assert_allclose(given, expected.theta, atol=1e-4)
