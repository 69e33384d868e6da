"""The worked examples of the literature, through the public functions, to ten digits.

The numbers were computed once with every formulation that applies and with Pinocchio, and agreed to
twelve digits; the inputs stand in each test.
"""

import numpy as np
import pytest

import armdyn
from armdyn.quantities.formulations import FORMULATIONS
from support.golden_values import golden
from support.peers import close
from support.saha_arm import SAHA_STATE, constant_saha_arm

TOLERANCE = 1e-10
HALF = np.pi / 2


def states(case):
    return tuple(case[key] for key in ("q", "qd", "qdd"))


def test_two_link_rods():
    case, robot = golden("two_link_rods"), armdyn.load("two_link")
    q, qd, qdd = states(case)
    close(robot.mass_matrix(q), case["D"], TOLERANCE)
    close(robot.coriolis_vector(q, qd), case["h"], TOLERANCE)
    close(robot.gravity_vector(q), case["c"], TOLERANCE)
    close(robot.christoffel(q), [case["h_1km"], case["h_2km"]], TOLERANCE)
    for name in FORMULATIONS:
        close(robot.inverse_dynamics(q, qd, qdd, formulation=name), case["tau"], TOLERANCE)


def test_two_link_rods_as_printed():
    robot, l, m1, m2, g = armdyn.load("two_link"), 0.8, 2.0, 1.0, 9.8062
    q = np.array([0.4, 1.1])
    (C1, C2, C12), S2 = np.cos([q[0], q[1], q.sum()]), np.sin(q[1])
    D = [[m1 / 3 + 4 * m2 / 3 + m2 * C2, m2 / 3 + m2 * C2 / 2], [m2 / 3 + m2 * C2 / 2, m2 / 3]]
    close(robot.mass_matrix(q), np.array(D) * l**2, TOLERANCE)
    c2 = 0.5 * m2 * g * l * C12
    close(robot.gravity_vector(q), [(0.5 * m1 + m2) * g * l * C1 + c2, c2], TOLERANCE)
    h = -0.5 * m2 * l**2 * S2
    close(robot.christoffel(q), [[[0, h], [h, h]], [[-h, 0], [0, 0]]], TOLERANCE)


def test_two_link_rods_u_matrices_are_those_of_the_book():
    robot, l = armdyn.load("two_link"), 0.8
    q = np.array([0.4, 1.1])
    book = robot.formulate("lagrange_euler", q, 0 * q, 0 * q)
    (C1, S1), (C12, S12) = (np.cos(0.4), np.sin(0.4)), (np.cos(1.5), np.sin(1.5))
    U_21 = [
        [-S12, -C12, 0, -l * (S12 + S1)],
        [C12, -S12, 0, l * (C12 + C1)],
        [0, 0, 0, 0],
        [0, 0, 0, 0],
    ]
    close(book.U[1, 0], U_21, TOLERANCE)
    close(book.U[0, 1], np.zeros((4, 4)), TOLERANCE)
    J_1 = 2.0 * np.array([[l**2 / 3, 0, 0, -l / 2], [0] * 4, [0] * 4, [-l / 2, 0, 0, 1]])
    close(book.J[0], J_1, TOLERANCE)


def test_craig_two_link():
    case, robot = golden("craig_two_link"), armdyn.load("craig_two_link")
    q, qd, qdd = states(case)
    close(robot.mass_matrix(q), case["M"], TOLERANCE)
    close(robot.coriolis_vector(q, qd), case["V"], TOLERANCE)
    close(robot.gravity_vector(q), case["G"], TOLERANCE)
    close(robot.inverse_dynamics(q, qd, qdd, friction=False), case["tau"], TOLERANCE)
    close(robot.inverse_dynamics(q, qd, qdd), case["tau_with_friction"], TOLERANCE)
    close(robot.kinetic_energy(q, qd), case["T"], TOLERANCE)
    form = robot.configuration_space(q)
    close(form.B[:, 0], case["B"], TOLERANCE)
    close(form.C, case["C"], TOLERANCE)


@pytest.mark.parametrize(("frame", "suffix"), [("world", "base"), ("tool", "tool")])
def test_craig_two_link_cartesian(frame, suffix):
    case, robot = golden("craig_two_link"), armdyn.load("craig_two_link")
    q, qd, qdd = states(case)
    form = robot.cartesian(q, qd, frame)
    assert form.task == ("x", "y")
    close(form.M, case[f"Mx_{suffix}"], TOLERANCE)
    close(form.V, case[f"Vx_{suffix}"], TOLERANCE)
    close(form.G, case[f"Gx_{suffix}"], TOLERANCE)
    J, J_rate = robot.jacobian(q, frame)[:2], robot.jacobian_dot(q, qd, frame)[:2]
    acceleration = J @ qdd + J_rate @ qd
    close(form.M @ acceleration + form.V + form.G, case[f"F_{suffix}"], TOLERANCE)
    if frame == "world":
        close(acceleration, case["Xdd_base"], TOLERANCE)


def test_renaud_6r():
    case, robot = golden("renaud_6r"), armdyn.load("renaud_6r")
    q, qd, qdd = states(case)
    bodies = robot.formulate("augmented_body", q, qd, qdd)
    close(bodies.m_star, case["mstar"], TOLERANCE)
    close(np.array(bodies.u_star), case["ustar"], TOLERANCE)
    close(np.diagonal(np.array(bodies.k_star), 0, 1, 2), case["kstar_diag"], TOLERANCE)
    close(robot.mass_matrix(q), case["M"], TOLERANCE)
    close(robot.coriolis_vector(q, qd), case["V"], TOLERANCE)
    close(robot.gravity_vector(q), case["G"], TOLERANCE)
    # the paper's tip wrench is what the arm exerts on the environment, in axes of the last link
    tip = -np.array([3, -2, 10, 0.4, 0.1, -0.3])
    at_tip = robot.with_tool([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0.12], [0, 0, 0, 1]])
    for name in FORMULATIONS:
        close(robot.inverse_dynamics(q, qd, qdd, formulation=name), case["Gamma"], TOLERANCE)
        loaded = at_tip.inverse_dynamics(q, qd, qdd, tip, wrench_frame="tool", formulation=name)
        close(loaded, case["Gamma_tip"], TOLERANCE)


def test_saha_nominal_arm():
    case, robot = golden("saha_nominal"), armdyn.load("saha_3r")
    q, qd, qdd = SAHA_STATE
    method = robot.formulate("denoc", q, qd, qdd)
    close(method.GIM, case["GIM"], TOLERANCE)
    close(method.C, case["C_DeNOC"], TOLERANCE)
    close(method.C_skew, case["C_christoffel"], TOLERANCE)
    close(robot.coriolis_matrix(q, qd), case["C_christoffel"], TOLERANCE)
    close(robot.coriolis_vector(q, qd), case["C_qd"], TOLERANCE)
    close(robot.gravity_vector(q), case["G"], TOLERANCE)
    for name in FORMULATIONS:
        close(robot.inverse_dynamics(q, qd, qdd, formulation=name), case["tau"], TOLERANCE)


def test_saha_modified_arm_has_a_constant_mass_matrix_and_no_coriolis_torque():
    case, (q, qd, qdd) = golden("saha_modified"), SAHA_STATE
    robot = constant_saha_arm()
    anywhere = np.random.default_rng(1).uniform(-3, 3, size=(50, 3))
    close(robot.mass_matrix(anywhere), np.broadcast_to(case["GIM"], (50, 3, 3)), TOLERANCE)
    close(robot.coriolis_vector(anywhere, anywhere), np.zeros((50, 3)), TOLERANCE)
    close(robot.gravity_vector(anywhere), np.zeros((50, 3)), TOLERANCE)
    close(robot.inverse_dynamics(q, qd, qdd), case["tau"], TOLERANCE)


RPR = [
    dict(joint="revolute", theta=0.0, d=0.3, a=0.2, alpha=-HALF, mass=3, com=(-0.1, 0.02, 0.03),
         inertia=[[0.05, 0.002, -0.001], [0.002, 0.04, 0.003], [-0.001, 0.003, 0.03]], viscous=0.1),
    dict(joint="prismatic", theta=0.5, d=0.1, a=0.1, alpha=np.pi / 3, mass=2, com=(0, -0.05, 0.04),
         inertia=[[0.02, 0.001, 0], [0.001, 0.03, -0.002], [0, -0.002, 0.025]], viscous=0.2),
    dict(joint="revolute", theta=0.0, d=0.05, a=0.3, alpha=0.0, mass=1, com=(-0.15, 0.01, 0.02),
         inertia=[[0.004, 0, 0.001], [0, 0.012, 0], [0.001, 0, 0.013]], viscous=0.05),
]  # fmt: skip


def test_standard_dh_with_a_prismatic_joint():
    case, robot = golden("standard_dh_rpr"), armdyn.from_dh(RPR, convention="standard")
    q, qd, qdd = states(case)
    close(robot.forward_kinematics(q), case["T03"], TOLERANCE)
    method = robot.formulate("dalembert", q, qd, qdd)
    close(method.D, case["D"], TOLERANCE)
    close(method.h_tran, case["h_tran"], TOLERANCE)
    close(method.h_rot, case["h_rot"], TOLERANCE)
    close(method.c, case["c"], TOLERANCE)
    close(robot.coriolis_vector(q, qd), case["h"], TOLERANCE)
    tip = -np.array([1, 2, -3, 0.1, -0.2, 0.3])
    for name in FORMULATIONS:
        rigid = robot.inverse_dynamics(q, qd, qdd, friction=False, formulation=name)
        close(rigid, case["tau_no_damping"], TOLERANCE)
        close(robot.inverse_dynamics(q, qd, qdd, formulation=name), case["tau_damped"], TOLERANCE)
        loaded = robot.inverse_dynamics(q, qd, qdd, tip, formulation=name)
        close(loaded, case["tau_damped_tip"], TOLERANCE)


def test_modified_dh_with_two_prismatic_joints():
    case = golden("modified_dh_prrp")
    columns = zip(
        ("prismatic", "revolute", "revolute", "prismatic"),
        (0.2, 0, 0.1, -0.3),
        (0.1, 0.2, 0, 0.15),
        (0.1, 0.05, 0.4, 0.2),
        (0.3, -HALF, 0.2, HALF),
        (4, 3, 2, 1),
        [(0.02, 0.03, -0.1), (0.2, 0.01, 0.02), (0.1, -0.02, 0.03), (0, 0.01, 0.12)],
        [(0.05, 0.06, 0.04), (0.02, 0.08, 0.09), (0.01, 0.03, 0.035), (0.006, 0.007, 0.002)],
        strict=True,
    )
    keys = ("joint", "theta", "d", "a", "alpha", "mass", "com", "inertia")
    rows = [dict(zip(keys, column, strict=True)) for column in columns]
    robot = armdyn.from_dh(rows, convention="modified")
    q, qd, qdd = states(case)
    close(robot.forward_kinematics(q), case["T04"], TOLERANCE)
    close(robot.mass_matrix(q), case["M"], TOLERANCE)
    close(robot.coriolis_vector(q, qd), case["V"], TOLERANCE)
    close(robot.gravity_vector(q), case["G"], TOLERANCE)
    tip = -np.array([2, -1, 4, 0.2, 0.3, -0.1])
    tool = np.eye(4)
    tool[:3, 3] = (0.01, 0.02, 0.1)
    at_tip = robot.with_tool(tool)
    for name in FORMULATIONS:
        close(robot.inverse_dynamics(q, qd, qdd, formulation=name), case["tau"], TOLERANCE)
        loaded = at_tip.inverse_dynamics(q, qd, qdd, tip, wrench_frame="tool", formulation=name)
        close(loaded, case["tau_tip"], TOLERANCE)
