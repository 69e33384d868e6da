"""Closed loops beside the constraint solvers of Pinocchio and of MuJoCo.

Both get the torques of all joints, none at passive ones, and find accelerations and the forces in
cut joints by themselves. Out of its plane the force in a planar loop is not determined.
"""

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest

import armdyn
from armdyn.model import FrictionLaw
from armdyn.robot import Robot
from support.loop_peers import MujocoLoops, PinocchioRobot
from support.loops import PARALLELOGRAM_ARM, dyad_arm
from support.peers import close

pytestmark = pytest.mark.slow
ROBOTS = ("four_bar", "five_bar", "palletizer", "parallelogram_arm", "RPR")
STATES = 3
MUJOCO_ERROR = 1e-7
"""Of MuJoCo, extrapolated to a rigid constraint; Pinocchio is right to 1e-9."""


@pytest.fixture(scope="module", params=ROBOTS)
def robot(request, tmp_path_factory):
    if request.param == "RPR":
        return Robot(dyad_arm(request.param))
    if request.param != "parallelogram_arm":
        return armdyn.load(request.param)
    file = tmp_path_factory.mktemp("loops") / "arm.toml"
    file.write_text(PARALLELOGRAM_ARM)
    return armdyn.load(file)


@pytest.fixture(scope="module")
def smooth(robot):
    joints = tuple(replace(joint, friction=FrictionLaw()) for joint in robot.model.joints)
    return Robot(replace(robot.model, joints=joints))


@pytest.fixture(scope="module")
def pinocchio(robot):
    return PinocchioRobot(pin, robot.model)


def motions(robot, pinocchio):
    """States of the coordinates, with positions and rates of all joints; rates by Pinocchio."""
    rng = np.random.default_rng(4)
    active, passive = list(robot.model.independent), list(robot.model.passive)
    for _ in range(STATES):
        q = robot.start + rng.uniform(-0.15, 0.15, robot.n)
        qd, qdd = rng.uniform(-2.0, 2.0, (2, robot.n))
        everywhere, rates = robot.all_joints(q), np.zeros(len(robot.model.joints))
        A = pinocchio.closure_matrix(everywhere)
        rates[active] = qd
        rates[passive] = np.linalg.lstsq(A[:, passive], -A[:, active] @ qd, rcond=1e-10)[0]
        yield (q, qd, qdd), everywhere, rates


def at_motors(robot, tau):
    """Torques of all joints, none at those without a motor."""
    found = np.zeros(len(robot.model.joints))
    found[list(robot.model.independent)] = tau
    return found


def in_plane(robot, q, forces):
    """Forces in cut joints without what is along the axis, which nothing determines."""
    frames = robot.link_frames(q)
    axes = [frames[loop.link_a][:3, :3] @ loop.frame_a[:3, 2] for loop in robot.model.loops]
    return [f - (f @ z) * z for f, z in zip(forces, axes, strict=True)]


def test_torques_are_what_makes_pinocchio_move_so(smooth, pinocchio):
    active = list(smooth.model.independent)
    for motion, q, rates in motions(smooth, pinocchio):
        tau = smooth.inverse_dynamics(*motion)
        accelerations, forces = pinocchio.accelerations(q, rates, at_motors(smooth, tau))
        close(accelerations[active], motion[2])
        close(smooth.forward_dynamics(*motion[:2], tau), accelerations[active])
        close(smooth._at.at(motion[0]).accelerations(*motion[1:]), accelerations)
        tree = pinocchio.tree_torques(q, rates, accelerations)
        close(smooth._at.at(motion[0]).torques(tree), tau)
        cuts = smooth.reactions(*motion)[-len(smooth.model.loops) :, :3]
        close(in_plane(smooth, motion[0], cuts), in_plane(smooth, motion[0], forces))


def test_torques_with_friction_are_what_makes_mujoco_move_so(robot, smooth, pinocchio):
    active = list(robot.model.independent)
    rough, ideal = MujocoLoops(robot.model), MujocoLoops(smooth.model)
    for motion, q, rates in motions(robot, pinocchio):
        tau = robot.inverse_dynamics(*motion)
        found, _ = rough.accelerations(q, rates, at_motors(robot, tau))
        close(found[active], motion[2], MUJOCO_ERROR)
        close(robot.forward_dynamics(*motion[:2], tau), found[active], MUJOCO_ERROR)
        tau = smooth.inverse_dynamics(*motion)
        _, forces = ideal.accelerations(q, rates, at_motors(robot, tau))
        cuts = smooth.reactions(*motion)[-len(smooth.model.loops) :, :3]
        expected = in_plane(smooth, motion[0], forces)
        close(in_plane(smooth, motion[0], cuts), expected, MUJOCO_ERROR)
