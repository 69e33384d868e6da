"""The Cartesian equations in closed form are those of `Robot.cartesian`."""

from dataclasses import replace

import numpy as np
import pytest
import sympy

import armdyn
from armdyn.closed_forms.closed_form import cartesian_form, in_axes_of_links
from armdyn.closed_forms.symbolic_robot import symbolise
from armdyn.errors import ModelError, SingularityError, UnknownNameError
from armdyn.formulations.cartesian import COORDINATES
from armdyn.graph.ring import evaluate
from armdyn.model import Frame
from armdyn.model.transform import rotation_from_rpy, transform
from armdyn.robot import Robot
from support.paths import ROBOTS
from support.peers import close
from support.random_robots import random_model, random_states
from support.symbolic_forms import expression, tool_terms

pytestmark = pytest.mark.slow

GRIPPER = ROBOTS / "gripper.urdf"
HALF = np.pi / 2


def arm(*rows, **options):
    """An arm by kind, alpha and a, with uneven bodies."""
    body = {"mass": 2.0, "com": [0.2, 0.1, -0.1], "inertia": [0.03, 0.05, 0.04]}
    kinds = {"R": "revolute", "P": "prismatic"}
    table = [{"joint": kinds[k], "alpha": alpha, "a": a, **body} for k, alpha, a in rows]
    return armdyn.from_dh(table, "modified", **options)


TURNED = transform(rotation_from_rpy([HALF, 0, -HALF]), [0.3, 0.1, 0.2])
ARMS = {
    "craig": armdyn.load("craig_two_link"),
    "rods": armdyn.load("two_link"),
    "saha": armdyn.load("saha_3r"),
    "polar": arm(("R", 0.0, 0.0), ("P", HALF, 0.0), tool=TURNED),
    "crane": arm(("P", 0.0, 0.0), ("R", HALF, 0.3), tool=TURNED, base=TURNED),
    "one": arm(("R", 0.3, 0.0), tool=TURNED),
    "tilted": arm(
        ("R", 0.0, 0.0),
        ("R", 0.0, 0.5),
        tool=transform(rotation_from_rpy([0, 0, 0.4]), [0.3, 0, 0]),
        base=transform(rotation_from_rpy([0.5, 0.3, 0.2])),
    ),
    "leaning": arm(("R", 0.0, 0.0), ("R", 0.4, 0.5), tool=transform(None, [0.3, 0, 0])),
}


def quotient_value(robot, quotients, q, qd):
    total = 0.0
    for quotient in quotients:
        part = robot.evaluate(quotient.numerator, q, qd)
        for factor, exponent in quotient.divisors:
            part = part / robot.evaluate(factor, q, qd) ** exponent
        total = total + part
    return total


@pytest.mark.parametrize("frame", ["world", "tool"])
@pytest.mark.parametrize("name", ARMS)
def test_closed_form_is_the_cartesian_form(name, frame):
    robot, model = ARMS[name], ARMS[name].model
    symbolic = symbolise(model)
    task = task_of(robot, frame)
    form = cartesian_form(symbolic, model, frame, task)
    q, qd, _ = random_states(model, 4)
    expected = robot.cartesian(q, qd, frame, task=form.task)
    rows = [COORDINATES.index(t) for t in form.task]
    close(symbolic.evaluate(form.J, q), robot.jacobian(q, frame)[rows], 1e-12)
    rate = robot.jacobian_dot(q, qd, frame)[rows] @ qd
    close(symbolic.evaluate(form.Jd_qd, q, qd), rate, 1e-12)
    close(
        symbolic.evaluate(form.determinant, q), np.linalg.det(robot.jacobian(q, frame)[rows]), 1e-12
    )
    if name == "saha" and frame == "world":
        turned = min(in_axes_of_links(form, model), key=lambda form: form.products)
        assert turned.closed
        assert turned.link == 0
        R = symbolic.evaluate(turned.R, q)
        close(R @ R.T, np.eye(3), 1e-12)
        close(R @ symbolic.evaluate(turned.J, q), robot.jacobian(q)[rows], 1e-12)
        close(R @ symbolic.evaluate(turned.Jd_qd, q, qd), rate, 1e-12)
        return  # its closed form is in the tests of sources
    assert form.closed
    M = [[quotient_value(symbolic, entry, q, qd) for entry in row] for row in form.mass]
    V = [quotient_value(symbolic, entry, q, qd) for entry in form.velocity]
    G = [quotient_value(symbolic, entry, q, qd) for entry in form.gravity]
    close(M, expected.M)
    close(V, expected.V)
    close(G, expected.G)


def task_of(robot, frame):
    """Coordinates that the joints can move in these axes: the first independent ones."""
    q = random_states(robot.model, 9)[0]
    J, rows = robot.jacobian(q, frame), []
    for i in range(6):
        if np.linalg.matrix_rank(J[[*rows, i]], tol=1e-6) > len(rows):
            rows.append(i)
    return tuple(COORDINATES[i] for i in rows)


def test_expressions_are_the_quotients():
    model = ARMS["craig"].model
    robot = symbolise(model)
    form = cartesian_form(robot, model)
    symbols = {
        name: sympy.Symbol(name, real=True) for name in ("C1", "S1", "C2", "S2", "C12", "S12")
    }
    q, qd = np.array([0.4, 1.1]), np.array([0.3, -0.7])
    at = {
        sympy.Symbol(k, real=True): v for k, v in (robot.values | {"qd1": 0.3, "qd2": -0.7}).items()
    }
    for name, angle in (("1", 0.4), ("2", 1.1), ("12", 1.5)):
        at |= {symbols[f"C{name}"]: np.cos(angle), symbols[f"S{name}"]: np.sin(angle)}
    for ours, entry in zip(tool_terms(form).V, form.velocity, strict=True):
        assert float(ours.subs(at)) == pytest.approx(quotient_value(robot, entry, q, qd), rel=1e-12)
    assert sympy.expand(tool_terms(form).det - expression(robot, form.determinant)) == 0


def test_world_axes_show_that_the_second_mass_feels_no_velocity():
    """V_x in world axes is along the second link: what the first mass resists."""
    model = ARMS["craig"].model
    form = cartesian_form(symbolise(model), model)
    l1, l2, m1, qd1, qd2, C2, S2, C12, S12 = sympy.symbols(
        "l1 l2 m1 qd1 qd2 C2 S2 C12 S12", real=True
    )
    along = m1 * (l1 * C2 * qd1**2 + l2 * (qd1 + qd2) ** 2) / S2**2
    V = tool_terms(form).V
    assert [sympy.expand(v - along * e) for v, e in zip(V, (C12, S12), strict=True)] == [0, 0]


def test_singular_positions_can_be_read_from_the_determinant():
    """Saha's arm is singular stretched (S3 = 0) and with its tool on the first axis."""
    model = ARMS["saha"].model
    form = cartesian_form(symbolise(model), model)
    a1, a2, a3, C2, C23, S3 = sympy.symbols("a1 a2 a3 C2 C23 S3", real=True)
    assert tool_terms(form).det == -a2 * a3 * S3 * (a1 + a2 * C2 + a3 * C23)


def test_quarter_turns_of_tool_and_base_stay_exact():
    model = arm(("R", 0.0, 0.0), ("R", 0.0, 0.5), tool=TURNED, base=TURNED).model
    form = cartesian_form(symbolise(model), model, task=task_of(Robot(model), "world"))
    numbers = [number for entry in form.J.flat for _, _, number in entry]
    assert numbers
    assert all(number.denominator in (1, 2) for number in numbers)


def test_other_turns_of_tool_and_base_leave_no_rounding_behind():
    model = ARMS["tilted"].model
    robot = symbolise(model)
    lever = robot.ring.symbol("a1") * robot.ring.symbol("xt")
    tool = cartesian_form(robot, model, "tool", task_of(ARMS["tilted"], "tool"))
    assert tool.determinant == lever * robot.ring.sin({1: 1, 0: -1})
    world = cartesian_form(robot, model, "world")
    assert len(world.determinant) == len(tool.determinant)


@pytest.mark.parametrize("name", ["puma560", "scara"])
def test_large_arms_have_a_jacobian_and_formulas(name):
    robot = armdyn.load(name).with_tool(TURNED)
    symbolic = symbolise(robot.model)
    for frame in ("world", "tool"):
        form = cartesian_form(symbolic, robot.model, frame, task_of(robot, frame))
        assert not form.closed
        q, qd, _ = random_states(robot.model, 2, (3,))
        rows = [COORDINATES.index(t) for t in form.task]
        close(symbolic.evaluate(form.J, q), robot.jacobian(q, frame)[:, rows], 1e-12)
        rate = np.einsum("bij,bj->bi", robot.jacobian_dot(q, qd, frame)[:, rows], qd)
        close(symbolic.evaluate(form.Jd_qd, q, qd), rate, 1e-12)


def test_what_has_no_closed_form():
    panda, craig = armdyn.load("panda").model, ARMS["craig"].model
    with pytest.raises(ModelError, match="7 joints and the task 6 .*lock joints"):
        cartesian_form(symbolise(panda), panda)
    robot = symbolise(craig)
    with pytest.raises(ModelError, match="2 joints and the task 3 .*name fewer"):
        cartesian_form(robot, craig, task=("x", "y", "rz"))
    with pytest.raises(ModelError, match="named twice"):
        cartesian_form(robot, craig, task=("x", "x"))
    with pytest.raises(SingularityError, match="singular everywhere"):
        cartesian_form(robot, craig, task=("x", "z"))
    based = replace(craig, flange=Frame("stand", -1))
    with pytest.raises(ModelError, match="on the base, where no joint moves it"):
        cartesian_form(symbolise(based, {}), based, task=("x", "y"))
    grip = armdyn.load(GRIPPER).model
    with pytest.raises(ModelError, match="joints that follow others"):
        cartesian_form(symbolise(grip), grip, task=("x", "y", "z"))
    with pytest.raises(UnknownNameError, match="tool"):
        cartesian_form(robot, craig, "tol")
    with pytest.raises(UnknownNameError, match="coordinate"):
        cartesian_form(robot, craig, task=("x", "w"))


def test_a_tool_on_one_of_several_branches():
    model = random_model("RR", 1, tree=True)
    assert model.parents == (-1, -1)
    with pytest.raises(ModelError, match="2 joints and the task 1"):
        cartesian_form(symbolise(model), model)


def test_a_polynomial_of_numbers_is_a_number():
    robot = symbolise(ARMS["one"].model)
    assert evaluate(robot.ring.number(0.25), [0.0], {}) == 0.25
