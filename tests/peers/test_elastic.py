"""Joints that give in MuJoCo: two hinges a joint, and bodies of rotors on tendons that give."""

import mujoco
import numpy as np
import pytest

import armdyn
from peers.test_rotors import mjcf
from support.peers import close
from support.random_robots import random_model
from support.rotor_bodies import with_rotor_bodies


def arm(kinds, spins):
    model = random_model(kinds, 4, tree=False)
    heavy = armdyn.Inertia.from_com(9.0, [0.02, -0.03, 0.01], np.diag([0.3, 0.4, 0.35]))
    rng = np.random.default_rng(2)
    robot = armdyn.Robot(model)
    for link in model.links:
        robot = robot.with_link(link.name, heavy)
    names = [link.name for link in model.links]
    for k, joint in enumerate(model.joints):
        robot = robot.with_joint(joint.name, rotor_inertia=2e-4, gear_ratio=(-1) ** k * 70.0)
        if spins:
            axis, carrier = rng.normal(size=3), names[rng.integers(max(1, k))]
            robot = robot.with_rotor(joint.name, axis=axis, carrier=carrier)
    n = len(kinds)
    return robot.with_elasticity(list(rng.uniform(4e3, 2e4, n)), list(rng.uniform(2.0, 9.0, n)))


@pytest.mark.parametrize("kinds", ["RRR", "RPR"])
def test_reduced_motions_are_those_of_two_joints_on_each_body(kinds):
    robot = arm(kinds, spins=False)
    elastic, text = robot.elastic, mjcf(robot.elastic.links.model)
    for joint, k, d in zip(robot.model.joints, elastic.stiffness, elastic.damping, strict=True):
        # a motor, then what its transmission winds up
        word = f'<joint name="{joint.name}"'
        end = text.index("/>", text.index(word))
        first = text[text.index(word) : end]
        second = first.replace(f'"{joint.name}"', f'"{joint.name} wound"')
        pair = f'{first} armature="{joint.rotor.reflected:.17g}"/>{second} '
        text = text.replace(first + "/>", f'{pair}stiffness="{k:.17g}" damping="{d:.17g}"/>')
    peer = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(peer)
    n, rng = robot.n, np.random.default_rng(1)
    q, theta, qd, thetad, tau = rng.normal(size=(5, n))
    theta = q + 0.01 * theta
    data.qpos[0::2], data.qpos[1::2] = theta, q - theta
    data.qvel[0::2], data.qvel[1::2] = thetad, qd - thetad
    data.qfrc_applied[0::2] = tau
    mujoco.mj_forward(peer, data)
    qdd, thetadd = elastic.forward_dynamics(q, qd, theta, thetad, tau, friction=True)
    close(data.qacc[0::2], thetadd, 1e-10)
    close(data.qacc[0::2] + data.qacc[1::2], qdd, 1e-10)


def test_complete_motions_are_those_of_rotors_on_tendons():
    robot = arm("RRRR", spins=True)
    elastic = robot.elastic
    bodies = with_rotor_bodies(robot.model)
    text = mjcf(bodies.model)
    n = robot.n
    tendons = ""
    for i, joint in enumerate(robot.model.joints):
        rotor = bodies.model.joints[n + i].name
        K, D = elastic.stiffness[i], elastic.damping[i]
        tendons += (
            f'<fixed stiffness="{K:.17g}" damping="{D:.17g}" springlength="0">'
            f'<joint joint="{joint.name}" coef="1"/>'
            f'<joint joint="{rotor}" coef="{-1 / joint.rotor.gear_ratio:.17g}"/></fixed>'
        )
    text = text.replace("</worldbody>", f"</worldbody><tendon>{tendons}</tendon>")
    peer = mujoco.MjModel.from_xml_string(text)
    data, rng = mujoco.MjData(peer), np.random.default_rng(1)
    q, theta, qd, thetad, tau = rng.normal(size=(5, n))
    theta = q + 0.01 * theta
    N = np.array([joint.rotor.gear_ratio for joint in robot.model.joints])
    for names, x, v, force in (
        ([joint.name for joint in robot.model.joints], q, qd, 0 * tau),
        ([joint.name for joint in bodies.model.joints[n:]], N * theta, N * thetad, tau / N),
    ):
        for k, name in enumerate(names):
            place = peer.joint(name).qposadr[0]
            data.qpos[place], data.qvel[place], data.qfrc_applied[place] = x[k], v[k], force[k]
    mujoco.mj_forward(peer, data)
    qdd, thetadd = elastic.forward_dynamics(q, qd, theta, thetad, tau, friction=True)
    found = [data.qacc[peer.joint(x.name).qposadr[0]] for x in bodies.model.joints]
    close(found[:n], qdd, 1e-9)
    close(found[n:] / N, thetadd, 1e-9)
