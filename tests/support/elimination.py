"""Robots with loops by an elimination of their passive joints that shares nothing with closures.

Frames are multiplied out with complex numbers, so that residuals are differentiated by complex
steps; the second derivative along the rates is a difference of such steps, of the eighth order.
Torques of the open tree are those of Newton and Euler.
"""

import numpy as np

from armdyn.formulations.newton_euler import newton_euler
from armdyn.formulations.rotors import rotor_matrix

TINY = 1e-30
STEP = 0.02
EIGHTH = {1: 4 / 5, 2: -1 / 5, 3: 4 / 105, 4: -1 / 280}
NORMALS = {
    "revolute": ((2, 0), (2, 1)),
    "cylindrical": ((2, 0), (2, 1)),
    "planar": ((2, 0), (2, 1)),
    "prismatic": ((0, 1), (1, 2), (2, 0)),
    "fixed": ((0, 1), (1, 2), (2, 0)),
}
SLIDES = {
    "revolute": (0, 1, 2),
    "spherical": (0, 1, 2),
    "fixed": (0, 1, 2),
    "planar": (2,),
    "prismatic": (0, 1),
    "cylindrical": (0, 1),
}
NORMALS_FIRST = ("planar", "prismatic", "cylindrical")


def frames(model, q):
    """Frames on the joints in the base, of complex positions."""
    found = {-1: np.eye(4, dtype=complex)}
    for i, joint in enumerate(model.joints):
        x, y, z = joint.axis
        K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
        angle = joint.type.angle(q[i])
        motion = np.eye(4, dtype=complex)
        motion[:3, :3] += np.sin(angle) * K + (1 - np.cos(angle)) * K @ K
        motion[:3, 3] = joint.type.travel(q[i]) * joint.axis
        found[i] = found[joint.parent] @ joint.placement @ motion
    return found


def missing(model, q):
    """What every row misses, for complex positions."""
    at, rows = frames(model, q), []
    for loop in model.loops:
        if loop.cut.name == "coupling":
            leading = np.polyval(loop.coefficients[::-1], q[loop.link_b])
            rows.append(q[loop.link_a] - leading)
            continue
        A, B = at[loop.link_a] @ loop.frame_a, at[loop.link_b] @ loop.frame_b
        d = A[:3, 3] - B[:3, 3]
        if loop.cut.name == "distance":
            rows.append(0.5 * (d @ d - loop.length**2))
            continue
        slides = [B[:3, n] @ d for n in SLIDES[loop.cut.name]]
        normals = [A[:3, u] @ B[:3, n] for u, n in NORMALS.get(loop.cut.name, ())]
        first = loop.cut.name in NORMALS_FIRST
        rows += [*normals, *slides] if first else [*slides, *normals]
    return np.array(rows)


def jacobian(model, q):
    """How rows change with every joint, (rows, N)."""
    units = np.eye(len(q))
    return np.stack([missing(model, q + 1j * TINY * e).imag / TINY for e in units], -1)


def curvature(model, q, qd):
    """The second derivative of the rows along the rates."""

    def slope(t):
        return missing(model, q + (t + 1j * TINY) * qd).imag / TINY

    h = STEP / max(1.0, np.abs(qd).max())
    pairs = (w * (slope(k * h) - slope(-k * h)) for k, w in EIGHTH.items())
    return sum(pairs) / h


def assembled(model, q, near):
    """Positions of all joints for those of the coordinates, near some that are known."""
    full, passive = np.array(near, dtype=float), list(model.passive)
    full[list(model.independent)] = q
    for _ in range(60):
        r = missing(model, full).real
        step = np.linalg.lstsq(jacobian(model, full)[:, passive], -r, rcond=1e-9)[0]
        full[passive] += step / max(1.0, 2 * np.abs(step).max())
        if np.abs(step).max() < 1e-15:
            break
    return full


def eliminated(robot, q, qd, qdd, friction=False):
    """Positions, rates, accelerations of all joints, torques, and forces in the rows.

    Nothing but viscous friction is in them, and that if it is asked for.
    """
    model = robot.model
    passive, active = list(model.passive), list(model.independent)
    full = assembled(model, q, robot.all_joints(q))
    A = jacobian(model, full)
    inverse = np.linalg.pinv(A[:, passive], rcond=1e-9)
    rates, changes = np.zeros((2, len(full)))
    rates[active], changes[active] = qd, qdd
    rates[passive] = -inverse @ (A[:, active] @ qd)
    bent = curvature(model, full, rates)
    changes[passive] = -inverse @ (A[:, active] @ qdd + bent)
    tau = newton_euler(model, full, rates, changes).tau + rotor_matrix(model) @ changes
    if friction:
        tau = tau + np.array([joint.friction.viscous for joint in model.joints]) * rates
    force = inverse.T @ tau[passive]
    return full, rates, changes, tau[active] - A[:, active].T @ force, force
