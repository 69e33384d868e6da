"""Angles far from zero: sums of them, and offsets of frames, lose no more than near it."""

import ctypes
import importlib.util
import shutil
import subprocess

import mpmath
import numpy as np
import pytest

import armdyn
from armdyn.export.c.export import export_c
from armdyn.export.options import ExportOptions
from armdyn.export.python import export_python
from armdyn.formulations.newton_euler import newton_euler
from armdyn.graph import Graph
from armdyn.graph.program import Program
from support.compiled_programs import compiled, targets

TARGETS = targets()
SIZES = 1.0, 30.0, 100.0, 1e4, 1e6, 1e12
ROUNDING = 1e-13


def planar(offset=0.7):
    """Two parallel axes with offsets, and one across: sums of angles and of constants."""
    shape = {"mass": 1.5, "com": (0.2, 0.1, 0.05), "inertia": np.diag([0.02, 0.03, 0.04])}
    rows = [{"joint": "revolute", "a": 0.3, "alpha": 0, "d": 0, "theta": offset} for _ in range(2)]
    rows.append({"joint": "revolute", "a": 0.1, "alpha": 0.4, "d": 0.2, "theta": offset})
    return armdyn.from_dh([row | shape for row in rows], convention="modified", gravity=(0, -9, 2))


def states(n, size, count=9):
    rng = np.random.default_rng(int(size))
    q = rng.uniform(-size, size, (count, n))
    return q, *rng.normal(size=(2, count, n))


def without_turns(q):
    """The same configurations near zero, to rounding."""
    with mpmath.workdps(60):
        return np.vectorize(lambda x: float(mpmath.fmod(mpmath.mpf(float(x)), 2 * mpmath.pi)))(q)


def error(found, expected):
    return np.abs(found - expected).max() / np.abs(expected).max()


def sums():
    """Sine and cosine of sums of three angles and a number, and a sum that is a result as well."""
    graph = Graph()
    a, b, c = graph.inputs("x", 3)
    total, shared = a + b - c + 0.3, a - c
    outputs = [total.sin(), total.cos(), shared, shared.sin()]
    return Program.from_outputs(np.array(outputs), {"x": 3})


@pytest.mark.parametrize("target", TARGETS)
def test_sums_of_angles_far_from_zero(target):
    program, function = sums(), compiled(sums(), TARGETS[target])
    for size in SIZES:
        x = np.concatenate([states(3, size)[0], [[size, size, 2 * size], [size, 0.1, 0.2]]])
        with mpmath.workdps(60):
            exact = [[mpmath.mpf(float(v)) for v in row] for row in x]
            expected = [[f(a + b - c + 0.3) for f in (mpmath.sin, mpmath.cos)] for a, b, c in exact]
        for found in (program(x), function(x)):
            assert np.abs(found[:, :2] - np.array(expected, dtype=float)).max() < 1e-14
            assert np.array_equal(found[:, 2], x[:, 0] - x[:, 2])  # no angle, so never turned back
        alone = np.array([function(row) for row in x])
        assert np.array_equal(alone, function(x))


def test_sums_of_angles_in_single_precision():
    function = compiled(sums(), dtype="float32")
    for size in (1.0, 100.0, 1e4, 1e6):
        x = states(3, size)[0].astype(np.float32)
        near = without_turns(x)
        expected = np.sin(near[:, 0] + near[:, 1] - near[:, 2] + 0.3)
        np.testing.assert_allclose(function(x)[:, 0], expected, atol=3e-6)


@pytest.mark.slow
def test_dynamics_far_from_zero():
    robot = planar()
    for size in SIZES:
        q, qd, qdd = states(robot.n, size)
        near = without_turns(q)
        tau = newton_euler(robot.model, q, qd, qdd).tau
        assert error(robot.inverse_dynamics(q, qd, qdd), tau) < ROUNDING
        assert error(robot.forward_dynamics(q, qd, tau), qdd) < 1e-11
        for quantity in (robot.mass_matrix, robot.forward_kinematics, robot.jacobian):
            assert error(quantity(q), quantity(near)) < ROUNDING
        one = robot.inverse_dynamics(q[3], qd[3], qdd[3])
        assert np.array_equal(one, robot.inverse_dynamics(q, qd, qdd)[3])


def test_exports_far_from_zero(tmp_path):
    robot = planar()
    options = ExportOptions(functions=["inverse_dynamics"], prefix="far")
    (path,) = export_python(robot.model, tmp_path, options).files
    spec = importlib.util.spec_from_file_location("far", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for size in SIZES:
        q, qd, qdd = states(robot.n, size)
        expected = newton_euler(robot.model, q, qd, qdd).tau
        assert error(module.inverse_dynamics(q, qd, qdd), expected) < ROUNDING
        assert error(module.inverse_dynamics(q[0], qd[0], qdd[0]), expected[0]) < ROUNDING


@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
def test_c_far_from_zero(tmp_path):
    robot = planar()
    source = export_c(robot.model, tmp_path, ExportOptions(["inverse_dynamics"], prefix="far"))
    library = tmp_path / "far.so"
    words = ["cc", "-O1", "-shared", "-fPIC", str(source.files[0]), "-lm", "-o", str(library)]
    subprocess.run(words, check=True)
    function, result = ctypes.CDLL(str(library)).far_inverse_dynamics, np.empty(robot.n)
    for size in SIZES:
        q, qd, qdd = (np.ascontiguousarray(x[0]) for x in states(robot.n, size))
        function(*(ctypes.c_void_p(x.ctypes.data) for x in (q, qd, qdd, result)))
        assert error(result, newton_euler(robot.model, q, qd, qdd).tau) < ROUNDING
