"""Motions under a constant offset, viscous friction by direction and a power law, in closed form."""

import numpy as np
import pytest

from armdyn.simulation.simulator import simulate
from support.simulation_laws import MASS, event_kinds, moved, planar, slider

pytestmark = pytest.mark.slow


def ramp(rate):
    return lambda t, q, qd: [rate * t]


@pytest.mark.parametrize(("rate", "level"), [(2.0, 1.9), (-2.0, 1.1)])
def test_an_offset_shifts_the_levels_at_which_a_joint_breaks_away(rate, level):
    s = moved(slider(coulomb=1.5, offset=0.4), [0], [0], 2.0, torque=ramp(rate))
    assert event_kinds(s) == ["starts"]
    np.testing.assert_allclose(s.events[0].t, level / abs(rate), atol=1e-9)
    still = s.t < s.events[0].t - 1e-9
    np.testing.assert_allclose(s.friction[still, 0], rate * s.t[still], atol=1e-12)
    np.testing.assert_allclose(s.terms()["offset"], 0.4, atol=1e-15)
    close_terms(s)


def test_an_offset_alone_drives_a_joint_and_gives_energy():
    s = moved(slider(viscous=0.0, offset=-0.6), [0], [0], 2.0)
    np.testing.assert_allclose(s.q[:, 0], 0.6 * s.t**2 / (2 * MASS), atol=1e-9)
    np.testing.assert_allclose(s.kinetic, -s.work[:, 1], atol=1e-9)
    assert not s.events


def test_an_offset_larger_than_dry_friction_moves_a_joint_at_once():
    s = moved(slider(coulomb=0.5, offset=0.9), [0], [0], 1.0)
    np.testing.assert_allclose(s.q[:, 0], -0.4 * s.t**2 / (2 * MASS), atol=1e-9)


@pytest.mark.parametrize("speed", [1.2, -0.8])
@pytest.mark.parametrize("method", ["DOP853", "rk4", "symplectic"])
def test_viscous_friction_by_direction_slows_down_exponentially(speed, method):
    rate = (0.5 if speed > 0 else 1.5) / MASS
    given = {} if method == "DOP853" else {"step": 1e-3}
    s = simulate(slider(viscous=(0.5, 1.5)), [0], [speed], 2.0, method=method, **given)
    np.testing.assert_allclose(s.qd[:, 0], speed * np.exp(-rate * s.t), atol=1e-6)
    assert s.energy_drift < 1e-6
    close_terms(s)


@pytest.mark.parametrize("speed", [0.9, -0.9])
@pytest.mark.parametrize("exponent", [0.25, 0.5])
def test_a_power_below_1_stops_a_joint_in_finite_time(speed, exponent):
    level, rest = 0.8, 1 - exponent
    s = moved(slider(power=level, power_exponent=exponent), [0], [speed], 6.0)
    stop = MASS * abs(speed) ** rest / (level * rest)
    assert event_kinds(s) == ["sticks"]
    np.testing.assert_allclose(s.events[0].t, stop, rtol=5e-5)
    left = np.maximum(1 - s.t / stop, 0)
    np.testing.assert_allclose(s.qd[:, 0], speed * left ** (1 / rest), atol=1e-8)
    assert (s.qd[s.t > s.events[0].t] == 0).all()
    assert s.energy_drift < 1e-9


@pytest.mark.parametrize("method", ["DOP853", "rk4"])
def test_a_square_slows_down_as_one_over_time(method):
    given = {} if method == "DOP853" else {"step": 1e-3}
    robot = slider(power=0.8, power_exponent=2)
    s = simulate(robot, [0], [1.5], 3.0, method=method, **given)
    np.testing.assert_allclose(s.qd[:, 0], 1.5 / (1 + 1.5 * 0.8 * s.t / MASS), atol=1e-8)
    assert s.energy_drift < 1e-8


def test_a_joint_held_by_an_infinite_slope_starts_with_the_smallest_torque():
    s = moved(slider(power=0.8, power_exponent=0.5), [0], [0], 2.0, torque=ramp(0.5))
    assert event_kinds(s)[:1] == ["starts"]
    assert s.events[0].t < 1e-3
    assert (s.qd[s.t > 1e-2] > 0).all()


def test_a_constant_torque_moves_a_joint_at_the_speed_of_the_power_law():
    robot = slider(power=0.8, power_exponent=0.5)
    s = moved(robot, [0], [0], 40.0, torque=lambda t, q, qd: [0.4])
    np.testing.assert_allclose(s.qd[-1], (0.4 / 0.8) ** 2, rtol=1e-6)


@pytest.mark.parametrize(
    "row",
    [
        {"viscous": (0.2, 0.5), "offset": 0.1, "power": 0.3, "power_exponent": 1.6},
        {"viscous": (0.2, 0.5), "coulomb": 0.4, "offset": 0.1, "power": 0.3, "power_exponent": 0.6},
        {"coulomb": 0.3, "smooth_velocity": 0.1, "viscous": (0.0, 0.2), "offset": -0.2},
    ],
)
def test_energy_is_accounted_for_in_a_swinging_arm(row):
    s = moved(planar(row, row), [1.0, 0.5], [0, 0], 4.0)
    assert s.energy_drift < 1e-8
    close_terms(s)


def close_terms(s):
    """The terms of the torques add up to what the actuators gave."""
    np.testing.assert_allclose(sum(s.terms().values()), s.tau, atol=1e-8)
