"""What a motion asks of motors: conservation of power, and the load behind a gear."""

import csv
import json
from dataclasses import replace

import numpy as np
import pytest

import armdyn
from armdyn.errors import ArmdynError, ModelError, TrajectoryError
from armdyn.io.csv.trajectory import SampledMotion
from armdyn.model import Rotor
from armdyn.simulation.trajectories.piecewise import Samples
from support.drives import bar, swing
from support.paths import ROOT


def test_a_motor_carries_the_load_behind_the_gear_and_accelerates_its_rotor():
    ratio, inertia = np.array([-50.0, 80.0, 30.0]), np.array([1e-4, 3e-5, 2e-5])
    rods = [bar(a=0.4, alpha=twist, viscous=0.2) for twist in (0.0, np.pi / 2, 0.3)]
    gears = [dict(rotor_inertia=i, gear_ratio=r) for i, r in zip(inertia, ratio, strict=True)]
    load = armdyn.from_dh(rods)
    driven = armdyn.from_dh([row | gear for row, gear in zip(rods, gears, strict=True)])
    move = swing(3)
    report = armdyn.motors(driven, move)
    behind = load.inverse_dynamics(move.q, move.qd, move.qdd) / ratio
    np.testing.assert_allclose(report.torque, behind + inertia * ratio * move.qdd, atol=1e-12)
    np.testing.assert_allclose(report.speed, ratio * move.qd)


def test_gears_keep_the_power_of_a_hand_whose_fingers_follow_each_other():
    robot = armdyn.load(ROOT / "tests" / "robots" / "gripper.urdf")
    joints = [
        replace(joint, rotor=Rotor(1e-5, (-1.0) ** i * (20.0 + i)))
        for i, joint in enumerate(robot.model.joints)
    ]
    robot = armdyn.Robot(replace(robot.model, joints=tuple(joints)))
    move = swing(robot.n)
    report = armdyn.motors(robot, move)
    joint_side = robot.inverse_dynamics(move.q, move.qd, move.qdd) * move.qd
    np.testing.assert_allclose(report.power, joint_side, atol=1e-9)
    for motor in report.data()["motors"]:
        power = motor["power"]
        apart = power["driven_mean"] - power["regenerated_mean"]
        assert power["mean"] == pytest.approx(apart, abs=1e-12)


def test_limits_and_ratings_are_divided_by_the_gear():
    limits = dict(effort_limit=30.0, velocity_limit=2.0, gear_ratio=10.0)
    rated = armdyn.from_dh([bar(continuous_effort=4.0, **limits)], gravity=(0, -9.81, 0))
    report = armdyn.motors(rated, swing(1))
    assert (report.torque_limit, report.speed_limit, report.rating) == (3.0, 20.0, 0.4)
    (motor,) = report.data()["motors"]
    assert motor["duty"]["rms_share"] == pytest.approx(motor["torque"]["rms"] / 0.4)
    times = swing(1).shares[np.abs(report.torque[:, 0]) > 0.4].sum()
    assert motor["duty"]["time_beyond"] == pytest.approx(times)
    assert any("RMS torque" in text for text in report.excesses)
    # without a rating the limit counts, and 0 is a limit that nobody knows
    assert armdyn.motors(armdyn.from_dh([bar(**limits)]), swing(1)).rating == 3.0
    unknown = armdyn.motors(armdyn.from_dh([bar(effort_limit=0.0)]), swing(1))
    assert unknown.data()["motors"][0]["torque"]["limit"] is None
    assert unknown.excesses == ()


def test_one_instant_and_constant_torque():
    robot = armdyn.from_dh([bar(gear_ratio=5.0)], gravity=(0, -9.81, 0))
    still = SampledMotion(*(np.zeros((k, 1)[: 1 + (i > 0)]) for i, k in enumerate((1, 1, 1, 1))))
    report = armdyn.motors(robot, still)
    assert report.rms == pytest.approx(2.0 * 0.3 * 9.81 / 5.0)
    assert report.power == 0.0


def test_a_sliding_joint_has_a_linear_motor_or_a_screw():
    for ratio, units in ((1.0, ("N", "m/s")), (2 * np.pi / 0.01, ("N·m", "rad/s"))):
        robot = armdyn.from_dh([bar(joint="prismatic", gear_ratio=ratio)])
        report = armdyn.motors(robot, swing(1))
        assert report.units(0) == units
        np.testing.assert_allclose(report.torque, robot.inverse_dynamics(*state(swing(1))) / ratio)


def state(move):
    return move.q, move.qd, move.qdd


@pytest.mark.parametrize(
    ("trajectory", "message"),
    [
        (swing(2), "moves 2 joints, but"),
        (None, "expected a motion"),
        ("none.csv", "there is no file"),
        (SampledMotion(np.zeros(2), *(np.zeros((2, 1)),) * 3), "must be finite and increase"),
        (SampledMotion(np.zeros(0), *(np.zeros((0, 1)),) * 3), "has no states"),
    ],
)
def test_bad_trajectories(trajectory, message):
    with pytest.raises(ArmdynError, match=message):
        armdyn.motors(armdyn.from_dh([bar()]), trajectory)


def test_a_gear_ratio_of_zero_moves_nothing():
    with pytest.raises(ModelError, match="gear ratio 0"):
        armdyn.motors(armdyn.from_dh([bar(gear_ratio=0.0)]), swing(1))
    with pytest.raises(TrajectoryError, match="expected a motion"):
        armdyn.motors(armdyn.from_dh([bar()]), 3)


def test_the_command_prints_writes_and_draws(command, tmp_path):
    robot, move = tmp_path / "arm.toml", tmp_path / "move.csv"
    armdyn.from_dh([bar(gear_ratio=-20.0, rotor_inertia=1e-5, effort_limit=5.0)]).save(robot)
    Samples(*(getattr(swing(1), name) for name in ("t", "q", "qd", "qdd"))).save(move)
    table, plot = tmp_path / "motors.csv", tmp_path / "motors.svg"
    words = ("torque", str(robot), str(move))
    code, out, _ = command(*words, "--motors", "-o", str(table), "--plot", str(plot))
    assert code == 0
    assert "regenerated" in out
    assert plot.stat().st_size > 10_000
    with table.open() as stream:
        for row in csv.DictReader(stream):
            assert float(row["motor_tau1"]) == pytest.approx(float(row["tau1"]) / -20, abs=1e-9)
    data = json.loads(command(*words, "--motors", "--json")[1])
    assert [motor["gear_ratio"] for motor in data["motors"]] == [-20.0]
    assert json.loads(command(*words, "--json")[1])["motors"] == []
