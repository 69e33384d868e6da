"""Rotations and rigid transforms, by their definitions, in batches, and as SciPy has them."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from armdyn.errors import ModelError
from armdyn.model.transform import (
    any_frame,
    check_transform,
    cross,
    dot,
    frame_along,
    frame_of,
    inverse,
    normalised,
    quaternion_from_rotation,
    rotation_about,
    rotation_from_quaternion,
    rotation_from_rpy,
    rotation_from_vector,
    rotation_vector,
    rpy_from_rotation,
    skew,
    transform,
)

RNG = np.random.default_rng(8)
TURNS = Rotation.random(24, random_state=1)
DIRECTIONS = [*np.eye(3), *-np.eye(3), *(x / np.linalg.norm(x) for x in RNG.normal(size=(12, 3)))]


def test_products_of_vectors_are_those_of_numpy():
    a, b = RNG.normal(size=(2, 4, 5, 3))
    np.testing.assert_allclose(cross(a, b), np.cross(a, b), atol=1e-15)
    np.testing.assert_allclose(dot(a, b), np.einsum("...i,...i->...", a, b), atol=1e-15)
    np.testing.assert_allclose((skew(a) @ b[..., None])[..., 0], np.cross(a, b), atol=1e-15)


def test_vectors_quaternions_and_angles_are_those_of_scipy():
    R, small = TURNS.as_matrix(), np.array([1e-12, 1e-5, 1.0, 1.99, 2.01, np.pi - 1e-9, np.pi])
    angle, quaternion = rotation_vector(R), quaternion_from_rotation(R)
    np.testing.assert_allclose(angle, TURNS.as_rotvec(), atol=1e-12)
    np.testing.assert_allclose(rotation_from_vector(angle), R, atol=1e-13)
    np.testing.assert_allclose(
        quaternion[:, [1, 2, 3, 0]], TURNS.as_quat(canonical=True), atol=1e-12
    )
    np.testing.assert_allclose(rotation_from_vector(np.zeros((2, 3))), [np.eye(3)] * 2)
    np.testing.assert_allclose(rotation_vector(np.stack([np.eye(3), R[0]]))[0], 0)
    for one, wxyz in zip(R, quaternion, strict=True):
        for size in (1.0, -3.0, 1e120):
            np.testing.assert_allclose(rotation_from_quaternion(size * wxyz), one, atol=1e-13)
        rpy = rpy_from_rotation(one)
        np.testing.assert_allclose(rpy, Rotation.from_matrix(one).as_euler("xyz"), atol=1e-12)
        np.testing.assert_allclose(rotation_from_rpy(rpy), one, atol=1e-14)
    for axis in DIRECTIONS:
        turned = rotation_about(axis, small.reshape(7, 1))
        expected = Rotation.from_rotvec(small[:, None] * axis).as_matrix()
        np.testing.assert_allclose(turned[:, 0], expected, atol=1e-15)
        found = rotation_vector(turned[:, 0])
        np.testing.assert_allclose(found[:6], small[:6, None] * axis, rtol=1e-9, atol=1e-7)
        np.testing.assert_allclose(rotation_from_vector(found), expected, atol=1e-12)


def test_quarter_turns_are_exact_and_pitches_of_a_quarter_turn_keep_the_rotation():
    for k in range(8):
        R = rotation_from_rpy(np.pi / 2 * np.array([k % 4, k // 2, k % 3]))
        assert set(np.abs(R).ravel()) == {0.0, 1.0}
    for pitch in (np.pi / 2, -np.pi / 2, np.pi / 2 - 1e-9):
        R = rotation_from_rpy([0.4, pitch, -1.1])
        np.testing.assert_allclose(rotation_from_rpy(rpy_from_rotation(R)), R, atol=1e-14)


@pytest.mark.parametrize("batch", [(), (5,), (2, 3)])
def test_an_inverse_takes_a_transform_back_in_any_batch(batch):
    T = np.broadcast_to(np.eye(4), (*batch, 4, 4)).copy()
    T[..., :3, :3] = rotation_from_vector(RNG.normal(size=(*batch, 3)))
    T[..., :3, 3] = RNG.normal(size=(*batch, 3))
    np.testing.assert_allclose(inverse(T) @ T, np.broadcast_to(np.eye(4), T.shape), atol=1e-14)
    np.testing.assert_allclose(T @ inverse(T), np.broadcast_to(np.eye(4), T.shape), atol=1e-14)


def test_frames_have_their_axis_and_the_shortest_turn_takes_z_there():
    near = [normalised(np.array([3 * x, -4 * x, -1.0])) for x in (1e-12, 1e-8, 1e-6, 1e-3)]
    for z in (*DIRECTIONS, *near):
        R = any_frame(z)
        np.testing.assert_allclose(R.T @ R, np.eye(3), atol=1e-14)
        np.testing.assert_allclose(np.linalg.det(R), 1.0)
        np.testing.assert_allclose(R[:, 2], z, atol=1e-15)
        np.testing.assert_allclose(frame_of(R[:, 0], z), R, atol=1e-15)
        turn = frame_along(z)
        np.testing.assert_allclose(turn[:, 2], z, atol=1e-14)
        np.testing.assert_allclose(turn.T @ turn, np.eye(3), atol=1e-14)
        assert np.trace(turn) == pytest.approx(1 + 2 * z[2], abs=1e-14)  # by the angle to z
    for size in (1e-100, 1e-3, 1e99, 1e101, 1e300):
        np.testing.assert_allclose(normalised(size * np.array([3.0, 0, -4.0])), [0.6, 0, -0.8])


def test_a_transform_is_rigid_to_six_digits_and_made_so():
    R = TURNS[0].as_matrix()
    T = transform(R, (1.0, 2.0, 3.0))
    assert (T[:3, :3] == R).all()
    assert T[:, 3].tolist() == [1, 2, 3, 1]
    assert (transform() == np.eye(4)).all()
    assert check_transform("tool", None) is check_transform("base", None)
    rounded = transform(np.round(R, 7), (1.0, 2.0, 3.0))
    near = check_transform("tool", rounded)
    np.testing.assert_allclose(near[:3, :3] @ near[:3, :3].T, np.eye(3), atol=1e-14)
    np.testing.assert_allclose(near, rounded, atol=1e-6)
    assert near[:, 3].tolist() == [1, 2, 3, 1]
    low = T.copy()
    low[3, 1] = 2e-9
    for wrong, words in (
        (transform(np.round(R, 4)), "tool: the upper left 3x3 block is not a rotation"),
        (transform(np.diag([1.0, 1.0, -1.0])), "determinant -1"),
        (low, "tool: the last row must be 0 0 0 1"),
    ):
        with pytest.raises(ModelError, match=words):
            check_transform("tool", wrong)
