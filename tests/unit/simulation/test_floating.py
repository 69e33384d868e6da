"""Motions of arms whose base nothing holds: what is kept, what is given, and what is refused."""

import csv
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import armdyn
from armdyn import BaseState, Inertia
from armdyn.errors import ModelError, SimulationError
from armdyn.simulation import (
    CartesianImpedance,
    ComputedTorque,
    GravityPD,
    OperationalSpace,
    SlotineLi,
    simulate,
)

pytestmark = pytest.mark.slow
ROD = {
    "joint": "revolute",
    "mass": 1.5,
    "com": [-0.2, 0.05, 0.02],
    "inertia": np.diag([1, 3, 3]) / 50,
}
ROWS = [
    ROD | {"d": 0.2, "alpha": np.pi / 2, "viscous": 0.2},
    ROD | {"a": 0.5, "limits": [-1.5, 1.5]},
    ROD | {"a": 0.4, "alpha": 0.7, "limits": [-1.5, 1.5]},
]
Q, QD = np.array([0.3, -0.6, 0.9]), np.array([0.8, -1.1, 0.7])
START = BaseState(
    Rotation.from_rotvec([0.3, -0.7, 0.4]).as_matrix(),
    [1.0, 2.0, 3.0],
    [0.1, 0.2, -0.1, 0.9, -0.6, 0.4],
)


@cache
def satellite(gravity=(0, 0, 0), mass=8.0):
    arm = armdyn.from_dh(ROWS, gravity=gravity, name="satellite")
    bus = Inertia.box((0.4, 0.5, 0.3), mass=mass).moved((0.05, 0, -0.2))
    return arm.with_link(arm.model.base_link.name, bus)


def momenta(simulation):
    free = simulation.robot.free_base
    return free.centroidal_momentum(simulation.base_state, simulation.q, simulation.qd)


def assert_laws(simulation, load=None):
    """Newton's law of base and joints, a rotation that is one, a balance of energy."""
    free, base, s = simulation.robot.free_base, simulation.base_state, simulation
    R = np.asarray(base.rotation)
    np.testing.assert_allclose(
        R @ np.swapaxes(R, -1, -2), np.broadcast_to(np.eye(3), R.shape), atol=1e-12
    )
    motion = np.concatenate([s.base_frame.acceleration, s.qdd], -1)
    needed = np.einsum("...ij,...j->...i", free.mass_matrix(base, s.q), motion)
    needed += free.bias(base, s.q, s.qd)
    joints = s.tau - s.friction + s.stop + s.external
    given = np.concatenate(
        [np.zeros((*joints.shape[:-1], 6)) if load is None else load, joints], -1
    )
    np.testing.assert_allclose(needed, given, atol=1e-9 * (1 + np.abs(given).max()))
    np.testing.assert_allclose(
        sum(s.terms().values()), s.tau, atol=1e-9 * (1 + np.abs(given).max())
    )
    assert s.status == "finished"
    assert s.energy_drift < 1e-7


def test_a_hundred_seconds_of_free_flight_keep_momentum_and_energy():
    """With steps of 4 ms; nothing but rounding changes the momentum."""
    robot = satellite()
    flight = simulate(robot, Q, QD, 100.0, base=START, method="rk4", step=4e-3, friction=False)
    h = momenta(flight)
    assert np.abs(h - h[0]).max() < 1e-13 * np.abs(h).max()
    assert flight.energy_drift < 1e-8
    c = robot.free_base.center_of_mass(flight.base_state, flight.q)
    straight = c[0] + flight.t[:, None] * h[0, :3] / robot.total_mass
    np.testing.assert_allclose(c, straight, atol=1e-9)
    turned = np.asarray(flight.base_state.rotation)[..., :, 0]
    assert np.ptp(turned, axis=0).min() > 0.5


@pytest.mark.parametrize("gravity", [(0.0, 0.0, 0.0), (1.0, -2.0, -9.0)])
def test_methods_agree_and_weight_alone_changes_momentum(gravity):
    """Compiled steps, steps that ask Python, and steps that the method chooses."""
    robot = satellite(gravity)
    torque = np.array([0.3, -0.2, 0.1])
    options = {"duration": 2.0, "base": START, "friction": False, "dt": 0.1}
    chosen = simulate(robot, Q, QD, torque=torque, **options)
    fixed = simulate(robot, Q, QD, torque=torque, method="rk4", step=1e-3, **options)
    asked = simulate(robot, Q, QD, torque=lambda *_: torque, method="rk4", step=5e-3, **options)
    h = momenta(chosen)
    drawn = robot.total_mass * np.outer(chosen.t, gravity)
    np.testing.assert_allclose(h[:, :3] - h[0, :3], drawn, atol=1e-11 * np.abs(drawn).max() + 1e-12)
    np.testing.assert_allclose(h[:, 3:], np.broadcast_to(h[0, 3:], h[:, 3:].shape), atol=1e-12)
    for other, tolerance in ((fixed, 1e-8), (asked, 1e-6)):
        np.testing.assert_allclose(other.q, chosen.q, atol=tolerance)
        np.testing.assert_allclose(other.floating, chosen.floating, atol=100 * tolerance)
    assert asked.energy_drift < 1e-8
    assert_laws(chosen)


def test_many_arms_move_as_each_does():
    robot = satellite()
    rng = np.random.default_rng(0)
    q, qd = rng.uniform(-1, 1, (2, 5, 3))
    twists = rng.normal(size=(5, 6))
    options = {"duration": 0.5, "method": "rk4", "step": 1e-2, "friction": False}
    many = simulate(robot, q, qd, base=BaseState(twist=twists), **options)
    for k in range(5):
        one = simulate(robot, q[k], qd[k], base=BaseState(twist=twists[k]), **options)
        np.testing.assert_allclose(many.floating[k], one.floating, atol=1e-12)
        assert np.array_equal(many.q[k], one.q)
    assert many.columns()["base_qw"].shape == (5 * len(many.t),)


def test_joints_stick_slip_and_hit_while_the_base_floats():
    """What happens within the arm changes neither momentum, and the energy lost is accounted for."""
    dry = {"coulomb": 0.04, "stribeck": 0.02, "stribeck_velocity": 0.1}
    robot = satellite()
    for name in robot.joint_names[1:]:
        robot = robot.with_joint(name, **dry)
    motion = simulate(robot, Q, 3 * QD, 12.0, base=START, stops=True, bounce=0.3)
    kinds = {event.kind for event in motion.events}
    assert {"hits", "sticks"} <= kinds
    h = momenta(motion)
    np.testing.assert_allclose(h, np.broadcast_to(h[0], h.shape), atol=1e-12)
    assert motion.work[-1, 3] > 1e-3
    assert_laws(motion)


def test_a_wrench_on_the_hand_drives_the_whole():
    robot = satellite()
    wrench = np.array([1.0, 0.5, -0.3, 0.02, 0.1, -0.05])
    motion = simulate(robot, Q, 0 * QD, 1.0, base=START, friction=False, external_wrench=wrench)
    free, base = robot.free_base, motion.base_state
    assert_laws(motion, load=wrench @ free.jacobian(base, motion.q)[..., :6])
    h = momenta(motion)
    np.testing.assert_allclose(h[:, :3] - h[0, :3], np.outer(motion.t, wrench[:3]), atol=1e-11)
    named = simulate(
        robot, Q, 0 * QD, 1.0, base=START, friction=False, external_wrench={"tool": wrench}
    )
    assert np.array_equal(named.q, motion.q)


def test_a_heavy_base_holds_the_arm():
    """As the mass of the base grows, the arm moves as one that is held."""
    robot = satellite(mass=1e9, gravity=(0, 0, 0))
    free = simulate(robot, Q, QD, 1.0, base=robot.free_base.standing)
    held = simulate(robot, Q, QD, 1.0)
    np.testing.assert_allclose(free.q, held.q, atol=1e-6)
    np.testing.assert_allclose(free.hand.position, held.hand.position, atol=1e-6)
    np.testing.assert_allclose(free.hand.acceleration, held.hand.acceleration, atol=1e-4)


def test_the_hand_moves_as_its_frames_do():
    motion = simulate(satellite(), Q, QD, 1.0, base=START, friction=False, dt=1e-3)
    inner = slice(2, -2)
    for frame in (motion.hand, motion.base_frame):
        rate = np.gradient(frame.position, motion.t, axis=0)
        np.testing.assert_allclose(rate[inner], frame.velocity[inner, :3], atol=1e-4)
        rate = np.gradient(frame.velocity, motion.t, axis=0)
        np.testing.assert_allclose(rate[inner], frame.acceleration[inner], atol=1e-3)
        R = frame.pose[:, :3, :3]
        turn = Rotation.from_matrix(R[2:] @ np.swapaxes(R[:-2], -1, -2)).as_rotvec() / 2e-3
        np.testing.assert_allclose(turn, frame.velocity[1:-1, 3:], atol=1e-4)


@pytest.mark.parametrize("law", ["operational", "impedance"])
def test_the_hand_is_held_in_the_world_while_the_base_floats(law):
    """Against a base that drifts and turns; three coordinates of three joints."""
    robot = satellite()
    base = BaseState(START.rotation, START.position, [0.03, -0.02, 0.01, 0.05, -0.04, 0.02])
    place = robot.free_base.forward_kinematics(base, Q)
    if law == "operational":
        controller = OperationalSpace(robot, place, task=("x", "y", "z"))
    else:
        controller = CartesianImpedance(
            robot, place, (500, 500, 500, 0, 0, 0), (90, 90, 90, 0, 0, 0)
        )
    motion = simulate(robot, Q, 0 * QD, 1.5, base=base, friction=False, controller=controller)
    error = np.linalg.norm(motion.hand.position - place[:3, 3], axis=-1)
    assert error[-1] < (1e-6 if law == "operational" else 5e-3)
    assert np.linalg.norm(motion.base_state.position[-1] - START.position) > 0.03
    h = momenta(motion)
    np.testing.assert_allclose(h, np.broadcast_to(h[0], h.shape), atol=1e-12)


@pytest.mark.parametrize("controller", [GravityPD, ComputedTorque])
def test_joints_are_brought_where_they_shall_be_in_free_fall(controller):
    robot = satellite(gravity=(0, 0, -9.81))
    law = controller(robot, np.zeros(3), kp=20.0, kd=9.0)
    motion = simulate(robot, Q, 0 * QD, 4.0, base=START, friction=False, controller=law)
    assert np.abs(motion.q[-1]).max() < 0.05
    assert motion.base_state.position[-1, 2] < -70


def test_the_file_has_the_base(tmp_path):
    motion = simulate(satellite(), Q, QD, 0.2, base=START, friction=False, dt=0.1)
    motion.save(tmp_path / "motion.csv")
    with open(tmp_path / "motion.csv") as file:
        (*_, last) = csv.DictReader(file)
    given = [float(last[f"base_{name}"]) for name in ("x", "y", "z", "qw", "qx", "qy", "qz")]
    R = Rotation.from_quat([*given[4:], given[3]]).as_matrix()
    np.testing.assert_allclose(given[:3], motion.base_state.position[-1], rtol=1e-11)
    np.testing.assert_allclose(R, motion.base_state.rotation[-1], atol=1e-11)
    assert float(last["base_wx"]) == pytest.approx(motion.floating[-1, 15])
    assert motion.data()["base"]["position"] == motion.base_state.position[-1].tolist()
    motion.plot(tmp_path / "motion.png")


def test_a_robot_whose_base_floats_starts_where_it_stands():
    robot = satellite()
    floats = armdyn.Robot(replace(robot.model, floating=True))
    given = simulate(robot, Q, QD, 0.2, base=robot.free_base.standing, friction=False)
    np.testing.assert_array_equal(
        simulate(floats, Q, QD, 0.2, friction=False).floating, given.floating
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "symplectic"}, "symplectic has no base that floats; use a method"),
        ({"method": "rk4", "external_wrench": np.ones(6)}, "rk4 has no external wrench"),
        ({"method": "rk4", "stops": True}, "rk4 has no stops"),
        ({"base_motion": armdyn.BaseMotion()}, "base_motion moves a base that is held; this one"),
        ({"base": np.eye(4)}, "base: expected an armdyn.BaseState, got"),
        ({"base": BaseState(twist=np.zeros((2, 6)))}, r"one arm, got states of shape \(2, 6"),
        ({"torque": lambda t, q, qd: q}, r"TypeError at t = 0 .* called with \(t, q, qd, base\)"),
    ],
)
def test_what_a_base_that_floats_has_not_is_said(options, message):
    with pytest.raises(SimulationError, match=message):
        simulate(satellite(), Q, QD, 0.1, **({"base": START, "friction": False} | options))


def test_a_law_that_needs_a_fixed_base_says_so():
    robot = satellite()
    with pytest.raises(SimulationError, match="SlotineLi knows no base that floats"):
        simulate(robot, Q, QD, 0.1, base=START, controller=SlotineLi(robot, Q))


def test_loops_do_not_float():
    with pytest.raises(ModelError, match="under closed loops is not computed"):
        simulate(armdyn.load("four_bar"), [1.0], base=BaseState())
