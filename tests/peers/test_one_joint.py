"""One joint with damping and friction: what each library calls its torque (the README's table)."""

import mujoco
import numpy as np
import pinocchio as pin
import pytest

import armdyn
from support.comparison_robots import ONE_JOINT

STATE = (np.zeros(1), np.ones(1), np.ones(1))


@pytest.fixture
def path(tmp_path):
    (tmp_path / "one.urdf").write_text(ONE_JOINT)
    return tmp_path / "one.urdf"


def test_armdyn_has_both_and_says_so(path):
    robot = armdyn.load(path)
    ledger = robot.ledger(*STATE)
    assert robot.inverse_dynamics(*STATE) == pytest.approx(1.42)
    assert robot.inverse_dynamics(*STATE, friction=False) == pytest.approx(0.42)
    parts = (ledger.inertial, ledger.viscous, ledger.coulomb)
    assert [float(x[0]) for x in parts] == pytest.approx([0.42, 0.3, 0.7])


def test_pinocchio_has_neither(path):
    model = pin.buildModelFromUrdf(str(path))
    q = pin.neutral(model)
    tau = pin.rnea(model, model.createData(), q, STATE[1], STATE[2])
    assert float(np.ravel(tau)[0]) == pytest.approx(0.42)


def test_mujoco_has_both(path):
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    data.qvel[:], data.qacc[:] = STATE[1], STATE[2]
    mujoco.mj_inverse(model, data)
    assert data.qfrc_inverse[0] == pytest.approx(1.42, abs=1e-9)
