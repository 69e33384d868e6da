"""Rotors that spin, in C, Python, JAX and CasADi: the numbers of links that turn with the motors."""

import ctypes
import shutil
import subprocess

import jax
import numpy as np
import pytest

from armdyn.export.c.export import export_c
from armdyn.export.options import ExportOptions
from armdyn.export.python import export_python
from armdyn.formulations.composite_body import mass_matrix
from armdyn.formulations.newton_euler import newton_euler
from support.peers import close
from support.random_robots import random_model
from support.rotor_bodies import spinning, with_rotor_bodies

pytestmark = pytest.mark.slow
CC = shutil.which("cc") or shutil.which("gcc")


@pytest.fixture(scope="module")
def robot():
    return spinning(random_model("RPRR", 3, tree=True))


@pytest.fixture(scope="module")
def state():
    return np.random.default_rng(3).uniform(-1.5, 1.5, (3, 4))


@pytest.fixture(scope="module")
def tau(robot, state):
    bodies = with_rotor_bodies(robot.model)
    return bodies.torques(newton_euler(bodies.model, *map(bodies.all, state)).tau)


@pytest.mark.skipif(CC is None, reason="needs a C compiler")
def test_c(robot, state, tau, tmp_path):
    options = ExportOptions(functions=("inverse_dynamics", "forward_dynamics", "mass_matrix"))
    source = export_c(robot.model, tmp_path, options).files[0]
    words = [CC, "-O1", "-shared", "-fPIC", str(source), "-lm", "-o", str(tmp_path / "arm.so")]
    subprocess.run(words, check=True)
    library = ctypes.CDLL(str(tmp_path / "arm.so"))

    def call(name, shape, *arrays):
        real = ctypes.POINTER(ctypes.c_double)
        every = [np.ascontiguousarray(x) for x in arrays] + [np.zeros(shape)]
        function = getattr(library, f"{source.stem}_{name}")
        function(*(x.ctypes.data_as(real) for x in every))
        return every[-1]

    q, qd, qdd = state
    bodies = with_rotor_bodies(robot.model)
    close(call("inverse_dynamics", 4, *state), tau, 1e-11)
    M = bodies.matrix(mass_matrix(bodies.model, bodies.all(q)))
    close(call("mass_matrix", (4, 4), q), M, 1e-12)
    close(call("forward_dynamics", 4, q, qd, tau), qdd, 1e-9)


def test_jax(robot, state, tau):
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    try:
        function = robot.jax("inverse_dynamics")
        close(np.asarray(jax.jit(function)(*state)), tau, 1e-11)
        slopes = jax.jacfwd(function, argnums=(0, 1, 2))(*state)
    finally:
        jax.config.update("jax_enable_x64", before)
    known = robot.inverse_dynamics_derivatives(*state)
    for mine, theirs in zip(slopes, (known.dq, known.dqd, known.dqdd), strict=True):
        close(np.asarray(mine), theirs, 1e-10)


def test_casadi(robot, state, tau):
    q, qd, qdd = state
    close(robot.casadi("inverse_dynamics")(*state).full()[:, 0], tau, 1e-11)
    close(robot.casadi("forward_dynamics")(q, qd, tau).full()[:, 0], qdd, 1e-9)


def test_python(robot, state, tau, tmp_path):
    options = ExportOptions(functions=("inverse_dynamics",))
    names: dict[str, object] = {}
    exec(export_python(robot.model, tmp_path, options).files[0].read_text(), names)
    close(np.array(names["inverse_dynamics"](*state)), tau, 1e-11)


def test_slopes_are_those_of_differences(robot, state):
    known, h = robot.inverse_dynamics_derivatives(*state), 1e-6
    for k, slope in enumerate((known.dq, known.dqd, known.dqdd)):
        for j in range(4):
            step = np.zeros((3, 4))
            step[k, j] = h
            ahead, behind = (robot.inverse_dynamics(*(state + s * step)) for s in (1, -1))
            close(slope[:, j], (ahead - behind) / (2 * h), 1e-7)
