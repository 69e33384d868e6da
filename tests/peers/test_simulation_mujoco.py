"""The same arm under the same torques, integrated by MuJoCo and from Pinocchio's accelerations.

MuJoCo takes Runge-Kutta steps of 0.2 ms without contacts and asks for the torque in every stage.
Over one second its positions agree to 1e-8, where 1e-6 is what we promise.
"""

import mujoco
import numpy as np
import pinocchio as pin
import pytest
from scipy.integrate import solve_ivp

from armdyn import Robot, load
from armdyn.simulation.simulator import simulate
from support.peers import pin_model
from support.random_robots import random_model

STEP, RECORD = 2e-4, 0.05
ARMS = {
    "panda": lambda: load("panda"),
    "random RPRRR": lambda: Robot(random_model("RPRRR", 8, rotors=True)),
}


@pytest.fixture(scope="module", params=ARMS)
def case(request):
    """A robot, where it starts, and torques that swing it far in a second."""
    robot = ARMS[request.param]()
    rng = np.random.default_rng(12)
    q, qd = rng.uniform(-0.5, 0.5, (2, robot.n))
    size, rate, phase = rng.uniform(0.5, 3.0, (3, robot.n))
    hold, inertia = robot.gravity_vector(q), np.diag(robot.mass_matrix(q))

    def torque(t):
        return hold + inertia * size * np.sin(rate * t + phase)

    return robot, q, qd, torque


@pytest.fixture(scope="module")
def ours(case):
    robot, q, qd, torque = case
    found = simulate(
        robot, q, qd, 1.0, torque=lambda t, *_: torque(t), dt=RECORD, rtol=1e-11, atol=1e-12
    )
    assert found.status == "finished"
    assert np.ptp(found.q, axis=0).max() > 0.5
    return found


def test_mujoco_moves_the_same_way(case, ours, tmp_path):
    robot, q, qd, torque = case
    file = tmp_path / "arm.urdf"
    robot.save(file)
    model = mujoco.MjModel.from_xml_path(str(file))
    model.opt.gravity[:] = robot.model.base[:3, :3].T @ robot.gravity
    model.opt.timestep = STEP
    model.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
    for name in ("CONTACT", "LIMIT"):
        model.opt.disableflags |= int(getattr(mujoco.mjtDisableBit, f"mjDSBL_{name}"))
    model.dof_armature[:] = [joint.rotor.reflected for joint in robot.model.joints]
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = q, qd
    positions, velocities = [q], [qd]

    def act(_, data):
        data.qfrc_applied[:] = torque(data.time)

    mujoco.set_mjcb_control(act)
    try:
        for _ in ours.t[1:]:
            mujoco.mj_step(model, data, nstep=round(RECORD / STEP))
            positions.append(data.qpos.copy())
            velocities.append(data.qvel.copy())
    finally:
        mujoco.set_mjcb_control(None)
    np.testing.assert_allclose(data.time, 1.0)
    np.testing.assert_allclose(ours.q, positions, rtol=0, atol=1e-8)
    np.testing.assert_allclose(ours.qd, velocities, rtol=0, atol=1e-7)


def test_pinocchio_moves_the_same_way(case, ours):
    robot, q, qd, torque = case
    model, data = pin_model(robot.model)
    n = robot.n

    def slope(t, y):
        return np.concatenate([y[n:], pin.aba(model, data, y[:n], y[n:], torque(t))])

    start = np.concatenate([q, qd])
    theirs = solve_ivp(slope, (0, 1), start, "DOP853", ours.t, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(ours.q, theirs.y[:n].T, rtol=0, atol=1e-8)
    np.testing.assert_allclose(ours.qd, theirs.y[n:].T, rtol=0, atol=1e-7)
