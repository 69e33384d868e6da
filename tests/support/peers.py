"""Peers as test oracles: our models in their terms."""

import numpy as np
import pinocchio as pin


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


def _add_body(other, index, body):
    inertia = pin.Inertia(body.mass, body.com, body.moment_about_com)
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
