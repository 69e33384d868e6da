"""The Puma 560 of the Robotics Toolbox, with its own friction and motors.

The toolbox has friction and rotors on the motor side and gives friction with a minus sign; its
`rne` and `inertia` contain both, its `coriolis` and `gravload` neither.
"""

import numpy as np
import pytest

import armdyn

TOLERANCE = 1e-9


@pytest.fixture(scope="module")
def peer():
    import roboticstoolbox

    return roboticstoolbox.models.DH.Puma560()


@pytest.fixture(scope="module")
def puma():
    return armdyn.load("puma560")


def states(count=10):
    rng = np.random.default_rng(560)
    return rng.uniform(-2.0, 2.0, (count, 3, 6))


def assert_close(ours, theirs):
    scale = np.abs(theirs).max()
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=TOLERANCE * scale)


def test_torques_with_friction_and_motors(peer, puma):
    for q, qd, qdd in states():
        assert_close(puma.inverse_dynamics(q, qd, qdd), peer.rne(q, qd, qdd))


def test_torques_without_friction(peer, puma):
    bare = peer.nofriction(coulomb=True, viscous=True)
    for q, qd, qdd in states():
        assert_close(puma.inverse_dynamics(q, qd, qdd, friction=False), bare.rne(q, qd, qdd))


def test_friction_at_the_joints(peer, puma):
    for _, qd, _ in states():
        assert_close(puma.friction_torque(qd), -peer.friction(qd))


def test_mass_matrix_with_rotors(peer, puma):
    for q, _, _ in states():
        assert_close(puma.mass_matrix(q), peer.inertia(q))


def test_coriolis_torques(peer, puma):
    for q, qd, _ in states():
        bare = peer.nofriction(coulomb=True, viscous=True)
        assert_close(puma.coriolis_matrix(q, qd) @ qd, bare.coriolis(q, qd) @ qd)


def test_gravity(peer, puma):
    for q, _, _ in states():
        assert_close(puma.gravity_vector(q), peer.gravload(q))


def test_acceleration(peer, puma):
    for q, qd, tau in states():
        assert_close(puma.forward_dynamics(q, qd, tau), peer.accel(q, qd, tau))


def test_tool_pose(peer, puma):
    for q, _, _ in states():
        np.testing.assert_allclose(puma.forward_kinematics(q), peer.fkine(q).A, atol=1e-12)


def test_joint_limits(peer, puma):
    np.testing.assert_allclose(puma.limits.T, peer.qlim, atol=1e-12)
