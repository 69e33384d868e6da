"""Base parameters that vanish because links balance each other, and those that are only small."""

from dataclasses import replace

import numpy as np
import pytest

import armdyn
from armdyn.formulations.newton_euler import newton_euler
from armdyn.model import Rotor
from armdyn.quantities.program import quantity_program
from armdyn.quantities.proof import proved_program
from armdyn.quantities.request import Request
from support.peers import close
from support.random_robots import random_states
from support.saha_arm import constant_saha_arm

SHOULDER = {
    "joint": "revolute", "alpha": np.pi / 2, "d": 0.25,
    "mass": 1.0, "com": (0.1, 0.05, 0.02), "inertia": (0.3, 0.2, 0.1),
}  # fmt: skip


def arm(*links):
    """A shoulder that turns about the vertical and two links with parallel axes."""
    return armdyn.from_dh([SHOULDER, *({"joint": "revolute"} | link for link in links)])


def balanced(light, heavy, length, amiss=0.0):
    """The first moment of the upper arm, m2 x2 + m3 a2, is zero but for a share of it."""
    at = -length - heavy * length / light * (1 + amiss)
    upper = {"a": length, "mass": light, "com": (at, 0, 0), "inertia": (0.2, 0.3, 0.2)}
    fore = {"a": 0.3, "mass": heavy, "com": (-0.3, 0, 0), "inertia": (0.2, 0.3, 0.4)}
    return arm(upper, fore)


def count(robot):
    return armdyn.count_operations(robot, stage="minimal").total


@pytest.mark.slow
def test_links_that_balance_each_other_take_no_operation_however_they_are_rounded():
    exact = balanced(1.0, 1024.0, 0.5)
    for light, heavy, length in [(1.0, 1e3 * np.pi / 3, 0.7 / 3), (1 / 3, 1e5 / 7, 1 / 7)]:
        assert count(balanced(light, heavy, length)) == count(exact)
        assert not balanced(light, heavy, length).gravity_vector([0.3, 0.4, 0.5]).any()
        assert count(balanced(light, heavy, length, amiss=1e-9)) > count(exact)


@pytest.mark.slow
@pytest.mark.parametrize("share", [1.0, 1e-10, 1e-16])
def test_a_light_link_is_measured_by_what_it_carries_itself(share):
    upper = {"a": 0.4, "mass": 3.0, "com": (-0.2, 0, 0), "inertia": (0.2, 0.3, 0.2)}
    inertia = share * np.array([0.2, 0.3, 0.4])
    last = {"a": 0.3, "alpha": 0.3, "mass": 2 * share, "com": (-0.3, 0.1, 0.05), "inertia": inertia}
    robot = arm(upper, last)
    states = random_states(robot.model, 5, (8,))
    book = robot.inverse_dynamics(*states, formulation="newton_euler")
    close(robot.inverse_dynamics(*states)[:, 2] / share, book[:, 2] / share, 1e-12)


def test_a_sum_that_cancels_to_the_last_bit_is_a_zero_for_proofs_too():
    exact = balanced(2.0, 1.0, 0.5)  # 2 * -0.75 + 1 * 0.5 + ..., without rounding
    for quantity in ("inverse_dynamics", "gravity_vector"):
        proved_program(exact.model, Request(quantity))


def test_an_arm_whose_mass_matrix_is_constant_accelerates_as_its_links_and_rotors_resist():
    rotors = np.array([0.7, 0.2, 0.05])
    joints = tuple(
        replace(joint, rotor=Rotor(inertia=x, gear_ratio=1.0))
        for joint, x in zip(constant_saha_arm().model.joints, rotors.tolist(), strict=True)
    )
    model = replace(constant_saha_arm().model, joints=joints)
    q, qd, tau = random_states(model, 4, (5,))
    program = quantity_program(model, Request("forward_dynamics"))
    assert program.operations.div == 0
    qdd = program(q, qd, tau)
    close(newton_euler(model, q, qd, qdd).tau + rotors * qdd, tau, 1e-9)
    M = quantity_program(model, Request("mass_matrix"))(q)
    np.testing.assert_array_equal(M, np.broadcast_to(M[0], M.shape))
    close(M[0] @ qdd[0], tau[0] - newton_euler(model, q[0], qd[0], 0 * q[0]).tau, 1e-9)
