"""Arms of the catalog that come from URDF files, against Pinocchio's reading of those files."""

import importlib.metadata
import os

import numpy as np
import pinocchio as pin
import pytest

import armdyn

FILES = {
    "ur3": "ur_description/urdf/ur3_robot.urdf",
    "ur5": "ur_description/urdf/ur5_robot.urdf",
    "ur10": "ur_description/urdf/ur10_robot.urdf",
    "xarm7": "xarm_description/urdf/xarm7.urdf",
    "z1": "z1_description/urdf/z1.urdf",
    "jaco2": "kinova_description/robots/kinova.urdf",
}


def peer_model(name):
    listed = importlib.metadata.files("example-robot-data")
    [file] = [file for file in listed if str(file).endswith(f"/robots/{FILES[name]}")]
    model = pin.buildModelFromUrdf(os.fspath(file.locate()))
    held = [model.getJointId("jointGripper")] if name == "z1" else []
    return pin.buildReducedModel(model, held, pin.neutral(model))


def configuration(model, q):
    """Positions as Pinocchio has them: a joint without limits is a point on the circle."""
    parts = [
        [np.cos(x), np.sin(x)] if joint.nq == 2 else [x]
        for joint, x in zip(model.joints[1:], q, strict=True)
    ]
    return np.concatenate(parts)


@pytest.mark.parametrize("name", FILES)
def test_torques_and_mass_matrix(name):
    robot, model = armdyn.load(name), peer_model(name)
    model.armature[:], model.damping[:], model.friction[:] = 0.0, 0.0, 0.0
    data = model.createData()
    rng = np.random.default_rng(4)
    for q, qd, qdd in rng.uniform(-1.5, 1.5, (20, 3, robot.n)):
        q_pin = configuration(model, q)
        tau = pin.rnea(model, data, q_pin, qd, qdd)
        M = pin.crba(model, data, q_pin)
        scale = np.abs(tau).max()
        np.testing.assert_allclose(robot.inverse_dynamics(q, qd, qdd), tau, atol=1e-9 * scale)
        np.testing.assert_allclose(robot.mass_matrix(q), M, rtol=0, atol=1e-9 * np.abs(M).max())
