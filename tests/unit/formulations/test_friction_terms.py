"""Offset, viscous friction by direction, and the power law: closed forms, slopes, kernels, files."""

import importlib.util
import shutil
import subprocess
import warnings

import numpy as np
import pytest
import sympy as sp

import armdyn
from armdyn.errors import ModelError
from armdyn.export.c.export import export_c
from armdyn.export.options import ExportOptions
from armdyn.export.python import export_python
from armdyn.formulations.friction import friction_torque
from support.peers import close
from support.programs import EvaluatedRobot

SPEEDS = np.array([-3.0, -1.0, -0.2, 0.0, 1e-3, 0.5, 1.0, 2.5])[:, None]
TERMS = {
    "offset": ({"viscous": 0.1, "offset": -0.4}, lambda v: 0.1 * v - 0.4),
    "asymmetric": ({"viscous": (0.3, 0.7)}, lambda v: np.where(v > 0, 0.3, 0.7) * v),
    "root": (
        {"power": 1.2, "power_exponent": 0.5},
        lambda v: 1.2 * np.sign(v) * np.sqrt(np.abs(v)),
    ),
    "square": ({"power": 1.2, "power_exponent": 2}, lambda v: 1.2 * v * np.abs(v)),
    "cube": ({"power": 1.2, "power_exponent": 3.0}, lambda v: 1.2 * v**3),
    "any power": (
        {"power": 0.8, "power_exponent": 1.37},
        lambda v: 0.8 * np.sign(v) * np.abs(v) ** 1.37,
    ),
    "all": (
        {"viscous": (0.3, 0.7), "coulomb": 0.2, "offset": 0.1, "power": 0.5, "power_exponent": 0.3},
        lambda v: (
            np.where(v > 0, 0.3, 0.7) * v
            + 0.2 * np.sign(v)
            + 0.1
            + 0.5 * np.sign(v) * np.abs(v) ** 0.3
        ),
    ),
}
every_term = pytest.mark.parametrize("term", TERMS)


def arm(joints=1, **friction):
    row = dict(joint="revolute", alpha=0.4, a=0.3, mass=1.5, com=(0.1, 0, 0.2), inertia=(1, 1, 1))
    return armdyn.from_dh([row | friction] * joints, name="arm")


def of_term(term, joints=1):
    row, closed = TERMS[term]
    return arm(joints, **row), closed


def evaluated(term):
    """Three joints with the term, their programs evaluated, and its closed form."""
    robot, closed = of_term(term, joints=3)
    return EvaluatedRobot(robot.model), closed


def module_of(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@every_term
def test_the_torque_is_the_closed_form_in_the_kernel_and_in_numpy(term):
    robot, closed = of_term(term)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        close(robot.friction_torque(SPEEDS), closed(SPEEDS), 1e-14)
    close(friction_torque(robot.model, SPEEDS), closed(SPEEDS), 1e-14)


@pytest.mark.slow
@every_term
def test_inverse_and_forward_dynamics_and_ledger_have_the_term(term):
    robot, closed = evaluated(term)
    q, qd, qdd = np.random.default_rng(1).uniform(-2, 2, (3, 5, 3))
    tau = robot.inverse_dynamics(q, qd, qdd)
    close(tau - robot.inverse_dynamics(q, qd, qdd, friction=False), closed(qd), 1e-12)
    close(robot.forward_dynamics(q, qd, tau), qdd, 1e-11)
    ledger = robot.ledger(q, qd, qdd)
    close(ledger.total, tau, 1e-12)
    close(ledger.viscous + ledger.coulomb + ledger.offset, closed(qd), 1e-13)
    offset = TERMS[term][0].get("offset", 0.0)
    close(ledger.offset, np.full_like(qd, offset), 1e-15)


@pytest.mark.slow
@every_term
def test_slopes_are_those_of_differences_away_from_rest(term):
    robot, closed = evaluated(term)
    q, qd, qdd = np.random.default_rng(2).uniform(0.3, 2, (3, 3)) * [1, -1, 1]
    step = 1e-6
    slope = np.diag((closed(qd + step) - closed(qd - step)) / (2 * step))
    found = robot.inverse_dynamics_derivatives(q, qd, qdd)
    plain = robot.inverse_dynamics_derivatives(q, qd, qdd, friction=False)
    close(found.dqd - plain.dqd, slope, 1e-8)
    close(found.dq, plain.dq, 1e-13)
    tau = robot.inverse_dynamics(q, qd, qdd)
    forward = robot.forward_dynamics_derivatives(q, qd, tau)
    close(forward.dqd, -np.linalg.solve(robot.mass_matrix(q), found.dqd), 1e-10)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("exponent", "slope"), [(0.2, 0.0), (0.5, 0.0), (1.0, 1.2), (1.5, 0.0), (2.0, 0.0)]
)
def test_slopes_at_rest_are_numbers(exponent, slope):
    robot = arm(power=1.2, power_exponent=exponent)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = robot.inverse_dynamics_derivatives([0.1], [0.0], [0.0]).dqd
    close(found, [[slope]], 1e-15)


@pytest.mark.slow
def test_equal_coefficients_and_the_exponent_1_are_viscous_friction_bit_for_bit():
    states = np.random.default_rng(3).uniform(-2, 2, (3, 20, 2))
    plain = arm(2, viscous=0.3)
    for same in (
        arm(2, viscous=(0.3, 0.3)),
        arm(2, power=0.3),
        arm(2, power=0.3, power_exponent=1),
    ):
        for name in ("inverse_dynamics", "forward_dynamics"):
            found, expected = (getattr(robot, name)(*states) for robot in (same, plain))
            np.testing.assert_array_equal(found, expected)
        np.testing.assert_array_equal(
            same.inverse_dynamics_derivatives(*states).dqd,
            plain.inverse_dynamics_derivatives(*states).dqd,
        )


def test_not_a_number_goes_through():
    robot, _ = of_term("root")
    assert np.isnan(robot.friction_torque([np.nan]))


@pytest.mark.slow
@every_term
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_bits_do_not_depend_on_the_size_of_the_batch(term, dtype):
    robot, closed = of_term(term, joints=2)
    kernel = robot.kernel("friction_torque", dtype=dtype)
    qd = np.random.default_rng(4).uniform(-3, 3, (37, 2)).astype(dtype)
    qd[5] = 0.0
    whole = kernel(qd)
    assert whole.dtype == dtype
    close(whole, closed(qd.astype(float)), 1e-13 if dtype == "float64" else 1e-5)
    for size in (1, 2, 3, 5, 8, 36):
        np.testing.assert_array_equal(kernel(qd[:size]), whole[:size])
    np.testing.assert_array_equal([kernel(one) for one in qd], whole)


@pytest.mark.slow
@every_term
@pytest.mark.parametrize("single", [False, True], ids=["double", "float"])
def test_c_agrees_with_the_kernel(term, single, tmp_path):
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("needs a C compiler")
    robot, _ = of_term(term, joints=2)
    names = ("inverse_dynamics", "forward_dynamics", "friction_torque", "ledger")
    exported = export_c(robot.model, tmp_path, ExportOptions(functions=names, single=single))
    flags = ("-std=c99", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-DARM_SELFTEST")
    target = tmp_path / "selftest"
    subprocess.run([compiler, *flags, exported.files[0], "-lm", "-o", target], check=True)
    assert subprocess.run([target], capture_output=True, check=True).stdout == b"ok\n"
    header = exported.files[1].read_text()
    raised = any(word in term for word in ("root", "square", "cube", "power", "all"))
    assert ("pow" in header.split("Of the C library")[1].split("\n")[0]) == raised
    assert "viscous, Coulomb, Stribeck, offset, rotor" in " ".join(header.split())


@pytest.mark.slow
@every_term
def test_python_agrees_with_the_kernel(term, tmp_path):
    robot, _ = of_term(term, joints=2)
    names = ("friction_torque", "inverse_dynamics", "inverse_dynamics_derivatives")
    exported = export_python(robot.model, tmp_path, ExportOptions(functions=names))
    module = module_of(exported.files[0])
    q, qd, qdd = np.random.default_rng(5).uniform(-2, 2, (3, 6, 2))
    qd[2, 1] = 0.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        close(module.friction_torque(qd), robot.friction_torque(qd), 1e-14)
        close(module.inverse_dynamics(q, qd, qdd), robot.inverse_dynamics(q, qd, qdd), 1e-12)
        slopes = module.inverse_dynamics_derivatives(q, qd, qdd)
    close(slopes[:, 1], robot.inverse_dynamics_derivatives(q, qd, qdd).dqd, 1e-12)


@pytest.mark.slow
@every_term
@pytest.mark.parametrize("values", [False, True])
def test_equations_are_the_torque(term, values):
    robot, _ = of_term(term)
    written = armdyn.equations(robot, values=values, digits=17)
    names, script = {}, {}
    exec(written.to("python"), names)
    exec(written.to("sympy"), script)
    for speed in (-0.7, 0.0, 1.3):
        torque = robot.friction_torque([speed])
        close(names["F"]([speed]), torque, 1e-14)
        known = script["values"] | {script["qd1"]: sp.Float(speed, 20)}
        close(np.array(script["F"].subs(known).tolist(), dtype=float)[0], torque, 1e-13)


def test_equations_in_words_and_letters():
    robot, _ = of_term("all")
    written = armdyn.equations(robot)
    law = "F1 = Fv1 qd1 + Fw1 qd1 sgn(qd1) + Fp1 |qd1|^ap1 sgn(qd1) + Fc1 sgn(qd1) + Fo1"
    assert law in written.to("text")
    assert r"F_{p,1} |\dot{q}_{1}|^{a_{p,1}} \operatorname{sgn}(\dot{q}_{1})" in written.to("latex")
    assert "exponent of the power law of joint 1" in written.to("markdown")


@every_term
@pytest.mark.parametrize("ending", ["toml", "urdf"])
def test_files_keep_the_law(term, ending, tmp_path):
    robot, _ = of_term(term, joints=2)
    robot.save(tmp_path / f"arm.{ending}")
    back = armdyn.load(tmp_path / f"arm.{ending}")
    assert [j.friction for j in back.model.joints] == [j.friction for j in robot.model.joints]


@pytest.mark.parametrize("pair", [(0.1, 0.1), (0.0, 0.2), (0.2, 0.0)])
@pytest.mark.parametrize("ending", ["toml", "urdf"])
def test_a_pair_stays_a_pair_and_a_number_a_number(pair, ending, tmp_path):
    for viscous, expected in ((pair, (0.0, *pair)), (0.3, (0.3, 0.0, 0.0))):
        arm(viscous=viscous).save(tmp_path / f"arm.{ending}")
        law = armdyn.load(tmp_path / f"arm.{ending}").model.joints[0].friction
        assert (law.viscous, law.viscous_positive, law.viscous_negative) == expected


@pytest.mark.parametrize(
    ("friction", "message"),
    [
        ({"offset": np.inf}, "DH row 1: offset: expected finite numbers, got inf"),
        ({"offset": (1.0, 2.0)}, "DH row 1: offset: expected"),
        ({"viscous": (0.1, 0.2, 0.3)}, r"DH row 1: viscous \(a number or a pair\)"),
        ({"viscous": (0.1, -0.2)}, "DH row 1: viscous is a magnitude and cannot be negative"),
        ({"power": -0.1}, "DH row 1: power is a magnitude and cannot be negative"),
        ({"power": 1.0, "power_exponent": 0}, "DH row 1: power_exponent must be positive"),
        ({"power": np.nan}, "DH row 1: power: expected finite numbers, got nan"),
    ],
)
def test_what_cannot_be_is_refused_by_row_and_number(friction, message):
    with pytest.raises(ModelError, match=message):
        arm(**friction)


def test_an_offset_that_looks_like_one_of_a_position_is_warned_of():
    with pytest.warns(
        armdyn.errors.ArmdynWarning, match=r"row 1: offset = 1\.5 is a constant torque"
    ):
        arm(offset=1.5)
