"""Errata of Saha, Shirinzadeh and Alici, "Dynamic model simplification of serial manipulators".

The general equations are tried on a random arm of three revolute joints, the others on the arm of
the paper: a1, a2, a3 are its lengths, d_k the distances of its centres of mass from the joints.
"""

from types import SimpleNamespace

import numpy as np
import pinocchio as pin
import pytest

import armdyn
from armdyn import Robot
from armdyn.formulations.composite_body import mass_matrix
from armdyn.formulations.denoc import denoc
from armdyn.formulations.lagrange_euler import lagrange_euler
from armdyn.formulations.newton_euler import newton_euler
from armdyn.model.transform import skew
from support.peers import close, differs, pin_model
from support.random_robots import random_model, random_states
from support.saha_arm import (
    CONSTANT,
    HALF,
    LENGTHS,
    MASSES,
    NOMINAL,
    constant_saha_arm,
    saha_arm,
)

CHAIN = random_model("RPRR", 21)
A1, A2, _ = LENGTHS
M1, M2, M3 = MASSES


@pytest.fixture
def three_link():
    """Three revolute joints by Pinocchio: axes e, I and mass of links, ρ_ik, mass matrix GIM."""
    model = random_model("RRR", 5)
    q, qd, qdd = random_states(model, 6)
    other, data = pin_model(model)
    upper = np.triu(pin.crba(other, data, q))
    pin.forwardKinematics(other, data, q)
    O, R = ([getattr(x, k) for x in list(data.oMi)[1:]] for k in ("translation", "rotation"))
    bodies = [link.inertia for link in model.links]
    centres = [O[k] + R[k] @ bodies[k].com for k in range(3)]
    return SimpleNamespace(
        GIM=upper + np.triu(upper, 1).T,
        e=[R[k] @ model.joints[k].axis for k in range(3)],
        I=[R[k] @ bodies[k].moment_about_com @ R[k].T for k in range(3)],
        m=[body.mass for body in bodies],
        rho=[[c - o for c in centres] for o in O],
        denoc=denoc(model, q, qd, qdd),
    )


def test_convective_matrix_has_the_link_masses_in_its_first_term():
    q, qd, qdd = random_states(CHAIN, 22)
    method = denoc(CHAIN, q, qd, qdd)
    still = Robot(CHAIN).with_gravity((0, 0, 0)).model
    truth = newton_euler(still, q, qd, 0 * qd).tau
    close(method.C @ qd, truth)
    M = np.zeros((24, 24))
    for i, M_i in enumerate(method.M_i):
        M[6 * i : 6 * i + 6, 6 * i : 6 * i + 6] = M_i
    composite = method.T_l.T @ M @ method.T_l
    T_l_rate = denoc(CHAIN, q + 1e-30j * qd, qd, qdd).T_l.imag / 1e-30
    wrong = method.T_d.T @ method.T_l.T @ (composite - M) @ T_l_rate @ method.T_d @ qd
    assert differs(method.C @ qd + wrong, truth)


def test_composite_bodies_are_moved_by_matrices_of_two_indices():
    """(7) and (8) have A_j and A_{i+1}: taken as from the link before, or from the base."""
    q, qd, qdd = random_states(CHAIN, 22)
    method, n = denoc(CHAIN, q, qd, qdd), 4
    other, data = pin_model(CHAIN)
    truth = np.triu(pin.crba(other, data, q))
    twist = [method.T_d[6 * i : 6 * i + 6, i] for i in range(n)]

    def block(i, j):
        return method.T_l[6 * i : 6 * i + 6, 6 * j : 6 * j + 6]

    def composite(moved):
        tilde = [method.M_i[n - 1]]
        for i in reversed(range(n - 1)):
            tilde.insert(0, method.M_i[i] + moved(i + 1).T @ tilde[0] @ moved(i + 1))
        return tilde

    def elements(tilde, moved):
        pairs = [(i, j) for i in range(n) for j in range(i)]
        return [twist[i] @ tilde[i] @ moved(i, j) @ twist[j] for i, j in pairs]

    ours = composite(lambda i: block(i, i - 1))
    lower = [truth[j, i] for i in range(n) for j in range(i)]
    close(elements(ours, block), lower)
    assert differs(elements(ours, lambda i, j: block(j, max(j - 1, 0))), lower)
    assert differs(elements(ours, lambda i, j: block(j, 0)), lower)
    assert differs(elements(composite(lambda i: block(i, 0)), block), lower)


def test_first_moment_of_a_composite_body_sums_over_all_its_links(three_link):
    for i in range(2):
        truth = three_link.denoc.M_tilde[i][:3, 3:]
        close(skew(sum(three_link.m[k] * three_link.rho[i][k] for k in range(i, 3))), truth, 1e-11)
        for j in range(i, 3):  # Σ_k m_j ρ_ij, whatever j is meant to be
            assert differs(skew((3 - i) * three_link.m[j] * three_link.rho[i][j]), truth)


def test_gim_element_of_two_revolute_joints(three_link):
    """i_ij = Σ e_iᵀ I_k e_j + m_k (e_i×ρ_ik)·(e_j×ρ_jk), not with d_k and ρ_ik."""
    e, rho, truth = three_link.e, three_link.rho, three_link.GIM[1, 0]
    ours = printed = 0.0
    for k in (1, 2):
        common = e[1] @ three_link.I[k] @ e[0]
        ours += common + three_link.m[k] * np.cross(e[1], rho[1][k]) @ np.cross(e[0], rho[0][k])
        printed += common + three_link.m[k] * np.cross(e[1], rho[k][k]) @ np.cross(e[0], rho[1][k])
    close(ours, truth)
    assert differs(printed, truth)


def test_gim_element_is_that_of_the_composite_tensor_on_the_diagonal_alone(three_link):
    tensors = [M[:3, :3] for M in three_link.denoc.M_tilde]
    for i in range(3):
        close(three_link.e[i] @ tensors[i] @ three_link.e[i], three_link.GIM[i, i])
    assert differs(three_link.e[1] @ tensors[1] @ three_link.e[0], three_link.GIM[1, 0])


def test_gim_element_of_joints_two_and_one_has_the_arm_from_the_first_joint(three_link):
    e, rho = three_link.e, three_link.rho

    def i_21(last):
        arms = ((1, rho[0][1], rho[1][1]), (2, last, rho[1][2]))
        terms = (
            three_link.I[k]
            + three_link.m[k] * (from_1 @ from_2 * np.eye(3) - np.outer(from_1, from_2))
            for k, from_1, from_2 in arms
        )
        return e[1] @ sum(terms) @ e[0]

    close(i_21(rho[0][2]), three_link.GIM[1, 0])
    assert differs(i_21(rho[0][1]), three_link.GIM[1, 0])


STATES = [(0.4, 0.3, -0.8), (1.0, -1.2, 2.0)]


@pytest.mark.parametrize("q", STATES)
def test_elements_32_and_22_of_the_arm(q):
    d2, d3, I2, I3 = 0.25, 0.2, NOMINAL[1][2], NOMINAL[2][2]
    truth = mass_matrix(saha_arm((0.1, d2, d3), NOMINAL).model, np.array(q))
    C3 = np.cos(q[2])
    close(I3 + M3 * d3**2, truth[2, 2], 1e-13)
    close(I3 + M3 * (d3**2 + A2 * d3 * C3), truth[2, 1], 1e-13)
    assert differs(I3 + M3 * (d2**2 + A2 * d3 * C3), truth[2, 1])
    both = I3 + M3 * (A2**2 + d3**2 + 2 * A2 * d3 * C3)
    close(I2 + M2 * d2**2 + both, truth[1, 1], 1e-13)
    assert differs(I2 + M3 * d3**2 + both, truth[1, 1])


@pytest.mark.parametrize("q", STATES)
def test_element_11_of_the_arm(q):
    C2, S2 = np.cos(q[1]), np.sin(q[1])
    C23, S23 = np.cos(q[1] + q[2]), np.sin(q[1] + q[2])
    tensors = NOMINAL[0][1] + M1 * 0.1**2 + NOMINAL[1][0] * S2**2 + NOMINAL[1][1] * C2**2
    tensors += NOMINAL[2][0] * S23**2 + NOMINAL[2][1] * C23**2
    for d2, d3 in ((0.25, 0.2), (0.25, 0.0)):  # the paper writes it for d3 = 0
        truth = mass_matrix(saha_arm((0.1, d2, d3), NOMINAL).model, np.array(q))[0, 0]
        masses = M2 * (A1 + d2 * C2) ** 2 + M3 * (A1 + A2 * C2 + d3 * C23) ** 2
        close(tensors + masses, truth, 1e-13)
    printed = M2 * d2 * (2 * A1 * S2 - d2 * C2**2) + M3 * A2 * (2 * A1 * S2 - A2 * C2**2)
    assert differs(tensors + printed, truth)


def test_rotations_of_the_arm():
    (_, q2, q3), zero = STATES[0], np.zeros(3)
    rotations = lagrange_euler(armdyn.load("saha_3r").model, np.array(STATES[0]), zero, zero).A
    S2, C2, S23, C23 = np.sin(q2), np.cos(q2), np.sin(q2 + q3), np.cos(q2 + q3)
    close(rotations[0, 2, :3], [0, 1, 0], 1e-15)
    assert differs([0, 1, 1], rotations[0, 2, :3])  # (15a)
    close(rotations[1, 2, :3], [S2, C2, 0], 1e-15)
    close(rotations[2, 2, :3], [S23, C23, 0], 1e-15)
    assert differs([S2, C2, 0], rotations[2, 2, :3])  # (15c)


def test_sample_calculation_is_of_the_first_axis_alone():
    q = np.array(STATES[0])
    found = denoc(armdyn.load("saha_3r").model, q, q, q)
    R = lagrange_euler(armdyn.load("saha_3r").model, q, q, q).A[1, :3, :3]
    I, (e1, e2) = R @ np.diag(NOMINAL[1]) @ R.T, found.p[:2, :3]
    printed = NOMINAL[1][0] * np.sin(q[1]) ** 2 + NOMINAL[1][1] * np.cos(q[1]) ** 2
    close(e1 @ I @ e1, printed, 1e-14)
    assert abs(e2 @ I @ e1 - printed) > 1e-2


def test_conditions_printed_for_the_constant_matrix_leave_it_varying():
    # I2xx = I2yy, m2 d2 = -m3 a2, d2 = -a2, hence m2 = m3
    inertias = NOMINAL[0], (0.05, 0.05, 0.06), CONSTANT[2]
    model = saha_arm((0.1, -A2, 0.0), inertias, masses=(M1, M3, M3)).model
    level, upright = mass_matrix(model, np.array([[0, 0, 0], [0, HALF, 0]]))[:, 0, 0]
    close(level - upright, 2 * M3 * A2**2, 1e-13)
    anywhere = np.random.default_rng(1).uniform(-3, 3, size=(20, 3))
    ours = mass_matrix(constant_saha_arm().model, anywhere)
    close(ours, np.broadcast_to(ours[0], (20, 3, 3)), 1e-13)


def test_final_matrix_of_the_arm():
    truth = mass_matrix(constant_saha_arm().model, np.array(STATES[0]))
    d1, d2, (I1, I2, I3) = 0.1, -1 / 3, CONSTANT
    i11 = I1[1] + M1 * d1**2 + I2[0] + I3[0]
    close(truth[0], [i11 + (M2 + M3) * A1**2, 0, 0], 1e-13)
    assert differs(i11, truth[0, 0])
    close(truth[1], [0, I2[2] + I3[2] + M2 * d2**2 + M3 * A2**2, I3[2]], 1e-13)
    assert differs(I3[2] + M3 * d2**2, truth[1, 1])
    assert differs(I3[2] + M3 * d2**2, truth[2, 1])
    close(truth[2, 2], I3[2], 1e-13)


def test_convective_matrix_of_the_constant_arm_does_not_vanish():
    q, qd = np.array([0.0, HALF, 0.0]), np.ones(3)
    found = denoc(constant_saha_arm().model, q, qd, 0 * qd)
    close(found.C @ qd, np.zeros(3), 1e-14)
    close(found.C_skew, np.zeros((3, 3)), 1e-14)
    close(found.C[0], [-0.2, 0.2, 0.0], 1e-14)
