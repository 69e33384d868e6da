"""Every formulation on plain numbers and batches of them, joint by joint, beside Pinocchio."""

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest

from armdyn.formulations.articulated_body import articulated_body
from armdyn.formulations.composite_body import mass_matrix
from armdyn.formulations.coriolis import christoffel, coriolis_matrix
from armdyn.formulations.denoc_forward import denoc_forward
from armdyn.formulations.energy import link_energies, potential_energy
from armdyn.formulations.friction import friction_torque
from armdyn.formulations.kinematics import (
    frame_in_world,
    jacobian,
    jacobian_rate,
    velocities,
    world_frames,
    wrench_torques,
)
from armdyn.formulations.newton_euler import newton_euler
from armdyn.formulations.parameters import full_regressor, robot_parameters
from armdyn.formulations.rotors import (
    all_rotor_torques,
    rotor_inertias,
    rotor_matrix,
    rotor_torques,
    spin_loads,
    spin_matrix,
    spin_momenta,
    spin_torques,
    spins,
)
from armdyn.formulations.solve import check_pivots, solve_ltdl, solve_mass_matrix
from armdyn.formulations.springs import spring_energy, spring_torques, spring_wrenches
from armdyn.model import Spring
from armdyn.quantities.formulations import CHAINS, FORMULATIONS, NEED_COM
from support.peers import close, pin_model
from support.random_robots import random_states

STEP = 1e-30


def numbers(arm, *batch):
    """The state of all joints, what links exert and how the base turns."""
    rng, N = np.random.default_rng([arm.seed, 3]), len(arm.model.joints)
    return (
        random_states(arm.model, arm.seed, batch),
        rng.normal(size=(*batch, N, 6)),
        tuple(rng.normal(size=(2, *batch, 3))),
    )


def formulations(arm):
    """Those that can take a robot, by name."""
    left_out = {"minimal", *(() if arm.model.is_chain else CHAINS)}
    centred = all(link.inertia.has_com for link in arm.model.links)
    left_out |= set() if centred else {*NEED_COM}
    return {name: f for name, f in FORMULATIONS.items() if name not in left_out}


def slope(function, q):
    """The derivatives of an analytic function by each joint, in the last axis."""
    return np.stack([function(q + 1j * STEP * e).imag / STEP for e in np.eye(q.shape[-1])], -1)


def test_torques_of_all_joints_equal_pinocchio(arm):
    model = arm.rigid
    (q, qd, qdd), wrench, _ = numbers(arm)
    other, data = pin_model(model)
    other.armature = 0 * q
    forces = [pin.Force.Zero(), *(pin.Force(-w[:3], -w[3:]) for w in wrench)]
    expected = pin.rnea(other, data, q, qd, qdd, pin.StdVec_Force(forces))
    close(newton_euler(model, q, qd, qdd, wrench).tau, expected, 1e-11)
    M = pin.crba(other, data, q)
    close(mass_matrix(model, q), M, 1e-11)
    close(coriolis_matrix(model, q, qd), pin.computeCoriolisMatrix(other, data, q, qd), 1e-11)


def test_formulations_agree_on_batches_with_wrenches_on_a_base_that_turns(arm):
    model, (state, wrench, turning) = arm.model, numbers(arm, 2)
    loaded = newton_euler(model, *state, wrench, turning).tau
    bare = newton_euler(model, *state).tau
    assert loaded.shape == bare.shape == (2, len(model.joints))
    for formulation in formulations(arm).values():
        close(formulation(model, *state, wrench=wrench, turning=turning).tau, loaded, 1e-10)
        close(formulation(model, *(x[1] for x in state)).tau, bare[1], 1e-11)


def test_what_matrices_of_formulations_are(arm):
    model, ((q, qd, qdd), *_) = arm.model, numbers(arm, 2)
    M, C = mass_matrix(model, q), coriolis_matrix(model, q, qd)
    G = newton_euler(model, q, 0 * qd, 0 * qdd).tau
    symbols = christoffel(model, q)
    close(np.einsum("...ijk,...k->...ij", symbols, qd), C, 1e-11)
    close(symbols, np.swapaxes(symbols, -1, -2), 1e-11)
    close(symbols[1], christoffel(model, q[1]), 1e-12)
    known = formulations(arm)
    dense, euler = (known[name](model, q, qd, qdd) for name in ("denoc", "lagrange_euler"))
    close(dense.GIM, M, 1e-11)
    close(dense.C_skew, C, 1e-11)
    close(dense.G, G, 1e-11)
    close(euler.D, M, 1e-11)
    close(euler.h, (C @ qd[..., None])[..., 0], 1e-11)
    close(euler.c, G, 1e-11)
    if "dalembert" in known:
        parts = known["dalembert"](model, q, qd, qdd)
        close(parts.D, M, 1e-11)
        close(parts.h_tran + parts.h_rot, euler.h, 1e-11)
        close(parts.c, G, 1e-11)
    energies = link_energies(model, q, qd)
    kinetic = 0.5 * np.einsum("...i,...ij,...j->...", qd, M, qd)
    close(energies.kinetic.sum(-1), kinetic, 1e-12)
    close(energies.potential.sum(-1), potential_energy(model, q), 1e-12)
    close(slope(lambda x: potential_energy(model, x), q[1]), G[1], 1e-11)


@pytest.mark.arms(where=lambda arm: not arm.drives)
def test_accelerations_and_pivots_are_those_of_the_mass_matrix(arm):
    model, ((q, qd, qdd), wrench, _) = arm.model, numbers(arm, 2)
    M = mass_matrix(model, q) + rotor_matrix(model)
    tau = newton_euler(model, q, qd, qdd, wrench).tau + rotor_torques(model, qdd)
    rest = tau - newton_euler(model, q, qd, 0 * qdd, wrench).tau
    close(rest, (M @ qdd[..., None])[..., 0], 1e-11)
    kept = []
    loose = 1e-13 * np.linalg.cond(M).max()
    found = articulated_body(model, q, qd, tau, wrench), denoc_forward(model, q, rest)
    for pivots, accelerations in found:
        close(accelerations, qdd, loose)
        close(np.prod(pivots, -1) / np.linalg.det(M), np.ones(2), 1e-6)
        check_pivots(pivots, [joint.name for joint in model.joints])
        kept.append(pivots)
    close(kept[0] / kept[1], np.ones_like(kept[0]), 1e-6)
    one = articulated_body(model, q[0], qd[0], tau[0], wrench[0])[1]
    close(one, qdd[0], loose)
    pivots = []
    solved = solve_ltdl(model.paths, M, rest, lambda x, scale: (pivots.append((x, scale)), x)[1])
    close(solved, qdd, loose)
    close(np.stack([x for x, _ in pivots[::-1]], -1) / kept[0], np.ones_like(kept[0]), 1e-6)
    close(np.stack([s for _, s in pivots[::-1]], -1), np.diagonal(M, axis1=1, axis2=2), 1e-13)
    close(
        solve_ltdl(model.paths, M[0], np.stack([rest[0], 2 * rest[0]], -1))[:, 1], 2 * qdd[0], loose
    )
    close(solve_mass_matrix(M, rest, "abcdefg"), qdd, loose)


def test_jacobians_of_every_frame_are_slopes_of_its_place(arm):
    model, ((q, qd, _), *_) = arm.model, numbers(arm)
    frames = world_frames(model, q)
    w, v = velocities(model, frames, qd)
    named = [model.tool_frame, model.frame(model.links[arm.seed % len(model.links)].name)]
    along = 1j * STEP * qd
    for frame in named:
        R, _ = frame_in_world(frames, frame)
        p_slope = slope(lambda x, f=frame: frame_in_world(world_frames(model, x), f)[1], q)
        R_slope = slope(lambda x, f=frame: frame_in_world(world_frames(model, x), f)[0], q)
        spin = np.einsum("abk,cb->ack", R_slope, R)
        J = np.concatenate([p_slope, [spin[2, 1], spin[0, 2], spin[1, 0]]])
        close(jacobian(model, q, frame), J, 1e-12)
        for axes in (None, *named):
            turned = np.eye(3) if axes is None else frame_in_world(frames, axes)[0]
            both = np.kron(np.eye(2), turned)
            close(jacobian(model, q, frame, axes), both.T @ J, 1e-12)
            rate = jacobian_rate(model, q, qd, frame, axes)
            close(rate, jacobian(model, q + along, frame, axes).imag / STEP, 1e-11)
            batch = np.stack([0 * q, q])
            close(jacobian_rate(model, batch, np.stack([q, qd]), frame, axes)[1], rate, 1e-13)
    moved = world_frames(model, q + along)
    for i, (O, R) in enumerate(zip(moved.O, moved.R, strict=True)):
        close(v[i], O.imag / STEP, 1e-12)
        spin = (R.imag / STEP) @ frames.R[i].T
        close(w[i], [spin[2, 1], spin[0, 2], spin[1, 0]], 1e-12)


def test_parameters_times_columns_are_the_torques_of_everything(arm):
    model, ((q, qd, qdd), *_) = arm.model, numbers(arm, 2)
    springs = springs_of(model)
    robot = replace(model, springs=springs)
    known = [p.value for p in robot_parameters(robot) if p.linear]
    links = newton_euler(model, q, qd, qdd).tau
    whole = links + all_rotor_torques(model, q, qd, qdd) + friction_torque(model, qd)
    whole = whole + spring_torques(model, springs, q)
    Y = full_regressor(robot, q, qd, qdd)
    assert Y.shape == (2, len(model.joints), len(known))
    close(Y @ known, whole, 1e-11)
    close(rotor_torques(model, qdd), qdd @ rotor_matrix(model), 1e-13)
    again = rotor_torques(model, qdd, 2.0 * rotor_inertias(model))
    close(again, 2.0 * qdd @ rotor_matrix(model), 1e-13)
    close(rotor_matrix(model, 2.0 * rotor_inertias(model)), 2.0 * rotor_matrix(model), 1e-13)


def springs_of(model):
    """One between links and one to the base, with a free length and without."""
    N = len(model.links)
    ends = np.array([[0.1, 0.2, 0.3], [0.3, -0.1, 0.5], [-0.2, 0.1, 0.1], [0.4, 0.2, -0.3]])
    return (
        Spring(N - 1, ends[0], -1, ends[1], 90.0, 0.2, "one"),
        Spring(N - 1, ends[2], N // 3, ends[3], 70.0, name="two"),
    )


def test_springs_pull_down_the_slope_of_their_energy(arm):
    model, ((q, *_), *_) = arm.model, numbers(arm, 2)
    springs = springs_of(model)
    energy = spring_energy(model, springs, q)
    tau = spring_torques(model, springs, q)
    frames = world_frames(model, q)
    for state in range(2):
        at = [(R[state], O[state]) for R, O in zip(frames.R, frames.O, strict=True)]
        at.append((model.base[:3, :3], model.base[:3, 3]))
        expected = 0.0
        for s in springs:
            (R, O), (Q, A) = at[s.link], at[s.other]
            length = np.linalg.norm(O + R @ s.point - A - Q @ s.anchor)
            expected += 0.5 * s.stiffness * (length - s.free_length) ** 2
        assert energy[state] == pytest.approx(expected)
        close(slope(lambda x: spring_energy(model, springs, x), q[state]), tau[state], 1e-11)
    wrenches = spring_wrenches(model, springs, q)
    assert wrenches.shape == (2, len(model.joints) + 1, 6)
    close(wrench_torques(model, frames, wrenches[:, :-1]), tau, 1e-11)
    total = 0.0
    for i, (R, O) in enumerate([*zip(frames.R, frames.O, strict=True), frames.base]):
        f, n = ((R @ part[..., None])[..., 0] for part in np.split(wrenches[:, i], 2, -1))
        total = total + np.concatenate([f, n + np.cross(O, f)], -1)
    close(total, np.zeros((2, 6)), 1e-11)


def test_rotors_that_spin_need_the_torques_of_lagrange(arm):
    """d/dt ∂T/∂q̇ - ∂T/∂q with T = Σ H (S_r q̇) (a·ω_k) on the carriers, which is ½ q̇ᵀ M q̇."""
    model, ((q, qd, qdd), _, turning) = arm.model, numbers(arm)
    M = spin_matrix(model, q)
    H, (w, _) = spin_momenta(model), velocities(model, world_frames(model, q), qd)
    frames = world_frames(model, q)
    energy = sum(
        H[s.place] * s.rate(qd) * (frames.R[s.link] @ s.axis) @ w[s.link]
        for s in spins(model)
        if s.link >= 0
    )
    assert 0.5 * qd @ M @ qd == pytest.approx(energy, abs=1e-13)
    close(M, M.T, 1e-15)
    slopes = slope(lambda x: spin_matrix(model, x), q)
    expected = M @ qdd + slopes @ qd @ qd - 0.5 * np.einsum("ijk,i,j->k", slopes, qd, qd)
    close(spin_torques(model, q, qd, qdd), expected, 1e-12)
    for moving in (None, turning):
        loads = spin_loads(model, q, qd, qdd, turning=moving)
        held = newton_euler(model, q, qd, qdd, loads.wrench, moving)
        bare = newton_euler(model, q, qd, qdd, None, moving)
        found = spin_torques(model, q, qd, qdd, turning=moving)
        close(held.tau - bare.tau + loads.motors, found, 1e-11)
    twice = spin_torques(model, q, qd, qdd, 2.0 * H)
    close(twice, 2.0 * expected, 1e-12)
    batch = spin_torques(model, np.stack([0 * q, q]), np.stack([qd, qd]), np.stack([qdd, qdd]))
    close(batch[1], expected, 1e-12)
