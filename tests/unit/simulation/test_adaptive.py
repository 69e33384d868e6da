"""Motions that are known: energy, periods, momenta, reversal; and what a method must not miss."""

import numpy as np
import pytest
from scipy.special import ellipk

from armdyn import Robot, load
from armdyn.simulation.adaptive import LEAST_STEPS, METHODS
from armdyn.simulation.simulator import simulate
from support.random_robots import random_model
from support.simulation_laws import MASS, G, assert_laws, moved, pendulum, planar, slider

TIGHT = {"rtol": 1e-12, "atol": 1e-13}


@pytest.fixture(scope="module")
def chain():
    """Three straight rods in a vertical plane, which hang at q = 0."""
    return planar(*[{"com": [-0.2, 0, 0]}] * 3)


@pytest.fixture(scope="module")
def robot():
    """Four joints of both kinds, as general as they come."""
    return Robot(random_model("RRPR", 3, rotors=True))


@pytest.mark.slow
def test_a_pendulum_of_three_rods_keeps_its_energy_for_ten_seconds(chain):
    s = moved(chain, [2.4, 0.9, 0.6], [0.5, -1.0, 2.0], 10.0, **TIGHT)
    swing = np.ptp(s.potential)
    assert np.abs(s.energy - s.energy[0]).max() < 1e-9 * swing
    assert s.energy_drift < 1e-9
    assert np.ptp(s.q[:, 1]) > 2 * np.pi  # far from small oscillations


def test_a_pendulum_has_the_period_of_the_elliptic_integral():
    length, amplitude = 0.7, 2.0
    period = 4 * np.sqrt(length / G) * ellipk(np.sin(amplitude / 2) ** 2)
    s = moved(pendulum(length), [amplitude], [0], period, **TIGHT, dt=period / 4)
    np.testing.assert_allclose(s.q[:, 0], amplitude * np.array([1, 0, -1, 0, 1]), atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_every_method_gives_the_parabola_of_a_throw(method):
    s = moved(slider(G), [0.2], [3.0], 1.0, torque=[1.0], method=method)
    a = 1.0 / MASS - G
    np.testing.assert_allclose(s.q[:, 0], 0.2 + 3 * s.t + a * s.t**2 / 2, atol=1e-6)
    np.testing.assert_allclose(s.qdd[:, 0], a, rtol=1e-12)


@pytest.mark.slow
def test_a_motion_with_reversed_velocities_goes_back(robot):
    there = moved(robot, [0.3, -0.4, 0.1, 0.8], [1, 0.5, -0.3, 2], 1.0, **TIGHT)
    back = moved(robot, there.q[-1], -there.qd[-1], 1.0, **TIGHT)
    np.testing.assert_allclose(back.q, there.q[::-1], atol=1e-8)
    np.testing.assert_allclose(back.qd, -there.qd[::-1], atol=1e-8)


@pytest.mark.slow
def test_without_gravity_energy_and_the_momentum_about_the_first_axis_stay(robot):
    s = moved(robot.with_gravity([0, 0, 0]), np.zeros(4), [1, -2, 0.5, 1.5], 2.0, **TIGHT)
    momentum = np.einsum("tj,tj->t", s.robot.mass_matrix(s.q)[:, 0], s.qd)
    np.testing.assert_allclose(momentum, momentum[0], rtol=1e-9)
    np.testing.assert_allclose(s.kinetic, s.kinetic[0], rtol=1e-9)
    assert np.ptp(s.qd[:, 0]) > 0.1  # the velocity does not


@pytest.mark.slow
def test_energy_is_accounted_for_whatever_acts():
    robot = Robot(random_model("RPRR", 5, friction=True))
    s = moved(
        robot,
        [0.5, 0.2, -1.0, 0.4],
        [3, -1, 2, 0.0],
        3.0,
        torque=lambda t, q, qd: 4 * np.sin([3 * t, 5 * t, 2 * t, t]) - 0.5 * q,
        external_wrench=lambda t: [2, np.cos(3 * t), -1, 0.3, 0, 0.1 * t],
        stops=True,
        bounce=0.6,
    )
    assert (np.abs(s.work[-1]) > 0.01).all()  # each of the four has a part in it
    assert {event.kind for event in s.events} == {"sticks", "starts", "hits"}


@pytest.mark.slow
def test_work_is_the_integral_of_power(robot):
    s = moved(robot, np.zeros(4), None, 1.0, torque=[9, 5, 3, 2.0], dt=1e-3)
    work = np.concatenate([[0], np.cumsum((s.power[1:] + s.power[:-1]) / 2) * 1e-3])
    np.testing.assert_allclose(s.work[:, 0], work, atol=1e-4 * np.abs(work).max())


@pytest.mark.slow
def test_a_constant_wrench_is_its_torque_by_virtual_work(robot):
    wrench = np.array([1, -2, 3, 0.1, 0.2, -0.3])
    s = moved(robot, np.full(4, 0.2), None, 0.5, external_wrench=wrench, dt=0.1)
    np.testing.assert_allclose(
        s.external, np.einsum("tij,i->tj", robot.jacobian(s.q), wrench), atol=1e-10
    )
    same = moved(robot, np.full(4, 0.2), None, 0.5, external_wrench={"tool": wrench}, dt=0.1)
    np.testing.assert_allclose(same.q, s.q, atol=1e-9)


def test_a_motion_without_any_force_takes_the_least_steps():
    """A method that could do it in one takes this many of one length, so that nothing is missed."""
    for duration in (0.3, 40.0):
        s = moved(slider(), [0.2], [0.7], duration)
        assert LEAST_STEPS <= s.statistics["steps"] <= 1.2 * LEAST_STEPS + 10


def test_a_torque_that_comes_late_is_not_stepped_over():
    s = moved(slider(), [0], [0], 10.0, torque=lambda t, q, qd: [float(5 < t < 5.1)])
    np.testing.assert_allclose(s.qd[-1], 0.1 / MASS, atol=1e-6)


def test_a_table_of_torques_is_linear_between_its_rows(tmp_path):
    path = tmp_path / "torques.csv"
    path.write_text("t,tau1\n0,0\n0.5,2\n1,2\n")
    s = moved(slider(), [0], [0], 1.0, torque=path)
    np.testing.assert_allclose(s.tau[:, 0], np.interp(s.t, [0, 0.5, 1], [0, 2, 2]), atol=1e-12)
    np.testing.assert_allclose(s.qd[-1], 1.5 / MASS, rtol=1e-7)


def test_what_a_torque_function_does_to_its_arrays_stays_its_own():
    buffer = np.zeros(1)

    def spring(t, q, qd):
        q -= 1.0
        buffer[:] = -q
        q[:] = qd[:] = 1e3
        return buffer

    s = moved(slider(), [0], [0], 2.0, torque=spring)
    np.testing.assert_allclose(s.q[:, 0], 1 - np.cos(s.t / np.sqrt(MASS)), atol=1e-8)
    np.testing.assert_allclose(s.tau, 1 - s.q, atol=1e-12)


@pytest.mark.slow
def test_statistics_count_every_evaluation(chain):
    """A torque is asked for in each evaluation, and once more for each record."""
    calls = []

    def torque(t, q, qd):
        calls.append(t)
        return np.zeros(3)

    s = moved(chain, [1.0, 0.5, -0.4], None, 1.0, torque=torque, dt=0.1)
    assert s.statistics["evaluations"] == len(calls) - len(s.t)
    assert s.statistics["steps"] >= 50


def test_records_are_where_they_were_asked_for_and_do_not_change_the_motion(chain):
    fine = moved(chain, [1.0, 0.5, -0.4], None, 1.0, dt=0.125)
    coarse = moved(chain, [1.0, 0.5, -0.4], None, 1.0, dt=0.4)
    np.testing.assert_allclose(fine.t, np.arange(9) / 8)
    np.testing.assert_allclose(coarse.t, [0, 0.4, 0.8, 1.0])
    np.testing.assert_array_equal(fine.q[-1], coarse.q[-1])


def test_an_arm_that_stays_in_balance_has_no_drift(chain):
    s = simulate(chain, np.zeros(3), None, 2.0)
    assert_laws(s)
    np.testing.assert_allclose(s.q, np.zeros((501, 3)), atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["DOP853", "rk4", "symplectic"])
def test_the_last_record_is_exactly_at_the_end(method):
    for duration, dt in ((0.6, 0.1), (0.7, 0.1), (0.35, 0.1), (1.501, None)):
        t = simulate(load("two_link"), [0.1, 0.2], duration=duration, dt=dt, method=method).t
        assert t[-1] == duration
        assert (np.diff(t) > 0).all()


@pytest.mark.slow
@pytest.mark.parametrize(("method", "order"), [("rk4", 4), ("symplectic", 2)])
def test_functions_are_asked_at_the_stages_of_fixed_steps(chain, method, order):
    start = np.array([[0.1, 0.2, 0.3], [0.4, -0.3, 0.2]])

    def torque(t, q, qd):
        return np.array([2 * np.sin(40 * t), np.cos(30 * t), np.sin(20 * t)]) - 0.3 * qd - 5 * q

    options = {"duration": 0.2, "dt": 0.1, "torque": torque}
    exact = simulate(chain, start[1], rtol=1e-12, atol=1e-13, **options)
    runs = [simulate(chain, start, method=method, step=h, **options) for h in (1e-2, 5e-3)]
    errors = [np.abs(run.q[1] - exact.q).max() for run in runs]
    assert 0.8 * 2**order < errors[0] / errors[1] < 1.25 * 2**order
    np.testing.assert_allclose(runs[1].work[1, -1, 0], exact.work[-1, 0], rtol=1e-2)
    assert np.array_equal(runs[0].tau[0, 1], torque(0.1, runs[0].q[0, 1], runs[0].qd[0, 1]))


@pytest.mark.slow
@pytest.mark.parametrize("method", ["DOP853", "RK45"])
def test_strong_friction_is_handed_to_a_method_for_stiff_motion(method):
    """A block stops as exp(-d t / m): steps of a few m / d, as these methods need, are a million."""
    s = moved(slider(0.0, viscous=1e6 * MASS), [0.0], [1.0], 1.0, method=method)
    assert s.method == f"{method}, then Radau"
    assert s.statistics["steps"] < 2000
    np.testing.assert_allclose(s.q[-1], 1e-6, rtol=1e-3)


def test_a_motion_that_is_not_stiff_keeps_its_method():
    s = moved(pendulum(0.1), [2.0], [0], 20.0)
    assert s.method == "DOP853"
    assert s.statistics["steps"] > 400
