"""Random loops of every kind beside an elimination that shares nothing with closures."""

from functools import cache

import numpy as np
import pytest

from armdyn.loops.coordinates import coordinates_of
from armdyn.loops.rows import closure_matrix
from armdyn.model.transform import transform
from support.elimination import eliminated, jacobian
from support.programs import EvaluatedRobot
from support.random_loops import ROBOTS

REGULAR = 0.1
"""Least distance from a singular assembly of the robots that are taken."""


@cache
def drawn(kind):
    """The first robot of a kind whose assembly is not nearly singular."""
    for seed in range(40):
        robot = EvaluatedRobot(ROBOTS[kind](seed).model(f"{kind} {seed}"))
        if np.all(robot._at.at(robot.start).type2 > REGULAR):
            return robot
    raise AssertionError(kind)


def motion(robot):
    rng = np.random.default_rng(1)
    q = robot.start + rng.uniform(-0.04, 0.04, robot.n)
    return q, *rng.uniform(-1.0, 1.0, (2, robot.n))


@pytest.mark.parametrize("kind", ROBOTS)
def test_joints_follow_as_an_elimination_tells(kind):
    robot = drawn(kind)
    q, qd, qdd = motion(robot)
    at = coordinates_of(robot.model)
    here = at.at(q)
    full, rates, changes, _, _ = eliminated(robot, q, qd, qdd)
    np.testing.assert_allclose(here.q, full, atol=1e-12)
    np.testing.assert_allclose(here.rates(qd), rates, atol=1e-11)
    np.testing.assert_allclose(here.accelerations(qd, qdd), changes, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(
        jacobian(robot.model, full), closure_matrix(robot.model, full), atol=1e-13
    )
    work = np.arange(1.0, 1.0 + len(full))
    np.testing.assert_allclose(here.torques(work), here.G.T @ work, atol=1e-10)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ROBOTS)
def test_torques_are_those_of_an_elimination(kind):
    robot = drawn(kind)
    q, qd, qdd = motion(robot)
    *_, tau, _ = eliminated(robot, q, qd, qdd, friction=True)
    np.testing.assert_allclose(robot.inverse_dynamics(q, qd, qdd), tau, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(robot.forward_dynamics(q, qd, tau), qdd, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(
        robot.mass_matrix(q) @ qdd, tau - robot.inverse_dynamics(q, qd, 0 * qdd), atol=1e-9
    )


@pytest.mark.slow
@pytest.mark.parametrize("kind", ROBOTS)
def test_what_cut_joints_carry_leaves_passive_joints_free_and_motors_their_torques(kind):
    """Along its axis a joint passes on what its drive gives, and nothing if it has none."""
    robot = drawn(kind)
    q, qd, qdd = motion(robot)
    model, active = robot.model, list(robot.model.independent)
    rotors = [model.joints[i].rotor.reflected for i in active]
    drives = np.zeros(len(model.joints))
    drives[active] = robot.inverse_dynamics(q, qd, qdd, friction=False) - rotors * qdd
    wrenches = robot.reactions(q, qd, qdd, frame="joint")
    along = [j.type.subspace(j.axis) @ w for j, w in zip(model.joints, wrenches, strict=False)]
    coupled = [i for loop in model.loops if loop.couples for i in (loop.link_a, loop.link_b)]
    along, drives = (np.delete(x, coupled) for x in (along, drives))  # these drive each other
    np.testing.assert_allclose(along, drives, rtol=1e-9, atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["five-bar", "slide on a crank", "a slide with a motor first"])
def test_forces_at_the_tool_are_torques_of_the_motors(kind):
    robot = drawn(kind)
    robot = robot.with_tool(transform(np.eye(3), (0.3, 0.2, 0.1)))
    q, qd, qdd = motion(robot)
    form = robot.cartesian(q, qd, task=("x", "y"))
    J, rate = robot.jacobian(q)[:2], robot.jacobian_dot(q, qd)[:2]
    force = form.M @ (J @ qdd + rate @ qd) + form.V + form.G
    torques = robot.inverse_dynamics(q, qd, qdd, friction=False)
    np.testing.assert_allclose(J.T @ force, torques, rtol=1e-8, atol=1e-8)
