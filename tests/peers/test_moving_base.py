"""Bases that move in simulations, and arms on carts, beside Pinocchio and MuJoCo."""

import mujoco
import numpy as np
import pinocchio as pin
import pytest
import scipy.integrate

import armdyn
from armdyn import BaseMotion, Robot
from support.peers import close, pin_model
from support.random_robots import random_model

X, _, Z = np.eye(3)


class Ship:
    """A base that heaves, rolls about x and yaws about z: every rate in closed form."""

    def __init__(self, t):
        self.p = np.array([np.sin(2 * t), 0.3 * t**2, 0.2 * np.cos(3 * t)])
        self.v = np.array([2 * np.cos(2 * t), 0.6 * t, -0.6 * np.sin(3 * t)])
        self.a = np.array([-4 * np.sin(2 * t), 0.6, -1.8 * np.cos(3 * t)])
        yaw, roll = 0.5 * t + t**2, 0.6 * np.sin(4 * t)
        yaw_rate, roll_rate = 0.5 + 2 * t, 2.4 * np.cos(4 * t)
        turned = pin.exp3(yaw * Z)
        self.R = turned @ pin.exp3(roll * X)
        self.w = yaw_rate * Z + turned @ (roll_rate * X)
        slope = 2 * Z + turned @ (-9.6 * np.sin(4 * t) * X)
        self.wd = slope + np.cross(yaw_rate * Z, turned @ (roll_rate * X))

    @property
    def motion(self):
        return BaseMotion(self.R, self.w, self.wd, self.a)


@pytest.mark.parametrize("method", ["DOP853", "rk4"])
def test_a_simulation_on_a_moving_base_is_that_of_pinocchio(method):
    """The free-flyer's acceleration is prescribed, and the arm's follows from its own rows."""
    robot = Robot(random_model("RPR", 1))
    model, data = pin_model(robot.model, floating=True)
    tau, start, rates = np.array([[0.5, -2.0, 0.3], [0.3, 0.1, -0.2], [1.0, -0.5, 0.4]])

    def slope(t, y):
        q, qd, ship = y[:3], y[3:], Ship(t)
        v, w = ship.R.T @ ship.v, ship.R.T @ ship.w
        position = np.concatenate([ship.p, pin.Quaternion(ship.R).coeffs(), q])
        velocity = np.concatenate([v, w, qd])
        base = np.concatenate([ship.R.T @ ship.a - np.cross(w, v), ship.R.T @ ship.wd])
        M = pin.crba(model, data, position)
        rest = tau - pin.nle(model, data, position, velocity)[6:] - M[6:, :6] @ base
        return np.concatenate([qd, np.linalg.solve(M[6:, 6:], rest)])

    options = {"rtol": 1e-9, "atol": 1e-10, "method": "DOP853"}
    expected = scipy.integrate.solve_ivp(slope, (0, 0.15), [*start, *rates], **options).y[:, -1]
    fixed = {"step": 2e-3} if method == "rk4" else {}
    found = armdyn.simulate(
        robot, start, rates, 0.15, torque=tau, base_motion=lambda t: Ship(t).motion, dt=0.003,
        method=method, friction=False, **fixed,
    )  # fmt: skip
    close(np.concatenate([found.q[-1], found.qd[-1]]), expected, 1e-7)
    assert found.energy_drift < 1e-7


CART = """
<link name="cart">{cart}</link><link name="arm">{arm}</link><link name="rod">{rod}</link>
<joint name="lift" type="prismatic"><parent link="cart"/><child link="arm"/>
  <origin xyz="0.1 0.2 0.3" rpy="0.2 0.1 0.4"/><axis xyz="0 0 1"/>
  <limit lower="-1" upper="1" effort="9" velocity="9"/></joint>
<joint name="turn" type="continuous"><parent link="arm"/><child link="rod"/>
  <origin xyz="0 0.1 0.4" rpy="0.5 0 0"/><axis xyz="1 0 0"/></joint>
"""
DRIVE = """<link name="floor"/>
<joint name="drive" type="planar"><parent link="floor"/><child link="cart"/><axis xyz="0 0 1"/></joint>
"""
MUJOCO = """<mujoco><compiler angle="radian" eulerseq="XYZ"/><worldbody><body name="cart">
  <joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 1 0"/><joint axis="0 0 1"/>{cart}
  <body name="arm" pos="0.1 0.2 0.3" euler="0.2 0.1 0.4">
    <joint type="slide" axis="0 0 1"/>{arm}
    <body name="rod" pos="0 0.1 0.4" euler="0.5 0 0"><joint axis="1 0 0"/>{rod}</body></body>
</body></worldbody></mujoco>"""
BODIES = {
    "cart": (20.0, (0.05, 0.02, 0.1), (1.0, 1.2, 1.5)),
    "arm": (3.0, (0.02, 0.1, 0.2), (0.1, 0.2, 0.15)),
    "rod": (1.5, (0.1, 0.2, -0.1), (0.05, 0.04, 0.03)),
}


def in_urdf(mass, com, moments):
    moment = " ".join(f'{k}="{v}"' for k, v in zip(("ixx", "iyy", "izz"), moments, strict=True))
    return (
        f'<inertial><origin xyz="{" ".join(map(str, com))}"/><mass value="{mass}"/>'
        f'<inertia {moment} ixy="0" ixz="0" iyz="0"/></inertial>'
    )


def in_mjcf(mass, com, moments):
    place, moment = (" ".join(map(str, x)) for x in (com, moments))
    return f'<inertial pos="{place}" mass="{mass}" diaginertia="{moment}"/>'


@pytest.fixture(scope="module")
def carts(tmp_path_factory):
    """The arm on a cart that drives, the arm on a cart that stands, and the file of the first."""
    folder = tmp_path_factory.mktemp("carts")
    links = CART.format(**{name: in_urdf(*body) for name, body in BODIES.items()})
    files = {"drives": DRIVE + links, "stands": links}
    for name, text in files.items():
        (folder / f"{name}.urdf").write_text(f'<robot name="{name}">{text}</robot>')
    both = (armdyn.load(folder / f"{name}.urdf") for name in files)
    return *both, folder / "drives.urdf"


STATES = np.random.default_rng(7).uniform(-1, 1, (3, 3, 5))


@pytest.mark.parametrize("state", STATES)
def test_an_arm_on_a_planar_base_is_that_of_pinocchio_and_mujoco(carts, state):
    robot, _, path = carts
    q, qd, qdd = state
    assert robot.joint_names == ("drive_x", "drive_y", "drive_turn", "lift", "turn")
    other = pin.buildModelFromUrdf(str(path))
    c, s = np.cos(q[2]), np.sin(q[2])
    # Pinocchio's velocity is in axes of the cart: (vx, vy) = Rᵀ (ẋ, ẏ)
    E, E_rate = np.eye(5), np.zeros((5, 5))
    E[:2, :2], E_rate[:2, :2] = [[c, s], [-s, c]], qd[2] * np.array([[-s, c], [-c, -s]])
    position = np.array([q[0], q[1], c, s, q[3], np.cos(q[4]), np.sin(q[4])])
    tau = pin.rnea(other, other.createData(), position, E @ qd, E @ qdd + E_rate @ qd)
    found = robot.inverse_dynamics(q, qd, qdd)
    close(found, E.T @ tau)
    model = mujoco.MjModel.from_xml_string(
        MUJOCO.format(**{name: in_mjcf(*body) for name, body in BODIES.items()})
    )
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:], data.qacc[:] = q, qd, qdd
    mujoco.mj_inverse(model, data)
    close(found, data.qfrc_inverse, 1e-8)


@pytest.mark.parametrize("state", STATES)
def test_a_prescribed_cart_is_a_moving_base(carts, state):
    drives, stands, _ = carts
    q, qd, qdd = state
    cart = BaseMotion(pin.exp3(q[2] * Z), qd[2] * Z, qdd[2] * Z, (*qdd[:2], 0.0))
    arm = state[:, 3:]
    tau = drives.inverse_dynamics(q, qd, qdd)
    close(stands.inverse_dynamics(*arm, base_motion=cart), tau[3:])
    wrench = stands.reactions(*arm, base_wrench=True, base_motion=cart)[0]
    close(wrench[[0, 1, 5]], tau[:3])
    # and the whole wrench is what the last link of the cart's own joints receives
    close(wrench, drives.reactions(q, qd, qdd)[2])


def test_a_cart_that_drives_and_one_that_is_prescribed_move_alike(carts):
    """A cart that its motors drive along a motion, and the same motion prescribed."""
    drives, stands, _ = carts
    push = np.array([30.0, -10.0, 5.0, 90.0, 0.5])
    whole = armdyn.simulate(drives, np.zeros(5), None, 0.1, torque=push, dt=0.002, friction=False)
    turn = whole.q[:, 2, None, None]
    R = np.eye(3) + np.sin(turn) * pin.skew(Z) + (1 - np.cos(turn)) * pin.skew(Z) @ pin.skew(Z)
    rates = whole.qd[:, 2, None] * Z, whole.qdd[:, 2, None] * Z
    moved = BaseMotion(R, *rates, np.column_stack([whole.qdd[:, :2], 0 * whole.t]))
    part = armdyn.simulate(
        stands, np.zeros(2), None, 0.1, torque=push[3:], dt=0.02, friction=False, rtol=1e-7,
        base_motion=(whole.t, moved),
    )  # fmt: skip
    close(part.q, whole.q[::10, 3:], 1e-5)


FLYING = """<mujoco><compiler angle="radian"/><option gravity="1 2 -9"/><worldbody>
<body><freejoint/><inertial pos="0.1 0.05 0.02" mass="4" diaginertia="0.2 0.3 0.25"/>
  <body pos="0.1 0.2 0.3" euler="0.3 0.2 0.1"><joint axis="0 0.6 0.8"/>
    <inertial pos="0.02 0.1 0.2" mass="3" diaginertia="0.1 0.2 0.15"/>
    <body pos="0.1 -0.2 0.1" euler="0.3 -0.2 0.8"><joint type="slide" axis="1 0 0"/>
      <inertial pos="0.2 0.1 -0.2" mass="1" diaginertia="0.1 0.12 0.15"/></body></body></body>
</worldbody></mujoco>"""


def test_an_arm_that_flies_free_in_mujoco_needs_nothing_of_its_base(tmp_path):
    """MuJoCo finds how base and joints of a free arm accelerate; we prescribe what it found."""
    (tmp_path / "flying.xml").write_text(FLYING)
    robot = armdyn.load(tmp_path / "flying.xml", fix_root=True)
    model = mujoco.MjModel.from_xml_string(FLYING)
    data = mujoco.MjData(model)
    draws = np.random.default_rng(1)
    for _ in range(3):
        turn = draws.normal(size=4)
        data.qpos[:] = [*draws.normal(size=3), *turn / np.linalg.norm(turn), *draws.normal(size=2)]
        data.qvel[:], tau = draws.normal(size=8), draws.normal(size=2)
        data.qfrc_applied[6:] = tau
        mujoco.mj_forward(model, data)
        R, w, wd = data.xmat[1].reshape(3, 3), data.qvel[3:6], data.qacc[3:6]
        flight = BaseMotion(R, R @ w, R @ wd, data.qacc[:3])
        q, qd, qdd = data.qpos[7:], data.qvel[6:], data.qacc[6:]
        close(robot.inverse_dynamics(q, qd, qdd, base_motion=flight), tau)
        close(robot.forward_dynamics(q, qd, tau, base_motion=flight), qdd)
        close(robot.reactions(q, qd, qdd, base_wrench=True, base_motion=flight)[0], np.zeros(6))
