"""What is generated is executed, and gives what the robot gives."""

import numpy as np
import pytest
import sympy as sp

import armdyn
from armdyn import equations
from armdyn.loops.coordinates import coordinates_of
from support.peers import close
from support.random_robots import random_model, random_states, special_model
from support.textbook_quantities import tensor

pytestmark = pytest.mark.slow

SHORT = pytest.mark.arms(where=lambda arm: len(arm.kinds) < (6 if arm.rows else 4))
"""Equations of four arbitrary axes are thousands of lines."""


def module(equations, format="python"):
    names = {}
    exec(compile(equations.to(format), "<generated>", "exec"), names)
    return names


def torque(script, robot, q, qd, qdd):
    """tau of a SymPy script at a state."""
    known, at = dict(script["values"]), coordinates_of(robot.model)
    state = at.positions(q), at.rates(qd), at.rates(qdd)
    for name, vector in zip(("q", "qd", "qdd"), state, strict=True):
        known |= {script[f"{name}{i + 1}"]: x for i, x in enumerate(vector)}
    tau = sp.lambdify(list(known), script["tau"], "numpy", cse=True)(*known.values()).ravel()
    return at.torques(tau)


def agree(found, robot, q, qd, qdd):
    """Every joint is a coordinate of its own in equations, also one that follows another."""
    at = coordinates_of(robot.model)
    state = at.positions(q), at.rates(qd), at.rates(qdd)
    close(at.matrix(found["M"](state[0])), robot.mass_matrix(q), 1e-10)
    close(at.torques(found["G"](state[0])), robot.gravity_vector(q), 1e-10)
    tau = at.torques(found["inverse_dynamics"](*state))
    close(tau, robot.inverse_dynamics(q, qd, qdd), 1e-10)


@SHORT
def test_functions_in_python_are_the_robot(arm):
    (q, qd, qdd), at = arm.states(), coordinates_of(arm.model)
    found = module(equations(arm.model, values=arm.seed % 2 == 0, digits=17, closed=True))
    agree(found, arm.robot, q, qd, qdd)
    V = found["V"](at.positions(q), at.rates(qd))
    close(at.torques(V), arm.robot.coriolis_vector(q, qd), 1e-10)


@pytest.mark.parametrize("model", [special_model(6), armdyn.load("puma560").model])
def test_a_minus_is_in_front_of_all_that_it_negates(model):
    robot, state = armdyn.Robot(model), random_states(model, 1)
    agree(module(equations(model, closed=True)), robot, *state)


@SHORT
def test_other_forms_are_the_robot_too(arm):
    model, robot, (q, qd, qdd), at = arm.model, arm.robot, arm.states(), coordinates_of(arm.model)
    place, rate, start = at.positions(q), at.rates(qd), at.positions(0 * q)
    agree(module(equations(model, "configuration", closed=True)), robot, q, qd, qdd)
    h = module(equations(model, "christoffel", closed=True))["h"](place)
    close(tensor(at, h, np.zeros((0, h.shape[-1]))), robot.christoffel(q), 1e-10)
    energy = module(equations(model, "energy", closed=True))
    close(energy["T"](place, rate), robot.kinetic_energy(q, qd), 1e-10)
    rise = energy["U"](place) - energy["U"](start)
    close(rise, robot.potential_energy(q) - robot.potential_energy(0 * q), 1e-10)


@SHORT
def test_the_script_for_sympy_builds_the_same_torques(arm):
    form = ("state", "configuration")[arm.seed % 2]
    found = module(equations(arm.model, form, closed=True), "sympy")
    close(torque(found, arm.robot, *arm.states()), arm.robot.inverse_dynamics(*arm.states()), 1e-10)


@pytest.mark.parametrize("frame", ["world", "tool"])
@pytest.mark.parametrize("name", ["two_link", "craig_two_link"])
def test_the_cartesian_form_is_that_of_the_robot(name, frame):
    robot = armdyn.load(name)
    q, qd = np.array([0.4, 0.9]), np.array([-0.7, 1.3])
    found = module(equations(robot, "cartesian", frame=frame))
    expected = robot.cartesian(q, qd, frame=frame)
    close(found["Mx"](q), expected.M, 1e-10)
    place = robot.jacobian(q, frame=frame)[:2]
    assert found["detJ"](q) == pytest.approx(np.linalg.det(place))
    close(found["Vx"](q, qd), expected.V, 1e-10)
    close(found["Gx"](q), expected.G, 1e-10)


@pytest.mark.slow
def test_three_joints_that_turn_in_space_have_a_cartesian_form():
    """Saha's arm, in axes of its first link and turned into those of the world."""
    robot = armdyn.load("saha_3r")
    q, qd = np.array([0.4, 0.9, -0.6]), np.array([-0.7, 1.3, 0.5])
    written = equations(robot, "cartesian")
    assert "R = zeros(3, 3)" in written.sympy()
    found, expected = module(written), robot.cartesian(q, qd)
    close(found["Mx"](q), expected.M, 1e-10)
    close(found["Vx"](q, qd), expected.V, 1e-10)
    close(found["Gx"](q), expected.G, 1e-10)
    assert found["detJ"](q) == pytest.approx(np.linalg.det(robot.jacobian(q)[:3]))


def test_the_recursive_program_gives_the_torques(arm):
    (q, qd, qdd), at = arm.states(), coordinates_of(arm.model)
    found = equations(arm.model, "recursive", values=arm.seed % 2 == 0, digits=17)
    tau = module(found)["inverse_dynamics"](at.positions(q), at.rates(qd), at.rates(qdd))
    close(at.torques(tau), arm.robot.inverse_dynamics(q, qd, qdd), 1e-10)


@pytest.mark.arms(where=lambda arm: arm.rows or len(arm.kinds) < 6)  # SymPy writes tau as one sum
def test_the_recursive_script_for_sympy_gives_the_torques(arm):
    found = module(equations(arm.model, "recursive", values=arm.seed % 2 == 0, digits=17), "sympy")
    expected = arm.robot.inverse_dynamics(*arm.states())
    close(torque(found, arm.robot, *arm.states()), expected, 1e-10)


def test_few_digits_are_near():
    robot = armdyn.load("puma560")
    q, qd, qdd = np.random.default_rng(0).uniform(-1, 1, (3, 6))
    rough = module(equations(robot, values=True, digits=4))["inverse_dynamics"](q, qd, qdd)
    exact = robot.inverse_dynamics(q, qd, qdd)
    assert 0 < np.abs(rough - exact).max() < 1e-2


def test_names_of_users_are_never_executed():
    model = random_model("RP", 3)
    from dataclasses import replace

    evil = '"""\nraise SystemExit("executed")\n#\\'
    joints = tuple(replace(joint, name=evil + str(i)) for i, joint in enumerate(model.joints))
    model = replace(model, name=evil, title=evil, joints=joints)
    for form in ("state", "recursive"):
        for format in ("python", "sympy"):
            module(equations(model, form), format)


def test_letters_that_programs_use_themselves_get_another_name():
    robot = armdyn.load("two_link")
    letters = {"m1": "M", "m2": "np", "a1": "Matrix"}
    q, qd, qdd = [0.3, -0.4], [1.0, 2.0], [0.5, 0.1]
    found = equations(robot, letters=letters)
    agree(module(found), robot, q, qd, qdd)
    M = module(found, "sympy")
    symbols = {M["q1"]: 0.3, M["q2"]: -0.4} | M["values"]
    close(np.array(M["M"].subs(symbols), dtype=float), robot.mass_matrix(q), 1e-10)
    assert isinstance(M["Matrix_"], sp.Symbol)
