"""Exported Python on the arrays and symbols of other libraries."""

import importlib.util

import casadi
import numpy as np
import pytest
import sympy

from armdyn.export.options import ExportOptions
from armdyn.export.python import export_python
from armdyn.robot import Robot
from support.random_robots import random_model

pytestmark = pytest.mark.slow
FUNCTIONS = (
    "inverse_dynamics",
    "forward_dynamics",
    "mass_matrix",
    "forward_kinematics",
    "christoffel",
)


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """Three joints with friction of every term, their exported module, and a state."""
    model = random_model("RPR", 5, rotors=True, friction=True)
    options = ExportOptions(functions=FUNCTIONS, prefix="arm")
    (path,) = export_python(model, tmp_path_factory.mktemp("exported"), options).files
    spec = importlib.util.spec_from_file_location("arm", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return Robot(model), module, np.random.default_rng(1).uniform(0.2, 1, (3, 3))


def expected(robot, name, state):
    kernel = robot.kernel(name)
    return kernel(*state[: len(kernel.__self__.inputs)])


@pytest.mark.parametrize("name", FUNCTIONS)
def test_casadi_and_sympy_take_the_functions(exported, name):
    robot, module, state = exported
    numbers = expected(robot, name, state)
    count = len(robot.kernel(name).__self__.inputs)
    columns = [casadi.SX.sym(f"x{k}", 3) for k in range(count)]
    made = getattr(module, name)(*columns, xp=casadi)
    by_casadi = casadi.Function("f", columns, [made])(*state[:count]).full()
    np.testing.assert_allclose(by_casadi.reshape(numbers.shape), numbers, rtol=1e-11, atol=1e-12)
    symbols = [sympy.symbols(f"x{k}_:3", real=True) for k in range(count)]
    written = getattr(module, name)(*symbols, xp=sympy)
    given = dict(zip([s for some in symbols for s in some], state[:count].flat, strict=True))
    by_sympy = np.array(written.subs(given), dtype=float)
    np.testing.assert_allclose(by_sympy.reshape(numbers.shape), numbers, rtol=1e-11, atol=1e-12)


def test_jax_takes_the_functions(exported):
    import jax
    import jax.numpy as jnp

    robot, module, state = exported
    given = [jnp.asarray(x, "float32") for x in state]
    found = jax.jit(lambda *x: module.inverse_dynamics(*x, xp=jnp))(*given)
    np.testing.assert_allclose(found, expected(robot, "inverse_dynamics", state), rtol=1e-4)
