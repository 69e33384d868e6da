"""Simulation and control of joints that give."""

import numpy as np
import pytest

import armdyn
from armdyn.errors import ModelError, SimulationError, TrajectoryError, UnknownNameError
from armdyn.simulation import (
    ElasticFeedforward,
    ElasticStateFeedback,
    GravityPD,
    Shaped,
    quintic,
    smooth_move,
    smooth_spline,
    smoothed,
)
from support.peers import close
from support.programs import EvaluatedRobot

pytestmark = pytest.mark.slow
ROW = dict(
    joint="revolute", a=0.5, mass=4.0, com=(-0.25, 0, 0), inertia=(0, 1 / 12, 1 / 12),
    rotor_inertia=1e-4, gear_ratio=80.0, transmission_stiffness=3000.0,
)  # fmt: skip
BARE = armdyn.from_dh([ROW, ROW], gravity=(0, -9.81, 0), name="two")
TWO = EvaluatedRobot(BARE.model)
DAMPED = TWO.with_elasticity(3000.0, 4.0)
START, END = np.array([0.3, -0.4]), np.array([0.9, 0.2])


def test_links_that_rest_stay_and_energy_is_kept_where_nothing_takes_it():
    rest = TWO.elastic.equilibrium(START)
    still = armdyn.simulate(TWO, START, duration=0.1, torque=rest.tau, elastic=True, rtol=1e-10)
    close(still.q[-1], TWO.elastic.joined(START, rest.theta), 1e-9)
    free = armdyn.simulate(TWO, START, duration=0.3, elastic=True)
    assert free.q.shape[-1] == 4
    assert free.energy_drift < 1e-7
    assert np.ptp(free.q[:, 2:] - free.q[:, :2]) > 1e-4  # transmissions wind up


def test_implicit_steps_are_of_order_three():
    def torque(t, theta, thetad):
        return 20.0 * np.sin(9.0 * t) - 2.0 * thetad * [1.0, 0.5] + 5.0 * np.cos(theta)

    options = {"duration": 0.08, "torque": torque, "elastic": True}
    true = armdyn.simulate(DAMPED, START, **options, rtol=1e-11, atol=1e-12)
    errors = []
    for step in (2e-3, 1e-3):
        run = armdyn.simulate(DAMPED, START, **options, method="rodas3", step=step)
        assert run.method == "rodas3"
        errors.append(np.abs(run.q[-1] - true.q[-1]).max())
        assert run.energy_drift < 1e-2
    assert 6.0 < errors[0] / errors[1] < 11.0
    close(run.work[-1, 0], true.work[-1, 0], 1e-4)


def test_steps_are_explicit_where_that_is_stable_and_else_implicit():
    stiff = TWO.with_elasticity(3e6, 3000.0)
    fastest = np.abs(np.linalg.eigvals(stiff.elastic.linearisation(START).A)).max()
    assert fastest * 1e-3 > 2.8
    options = {"duration": 0.1, "torque": [8.0, 4.0], "elastic": True, "step": 1e-3}
    lost = armdyn.simulate(stiff, START, **options, method="rk4")
    assert lost.status == "diverged"
    kept = armdyn.simulate(stiff, START, **options, method="auto")
    assert (kept.status, kept.method) == ("finished", "rodas3")
    rigid = armdyn.simulate(TWO, START, duration=0.1, torque=[8.0, 4.0])
    close(kept.q[-1, :2], rigid.q[-1], 1e-3)
    short = armdyn.simulate(
        stiff, START, **options | {"step": 1e-5, "duration": 1e-3}, method="auto"
    )
    assert short.method == "rk4"


def test_many_arms_move_in_one_loop_as_each_alone():
    q0 = np.random.default_rng(0).uniform(-1, 1, (3, 2))
    options = {"duration": 0.02, "elastic": True, "step": 1e-3}
    for method in ("rodas3", "auto"):
        many = armdyn.simulate(DAMPED, q0, torque=[3.0, 1.0], method=method, **options)
        for k, q in enumerate(q0):
            one = armdyn.simulate(DAMPED, q, torque=[3.0, 1.0], method=many.method, **options)
            close(many.q[k], one.q, 1e-13)


@pytest.mark.parametrize("robot", [TWO, DAMPED], ids=["undamped", "damped"])
def test_feedforward_brings_links_to_rest_where_the_rigid_one_lets_them_ring(robot):
    move = smooth_move(START, END, 0.35)
    options = {"duration": 0.6, "elastic": True, "rtol": 1e-8}
    gains = {"kp": 400.0, "kd": 20.0}
    elastic = armdyn.simulate(
        robot, START, controller=ElasticFeedforward(robot, move, **gains), **options
    )

    def rigid(t, theta, thetad):
        want = move(t)
        tau = robot.inverse_dynamics(*want)
        return tau + 400.0 * (want.q - theta) + 20.0 * (want.qd - thetad)

    other = armdyn.simulate(robot, START, controller=rigid, **options)
    after = elastic.t > 0.36
    left = [np.abs(run.q[after, :2] - END).max() for run in (elastic, other)]
    assert left[0] < 2e-5
    assert left[1] > 100 * left[0]
    close(elastic.reference[:, :2], [move(t).q for t in elastic.t], 1e-12)
    assert np.abs(elastic.tracking_error[:, :2]).max() < 2e-5


def test_feedback_of_both_sides_damps_what_motors_alone_do_not():
    law = ElasticStateFeedback(TWO, smooth_move(START, END, 0.3), at=END, friction=False)
    A, B = TWO.elastic.linearisation(END)
    assert np.linalg.eigvals(A - B @ law.gain).real.max() < -1.0
    off = TWO.elastic.joined(START + 0.01, TWO.elastic.equilibrium(START).theta)
    run = armdyn.simulate(TWO, off, duration=1.0, controller=law, elastic="both", rtol=1e-7)
    assert np.abs(run.q[-1, :2] - END).max() < 1e-4


def test_shares_of_a_motion_cancel_a_vibration():
    move = quintic([0.0], [1.0], 0.1)
    shaped = Shaped.of(move, 4.0, 0.05)
    close(shaped.shares.sum(), 1.0, 1e-14)
    w, zeta = 2 * np.pi * 4.0, 0.05
    left = []
    for motion in (move, shaped):
        t = np.linspace(0, 0.6, 6001)
        x = np.zeros(2)
        h = t[1]
        q = motion(t + h / 2).q[:, 0]
        step = np.array([[0.0, 1.0], [-(w**2), -2 * zeta * w]])
        ahead = np.linalg.inv(np.eye(2) - h / 2 * step)
        for value in q:
            force = h * np.array([0.0, w**2 * value])
            x = ahead @ ((np.eye(2) + h / 2 * step) @ x + force)
        left.append(np.hypot(x[0] - 1.0, x[1] / w))
    assert left[1] < 1e-3 * left[0]
    smooth = Shaped.of(smooth_move([0.0], [1.0], 0.1), [4.0, 9.0])
    assert len(smooth.shares) == 4
    close(smooth.derivatives(smooth.duration + 1e-3)[:, 0], [1.0, 0, 0, 0, 0], 1e-12)
    close(np.unique(smooth.delays), [0.0, 1 / 18, 1 / 8, 1 / 8 + 1 / 18], 1e-12)


def test_motions_have_the_derivatives_that_they_say():
    times = np.array([0.0, 0.4, 0.9, 1.3, 2.0])
    points = np.random.default_rng(0).uniform(-1, 1, (5, 2))
    spline = smooth_spline(times, points)
    close(spline(times).q, points, 1e-12)
    wave = np.linspace(0, 2, 401)
    calm = smoothed(wave, np.sin(2 * wave)[:, None] + 0.01 * np.sin(600 * wave)[:, None], 20.0)
    close(
        calm.derivatives(1.0)[:3, 0],
        np.sin(2.0) * np.array([1, 0, -4]) + [0, 2 * np.cos(2.0), 0],
        2e-3,
    )
    for motion in (smooth_move(START, END, 1.5), spline, calm):
        t, h = 0.61, 1e-3
        around = motion.derivatives(t + h * np.array([-2, -1, 1, 2]))
        slopes = np.tensordot([1, -8, 8, -1], around[:-1], (0, 1)) / (12 * h)
        close(slopes, motion.derivatives(t)[1:], 1e-6)
    for motion in (smooth_move(START, END, 1.5), spline):
        for t in (0.0, motion.duration):
            close(motion.derivatives(t)[1:4], np.zeros((3, 2)), 1e-8)
    close(smooth_move(START, END, 1.5).derivatives([0.0, 1.5])[4], np.zeros((2, 2)), 1e-8)


def test_what_is_missing_is_named():
    with pytest.raises(
        TrajectoryError, match=r"Piecewise has q, q̇ and q̈, and its jerk .* smooth_move"
    ):
        ElasticFeedforward(TWO, quintic(START, END, 1.0))
    with pytest.raises(ModelError, match="no joint has a transmission_stiffness"):
        armdyn.simulate(armdyn.load("two_link"), [0, 0], elastic=True)
    with pytest.raises(UnknownNameError, match="sensing"):
        armdyn.simulate(TWO, START, elastic="gears")
    with pytest.raises(SimulationError, match=r"expected 2 torques of motors, shape \(2,\)"):
        armdyn.simulate(TWO, START, torque=lambda t, q, qd: np.zeros(4), elastic=True)
    with pytest.raises(TrajectoryError, match="one for each of 3 points, from 0 on"):
        smooth_spline([0, 1], [[0.0], [1.0], [2.0]])
    with pytest.raises(TrajectoryError, match="less than 5 Hz"):
        smoothed(np.linspace(0, 1, 11), np.zeros((11, 1)), 6.0)
    hold = GravityPD(TWO, START, kp=2000.0, kd=60.0)
    run = armdyn.simulate(TWO, START, duration=0.05, controller=hold, elastic="links", rtol=1e-6)
    assert run.reference.shape == run.q.shape
