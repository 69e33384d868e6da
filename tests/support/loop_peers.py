"""Robots with loops as Pinocchio and MuJoCo have them, solved by their own constraints."""

from dataclasses import dataclass
from xml.etree import ElementTree as xml

import mujoco
import numpy as np
import pinocchio as pin

from support.peers import pin_joint

IMPEDANCES = (0.9999, 0.9997, 0.9993, 0.9985)
"""What MuJoCo's `solimp` is set to; 0.9999 is the largest it takes, and 1 would be rigid."""


@dataclass
class Moved:
    """What a peer finds for torques at all joints, in our order of joints."""

    qdd: np.ndarray
    force: np.ndarray
    """Of b on a in every cut joint, in world axes, (loops, 3)."""


def depth_first(model):
    """Joints in the order in which Pinocchio's sparse algorithms are right."""
    children = [
        [c for c, joint in enumerate(model.joints) if joint.parent == i]
        for i in range(-1, len(model.joints))
    ]
    order, ahead = [], children[0][::-1]
    while ahead:
        order.append(i := ahead.pop())
        ahead += children[i + 1][::-1]
    return order


class PinocchioLoops:
    """The robot in Pinocchio with a point in common at each cut joint, near the rigid limit."""

    def __init__(self, model):
        self.order = depth_first(model)
        self.back = np.argsort(self.order)
        index = {-1: 0} | {i: k + 1 for k, i in enumerate(self.order)}
        self.model = other = pin.Model()
        other.gravity = pin.Motion(np.array(model.gravity), np.zeros(3))
        for i in self.order:
            joint, body = model.joints[i], model.links[i].inertia
            place = model.base @ joint.placement if joint.parent < 0 else joint.placement
            k = other.addJoint(
                index[joint.parent], pin_joint(joint), pin.SE3(np.array(place)), joint.name
            )
            inertia = pin.Inertia(body.mass, body.com, body.moment_about_com)
            other.appendBodyToJoint(k, inertia, pin.SE3.Identity())
        other.armature = np.array([model.joints[i].rotor.reflected for i in self.order])
        self.ends = []
        self.models = pin.StdVec_RigidConstraintModel()
        self.datas = pin.StdVec_RigidConstraintData()
        for loop in model.loops:
            ends = [
                (index[link], pin.SE3(np.array(model.base @ T if link < 0 else T)))
                for link, T in ((loop.link_a, loop.frame_a), (loop.link_b, loop.frame_b))
            ]
            (a, A), (b, B) = ends
            cut = pin.RigidConstraintModel(
                pin.ContactType.CONTACT_3D, other, a, A, b, B, pin.LOCAL_WORLD_ALIGNED
            )
            self.models.append(cut)
            self.datas.append(cut.createData())
            self.ends.append([_frame(other, *end) for end in ends])
        self.data = other.createData()

    def moved(self, q, qd, tau):
        """Accelerations and forces by the constrained dynamics."""
        pin.initConstraintDynamics(self.model, self.data, self.models, self.datas)
        settings = pin.ProximalSettings(1e-14, 1e-9, 100)
        state = (np.asarray(v)[self.order] for v in (q, qd, tau))
        qdd = pin.constraintDynamics(
            self.model, self.data, *state, self.models, self.datas, settings
        )
        return Moved(qdd[self.back], np.array([each.contact_force.linear for each in self.datas]))

    def jacobian(self, q):
        """A of the rates A q̇ = 0 that keep the loops closed."""
        q = np.asarray(q)[self.order]
        pin.computeJointJacobians(self.model, self.data, q)
        pin.updateFramePlacements(self.model, self.data)
        axes = pin.LOCAL_WORLD_ALIGNED
        rows = [
            [pin.getFrameJacobian(self.model, self.data, frame, axes)[:3] for frame in pair]
            for pair in self.ends
        ]
        return np.concatenate([a - b for a, b in rows])[:, self.back]

    def tree_torques(self, q, qd, qdd):
        """Torques at all joints of the open tree."""
        state = (np.asarray(v)[self.order] for v in (q, qd, qdd))
        return pin.rnea(self.model, self.data, *state)[self.back]


def _frame(model, joint, placement):
    name = f"end {model.nframes}"
    return model.addFrame(pin.Frame(name, joint, placement, pin.FrameType.OP_FRAME))


class MujocoLoops:
    """The robot in MuJoCo with a `connect` at each cut joint, extrapolated to a rigid one."""

    def __init__(self, model):
        self.model = mujoco.MjModel.from_xml_string(_mjcf(model))
        self.order = [self.model.joint(joint.name).dofadr[0] for joint in model.joints]

    def moved(self, q, qd, tau):
        """Accelerations and forces where the softness of the constraints goes to zero."""
        found = [self._soft(q, qd, tau, d) for d in IMPEDANCES]
        softness = [(1 - d) / d for d in IMPEDANCES]
        weights = [
            np.prod([y / (y - x) for y in softness if y != x]) for x in softness
        ]  # Lagrange's polynomial at zero
        qdd, force = (
            sum(w * pair[k] for w, pair in zip(weights, found, strict=True)) for k in (0, 1)
        )
        return Moved(qdd, force)

    def _soft(self, q, qd, tau, impedance):
        self.model.eq_solimp[:, :2] = impedance
        data = mujoco.MjData(self.model)
        for there, here in ((data.qpos, q), (data.qvel, qd), (data.qfrc_applied, tau)):
            there[self.order] = here
        mujoco.mj_forward(self.model, data)
        return data.qacc[self.order].copy(), data.efc_force[: 3 * self.model.neq].reshape(-1, 3)


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
