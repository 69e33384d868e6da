"""Bases that nothing holds, beside Pinocchio's free-flyer and MuJoCo's free joint."""

import importlib.metadata
from pathlib import Path

import mujoco
import numpy as np
import pinocchio as pin
import pytest
from scipy.spatial.transform import Rotation

import armdyn
from armdyn import BaseState
from support.peers import close, pin_model
from support.programs import EvaluatedRobot

pytestmark = pytest.mark.slow


def known_to_pinocchio(arm):
    return not (arm.mimics or arm.drives)


class FreeFlyer:
    """Pinocchio's quantities in our terms: its twist and acceleration are in axes of the base.

    Its acceleration is the rate of components in these axes, which lacks ω × v.
    """

    def __init__(self, names, model, base, q, qd):
        (self.model, self.data), R = model, np.asarray(base.rotation)
        self.X = np.zeros((6 + len(q), 6 + len(q)))  # joints are in another order there
        self.X[:3, :3] = self.X[3:6, 3:6] = R
        for k, name in enumerate(names):
            self.X[6 + k, self.model.joints[self.model.getJointId(name)].idx_v] = 1.0
        still = pin.neutral(self.model)
        self.q = pin.integrate(self.model, still, self.X.T @ np.concatenate([np.zeros(6), q]))
        self.q[:7] = [*base.position, *Rotation.from_matrix(R).as_quat()]
        self.v = self.X.T @ np.concatenate([base.twist, qd])
        self.drift = np.zeros(6 + len(q))
        self.drift[:3] = np.cross(self.v[3:6], self.v[:3])

    def mass_matrix(self):
        return self.X @ pin.crba(self.model, self.data, self.q) @ self.X.T

    def torques(self, a):
        a = self.X.T @ a - self.drift
        return self.X @ pin.rnea(self.model, self.data, self.q, self.v, a)

    def accelerations(self, forces):
        a = pin.aba(self.model, self.data, self.q, self.v, self.X.T @ forces)
        return self.X @ (a + self.drift)

    def momentum_matrix(self):
        return pin.ccrba(self.model, self.data, self.q, self.v) @ self.X.T

    def momentum(self):
        return pin.computeCentroidalMomentum(self.model, self.data, self.q, self.v).vector

    def momentum_bias(self):
        """Of components in axes of the base, whose acceleration is less by ω × v if ours is 0."""
        pin.computeCentroidalMomentumTimeVariation(
            self.model, self.data, self.q, self.v, -self.drift
        )
        return self.data.dhg.vector

    def center_of_mass(self):
        return pin.centerOfMass(self.model, self.data, self.q)

    def center_of_mass_jacobian(self):
        return pin.jacobianCenterOfMass(self.model, self.data, self.q) @ self.X.T

    def energies(self):
        """Its kinetic energy has the rotors of slides and not those of hinges: added for all."""
        rotors = self.model.armature.copy()
        self.model.armature = 0.0 * rotors
        kinetic = pin.computeKineticEnergy(self.model, self.data, self.q, self.v)
        kinetic += 0.5 * rotors @ self.v**2
        self.model.armature = rotors
        return kinetic, pin.computePotentialEnergy(self.model, self.data, self.q)


def compare(robot, other, seed=0):
    rng, n = np.random.default_rng(seed), robot.n
    R = Rotation.random(random_state=seed).as_matrix()
    base = BaseState(R, rng.normal(size=3), rng.normal(size=6))
    q, qd, qdd, tau = rng.uniform(-1, 1, (4, n))
    load, free = rng.normal(size=6), robot.free_base
    theirs = FreeFlyer(robot.joint_names, other, base, q, qd)
    M = theirs.mass_matrix()
    size = np.sqrt(np.diag(M))
    worst = np.linalg.cond(M / np.outer(size, size))
    close(free.mass_matrix(base, q), M, 1e-12)
    close(free.bias(base, q, qd), theirs.torques(np.zeros(6 + n)), 1e-11)
    a, found = free.forward_dynamics(base, q, qd, tau, load, friction=False)
    expected = theirs.accelerations(np.concatenate([load, tau]))
    close(np.concatenate([a, found]), expected, max(1e-11, 1e-13 * worst))
    a, tau = free.inverse_dynamics(base, q, qd, qdd, load, friction=False)
    needed = theirs.torques(np.concatenate([a, qdd]))
    close(np.concatenate([load, tau]), needed, max(1e-10, 1e-13 * worst * np.abs(needed).max()))
    kinetic, potential = theirs.energies()
    close(free.kinetic_energy(base, q, qd), kinetic, 1e-11)
    close(free.potential_energy(base, q), potential, 1e-11)
    close(free.center_of_mass(base, q), theirs.center_of_mass(), 1e-12)
    close(free.center_of_mass_jacobian(base, q), theirs.center_of_mass_jacobian(), 1e-12)
    return free, base, q, qd, theirs


def compare_momenta(free, base, q, qd, theirs):
    close(free.centroidal_matrix(base, q), theirs.momentum_matrix(), 1e-11)
    close(free.centroidal_momentum(base, q, qd), theirs.momentum(), 1e-11)
    close(free.centroidal_bias(base, q, qd), theirs.momentum_bias(), 1e-11)


@pytest.mark.arms(where=known_to_pinocchio)
def test_arms_and_trees_that_float_are_those_of_pinocchio(arm):
    other = pin_model(arm.rigid, floating=True)
    compare_momenta(*compare(EvaluatedRobot(arm.rigid), other, arm.seed))


FINGERS = ("panda_finger_joint1", "panda_finger_joint2")


def listed(name):
    files = importlib.metadata.files("example-robot-data") or []
    return next(Path(str(f.locate())) for f in files if f.name == name)


@pytest.mark.filterwarnings("ignore::armdyn.errors.ArmdynWarning")
@pytest.mark.parametrize("name", ["talos_reduced.urdf", "anymal-kinova.urdf", "panda.urdf"])
def test_robots_of_a_file_that_float_are_those_of_pinocchio(name):
    """A humanoid, an arm on a walking robot and a Panda, each read by both."""
    path = listed(name)
    locked = {FINGERS[0]: 0.0} if "panda" in name else {}  # the other one follows
    robot = EvaluatedRobot(armdyn.load(path, locked=locked).model)
    model = pin.buildModelFromUrdf(str(path), pin.JointModelFreeFlyer())
    fingers = [model.getJointId(name) for name in FINGERS if model.existJointName(name)]
    model = pin.buildReducedModel(model, fingers, pin.neutral(model))
    compare_momenta(*compare(robot, (model, model.createData())))


def test_mujoco_agrees_on_a_free_joint(tmp_path):
    """Its angular velocity is in axes of the base, its linear velocity in the world."""
    text = """<mujoco><option gravity="0 0 -9.81"/><compiler angle="radian"/><worldbody>
    <body name="bus"><freejoint/>
      <inertial pos="0.1 -0.2 0.05" mass="20" fullinertia="2 1.5 1.8 0.1 -0.2 0.05"/>
      <body name="one" pos="0.3 0 0.2"><joint name="a" axis="0 1 0"/>
        <inertial pos="0.2 0 0" mass="3" fullinertia="0.1 0.2 0.25 0.01 0 0.02"/>
        <body name="two" pos="0.4 0 0.1"><joint name="b" type="slide" axis="0.6 0 0.8"/>
          <inertial pos="0 0.1 0.1" mass="1" fullinertia="0.02 0.03 0.01 0 0 0"/></body></body>
      <body name="three" pos="-0.3 0 0.2"><joint name="c" axis="0 0.6 0.8"/>
        <inertial pos="0.1 0.1 0" mass="2" fullinertia="0.1 0.1 0.15 0 0 0.01"/></body>
    </body></worldbody></mujoco>"""
    other = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(other)
    (tmp_path / "arm.xml").write_text(text.replace("<freejoint/>", ""))
    robot = armdyn.load(tmp_path / "arm.xml")
    rng = np.random.default_rng(3)
    turn, p, twist = Rotation.random(random_state=3), rng.normal(size=3), rng.normal(size=6)
    q, qd, tau, load = *rng.normal(size=(3, 3)), rng.normal(size=6)
    R = turn.as_matrix()
    data.qpos[:] = [*p, *np.roll(turn.as_quat(), 1), *q]
    data.qvel[:] = [*twist[:3], *(R.T @ twist[3:]), *qd]
    data.qfrc_applied[:] = [*load[:3], *(R.T @ load[3:]), *tau]
    mujoco.mj_forward(other, data)
    a, found = robot.free_base.forward_dynamics(BaseState(R, p, twist), q, qd, tau, load)
    close(np.concatenate([a[:3], R.T @ a[3:], found]), data.qacc, 1e-10)
