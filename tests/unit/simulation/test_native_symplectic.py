"""The variational midpoint rule: what it conserves."""

from itertools import pairwise

import numpy as np
import pytest

from armdyn.quantities.program import quantity_program
from armdyn.quantities.request import Request
from armdyn.quantities.steps import StepRequest, step_program
from armdyn.simulation.fixed import rollout
from support.loops import rod_arm
from support.peers import close
from support.rollout_arms import ARMS, states
from support.simulation_laws import planar

pytestmark = pytest.mark.slow

ARM = ARMS["chain"]
RODS = planar(*[{"a": 1.0, "com": [-0.5, 0, 0], "inertia": np.eye(3) / 4}] * 3)


def roll(robot, q, qd, step, steps, **options):
    return rollout(robot, q, qd, step, steps, method="symplectic", iterations=12, **options)


def flow(robot, x, step):
    """One step from (q, p) to (q', p')."""
    q, p = np.split(x, 2, -1)
    qd = np.linalg.solve(robot.mass_matrix(q), p[..., None])[..., 0]
    end = roll(robot, q, qd, step, 1)
    return np.concatenate([end.q[:, -1], momentum(robot, end)[:, -1]], -1)


def momentum(robot, run):
    return (robot.mass_matrix(run.q) @ run.qd[..., None])[..., 0]


@pytest.mark.parametrize("name", ["chain", "coupled"])
def test_a_step_is_symplectic(name):
    robot = ARMS[name]
    n, d = robot.n, 1e-5
    x = np.concatenate(states(robot, seed=4))
    shifts = d * np.eye(2 * n)
    A = (flow(robot, x + shifts, 0.02) - flow(robot, x - shifts, 0.02)).T / (2 * d)
    J = np.kron([[0, 1], [-1, 0]], np.eye(n))
    scale = np.linalg.norm(A, 2) ** 2
    assert np.abs(A.T @ J @ A - J).max() < 1e-8 * scale
    assert np.abs(A - np.eye(2 * n)).max() > 0.01  # it does go somewhere


@pytest.mark.parametrize("name", ["chain", "coupled", "viscous"])
def test_global_error_is_of_order_two(name):
    robot = ARMS[name]
    q, qd = states(robot, seed=2)
    tau = 0.5 * np.ones(robot.n)
    true = rollout(robot, q, qd, 2e-4, 2000, every=2000, torque=tau[None])
    error = []
    for k in (100, 200, 400):
        found = roll(robot, q, qd, 0.4 / k, k, every=k, torque=tau[None])
        error.append(np.linalg.norm([found.q[-1] - true.q[-1], found.qd[-1] - true.qd[-1]]))
    ratios = np.divide(error[:-1], error[1:])
    assert np.all((ratios > 3.8) & (ratios < 4.2))


def energy(robot, run):
    return robot.kinetic_energy(run.q, run.qd) + robot.potential_energy(run.q)


def test_energy_of_a_pendulum_of_three_rods_does_not_drift():
    q = np.array([[0.4, -0.3, 0.1], [0.2, 0.6, -0.3], [-0.7, 0.2, 0.3]])
    qd = np.zeros_like(q)

    def growth(run):
        error = np.abs(energy(RODS, run) - energy(RODS, run)[:, :1])
        return error[:, -125:].max(1) / error[:, :125].max(1)

    assert np.all(growth(roll(RODS, q, qd, 0.02, 500)) < 1.5)
    assert np.all(growth(rollout(RODS, q, qd, 0.02, 500)) > 2.5)


@pytest.mark.parametrize("robot", [RODS, ARM], ids=lambda robot: robot.name)
def test_a_motion_runs_back_to_where_it_came_from(robot):
    q, qd = states(robot, 9, seed=5)

    def gap(method):
        there = method(robot, q, qd, 0.02, 25)
        assert np.abs(there.q[:, -1] - q).max() > 0.1
        back = method(robot, there.q[:, -1], there.qd[:, -1], -0.02, 25)
        return max(np.abs(back.q[:, -1] - q).max(), np.abs(back.qd[:, -1] - qd).max())

    assert gap(roll) < 1e-11
    assert gap(rollout) > 1e-9


def test_the_momentum_of_a_symmetry_is_conserved():
    """Without gravity nothing depends on the first joint: Noether's theorem, step by step."""
    robot = RODS.with_gravity([0, 0, 0])
    q, qd = states(robot, 4, seed=6)
    run = rollout(robot, q, 3 * qd, 0.02, 500, method="symplectic", iterations=3)
    p = momentum(robot, run)
    close(p[..., 0], np.broadcast_to(p[:, :1, 0], p.shape[:-1]), 1e-12)
    assert np.ptp(p[..., 1:], axis=(0, 1)).min() > 0.1


def test_the_residual_shows_whether_the_equations_are_solved():
    q, qd = states(RODS, 2, 3, seed=7)
    residual = [
        rollout(RODS, q, qd, 0.01, 20, method="symplectic", iterations=k).residual
        for k in (1, 3, 12)
    ]
    assert residual[0].shape == (2, 3)
    assert all(np.all(b < 0.1 * a) for a, b in pairwise(residual))
    assert np.all(residual[-1] < 1e-13)


def test_a_step_of_a_robot_with_a_general_loop_is_of_order_two_and_goes_back():
    """Passive joints of such a loop are symbols, at each of the positions in a step."""
    model, n = rod_arm(), 2
    q, qd, tau = np.array([0.2, 1.1]), np.array([0.9, -0.7]), np.array([1.5, -0.8])
    midpoint, runge = (
        step_program(model, StepRequest(method, friction=False, iterations=iterations))
        for method, iterations in (("symplectic", 10), ("rk4", 0))
    )
    p = quantity_program(model, Request("mass_matrix"))(q) @ qd
    start = np.array([*q, *p, 0.0, 0.0])

    def gap(h):
        near = midpoint(start, np.array([h]), tau, tau)[:n]
        return np.linalg.norm(near - runge(np.array([*q, *qd, 0.0]), np.array([h]), tau, tau)[:n])

    assert 7.5 < gap(0.01) / gap(0.005) < 8.5
    there = midpoint(start, np.array([0.01]), tau, tau)
    close(midpoint(there, np.array([-0.01]), tau, tau)[: 2 * n], start[: 2 * n], 1e-12)
