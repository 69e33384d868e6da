"""Rotors that spin are bodies on hinges in MuJoCo, which turn with their joints.

Equalities are soft there, so the hinges are free and their torques are projected by the ratios.
"""

from dataclasses import replace

import mujoco
import numpy as np
import pytest

import armdyn
from armdyn.model import Body, Inertia, Link
from support.peers import close
from support.random_robots import random_model
from support.rotor_bodies import with_rotor_bodies


def mjcf(model):
    """A tree of hinges and slides in the words of MuJoCo."""

    def numbers(values):
        return " ".join(f"{x:.17g}" for x in np.ravel(values))

    def body(i):
        joint, link = model.joints[i], model.links[i].inertia
        T = (model.base if joint.parent < 0 else np.eye(4)) @ joint.placement
        quat = np.zeros(4)
        mujoco.mju_mat2Quat(quat, np.ascontiguousarray(T[:3, :3]).ravel())
        I = link.moment_about_com
        tensor = [I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]]
        kind = "hinge" if joint.type.turns else "slide"
        inside = "".join(body(k) for k, other in enumerate(model.joints) if other.parent == i)
        return (
            f'<body pos="{numbers(T[:3, 3])}" quat="{numbers(quat)}">'
            f'<joint name="{joint.name}" type="{kind}" axis="{numbers(joint.axis)}"/>'
            f'<inertial mass="{link.mass:.17g}" pos="{numbers(link.com)}" '
            f'fullinertia="{numbers(tensor)}"/>{inside}</body>'
        )

    trees = "".join(body(i) for i, joint in enumerate(model.joints) if joint.parent < 0)
    gravity = numbers(model.gravity)
    return (
        f'<mujoco><compiler angle="radian"/><option gravity="{gravity}"/>'
        f"<worldbody>{trees}</worldbody></mujoco>"
    )


@pytest.mark.parametrize(("kinds", "tree"), [("RRR", False), ("RPRR", True), ("RRRRRR", False)])
def test_torques_and_mass_matrix_are_those_of_bodies_in_mujoco(kinds, tree):
    rng, model = np.random.default_rng(8), random_model(kinds, 3, tree=tree)
    # links that stay possible bodies without the rotors that are taken out of them
    heavy = Inertia.from_com(9.0, [0.02, -0.03, 0.01], np.diag([0.3, 0.4, 0.35]))
    links = tuple(Link(x.name, (*x.bodies, Body("core", heavy, np.eye(4)))) for x in model.links)
    robot = armdyn.Robot(replace(model, links=links))
    names = [model.base_link.name, *(link.name for link in links)]
    for k, joint in enumerate(model.joints):
        given = {"axis": rng.normal(size=3), "carrier": str(names[rng.integers(len(names))])}
        robot = robot.with_rotor(joint.name, **given, inertia=1e-3, gear_ratio=(-1) ** k * 40.0)
    bodies = with_rotor_bodies(robot.model)
    other = mujoco.MjModel.from_xml_string(mjcf(bodies.model))
    data = mujoco.MjData(other)
    order = [other.joint(joint.name).dofadr[0] for joint in bodies.model.joints]
    motion = rng.uniform(-2, 2, (3, robot.n))
    for values, ours in zip((data.qpos, data.qvel, data.qacc), motion, strict=True):
        values[order] = bodies.all(ours)
    mujoco.mj_inverse(other, data)
    close(robot.inverse_dynamics(*motion), bodies.torques(data.qfrc_inverse[order]), 1e-11)
    M = np.zeros((other.nv, other.nv))
    for column, unit in zip(M, np.eye(other.nv), strict=True):
        mujoco.mj_mulM(other, data, column, unit)
    close(robot.mass_matrix(motion[0]), bodies.matrix(M[np.ix_(order, order)]), 1e-11)
