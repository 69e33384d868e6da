"""Robots with loops as Pinocchio and MuJoCo have them, solved by their own constraints."""

from xml.etree import ElementTree as xml

import mujoco
import numpy as np

from armdyn.bench.peers import PinocchioLoops

IMPEDANCES = (0.9999, 0.9997, 0.9993, 0.9985)
"""What MuJoCo's `solimp` is set to; 0.9999 is the largest it takes, and 1 would be rigid."""


class PinocchioRobot(PinocchioLoops):
    """The robot in Pinocchio, asked for one state after the other."""

    def accelerations(self, q, qd, tau):
        """Those of all joints, and forces of b on a in cut joints, (loops, 3), world axes."""
        state = (v[self.order] for v in (q, qd, tau))
        closures = self.models, self.datas, self.settings
        qdd = self.pin.constraintDynamics(self.model, self.data, *state, *closures)
        return qdd[self.back], np.array([each.contact_force.linear for each in self.datas])

    def tree_torques(self, q, qd, qdd):
        """Torques at all joints of the open tree."""
        state = (v[self.order] for v in (q, qd, qdd))
        return np.array(self.pin.rnea(self.model, self.data, *state)[self.back])


class MujocoLoops:
    """The robot in MuJoCo with a `connect` at each cut joint, extrapolated to a rigid one."""

    def __init__(self, model):
        self.model = mujoco.MjModel.from_xml_string(_mjcf(model))
        self.order = [self.model.joint(joint.name).dofadr[0] for joint in model.joints]

    def accelerations(self, q, qd, tau):
        """Those of all joints, and forces of b on a in cut joints, where softness goes to zero."""
        return rigid(self.model, q, qd, tau, self.order)


def rigid(m, q, qd, tau, order=slice(None)):
    """Accelerations of all joints and forces of constraints, (equalities, rows), made rigid."""
    found = [_soft(m, q, qd, tau, order, d) for d in IMPEDANCES]
    softness = [(1 - d) / d for d in IMPEDANCES]
    weights = [
        np.prod([y / (y - x) for y in softness if y != x]) for x in softness
    ]  # Lagrange's polynomial at zero
    qdd, force = (sum(w * pair[k] for w, pair in zip(weights, found, strict=True)) for k in (0, 1))
    return qdd, force


def _soft(m, q, qd, tau, order, impedance):
    m.eq_solimp[:, :2] = impedance
    data = mujoco.MjData(m)
    for there, here in ((data.qpos, q), (data.qvel, qd), (data.qfrc_applied, tau)):
        there[order] = here
    mujoco.mj_forward(m, data)
    return data.qacc[order].copy(), data.efc_force.reshape(m.neq, -1)


def _mjcf(model):
    """The robot as MJCF, with frames on the joints; friction of the joints is viscous."""
    root = xml.Element("mujoco")
    words = " ".join(map(repr, map(float, model.gravity)))
    option = xml.SubElement(root, "option", gravity=words, tolerance="0", iterations="200")
    xml.SubElement(option, "flag", contact="disable", limit="disable")
    xml.SubElement(root, "compiler", angle="radian", boundmass="1e-9", boundinertia="1e-12")
    bodies = {-1: xml.SubElement(root, "worldbody")}
    for i, (joint, link) in enumerate(zip(model.joints, model.links, strict=True)):
        place = model.base @ joint.placement if joint.parent < 0 else joint.placement
        bodies[i] = body = xml.SubElement(
            bodies[joint.parent], "body", name=link.name, **_place(place)
        )
        kind = "slide" if joint.type.slides else "hinge"
        xml.SubElement(
            body,
            "joint",
            name=joint.name,
            type=kind,
            axis=_words(joint.axis),
            damping=repr(float(joint.friction.viscous)),
            armature=repr(float(joint.rotor.reflected)),
        )
        I = link.inertia.moment_about_com
        six = [I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]]
        xml.SubElement(
            body,
            "inertial",
            pos=_words(link.inertia.com),
            mass=repr(float(link.inertia.mass)),
            fullinertia=_words(six),
        )
    equality = xml.SubElement(root, "equality")
    for loop in model.loops:
        for end, link, T in (("a", loop.link_a, loop.frame_a), ("b", loop.link_b, loop.frame_b)):
            place = model.base @ T if link < 0 else T
            xml.SubElement(bodies[link], "site", name=f"{loop.name} {end}", **_place(place))
        xml.SubElement(
            equality,
            "connect",
            site1=f"{loop.name} a",
            site2=f"{loop.name} b",
            solimp="0.9999 0.9999 0.001",
        )
    return xml.tostring(root, encoding="unicode")


def _place(T):
    quaternion = np.zeros(4)
    mujoco.mju_mat2Quat(quaternion, np.ascontiguousarray(T[:3, :3]).ravel())
    return {"pos": _words(T[:3, 3]), "quat": _words(quaternion)}


def _words(v):
    return " ".join(repr(float(x)) for x in v)
