"""The variational midpoint rule: what it conserves."""

import numpy as np
import pytest

import armdyn
from armdyn.simulation.native import rollout
from oracles import close
from rolled import ARMS, states

ARM = ARMS["chain"]
TWO = armdyn.load("two_link")


def flow(robot, x, step):
    """One step from (q, p) to (q', p')."""
    q, p = np.split(x, 2)
    qd = np.linalg.solve(robot.mass_matrix(q), p)
    end = rollout(robot, q, qd, step, 1, method="symplectic", iterations=15)
    return np.concatenate([end.q[-1], robot.mass_matrix(end.q[-1]) @ end.qd[-1]])


@pytest.mark.parametrize("name", ["chain", "tree", "coupled"])
def test_a_step_is_symplectic(name):
    robot = ARMS[name]
    n, d = robot.n, 1e-5
    x = np.concatenate(states(robot, seed=4))
    sides = [(flow(robot, x + e, 0.02), flow(robot, x - e, 0.02)) for e in d * np.eye(2 * n)]
    A = np.array([(a - b) / (2 * d) for a, b in sides]).T
    J = np.kron([[0, 1], [-1, 0]], np.eye(n))
    scale = np.linalg.norm(A, 2) ** 2
    assert np.abs(A.T @ J @ A - J).max() < 1e-8 * scale
    assert np.abs(A - np.eye(2 * n)).max() > 0.01  # it does go somewhere


@pytest.mark.parametrize("name", ["chain", "coupled", "viscous", "smooth"])
def test_global_error_is_of_order_two(name):
    robot = ARMS[name]
    q, qd = states(robot, seed=2)
    tau = 0.5 * np.ones(robot.n)
    true = rollout(robot, q, qd, 2e-4, 2000, every=2000, torque=tau)
    error = []
    for k in (100, 200, 400):
        found = rollout(
            robot, q, qd, 0.4 / k, k, every=k, torque=tau, method="symplectic", iterations=12
        )
        error.append(np.linalg.norm([found.q[-1] - true.q[-1], found.qd[-1] - true.qd[-1]]))
    ratios = np.divide(error[:-1], error[1:])
    assert np.all((ratios > 3.8) & (ratios < 4.2))


def energy(robot, run):
    return robot.kinetic_energy(run.q, run.qd) + robot.potential_energy(run.q)


def test_energy_of_a_double_pendulum_does_not_drift():
    q, qd = np.array([[1.2, -0.4], [0.5, 1.0], [2.0, 0.3]]), np.zeros((3, 2))
    step, count = 0.01, 1000

    def change(method):
        run = rollout(TWO, q, qd, step, count, method=method, iterations=25)
        error = energy(TWO, run) - energy(TWO, run)[:, :1]
        return np.abs(error[:, :300]).max(1), np.abs(error[:, -300:]).max(1)

    early, late = change("symplectic")
    assert np.all(late < 1.5 * early)
    early, late = change("rk4")
    assert np.all(late > 1.5 * early)


def test_a_motion_runs_back_to_where_it_came_from():
    q, qd = states(ARM, 3, seed=5)

    def return_error(method):
        there = rollout(ARM, q, qd, 0.01, 50, method=method, iterations=20)
        start = there.q[:, -1], there.qd[:, -1]
        back = rollout(ARM, *start, -0.01, 50, method=method, iterations=20)
        assert np.abs(there.q[:, -1] - q).max() > 0.1
        return max(np.abs(back.q[:, -1] - q).max(), np.abs(back.qd[:, -1] - qd).max())

    assert return_error("symplectic") < 1e-11
    assert return_error("rk4") > 1e-9


def test_the_momentum_of_a_symmetry_is_conserved():
    """Without gravity nothing depends on the first joint: Noether's theorem, step by step."""
    robot = TWO.with_gravity([0, 0, 0])
    q, qd = states(robot, 4, seed=6)
    run = rollout(robot, q, 3 * qd, 0.02, 500, method="symplectic", iterations=3)
    p = (robot.mass_matrix(run.q) @ run.qd[..., None])[..., 0, 0]
    close(p, np.broadcast_to(p[:, :1], p.shape), 1e-12)


def test_the_residual_shows_whether_the_equations_are_solved():
    q, qd = states(ARM, 2, 3, seed=7)
    residual = [
        rollout(ARM, q, qd, 0.01, 20, method="symplectic", iterations=k).residual
        for k in (1, 2, 4, 14)
    ]
    assert residual[0].shape == (2, 3)
    assert all(np.all(b < 0.3 * a) for a, b in zip(residual[:-1], residual[1:], strict=True))
    assert np.all(residual[-1] < 1e-13)
    whole = rollout(ARM, q, 10 * qd, 1.0, 50, method="symplectic", iterations=4, limit=1e12)
    assert whole.diverged is not None or np.all(whole.residual > 1e-3)
