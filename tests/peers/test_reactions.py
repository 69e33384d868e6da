"""Forces in the joints, and bases that move, beside Pinocchio's."""

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest

import armdyn
from armdyn.errors import ArmdynError, ArmdynWarning, UnknownNameError
from armdyn.formulations.kinematics import world_frames
from support.peers import close, pin_external, pin_model
from support.programs import EvaluatedRobot
from support.random_robots import random_axis

rng = np.random.default_rng(0)
pytestmark = [
    pytest.mark.slow,
    pytest.mark.arms(where=lambda arm: not arm.mimics and len(arm.kinds) < 6),
]


@pytest.fixture
def robot(arm):
    """Joints that Pinocchio has, each with a motor of its own, and links that are bodies."""
    return EvaluatedRobot(replace(arm.rigid, drives=()))


@pytest.fixture
def state(robot):
    return rng.normal(size=(3, robot.n))


def wrenches(data):
    """Force and moment in each joint, in the axes of its frame."""
    return np.array([each.vector for each in data.f[1:]])


def test_links_receive_what_pinocchio_says(robot, state):
    model, data = pin_model(robot.model)
    pin.rnea(model, data, *state)
    expected = wrenches(data)
    close(robot.reactions(*state, frame="joint"), expected)
    frames = world_frames(robot.model, state[0])
    turned = np.stack([R @ w.reshape(2, 3).T for R, w in zip(frames.R, expected, strict=True)])
    close(robot.reactions(*state), np.swapaxes(turned, -1, -2).reshape(-1, 6))


def test_a_wrench_of_the_environment_goes_through_the_joints(robot, state):
    model, data = pin_model(robot.model)
    wrench, frame = rng.normal(size=6), robot.model.tool_frame
    R = world_frames(robot.model, state[0]).R[frame.link]
    pin.rnea(model, data, *state, pin_external(robot.model, frame, wrench, R))
    close(robot.reactions(*state, wrench, frame="joint"), wrenches(data))


def test_axes_of_a_link_are_those_that_forward_kinematics_gives(robot, state):
    of_links, world = robot.reactions(*state, frame="link"), robot.reactions(*state)
    frames = robot.link_frames(state[0])
    for i, link in enumerate(robot.model.links):
        close(frames[i], robot.forward_kinematics(state[0], link.name), 1e-14)
        R = frames[i, :3, :3]
        close(np.concatenate([R @ of_links[i, :3], R @ of_links[i, 3:]]), world[i])
    in_tool = robot.reactions(*state, frame="tool")
    R = robot.forward_kinematics(state[0])[:3, :3]
    close(in_tool[:, :3] @ R.T, world[:, :3])


def test_who_does_not_name_the_frame_of_vectors_is_told_where_the_two_differ():
    saha, panda, state = armdyn.load("saha_3r"), armdyn.load("panda"), rng.normal(size=(3, 3))
    for name in ("newton_euler", "augmented_body"):
        with pytest.warns(ArmdynWarning, match=r"joint_frames\(q\) turns.*link1.*'joint'"):
            saha.formulate(name, *state)
        panda.formulate(name, *np.zeros((3, 7)))  # one frame: nothing to say
    with pytest.warns(ArmdynWarning, match="at the far ends.*frame='far_end'"):
        panda.formulate("newton_euler_link", *np.zeros((3, 7)))
    with pytest.raises(UnknownNameError, match=r"frame of 'newton_euler'.*'link'.*joint"):
        saha.formulate("newton_euler", *state, frame="link")


def test_each_of_the_two_frames_of_a_link_turns_its_own_rows(robot, state):
    """Of a standard DH link they differ, so that rows of one turned by the other are wrong."""
    saha = armdyn.load("saha_3r")
    for each, given in ((robot, state), (saha, state[:, [0, 0, 0]])):
        world, frames = each.reactions(*given), each.joint_frames(given[0])
        local = each.reactions(*given, frame="joint")
        close(_turned(frames, local), world)
        newton = each.formulate("newton_euler", *given, frame="joint")
        positions = each._at.positions(given[0])
        close(np.hstack([newton.f, newton.n]), local)
        close(frames[:, :3, 3], world_frames(each.model, positions).O)
    wrong = _turned(saha.link_frames(given[0]), local)
    assert np.abs(wrong - world).max() > 0.1 * np.abs(world).max()


def _turned(frames, rows):
    both = np.einsum("nxy,nky->nkx", frames[:, :3, :3], rows.reshape(-1, 2, 3))
    return both.reshape(-1, 6)


def test_jacobians_of_links_are_those_of_each(robot, state):
    found = robot.link_jacobians(state[0], frame="tool")
    for i, link in enumerate(robot.model.links):
        close(found[i], robot.jacobian(state[0], "tool", link.name), 1e-13)


def test_what_bearings_carry_does_no_work(robot, state):
    whole = robot.reactions(*state, frame="joint")
    carried = robot.reactions(*state, frame="joint", constraint=True)
    no_friction = robot.inverse_dynamics(*state, friction=False)
    for i, joint in enumerate(robot.model.joints):
        S = joint.type.subspace(joint.axis)
        assert S @ carried[i] == pytest.approx(0, abs=1e-12)
        drive = no_friction[i] - joint.rotor.reflected * state[2, i]
        assert S @ whole[i] == pytest.approx(drive)
        driven = whole[i] - carried[i]  # about the axis of a joint that turns, along it if not
        assert np.count_nonzero(np.abs(driven) > 1e-12) <= 3


def test_the_ground_carries_the_weight_and_the_change_of_momentum(robot):
    q, rest = rng.normal(size=robot.n), np.zeros(robot.n)
    base = robot.reactions(q, rest, rest, base_wrench=True)[0]
    masses = [link.inertia.mass for link in (robot.model.base_link, *robot.model.links)]
    close(base[:3], -sum(masses) * robot.gravity)
    thrown = robot.forward_dynamics(q, rest, rest, friction=False)
    moved = robot.reactions(q, rest, thrown, base_wrench=True)[0]
    close(moved[:3] - base[:3], _momentum_rate(robot.model, q, thrown))


def _momentum_rate(model, q, qdd):
    """Of all links that start from rest, world axes."""
    frames, rate = world_frames(model, q), np.zeros(3)
    for i, link in enumerate(model.links):
        centre = frames.O[i] + frames.R[i] @ link.inertia.com
        for j in model.paths[i]:
            turn, slide = model.joints[j].type.turn, model.joints[j].type.slide
            lever = np.cross(frames.z[j], centre - frames.O[j])
            rate += link.inertia.mass * qdd[j] * (turn * lever + slide * frames.z[j])
    return rate


def random_rotation():
    return pin.exp3(rng.uniform(0.5, 3) * random_axis(rng))


@pytest.fixture
def moving():
    return armdyn.BaseMotion(random_rotation(), *rng.normal(size=(3, 3)))


def floating(state, motion):
    """State of a robot on a floating base: configuration, velocity and acceleration."""
    R = motion.rotation
    w, wd, vd = (
        R.T @ np.asarray(x)
        for x in (motion.angular_velocity, motion.angular_acceleration, motion.linear_acceleration)
    )
    q = np.concatenate([np.zeros(3), pin.Quaternion(R).coeffs(), state[0]])
    # a base whose origin does not move has no other acceleration than that of its origin
    return q, np.concatenate([np.zeros(3), w, state[1]]), np.concatenate([vd, wd, state[2]])


def test_torques_and_reactions_on_a_moving_base(robot, state, moving):
    model, data = pin_model(robot.model, floating=True)
    expected = pin.rnea(model, data, *floating(state, moving))
    close(robot.inverse_dynamics(*state, friction=False, base_motion=moving), expected[6:])
    found = robot.reactions(*state, frame="joint", base_wrench=True, base_motion=moving)
    close(found, wrenches(data))
    world = robot.reactions(*state, base_wrench=True, base_motion=moving)
    close(world[0, :3], moving.rotation @ expected[:3])
    held = robot.gravity_vector(state[0], moving)
    still = np.zeros(robot.n)
    held_too = robot.inverse_dynamics(state[0], still, still, friction=False, base_motion=moving)
    close(held, held_too)


def test_accelerations_on_a_moving_base(robot, state, moving):
    wrench = rng.normal(size=6)
    tau = robot.inverse_dynamics(*state, wrench, base_motion=moving)
    close(robot.forward_dynamics(*state[:2], tau, wrench, base_motion=moving), state[2], 1e-8)
    model, data = pin_model(robot.model, floating=True)
    R_tool = moving.rotation @ robot.model.base[:3, :3].T  # of links, from the fixed base
    frame = robot.model.tool_frame
    R = R_tool @ world_frames(robot.model, state[0]).R[frame.link]
    forces = [pin.Force.Zero(), *pin_external(robot.model, frame, wrench, R)]
    expected = pin.rnea(model, data, *floating(state, moving), forces)[6:]
    close(robot.inverse_dynamics(*state, wrench, friction=False, base_motion=moving), expected)


def test_a_base_that_stands_changes_nothing(robot, state):
    close(
        robot.inverse_dynamics(*state, base_motion=armdyn.BaseMotion()),
        robot.inverse_dynamics(*state),
        1e-12,
    )


def test_what_is_no_motion_of_a_base_is_refused():
    robot, still = armdyn.load("two_link"), np.zeros(2)
    turned = np.stack([np.eye(3), 2 * np.eye(3)])
    for motion, message in (
        ({"rotation": np.eye(4)}, "rotation of the base: expected numbers of shape"),
        ({"rotation": 1j * np.eye(3)}, "rotation of the base: expected numbers of shape"),
        ({"rotation": turned}, r"rotation of the base: expected rotations.*got \[\[2.0.*at \[1\]"),
        ({"rotation": -np.eye(3)}, "rotation of the base: expected rotations"),
        ({"angular_velocity": np.zeros(2)}, "angular_velocity of the base: expected shape"),
        ({"linear_acceleration": [0, 0, np.inf]}, "linear_acceleration of the base: .* finite"),
        (
            {"rotation": np.stack([np.eye(3)] * 2), "angular_velocity": np.zeros((3, 3))},
            r"do not fit together: angular_velocity \(3,\).*rotation \(2,\)",
        ),
    ):
        with pytest.raises(ArmdynError, match=message):
            armdyn.BaseMotion(**motion)
    given = np.eye(3)
    motion = armdyn.BaseMotion(given)
    given[0, 0] = 7.0
    np.testing.assert_array_equal(motion.rotation, np.eye(3))
    with pytest.raises(ArmdynError, match="base_motion is an armdyn.BaseMotion, got"):
        robot.gravity_vector(still, np.eye(3))
    with pytest.raises(ArmdynError, match="a motion of the base needs the default method"):
        robot.forward_dynamics(
            *(still, still, still), method="denoc", base_motion=armdyn.BaseMotion()
        )
    with pytest.raises(ArmdynError, match="named 'nowhere'. Available: world, joint, link, base"):
        robot.reactions(still, still, still, frame="nowhere")
