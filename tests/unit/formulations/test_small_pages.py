"""Forms beside the dynamics on plain numbers: task forces, slopes, steps, solving, wrenches."""

from dataclasses import replace

import numpy as np
import pytest

from armdyn.errors import ArmdynWarning, ShapeError, SingularityError
from armdyn.formulations.cartesian import check_damping, check_rank, default_task, task_dynamics
from armdyn.formulations.composite_body import mass_matrix
from armdyn.formulations.coriolis import configuration_space, coriolis_matrix
from armdyn.formulations.external import exerted_wrench
from armdyn.formulations.forward_dynamics import warn_of_condition
from armdyn.formulations.kinematics import jacobian, jacobian_rate, world_frames, wrench_torques
from armdyn.formulations.newton_euler import newton_euler
from armdyn.formulations.runge_kutta import runge_kutta
from armdyn.formulations.slopes import AccelerationSlopes, TorqueSlopes, acceleration_slopes
from armdyn.formulations.solve import check_pivots, solve_mass_matrix, with_unit_diagonal
from armdyn.loops.coordinates import coordinates_of
from armdyn.model import Body, Inertia, Link
from support.peers import close
from support.random_robots import random_model, random_states

AXES = ("x", "y", "z", "rx", "ry", "rz")


def terms_of(model, q, qd):
    frame = model.tool_frame
    J, Jd = jacobian(model, q, frame), jacobian_rate(model, q, qd, frame)
    C = (coriolis_matrix(model, q, qd) @ qd[..., None])[..., 0]
    return (J, Jd), (mass_matrix(model, q), C, newton_euler(model, q, 0 * q, 0 * q).tau)


@pytest.mark.parametrize(("kinds", "task"), [("RRPRRR", AXES), ("RRR", ("z", "x")), ("RPRR", "yz")])
def test_forces_of_a_task_are_the_torques_that_make_the_motion(kinds, task):
    model = random_model(kinds, 4)
    q, qd, qdd = random_states(model, 5, (2,))
    (J, Jd), (M, C, G) = terms_of(model, q, qd)
    task = tuple(task)
    form = task_dynamics(qd, (J, Jd), (M, C, G), task, 0.0, 2)
    rows = [AXES.index(name) for name in task]
    J, Jd = J[:, rows], Jd[:, rows]
    # of all torques with these forces, those that leave the joints the accelerations of the task
    wanted = (J @ qdd[..., None])[..., 0] + (Jd @ qd[..., None])[..., 0]
    F = (form.M @ wanted[..., None])[..., 0] + form.V + form.G
    tau = (np.swapaxes(J, 1, 2) @ F[..., None])[..., 0]
    found = np.linalg.solve(M, (tau - C - G)[..., None])
    close((J @ found)[..., 0] + (Jd @ qd[..., None])[..., 0], wanted, 1e-9)
    close(form.M, np.swapaxes(form.M, 1, 2), 1e-8)
    power = np.linalg.inv(J @ np.linalg.solve(M, np.swapaxes(J, 1, 2)))
    close(form.M, power, 1e-8)


def test_damping_adds_its_square_to_the_mobility_of_the_tool():
    model = random_model("RRPRRR", 4)
    q, qd, _ = random_states(model, 5, (2,))
    jacobians, terms = terms_of(model, q, qd)
    free, damped = (task_dynamics(qd, jacobians, terms, AXES, d, 2) for d in (0.0, 0.5))
    close(np.linalg.inv(damped.M), np.linalg.inv(free.M) + 0.25 * np.eye(6), 1e-8)
    assert free.task == AXES


def test_tasks_that_cannot_be_moved_are_counted():
    J = np.stack([np.diag([1.0, 2.0, 3.0]), np.diag([1.0, 1.0, 1e-10]), np.full((3, 3), np.nan)])
    check_rank(J[[0, 2]], ("x", "y", "z"), 2)
    check_rank(J[:1] * [[1.0], [1e-8], [1.0]], ("x", "y", "z"), 2)
    with pytest.raises(SingularityError, match=r"\(x, y, z\) is singular at 1 of 7 states"):
        check_rank(J, ("x", "y", "z"), 7)
    with pytest.raises(SingularityError, match="2 joints cannot move the 3 task coordinates"):
        check_rank(J[:, :, :2], ("x", "y", "z"), 1)
    assert (check_damping(0), check_damping(1e100)) == (0.0, 1e100)
    for wrong in (-1e-9, 1.1e100, np.nan):
        with pytest.raises(ShapeError, match="damping must be a number from 0"):
            check_damping(wrong)


@pytest.mark.parametrize(
    ("kinds", "expected"), [("RRRRRR", AXES), ("RR", ("x", "y")), ("P", ("x",)), ("PPPPPP", "xyz")]
)
def test_a_task_takes_the_first_coordinates_that_are_independent(kinds, expected):
    model = random_model(kinds, 3)
    assert default_task(coordinates_of(model)) == tuple(expected)


def test_slopes_of_accelerations_follow_from_those_of_torques(arm):
    rng, n = np.random.default_rng(arm.seed), len(arm.model.joints)
    q = random_states(arm.model, 2, (2,))[0]
    M, by_q, by_qd = mass_matrix(arm.model, q) + np.eye(n), *rng.normal(size=(2, 2, n, n))
    found = AccelerationSlopes.of(acceleration_slopes(TorqueSlopes(by_q, by_qd, M)))
    close(M @ found.dq, -by_q, 1e-11)
    close(M @ found.dqd, -by_qd, 1e-11)
    close(M @ found.dtau, np.broadcast_to(np.eye(n), M.shape), 1e-11)


def test_a_step_of_runge_and_kutta_is_of_order_four():
    def stepped(q, qd, count):
        h = 1.0 / count
        for start in h * np.arange(count):

            def slope(share, x, v, start=start):
                shares.append(share)
                return -np.sin(x) - 0.2 * v + np.cos(3.0 * (start + share * h))

            v, a = runge_kutta(slope, q, qd, h)
            q = q + h * (v[0] + 2 * v[1] + 2 * v[2] + v[3]) / 6
            qd = qd + h * (a[0] + 2 * a[1] + 2 * a[2] + a[3]) / 6
        return np.array([q, qd])

    shares = []
    true = stepped(0.3, 0.1, 1024)
    errors = [np.abs(stepped(0.3, 0.1, count) - true).max() for count in (8, 16)]
    assert 12 < errors[0] / errors[1] < 20
    assert shares[:4] == [0.0, 0.5, 0.5, 1.0]


def test_the_configuration_space_has_products_in_their_order():
    rng, n = np.random.default_rng(0), 4
    symbols = rng.normal(size=(2, n, n, n))
    symbols = symbols + np.swapaxes(symbols, -1, -2)
    M, G, qd = rng.normal(size=(2, n, n)), rng.normal(size=(2, n)), rng.normal(size=n)
    form = configuration_space(M, symbols, G)
    pairs = [qd[j] * qd[k] for j in range(n) for k in range(j + 1, n)]
    close(form.B @ pairs + form.C @ qd**2, symbols @ qd @ qd, 1e-13)
    assert form.M is M
    assert form.G is G


def test_singular_mass_matrices_name_the_joints_and_the_state():
    names = ["a", "b", "c"]
    M = np.stack([np.diag([1.0, 2.0, 3.0]), np.diag([1e9, 1e-9, 1.0])])
    tau = np.ones((2, 3))
    close(solve_mass_matrix(M, tau, names), 1.0 / np.diagonal(M, axis1=1, axis2=2), 1e-14)
    close(np.diagonal(with_unit_diagonal(M), axis1=1, axis2=2), np.ones((2, 3)), 1e-15)
    lost = np.where(np.arange(2)[:, None, None] == 1, np.nan, M)
    assert np.isnan(solve_mass_matrix(lost, tau, names)).all(-1).tolist() == [False, True]
    M[1, 1:, 1:] = [[2.0, 2.0], [2.0, 2.0]]
    with pytest.raises(SingularityError, match=r"state 1 of the batch\).* motion of 'b' with 'c'"):
        solve_mass_matrix(M, tau, names)
    with pytest.raises(SingularityError, match=r"singular: nothing resists a motion of 'a'\."):
        solve_mass_matrix(np.diag([0.0, 1.0, 1.0]), tau[0], names)
    pivots = np.array([[1.0, 1.0, 2.0], [1.0, 1e-12, 1.0], [np.inf, 1.0, 1.0]])
    for size in (1e-8, 1.0, 1e8):
        check_pivots(size * pivots, names)
        with pytest.raises(SingularityError, match=r"\(state 1 of the batch\).*a motion of 'b'\."):
            check_pivots(size * pivots * [1.0, 1e-2, 1.0], names)


def test_badly_conditioned_robots_are_told_of():
    model = random_model("RRR", 1)
    warn_of_condition(coordinates_of(model))
    for factor in (1e-12, 1e-18):
        link = model.links[2]
        numbers = (link.inertia.mass, link.inertia.first_moment, link.inertia.moment)
        light = Inertia.from_origin(*(factor * x for x in numbers))
        last = Link(link.name, (Body(link.name, light),))
        other = coordinates_of(replace(model, links=(*model.links[:2], last)))
        if factor > 1e-15:
            warn_of_condition(other)
        else:
            with pytest.warns(ArmdynWarning, match="has the condition number .e"):
                warn_of_condition(other)


def test_wrenches_of_the_environment_do_the_work_of_their_frames(arm):
    model, rng = arm.model, np.random.default_rng(arm.seed)
    q = random_states(model, 6, (2,))[0]
    names = [link.name for link in model.links][:: max(1, len(model.links) - 1)]
    frames = world_frames(model, q)
    given = {name: rng.normal(size=(2, 6)) for name in names}
    for axes in ("world", names[-1]):
        rows = exerted_wrench(model, q, given, axes)
        assert rows.shape == (2, len(model.joints), 6)
        turned = None if axes == "world" else model.frame(axes)
        work = sum(
            np.swapaxes(jacobian(model, q, model.frame(k), turned), 1, 2) @ w[..., None]
            for k, w in given.items()
        )
        close(wrench_torques(model, frames, rows), -work[..., 0], 1e-11)
    base = exerted_wrench(model, q, {model.base_link.name: given[names[0]]}, "world")
    assert not base.any()
