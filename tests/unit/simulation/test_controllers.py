"""What each controller promises, seen in a simulation."""

import numpy as np
import pytest

from armdyn import Robot, load, simulate
from armdyn.errors import SimulationError
from armdyn.simulation import (
    CartesianImpedance,
    ComputedTorque,
    Free,
    GravityPD,
    SlotineLi,
    quintic,
)
from support.random_robots import random_model
from support.simulation_laws import moved, planar

pytestmark = pytest.mark.slow

START, OFF = np.array([0.3, -0.4, 0.2]), np.array([0.2, 0.1, -0.15])


@pytest.fixture(scope="module")
def robot():
    return Robot(random_model("RRP", 4, rotors=True))


@pytest.fixture(scope="module")
def motion():
    return quintic(START, [-0.8, 0.6, 0.5], 1.0)


def error(s, motion):
    return np.array([motion(t).q for t in s.t]) - s.q


@pytest.mark.slow
def test_errors_under_computed_torque_obey_their_linear_equation(robot, motion):
    """Underdamped, critical and overdamped in one arm: ë + kd ė + kp e = 0, joint by joint."""
    kp, kd = np.array([100.0, 25.0, 16.0]), np.array([4.0, 10.0, 20.0])
    law = ComputedTorque(robot, motion, kp, kd)
    s = moved(robot, START - OFF, [0.5, 0, -1.0], 1.2, controller=law, rtol=1e-11, atol=1e-12)
    rate = np.array([-0.5, 0, 1.0])
    for i in range(3):
        if kd[i] ** 2 == 4 * kp[i]:
            r = kd[i] / 2
            expected = (OFF[i] + (rate[i] + r * OFF[i]) * s.t) * np.exp(-r * s.t)
        else:
            a, b = np.roots([1, kd[i], kp[i]])
            one = (rate[i] - b * OFF[i]) / (a - b)
            expected = (one * np.exp(a * s.t) + (OFF[i] - one) * np.exp(b * s.t)).real
        np.testing.assert_allclose(error(s, motion)[:, i], expected, atol=1e-9)


@pytest.mark.slow
def test_the_measure_of_slotine_and_li_falls_by_what_is_damped(robot, motion):
    """V = sᵀ M s / 2 has the rate -sᵀ K_d s, which rests on dM/dt - 2C being skew."""
    rate, kd = 4.0, np.array([3.0, 5.0, 8.0])
    law = SlotineLi(robot, motion, rate, kd)
    s = moved(robot, START - OFF, [1.0, -2.0, 0.5], 1.5, controller=law, dt=1e-3)
    e = error(s, motion)
    ed = np.array([motion(t).qd for t in s.t]) - s.qd
    surface = -(ed + rate * e)
    measure = 0.5 * np.einsum("ti,tij,tj->t", surface, robot.mass_matrix(s.q), surface)
    damped = np.einsum("ti,i,ti->t", surface, kd, surface)
    assert (np.diff(measure) <= 1e-12).all()
    assert measure[-1] < 0.5 * measure[0]
    fallen = np.concatenate([[0], np.cumsum(damped[1:] + damped[:-1]) * 0.5e-3])
    np.testing.assert_allclose(measure[0] - measure, fallen, atol=1e-4 * measure[0])


@pytest.mark.slow
@pytest.mark.parametrize("law", [GravityPD, ComputedTorque, SlotineLi])
def test_an_arm_comes_to_the_position_it_is_to_hold(robot, law):
    s = moved(robot, START - 0.5 * OFF, None, 10.0, controller=law(robot, START))
    np.testing.assert_allclose(s.q[-1], START, atol=1e-3)
    assert np.abs(s.qd[-1]).max() < 1e-2


@pytest.mark.parametrize("law", [GravityPD, ComputedTorque, SlotineLi])
def test_an_arm_at_the_position_it_is_to_hold_stays(robot, law):
    s = moved(robot, START, None, 0.5, controller=law(robot, START))
    np.testing.assert_allclose(s.q, np.tile(START, (501, 1)), atol=1e-9)
    np.testing.assert_allclose(s.tau[-1], robot.gravity_vector(START), atol=1e-6)


@pytest.mark.parametrize("law", [ComputedTorque, SlotineLi])
def test_an_arm_that_starts_right_follows_without_error(robot, motion, law):
    s = moved(robot, START, None, 1.2, controller=law(robot, motion))
    np.testing.assert_allclose(error(s, motion), 0, atol=1e-8)


def test_no_controller_is_free_motion(robot):
    free = moved(robot, START, None, 0.5, controller=Free(robot))
    np.testing.assert_array_equal(free.q, moved(robot, START, None, 0.5).q)


@pytest.mark.slow
def test_gravity_compensation_with_a_wrong_payload_sags_by_the_weight_over_the_stiffness():
    model = planar({}, {})
    loaded = model.with_payload(0.5, com=[0, 0, 0])
    target, kp = np.array([1.0, 0.5]), np.array([400.0, 300.0])
    s = moved(loaded, target, None, 4.0, controller=GravityPD(model, target, kp, 25.0))
    assert np.abs(s.qd[-1]).max() < 1e-5
    missing = loaded.gravity_vector(s.q[-1]) - model.gravity_vector(s.q[-1])
    np.testing.assert_allclose(kp * (target - s.q[-1]), missing, atol=1e-3)
    assert np.abs(target - s.q[-1]).max() > 1e-3


@pytest.mark.slow
def test_a_wrong_model_still_follows_but_not_without_error(robot, motion):
    heavy = robot.with_payload(0.3, com=[0.05, 0, 0])
    known = moved(heavy, START, None, 1.2, controller=ComputedTorque(heavy, motion, 400, 40))
    wrong = moved(heavy, START, None, 1.2, controller=ComputedTorque(robot, motion, 400, 40))
    assert np.abs(error(known, motion)).max() < 1e-8
    assert 1e-4 < np.abs(error(wrong, motion)).max() < 0.2


@pytest.mark.slow
def test_friction_that_the_controller_knows_is_compensated(motion):
    robot = Robot(random_model("RRP", 4, friction=True))
    blind = moved(robot, START, None, 0.9, controller=ComputedTorque(robot, motion))
    knows = moved(robot, START, None, 0.9, controller=ComputedTorque(robot, motion, friction=True))
    assert np.abs(error(knows, motion)).max() < 0.1 * np.abs(error(blind, motion)).max()


@pytest.mark.slow
def test_an_impedance_gives_way_as_its_spring_says():
    """At rest the wrench of the environment is balanced by stiffness times deflection."""
    robot = load("ur5e")
    q = np.array([0.3, -1.2, 1.4, -0.6, 0.9, 0.2])
    stiffness = np.array([800.0, 500.0, 600.0, 40.0, 50.0, 30.0])
    wrench = np.array([8.0, -5.0, 6.0, 0.1, -0.125, 0.075])
    place = robot.forward_kinematics(q)
    law = CartesianImpedance(
        robot, place, stiffness, damping=[90, 90, 90, 9, 9, 9], joint_damping=1
    )
    s = moved(robot, q, None, 4.0, controller=law, external_wrench=wrench, method="LSODA", dt=0.1)
    assert np.abs(s.qd[-1]).max() < 1e-3
    T = robot.forward_kinematics(s.q[-1])
    np.testing.assert_allclose(T[:3, 3] - place[:3, 3], (wrench / stiffness)[:3], rtol=1e-3)
    turn = T[:3, :3] @ place[:3, :3].T
    axial = 0.5 * np.array(
        [turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]]
    )
    angle = np.arcsin(np.linalg.norm(axial))
    vector = axial * angle / np.linalg.norm(axial)
    np.testing.assert_allclose(vector, (wrench / stiffness)[3:], rtol=1e-3)


def test_controllers_take_batches_of_states(robot, motion):
    rng = np.random.default_rng(3)
    q, qd = rng.normal(size=(2, 4, 5, 3))
    place = robot.forward_kinematics(START)
    for law in (
        Free(robot),
        GravityPD(robot, motion),
        ComputedTorque(robot, motion, friction=True),
        SlotineLi(robot, START),
        CartesianImpedance(robot, place),
        CartesianImpedance(robot, lambda t: place, joint_damping=[1, 2, 3]),
    ):
        together = law(0.4, q, qd)
        assert together.shape == q.shape
        for index in np.ndindex(4, 5):
            np.testing.assert_allclose(together[index], law(0.4, q[index], qd[index]), atol=1e-9)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda r: GravityPD(r, START, kp=-1.0), "kp: expected a number that is not negative"),
        (
            lambda r: GravityPD(r, START, kp=[1, 2]),
            "kp: expected .* or 3 of them, one for each joint or direction, got",
        ),
        (lambda r: SlotineLi(r, START, rate=np.nan), "rate: expected a number"),
        (
            lambda r: ComputedTorque(r, [0, 1]),
            "target: expected a trajectory or 3 finite positions",
        ),
        (lambda r: ComputedTorque(r, quintic([0, 0], [1, 1], 1.0)), "moves 2 joints, but .* has 3"),
        (lambda r: CartesianImpedance(r, np.ones((4, 4))), "target: expected a 4x4 transform"),
        (
            lambda r: CartesianImpedance(r, np.eye(4), [1, 2]),
            "stiffness: expected a number that .* or 6",
        ),
    ],
)
def test_gains_and_targets_that_cannot_be(robot, make, message):
    with pytest.raises(SimulationError, match=message):
        make(robot)


@pytest.mark.slow
def test_a_controller_that_knows_another_model_is_asked_at_the_stages():
    arm = load("saha_3r")
    law = ComputedTorque(arm, [0.4, -0.2, 0.3], kp=100.0, kd=20.0)
    loaded = arm.with_payload(0.5)
    coarse, fine = (
        simulate(loaded, np.zeros(3), duration=0.5, controller=law, method="rk4", step=step)
        for step in (2e-2, 1e-2)
    )
    smooth = simulate(loaded, np.zeros(3), duration=0.5, controller=law)
    errors = [np.abs(run.q[-1] - smooth.q[-1]).max() for run in (coarse, fine)]
    assert 10 < errors[0] / errors[1] < 24  # of order four
    assert fine.energy_drift < 1e-5
