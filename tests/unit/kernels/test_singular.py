"""Robots in which a mass vanishes, in every state or in some."""

from dataclasses import replace

import numpy as np
import pytest

import armdyn
from armdyn.errors import ModelError, SingularityError
from armdyn.model import Mimic
from support.random_robots import random_model


def sliders(mass: float) -> armdyn.Robot:
    """Two parallel slides, of which only the second carries anything."""
    rows = [dict(joint="prismatic", a=0.3, mass=m) for m in (0.0, mass)]
    return armdyn.from_dh(rows, physical="ignore") if mass else armdyn.from_dh(rows)


@pytest.mark.parametrize("mass", [0.7, 1.3, 2.0, 3.1, 4.9, 49.0])
def test_a_pivot_that_is_only_rounding_is_no_inertia(mass):
    robot = sliders(mass)
    for ask in (robot.forward_dynamics, robot.forward_dynamics_derivatives):
        with pytest.raises(SingularityError, match="mass matrix is singular"):
            ask([0.1, 0.2], [0.0, 0.0], [1.0, 2.0])


def test_slides_beyond_three_directions_are_singular():
    for n in (4, 5):
        rows = [dict(joint="prismatic", alpha=0.4 + 0.3 * i, theta=0.2 * i) for i in range(n)]
        robot = armdyn.from_dh([*rows[:-1], rows[-1] | {"mass": 2.3}])
        with pytest.raises(SingularityError, match="mass matrix is singular"):
            robot.forward_dynamics(*np.zeros((2, n)), np.ones(n))


@pytest.mark.parametrize("method", ["articulated_body", "denoc"])
def test_methods_for_independent_joints_are_refused_for_others(method):
    robot = armdyn.load("two_link")
    first, second, third = random_model("RRR", 2).joints
    joints = (first, second, replace(third, mimic=Mimic(first.name, 0.5)))
    coupled = replace(random_model("RRR", 2), joints=joints)
    robot.kernel("forward_dynamics", method=method)
    with pytest.raises(ModelError, match="mimic others; use method='composite_body'"):
        armdyn.Robot(coupled).kernel("forward_dynamics", method=method)


def test_states_that_are_not_numbers_do_not_hold_up_the_others(monkeypatch):
    robot = armdyn.load("panda")
    states = np.random.default_rng(0).uniform(-1, 1, (3, 50, 7))
    expected = robot.forward_dynamics(*states)
    states[0, 17, 3] = np.nan
    monkeypatch.delattr("armdyn.robot.solve_mass_matrix")  # what checks singular states one by one
    found = robot.forward_dynamics(*states)
    assert np.isnan(found[17]).all()
    assert np.array_equal(np.delete(found, 17, 0), np.delete(expected, 17, 0))


def test_derivatives_are_fresh_arrays():
    robot = armdyn.load("two_link")
    slopes = robot.inverse_dynamics_derivatives(np.zeros(2), np.zeros((3, 2)), np.zeros(2))
    for array in (slopes.dq, slopes.dqd, slopes.dqdd):
        assert array.shape == (3, 2, 2)
        array[...] = 1.0
