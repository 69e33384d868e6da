"""Actuators with limits, and how well an arm follows what it was to follow."""

import numpy as np
import pytest

import armdyn
from armdyn.errors import ArmdynWarning, UnknownNameError
from armdyn.simulation import ComputedTorque, GravityPD, quintic


@pytest.fixture(scope="module")
def robot():
    return armdyn.load("saha_3r").with_limits(effort=[20.0, 30.0, 3.0])


@pytest.mark.parametrize("method", ["DOP853", "rk4"])
def test_clipped_torques_stay_within_the_limits(robot, method):
    law = GravityPD(robot, [2.0, -1.0, 1.5], kp=500.0, kd=20.0)
    run = {"duration": 0.2, "controller": law, "method": method, "dt": 0.02}
    free = armdyn.simulate(robot, [0, 0, 0], **run)
    held = armdyn.simulate(robot, [0, 0, 0], **run, saturation="clip")
    assert (np.abs(free.tau).max(axis=0) > [20.0, 30.0, 3.0]).all()
    assert (np.abs(held.tau) <= [20.0, 30.0, 3.0]).all()
    expected = np.clip([law(t, q, qd) for t, q, qd in zip(held.t, held.q, held.qd, strict=True)],
                       [-20, -30, -3], [20, 30, 3])  # fmt: skip
    np.testing.assert_allclose(held.tau, expected, rtol=1e-9, atol=1e-9)
    assert not any(excess.what == "torque" for excess in held.excesses)


def test_torques_beyond_limits_are_warned_of_if_asked(robot):
    with pytest.warns(ArmdynWarning, match="joint1: torque 50 N·m at .* beyond its limit of 20"):
        armdyn.simulate(robot, [0, 0, 0], duration=0.02, torque=[50.0, 0.0, 0.0], saturation="warn")
    with pytest.raises(UnknownNameError, match="saturation 'cut'"):
        armdyn.simulate(robot, [0, 0, 0], duration=0.02, saturation="cut")


@pytest.mark.slow
def test_the_result_has_the_reference_and_the_error_of_tracking(robot, tmp_path, command):
    move = quintic([0, 0, 0], [1.0, -0.5, 0.7], duration=0.3)
    run = armdyn.simulate(
        robot, [0, 0, 0], duration=0.3, controller=ComputedTorque(robot, move), dt=0.03
    )
    np.testing.assert_allclose(run.reference, move(run.t).q)
    np.testing.assert_allclose(run.tracking_error, move(run.t).q - run.q)
    assert np.abs(run.tracking_error).max() < 1e-6
    assert max(run.data()["tracking"]["largest"]) < 1e-6
    assert "reference3" in run.columns()
    run.plot(tmp_path / "run.png")
    assert armdyn.simulate(robot, [0, 0, 0], duration=0.03).tracking_error is None
    words = (
        "--controller",
        "gravity-pd",
        "--target",
        "0.1,0",
        "--duration",
        "0.02",
        "--dt",
        "0.01",
    )
    assert "Error of tracking" in command("simulate", "two_link", *words)[1]
