"""Numbers of extreme size are computed with or refused, and never lost silently."""

import warnings

import numpy as np
import pytest

from armdyn import from_dh, load
from armdyn.errors import ArmdynWarning, ModelError
from armdyn.formulations.newton_euler import newton_euler
from armdyn.model.transform import normalised, rotation_from_quaternion
from support.paths import ROBOTS

URDF = ROBOTS / "arm.urdf"
ROW = {"joint": "revolute", "a": 0.3, "alpha": 0.2, "d": 0.1, "theta": 0.4, "com": (0.2, 0.1, 0)}


def arm(*masses, **changes):
    rows = [ROW | {"mass": m, "inertia": m * np.diag([0.02, 0.03, 0.04])} for m in masses]
    return from_dh([row | changes for row in rows], gravity=(1.0, -9.0, 2.0))


@pytest.mark.parametrize("mass", [1e-300, 1e-165, 1e-61, 1e61, 1e160, 1e300])
def test_masses_that_products_lose_are_refused(mass):
    with pytest.raises(ModelError, match="link 'link2': its mass is .* Check the units"):
        arm(1.0, mass)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"inertia": 1e130 * np.eye(3)}, "link 'link1': its moment of inertia is 1e.130 kg m²"),
        ({"com": (1e70, 0, 0)}, "its (first moment|moment of inertia) is 1e"),
        ({"d": 1e40}, "its placement is 1e.40 m"),
        ({"rotor_inertia": 1.0, "gear_ratio": 1e90}, "rotor inertia times gear_ratio² is 1e.180"),
        ({"rotor_inertia": 1e-200}, "rotor inertia times gear_ratio² is 1e-200 .* set it to 0"),
        ({"mass": 0.0, "com": (0, 0, 0), "inertia": 1e-200 * np.eye(3)}, "moment of inertia is 1e"),
    ],
)
def test_other_numbers_that_products_lose_are_refused(changes, message):
    with pytest.raises(ModelError, match=message):
        arm(1.0, **changes)
    with pytest.raises(ModelError, match="gravity: its field is 1e.50"):
        from_dh([ROW | {"mass": 1.0, "inertia": np.eye(3)}], gravity=(0, 0, 1e50))


@pytest.mark.slow
@pytest.mark.parametrize("scale", [1e-55, 1e-6, 1e6, 1e55])
def test_dynamics_scale_with_the_masses(scale):
    robot, rng = arm(scale, 2 * scale), np.random.default_rng(0)
    q, qd, qdd = rng.normal(size=(3, 5, 2))
    tau = robot.inverse_dynamics(q, qd, qdd)
    expected = newton_euler(arm(1.0, 2.0).model, q, qd, qdd).tau
    np.testing.assert_allclose(tau / scale, expected, rtol=1e-12)
    np.testing.assert_allclose(robot.forward_dynamics(q, qd, tau), qdd, rtol=1e-9)


def test_a_payload_is_checked_as_well():
    with pytest.raises(ModelError, match="link 'payload': its mass is 1e.200 kg"):
        load("two_link").with_payload(1e200)


@pytest.mark.parametrize("size", [1e-8, 1.0, 1e154, 1e200, 1.7e308])
def test_directions_of_any_length(size):
    np.testing.assert_allclose(normalised(size * np.array([0.0, 0.6, -0.8])), [0, 0.6, -0.8])
    np.testing.assert_allclose(rotation_from_quaternion([size, 0, 0, 0]), np.eye(3))


def test_an_axis_of_any_length(tmp_path):
    text = URDF.read_text().replace('<axis xyz="1 0 0"/>', '<axis xyz="1e200 0 0"/>')
    assert "1e200" in text
    (tmp_path / "long.urdf").write_text(text)
    with pytest.warns(ArmdynWarning, match="the length 1e.200 instead of 1"):
        model = load(tmp_path / "long.urdf").model
    assert all(np.linalg.norm(joint.axis) == 1 for joint in model.joints)


@pytest.mark.slow
def test_accelerations_that_may_have_no_correct_digit_are_warned_of():
    q, tau = np.zeros(2), np.ones(2)
    for states in (q, np.zeros((3, 2))):
        with pytest.warns(ArmdynWarning, match="condition number 1e.3[5-7]: .* no correct digit"):
            arm(1e18, 1e-18).forward_dynamics(states, q, tau)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        arm(1e3, 1e-3).forward_dynamics(q, q, tau)
