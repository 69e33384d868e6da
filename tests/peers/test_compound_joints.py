"""Joints with several coordinates as chains of simple ones, against MuJoCo and Pinocchio.

MuJoCo's ball has a quaternion and the angular velocity ω in axes of the body; three hinges that
turn about x, y, z one after the other have ω = E(q) q̇, so that τ_hinges = Eᵀ τ_ball.
"""

import mujoco
import numpy as np
import pinocchio as pin
import pytest

from armdyn import Robot
from armdyn.model import Connection, Inertia, assemble
from armdyn.model.joint_types import COMPOUND_TYPES
from armdyn.model.transform import frame_along, rotation_about
from support.peers import close
from support.random_robots import random_axis, random_inertia, random_transform
from support.reading import model_from_mjcf, model_from_urdf

X, Y, Z = np.eye(3)
BALL_ARM = """
<mujoco><option gravity="0.5 -1 -9.6"/><worldbody>
  <body name="upper" pos="0.1 0.2 0.3" euler="20 30 40">
    <joint name="hip" type="ball" pos="0.05 -0.02 0.1"/>
    <inertial pos="0.1 0.05 -0.2" mass="2" fullinertia="0.04 0.05 0.03 0.002 0.001 -0.003"/>
    <body name="lower" pos="0 0.1 -0.4">
      <joint name="knee" axis="0 1 0.2" armature="0.1" damping="0.3"/>
      <inertial pos="0 0 -0.2" mass="1" diaginertia="0.02 0.02 0.01"/>
      <body name="foot" pos="0 0 -0.4">
        <joint name="lift" type="slide" axis="1 0 1"/>
        <joint name="ankle" type="ball"/>
        <inertial pos="0.1 0 0" mass="0.5" diaginertia="0.002 0.003 0.004"/>
      </body>
    </body>
  </body>
</worldbody></mujoco>
"""
SCREW_LIKE = """
<mujoco><worldbody>
  <body name="a" euler="10 20 30">
    <joint name="s1" type="slide" axis="1 0 0"/>
    <joint name="h1" axis="1 0 0" pos="0 0.1 0"/>
    <joint name="s2" type="slide" axis="0 1 1"/>
    <inertial pos="0.1 0.05 -0.2" mass="2" fullinertia="0.04 0.05 0.03 0.002 0.001 -0.003"/>
    <body name="b" pos="0.2 0 0">
      <joint name="h2" axis="0 0 1"/>
      <joint name="s3" type="slide" axis="0 0 1"/>
      <inertial pos="0 0 -0.2" mass="1" diaginertia="0.02 0.02 0.01"/>
    </body>
  </body>
</worldbody></mujoco>
"""


def rates(q, qd):
    """E of ω = E q̇ in axes of the body, and Ė, for R = Rx Ry Rz."""
    Rz, Ryz = rotation_about(Z, q[2]), rotation_about(Y, q[1]) @ rotation_about(Z, q[2])
    E = np.stack([Ryz.T @ X, Rz.T @ Y, Z], -1)
    wz = qd[2] * Z
    wyz = Rz.T @ (qd[1] * Y) + wz
    E_rate = np.stack([-np.cross(wyz, E[:, 0]), -np.cross(wz, E[:, 1]), np.zeros(3)], -1)
    return E, E_rate


def rotation(q):
    return rotation_about(X, q[0]) @ rotation_about(Y, q[1]) @ rotation_about(Z, q[2])


def quaternion(q):
    found = np.zeros(4)
    mujoco.mju_mat2Quat(found, rotation(q).ravel())
    return found


class BallArm:
    """Our coordinates (hip 3, knee, lift, ankle 3) in those of MuJoCo: v = E q̇."""

    def __init__(self, path):
        self.model = mujoco.MjModel.from_xml_path(str(path))
        self.data = mujoco.MjData(self.model)

    def set(self, q, qd, qdd):
        E, E_rate = np.eye(8), np.zeros((8, 8))
        for k in (slice(0, 3), slice(5, 8)):
            E[k, k], E_rate[k, k] = rates(q[k], qd[k])
        self.E = E
        self.data.qpos[:] = [*quaternion(q[:3]), *q[3:5], *quaternion(q[5:])]
        self.data.qvel[:] = E @ qd
        self.data.qacc[:] = E @ qdd + E_rate @ qd


@pytest.fixture
def ball_arm(tmp_path):
    path = tmp_path / "ball.xml"
    path.write_text(BALL_ARM)
    return BallArm(path), Robot(model_from_mjcf(path))


def states(n, count=10):
    return np.random.default_rng(5).uniform(-1.2, 1.2, (count, 3, n))


def test_balls_have_the_torques_of_mujoco(ball_arm):
    peer, robot = ball_arm
    names = ["hip_x", "hip_y", "hip_z", "knee", "lift", "ankle_x", "ankle_y", "ankle_z"]
    assert list(robot.joint_names) == names
    for q, qd, qdd in states(8):
        peer.set(q, qd, qdd)
        mujoco.mj_inverse(peer.model, peer.data)
        close(robot.inverse_dynamics(q, qd, qdd), peer.E.T @ peer.data.qfrc_inverse)


def test_balls_have_the_mass_matrix_and_the_place_of_mujoco(ball_arm):
    peer, robot = ball_arm
    for q, qd, qdd in states(8, 3):
        peer.set(q, qd, qdd)
        mujoco.mj_forward(peer.model, peer.data)
        M = np.zeros((8, 8))
        for column, unit in zip(M, np.eye(8), strict=True):
            mujoco.mj_mulM(peer.model, peer.data, column, unit)
        close(robot.mass_matrix(q), peer.E.T @ M @ peer.E)
        close(robot.forward_kinematics(q)[:3, 3], peer.data.body("foot").xpos)
        close(robot.forward_kinematics(q)[:3, :3].ravel(), peer.data.body("foot").xmat)


def test_balls_accelerate_as_those_of_mujoco(ball_arm):
    peer, robot = ball_arm
    for q, qd, tau in states(8, 3):
        peer.set(q, qd, np.zeros(8))
        E_rate_qd = peer.data.qacc.copy()
        peer.data.qfrc_applied[:] = np.linalg.solve(peer.E.T, tau)
        mujoco.mj_forward(peer.model, peer.data)
        theirs = np.linalg.solve(peer.E, peer.data.qacc - E_rate_qd)
        close(robot.forward_dynamics(q, qd, tau), theirs)


def test_the_ball_is_singular_where_the_middle_angle_is_right(ball_arm):
    _, robot = ball_arm
    q = np.zeros(8)
    q[1] = np.pi / 2
    J = robot.jacobian(q, link="upper")[3:, :3]
    assert np.linalg.matrix_rank(J, tol=1e-9) == 2


def test_slides_and_hinges_of_one_body_have_the_torques_of_mujoco(tmp_path):
    path = tmp_path / "both.xml"
    path.write_text(SCREW_LIKE)
    robot, model = Robot(model_from_mjcf(path)), mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    for q, qd, qdd in states(5):
        data.qpos[:], data.qvel[:], data.qacc[:] = q, qd, qdd
        mujoco.mj_inverse(model, data)
        close(robot.inverse_dynamics(q, qd, qdd), data.qfrc_inverse)


# Pinocchio


def compound(kind, seed, axis=Z):
    """A link on a compound joint, with a hinge beyond it."""
    rng = np.random.default_rng(seed)
    links = {"base": Inertia.zero(), "a": random_inertia(rng), "b": random_inertia(rng)}
    places = random_transform(rng), random_transform(rng)
    hinge = random_axis(rng)
    model = assemble(
        kind,
        links,
        [
            Connection("k", kind, "base", "a", places[0], axis),
            Connection("h", "revolute", "a", "b", places[1], hinge),
        ],
    )
    return model, links, places, hinge


def in_pinocchio(joint, links, places, hinge):
    other = pin.Model()
    first = other.addJoint(0, joint, pin.SE3(places[0]), "k")
    second = other.addJoint(first, pin.JointModelRevoluteUnaligned(hinge), pin.SE3(places[1]), "h")
    for index, name in ((first, "a"), (second, "b")):
        body = links[name]
        inertia = pin.Inertia(body.mass, body.com, body.moment_about_com)
        other.appendBodyToJoint(index, inertia, pin.SE3.Identity())
    return other, other.createData()


def composite(kind):
    """The simple joints one after the other, in Pinocchio's own kind of compound joint."""
    chain = pin.JointModelComposite()
    for _, simple, axis in COMPOUND_TYPES[kind].parts:
        made = pin.JointModelRevoluteUnaligned if simple.turns else pin.JointModelPrismaticUnaligned
        chain.addJoint(made(np.array(axis)))
    return chain


@pytest.mark.parametrize("kind", COMPOUND_TYPES)
def test_compound_joints_are_composites_of_pinocchio(kind):
    model, *parts = compound(kind, 1)
    other, data = in_pinocchio(composite(kind), *parts)
    _same_dynamics(Robot(model), other, data)


def test_universal_joints_are_those_of_pinocchio():
    model, *parts = compound("universal", 2)
    _same_dynamics(Robot(model), *in_pinocchio(pin.JointModelUniversal(X, Y), *parts))


def _same_dynamics(robot, other, data):
    q, qd, x = np.random.default_rng(3).uniform(-1, 1, (3, robot.n))
    close(robot.inverse_dynamics(q, qd, x), pin.rnea(other, data, q, qd, x))
    close(robot.mass_matrix(q), pin.crba(other, data, q))
    close(robot.forward_dynamics(q, qd, x), pin.aba(other, data, q, qd, x))


def test_planar_joints_are_those_of_pinocchio():
    # Pinocchio's velocity is in axes of the body: (vx, vy) = Rᵀ (ẋ, ẏ)
    model, *parts = compound("planar", 4)
    other, data = in_pinocchio(pin.JointModelPlanar(), *parts)
    robot = Robot(model)
    for q, qd, qdd in states(4, 5):
        c, s = np.cos(q[2]), np.sin(q[2])
        E, E_rate = np.eye(4), np.zeros((4, 4))
        E[:2, :2], E_rate[:2, :2] = [[c, s], [-s, c]], qd[2] * np.array([[-s, c], [-c, -s]])
        position = np.array([q[0], q[1], c, s, q[3]])
        tau = pin.rnea(other, data, position, E @ qd, E @ qdd + E_rate @ qd)
        close(robot.inverse_dynamics(q, qd, qdd), E.T @ tau)


def test_spherical_joints_are_balls_of_pinocchio():
    model, *parts = compound("spherical", 5)
    other, data = in_pinocchio(pin.JointModelSpherical(), *parts)
    robot = Robot(model)
    for q, qd, qdd in states(4, 5):
        E, E_rate = np.eye(4), np.zeros((4, 4))
        E[:3, :3], E_rate[:3, :3] = rates(q[:3], qd[:3])
        turn = pin.Quaternion(rotation(q[:3])).coeffs()
        tau = pin.rnea(other, data, np.array([*turn, q[3]]), E @ qd, E @ qdd + E_rate @ qd)
        close(robot.inverse_dynamics(q, qd, qdd), E.T @ tau)


@pytest.mark.parametrize("axis", [X, Y, Z, -Z, [0.6, 0.0, 0.8], [1.0, -2.0, 0.5]])
def test_the_axis_of_a_planar_joint_is_the_normal_of_its_plane(tmp_path, axis):
    unit = np.array(axis) / np.linalg.norm(axis)
    path = tmp_path / "cart.urdf"
    inertial = (
        '<inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
        "</inertial>"
    )
    path.write_text(
        '<robot name="cart"><link name="floor"/>'
        f'<link name="cart">{inertial}</link>'
        '<joint name="drive" type="planar"><parent link="floor"/><child link="cart"/>'
        f'<axis xyz="{" ".join(map(repr, unit.tolist()))}"/></joint></robot>'
    )
    model = model_from_urdf(path)
    assert [joint.name for joint in model.joints] == ["drive_x", "drive_y", "drive_turn"]
    R = frame_along(unit)
    close(R @ R.T, np.eye(3), 1e-12)
    assert np.linalg.det(R) > 0
    close([joint.axis for joint in model.joints], R.T, 1e-12)
    close(model.joints[2].axis, unit, 1e-12)
