"""The closed forms that books print are ours, term by term, and ours are the dynamics of any arm.

C2, S12 and so on are independent symbols here, so two expressions are equal only if they have the
same products with the same coefficients.
"""

import re
from dataclasses import replace

import numpy as np
import pytest
import sympy

import armdyn
from armdyn.closed_forms.closed_form import ClosedForm, cartesian_form
from armdyn.closed_forms.readable import readable
from armdyn.closed_forms.symbolic_robot import symbolise
from armdyn.loops.coordinates import coordinates_of
from armdyn.model.transform import rotation_from_rpy, transform
from support.arms import ARMS
from support.golden_values import golden
from support.peers import PinocchioArm, close
from support.random_robots import random_states
from support.symbolic_forms import expanded, expression, tool_terms

pytestmark = pytest.mark.slow

TOLERANCE = 1e-10


def printed(text):
    """A book's expression; every name in it is a symbol."""
    names = {name: sympy.Symbol(name, real=True) for name in re.findall(r"[A-Za-z]\w*", text)}
    return sympy.sympify(text, locals=names)


def same(robot, ours, book):
    """Whether every entry has the very terms of the book."""
    ours, book = np.asarray(ours, dtype=object), np.asarray(book, dtype=object)
    assert ours.shape == book.shape
    for place in np.ndindex(ours.shape):
        value = (
            ours[place] if isinstance(ours[place], sympy.Basic) else expression(robot, ours[place])
        )
        difference = sympy.expand(value - printed(book[place]))
        assert difference == 0, (place, value, book[place])


def closed(name):
    robot = symbolise(armdyn.load(name).model)
    return robot, ClosedForm(robot)


def test_rods_as_printed():
    robot, form = closed("two_link")
    D12 = "(m2/3 + m2*C2/2)*l**2"
    same(robot, form.M, [["(m1/3 + 4*m2/3 + m2*C2)*l**2", D12], [D12, "m2*l**2/3"]])
    h = "-m2*l**2*S2/2"
    same(robot, form.h, [[["0", h], [h, h]], [["m2*l**2*S2/2", "0"], ["0", "0"]]])
    h1 = "-m2*l**2*S2*qd2**2/2 - m2*l**2*S2*qd1*qd2"
    same(robot, form.V, [h1, "m2*l**2*S2*qd1**2/2"])
    same(robot, form.G, ["m1*g*l*C1/2 + m2*g*l*C12/2 + m2*g*l*C1", "m2*g*l*C12/2"])


def test_rods_in_numbers():
    case, (robot, form) = golden("two_link_rods"), closed("two_link")
    q, qd = case["q"], case["qd"]
    close(robot.evaluate(form.M, q), case["D"], TOLERANCE)
    close(robot.evaluate(form.h, q), [case["h_1km"], case["h_2km"]], TOLERANCE)
    close(robot.evaluate(form.V, q, qd), case["h"], TOLERANCE)
    close(robot.evaluate(form.G, q), case["c"], TOLERANCE)
    tau = form.M @ form.rates("qdd") + form.V + form.G
    close(robot.evaluate(tau, q, qd, case["qdd"]), case["tau"], TOLERANCE)


def test_craig_as_printed():
    robot, form = closed("craig_two_link")
    M12, lever = "m2*l2**2 + m2*l1*l2*C2", "m2*l1*l2*S2"
    M11 = "m2*l2**2 + 2*m2*l1*l2*C2 + (m1 + m2)*l1**2"
    same(robot, form.M, [[M11, M12], [M12, "m2*l2**2"]])
    same(robot, form.V, [f"-{lever}*(qd2**2 + 2*qd1*qd2)", f"{lever}*qd1**2"])
    same(robot, form.G, ["m2*l2*g*C12 + (m1 + m2)*l1*g*C1", "m2*l2*g*C12"])
    same(robot, form.B, [[f"-2*{lever}"], ["0"]])
    same(robot, form.C, [["0", f"-{lever}"], [lever, "0"]])
    same(robot, form.T, f"(({M11})*qd1**2 + 2*({M12})*qd1*qd2 + m2*l2**2*qd2**2)/2")
    same(robot, form.U, "(m1 + m2)*g*l1*S1 + m2*g*l2*S12")


def test_craig_at_the_tool_as_printed():
    model = armdyn.load("craig_two_link").model
    robot = symbolise(model)
    form = cartesian_form(robot, model, "tool")
    assert form.task == ("x", "y")
    same(robot, form.J, [["l1*S2", "0"], ["l1*C2 + l2", "l2"]])
    tool = tool_terms(form)
    same(robot, tool.det, "l1*l2*S2")
    same(robot, tool.M, [["m2 + m1/S2**2", "0"], ["0", "m2"]])
    same(robot, tool.G, ["m1*g*C1/S2 + m2*g*S12", "m2*g*C12"])
    V1 = "-(m2*l1*C2 + m2*l2)*qd1**2 - m2*l2*qd2**2 - (2*m2*l2 + m2*l1*C2 + m1*l1*C2/S2**2)*qd1*qd2"
    same(robot, tool.V, [V1, "m2*l1*S2*(qd1**2 + qd1*qd2)"])


def test_craig_in_numbers():
    case, (robot, form) = golden("craig_two_link"), closed("craig_two_link")
    q, qd, model = case["q"], case["qd"], armdyn.load("craig_two_link").model
    close(robot.evaluate(form.M, q), case["M"], TOLERANCE)
    close(robot.evaluate(form.V, q, qd), case["V"], TOLERANCE)
    close(robot.evaluate(form.G, q), case["G"], TOLERANCE)
    close(robot.evaluate(form.B[:, 0], q), case["B"], TOLERANCE)
    close(robot.evaluate(form.C, q), case["C"], TOLERANCE)
    close(robot.evaluate(form.T, q, qd), case["T"], TOLERANCE)
    for frame, key in (("world", "base"), ("tool", "tool")):
        at = tool_terms(cartesian_form(robot, model, frame))
        for name, entries in (("M", at.M), ("V", at.V), ("G", at.G)):
            found = [float(e.subs(numbers(robot, q, qd))) for e in np.ravel(entries)]
            close(found, case[f"{name}x_{key}"].ravel(), TOLERANCE)


def numbers(robot, q, qd):
    """The values of the symbols of a planar arm, C1 to S12 included."""
    values = dict(robot.values) | {f"qd{i + 1}": rate for i, rate in enumerate(qd)}
    for name, angle in (("1", q[0]), ("2", q[1]), ("12", q[0] + q[1])):
        values |= {f"C{name}": np.cos(angle), f"S{name}": np.sin(angle)}
    return {sympy.Symbol(name, real=True): value for name, value in values.items()}


I11 = (
    "I1yy + m1*d1**2 + I2xx*S2**2 + I2yy*C2**2 + m2*(a1 + d2*C2)**2"
    " + I3xx*S23**2 + I3yy*C23**2 + m3*(a1 + a2*C2 + d3*C23)**2"
)


def test_saha_as_printed():
    robot, form = closed("saha_3r")
    i33, i32 = "I3zz + m3*d3**2", "I3zz + m3*(d3**2 + a2*d3*C3)"
    i22 = "I2zz + m2*d2**2 + I3zz + m3*(a2**2 + d3**2 + 2*a2*d3*C3)"
    same(robot, form.M, [[I11, "0", "0"], ["0", i22, i32], ["0", i32, i33]])
    same(robot, form.G, ["0", "(m2*d2 + m3*a2)*g*C2 + m3*d3*g*C23", "m3*d3*g*C23"])


def test_saha_in_numbers():
    case, (robot, form) = golden("saha_nominal"), closed("saha_3r")
    q, qd, qdd = (0.4, 0.3, -0.8), (0.7, -0.5, 1.1), (0.2, 1.3, -0.6)
    close(robot.evaluate(form.M, q), case["GIM"], TOLERANCE)
    close(robot.evaluate(form.V, q, qd), case["C_qd"], TOLERANCE)
    close(robot.evaluate(form.G, q), case["G"], TOLERANCE)
    C = np.einsum("ikm,m->ik", form.h, form.rates("qd"))
    close(robot.evaluate(C, q, qd), case["C_christoffel"], TOLERANCE)
    tau = form.M @ form.rates("qdd") + form.V + form.G
    close(robot.evaluate(tau, q, qd, qdd), case["tau"], TOLERANCE)


def test_the_conditions_of_sahas_paper_leave_one_term_that_varies():
    """I2xx = I2yy, m2 d2 = -m3 a2, d2 = -a2, d3 = 0, I3xx = I3yy, as equalities of symbols."""
    a1, a2, m = 0.2, 0.5, 2.0
    row = {"joint": "revolute"}
    arm = armdyn.from_dh(
        [
            row
            | {
                "a": 0.0,
                "alpha": 0.0,
                "mass": 4.0,
                "com": [0.1, 0, 0],
                "inertia": [0.03, 0.03, 0.02],
            },
            row
            | {
                "a": a1,
                "alpha": np.pi / 2,
                "mass": m,
                "com": [-a2, 0, 0],
                "inertia": [0.05, 0.05, 0.06],
            },
            row | {"a": a2, "alpha": 0.0, "mass": m, "inertia": [0.03, 0.03, 0.02]},
        ],
        "modified",
    )
    letters = {"x2": "-a2", "m2": "m3", "Iyy2": "Ixx2", "Iyy3": "Ixx3"}
    robot = symbolise(arm.model, letters)
    i11 = ClosedForm(robot).M[0, 0]
    a2, m3, C2 = robot.ring.symbol("a2"), robot.ring.symbol("m3"), robot.ring.cos({1: 1})
    assert robot.sums[1] == ((2, 1),)
    rest = i11 - 2 * m3 * a2**2 * C2**2
    assert rest.constant
    assert not i11.constant


# any arm


SHORT = pytest.mark.arms(where=lambda arm: len(arm.kinds) < 6)
"""The closed form of six arbitrary axes has hundreds of thousands of terms."""


def dynamics(other, q, qd):
    """M, V, G, T and the change of U from q = 0, by Pinocchio."""
    M, V = other.mass_matrix(q), other.coriolis_matrix(q, qd) @ qd
    U = other.potential_energy(q) - other.potential_energy(0 * q)
    return M, V, other.gravity_vector(q), qd @ M @ qd / 2, U


def proved(arm):
    """Every joint is a coordinate of its own in closed forms, also one that follows another."""
    robot, at, other = symbolise(arm.model, {}), coordinates_of(arm.model), PinocchioArm(arm)
    form, (q, qd, _) = ClosedForm(robot), arm.states(2)
    states = at.positions(q), at.rates(qd)
    M, V, G, T, U = (robot.evaluate(x, *states) for x in (form.M, form.V, form.G, form.T, form.U))
    ours = at.matrix(M), at.torques(V), at.torques(G), T
    still = robot.evaluate(form.U, at.positions(0 * q[0]))
    for k in range(2):
        expected = dynamics(other, q[k], qd[k])
        for found, theirs in zip((*(x[k] for x in ours), U[k] - still), expected, strict=True):
            close(found, theirs, TOLERANCE)


@SHORT
def test_closed_form_is_the_dynamics(arm):
    proved(arm)


@pytest.mark.parametrize("signs", [(1, -1, 1), (-1, 1, -1), (1, 1, -1)])
def test_closed_form_with_antiparallel_axes(signs):
    """Parallel axes of either sense, with an offset of the joint that is no quarter turn."""
    arm = ARMS["point_masses"]
    joints = []
    for i, (joint, sign) in enumerate(zip(arm.model.joints, signs, strict=True)):
        place = transform(rotation_from_rpy([0, 0, 0.3 * i]), [0.4, 0.1, 0.2])
        joints.append(replace(joint, placement=place, axis=np.array([0.0, 0.0, float(sign)])))
    turned = replace(arm)
    vars(turned)["rigid"] = replace(arm.model, joints=tuple(joints))
    robot = symbolise(turned.model, {})
    assert robot.sums[2] == tuple((i + 1, s * signs[0]) for i, s in enumerate(signs))
    proved(turned)


@SHORT
def test_readable_terms_are_the_polynomial(arm):
    robot = symbolise(arm.model, {})
    form = ClosedForm(robot)
    for value in (*form.M.flat, *form.h.flat, form.U):
        assert expanded(robot, readable(robot, value)) == value


def test_evaluation_takes_any_batch():
    robot, form = closed("saha_3r")
    q, qd, _ = random_states(armdyn.load("saha_3r").model, 1, (2, 3))
    batch = robot.evaluate(form.V, q, qd)
    assert batch.shape == (2, 3, 3)
    one = [[robot.evaluate(form.V, q[i, j], qd[i, j]) for j in range(3)] for i in range(2)]
    np.testing.assert_allclose(batch, one, rtol=1e-14)
    assert robot.evaluate(form.T, q, qd).shape == (2, 3)
    assert not robot.evaluate(form.V, q).any()


@pytest.mark.parametrize("budget", range(50, 900, 79))
def test_a_ring_without_budget_says_so_wherever_that_is(budget):
    symbolic = symbolise(ARMS["hinge_tree"].model)
    symbolic.ring.budget = budget
    with pytest.raises(OverflowError, match="beyond the budget of their ring"):
        ClosedForm(symbolic).M  # noqa: B018
