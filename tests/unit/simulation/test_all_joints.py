"""Robots with loops in the coordinates of all joints: through singular configurations."""

import numpy as np
import pytest

import armdyn
from armdyn.errors import LoopError, ModelError, SimulationError
from armdyn.formulations.composite_body import mass_matrix
from armdyn.loops.rows import closure_matrix
from armdyn.simulation import simulate_all_joints


@pytest.fixture(scope="module")
def robot():
    return armdyn.load("five_bar")


@pytest.mark.slow
def test_a_fall_goes_through_a_singular_configuration_with_its_energy(robot):
    """There the determinant of the passive joints changes its sign, and coordinates end."""
    with pytest.raises(SimulationError, match=r"at t = 0\.4\d* s: "):
        armdyn.simulate(robot, robot.start, duration=0.5, friction=False)
    motion = simulate_all_joints(robot, robot.assembly, None, 0.5, step=2.5e-3, friction=False)
    model, passive = robot.model, list(robot.model.passive)
    signs = [np.linalg.det(closure_matrix(model, q)[:2, passive]) for q in motion.q]
    assert min(signs) < -0.01 < 0.01 < max(signs)
    assert motion.closure.max() < 1e-12
    kinetic = [v @ mass_matrix(model, q) @ v / 2 for q, v in zip(motion.q, motion.qd, strict=True)]
    assert np.ptp(motion.energy) < 1e-5 * max(kinetic)
    rows = np.einsum("kij,kj->ki", closure_matrix(model, motion.q), motion.qd)
    assert np.abs(rows).max() < 1e-12
    before = armdyn.simulate(robot, robot.start, duration=0.2, friction=False)
    near = np.argmin(np.abs(motion.t - 0.2))
    np.testing.assert_allclose(motion.coordinates[near], before.q[-1], atol=1e-8)


@pytest.mark.slow
def test_motors_hold_what_gravity_pulls(robot):
    tau = robot.gravity_vector(robot.start)
    for torque in (tau, lambda t, q, qd: tau):
        motion = simulate_all_joints(robot, robot.assembly, duration=0.05, torque=torque, step=5e-3)
        np.testing.assert_allclose(motion.q, np.tile(robot.assembly, (11, 1)), atol=1e-9)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"q0": [0.0, 0.0, 0.0, 0.0]}, LoopError, "of 'five_bar' are not closed at q0"),
        ({"q0": [0.0, 0.0]}, ModelError, "q0: expected numbers of shape"),
        ({"step": 0.0}, SimulationError, "step and duration are positive"),
        ({"step": 2.0}, SimulationError, "the step is the shorter"),
        ({"robot": "panda"}, LoopError, "'panda' has no loops; use armdyn.simulate"),
        ({"robot": 3}, ModelError, "expected a Robot"),
    ],
)
def test_what_cannot_be_simulated_is_refused(robot, change, error, message):
    given = {"robot": robot, "q0": robot.assembly, "step": 1e-3} | change
    if isinstance(given["robot"], str):
        given["robot"] = armdyn.load(given["robot"])
    with pytest.raises(error, match=message):
        simulate_all_joints(given["robot"], given["q0"], step=given["step"])
