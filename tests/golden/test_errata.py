"""Where the literature as printed is wrong: the printed form fails, the form we use holds.

Each test computes both on random robots; the truth is Pinocchio's or a derivative taken directly.
`test_errata_three_link.py` has those of Saha, Shirinzadeh and Alici.
"""

import re
from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest

import armdyn
from armdyn import Robot
from armdyn.formulations.augmented_body import augmented_body_intrinsic
from armdyn.formulations.cartesian import task_dynamics
from armdyn.formulations.dalembert import dalembert
from armdyn.formulations.energy import potential_energy
from armdyn.formulations.friction import friction_torque
from armdyn.formulations.kinematics import jacobian, jacobian_rate, joint_transform, world_frames
from armdyn.formulations.lagrange_euler import lagrange_euler
from armdyn.formulations.newton_euler import newton_euler
from armdyn.formulations.newton_euler_tables import newton_euler_base, newton_euler_link
from armdyn.model import Frame, FrictionLaw
from armdyn.model.transform import skew
from support.paths import ROOT
from support.peers import close, differs, pin_model
from support.random_robots import random_model, random_states

PAGE = ROOT / "docs" / "errata.md"
FILES = sorted((ROOT / "tests" / "golden").glob("test_errata*.py"))
MODEL = random_model("RRPRRR", 21)
ROBOT = Robot(MODEL)
Q, QD, QDD = random_states(MODEL, 22)
PIN, DATA = pin_model(MODEL)


def test_lagrange_euler_multiplies_the_inertias_with_accelerations():
    found, truth = lagrange_euler(MODEL, Q, QD, QDD), pin.rnea(PIN, DATA, Q, QD, QDD)
    close(found.D @ QDD + found.h + found.c, truth)
    assert differs(found.D @ QD + found.h + found.c, truth)  # (2.4)


def test_lagrange_euler_gravity_enters_with_a_minus():
    c, truth = lagrange_euler(MODEL, Q, QD, QDD).c, pin.computeGeneralizedGravity(PIN, DATA, Q)
    close(c, truth)
    assert differs(-c, truth)  # + Σ m gᵀ U r with g pointing down


def test_gravity_of_lagrange_euler_has_no_transposed_matrix():
    found, truth = lagrange_euler(MODEL, Q, QD, QDD), pin.computeGeneralizedGravity(PIN, DATA, Q)
    g = np.append(MODEL.gravity, 0.0)
    pairs = np.ndindex(6, 6)
    ours, printed = np.zeros((2, 6))
    for j, i in pairs:
        moment = found.J[j][:, 3]  # m_j r̄_j
        ours[i] -= g @ found.U[j, i] @ moment
        printed[i] -= g @ found.U[j, i].T @ moment
    close(ours, truth)
    assert differs(printed, truth)


def test_second_derivatives_vanish_for_joints_beyond_the_link_not_before_it():
    step = 1e-30
    for k in range(6):
        moved = Q + 1j * step * np.eye(6)[k]
        U_rate = lagrange_euler(MODEL, moved, QD, QDD).U.imag / step
        close(lagrange_euler(MODEL, Q, QD, QDD).U3[:, :, k], U_rate, 1e-12)
    # printed: zero if i > k; for i = 2, j = k = 1 it is not
    assert np.abs(lagrange_euler(MODEL, Q, QD, QDD).U3[1, 0, 0]).max() > 1e-2


@pytest.mark.parametrize("table", [newton_euler_base, newton_euler_link])
def test_newton_euler_starts_from_minus_the_field_of_gravity(table):
    truth = pin.rnea(PIN, DATA, Q, QD, QDD)
    close(table(MODEL, Q, QD, QDD).tau, truth)
    upward = ROBOT.with_gravity(-MODEL.gravity).model
    assert differs(table(upward, Q, QD, QDD).tau, truth)


def test_sums_of_dalembert_begin_at_the_joint():
    """The links before a joint do not load it, though z×(r̄ - p) is no zero for them."""
    model = random_model("RRR", 5)
    state = random_states(model, 6)
    found = dalembert(model, *state)
    still = replace(model, gravity=np.zeros(3))
    moving = newton_euler(still, *state[:2], np.zeros(3))
    R = world_frames(model, state[0]).R
    masses = [link.inertia.mass for link in model.links]
    h_tran, h_rot, c = np.zeros((3, 2, 3))  # each as printed and as it must be
    for i, s in np.ndindex(3, 3):
        arm = np.cross(found.z[i], found.r[s] - found.p[i])
        terms = (
            (h_tran, R[s] @ moving.F[s] @ arm),  # (4.3)
            (h_rot, R[s] @ moving.N_C[s] @ found.z[i]),  # (4.4)
            (c, -masses[s] * model.gravity @ arm),  # (4.5)
        )
        for total, term in terms:
            total[0, i] += term
            total[1, i] += term if s >= i else 0.0
    for (printed, ours), truth in ((h_tran, found.h_tran), (h_rot, found.h_rot), (c, found.c)):
        close(ours, truth, 1e-11)
        assert differs(printed, truth)
    other, data = pin_model(model)
    close(found.tau, pin.rnea(other, data, *state))


def test_second_terms_of_dalembert_are_inside_their_sums():
    """Σ_k and Σ_s end before them in print, where k and s then have no meaning but their last."""
    n, model = 4, random_model("RRRR", 5)
    q, qd, qdd = random_states(model, 6)
    found = dalembert(model, q, qd, qdd)
    z, p, r = found.z, found.p, found.r
    w = [sum(qd[b] * z[b] for b in range(k)) for k in range(n + 1)]  # ω of link k
    w[0] = np.zeros(3)
    beta = [sum(np.cross(w[b], qd[b] * z[b]) for b in range(k)) + np.zeros(3) for k in range(n + 1)]
    R = world_frames(model, q).R
    tran, rot = np.zeros((2, 2, n))  # as it must be and as printed
    for i, s in np.ndindex(n, n):
        if s < i:
            continue
        body = model.links[s].inertia
        arm, c = np.cross(z[i], r[s] - p[i]), r[s] - p[s]
        star = [p[k + 1] - p[k] for k in range(s)]
        first = sum(np.cross(w[k + 1], np.cross(w[k + 1], x)) for k, x in enumerate(star))
        own = np.cross(w[s + 1], np.cross(w[s + 1], c)) + np.cross(beta[s + 1], c)
        second = [np.cross(beta[k + 1], x) for k, x in enumerate(star)]
        for total, terms in zip(tran, (second, second[-1:]), strict=True):
            total[i] += body.mass * (first + sum(terms) + own) @ arm
        I = R[s] @ body.moment_about_com @ R[s].T
        gyroscopic = np.cross(z[i], w[s + 1]) @ I @ w[s + 1]
        rot += z[i] @ I @ beta[s + 1] * np.eye(n)[i]
        rot[:, i] += gyroscopic * np.array([1.0, s == n - 1])
    close(tran[0], found.h_tran, 1e-11)
    close(rot[0], found.h_rot, 1e-11)
    assert differs(tran[1], found.h_tran)
    assert differs(rot[1], found.h_rot)
    other, data = pin_model(model)
    close(found.tau, pin.rnea(other, data, q, qd, qdd))


def test_torque_balance_about_the_centre_of_mass_subtracts_both_forces():
    found = newton_euler(MODEL, Q, QD, QDD)
    for i in range(5):
        P_C, (R, P) = MODEL.links[i].inertia.com, joint_transform(MODEL.joints[i + 1], Q[i + 1])
        f_next, n_next = R @ found.f[i + 1], R @ found.n[i + 1]
        rest = found.n[i] - n_next - np.cross(P - P_C, f_next)
        close(rest - np.cross(P_C, found.f[i]), found.N_C[i], 1e-11)
        assert differs(rest + np.cross(P_C, found.f[i]), found.N_C[i])


def test_a_sliding_joint_accelerates_its_link_along_the_axis_in_the_axes_of_the_link():
    found, slides = newton_euler(MODEL, Q, QD, QDD), 2
    pin.rnea(PIN, DATA, Q, QD, QDD)
    motion = DATA.v[slides + 1]
    truth = DATA.a_gf[slides + 1].linear + np.cross(motion.angular, motion.linear)
    close(found.vd[slides], truth)
    in_base = world_frames(MODEL, Q).z[slides] - MODEL.joints[slides].axis
    assert differs(found.vd[slides] + QDD[slides] * in_base, truth)


def test_the_direction_of_gravity_in_the_notes_is_up():
    truth = pin.computePotentialEnergy(PIN, DATA, Q)
    close(potential_energy(MODEL, Q), truth)
    pull = sum(
        link.inertia.mass * MODEL.gravity @ c
        for link, c in zip(MODEL.links, centres(Q), strict=True)
    )
    close(-pull, truth)
    assert differs(pull, truth)  # ⟨P_C, m g G_0⟩ with G_0 the direction of the pull


def centres(q):
    """Centres of mass in the world."""
    frames = world_frames(MODEL, q)
    bodies = [link.inertia for link in MODEL.links]
    return [O + R @ body.com for O, R, body in zip(frames.O, frames.R, bodies, strict=True)]


def test_gravity_torques_are_the_slope_of_the_potential_with_a_plus():
    slope = [potential_energy(MODEL, Q + 1e-30j * unit).imag / 1e-30 for unit in np.eye(6)]
    truth = pin.computeGeneralizedGravity(PIN, DATA, Q)
    close(slope, truth)
    assert differs(-np.array(slope), truth)


def test_coulomb_friction_has_the_sign_of_the_velocity():
    law = FrictionLaw(viscous=0.2, coulomb_positive=0.5, coulomb_negative=0.5)
    joints = tuple(replace(joint, friction=law) for joint in MODEL.joints)
    torque = friction_torque(replace(MODEL, joints=joints), QD)
    close(torque, 0.2 * QD + 0.5 * np.sign(QD), 1e-14)
    assert differs(0.2 * QD + 0.5 * QD, torque)


def test_origin_jacobian_needs_the_off_diagonal_blocks_of_the_link_mass_matrix():
    truth = pin.crba(PIN, DATA, Q)
    full, diagonal, mixed = np.zeros((3, 6, 6))
    for i, link in enumerate(MODEL.links):
        body = link.inertia
        J = jacobian(MODEL, Q, Frame("", i), Frame("", i))
        S, m = skew(body.first_moment), body.mass * np.eye(3)
        zero = np.zeros((3, 3))
        whole, in_base = np.block([[m, -S], [S, body.moment]]), jacobian(MODEL, Q, Frame("", i))
        full += J.T @ whole @ J
        mixed += in_base.T @ whole @ in_base  # ⁰Jᵀ ⁱM ⁰J
        diagonal += J.T @ np.block([[m, zero], [zero, body.moment]]) @ J
    close(full, truth)
    assert differs(diagonal, truth)
    assert differs(mixed, truth)


def test_cartesian_form_of_the_notes():
    q, qd, qdd, tool = Q, QD, QDD, MODEL.tool_frame
    J, J_rate = jacobian(MODEL, q, tool), jacobian_rate(MODEL, q, qd, tool)
    found = lagrange_euler(MODEL, q, qd, qdd)
    M, V, G = found.D, found.h, found.c
    task = ("x", "y", "z", "rx", "ry", "rz")
    inverse, form = np.linalg.inv(J), task_dynamics(qd, (J, J_rate), (M, V, G), task, 0.0, 1)
    acceleration = J @ qdd + J_rate @ qd
    force = inverse.T @ pin.rnea(PIN, DATA, q, qd, qdd)
    close(form.M @ acceleration + form.V + form.G, force, 1e-8)
    close(form.M, inverse.T @ M @ inverse, 1e-9)
    close(form.V, inverse.T @ (V - M @ inverse @ J_rate @ qd), 1e-9)
    assert differs(inverse.T @ M @ M @ inverse @ M, form.M)
    assert differs(inverse.T @ M @ (V - M @ inverse @ J_rate @ qd), form.V)
    assert differs(inverse.T @ M @ G, form.G)
    close(inverse @ (acceleration - J_rate @ qd), qdd, 1e-9)
    assert differs(inverse @ acceleration - np.linalg.inv(J_rate) @ qd, qdd)


def test_augmented_inertia_of_link_two_lost_in_the_table_of_the_6r_arm():
    robot = armdyn.load("renaud_6r")
    zero = np.zeros(6)
    bodies = robot.formulate("augmented_body", zero, zero, zero)
    a2, m3_star = 0.45, bodies.m_star[2]
    own = robot.model.links[1].inertia.moment
    close(bodies.k_star[1][2, 2], own[2, 2] + m3_star * a2**2, 1e-13)


def test_augmented_masses_and_forces_sum_the_links_beyond_the_joint():
    found = augmented_body_intrinsic(MODEL, Q, QD, QDD)
    pin.computeSubtreeMasses(PIN, DATA)
    close(found.m_star, np.array(DATA.mass)[1:], 1e-13)
    assert differs([sum(link.inertia.mass for link in MODEL.links)] * 6, found.m_star)
    pin.rnea(PIN, DATA, Q, QD, QDD)
    slid = [*(m * t for m, t in zip(found.m_star, found.t, strict=True)), np.zeros(3)]
    steps = [found.b[j] @ found.u_star[j] + slid[j + 1] for j in range(6)]
    for i, R in enumerate(world_frames(MODEL, Q).R):
        ours, printed = (slid[i] + sum(steps[k:]) for k in (i, 0))
        close(ours, found.e[i], 1e-11)
        close(ours + found.m_star[i] * found.r[i], R @ DATA.f[i + 1].linear)
        assert i == 0 or differs(printed, found.e[i])


def test_angular_acceleration_of_a_link_has_the_acceleration_of_its_joint():
    found = augmented_body_intrinsic(MODEL, Q, QD, QDD)
    pin.forwardKinematics(PIN, DATA, Q, QD, QDD)
    frames = world_frames(MODEL, Q)
    truth = frames.R[5] @ DATA.a[6].angular
    close(found.a[5], truth)
    turns = [
        joint.type.angle(change) * z
        for joint, z, change in zip(MODEL.joints, frames.z, QD - QDD, strict=True)
    ]
    assert differs(found.a[5] + sum(turns), truth)  # q̇ z in place of q̈ z


def test_moment_of_a_link_has_the_force_of_the_next_one():
    """n_i = n_{i+1} + φ a + ω × φ ω + d_ii × f_i - d_{i+1,i} × f_{i+1}, about the origin of i."""
    found = newton_euler(MODEL, Q, QD, QDD)
    pin.rnea(PIN, DATA, Q, QD, QDD)
    for i in range(5):
        d, (R, P) = MODEL.links[i].inertia.com, joint_transform(MODEL.joints[i + 1], Q[i + 1])
        printed = R @ found.n[i + 1] + found.N_C[i] + np.cross(d, found.f[i])
        close(printed - np.cross(d - P, R @ found.f[i + 1]), DATA.f[i + 1].angular)
        assert differs(printed, DATA.f[i + 1].angular)


def test_origins_accelerate_with_the_angular_velocity_squared():
    found, frames = augmented_body_intrinsic(MODEL, Q, QD, QDD), world_frames(MODEL, Q)
    pin.forwardKinematics(PIN, DATA, Q, QD, QDD)
    axes = pin.LOCAL_WORLD_ALIGNED
    v = [pin.getClassicalAcceleration(PIN, DATA, i, axes).linear for i in range(1, 7)]
    for i in (1, 3, 4, 5):  # those that turn
        p, a, w = frames.O[i] - frames.O[i - 1], found.a[i - 1], found.w[i - 1]
        close(np.cross(a, p) + np.cross(w, np.cross(w, p)), v[i] - v[i - 1], 1e-11)
        assert differs(np.cross(a, p) + np.cross(a, np.cross(a, p)), v[i] - v[i - 1])


def test_the_page_of_errata_names_a_test_for_each_row_and_each_test_has_a_row():
    rows = re.findall(r"^\|.*\|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    last = [row.strip("| ").split(" | ")[-1] for row in rows if "`test_" in row]
    headers = 2 * sum(row.startswith("| equation |") for row in rows)
    assert len(last) == len(rows) - headers
    written = [re.findall(r"^def (test_\w+)", f.read_text(encoding="utf-8"), re.M) for f in FILES]
    ours = test_the_page_of_errata_names_a_test_for_each_row_and_each_test_has_a_row.__name__
    assert {name.strip("`") for name in last} | {ours} == {
        name for file in written for name in file
    }
