import ast
import importlib.util
from dataclasses import replace
from itertools import cycle

import numpy as np
import pytest

import armdyn
from armdyn.errors import ModelError, UnknownNameError
from armdyn.export.export import export
from armdyn.export.options import ExportOptions, functions_of
from armdyn.export.python import export_python
from armdyn.quantities.program import QUANTITIES, quantity_program
from armdyn.robot import Robot
from armdyn.shorten.run_time import payload_vector
from support.peers import close
from support.random_robots import random_model

COMMON = (
    "arctan2", "asarray", "cos", "exp", "reshape", "sign", "sin", "sqrt", "stack", "tanh", "where",
    "zeros_like",
)  # fmt: skip
"""What numpy, jax.numpy and torch have under one name, called the same way."""


class OnlyCommon:
    """NumPy with nothing but the names that the three libraries share."""

    def __init__(self):
        self.used = set()

    def __getattr__(self, name):
        if name not in COMMON:
            raise AttributeError(name)
        self.used.add(name)
        return getattr(np, name)


def module_of(exported):
    (path,) = exported.files
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
def test_every_function_agrees_with_the_program_in_any_batch_shape(tmp_path):
    model = random_model("RPR", 3, tree=True, friction=True)
    there = [name for name, quantity in QUANTITIES.items() if not quantity.refused(model)]
    names = [name for name in there if "regressor" not in name]
    options = ExportOptions(functions=names, prefix="tree")
    module, xp = module_of(export_python(model, tmp_path, options)), OnlyCommon()
    rng = np.random.default_rng(1)
    for function in functions_of(model, options):
        program = quantity_program(model, function.request)
        shapes = [(3,), (2, 1), (), (3,), (2, 3)]
        given = [
            rng.uniform(-2, 2, (*shape, array.size))
            for shape, array in zip(cycle(shapes), program.inputs, strict=False)
        ]
        expected = program(*given)
        got = getattr(module, function.name)(*given, xp=xp)
        assert got.shape == expected.shape
        close(got, expected, 1e-12)
    assert {"sin", "cos", "stack", "where", "exp"} <= xp.used


@pytest.mark.slow
def test_payload_and_gravity_are_arguments(tmp_path):
    robot = armdyn.load("ur5e")
    options = ExportOptions(functions=["inverse_dynamics"], payload=True, gravity=True)
    module = module_of(export_python(robot.model, tmp_path, options))
    com, tensor, gravity = np.array([0.1, 0, 0.05]), 0.01 * np.eye(3), [0.5, -1.0, -9.0]
    q, qd, qdd = np.random.default_rng(2).uniform(-2, 2, (3, 5, 6))
    tau = module.inverse_dynamics(q, qd, qdd, payload_vector(3.0, com, tensor), gravity)
    heavy = Robot(robot.model).with_gravity(gravity).with_payload(3.0, com, tensor)
    close(tau, heavy.inverse_dynamics(q, qd, qdd), 1e-12)


def test_the_module_needs_numpy_alone_and_takes_lists(tmp_path):
    robot = armdyn.load("two_link")
    exported = export_python(robot.model, tmp_path)
    tree = ast.parse(exported.files[0].read_text())
    imports = [n for n in ast.walk(tree) if isinstance(n, ast.Import | ast.ImportFrom)]
    assert [ast.unparse(n) for n in imports] == ["import numpy as np"]
    tau = module_of(exported).inverse_dynamics([0.1, 0.2], [0.3, 0.4], [0.5, 0.6])
    close(tau, robot.inverse_dynamics([0.1, 0.2], [0.3, 0.4], [0.5, 0.6]), 1e-12)


@pytest.mark.slow
def test_nan_in_one_state_of_a_batch_stays_there(tmp_path):
    module = module_of(export_python(armdyn.load("panda").model, tmp_path))
    q = np.zeros((2, 7))
    q[1] = np.nan
    M = module.mass_matrix(q)
    assert np.isfinite(M[0]).all()
    assert np.isnan(M[1]).any()


def test_text_of_the_robot_cannot_leave_its_docstring(tmp_path):
    model = armdyn.load("two_link").model
    evil = '"""\nraise SystemExit\n"""\\'
    exported = export_python(replace(model, title=evil, source=evil), tmp_path)
    assert module_of(exported).gravity_vector(np.zeros(2)).shape == (2,)


def test_float_is_for_c_and_there_are_two_languages(tmp_path):
    model = armdyn.load("two_link").model
    with pytest.raises(ModelError, match="the precision of the arrays it is given"):
        export(model, tmp_path, "python", ExportOptions(single=True))
    with pytest.raises(UnknownNameError, match="no language 'latex'. Available: c, python"):
        export(model, tmp_path, "latex")
    assert not list(tmp_path.iterdir())
