"""MuJoCo's inverse dynamics, mass matrix and kinematics on an MJCF arm.

A frictionloss is a constraint in MuJoCo, regularised around zero speed. At the speeds used here it
is saturated, which makes it Coulomb friction exactly, so no looser tolerance is needed for it.
"""

import mujoco
import numpy as np
import pytest

from armdyn.formulations.friction import friction_torque
from armdyn.formulations.newton_euler import newton_euler
from armdyn.robot import Robot
from support.paths import ROBOTS
from support.reading import model_from_mjcf

FILE = ROBOTS / "arm.xml"
TOLERANCE = 1e-9


@pytest.fixture(scope="module")
def peer():
    model = mujoco.MjModel.from_xml_path(str(FILE))
    return model, mujoco.MjData(model)


@pytest.fixture(scope="module")
def robot():
    return Robot(model_from_mjcf(FILE, tool="tcp"))


def states(count=50):
    """Positions inside the limits, speeds of 0.5 to 2 in both directions, any acceleration."""
    rng = np.random.default_rng(20)
    for _ in range(count):
        speed = rng.uniform(0.5, 2.0, 5) * rng.choice([-1, 1], 5)
        yield rng.uniform(-0.4, 0.4, 5), speed, rng.uniform(-5.0, 5.0, 5)


def set_state(data, q, qd, qdd):
    data.qpos[:], data.qvel[:], data.qacc[:] = q, qd, qdd


def test_torques_with_armature_damping_and_frictionloss(peer, robot):
    model, data = peer
    for q, qd, qdd in states():
        set_state(data, q, qd, qdd)
        mujoco.mj_inverse(model, data)
        np.testing.assert_allclose(
            robot.inverse_dynamics(q, qd, qdd), data.qfrc_inverse, rtol=TOLERANCE, atol=TOLERANCE
        )


def test_each_friction_term_is_there(peer, robot):
    model, data = peer
    for q, qd, qdd in states(5):
        set_state(data, q, qd, qdd)
        mujoco.mj_inverse(model, data)
        damping = -data.qfrc_passive
        dry = -data.qfrc_constraint
        ledger = robot.ledger(q, qd, qdd)
        np.testing.assert_allclose(ledger.viscous, damping, rtol=TOLERANCE, atol=TOLERANCE)
        np.testing.assert_allclose(ledger.coulomb, dry, rtol=TOLERANCE, atol=TOLERANCE)
        np.testing.assert_allclose(ledger.rotor, model.dof_armature * qdd, rtol=TOLERANCE)
        assert np.count_nonzero(dry) == 3


def test_mass_matrix(peer, robot):
    model, data = peer
    for q, qd, qdd in states():
        set_state(data, q, qd, qdd)
        mujoco.mj_inverse(model, data)
        M = np.zeros((5, 5))
        for column, unit in zip(M, np.eye(5), strict=True):
            mujoco.mj_mulM(model, data, column, unit)
        np.testing.assert_allclose(robot.mass_matrix(q), M, rtol=TOLERANCE, atol=TOLERANCE)


def test_tool_at_the_site(peer, robot):
    model, data = peer
    for q, qd, qdd in states():
        set_state(data, q, qd, qdd)
        mujoco.mj_kinematics(model, data)
        T = robot.forward_kinematics(q)
        np.testing.assert_allclose(T[:3, 3], data.site("tcp").xpos, atol=1e-12)
        np.testing.assert_allclose(T[:3, :3].ravel(), data.site("tcp").xmat, atol=1e-12)


def test_coupled_fingers_move_as_the_equality_says(tmp_path):
    """A linear equality is a mimic: the coupled torque is K' tau of MuJoCo's free joints."""
    text = """<mujoco><worldbody><body name="palm">
      <joint name="roll" axis="1 0 0"/><geom size="0.1" mass="1"/>
      <body name="left"><joint name="a" type="slide" axis="0 1 0" ref="0.02"/>
        <geom size="0.02" mass="0.2" pos="0 0.05 0"/></body>
      <body name="right"><joint name="b" type="slide" axis="0 -1 0" ref="0.01"/>
        <geom size="0.02" mass="0.3" pos="0 -0.05 0"/></body>
    </body></worldbody>
    <equality><joint joint1="b" joint2="a" polycoef="0.003 1.5 0 0 0"/></equality></mujoco>"""
    path = tmp_path / "fingers.xml"
    path.write_text(text)
    robot = Robot(model_from_mjcf(path))
    free = mujoco.MjModel.from_xml_string(text)
    free.eq_active0[:] = 0
    data = mujoco.MjData(free)
    K = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 1.5]])
    q, qd, qdd = np.array([0.4, 0.05]), np.array([1.1, -0.3]), np.array([-0.8, 2.0])
    follower = 0.01 + 0.003 + 1.5 * (q[1] - 0.02)
    set_state(data, [*q, follower], K @ qd, K @ qdd)
    mujoco.mj_inverse(free, data)
    np.testing.assert_allclose(
        robot.inverse_dynamics(q, qd, qdd), K.T @ data.qfrc_inverse, rtol=TOLERANCE, atol=TOLERANCE
    )


ACTUATORS = {
    "a joint": '<motor joint="j" armature="0.1" damping="2" gear="5"/>',
    "a joint in its parent": '<motor jointinparent="j" armature="0.1" damping="2" gear="-5"/>',
    "two of one joint": '<motor joint="j" armature="0.1"/><motor joint="j" armature="1" gear="3"/>',
    "a switched off one": '<position joint="j" armature="0.1" damping="2" gear="5" group="1"/>',
    "a motor": '<dcmotor joint="k" armature="0.1" damping="2" resistance="1" motorconst="1 1"/>',
    "a tendon": '<motor tendon="cord" armature="0.1" damping="2" gear="5"/>',
}


@pytest.mark.skipif(
    not hasattr(mujoco.MjModel, "actuator_armature"), reason="this MuJoCo has no such actuators"
)
@pytest.mark.parametrize("actuator", ACTUATORS.values(), ids=ACTUATORS)
def test_armature_and_damping_of_actuators_and_tendons(tmp_path, actuator):
    link = '<joint name="{}" axis="0 1 0" armature="0.2"/><geom size="0.1" mass="1" pos="0.2 0 0"/>'
    path = tmp_path / "driven.xml"
    path.write_text(
        f"""<mujoco><option actuatorgroupdisable="1"/><worldbody><body>{link.format("j")}
        <body pos="0.4 0 0">{link.format("k")}</body></body></worldbody>
        <tendon><fixed name="cord" armature="0.3" damping="0.4" frictionloss="0.7">
        <joint joint="j" coef="-2"/></fixed></tendon><actuator>{actuator}</actuator></mujoco>"""
    )
    model, peer = model_from_mjcf(path), mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(peer)
    peer.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
    q, qd, qdd = np.array([0.3, -0.7]), np.array([1.5, -2.0]), np.array([0.4, 0.9])
    set_state(data, q, qd, qdd)
    mujoco.mj_inverse(peer, data)
    rotors = np.array([joint.rotor.reflected for joint in model.joints])
    torque = newton_euler(model, q, qd, qdd).tau + friction_torque(model, qd) + rotors * qdd
    np.testing.assert_allclose(torque, data.qfrc_inverse, rtol=TOLERANCE)
