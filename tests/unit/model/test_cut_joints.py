"""Cut joints keep what they say: residuals, the wrenches that keep them, and second derivatives."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from armdyn.model.cut_joints import COUPLING, CUT_JOINTS, FrameMotion, Loop

RNG = np.random.default_rng(5)
FREE = {
    "revolute": "rz",
    "prismatic": "z",
    "cylindrical": "z rz",
    "spherical": "rx ry rz",
    "planar": "x y rz",
    "distance": "rx ry rz",  # about the origin of A; those about B's are tried below
    "fixed": "",
    "coupling": "x y z rx ry rz",
}
"""What frame A may do in the axes of frame B while the joint is closed."""
TWISTS = dict(zip(["x", "y", "z", "rx", "ry", "rz"], np.eye(6), strict=True))
cut_joints = pytest.mark.parametrize("joint", CUT_JOINTS.values(), ids=CUT_JOINTS)


def frame(R, p):
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = R, p
    return T


def any_frame():
    return frame(Rotation.random(random_state=RNG).as_matrix(), RNG.normal(size=3))


def residuals(joint, A, B, length=0.7):
    return np.array([row.residual(A, B, length) for row in joint.rows])


def moved(T, v, w):
    """A frame after a small motion of its origin and a turn about it, world axes."""
    return frame(Rotation.from_rotvec(w).as_matrix() @ T[:3, :3], T[:3, 3] + v)


def closed(joint):
    """Two frames that the joint lets be so, which are not in one place where they need not be."""
    B = any_frame()
    free = FREE[joint.name].split()
    twist = sum((RNG.normal() * TWISTS[name] for name in free), np.zeros(6))
    place = [0.0, 0.0, 0.7] if joint.has_length else twist[:3]
    return B @ frame(Rotation.from_rotvec(twist[3:]).as_matrix(), place), B


@cut_joints
def test_what_it_lets_free_leaves_it_closed_and_nothing_else_does(joint):
    A, B = closed(joint)
    np.testing.assert_allclose(residuals(joint, A, B), 0, atol=1e-14)
    wrenches = [np.concatenate(row.wrench(A, B)) for row in joint.rows]
    in_b = np.kron(np.eye(2), B[:3, :3].T)
    kept = np.array(wrenches).reshape(-1, 6) @ in_b.T
    free = np.array([TWISTS[name] for name in FREE[joint.name].split()]).reshape(-1, 6)
    np.testing.assert_allclose(kept @ free.T, 0, atol=1e-14)
    ways = 5 if joint.has_length else len(free)  # a rod turns about both of its ends
    assert np.linalg.matrix_rank(kept) == len(joint.rows) == 6 - ways


@cut_joints
def test_the_power_of_a_wrench_is_the_rate_of_its_residual(joint):
    A, B = any_frame(), any_frame()
    lever, h = A[:3, 3] - B[:3, 3], 1e-6
    for twist in np.eye(6):
        v, w = np.split(twist, 2)
        of_a = residuals(joint, moved(A, h * v, h * w), B) - residuals(
            joint, moved(A, -h * v, -h * w), B
        )
        of_b = residuals(joint, A, moved(B, h * v, h * w)) - residuals(
            joint, A, moved(B, -h * v, -h * w)
        )
        for k, row in enumerate(joint.rows):
            f, m = row.wrench(A, B)
            assert of_a[k] / (2 * h) == pytest.approx(f @ v + m @ w, abs=1e-8)
            assert of_b[k] / (2 * h) == pytest.approx(
                -f @ (v + np.cross(w, lever)) - m @ w, abs=1e-8
            )


@cut_joints
def test_the_bias_is_the_second_derivative_along_a_motion(joint):
    motions = [FrameMotion(any_frame(), *RNG.normal(size=(4, 3))) for _ in "ab"]
    h = 1e-4

    def at(t):
        return [moved(m.T, t * m.v + t * t / 2 * m.a, t * m.w + t * t / 2 * m.dw) for m in motions]

    before, now, after = (residuals(joint, *at(t)) for t in (-h, 0.0, h))
    expected = (before - 2 * now + after) / h**2
    np.testing.assert_allclose([row.bias(*motions) for row in joint.rows], expected, atol=1e-5)


@cut_joints
def test_a_loop_has_a_length_if_its_cut_joint_has_one_and_two_ends(joint):
    couples = joint == COUPLING
    bare = Loop("loop", joint, 0, 1, coefficients=(0.0, 1.0) if couples else ())
    assert (bare.couples, bare.length) == (couples, 0.0)
    assert bare.conditions == (
        1 if couples or joint.has_length else 6 - len(FREE[joint.name].split())
    )
    for length in (0.0, 0.3):
        fault = replace(bare, length=length).fault
        assert ("length" in fault) == (not couples and bool(length) != joint.has_length)
    good = replace(bare, length=0.3 * joint.has_length)
    assert not good.fault
    assert replace(good, link_b=0).fault.startswith("a joint cannot" if couples else "both ends")
    for name in () if couples else ("frame_a", "frame_b"):
        T = np.eye(4)
        T[0, 3] = np.nan
        assert replace(good, **{name: T}).fault == "a frame is not finite"
