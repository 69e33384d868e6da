import numpy as np
import pytest

import armdyn
from armdyn.errors import ShapeError
from support.peers import close


def arm(**friction):
    return armdyn.from_dh([dict(joint="revolute", mass=1, inertia=(1, 1, 1), **friction)])


def test_nothing_at_rest_and_against_the_motion_otherwise():
    robot = arm(viscous=0.5, coulomb=(2.0, 3.0))
    close(robot.friction_torque([[0.0], [0.1], [-0.1]]), [[0.0], [2.05], [-3.05]], 1e-14)


def test_coulomb_of_one_number_is_the_same_both_ways():
    robot = arm(coulomb=2.0)
    close(robot.friction_torque([-1.0]), -robot.friction_torque([1.0]), 1e-15)


def test_stribeck_excess_dies_out_with_speed():
    robot = arm(coulomb=2.0, stribeck=1.0, stribeck_velocity=0.1)
    speeds = np.array([[1e-9], [0.1], [10.0]])
    close(robot.friction_torque(speeds), [[3.0], [2.0 + np.exp(-1)], [2.0]], 1e-9)
    ledger = robot.ledger([[0.0]], [[0.1]], [[0.0]])
    close(ledger.stribeck, [[np.exp(-1)]], 1e-14)


def test_smooth_form_is_odd_smooth_and_reaches_the_sign():
    robot = arm(coulomb=2.0, smooth_velocity=0.01)
    assert robot.friction_torque([0.0]) == 0.0
    close(robot.friction_torque([1e-6]), [2e-4], 1e-9)
    close(robot.friction_torque([1.0]), [2.0], 1e-14)
    close(robot.friction_torque([-0.004]), -robot.friction_torque([0.004]), 1e-15)


@pytest.mark.slow
def test_friction_can_be_left_out_and_enters_forward_dynamics():
    robot = arm(viscous=0.5, coulomb=2.0)
    state = ([0.3], [1.5], [0.7])
    with_friction, without = (robot.inverse_dynamics(*state, friction=f) for f in (True, False))
    close(with_friction - without, robot.friction_torque(state[1]), 1e-13)
    close(robot.forward_dynamics(*state[:2], with_friction), state[2], 1e-12)
    close(robot.forward_dynamics(*state[:2], without, friction=False), state[2], 1e-12)
    close(robot.bias(*state[:2], friction=True) - robot.bias(*state[:2]), [2.75], 1e-13)


def test_wrong_shape_is_named():
    with pytest.raises(ShapeError, match=r"qd: expected shape \(..., 1\).*got shape \(2,\)"):
        arm().friction_torque([1.0, 2.0])
