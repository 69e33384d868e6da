"""Motors that turn with several joints: every quantity agrees with energy and virtual work."""

from dataclasses import replace

import numpy as np
import pytest

import armdyn
from armdyn import Robot
from armdyn.errors import ModelError, SimulationError, UnknownNameError, WriteError
from armdyn.model.joint import Rotor
from armdyn.study.structure.structure import structure
from support.paths import ROOT
from support.random_robots import random_model, random_states

MOTOR = {
    "name": "motor",
    "joints": {"j2": 1.5, "j3": -0.5},
    "rotor_inertia": 2e-3,
    "gear_ratio": 20.0,
    "viscous": 0.3,
    "coulomb": 0.8,
    "smooth_velocity": 0.1,
}
PLAIN = random_model("RPR", 5)
PLAIN = replace(
    PLAIN, joints=tuple(replace(j, name=f"j{i + 1}") for i, j in enumerate(PLAIN.joints))
)
OWN = Robot(PLAIN)
ROBOT = OWN.with_drives([MOTOR])
Q, QD, QDD = random_states(PLAIN, 6)
R = np.array([0.0, 1.5, -0.5])
INERTIA = 2e-3 * 20.0**2


def added(rate, acceleration):
    """What the motor needs at the output of its gear."""
    return INERTIA * acceleration + 0.3 * rate + 0.8 * np.tanh(rate / 0.1)


@pytest.mark.slow
def test_a_motor_is_felt_at_each_joint_by_its_ratio():
    extra = ROBOT.inverse_dynamics(Q, QD, QDD) - OWN.inverse_dynamics(Q, QD, QDD)
    assert np.allclose(extra, R * added(R @ QD, R @ QDD), rtol=0, atol=1e-10)
    M = ROBOT.mass_matrix(Q) - OWN.mass_matrix(Q)
    assert np.allclose(M, INERTIA * np.outer(R, R), rtol=0, atol=1e-12)
    energy = ROBOT.kinetic_energy(Q, QD) - OWN.kinetic_energy(Q, QD)
    assert np.isclose(energy, 0.5 * INERTIA * (R @ QD) ** 2)


def test_articulated_bodies_share_no_motors():
    with pytest.raises(ModelError, match="share drives; use method='composite_body'"):
        ROBOT.forward_dynamics(Q, QD, QDD, method="articulated_body")


@pytest.mark.slow
def test_a_formulation_takes_joints_that_share_motors_and_is_no_method():
    torques = ROBOT.kernel("inverse_dynamics", formulation="denoc")(Q, QD, QDD)
    assert np.allclose(torques, ROBOT.inverse_dynamics(Q, QD, QDD), rtol=0, atol=1e-9)


def test_a_follower_that_a_drive_turns_with_counts_by_its_leader():
    arm = armdyn.load(ROOT / "tests" / "robots" / "gripper.urdf")
    leader = next(j for j in arm.model.joints if j.mimic is not None)
    drive = {"name": "m", "joints": {leader.name: 1.0}, "rotor_inertia": 0.1}
    joints = tuple(
        replace(j, rotor=Rotor(j.rotor.reflected + 0.1)) if j.name == leader.name else j
        for j in arm.model.joints
    )
    same = Robot(replace(arm.model, joints=joints))
    q = np.random.default_rng(2).uniform(-0.1, 0.1, (3, arm.n))
    ours = arm.with_drives([drive]).inverse_dynamics(*q)
    assert np.allclose(ours, same.inverse_dynamics(*q), rtol=0, atol=1e-12)


@pytest.mark.slow
def test_equations_in_letters_know_the_drive():
    written = armdyn.equations(ROBOT, form="state")
    assert "number 4 is the drive motor, which turns with 1.5 q2 + -0.5 q3" in written.text()
    made = {}
    exec(written.python(), made)
    tau = ROBOT.inverse_dynamics(Q, QD, QDD)
    assert np.allclose(made["inverse_dynamics"](Q, QD, QDD), tau, rtol=0, atol=1e-9)


@pytest.mark.slow
def test_joints_on_two_branches_are_coupled_by_their_drive_alone():
    tree = Robot(random_model("RRRR", 12, tree=True))
    i, j = np.argwhere(tree.mass_matrix(np.ones(4)) == 0)[0]
    names = tree.joint_names[i], tree.joint_names[j]
    motor = {"name": "m", "joints": dict.fromkeys(names, 2.0), "rotor_inertia": 0.5}
    driven = tree.with_drives([motor])
    element = structure(driven).D[i, j]
    assert (element.status, element.low, element.high) == ("constant", 2.0, 2.0)
    assert driven.mass_matrix(np.ones(4))[i, j] == 2.0
    q, qd, qdd = np.random.default_rng(3).uniform(-1, 1, (3, 4))
    again = driven.forward_dynamics(q, qd, driven.inverse_dynamics(q, qd, qdd))
    assert np.allclose(again, qdd, rtol=0, atol=1e-9)
    with pytest.raises(ModelError, match="drives that turn with several joints"):
        armdyn.simplify(driven, free=["link1.mass"], goal="constant")


def test_toml_keeps_drives_and_urdf_refuses_them(tmp_path):
    ROBOT.save(tmp_path / "arm.toml")
    assert armdyn.load(tmp_path / "arm.toml").model.drives == ROBOT.model.drives
    with pytest.raises(WriteError, match="'motor' turns with several joints"):
        ROBOT.save(tmp_path / "arm.urdf")


def test_a_locked_joint_leaves_the_motor_to_the_others():
    locked, plain = (robot.with_locked({"j3": 0.2}) for robot in (ROBOT, OWN))
    M = locked.mass_matrix(Q[:2]) - plain.mass_matrix(Q[:2])
    assert np.allclose(M, INERTIA * np.outer(R, R)[:2, :2], rtol=0, atol=1e-12)
    assert not ROBOT.with_locked({"j2": 0.0, "j3": 0.0}).model.drives


@pytest.mark.slow
def test_simulation_keeps_the_balance_of_energy():
    run = armdyn.simulate(ROBOT, Q, QD, 0.3)
    assert run.energy_drift < 1e-6
    dry = ROBOT.with_drives([MOTOR | {"smooth_velocity": 0.0}])
    with pytest.raises(SimulationError, match="give it a smooth_velocity"):
        armdyn.simulate(dry, Q, QD, 0.1)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"joints": {"j9": 1.0}}, UnknownNameError, "j9"),
        ({"joints": {}}, ModelError, "turns with no joint"),
        ({"joints": {"j1": 0.0}}, ModelError, "must be finite and not 0"),
        ({"joints": ["j1"]}, ModelError, "expected joints with the ratios"),
        ({"name": ""}, ModelError, "expected a name"),
        ({"ratio": 2}, UnknownNameError, "ratio"),
        ({"rotor_inertia": -1.0}, ModelError, "rotor_inertia"),
        ({"viscous": -1.0}, ModelError, "viscous"),
    ],
)
def test_a_wrong_drive_is_refused_by_name(change, error, message):
    with pytest.raises(error, match=message):
        OWN.with_drives([MOTOR | change])
