"""The hand along a motion: its velocity and acceleration are derivatives of its pose."""

import numpy as np
import pytest

import armdyn
from armdyn import Robot
from armdyn.model.transform import (
    quaternion_from_rotation,
    rotation_from_quaternion,
    rotation_from_vector,
    skew,
)
from armdyn.simulation.hand import COLUMNS, Hand
from support.random_robots import random_model

TREE = Robot(random_model("RHP", 2, tree=True))
h = 1e-4


def path(t):
    """A motion of three joints with its rates, (..., 3) each."""
    rate = np.array([1.0, 0.7, 1.3])
    angle = t[..., None] * rate
    return 2 * np.sin(angle), 2 * rate * np.cos(angle), -2 * rate**2 * np.sin(angle)


@pytest.mark.slow
def test_velocity_and_acceleration_are_those_of_the_jacobian_and_of_the_pose():
    t = np.linspace(0, 3, 7)[:, None] + [-h, 0, h]
    before, now, after = (Hand.of(TREE, *path(t[:, k])) for k in range(3))
    q, qd, qdd = path(t[:, 1])
    J, Jd = TREE.jacobian(q), TREE.jacobian_dot(q, qd)
    np.testing.assert_allclose(now.velocity, np.einsum("mij,mj->mi", J, qd), rtol=1e-12, atol=1e-12)
    expected = np.einsum("mij,mj->mi", J, qdd) + np.einsum("mij,mj->mi", Jd, qd)
    np.testing.assert_allclose(now.acceleration, expected, rtol=1e-12, atol=1e-11)
    slope = (after.position - before.position) / (2 * h)
    np.testing.assert_allclose(slope, now.velocity[:, :3], atol=1e-6)
    R, turn = now.pose[:, :3, :3], (after.pose - before.pose)[:, :3, :3] / (2 * h)
    np.testing.assert_allclose(turn, skew(now.velocity[:, 3:]) @ R, atol=1e-6)
    np.testing.assert_allclose(
        (after.velocity - before.velocity) / (2 * h), now.acceleration, atol=1e-5
    )


@pytest.mark.slow
def test_quaternions_say_the_rotation_and_do_not_jump():
    t = np.linspace(0, 9, 4000)
    hand = Hand.of(TREE, *path(t))
    again = np.array([rotation_from_quaternion(row) for row in hand.quaternion[::97]])
    np.testing.assert_allclose(again, hand.pose[::97, :3, :3], atol=1e-12)
    assert np.abs(np.diff(hand.quaternion, axis=0)).max() < 0.02
    assert (hand.quaternion[:, 0] < 0).any()  # it goes on where another sign would be a jump
    half_turns = np.array([np.diag(signs) for signs in ((1.0, -1, -1), (-1, 1, -1), (-1, -1, 1))])
    np.testing.assert_allclose(quaternion_from_rotation(half_turns), np.eye(4)[1:], atol=1e-15)


def test_a_turn_about_an_axis_has_the_sine_and_the_cosine_of_half_of_it():
    """Of each of several arms, over more than a whole turn: q and -q are one rotation."""
    angle, axes = np.linspace(0, 9, 300)[:, None], np.array([[2.0, -1, 2], [-3, 4, 0]])
    axes = (axes / np.linalg.norm(axes, axis=-1, keepdims=True))[:, None]
    pose = np.zeros((2, 300, 4, 4))
    pose[..., :3, :3] = rotation_from_vector(angle * axes)
    hand = Hand(pose, np.zeros((2, 300, 6)), np.zeros((2, 300, 6)))
    halves = np.broadcast_to(np.cos(angle / 2), (2, 300, 1))
    expected = np.concatenate([halves, np.sin(angle / 2) * axes], axis=-1)
    np.testing.assert_allclose(hand.quaternion, expected, atol=1e-12)


def test_a_simulation_has_the_hand_of_each_arm():
    arm = armdyn.load("saha_3r")
    start = np.random.default_rng(1).uniform(-1, 1, (2, 3, 3))
    many = armdyn.simulate(arm, start, duration=0.1, method="rk4", dt=0.05)
    hand = many.hand
    assert hand.pose.shape == (2, 3, 3, 4, 4)
    one = Hand.of(arm, many.q[1, 2], many.qd[1, 2], many.qdd[1, 2])
    for part in COLUMNS:
        np.testing.assert_array_equal(getattr(hand, part)[1, 2], getattr(one, part))
    assert set(hand.columns()) < set(many.columns())
    assert hand.data() == {part: getattr(hand, part)[:, :, -1].tolist() for part in COLUMNS}
    assert np.shape(many.data()["hand"]["velocity"]) == (2, 3, 6)


@pytest.mark.slow
def test_other_axes_and_links():
    q, qd, qdd = np.random.default_rng(3).normal(size=(3, 3))
    link = TREE.model.links[1].name
    found = TREE.frame_motion(q, qd, qdd, frame=link, link=link)
    J, Jd = (
        f(*x, frame=link, link=link)
        for f, x in ((TREE.jacobian, (q,)), (TREE.jacobian_dot, (q, qd)))
    )
    np.testing.assert_allclose(found, [J @ qd, J @ qdd + Jd @ qd], rtol=1e-11, atol=1e-12)
    with pytest.raises(armdyn.errors.ArmdynError, match="nothing"):
        TREE.frame_motion(q, qd, qdd, link="nothing")
