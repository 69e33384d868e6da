"""Equations of robots with loops: of the coordinates, and the same torques as the kernels."""

from dataclasses import replace

import numpy as np
import pytest

import armdyn
from armdyn.errors import LoopError
from armdyn.model import FrictionLaw
from armdyn.robot import Robot
from support.loops import FIVE_BAR, PARALLELOGRAM_ARM, SIX_BAR, dyad_arm

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def robots(tmp_path_factory):
    folder = tmp_path_factory.mktemp("loops")
    texts = {"five_bar": FIVE_BAR, "parallelogram": PARALLELOGRAM_ARM, "six_bar": SIX_BAR}
    found = {"PRR": Robot(dyad_arm("PRR", tilt=False)), "palletizer": armdyn.load("palletizer")}
    for name, text in texts.items():
        (folder / f"{name}.toml").write_text(text)
        found[name] = armdyn.load(folder / f"{name}.toml")
    return found


def agrees(robot, form, **options):
    """Whether the printed Python gives the torques of the robot."""
    names = {}
    exec(armdyn.equations(robot, form, **options).python(), names)
    rng = np.random.default_rng(1)
    q = robot.start + rng.uniform(-0.05, 0.05, robot.n)
    qd, qdd = rng.uniform(-2.0, 2.0, (2, robot.n))
    expected = robot.inverse_dynamics(q, qd, qdd)
    return np.allclose(names["inverse_dynamics"](q, qd, qdd), expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("five_bar", "state"),
        ("five_bar", "recursive"),
        ("parallelogram", "state"),
        ("parallelogram", "configuration"),
        ("parallelogram", "recursive"),
        ("palletizer", "recursive"),
        ("six_bar", "state"),
        ("PRR", "state"),
    ],
)
def test_printed_programs_give_the_torques_of_the_kernels(robots, name, form):
    assert agrees(robots[name], form)


def test_a_parallelogram_arm_has_the_equations_of_the_book(robots):
    text = armdyn.equations(robots["parallelogram"]).text()
    for line in (
        "M11 = Izz1 + Izz4 + m1 (x1² + y1²) + m2 a1² + m4 (x4² + y4²)",
        "M13 = (m2 a1 x2 + m4 a3 x4) C1-3 + (m2 a1 y2 - m4 a3 y4) S1-3",
        "M33 = Izz2 + Izz3 + m2 (x2² + y2²) + m3 (x3² + y3²) + m4 a3²",
        "G3 = g ((m2 x2 + m3 x3 + m4 a3) C3 - (m2 y2 + m3 y3) S3)",
        "Note: loop pin, a parallelogram: q2 = q3 - q1, q4 = q1 - q3.",
    ):
        assert line in text


def test_energy_of_a_parallelogram_arm(robots):
    robot, names = robots["parallelogram"], {}
    exec(armdyn.equations(robot, "energy").python(), names)
    q, qd = np.array([0.7, 1.9]), np.array([0.6, -0.9])
    assert names["T"](q, qd) == pytest.approx(robot.kinetic_energy(q, qd), rel=1e-12)
    rise = names["U"](q) - names["U"](robot.start)
    potential = robot.potential_energy(q) - robot.potential_energy(robot.start)
    assert rise == pytest.approx(potential, rel=1e-12)


def test_rates_of_passive_joints_are_written_in_symbols(robots):
    equations = armdyn.equations(robots["five_bar"])
    text = equations.text()
    assert "tau = W^T (M qdd + V + G + F), qdd of all joints" in text
    assert "W23 = -a3 S4/l2/S1+2-3-4" in text
    assert "l2                  0.52 m             part of a loop on link 2, along it" in text
    assert "tau3 = T3 + W23 T2 + W43 T4" in text
    assert r"W_{23} &= -\frac{a_{3} s_{4}}{l_{2} s_{1+2-3-4}}" in equations.latex()
    assert "q4                  position of q_link4 [rad], a passive joint" in text


def test_sympy_computes_loops(robots):
    sympy = pytest.importorskip("sympy")
    robot, names = robots["five_bar"], {}
    exec(armdyn.equations(robot).sympy(), names)
    motion = {"q": [2.2, 0.8], "qd": [0.7, -1.2], "qdd": [2.0, 1.0]}
    state = {
        sympy.Symbol(f"{letter}{joint}", real=True): value
        for letter, values in motion.items()
        for joint, value in zip((1, 3), values, strict=True)
    }
    tau = np.array(names["tau"].xreplace(names["values"] | state), dtype=float).ravel()
    np.testing.assert_allclose(tau, robot.inverse_dynamics(*motion.values()), rtol=1e-12)


def test_friction_of_passive_joints_is_written(robots):
    law = FrictionLaw(
        viscous=0.2,
        coulomb_positive=0.3,
        coulomb_negative=0.3,
        smooth_velocity=0.1,
        power=0.1,
        power_exponent=1.5,
    )
    for name, form in (
        ("five_bar", "state"),
        ("five_bar", "recursive"),
        ("parallelogram", "state"),
    ):
        model = robots[name].model
        joints = tuple(replace(joint, friction=law) for joint in model.joints)
        assert agrees(Robot(replace(model, joints=joints)), form)


def test_torques_of_programs_have_the_numbers_of_actuated_joints(robots):
    text = armdyn.equations(robots["five_bar"], "recursive").text()
    assert robots["five_bar"].model.independent == (0, 2)
    assert [f"tau{i} = " in text for i in (1, 2, 3)] == [True, False, True]


def test_forms_without_equations_are_refused(robots):
    for form in ("configuration", "christoffel", "energy", "cartesian"):
        with pytest.raises(
            LoopError, match=f"the {form} form is not written for robots with loops"
        ):
            armdyn.equations(robots["five_bar"], form)
