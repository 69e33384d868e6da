"""Joint types as records: a type that turns and slides needs nothing but its record."""

from dataclasses import replace

import numpy as np
import pytest

from armdyn.model.joint_types import JOINT_TYPES, REVOLUTE

SCREW = replace(REVOLUTE, name="screw", letter="H", slide=0.15)


def test_a_screw_turns_and_slides():
    T = SCREW.motion(np.array([0.0, 0.0, 1.0]), 0.5)
    np.testing.assert_allclose(T[:3, 3], [0, 0, 0.075])
    np.testing.assert_allclose(T[:2, 0], [np.cos(0.5), np.sin(0.5)])
    np.testing.assert_allclose(SCREW.subspace(np.array([0.0, 1.0, 0.0])), [0, 0.15, 0, 0, 1, 0])


@pytest.mark.parametrize("kind", [*JOINT_TYPES.values(), SCREW])
def test_the_generator_is_the_slope_of_the_motion(kind):
    axis = np.array([0.6, 0.0, 0.8])
    slope = (kind.motion(axis, 1e-6) - kind.motion(axis, -1e-6)) / 2e-6
    np.testing.assert_allclose(kind.generator(axis), slope, atol=1e-9)
