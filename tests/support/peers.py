"""Peers as test oracles: our models in their terms."""

from dataclasses import replace

import numpy as np
import pinocchio as pin

from support.rotor_bodies import with_rotor_bodies


def pin_model(model, floating=False):
    """The same tree of joints in Pinocchio, in our order; with a base that floats if asked."""
    other = pin.Model()
    other.gravity = pin.Motion(np.array(model.gravity), np.zeros(3))
    base = 0
    if floating:
        base = other.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "floating base")
        _add_body(other, base, model.base_link.inertia)
    for joint, link in zip(model.joints, model.links, strict=True):
        fixed = joint.parent < 0 and not floating
        placement = model.base @ joint.placement if fixed else joint.placement
        index = other.addJoint(
            base + joint.parent + 1, pin_joint(joint), pin.SE3(np.array(placement)), joint.name
        )
        _add_body(other, index, link.inertia)
    rotors = [joint.rotor.reflected for joint in model.joints]
    other.armature = np.array([0.0] * 6 * floating + rotors)
    tool, index = model.tool_frame, base + model.tool_frame.link + 1
    other.addFrame(
        pin.Frame("tool", index, pin.SE3(np.array(tool.placement)), pin.FrameType.OP_FRAME)
    )
    return other, other.createData()


class PinocchioArm:
    """An arm in Pinocchio, in our coordinates: joints that follow and shared motors are put on top.

    Rotors that spin are bodies there.
    """

    def __init__(self, arm, spins=True):
        model = arm.model if arm.spins and spins else arm.rigid
        bodies = with_rotor_bodies(model)
        self.model, order = depth_first(bodies.model)
        self.other, self.data = pin_model(self.model)
        names = [joint.name for joint in model.joints]
        follows, offsets = np.zeros((len(names), len(names))), np.zeros(len(names))
        for i, joint in enumerate(model.joints):
            if joint.mimic:
                follows[i, names.index(joint.mimic.leader)] = joint.mimic.multiplier
                offsets[i] = joint.mimic.offset
        own = np.eye(len(names))[:, [joint.mimic is None for joint in model.joints]]
        solved = np.linalg.solve(np.eye(len(names)) - follows, np.column_stack([own, offsets]))
        every = np.vstack([np.eye(len(names)), bodies.ratios])[order] @ solved
        self.K, self.k = every[:, :-1], every[:, -1]  # q_all = K q + k
        names = [joint.name for joint in self.model.joints]
        drives = self.model.drives
        rates = np.zeros((len(drives), len(names)))
        for row, drive in zip(rates, drives, strict=True):
            row[[names.index(joint) for joint, _ in drive.ratios]] = [r for _, r in drive.ratios]
        self.shared = rates.T @ np.diag([drive.rotor.reflected for drive in drives]) @ rates

    def all_joints(self, q, *rates):
        """Positions of all joints, and rates of them."""
        return self.K @ q + self.k, *(self.K @ rate for rate in rates)

    def torques(self, q, qd, qdd, wrench=None):
        """Without friction, with a wrench at the tool in world axes."""
        q, qd, qdd = self.all_joints(q, qd, qdd)
        pin.forwardKinematics(self.other, self.data, q)
        tool = self.model.tool_frame
        rotation = self.data.oMi[tool.link + 1].rotation
        wrench = np.zeros(6) if wrench is None else wrench
        forces = pin_external(self.model, tool, wrench, rotation)
        tau = pin.rnea(self.other, self.data, q, qd, qdd, forces)
        return self.K.T @ (tau + self.shared @ qdd)

    def mass_matrix(self, q):
        M = pin.crba(self.other, self.data, *self.all_joints(q)) + self.shared
        return self.K.T @ M @ self.K

    def coriolis_matrix(self, q, qd):
        C = pin.computeCoriolisMatrix(self.other, self.data, *self.all_joints(q, qd))
        return self.K.T @ C @ self.K

    def gravity_vector(self, q):
        return self.K.T @ pin.computeGeneralizedGravity(self.other, self.data, *self.all_joints(q))

    def bias(self, q, qd):
        return self.K.T @ pin.nonLinearEffects(self.other, self.data, *self.all_joints(q, qd))

    def potential_energy(self, q):
        return pin.computePotentialEnergy(self.other, self.data, *self.all_joints(q))

    def tool(self, q):
        pin.framesForwardKinematics(self.other, self.data, *self.all_joints(q))
        return self.data.oMf[self.other.getFrameId("tool")].homogeneous

    def jacobians(self, q, qd):
        """In world axes, in those of the tool, and the rate of the first."""
        q, qd = self.all_joints(q, qd)
        pin.computeJointJacobiansTimeVariation(self.other, self.data, q, qd)
        pin.updateFramePlacements(self.other, self.data)
        at = self.other, self.data, self.other.getFrameId("tool")
        world = pin.LOCAL_WORLD_ALIGNED
        found = [pin.getFrameJacobian(*at, axes) for axes in (world, pin.LOCAL)]
        found.append(pin.getFrameJacobianTimeVariation(*at, world))
        return [J @ self.K for J in found]

    def torque_derivatives(self, q, qd, qdd):
        """By q and by q̇."""
        state = self.all_joints(q, qd, qdd)
        dq, dqd, _ = pin.computeRNEADerivatives(self.other, self.data, *state)
        return [self.K.T @ slope @ self.K for slope in (dq, dqd)]

    def regressor(self, q, qd, qdd):
        """Of the links."""
        Y = pin.computeJointTorqueRegressor(self.other, self.data, *self.all_joints(q, qd, qdd))
        return self.K.T @ Y


def depth_first(model):
    """The tree with joints in the order that Pinocchio needs, and where each one was."""
    order, ahead = [], [i for i, up in enumerate(model.parents) if up < 0][::-1]
    while ahead:
        order.append(ahead.pop())
        ahead += [i for i, up in enumerate(model.parents) if up == order[-1]][::-1]
    place = {old: new for new, old in enumerate(order)} | {-1: -1}
    joints = (replace(model.joints[i], parent=place[model.joints[i].parent]) for i in order)
    sorted_tree = replace(
        model,
        joints=tuple(joints),
        links=tuple(model.links[i] for i in order),
        frames=tuple(replace(frame, link=place[frame.link]) for frame in model.frames),
        flange=replace(model.flange, link=place[model.flange.link]),
    )
    return sorted_tree, order


def _add_body(other, index, body):
    inertia = pin.Inertia(0.0, np.zeros(3), body.moment)
    if body.mass:
        # the constructor refuses the tensor of a point that rounding left a little below zero
        ten = np.concatenate([[body.mass], body.first_moment, body.moment[np.tril_indices(3)]])
        inertia = pin.Inertia.FromDynamicParameters(ten)
    other.appendBodyToJoint(index, inertia, pin.SE3.Identity())


def pin_joint(joint):
    """A joint as Pinocchio has it; its helical joint too has its pitch in metres per radian."""
    kind, axis = joint.type, np.array(joint.axis)
    if kind.turns and kind.slides:
        return pin.JointModelHelicalUnaligned(axis, kind.slide)
    return (pin.JointModelPrismaticUnaligned if kind.slides else pin.JointModelRevoluteUnaligned)(
        axis
    )


def pin_external(model, frame, wrench_world, R_world_link):
    """A wrench on the arm in world axes at a frame of a link, as Pinocchio's list of forces."""
    forces = [pin.Force.Zero() for _ in range(len(model.joints) + 1)]
    f, n = R_world_link.T @ wrench_world[:3], R_world_link.T @ wrench_world[3:]
    forces[frame.link + 1] = pin.Force(f, n + np.cross(frame.placement[:3, 3], f))
    return forces


def close(actual, expected, tolerance=1e-9):
    """Assert that two arrays agree relative to the largest entry of the expected one (at least 1)."""
    expected = np.asarray(expected)
    scale = max(1.0, float(np.abs(expected).max(initial=0.0)))
    np.testing.assert_allclose(actual, expected, rtol=0, atol=tolerance * scale)


def differs(printed, truth):
    """Whether a printed form is off by more than one part in a hundred."""
    return np.abs(np.asarray(printed) - truth).max() > 1e-2 * np.abs(truth).max()
