"""The regressor: torques as a matrix times the inertial parameters of the links.

With m, h = m c and I in the frame on joint i, about its origin, and w, wd, vd from the outward
recursion of Newton-Euler (vd includes gravity), the link needs at this origin

    f = m v̇ + [S(ω̇) + S(ω)²] h,      n = I ω̇ + ω × I ω + h × v̇

which is linear in the ten parameters: [f; n] = A_i(q, q̇, q̈) π_i. The columns of A_i, carried
inward and projected on the joint axes as forces are, are the ten columns of link i in Y, τ = Y π.
Joint friction and rotors are no parameters of links and not in π.

Reference: C. Atkeson, C. An and J. Hollerbach, 1986.
"""

import numpy as np

from armdyn.arrays import Array
from armdyn.formulations.kinematics import joint_transform
from armdyn.formulations.newton_euler import newton_euler
from armdyn.formulations.spatial import skew
from armdyn.model import Inertia, RobotModel

PARAMETERS = ("m", "mcx", "mcy", "mcz", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz")
"""The ten parameters of a link in the frame on its joint: mass, first moments, tensor about O."""
TENSOR_PLACES = ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))


def ten_parameters(body: Inertia) -> Array:
    """The parameters of a body in the order of `PARAMETERS`, (10,)."""
    return np.array(
        [body.mass, *body.first_moment, *(body.moment[place] for place in TENSOR_PLACES)]
    )


def body_of(ten: Array) -> Inertia:
    """The body with these parameters, the opposite of `ten_parameters`."""
    tensor = np.zeros((3, 3))
    for (i, j), value in zip(TENSOR_PLACES, ten[4:], strict=True):
        tensor[i, j] = tensor[j, i] = value
    return Inertia.from_origin(float(ten[0]), ten[1:4], tensor)


def regressor(model: RobotModel, q: Array, qd: Array, qdd: Array) -> Array:
    """Y with τ = Y π at the joints of all links, (..., N, 10 N); inertias do not matter."""
    motion, N = newton_euler(model, q, qd, qdd), len(model.joints)
    f, n = [], []
    for i in range(N):
        force, moment = wrench_columns(motion.w[i], motion.wd[i], motion.vd[i])
        f.append(_placed(force, i, N))
        n.append(_placed(moment, i, N))
    rows = []
    for i, joint in reversed(list(enumerate(model.joints))):
        rows.append(joint.axis @ joint.type.combine(f[i], n[i]))
        if joint.parent >= 0:
            R, P = joint_transform(joint, q[..., i])
            f_up = R @ f[i]
            f[joint.parent] = f[joint.parent] + f_up
            n[joint.parent] = n[joint.parent] + R @ n[i] + skew(P) @ f_up
    return np.stack(rows[::-1], -2)


def wrench_columns(w: Array, wd: Array, vd: Array) -> tuple[Array, Array]:
    """Force and moment about the origin of a link per parameter, each (..., 3, 10)."""
    S, Sd = skew(w), skew(wd)
    zero = np.zeros_like(S)
    force = np.concatenate([vd[..., None], Sd + S @ S, zero, zero], -1)
    about = _tensor_columns(wd) + S @ _tensor_columns(w)
    moment = np.concatenate([np.zeros_like(vd)[..., None], -skew(vd), about], -1)
    return force, moment


def _tensor_columns(v: Array) -> Array:
    """The matrix L(v) with I v = L(v) (Ixx, Ixy, Iyy, Ixz, Iyz, Izz), (..., 3, 6)."""
    x, y, z = v[..., 0], v[..., 1], v[..., 2]
    o = np.zeros_like(x)
    rows = ((x, y, o, z, o, o), (o, x, y, o, z, o), (o, o, o, x, y, z))
    return np.stack([np.stack(row, -1) for row in rows], -2)


def _placed(block: Array, link: int, links: int) -> Array:
    """The columns of one link among those of all, (..., 3, 10 N)."""
    wide = np.zeros((*block.shape[:-1], 10 * links), dtype=block.dtype)
    wide[..., 10 * link : 10 * link + 10] = block
    return wide
