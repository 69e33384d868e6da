"""Rational rotations are rotations, without any rounding."""

from fractions import Fraction
from itertools import product

import numpy as np
from hypothesis import given

from armdyn.closed_forms.closed_form import rational_rotation
from armdyn.model.transform import rotation_about, rotation_from_rpy
from support.random_robots import random_axis, seeds

ONE = np.array([[Fraction(i == j) for j in range(3)] for i in range(3)])


def determinant(R):
    return np.dot(R[0], np.cross(R[1], R[2]))


@given(seeds)
def test_orthogonal_and_near(seed):
    rng = np.random.default_rng(seed)
    R = rotation_about(random_axis(rng), rng.uniform(-4, 4))
    exact = rational_rotation(R)
    assert (exact @ exact.T == ONE).all()
    assert determinant(exact) == 1
    np.testing.assert_allclose(exact.astype(float), R, atol=1e-15)


def test_quarter_turns_are_whole():
    for turns in product(range(4), repeat=3):
        R = rotation_from_rpy(np.array(turns) * np.pi / 2)
        noise = 1e-14 * np.sin(np.arange(9.0)).reshape(3, 3)
        assert (rational_rotation(R + noise) == np.round(R).astype(int)).all()


def test_turns_about_an_axis_keep_it():
    exact = rational_rotation(rotation_from_rpy([0.0, 0.0, 0.4]))
    assert exact[2].tolist() == exact[:, 2].tolist() == [0, 0, 1]
