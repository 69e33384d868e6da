"""Where the literature as printed is wrong: the printed form fails, the form we use holds.

Each test computes both on random robots; the truth is Pinocchio's or a derivative taken directly.
"""

import numpy as np
import pinocchio as pin
import pytest

import armdyn
from armdyn import Robot
from armdyn.formulations.composite_body import mass_matrix
from armdyn.formulations.kinematics import jacobian
from armdyn.formulations.lagrange_euler import lagrange_euler
from armdyn.formulations.newton_euler import newton_euler
from armdyn.model import Frame
from armdyn.model.transform import skew
from support.peers import close, pin_model
from support.random_robots import random_model, random_states

MODEL = random_model("RRPRRR", 21)
ROBOT = Robot(MODEL)
Q, QD, QDD = random_states(MODEL, 22)
PIN, DATA = pin_model(MODEL)


def differs(printed, truth):
    """Whether a printed form is off by more than one part in a hundred."""
    return np.abs(np.asarray(printed) - truth).max() > 1e-2 * np.abs(truth).max()


def test_lagrange_euler_gravity_enters_with_a_minus():
    c, truth = lagrange_euler(MODEL, Q, QD, QDD).c, pin.computeGeneralizedGravity(PIN, DATA, Q)
    close(c, truth)
    assert differs(-c, truth)  # + Σ m gᵀ U r with g pointing down


def test_second_derivatives_vanish_for_joints_beyond_the_link_not_before_it():
    step = 1e-30
    for k in range(6):
        moved = Q + 1j * step * np.eye(6)[k]
        U_rate = lagrange_euler(MODEL, moved, QD, QDD).U.imag / step
        close(lagrange_euler(MODEL, Q, QD, QDD).U3[:, :, k], U_rate, 1e-12)
    # printed: zero if i > k; for i = 2, j = k = 1 it is not
    assert np.abs(lagrange_euler(MODEL, Q, QD, QDD).U3[1, 0, 0]).max() > 1e-2


def test_newton_euler_starts_from_minus_the_field_of_gravity():
    truth = pin.rnea(PIN, DATA, Q, QD, QDD)
    close(newton_euler(MODEL, Q, QD, QDD).tau, truth)
    upward = ROBOT.with_gravity(-MODEL.gravity).model
    assert differs(newton_euler(upward, Q, QD, QDD).tau, truth)


def test_origin_jacobian_needs_the_off_diagonal_blocks_of_the_link_mass_matrix():
    truth = pin.crba(PIN, DATA, Q)
    full, diagonal = np.zeros((6, 6)), np.zeros((6, 6))
    for i, link in enumerate(MODEL.links):
        body = link.inertia
        J = jacobian(MODEL, Q, Frame("", i), Frame("", i))
        S, m = skew(body.first_moment), body.mass * np.eye(3)
        zero = np.zeros((3, 3))
        full += J.T @ np.block([[m, -S], [S, body.moment]]) @ J
        diagonal += J.T @ np.block([[m, zero], [zero, body.moment]]) @ J
    close(full, truth)
    assert differs(diagonal, truth)


def test_cartesian_form_of_the_notes():
    J, J_rate = ROBOT.jacobian(Q), ROBOT.jacobian_dot(Q, QD)
    M, V, G = ROBOT.mass_matrix(Q), ROBOT.coriolis_vector(Q, QD), ROBOT.gravity_vector(Q)
    inverse = np.linalg.inv(J)
    form = ROBOT.cartesian(Q, QD)
    acceleration = J @ QDD + J_rate @ QD
    force = inverse.T @ pin.rnea(PIN, DATA, Q, QD, QDD)
    close(form.M @ acceleration + form.V + form.G, force, 1e-8)
    close(form.M, inverse.T @ M @ inverse, 1e-9)
    close(form.V, inverse.T @ (V - M @ inverse @ J_rate @ QD), 1e-9)
    assert differs(inverse.T @ M @ M @ inverse @ M, form.M)
    assert differs(inverse.T @ M @ (V - M @ inverse @ J_rate @ QD), form.V)
    assert differs(inverse.T @ M @ G, form.G)
    close(inverse @ (acceleration - J_rate @ QD), QDD, 1e-9)
    assert differs(inverse @ acceleration - np.linalg.inv(J_rate) @ QD, QDD)


def test_convective_matrix_has_the_link_masses_in_its_first_term():
    method = ROBOT.formulate("denoc", Q, QD, QDD)
    truth = ROBOT.coriolis_vector(Q, QD)
    close(method.C @ QD, truth)
    close(method.C_skew @ QD, truth)
    M = np.zeros((36, 36))
    for i, M_i in enumerate(method.M_i):
        M[6 * i : 6 * i + 6, 6 * i : 6 * i + 6] = M_i
    composite = method.T_l.T @ M @ method.T_l
    step = 1e-7
    ahead, behind = (ROBOT.formulate("denoc", Q + s * QD, QD, QDD).T_l for s in (step, -step))
    T_l_rate = (ahead - behind) / (2 * step)
    wrong = method.T_d.T @ method.T_l.T @ (composite - M) @ T_l_rate @ method.T_d @ QD
    assert differs(method.C @ QD + wrong, truth)


def test_original_convective_matrix_is_not_skew_consistent_but_the_variant_is():
    method = ROBOT.formulate("denoc", Q, QD, QDD)
    M_rate = mass_matrix(MODEL, Q + 1e-30j * QD).imag / 1e-30
    close(method.C_skew + method.C_skew.T, M_rate, 1e-11)
    close(method.C_skew, pin.computeCoriolisMatrix(PIN, DATA, Q, QD))
    assert differs(method.C + method.C.T, M_rate)


def test_gim_element_of_two_revolute_joints():
    """i_ij = Σ e_iᵀ I_k e_j + m_k (e_i×ρ_ik)·(e_j×ρ_jk), not with d_k and ρ_ik."""
    model = random_model("RRR", 5)
    q = random_states(model, 6)[0]
    other, data = pin_model(model)
    truth = pin.crba(other, data, q)[2, 1]
    pin.forwardKinematics(other, data, q)
    O = [data.oMi[k + 1].translation for k in range(3)]
    e = [data.oMi[k + 1].rotation @ model.joints[k].axis for k in range(3)]
    R, body = data.oMi[3].rotation, model.links[2].inertia
    I, com = R @ body.moment_about_com @ R.T, O[2] + R @ body.com
    common = e[2] @ I @ e[1]
    right = body.mass * np.cross(e[2], com - O[2]) @ np.cross(e[1], com - O[1])
    printed = body.mass * np.cross(e[2], com - O[2]) @ np.cross(e[1], com - O[2])
    close(common + right, truth)
    assert differs(common + printed, truth)


@pytest.mark.parametrize("q", [(0.4, 0.3, -0.8), (1.0, -1.2, 2.0)])
def test_three_link_arm_in_closed_form(q):
    robot = armdyn.load("saha_3r")
    m, a, d = (4, 3, 2), (0.2, 0.5, 0.4), (0.1, 0.25, 0.2)
    I1, I2, I3 = (0.03, 0.02, 0.03), (0.004, 0.065, 0.064), (0.002, 0.03, 0.029)
    C2, S2, C3 = np.cos(q[1]), np.sin(q[1]), np.cos(q[2])
    C23, S23 = np.cos(q[1] + q[2]), np.sin(q[1] + q[2])
    i33 = I3[2] + m[2] * d[2] ** 2
    i32 = I3[2] + m[2] * (d[2] ** 2 + a[1] * d[2] * C3)
    i22 = I2[2] + m[1] * d[1] ** 2 + I3[2]
    i22 += m[2] * (a[1] ** 2 + d[2] ** 2 + 2 * a[1] * d[2] * C3)
    i11 = I1[1] + m[0] * d[0] ** 2 + I2[0] * S2**2 + I2[1] * C2**2 + m[1] * (a[0] + d[1] * C2) ** 2
    i11 += I3[0] * S23**2 + I3[1] * C23**2 + m[2] * (a[0] + a[1] * C2 + d[2] * C23) ** 2
    close(robot.mass_matrix(q), [[i11, 0, 0], [0, i22, i32], [0, i32, i33]], 1e-13)
    printed_i32 = I3[2] + m[2] * (d[1] ** 2 + a[1] * d[2] * C3)
    assert abs(printed_i32 - i32) > 1e-2


def test_augmented_inertia_of_link_two_lost_in_the_table_of_the_6r_arm():
    robot = armdyn.load("renaud_6r")
    zero = np.zeros(6)
    bodies = robot.formulate("augmented_body", zero, zero, zero)
    a2, m3_star = 0.45, bodies.m_star[2]
    own = robot.model.links[1].inertia.moment
    close(bodies.k_star[1][2, 2], own[2, 2] + m3_star * a2**2, 1e-13)
