"""The delta robot beside the constraint solvers of Pinocchio and of MuJoCo."""

import numpy as np
import pinocchio as pin
import pytest

import armdyn
from support.loop_peers import MujocoLoops, PinocchioRobot
from support.peers import close

pytestmark = pytest.mark.slow


def test_torques_are_what_makes_a_delta_robot_move_so():
    robot, rng = armdyn.load("delta"), np.random.default_rng(4)
    model, active = robot.model, list(robot.model.independent)
    rigid, soft = PinocchioRobot(pin, model), MujocoLoops(model)
    for _ in range(3):
        q = rng.uniform(*robot.limits.T)
        qd, qdd = rng.uniform(-2.0, 2.0, (2, 3))
        here = robot._at.at(q)
        full, rates, changes = here.q, here.rates(qd), here.accelerations(qd, qdd)
        torques = np.zeros(len(model.joints))
        torques[active] = robot.inverse_dynamics(q, qd, qdd)
        found, forces = rigid.accelerations(full, rates, torques)
        close(found, changes)
        cuts = robot.reactions(q, qd, qdd)[-3:, :3]
        close(cuts, forces)
        found, forces = soft.accelerations(full, rates, torques)
        close(found, changes, 1e-7)
        close(cuts, forces, 1e-7)
