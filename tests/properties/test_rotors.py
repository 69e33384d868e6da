"""Rotors that spin are links of their own that turn with the motors."""

from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import pytest

from armdyn import BaseMotion, BaseState
from armdyn.errors import ArmdynWarning, ModelError
from armdyn.formulations.composite_body import mass_matrix
from armdyn.formulations.coriolis import christoffel
from armdyn.formulations.newton_euler import newton_euler
from armdyn.formulations.rotors import rotor_matrix, rotor_torques
from armdyn.loops.coordinates import coordinates_of
from armdyn.model.transform import rotation_about
from armdyn.quantities.formulations import CHAINS, FORMULATIONS, NEED_COM, moving
from support.peers import close
from support.programs import EvaluatedRobot
from support.rotor_bodies import with_mimicking_rotors, with_rotor_bodies

pytestmark = pytest.mark.arms(where=lambda arm: arm.rotors)


def reflecting(model):
    """The robot with rotors of which no more than their inertia behind the gear is known."""
    joints, drives = (
        tuple(replace(owner, rotor=owner.rotor.reflecting) for owner in owners)
        for owners in (model.joints, model.drives)
    )
    return EvaluatedRobot(replace(model, joints=joints, drives=drives))


class Explicit:
    """The robot of an arm with rotors as links, at a state."""

    def __init__(self, arm, q, qd, qdd):
        self.bodies, self.at = (
            with_rotor_bodies(arm.spun.model),
            coordinates_of(arm.spun.model).at(q),
        )
        self.model = self.bodies.model
        self.motion = tuple(map(self.bodies.all, self.at.motion(qd, qdd)))
        self.turns = self.at.columns(
            np.vstack([np.eye(len(arm.spun.model.joints)), self.bodies.ratios])
        )
        """How joints and rotors turn with the coordinates."""

    def torques(self, tau):
        return self.at.torques(self.bodies.torques(tau))


def test_torques_are_those_of_rotors_that_are_links(arm):
    (q, qd, qdd), robot = arm.states(3), arm.spun
    own = Explicit(arm, q, qd, qdd)
    rotors = rotor_torques(own.model, own.motion[2])
    tau = own.torques(newton_euler(own.model, *own.motion).tau + rotors)
    close(robot.inverse_dynamics(q, qd, qdd, friction=False), tau, 1e-11)
    kinds = {"chain": arm.spun.model.is_chain, "centred": arm.bodies != "regrouped"}
    left = [*(CHAINS if not kinds["chain"] else ()), *(NEED_COM if not kinds["centred"] else ())]
    for name in arm.share([name for name in FORMULATIONS if name not in left], of=3):
        given = {"friction": False, "formulation": name}
        close(robot.inverse_dynamics(q, qd, qdd, **given), tau, 1e-11)
        close(robot.kernel("inverse_dynamics", **given)(q, qd, qdd), tau, 1e-11)


def test_rotors_may_be_links_that_mimic_their_joints(arm):
    own_motors = replace(arm.spun.model, drives=())
    motion, robot = arm.states(), EvaluatedRobot(own_motors)
    found = EvaluatedRobot(with_mimicking_rotors(own_motors))
    close(found.inverse_dynamics(*motion), robot.inverse_dynamics(*motion), 1e-11)
    close(found.mass_matrix(motion[0]), robot.mass_matrix(motion[0]), 1e-11)


def test_matrices_are_those_of_rotors_that_are_links(arm):
    (q, qd, qdd), robot = arm.states(), arm.spun
    own = Explicit(arm, q, qd, qdd)
    S, at = own.turns, own.motion
    full = mass_matrix(own.model, at[0]) + rotor_matrix(own.model)
    close(robot.mass_matrix(q), S.T @ full @ S, 1e-12)
    symbols = np.einsum("abc,ai,bj,ck->ijk", christoffel(own.model, at[0]), S, S, S)
    close(robot.christoffel(q), symbols, 1e-11)
    close(robot.coriolis_matrix(q, qd), symbols @ qd, 1e-11)
    close(robot.kinetic_energy(q, qd), 0.5 * at[1] @ full @ at[1], 1e-11)


def test_joints_and_base_feel_rotors_that_are_links(arm):
    (q, qd, qdd), robot = arm.states(), arm.spun
    own = Explicit(arm, q, qd, qdd)
    found, n = newton_euler(own.model, *own.motion), len(arm.spun.model.joints)
    rows = [found.base, *zip(found.f[:n], found.n[:n], strict=True)]
    theirs = np.array([np.concatenate(row) for row in rows])
    reduced = arm.bodies == "regrouped"
    with pytest.warns(ArmdynWarning, match="reduced set") if reduced else nullcontext():
        loads = robot.reactions(q, qd, qdd, frame="joint", base_wrench=True)
    close(loads, theirs, 1e-11)
    if reduced:  # nobody knows where its mass is
        return
    nothing = replace(own.model, gravity=np.zeros(3))
    force, moment = newton_euler(nothing, own.motion[0], 0 * own.motion[0], own.motion[1]).base
    R, O = arm.spun.model.base[:3, :3], arm.spun.model.base[:3, 3]
    about_center = R @ moment - np.cross(robot.center_of_mass(q) - O, R @ force)
    close(robot.centroidal_momentum(q, qd), np.concatenate([R @ force, about_center]), 1e-11)


def test_turning_base_turns_rotors(arm):
    """Base and arm turn together; the joints are still, then they move."""
    motion, robot = arm.states(), arm.spun
    moves = BaseMotion(None, (0.7, -1.1, 0.4), (0.2, 0.5, -0.8), (0.3, 0.1, -0.2))
    q, qd, qdd = motion
    own = Explicit(arm, q, qd, qdd)
    model, turning = moving(own.model, moves.vector(arm.spun.model.base[:3, :3]))
    rotors = rotor_torques(own.model, own.motion[2])
    tau = own.torques(newton_euler(model, *own.motion, turning=turning).tau + rotors)
    given = {"friction": False, "base_motion": moves}
    close(robot.inverse_dynamics(*motion, **given), tau, 1e-11)
    for name in ("newton_euler", "lagrange_euler"):
        close(robot.inverse_dynamics(*motion, **given, formulation=name), tau, 1e-11)
    close(robot.forward_dynamics(q, qd, tau, friction=False, base_motion=moves), qdd, 1e-9)


def test_floating_base_turns_against_its_rotors(arm):
    rng = np.random.default_rng(arm.seed)
    if arm.bodies == "regrouped":
        with pytest.raises(ModelError, match="reduced set"):
            arm.spun.free_base  # noqa: B018
        return
    (q, qd, qdd), free = arm.states(), arm.spun.free_base
    R = rotation_about(np.array([0.0, 0.6, 0.8]), 0.7)
    base = BaseState(R, rng.normal(size=3), rng.normal(size=6))
    own = Explicit(arm, q, qd, qdd)
    theirs, (all_q, all_qd, _) = EvaluatedRobot(own.model).free_base, own.motion
    S = np.block([[np.eye(6), np.zeros((6, len(q)))], [np.zeros((len(own.turns), 6)), own.turns]])
    close(free.mass_matrix(base, q), S.T @ theirs.mass_matrix(base, all_q) @ S, 1e-11)
    close(free.bias(base, q, qd), S.T @ theirs.bias(base, all_q, all_qd), 1e-10)
    momentum = theirs.centroidal_momentum(base, all_q, all_qd)
    close(free.centroidal_momentum(base, q, qd), momentum, 1e-11)
    close(free.centroidal_matrix(base, q), theirs.centroidal_matrix(base, all_q) @ S, 1e-11)
    a, tau = free.inverse_dynamics(base, q, qd, qdd)
    ledger, held = free.ledger(base, q, qd, a, qdd), reflecting(arm.spun.model).free_base
    close(ledger.total, tau, 1e-10)
    motion, plain = np.concatenate([a, qdd]), held.mass_matrix(base, q)
    spin = (free.mass_matrix(base, q) - plain) @ motion + free.bias(base, q, qd)
    close(ledger.spin, (spin - held.bias(base, q, qd))[6:], 1e-9)


def test_methods_that_are_for_independent_joints_refuse_rotors_that_spin(arm):
    q, qd, tau = arm.states()
    for method in ("articulated_body", "denoc"):
        with pytest.raises(ModelError, match="is for independent joints, and some"):
            arm.spun.forward_dynamics(q, qd, tau, method=method)
    slow = arm.spun.forward_dynamics(q, qd, tau, method="composite_body")
    close(arm.spun.forward_dynamics(q, qd, tau), slow, 1e-9)
