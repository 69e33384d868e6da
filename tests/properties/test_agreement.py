"""One trusted number: every formulation against every other and against Pinocchio."""

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given

from armdyn import Robot
from armdyn.quantities.formulations import CHAINS, FORMULATIONS
from support.peers import close, pin_external, pin_model
from support.random_robots import chains, random_states, robots, seeds


@pytest.mark.parametrize("name", FORMULATIONS)
@given(model=chains, seed=seeds)
def test_torques_with_tip_wrench_equal_pinocchio_on_chains(name, model, seed):
    _torques_equal_pinocchio(name, model, seed)


@pytest.mark.parametrize("name", sorted(set(FORMULATIONS) - set(CHAINS)))
@given(model=robots, seed=seeds)
def test_torques_with_tip_wrench_equal_pinocchio_on_trees(name, model, seed):
    _torques_equal_pinocchio(name, model, seed)


def _torques_equal_pinocchio(name, model, seed):
    q, qd, qdd = random_states(model, seed)
    other, data, wrench, forces = _with_tip_wrench(model, q, seed)
    tau = Robot(model).inverse_dynamics(q, qd, qdd, external_wrench=wrench, formulation=name)
    close(tau, pin.rnea(other, data, q, qd, qdd, forces))


def _with_tip_wrench(model, q, seed):
    """The arm in Pinocchio, and a random wrench at its tool in our terms and in Pinocchio's."""
    wrench = np.random.default_rng(seed).normal(size=6)
    other, data = pin_model(model)
    tool = model.tool_frame
    pin.forwardKinematics(other, data, q)
    rotation = data.oMi[tool.link + 1].rotation
    return other, data, wrench, pin_external(model, tool, wrench, rotation)


@given(model=chains, seed=seeds)
def test_formulations_agree_pairwise(model, seed):
    states = random_states(model, seed, batch=(2,))
    robot = Robot(model)
    torques = [robot.inverse_dynamics(*states, formulation=name) for name in FORMULATIONS]
    for tau in torques[1:]:
        close(tau, torques[0], 1e-11)


@given(model=robots, seed=seeds)
def test_every_quantity_equals_pinocchio(model, seed):
    q, qd, tau = random_states(model, seed)
    robot = Robot(model)
    other, data = pin_model(model)
    close(robot.mass_matrix(q), pin.crba(other, data, q))
    close(robot.coriolis_matrix(q, qd), pin.computeCoriolisMatrix(other, data, q, qd))
    close(robot.gravity_vector(q), pin.computeGeneralizedGravity(other, data, q))
    close(robot.bias(q, qd), pin.nonLinearEffects(other, data, q, qd))
    close(robot.forward_dynamics(q, qd, tau), pin.aba(other, data, q, qd, tau))
    close(robot.kinetic_energy(q, qd), pin.computeKineticEnergy(other, data, q, qd))
    close(robot.potential_energy(q), pin.computePotentialEnergy(other, data, q))


@given(model=robots, seed=seeds)
def test_kinematics_equal_pinocchio(model, seed):
    q, qd, _ = random_states(model, seed)
    robot = Robot(model)
    other, data = pin_model(model)
    frame = other.getFrameId("tool")
    pin.framesForwardKinematics(other, data, q)
    close(robot.forward_kinematics(q), data.oMf[frame].homogeneous)
    world, local = pin.LOCAL_WORLD_ALIGNED, pin.LOCAL
    pin.computeJointJacobiansTimeVariation(other, data, q, qd)
    pin.updateFramePlacements(other, data)
    for axes, reference in (("world", world), ("tool", local)):
        J = pin.getFrameJacobian(other, data, frame, reference)
        close(robot.jacobian(q, axes), J.reshape(6, -1))
    J_rate = pin.getFrameJacobianTimeVariation(other, data, frame, world)
    close(robot.jacobian_dot(q, qd), J_rate.reshape(6, -1))


@given(model=robots, seed=seeds)
def test_three_ways_of_forward_dynamics_equal_pinocchio_with_rotors_and_wrench(model, seed):
    q, qd, tau = random_states(model, seed)
    other, data, wrench, forces = _with_tip_wrench(model, q, seed)
    expected = pin.aba(other, data, q, qd, tau, forces)
    for method in ("composite_body", "articulated_body", "denoc"):
        close(Robot(model).forward_dynamics(q, qd, tau, wrench, method=method), expected)
