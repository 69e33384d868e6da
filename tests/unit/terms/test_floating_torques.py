"""Torques along motions of joints whose base nothing holds: it moves as their momentum says."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import armdyn
from armdyn import BaseMotion, BaseState, Inertia
from armdyn.errors import ArmdynError, SimulationError
from armdyn.io.csv.trajectory import SampledMotion, trajectory_from_csv
from armdyn.study.terms.torques import torque_report

pytestmark = pytest.mark.slow
ROD = {"joint": "revolute", "mass": 1.5, "com": [-0.2, 0.05, 0.02], "viscous": 0.1}
ROWS = [
    ROD | {"d": 0.2, "alpha": np.pi / 2, "inertia": np.diag([1, 3, 3]) / 50},
    ROD | {"a": 0.5, "inertia": np.diag([1, 2, 2]) / 50},
    ROD | {"a": 0.4, "alpha": 0.7, "inertia": np.diag([1, 4, 3]) / 50},
]
Q, QD = np.array([0.3, -0.6, 0.9]), np.array([0.8, -1.1, 0.7])
START = BaseState(
    Rotation.from_rotvec([0.3, -0.7, 0.4]).as_matrix(), [1, 2, 3], [0.1, 0.2, -0.1, 0.9, -0.6, 0.4]
)
WRENCH = np.array([1.0, 0.5, -0.3, 0.02, 0.1, -0.05])


@cache
def satellite():
    arm = armdyn.from_dh(ROWS, gravity=(1.0, -2.0, -3.0), name="satellite")
    bus = Inertia.box((0.4, 0.5, 0.3), mass=8.0).moved((0.05, 0, -0.2))
    return arm.with_link(arm.model.base_link.name, bus)


@cache
def flight(pull=False):
    """A simulated motion under torques, and perhaps a wrench on the hand."""
    return armdyn.simulate(
        *(satellite(), Q, QD, 1.0),
        base=START,
        torque=lambda t, *_: np.array([0.3, -0.2, 0.1 * np.sin(5 * t)]),
        external_wrench=WRENCH if pull else None,
        dt=0.01,
    )


def motion_of(found):
    return SampledMotion(found.t, found.q, found.qd, found.qdd)


@pytest.mark.parametrize("pull", [False, True])
def test_torques_of_a_simulated_motion_are_those_that_caused_it(pull):
    found = flight(pull)
    wrench = WRENCH if pull else None
    report = torque_report(satellite(), motion_of(found), base=START, external_wrench=wrench)
    np.testing.assert_allclose(report.total, found.tau, atol=1e-7)
    np.testing.assert_allclose(report.floating, found.floating, atol=1e-6)
    for name, values in found.terms().items():
        if name in report.terms:
            np.testing.assert_allclose(report.terms[name], values, atol=1e-6)
    assert report.residual < 1e-12
    assert report.terms["external"].any() == pull
    np.testing.assert_allclose(report.hand.velocity, found.hand.velocity, atol=1e-7)


def test_momentum_is_kept_to_rounding_along_any_motion():
    robot = satellite().with_gravity([0, 0, 0])
    free, found = robot.free_base, flight()
    report = torque_report(robot, motion_of(found), base=START)
    base = BaseState.of(report.floating[:, :12], report.floating[:, 12:18])
    h = free.centroidal_momentum(base, found.q, found.qd)
    np.testing.assert_allclose(h, np.broadcast_to(h[0], h.shape), atol=1e-13)
    R = np.asarray(base.rotation)
    np.testing.assert_allclose(
        R @ np.swapaxes(R, 1, 2), np.tile(np.eye(3), (101, 1, 1)), atol=1e-13
    )


def test_the_ground_carries_nothing():
    """Reactions are those of a base whose motion is prescribed, which needs no force here."""
    report = torque_report(satellite(), motion_of(flight()), base=START, reactions=True)
    carried = report.reactions.world
    assert np.abs(carried[:, 0]).max() < 1e-10 * np.abs(carried).max()
    book = torque_report(satellite(), motion_of(flight()), base=START, formulation="newton_euler")
    np.testing.assert_allclose(book.total, report.total, atol=1e-10)


def test_a_wrench_in_axes_of_a_link_turns_with_it():
    found = flight()
    options = {"base": START, "wrench_link": "tool"}
    own = torque_report(
        satellite(), motion_of(found), external_wrench=WRENCH, wrench_frame="tool", **options
    )
    base = BaseState.of(own.floating[:, :12], own.floating[:, 12:18])
    R = satellite().free_base.forward_kinematics(base, found.q, "tool")[:, :3, :3]
    turned = np.einsum("mij,kj->mki", R, WRENCH.reshape(2, 3)).reshape(-1, 6)
    world = torque_report(satellite(), motion_of(found), external_wrench=turned, **options)
    # between its instants this wrench is on straight lines
    np.testing.assert_allclose(world.total, own.total, atol=1e-3)
    np.testing.assert_allclose(world.floating[0], own.floating[0], atol=1e-12)


def test_a_file_says_where_the_base_is(tmp_path):
    """As simulations write it; the acceleration and the torques follow from it at each instant."""
    flight().save(tmp_path / "flight.csv")
    robot = satellite()
    motion = trajectory_from_csv(tmp_path / "flight.csv", robot.model, base=True)
    report = torque_report(robot, motion)
    np.testing.assert_allclose(report.total, flight().tau, atol=1e-9)
    np.testing.assert_allclose(report.floating, flight().floating, atol=1e-9)
    floats = armdyn.Robot(replace(robot.model, floating=True))
    named = torque_report(floats, tmp_path / "flight.csv")
    np.testing.assert_array_equal(named.total, report.total)
    for twice in ({"base": START}, {"base_motion": BaseMotion()}):
        with pytest.raises(ArmdynError, match="has a base already, in the columns base_x to"):
            torque_report(robot, motion, **twice)
    columns = report.columns()
    np.testing.assert_array_equal(columns["base_wdx"], report.floating[:, 21])
    assert "it ends" in report.report()
    held = trajectory_from_csv(tmp_path / "flight.csv", robot.model)
    assert held.base is None
    text = (tmp_path / "flight.csv").read_text().replace("base_qw", "turned")
    (tmp_path / "flight.csv").write_text(text)
    with pytest.raises(ArmdynError, match="the column base_qw is missing; expected all of base_x"):
        trajectory_from_csv(tmp_path / "flight.csv", robot.model, base=True)


def test_one_state_has_the_base_at_rest_unless_said_otherwise():
    robot = armdyn.Robot(replace(satellite().model, floating=True))
    one = SampledMotion(np.zeros(1), Q[None], QD[None], QD[None])
    report = torque_report(robot, one)
    free = robot.free_base
    a, tau = free.inverse_dynamics(free.standing, Q, QD, QD)
    np.testing.assert_allclose(report.total[0], tau, atol=1e-12)
    np.testing.assert_allclose(report.floating[0, 18:], a, atol=1e-12)
    with pytest.raises(SimulationError, match="base_motion moves a base that is held"):
        torque_report(robot, one, base_motion=BaseMotion())
