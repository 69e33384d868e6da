"""Kernels against Pinocchio: every quantity that it has, on an arm, a humanoid and long chains.

Accelerations are compared to 1e-10 of their size times the condition of the mass matrix, which is
what rounding of the torques does to them in any method.
"""

import importlib.metadata
import warnings
from itertools import pairwise
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

import armdyn
from armdyn.errors import ArmdynWarning
from armdyn.kernels.kernel import Kernel
from armdyn.kernels.llvm.segments import Planner, lower
from armdyn.kernels.llvm.target import Target
from armdyn.quantities.program import quantity_program
from armdyn.quantities.request import Request
from support.peers import close, pin_model
from support.random_robots import random_model

TOLERANCE = 1e-10


def _file(name):
    listed = importlib.metadata.files("example-robot-data") or []
    return next(Path(str(f.locate())) for f in listed if f.name == name)


def _load(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ArmdynWarning)
        return armdyn.load(_file(name), physical="warn", fix_root=True)


ROBOTS = {
    "talos": lambda: _load("talos_reduced.urdf"),
    "panda": lambda: armdyn.load("panda"),
}
LONG = pytest.mark.thorough(reason="long robots take a minute of compiling")


@pytest.fixture(scope="module", params=[pytest.param("talos", marks=LONG), "panda"])
def robot(request):
    found = ROBOTS[request.param]()
    assert found.model.coupling is None
    return found


def states(n, count=3, seed=5):
    return np.random.default_rng(seed).uniform(-1.2, 1.2, (3, count, n))


def spread(model, q):
    """Condition of the mass matrix with every joint in units of its own inertia."""
    peer, data = pin_model(model)
    M = pin.crba(peer, data, q)
    M = np.triu(M) + np.triu(M, 1).T
    scale = 1 / np.sqrt(np.diag(M))
    return float(np.linalg.cond(M * np.outer(scale, scale)))


def test_torques_masses_and_coriolis(robot):
    peer, data = pin_model(robot.model)
    q, qd, qdd = states(robot.n)
    tau = robot.inverse_dynamics(q, qd, qdd, friction=False)
    M, C = robot.mass_matrix(q), robot.coriolis_matrix(q, qd)
    g, bias = robot.gravity_vector(q), robot.bias(q, qd)
    kinetic, potential = robot.kinetic_energy(q, qd), robot.potential_energy(q)
    change = robot.potential_energy(q) - robot.potential_energy(0 * q)
    for k in range(len(q)):
        close(tau[k], pin.rnea(peer, data, q[k], qd[k], qdd[k]), TOLERANCE)
        theirs = pin.crba(peer, data, q[k])
        close(M[k], np.triu(theirs) + np.triu(theirs, 1).T, TOLERANCE)
        close(g[k], pin.computeGeneralizedGravity(peer, data, q[k]), TOLERANCE)
        close(bias[k], pin.nonLinearEffects(peer, data, q[k], qd[k]), TOLERANCE)
        close(C[k], pin.computeCoriolisMatrix(peer, data, q[k], qd[k]), TOLERANCE)
        close(kinetic[k], 0.5 * qd[k] @ M[k] @ qd[k], TOLERANCE)
        theirs = [pin.computePotentialEnergy(peer, data, x) for x in (q[k], 0 * q[k])]
        close(change[k], theirs[0] - theirs[1], TOLERANCE)
    assert potential.shape == (3,)


def test_accelerations(robot):
    peer, data = pin_model(robot.model)
    q, qd, tau = states(robot.n)
    found = robot.forward_dynamics(q, qd, tau, friction=False)
    for k in range(len(q)):
        theirs = pin.aba(peer, data, q[k], qd[k], tau[k])
        close(found[k], theirs, max(TOLERANCE, 1e-14 * spread(robot.model, q[k])))
        close(pin.rnea(peer, data, q[k], qd[k], found[k]), tau[k], TOLERANCE * np.abs(theirs).max())


def test_derivatives(robot):
    peer, data = pin_model(robot.model)
    q, qd, qdd = states(robot.n, count=2)
    slopes = robot.inverse_dynamics_derivatives(q, qd, qdd, friction=False)
    tau = robot.inverse_dynamics(q, qd, qdd, friction=False)
    others = robot.forward_dynamics_derivatives(q, qd, tau, friction=False)
    for k in range(len(q)):
        dq, dqd, M = pin.computeRNEADerivatives(peer, data, q[k], qd[k], qdd[k])
        close(slopes.dq[k], dq, TOLERANCE)
        close(slopes.dqd[k], dqd, TOLERANCE)
        close(slopes.dqdd[k], np.triu(M) + np.triu(M, 1).T, TOLERANCE)
        pin.computeABADerivatives(peer, data, q[k], qd[k], tau[k])
        limit = max(TOLERANCE, 1e-13 * spread(robot.model, q[k]))
        inverse = np.triu(data.Minv) + np.triu(data.Minv, 1).T
        close(others.dq[k], data.ddq_dq, limit)
        close(others.dqd[k], data.ddq_dv, limit)
        close(others.dtau[k], inverse, limit)


def test_kinematics(robot):
    peer, data = pin_model(robot.model)
    q, qd, _ = states(robot.n)
    place, J = robot.forward_kinematics(q), robot.jacobian(q)
    rate, own = robot.jacobian_dot(q, qd), robot.jacobian(q, "tool")
    tool = peer.getFrameId("tool")
    for k in range(len(q)):
        pin.computeJointJacobiansTimeVariation(peer, data, q[k], qd[k])
        pin.updateFramePlacements(peer, data)
        close(place[k], data.oMf[tool].homogeneous, 1e-12)
        aligned, local = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED, pin.ReferenceFrame.LOCAL
        close(J[k], pin.getFrameJacobian(peer, data, tool, aligned), 1e-12)
        close(own[k], pin.getFrameJacobian(peer, data, tool, local), 1e-12)
        close(rate[k], pin.getFrameJacobianTimeVariation(peer, data, tool, aligned), 1e-11)


def test_regressor(robot):
    """Pinocchio's parameters of a link are in our order: m, mc, Ixx, Ixy, Iyy, Ixz, Iyz, Izz."""
    peer, data = pin_model(robot.model)
    q, qd, qdd = states(robot.n, count=2)
    Y = robot.regressor(q, qd, qdd, links=True)
    for k in range(len(q)):
        theirs = pin.computeJointTorqueRegressor(peer, data, q[k], qd[k], qdd[k])
        close(Y[k], theirs, TOLERANCE)


@LONG
@pytest.mark.parametrize(("tree", "joints"), [(False, (15, 30, 60)), (True, (20, 40))])
def test_long_robots(tree, joints, record_property):
    """A long chain is ill-conditioned, so the torques of its accelerations are compared."""
    sizes = []
    for n in joints:
        model = random_model("R" * n, 5, tree=tree)
        program = quantity_program(model, Request("inverse_dynamics"))
        pieces = Planner(program).plan(lower(program, Target.host().fma))
        sizes.append((program.operations.total, len(pieces.steps), pieces.slots))
    record_property("operations, steps and slots", sizes)
    for small, large in pairwise(sizes):
        assert all(b < 2.5 * a for a, b in zip(small, large, strict=True))
    torques = Kernel(model, Request("inverse_dynamics"))
    peer, data = pin_model(model)
    q, qd, qdd = 0.3 * states(joints[-1], count=9)
    tau = torques(q, qd, qdd)
    motions = Kernel(model, Request("forward_dynamics"))
    found = motions(q, qd, tau)
    for k in range(9):
        theirs = pin.rnea(peer, data, q[k], qd[k], qdd[k])
        close(tau[k], theirs, TOLERANCE)
        again = pin.rnea(peer, data, q[k], qd[k], found[k])
        close(again, theirs, 1e-9)
        ours = np.abs(found[k] - qdd[k]).max()
        others = np.abs(pin.aba(peer, data, q[k], qd[k], theirs) - qdd[k]).max()
        assert ours < max(1e-9, 100 * others)
    assert np.array_equal(torques(q[4], qd[4], qdd[4]), tau[4])
    assert np.array_equal(motions(q[4], qd[4], tau[4]), found[4])
