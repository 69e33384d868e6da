"""Functions of CasADi: the numbers of the kernels, exact derivatives, few instructions, C."""

import shutil
import subprocess

import casadi
import numpy as np
import pytest

import armdyn
from armdyn.errors import MissingExtraError, UnknownNameError
from support.random_robots import random_model

NOT_ARITHMETIC = (casadi.OP_CONST, casadi.OP_INPUT, casadi.OP_OUTPUT, casadi.OP_PARAMETER)


@pytest.fixture(scope="module")
def robot():
    """Three joints with friction of every term and rotors."""
    return armdyn.Robot(random_model("RPR", 5, rotors=True, friction=True))


def states(function, seed=1):
    rng = np.random.default_rng(seed)
    return [rng.uniform(0.2, 1.0, function.size_in(k)[0]) for k in range(function.n_in())]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("quantity", "options"),
    [
        ("inverse_dynamics", {"payload": True, "wrench": "tool"}),
        ("forward_dynamics", {}),
        ("forward_kinematics", {}),
        ("christoffel", {}),
        ("kinetic_energy", {}),
    ],
)
def test_a_function_has_the_numbers_of_the_kernel(robot, quantity, options):
    function = robot.casadi(quantity, **options)
    given = states(function)
    expected = robot.kernel(quantity, **options)(*given)
    found = function(*given).full().reshape(np.shape(expected))
    np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-12)
    assert function.name_in()[0] == "q"


@pytest.mark.slow
def test_derivatives_by_casadi_are_those_of_armdyn(robot):
    function = robot.casadi("forward_dynamics")
    given = states(function)
    found = [block.full() for block in function.jacobian()(*given, np.zeros(3))]
    known = robot.forward_dynamics_derivatives(*given)
    for mine, theirs in zip(found, (known.dq, known.dqd, known.dtau), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-8, atol=1e-9)


def test_inverse_dynamics_of_a_panda_takes_few_instructions():
    function = armdyn.load("panda").casadi("inverse_dynamics")
    codes = [function.instruction_id(k) for k in range(function.n_instructions())]
    assert sum(code not in NOT_ARITHMETIC for code in codes) <= 535


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
def test_c_by_casadi_compiles_and_gives_the_torques(robot, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    function = robot.casadi("inverse_dynamics", name="arm_torques")
    function.generate("arm.c")
    subprocess.run(["cc", "-O1", "-Wall", "-shared", "-fPIC", "arm.c", "-o", "arm.so"], check=True)
    compiled, given = casadi.external("arm_torques", "./arm.so"), states(function)
    np.testing.assert_allclose(
        compiled(*given).full()[:, 0], robot.inverse_dynamics(*given), rtol=1e-11
    )


def test_unknown_quantities_and_a_missing_package_are_named(robot, monkeypatch):
    with pytest.raises(UnknownNameError, match="quantity 'torques'"):
        robot.casadi("torques")
    monkeypatch.setattr("armdyn.export.library.find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"pip install casadi .*extra 'casadi'"):
        robot.casadi("mass_matrix")
