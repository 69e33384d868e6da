"""Robots of so many joints that compiling them would take minutes."""

from dataclasses import replace

import numpy as np
import pytest

from armdyn.errors import ModelError, ShapeError
from armdyn.kernels import kernel
from armdyn.quantities import quantity as record
from armdyn.robot import Robot
from armdyn.shorten import shortest
from armdyn.shorten.canonical.frames import canonical
from armdyn.shorten.canonical.regroup import Turning, regroup
from armdyn.shorten.minimal import options
from armdyn.shorten.parts import forward_dynamics
from armdyn.thresholds import COMPILED_JOINTS
from support.counted_arms import prepared
from support.random_robots import random_model
from support.textbook_quantities import MODELS, TextbookQuantities

QUANTITIES = {
    "inverse_dynamics": 3, "bias": 2, "gravity_vector": 1, "coriolis_vector": 2,
    "kinetic_energy": 2, "mass_matrix": 1, "ledger": 3, "friction_torque": 1, "potential_energy": 1,
    "forward_kinematics": 1, "jacobian": 1, "jacobian_dot": 2, "forward_dynamics": 3,
}  # fmt: skip


def refuse(*_):
    raise AssertionError("something is compiled")


@pytest.mark.parametrize("name", ["tree", "coupled"])
def test_beyond_a_number_of_joints_every_quantity_is_that_of_the_textbook(monkeypatch, name):
    monkeypatch.setattr(record, "COMPILED_JOINTS", replace(COMPILED_JOINTS, value=3))
    monkeypatch.setattr(kernel, "machine_code", refuse)
    robot, book = Robot(MODELS[name]), TextbookQuantities(MODELS[name])
    states = np.random.default_rng(5).uniform(-1, 1, (3, 4, robot.n))
    for quantity, count in QUANTITIES.items():
        states[1] = np.abs(states[1])
        given = states[1:2] if quantity == "friction_torque" else states[:count]
        options = {"friction": True} if quantity == "bias" else {}
        found, wanted = getattr(robot, quantity)(*given, **options), getattr(book, quantity)(*given)
        if quantity == "ledger":
            found = np.stack(list(found.terms.values()), -2)
        np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-10, err_msg=quantity)


def test_the_motion_of_a_frame_of_a_long_robot_is_that_of_its_jacobian(monkeypatch):
    monkeypatch.setattr(record, "COMPILED_JOINTS", replace(COMPILED_JOINTS, value=3))
    monkeypatch.setattr(kernel, "machine_code", refuse)
    robot = Robot(MODELS["coupled"])
    q, qd, qdd = np.random.default_rng(5).uniform(-1, 1, (3, 4, robot.n))
    J, rate = robot.jacobian(q), robot.jacobian_dot(q, qd)
    wanted = [np.einsum("kij,kj->ki", J, qd), np.einsum("kij,kj->ki", J, qdd)]
    wanted[1] += np.einsum("kij,kj->ki", rate, qd)
    found = robot._run("frame_motion", q, qd, qdd)
    np.testing.assert_allclose(found, np.stack(wanted, 1), rtol=1e-12, atol=1e-12)


@pytest.mark.slow
def test_wrenches_act_on_long_robots_as_on_others(monkeypatch):
    robot = Robot(MODELS["tree"])
    q, qd, qdd = np.random.default_rng(6).uniform(-1, 1, (3, robot.n))
    wrench, at = np.arange(6.0), {"wrench_frame": robot.link_names[-1]}
    compiled = robot.inverse_dynamics(q, qd, qdd, wrench, friction=False, **at)
    monkeypatch.setattr(record, "COMPILED_JOINTS", replace(COMPILED_JOINTS, value=3))
    other = Robot(replace(MODELS["tree"], name="other"))
    tau = other.inverse_dynamics(q, qd, qdd, wrench, friction=False, **at)
    np.testing.assert_allclose(tau, compiled, atol=1e-10)
    terms = other.ledger(q, qd, qdd, wrench, **at)
    np.testing.assert_allclose(terms.total, tau + other.friction_torque(qd), atol=1e-10)
    assert np.abs(terms.external).max() > 0.1
    found = other.forward_dynamics(q, qd, tau, wrench, friction=False, **at)
    np.testing.assert_allclose(found, qdd, atol=1e-9)
    with pytest.raises(ShapeError, match="qd: expected"):
        other.inverse_dynamics(q, qd[1:], qdd)
    with pytest.raises(ModelError, match="friction is True or False"):
        other.inverse_dynamics(q, qd, qdd, friction="no")


def test_three_hundred_joints_are_evaluated_at_once(monkeypatch):
    monkeypatch.setattr(kernel, "machine_code", refuse)
    robot = Robot(random_model("R" * 300, 1))
    q, qd, qdd = np.random.default_rng(7).uniform(-1, 1, (3, robot.n))
    tau = robot.inverse_dynamics(q, qd, qdd)
    M = robot.mass_matrix(q)
    np.testing.assert_array_equal(M, M.T)
    size = np.abs(tau).max()
    np.testing.assert_allclose(M @ qdd + robot.bias(q, qd, friction=True), tau, atol=1e-11 * size)


def test_the_mass_matrix_of_a_chain_is_left_to_numpy_sooner(monkeypatch):
    monkeypatch.setattr(kernel, "machine_code", refuse)
    model = random_model("R" * 46, 2)
    M = Robot(model).mass_matrix(np.zeros(46))
    np.testing.assert_allclose(M, TextbookQuantities(model).mass_matrix(np.zeros(46)), rtol=1e-12)


def test_preparing_a_chain_looks_at_each_link_a_bounded_number_of_times(monkeypatch):
    seen = {"through": 0, "reach": 0}

    def counting(name, function):
        def counted(*given):
            seen[name] += 1
            return function(*given)

        return counted

    for owner, name in ((Turning, "through"), (options, "reach")):
        monkeypatch.setattr(owner, name, counting(name, getattr(owner, name)))
    robot = canonical(random_model("R" * 30, 3))
    regroup(robot)
    options.options(robot)
    assert seen == {"through": 30, "reach": 1}


def test_no_way_to_accelerations_of_a_chain_grows_faster_than_its_joints():
    sizes = []
    for n in (16, 32):
        robot = prepared(canonical(random_model("R" * n, 4)))
        sizes.append(shortest._undivided(robot, forward_dynamics([0] * n)).whole.total)
    assert sizes[1] < 2.3 * sizes[0]
