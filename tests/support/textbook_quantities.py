"""Quantities of robots from the pages of `armdyn.formulations`, and robots to compare them on."""

import math
from dataclasses import replace

import numpy as np

import armdyn
from armdyn.formulations import kinematics as kin
from armdyn.formulations.base_parameters import base_parameters
from armdyn.formulations.cartesian import default_task, task_dynamics
from armdyn.formulations.composite_body import mass_matrix
from armdyn.formulations.coriolis import christoffel, configuration_space, coriolis_matrix
from armdyn.formulations.energy import link_energies, potential_energy
from armdyn.formulations.forward_dynamics import accelerations
from armdyn.formulations.friction import friction_rows, friction_torque
from armdyn.formulations.lagrange_euler import homogeneous
from armdyn.formulations.newton_euler import newton_euler
from armdyn.formulations.parameters import full_regressor
from armdyn.formulations.regressor import regressor
from armdyn.formulations.rotors import rotor_matrix, spin_loads, spin_torques
from armdyn.formulations.spatial import cross, rotate, rotate_back, skew
from armdyn.loops.coordinates import coordinates_of
from armdyn.model import Frame, Mimic
from support.random_robots import random_model
from support.rotor_bodies import with_rotor_bodies


def coupled_tree():
    """A tree with sliding, mimicking and geared joints and friction."""
    model = random_model("RPRRPRR", 31, tree=True, rotors=True, friction=True)
    follows = {
        2: Mimic("joint1", -0.7, 0.3),
        4: Mimic("joint2", 0.4, -0.1),
        6: Mimic("joint3", 1.5),
    }
    joints = [replace(j, mimic=follows.get(i)) for i, j in enumerate(model.joints)]
    return replace(model, joints=tuple(joints))


MODELS = {
    "panda": armdyn.load("panda").model,
    "puma560": armdyn.load("puma560").model,
    "stanford": armdyn.load("stanford").model,
    "tree": random_model("RRPRRP", 4, tree=True, rotors=True, friction=True),
    "coupled": coupled_tree(),
}


def tensor(at, c, ratios):
    """An n by n by n tensor of the coordinates from one of all joints, and rotors with ratios."""
    K = at.columns(np.vstack([np.eye(ratios.shape[1]), ratios]))
    return np.einsum("ia,jb,kc,...ijk->...abc", K, K, K, c)


FIRST = np.array([3, -32, 168, -672, 0, 672, -168, 32, -3]) / 840
SECOND = np.array([-9, 128, -1008, 8064, -14350, 8064, -1008, 128, -9]) / 5040
"""Differences of the eighth order."""


class TextbookQuantities:
    """The quantities of a robot from the pages of `armdyn.formulations`, in NumPy."""

    def __init__(self, model, link="tool", frame="world"):
        self.model, self.at = model, coordinates_of(model)
        self.link, self.axes = model.frame(link), None if frame == "world" else model.frame(frame)
        self.rotors, self.explicit = rotor_matrix(model), with_rotor_bodies(model)
        self.still = replace(model, gravity=np.zeros(3))

    def links(self, q, qd, qdd, model=None, wrench=None):
        motion = self.at.positions(q), self.at.rates(qd), self.at.rates(qdd)
        return self.at.torques(newton_euler(model or self.model, *motion, wrench).tau)

    def rotor(self, qdd):
        return self.at.torques(self.at.rates(qdd) @ self.rotors)

    def spin(self, q, qd, qdd):
        motion = self.at.positions(q), self.at.rates(qd), self.at.rates(qdd)
        return self.at.torques(spin_torques(self.model, *motion))

    def inverse_dynamics(self, q, qd, qdd, wrench=None):
        links = self.links(q, qd, qdd, wrench=wrench) + self.spin(q, qd, qdd)
        return links + self.rotor(qdd) + self.friction_torque(qd)

    def forward_dynamics(self, q, qd, tau):
        rest = tau - self.friction_torque(qd)
        return accelerations(self.at, q, qd, rest, None, "composite_body")

    def mass_matrix(self, q):
        model = self.explicit.model
        M = mass_matrix(model, self.explicit.all(self.at.positions(q))) + rotor_matrix(model)
        return self.at.matrix(self.explicit.matrix(M))

    def coriolis_matrix(self, q, qd):
        motion = map(self.explicit.all, (self.at.positions(q), self.at.rates(qd)))
        return self.at.matrix(self.explicit.matrix(coriolis_matrix(self.explicit.model, *motion)))

    def christoffel(self, q):
        place = self.explicit.all(self.at.positions(q))
        return tensor(self.at, christoffel(self.explicit.model, place), self.explicit.ratios)

    def configuration_space(self, q):
        terms = self.mass_matrix(q), self.christoffel(q), self.gravity_vector(q)
        form = configuration_space(*terms)
        return np.concatenate([form.M, form.B, form.C, form.G[..., None]], -1)

    def cartesian(self, q, qd, task=None, damping=0.0):
        terms = self.mass_matrix(q), self.coriolis_vector(q, qd), self.gravity_vector(q)
        jacobians, task = (self.jacobian(q), self.jacobian_dot(q, qd)), task or self.task
        form = task_dynamics(qd, jacobians, terms, task, damping, q[..., 0].size)
        return np.concatenate([form.M, form.V[..., None], form.G[..., None]], -1)

    @property
    def task(self):
        return default_task(self.at)

    def coriolis_vector(self, q, qd):
        return self.links(q, qd, 0 * qd, self.still) + self.spin(q, qd, 0 * qd)

    def gravity_vector(self, q):
        return self.links(q, 0 * q, 0 * q)

    def bias(self, q, qd):
        links = self.links(q, qd, 0 * qd) + self.spin(q, qd, 0 * qd)
        return links + self.friction_torque(qd)

    def friction_torque(self, qd):
        return self.at.torques(friction_torque(self.model, self.at.rates(qd)))

    def ledger(self, q, qd, qdd):
        friction, zero = friction_rows(self.model, self.at.rates(qd)), np.zeros_like(q)
        terms = [
            self.links(q, zero, qdd, self.still),
            self.links(q, qd, zero, self.still),
            self.links(q, zero, zero),
            *map(self.at.torques, friction.values()),
            self.rotor(qdd),
            self.spin(q, qd, qdd),
            zero,
        ]
        return np.stack(terms, -2)

    def kinetic_energy(self, q, qd):
        return 0.5 * np.einsum("...i,...ij,...j", qd, self.mass_matrix(q), qd)

    def momentum(self, q, qd):
        return np.einsum("...ij,...j", self.mass_matrix(q), qd)

    def observer_start(self, q, qd, tau):
        transposed = np.einsum("...ji,...j", self.coriolis_matrix(q, qd), qd)
        u = tau + transposed - self.gravity_vector(q) - self.friction_torque(qd)
        return np.concatenate([np.zeros_like(u), self.momentum(q, qd), u], -1)

    def observer_step(self, state, q, qd, tau, h, gain):
        r, p, u = np.split(state, 3, -1)
        _, p_next, u_next = np.split(self.observer_start(q, qd, tau), 3, -1)
        decay = np.exp(-gain * h)
        r_next = decay * r + (1 - decay) * ((p_next - p) / h - (u + u_next) / 2)
        return np.concatenate([r_next, p_next, u_next], -1)

    def potential_energy(self, q):
        return potential_energy(self.model, self.at.positions(q))

    def link_energies(self, q, qd):
        found = link_energies(self.model, self.at.positions(q), self.at.rates(qd))
        return np.stack([found.kinetic, found.potential], -2)

    def forward_kinematics(self, q):
        frames = kin.world_frames(self.model, self.at.positions(q))
        return homogeneous(*kin.frame_in_world(frames, self.link))

    def jacobian(self, q):
        place = self.at.positions(q)
        return self.at.columns(kin.jacobian(self.model, place, self.link, self.axes))

    def jacobian_dot(self, q, qd):
        motion = self.at.positions(q), self.at.rates(qd)
        return self.at.columns(kin.jacobian_rate(self.model, *motion, self.link, self.axes))

    def link_frames(self, q):
        frames = kin.world_frames(self.model, self.at.positions(q))
        places = [kin.frame_in_world(frames, self.model.frame(k.name)) for k in self.model.links]
        return np.stack([homogeneous(*place) for place in places], -3)

    def joint_frames(self, q):
        frames = kin.world_frames(self.model, self.at.positions(q))
        places = zip(frames.R, frames.O, strict=True)
        return np.stack([homogeneous(R, O) for R, O in places], -3)

    def frame_motion(self, q, qd, qdd):
        J, J_rate = self.jacobian(q), self.jacobian_dot(q, qd)
        velocity = np.einsum("...ij,...j->...i", J, qd)
        acceleration = np.einsum("...ij,...j->...i", J, qdd)
        return np.stack([velocity, acceleration + np.einsum("...ij,...j->...i", J_rate, qd)], -2)

    def link_jacobians(self, q):
        place, named = self.at.positions(q), [self.model.frame(k.name) for k in self.model.links]
        each = [kin.jacobian(self.model, place, frame, self.axes) for frame in named]
        return np.stack([self.at.columns(J) for J in each], -3)

    def reactions(self, q, qd, qdd):
        motion = self.at.positions(q), self.at.rates(qd), self.at.rates(qdd)
        loads, R = spin_loads(self.model, *motion), kin.world_frames(self.model, motion[0]).R
        found = newton_euler(self.model, *motion, loads.wrench)
        rows = [[rotate(R[i], v) for v in (found.f[i], found.n[i])] for i in range(len(found.f))]
        return np.stack([np.concatenate(row, -1) for row in rows], -2)

    def link_regressor(self, q, qd, qdd):
        motion = self.at.positions(q), self.at.rates(qd), self.at.rates(qdd)
        return self.at.rows(regressor(self.model, *motion))

    def link_base_regressor(self, q, qd, qdd):
        columns = base_parameters(self.at, links=True).columns
        return self.link_regressor(q, qd, qdd)[..., list(columns)]

    def regressor(self, q, qd, qdd):
        motion = self.at.positions(q), self.at.rates(qd), self.at.rates(qdd)
        return self.at.rows(full_regressor(self.model, *motion))

    def base_regressor(self, q, qd, qdd):
        return self.regressor(q, qd, qdd)[..., list(base_parameters(self.at).columns)]

    def inverse_dynamics_derivatives(self, q, qd, qdd):
        of_q = central_differences(lambda x: self.inverse_dynamics(x, qd, qdd), q)
        return np.stack(
            [of_q, central_differences(lambda x: self.inverse_dynamics(q, x, qdd), qd)], -3
        )

    def inverse_dynamics_rates(self, *motion, step=5e-3):
        """By differences of the eighth order along the motion that its derivatives say."""
        at = [(step * np.arange(-4, 5)) ** k / math.factorial(k) for k in range(5)]
        ways = [
            sum(np.multiply.outer(at[k], x) for k, x in enumerate(motion[order:]))
            for order in range(3)
        ]
        torques = np.array([self.inverse_dynamics(*way) for way in zip(*ways, strict=True)])
        rates = [np.tensordot(FIRST, torques, 1) / step, np.tensordot(SECOND, torques, 1) / step**2]
        return np.stack([torques[4], *rates], -2)

    def inverse_dynamics_slope(self, q, qd, qdd, dq, dqd):
        both = self.inverse_dynamics_derivatives(q, qd, qdd)
        return np.einsum("...kij,...kj->...ki", both, np.stack([dq, dqd], -2))

    def forward_dynamics_derivatives(self, q, qd, tau):
        M = self.mass_matrix(q)
        torques = self.inverse_dynamics_derivatives(q, qd, self.forward_dynamics(q, qd, tau))
        solved = -np.linalg.solve(M[..., None, :, :], torques)
        return np.concatenate([solved, np.linalg.inv(M)[..., None, :, :]], -3)

    # the mass as a whole

    @property
    def bodies(self):
        return [(-1, self.model.base_link.inertia), *enumerate(k.inertia for k in self.model.links)]

    @property
    def mass(self):
        return sum(body.mass for _, body in self.bodies)

    def center_of_mass(self, q, model=None):
        """The energy in a field along an axis is less by mass times coordinate."""
        model = model or self.model
        fields = [replace(model, gravity=field, springs=()) for field in np.eye(3)]
        moving = [-potential_energy(still, self.at.positions(q)) for still in fields]
        base = model.base_link.inertia
        R, O = model.base[..., :3, :3], model.base[..., :3, 3]
        return (np.stack(moving, -1) + base.mass * O + rotate(R, base.first_moment)) / self.mass

    def center_of_mass_jacobian(self, q):
        """Torques that hold links in a field along an axis are less by mass times a row."""
        fields = [replace(self.model, gravity=field) for field in np.eye(3)]
        return np.stack([-self.links(q, 0 * q, 0 * q, field) for field in fields], -2) / self.mass

    def center_of_mass_jacobian_dot(self, q, qd):
        motion, total = (self.at.positions(q), self.at.rates(qd)), 0.0
        for i, body in self.bodies[1:]:
            place = np.eye(4)
            place[:3, 3] = body.com if body.mass else 0.0
            rate = kin.jacobian_rate(self.model, *motion, Frame("com", i, place))
            total = total + body.mass * rate[..., :3, :]
        return self.at.columns(total) / self.mass

    def centroidal_momentum(self, q, qd):
        frames = kin.world_frames(self.model, self.at.positions(q))
        rates, c, found = self.at.rates(qd), self.center_of_mass(q), 0.0
        for (i, body), w, v in zip(
            self.bodies[1:], *kin.velocities(self.model, frames, rates), strict=True
        ):
            R, O = frames.link(i)
            h = rotate(R, body.first_moment)
            p = body.mass * v + cross(w, h)
            about_O = rotate(R, rotate(body.moment, rotate_back(R, w))) + cross(h, v)
            found = found + np.concatenate([p, about_O + cross(O - c, p)], -1)
        loads = spin_loads(self.model, self.at.positions(q), 0 * rates, rates)
        for i, n in (*enumerate(loads.links), (-1, loads.base)):
            found[..., 3:] += rotate(frames.link(i)[0], n)
        return found

    # a base that nothing holds

    def posed(self, pose):
        base = np.broadcast_to(np.eye(4), (*pose.shape[:-1], 4, 4)).copy()
        base[..., :3, :3] = pose[..., :9].reshape(*pose.shape[:-1], 3, 3)
        base[..., :3, 3] = pose[..., 9:]
        return replace(self.model, base=base)

    def free_torques(self, pose, twist, q, qd, a, qdd, weight=1.0):
        """By Newton-Euler on a base that turns, in a field less by what the base accelerates."""
        posed = self.posed(pose)
        R = posed.base[..., :3, :3]
        model = replace(posed, gravity=weight * self.model.gravity - a[..., :3])
        turning = rotate_back(R, twist[..., 3:] + 0 * a[..., 3:]), rotate_back(R, a[..., 3:])
        motion = self.at.positions(q), self.at.rates(qd), self.at.rates(qdd)
        loads = spin_loads(model, *motion, turning=turning)
        found = newton_euler(model, *motion, loads.wrench, turning)
        base = [rotate(R, v) for v in (found.base[0], found.base[1] + loads.base)]
        motors = self.at.torques(loads.motors) + self.rotor(qdd)
        return np.concatenate([*base, self.at.torques(found.tau) + motors], -1)

    def free_mass_matrix(self, pose, q):
        units = np.eye(6 + q.shape[-1])[:, *[None] * (q.ndim - 1), :] + np.zeros_like(q[..., :1])
        still = np.zeros((*q.shape[:-1], 6))
        columns = [
            self.free_torques(pose, still, q, 0 * q, unit[..., :6], unit[..., 6:], 0.0)
            for unit in units
        ]
        return np.stack(columns, -1)

    def free_bias(self, pose, twist, q, qd):
        found = self.free_torques(pose, twist, q, qd, 0 * twist, 0 * q)
        found[..., 6:] += self.friction_torque(qd)
        return found

    def free_forward_dynamics(self, pose, twist, q, qd, tau, load):
        forces = np.concatenate([load, tau], -1) - self.free_bias(pose, twist, q, qd)
        return np.linalg.solve(self.free_mass_matrix(pose, q), forces[..., None])[..., 0]

    def free_inverse_dynamics(self, pose, twist, q, qd, qdd, load):
        M, h = self.free_mass_matrix(pose, q), self.free_bias(pose, twist, q, qd)
        missing = load - h[..., :6] - rotate(M[..., :6, 6:], qdd)
        a = np.linalg.solve(M[..., :6, :6], missing[..., None])[..., 0]
        tau = rotate(M[..., 6:, :], np.concatenate([a, qdd], -1)) + h[..., 6:]
        return np.concatenate([a, tau], -1)

    def free_kinetic_energy(self, pose, twist, q, qd):
        v = np.concatenate([twist, qd], -1)
        return 0.5 * np.einsum("...i,...ij,...j", v, self.free_mass_matrix(pose, q), v)

    def free_potential_energy(self, pose, q):
        return -self.mass * self.free_center_of_mass(pose, q) @ self.model.gravity

    def free_center_of_mass(self, pose, q):
        return self.center_of_mass(q, self.posed(pose))

    def about_center(self, pose, q, rows):
        arm = self.free_center_of_mass(pose, q) - pose[..., 9:]
        moments = rows[..., 3:6, :] - skew(arm) @ rows[..., :3, :]
        return np.concatenate([rows[..., :3, :], moments], -2)

    def free_centroidal_matrix(self, pose, q):
        return self.about_center(pose, q, self.free_mass_matrix(pose, q))

    def free_centroidal_momentum(self, pose, twist, q, qd):
        v = np.concatenate([twist, qd], -1)
        return rotate(self.free_centroidal_matrix(pose, q), v)

    def free_centroidal_bias(self, pose, twist, q, qd):
        wrench = self.free_torques(pose, twist, q, qd, 0 * twist, 0 * q, 0.0)
        return self.about_center(pose, q, wrench[..., None])[..., 0]

    def free_coupling(self, pose, q):
        M = self.free_mass_matrix(pose, q)
        return -np.linalg.solve(M[..., :6, :6], M[..., :6, 6:])

    def free_jacobian(self, pose, q):
        model, place, K = self.posed(pose), self.at.positions(q), self.free_coupling(pose, q)
        p = kin.frame_in_world(kin.world_frames(model, place), self.link)[1]
        carried = K[..., :3, :] - skew(p - pose[..., 9:]) @ K[..., 3:, :]
        J = self.at.columns(kin.jacobian(model, place, self.link))
        return J + np.concatenate([carried, K[..., 3:, :]], -2)


def central_differences(function, x, h=2e-2):
    """Derivatives (..., i, j) by the central differences of eighth order."""
    weights = (4 / 5, -1 / 5, 4 / 105, -1 / 280)
    columns = []
    for unit in np.eye(x.shape[-1]):
        ends = [(function(x + k * h * unit), function(x - k * h * unit)) for k in range(1, 5)]
        columns.append(sum(w * (a - b) for w, (a, b) in zip(weights, ends, strict=True)) / h)
    return np.stack(columns, -1)


def states_of(kernel, *batch, seed=3, model=None):
    """States at random; speeds, of a model also those of its drives, are away from zero.

    There dry friction has no derivative, and differences of it are none.
    """
    rng = np.random.default_rng(seed)
    given = {name: rng.uniform(-1.5, 1.5, (*batch, n)) for name, n in kernel.inputs.items()}
    if "pose" in given:  # the first nine numbers are those of a rotation
        turns = np.linalg.qr(rng.normal(size=(*batch, 3, 3)))[0]
        turns *= np.linalg.det(turns)[..., None, None]
        given["pose"][..., :9] = turns.reshape(*batch, 9)
    if "qd" in given:
        qd = given["qd"] = np.copysign(0.7 + np.abs(given["qd"]), given["qd"])
        if model is not None and model.drives:
            at = coordinates_of(model).with_drives()
            while (slow := (np.abs(at.rates(qd)) < 0.3).any(-1)).any():
                qd[slow] = rng.choice([-1.0, 1.0], qd[slow].shape) * rng.uniform(
                    0.7, 2.2, qd[slow].shape
                )
    return list(given.values())
