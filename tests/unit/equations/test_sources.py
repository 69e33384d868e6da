"""What is generated is executed, and gives what the robot gives."""

import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import armdyn
from armdyn import equations
from support.peers import close
from support.random_robots import random_model, random_states, special_model

pytestmark = pytest.mark.slow

small = st.builds(
    random_model,
    st.sampled_from(["R", "P", "RR", "RP", "PR", "PRP"]),
    st.integers(0, 999),
    tree=st.booleans(),
    rotors=st.booleans(),
    friction=st.booleans(),
)
few = st.integers(0, 400).map(special_model).filter(lambda model: len(model.joints) <= 3)


def module(equations, format="python"):
    names = {}
    exec(compile(equations.to(format), "<generated>", "exec"), names)
    return names


def torque(script, *state):
    """tau of a SymPy script at a state."""
    known = dict(script["values"])
    for name, vector in zip(("q", "qd", "qdd"), state, strict=True):
        known |= {script[f"{name}{i + 1}"]: x for i, x in enumerate(vector)}
    return sp.lambdify(list(known), script["tau"], "numpy")(*known.values()).ravel()


def agree(found, robot, q, qd, qdd):
    close(found["M"](q), robot.mass_matrix(q), 1e-10)
    close(found["G"](q), robot.gravity_vector(q), 1e-10)
    close(found["inverse_dynamics"](q, qd, qdd), robot.inverse_dynamics(q, qd, qdd), 1e-10)


@settings(max_examples=8)
@given(st.one_of(small, few), st.booleans())
def test_functions_in_python_are_the_robot(model, values):
    robot, state = armdyn.Robot(model), random_states(model, 1)
    found = module(equations(model, values=values, digits=17, closed=True))
    agree(found, robot, *state)
    close(found["V"](*state[:2]), robot.coriolis_vector(*state[:2]), 1e-10)


@pytest.mark.parametrize("model", [special_model(6), armdyn.load("puma560").model])
def test_a_minus_is_in_front_of_all_that_it_negates(model):
    robot, state = armdyn.Robot(model), random_states(model, 1)
    agree(module(equations(model, closed=True)), robot, *state)


@settings(max_examples=4)
@given(st.one_of(small, few))
def test_other_forms_are_the_robot_too(model):
    robot, (q, qd, qdd) = armdyn.Robot(model), random_states(model, 2)
    agree(module(equations(model, "configuration", closed=True)), robot, q, qd, qdd)
    h = module(equations(model, "christoffel", closed=True))["h"](q)
    close(h, robot.christoffel(q), 1e-10)
    energy = module(equations(model, "energy", closed=True))
    close(energy["T"](q, qd), robot.kinetic_energy(q, qd), 1e-10)
    rise = energy["U"](q) - energy["U"](0 * q)
    close(rise, robot.potential_energy(q) - robot.potential_energy(0 * q), 1e-10)


@settings(max_examples=4)
@given(small, st.sampled_from(["state", "configuration"]))
def test_the_script_for_sympy_builds_the_same_torques(model, form):
    robot, (q, qd, qdd) = armdyn.Robot(model), random_states(model, 3)
    found = module(equations(model, form, closed=True), "sympy")
    close(torque(found, q, qd, qdd), robot.inverse_dynamics(q, qd, qdd), 1e-10)


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


@settings(max_examples=3)
@given(
    st.builds(random_model, st.sampled_from(["RR", "RPR"]), st.integers(0, 99), st.booleans()),
    st.booleans(),
)
def test_the_recursive_program_gives_the_torques(model, values):
    robot, state = armdyn.Robot(model), random_states(model, 4)
    found = equations(model, "recursive", values=values, digits=17)
    close(module(found)["inverse_dynamics"](*state), robot.inverse_dynamics(*state), 1e-10)
    close(torque(module(found, "sympy"), *state), robot.inverse_dynamics(*state), 1e-10)


def test_branches_rotors_and_friction_are_in_the_program():
    model = random_model("RRPR", 11, tree=True, rotors=True, friction=True)
    assert model.parents.count(-1) > 1
    robot, state = armdyn.Robot(model), random_states(model, 5)
    found = module(equations(model, "recursive"))
    close(found["inverse_dynamics"](*state), robot.inverse_dynamics(*state), 1e-10)


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
