"""The quantities that formulations have by name, each by the law that it stands for."""

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest

import armdyn
from armdyn import Robot
from armdyn.errors import ArmdynWarning
from armdyn.formulations.composite_body import mass_matrix
from armdyn.formulations.coriolis import christoffel
from armdyn.formulations.energy import link_energies, potential_energy
from armdyn.formulations.kinematics import world_frames
from armdyn.model import Body, Inertia, Link, Rotor
from support.peers import close, pin_model
from support.random_robots import random_model, random_states

STEP = 1e-30
"""Imaginary time: the imaginary part of a function of it is its derivative, to rounding."""


def freed(arm):
    """The robot with true bodies, each of its joints for itself, as formulations have them."""
    joints = tuple(replace(joint, mimic=None) for joint in arm.rigid.joints)
    return replace(arm.rigid, joints=joints)


def at(model, t, q, qd, qdd):
    """Centres of mass and rotations of the links at time t of a motion, world axes."""
    frames = world_frames(model, q + qd * t + 0.5 * qdd * t * t)
    bodies = [link.inertia for link in model.links]
    return [O + R @ x.com for O, R, x in zip(frames.O, frames.R, bodies, strict=True)], frames.R


def velocities(model, t, state):
    """Velocity of each centre of mass and angular velocity of each link at time t."""
    centres, rotations = at(model, t + 1j * STEP, *state)
    spins = [(R.imag / STEP) @ R.real.T for R in rotations]
    return [c.imag / STEP for c in centres], [S[[2, 0, 1], [1, 2, 0]] for S in spins]


def momenta(model, t, state):
    """Linear momentum and angular momentum about the centre of mass, links by 6, world axes."""
    rows = []
    (v, w), rotations = velocities(model, t, state), at(model, t, *state)[1]
    for link, v_i, w_i, R in zip(model.links, v, w, rotations, strict=True):
        spin = R @ link.inertia.moment_about_com @ R.T @ w_i
        rows.append(np.concatenate([link.inertia.mass * v_i, spin]))
    return np.array(rows)


def inertial_wrenches(model, state):
    """Rate of both momenta, less gravity."""
    rates = (momenta(model, 1e-5, state) - momenta(model, -1e-5, state)) / 2e-5
    weight = [link.inertia.mass * model.gravity for link in model.links]
    return rates - np.concatenate([weight, np.zeros_like(weight)], -1)


def turned(rotations, *vectors):
    """Vectors of each link, one after another, in the axes that the rotations lead to."""
    return np.array(
        [[R @ x for x in row] for R, *row in zip(rotations, *vectors, strict=True)]
    ).reshape(len(rotations), -1)


def test_inertial_force_and_moment_are_the_rates_of_the_momenta(arm):
    model = freed(arm)
    state = random_states(model, 5)
    truth, frames = inertial_wrenches(model, state), world_frames(model, state[0])
    found = Robot(model).formulate("newton_euler", *state)
    close(turned(frames.R, found.F, found.N_C), truth, 1e-8)
    for i, link in enumerate(model.links):
        close(found.F[i], link.inertia.mass * found.vd_C[i], 1e-14)
        close(found.N_O[i], found.N_C[i] + np.cross(link.inertia.com, found.F[i]), 1e-14)


@pytest.mark.arms(where=lambda arm: not arm.parents)
@pytest.mark.parametrize(
    ("name", "frame"), [("newton_euler_base", "world"), ("newton_euler_link", "far_end")]
)
def test_tables_have_them_in_their_own_axes_and_balance_every_link(arm, name, frame):
    model, n = freed(arm), len(arm.rigid.links)
    state = random_states(model, 6)
    found = Robot(model).formulate(name, *state, frame=frame)
    far = Robot(model).formulate("lagrange_euler", *state).A
    rotations = far[:, :3, :3] if name.endswith("link") else [np.eye(3)] * n
    close(turned(rotations, found.F, found.N), inertial_wrenches(model, state), 1e-8)
    F, N, f, moments = (turned(rotations, x) for x in (found.F, found.N, found.f, found.n))
    frames, none = world_frames(model, state[0]), np.zeros(3)
    centres = at(model, 0.0, *state)[0]
    for i in range(n):
        more = i + 1 < n
        above, moment, point = (f[i + 1], moments[i + 1], frames.P[i + 1]) if more else (none,) * 3
        close(F[i], f[i] - above, 1e-12)
        arms = np.cross(centres[i] - frames.P[i], f[i]) + np.cross(point - centres[i], above)
        close(N[i], moments[i] - moment - arms, 1e-11)


def test_a_link_without_centre_of_mass_has_no_moment_about_it():
    tree = random_model("RPHR", 4, tree=True)
    links = list(tree.links)
    regrouped = Inertia(0.0, np.array([0.1, 0.2, 0.3]), np.eye(3))
    links[1] = Link("regrouped", (Body("regrouped", regrouped),))
    model = replace(tree, links=tuple(links))
    state = random_states(model, 7)
    found = Robot(model).formulate("newton_euler", *state)
    assert np.isnan(found.N_C[1]).all()
    assert np.isnan(found.vd_C[1]).all()
    assert np.isfinite([found.N_O, found.F, found.f, found.n]).all()
    assert np.isfinite(found.N_C[0]).all()
    close(found.tau, Robot(model).formulate("augmented_body", *state).tau)


@pytest.mark.parametrize("name", ["augmented_body", "augmented_body_intrinsic"])
def test_augmented_bodies_carry_what_pinocchio_says(arm, name):
    model = freed(arm)
    state = random_states(model, 8)
    other, data = pin_model(model)
    pin.rnea(other, data, *state)
    found, frames = Robot(model).formulate(name, *state), world_frames(model, state[0])
    n = len(model.links)
    R = [np.eye(3)] * n if name == "augmented_body" else frames.R
    close(np.concatenate([found.f, found.n], -1), turned_rows(R, data.f), 1e-10)
    for i in range(n):
        locked = np.array(state)
        locked[1:, i] = 0.0
        still = Robot(model).formulate("newton_euler", *locked)
        close(found.r[i], R[i] @ still.vd[i], 1e-11)
        close(found.alpha[i], found.r[i] + found.t[i], 1e-14)
        close(found.delta[i], np.outer(found.w[i], found.w[i]), 1e-14)
        close(found.f[i], found.e[i] + found.m_star[i] * found.r[i], 1e-14)


def turned_rows(rotations, wrenches):
    """Pinocchio's forces and moments of the links in other axes, (N, 6)."""
    pairs = [x.vector.reshape(2, 3) for x in list(wrenches)[1:]]
    return np.array([(x @ R.T).ravel() for R, x in zip(rotations, pairs, strict=True)])


def test_recursive_denoc_has_twists_and_wrenches_of_the_world(arm):
    model = freed(arm)
    state = random_states(model, 9)
    other, data = pin_model(model)
    pin.rnea(other, data, *state)
    found, frames = Robot(model).formulate("denoc_recursive", *state), world_frames(model, state[0])
    dense = Robot(model).formulate("denoc", *state)
    first = [3, 4, 5, 0, 1, 2]  # Pinocchio has the linear part first
    close(np.array(found.w_tilde)[:, first], turned_rows(frames.R, data.f), 1e-10)
    close(np.array(found.t)[:, first], turned_rows(frames.R, data.v), 1e-12)
    close(np.concatenate(found.t), dense.T_l @ dense.T_d @ state[1], 1e-12)
    close(dense.T_d.T @ dense.T_l.T @ np.concatenate(found.w), found.tau, 1e-11)
    close(found.tau, dense.tau, 1e-11)


def test_centrifugal_torques_are_those_of_squares_and_coriolis_torques_the_rest(arm):
    model = freed(arm)
    q, qd, qdd = random_states(model, 10, (3,))
    found, c = Robot(model).formulate("dalembert", q, qd, qdd), christoffel(model, q)
    tran, rot = found.h_tran_sums, found.h_rot_sums
    squares = np.einsum("...ijj,...j->...i", c, qd * qd)
    close((tran.centrifugal.sum(-2) + rot.centrifugal.sum(-2)), squares, 1e-11)
    whole = np.einsum("...ijk,...j,...k->...i", c, qd, qd)
    close((tran.coriolis.sum(-2) + rot.coriolis.sum(-2)), whole - squares, 1e-11)
    close((tran.centrifugal + tran.coriolis).sum(-2), found.h_tran, 1e-12)
    close((rot.centrifugal + rot.coriolis).sum(-2), found.h_rot, 1e-12)


def test_the_four_sums_are_those_of_the_print():
    """(4.3) for revolute joints, loop by loop, with the sums over s from i."""
    model = random_model("RRR", 11)
    q, qd, qdd = random_states(model, 12)
    found = Robot(model).formulate("dalembert", q, qd, qdd)
    z, P, r, cross = found.z, [*found.p, None], found.r, np.cross
    turns = [rate * axis for rate, axis in zip(qd, z, strict=True)]
    sums = np.zeros((4, 3))
    for i in range(3):
        for s in range(i, 3):
            arms = [(k, P[k + 1] - P[k], 0) for k in range(s)] + [(s, r[s] - P[s], 2)]
            for k, x, place in arms:
                w = sum(turns[: k + 1])
                beta = sum((cross(sum(turns[:p]), turns[p]) for p in range(1, k + 1)), np.zeros(3))
                arm = model.links[s].inertia.mass * cross(z[i], r[s] - P[i])
                sums[place, i] += cross(w, cross(w, x)) @ arm
                sums[place + 1, i] += cross(beta, x) @ arm
    tran = found.h_tran_sums
    close(tran.centrifugal + tran.coriolis, sums, 1e-12)
    assert not tran.centrifugal[[1, 3]].any()


def test_energies_of_links_are_those_of_their_motion(arm):
    model = freed(arm)
    q, qd, qdd = random_states(model, 13)
    found, (v, w) = link_energies(model, q, qd), velocities(model, 0.0, (q, qd, qdd))
    centres, rotations = at(model, 0.0, q, qd, qdd)
    for i, link in enumerate(model.links):
        body, turning = link.inertia, rotations[i].T @ w[i]
        kinetic = body.mass * v[i] @ v[i] + turning @ body.moment_about_com @ turning
        assert found.kinetic[i] == pytest.approx(0.5 * kinetic)
        assert found.potential[i] == pytest.approx(-body.mass * model.gravity @ centres[i])
    other, data = pin_model(model)
    other.armature = np.zeros(len(q))
    total = pin.computeKineticEnergy(other, data, q, qd)
    assert found.kinetic.sum() == pytest.approx(total)
    assert found.potential.sum() == pytest.approx(potential_energy(model, q))


@pytest.mark.slow
def test_energies_of_links_take_batches_and_warn_of_reduced_sets():
    robot = armdyn.load("craig_two_link")
    joints = [replace(joint, rotor=Rotor(1e-3, 20.0)) for joint in robot.model.joints]
    robot = Robot(replace(robot.model, joints=tuple(joints)))
    q, qd = random_states(robot.model, 14, (2, 3))[:2]
    found = robot.link_energies(q, qd)
    assert found.kinetic.shape == found.potential.shape == (2, 3, 2)
    rotors = 0.5 * (qd**2 @ [joint.rotor.reflected for joint in joints])
    close(found.kinetic.sum(-1) + rotors, robot.kinetic_energy(q, qd), 1e-13)
    close(found.potential.sum(-1), robot.potential_energy(q), 1e-13)
    close(found.kinetic[1, 2], robot.link_energies(q[1, 2], qd[1, 2]).kinetic, 1e-14)
    reduced = Robot(replace(robot.model, reduced=True))
    with pytest.warns(ArmdynWarning, match="not in the energies of single links"):
        reduced.link_energies(q[0, 0], qd[0, 0])


def test_a_variant_of_the_convective_matrix_is_skew_consistent(arm):
    model = freed(arm)
    q, qd, qdd = random_states(model, 15)
    method, (other, data) = Robot(model).formulate("denoc", q, qd, qdd), pin_model(model)
    M_rate = mass_matrix(model, q + 1j * STEP * qd).imag / STEP
    close(method.C_skew + method.C_skew.T, M_rate, 1e-11)
    close(method.C_skew, pin.computeCoriolisMatrix(other, data, q, qd))


def test_the_original_convective_matrix_is_not():
    model = random_model("RPRH", 3)
    q, qd, qdd = random_states(model, 15)
    C = Robot(model).formulate("denoc", q, qd, qdd).C
    M_rate = mass_matrix(model, q + 1j * STEP * qd).imag / STEP
    assert np.abs(C + C.T - M_rate).max() > 1e-2 * np.abs(M_rate).max()
