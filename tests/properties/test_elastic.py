"""Laws of transmissions that give: rates of torques, motors and links, vibrations, statics."""

from dataclasses import replace

import numpy as np
import pytest

import armdyn
from armdyn.errors import ModelError, SingularityError
from armdyn.model import Transmission
from support.arms import ARMS
from support.elastic_arms import elastic_arm, polynomial
from support.peers import close
from support.textbook_quantities import FIRST, SECOND

WITH_BODIES = pytest.mark.arms(where=lambda arm: arm.bodies != "regrouped")
QUICKER = pytest.mark.arms(where=lambda arm: arm.bodies != "regrouped" and arm.seed > 5)


def test_rates_of_torques_are_their_derivatives_along_a_motion(arm):
    robot, motion, h = elastic_arm(arm), polynomial(arm), 5e-3
    # where no joint is slow: powers of a speed have no slope at rest
    t = max(np.linspace(0, 1, 41), key=lambda t: np.abs(motion(t, 1)).min())
    found = robot.inverse_dynamics_rates(*(motion(t, k) for k in range(5)))
    times = t + h * np.arange(-4, 5)
    torques = np.array([robot.inverse_dynamics(*(motion(x, k) for k in range(3))) for x in times])
    close(found[0], torques[4], 1e-12)
    close(found[1], FIRST @ torques / h, 1e-7)
    close(found[2], SECOND @ torques / h**2, 1e-5)


@WITH_BODIES
def test_motors_make_links_follow_a_motion_up_to_its_snap(arm):
    elastic, motion = elastic_arm(arm).elastic, polynomial(arm)
    q, qd, qdd, jerk, snap = (motion(0.2, k) for k in range(5))
    motors = elastic.inverse_dynamics(q, qd, qdd, jerk, snap)
    found = elastic.forward_dynamics(q, qd, motors.theta, motors.thetad, motors.tau)
    M = elastic.both.mass_matrix(elastic.joined(q, q))
    size = np.sqrt(np.diagonal(M))
    condition = np.linalg.cond(M / np.outer(size, size))
    scale = max(1.0, *(np.abs(x).max() for x in (qdd, motors.thetadd)))
    close(found[0], qdd, 1e-11 * condition * scale)
    close(found[1], motors.thetadd, 1e-11 * condition * scale)
    # θ̈ is the second derivative of θ
    h, times = 1e-2, 0.2 + 1e-2 * np.arange(-4, 5)
    theta = [elastic.inverse_dynamics(*(motion(t, k) for k in range(5))).theta for t in times]
    close(motors.thetad, FIRST @ np.array(theta) / h, 1e-8)
    close(motors.thetadd, SECOND @ np.array(theta) / h**2, 1e-6)


@QUICKER
def test_stiff_transmissions_tend_to_the_rigid_arm_as_their_compliance(arm):
    motion = [polynomial(arm)(0.2, k) for k in range(5)]
    rigid = elastic_arm(arm)
    bend, friction = [], {"friction": False}
    for k in (1.0, 10.0, 100.0):
        elastic = elastic_arm(arm, stiffer=k).elastic
        tau = elastic.inverse_dynamics(*motion, **friction).tau
        bend.append(k * (tau - rigid.inverse_dynamics(*motion[:3], **friction)))
    scale = 1.0 + np.abs(tau).max()
    close(bend[1] / scale, bend[0] / scale, 1e-9)
    close(bend[2] / scale, bend[0] / scale, 1e-8)
    sigma = rigid.elastic.links.inverse_dynamics_rates(*motion, **friction)[2]
    expected = np.zeros(rigid.n)
    places = rigid.elastic.places
    expected[places] = rigid.elastic.motor_inertia * sigma[places] / rigid.elastic.stiffness
    close(bend[0] / scale, expected / scale, 1e-10)


@QUICKER
def test_power_of_motors_is_what_energy_gains_and_dampers_take(arm):
    elastic = elastic_arm(arm, damping=1e-3, spins=True).elastic
    model = elastic.both.model
    frictionless = replace(
        elastic.robot.model,
        joints=tuple(replace(x, friction=type(x.friction)()) for x in elastic.robot.model.joints),
    )
    elastic = elastic.robot._other(frictionless).elastic
    rng = np.random.default_rng(arm.seed)
    q, qd, thetad, tau = rng.normal(size=(4, elastic.n))
    y = elastic.joined(q, q + 1e-3 * rng.normal(size=elastic.n))
    q, theta = elastic.parted(y)
    _, thetad = elastic.parted(elastic.joined(qd, thetad))
    qdd, thetadd = elastic.forward_dynamics(q, qd, theta, thetad, tau)
    h, energies = 2e-6, []
    for s in (-h, h):
        (x, v), (p, w) = (
            (x + s * v + s**2 / 2 * a, v + s * a)
            for x, v, a in ((q, qd, qdd), (theta, thetad, thetadd))
        )
        energies.append(elastic.kinetic_energy(x, v, w) + elastic.potential_energy(x, p))
    twist = (thetad - qd)[elastic.places]
    power = elastic.driven(tau) @ elastic.joined(qd, thetad) - elastic.damping @ twist**2
    gained = (energies[1] - energies[0]) / (2 * h)
    scale = np.abs(tau * thetad).sum() + np.abs(elastic.damping * twist**2).sum() + 1.0
    assert abs(gained - power) < 1e-5 * scale
    assert len(model.joints) == len(elastic.model.joints) + len(elastic.places)


@QUICKER
def test_modes_are_poles_and_zeros_of_the_linearisation(arm):
    elastic, q = elastic_arm(arm, spins=True).elastic, arm.states()[0]
    rest = replace(
        elastic.robot.model,
        joints=tuple(replace(x, friction=type(x.friction)()) for x in elastic.robot.model.joints),
    )
    elastic = elastic.robot._other(rest).elastic
    A, B = elastic.linearisation(q)
    free, locked = elastic.modes(q), elastic.modes(q, "locked")
    squared = np.sort(-np.linalg.eigvals(A[len(A) // 2 :, : len(A) // 2]).real)
    close(np.sort(free.squared), squared, 1e-8)
    assert (np.diff(free.squared) >= 0).all()
    M = elastic.both.mass_matrix(elastic.joined(q, q))
    close(free.shapes.T @ M @ free.shapes, np.eye(len(M)), 1e-9)
    assert B.shape == (len(A), elastic.n)
    close(M @ B[len(M) :], elastic.driven(np.eye(elastic.n)).T, 1e-9)
    # each locked frequency is below a free one of the same rank (Rayleigh)
    assert (locked.squared <= free.squared[elastic.n :] * (1 + 1e-9)).all()
    np.testing.assert_allclose(2 * np.pi * locked.frequencies, np.sqrt(locked.squared))


@QUICKER
def test_links_at_rest_hang_on_their_springs(arm):
    elastic, q = elastic_arm(arm).elastic, arm.states()[0]
    rest = elastic.equilibrium(q, arm.wrench())
    still = np.zeros(elastic.n)
    state = q, still, rest.theta, still, rest.tau
    for found in elastic.forward_dynamics(*state, arm.wrench(), friction=False):
        close(found, still, 1e-8)
    close(elastic.resting(rest.theta, arm.wrench()), q, 1e-10)
    stiff = elastic_arm(arm, stiffer=1e5).elastic
    moved = stiff.pose_error(q)
    given = -stiff.robot.jacobian(q) @ stiff.wind_up(q)
    scale = np.abs(given).max() + 1e-14  # no transmission may be below the tool
    close(moved / scale, given / scale, 1e-5)


def test_torques_of_both_sides_are_linear_in_stiffness_and_damping():
    elastic = elastic_arm(ARMS["cylindrical"], damping=1e-3).elastic
    rng = np.random.default_rng(0)
    motion, motors = rng.normal(size=(2, 3, 4, elastic.n))
    Y, names = elastic.regressor(motion, motors), elastic.both.parameter_names
    y = [elastic.joined(*pair) for pair in zip(motion, motors, strict=True)]
    close(Y @ elastic.both.parameters(), elastic.both.inverse_dynamics(*y), 1e-11)
    for k, (i, name) in enumerate((i, elastic.model.joints[i].name) for i in elastic.places):
        column = Y[..., names.index(f"{name} transmission.stiffness")]
        close(column[:, elastic.n + k], motors[0][:, i] - motion[0][:, i])
        close(column[:, i], motion[0][:, i] - motors[0][:, i])
        column = Y[..., names.index(f"{name} damper.viscous")]
        close(column[:, elastic.n + k], motors[1][:, i] - motion[1][:, i])


@pytest.mark.parametrize("name", ["ball_screw", "mixed_tree", "elbow"])
@pytest.mark.parametrize("side", ["motor", "link"])
def test_motors_behind_dampers_make_links_follow_a_motion(name, side):
    arm = ARMS[name]
    elastic = elastic_arm(arm, damping=2e-2, side=side).elastic
    t = np.linspace(0.0, 0.5, 41)
    motion = np.array([[polynomial(arm)(x, k) for x in t] for k in range(5)])
    q, qd, qdd = motion[:3]
    motors = elastic.feedforward(t, motion)
    moved = elastic.forward_dynamics(q, qd, motors.theta, motors.thetad, motors.tau)
    scale = np.abs(motors.thetadd).max()
    close(moved[0], qdd, 1e-9 * scale)
    close(moved[1], motors.thetadd, 1e-9 * scale)
    # θ̇ and θ̈ are derivatives of θ
    slope = np.gradient(motors.theta, t[1], axis=0, edge_order=2)
    assert np.abs(slope - motors.thetad)[2:-2].max() < 1e-2 * np.abs(motors.thetad).max()
    nearly = elastic_arm(arm, damping=1e-9, side=side).elastic.feedforward(t, motion)
    undamped = elastic_arm(arm, side=side).elastic.feedforward(t, motion)
    for found, expected in zip(nearly, undamped, strict=True):
        close(found[1:], expected[1:], 1e-6)


def test_a_periodic_motion_has_a_periodic_wind_up():
    elastic = elastic_arm(ARMS["screws"], damping=5e-2).elastic
    t = np.linspace(0.0, 2.0, 401)
    w = np.pi * np.arange(1, elastic.n + 1)
    wave = np.sin(w * t[:, None]), np.cos(w * t[:, None])
    motion = [wave[k % 2] * (-1) ** (k // 2) * w**k for k in range(5)]
    found = elastic.feedforward(t, motion, "periodic", friction=False)
    for rows in found:
        close(rows[0], rows[-1], 1e-9)
    rest = elastic.feedforward(t, motion, friction=False)
    assert np.abs(rest.theta[1] - found.theta[1]).max() > 1e-9
    close(rest.theta[-1], found.theta[-1], 1e-9)


# one joint

M, G, K, B = 1.0 / 3.0 * 4.0 * 0.5**2, 9.81 * 4.0 * 0.25, 3000.0, 1e-4 * 80.0**2
ROW = dict(
    joint="revolute", a=0.5, mass=4.0, com=(-0.25, 0, 0), inertia=(0, 1 / 12, 1 / 12),
    rotor_inertia=1e-4, gear_ratio=80.0, transmission_stiffness=K,
)  # fmt: skip
ONE = armdyn.from_dh([ROW], gravity=(0, -9.81, 0), name="one")


def test_one_link_is_that_of_textbooks():
    q, elastic = np.array([0.4]), ONE.elastic
    slope = -G * np.sin(0.4)
    close(elastic.wind_up(q), [G * np.cos(0.4) / K], 1e-12)
    close(elastic.modes(q, "locked").squared, [(K + slope) / M], 1e-10)
    # M B s⁴ - (B (K + slope) + M K) s² + K slope
    s = np.roots([M * B, -(B * (K + slope) + M * K), K * slope])
    close(elastic.modes(q).squared, np.sort(s), 1e-9)
    weightless = ONE.with_gravity([0, 0, 0]).elastic
    close(weightless.modes(q).squared, [0.0, K * (1 / M + 1 / B)], 1e-9)
    rates = [np.array([x]) for x in (0.4, 1.5, -2.0, 3.0, 7.0)]
    motors = elastic.inverse_dynamics(*rates)
    _, v, a, j, snap = (x[0] for x in rates)
    g = [np.cos(0.4), -np.sin(0.4) * v, -np.cos(0.4) * v**2 - np.sin(0.4) * a]
    sigma = [M * x + G * y for x, y in zip((a, j, snap), g, strict=True)]
    close(motors.tau, [B * (a + sigma[2] / K) + sigma[0]], 1e-11)
    close(motors.theta, [0.4 + sigma[0] / K], 1e-12)
    close(motors.thetad, [v + sigma[1] / K], 1e-12)


def test_the_softest_place_of_a_workspace_is_found():
    two = armdyn.from_dh([ROW | {"name": "a"}, ROW | {"name": "b"}], gravity=(0, 0, 0), name="two")
    frequency, q = two.with_limits([(-2, 2), (-3, 3)]).elastic.slowest("locked", samples=50)
    assert abs(q[1]) < 1e-3  # stretched out
    close(frequency, two.elastic.modes(q, "locked").frequencies[0], 1e-12)
    held = ONE.with_payload(2.0).elastic.modes([0.0], "locked").frequencies
    assert held < ONE.elastic.modes([0.0], "locked").frequencies


def test_what_has_no_motor_apart_is_refused():
    with pytest.raises(ModelError, match=r"elastic of 'two_link': no joint has a transmission_st"):
        _ = armdyn.load("two_link").elastic
    with pytest.raises(ModelError, match=r"the motor has no inertia; give it a rotor_inertia"):
        armdyn.load("ur5e").with_elasticity(1e4)
    hand = ARMS["hand"].model
    follower = replace(hand.joints[2], transmission=Transmission(1e3))
    joints = (*hand.joints[:2], follower, *hand.joints[3:])
    with pytest.raises(ModelError, match=r"'joint3': it follows others and has no motor of its ow"):
        _ = armdyn.Robot(replace(hand, joints=joints)).elastic
    motion = np.zeros((5, 1))
    spins = ONE.with_rotor("joint1", axis=[0, 0, 1], carrier="base")
    with pytest.raises(ModelError, match=r"two more derivatives of the motion for each joint"):
        spins.elastic.inverse_dynamics(*motion)
    close(spins.elastic.reduced.inverse_dynamics(*motion).tau, [G])
    damped = ONE.with_elasticity(K, 5.0)
    with pytest.raises(ModelError, match=r"follows from the motion until then; robot.elastic.feed"):
        damped.elastic.inverse_dynamics(*motion)
    dry = ONE.with_joint("joint1", coulomb=1.0, friction_side="link")
    for ask in (dry.inverse_dynamics_rates, dry.elastic.inverse_dynamics):
        with pytest.raises(ModelError, match=r"jumps with the sign .* give it a smooth_velocity"):
            ask(*motion)
    assert np.isfinite(dry.elastic.inverse_dynamics(*motion, friction=False).tau).all()
    with pytest.raises(SingularityError, match=r"the transmissions are too soft for weight"):
        ONE.with_elasticity(5.0).elastic.resting([np.pi / 2])  # upright


@pytest.mark.slow
@pytest.mark.parametrize("name", ["four_bar", "delta"])
def test_motors_of_closed_loops_give_too(name):
    robot = armdyn.load(name)
    for joint in robot.joint_names:
        robot = robot.with_joint(joint, rotor_inertia=2e-4, gear_ratio=50.0)
    elastic = robot.with_elasticity(5e3).elastic
    rates = np.random.default_rng(0).normal(size=(4, robot.n))
    motors = elastic.inverse_dynamics(robot.start, *rates, friction=False)
    state = robot.start, rates[0], motors.theta, motors.thetad
    qdd, thetadd = elastic.forward_dynamics(*state, motors.tau, friction=False)
    close(qdd, rates[1], 1e-9)
    close(thetadd, motors.thetadd, 1e-9)
