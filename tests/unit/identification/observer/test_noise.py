"""Thresholds: noise alone exceeds them as seldom as they promise."""

import numpy as np
import pytest

import armdyn
from armdyn.errors import ArmdynError

ARMS, ROWS, PERIOD = 1500, 160, 2e-3
SETTLED = 60
"""Rows after which the estimate has forgotten that it started at zero."""


@pytest.fixture(scope="module")
def robot():
    return armdyn.load("saha_3r")


def rest(robot, draw, *, torque, time=0.0, velocity=0.0):
    """Logs of arms at rest with noise."""
    q = np.tile([0.4, -0.9, 0.6], (ROWS, 1))
    noise = draw.normal(size=(ARMS, ROWS, 3))
    if time:
        keep = np.exp(-PERIOD / time)
        for k in range(1, ROWS):
            noise[:, k] = keep * noise[:, k - 1] + np.sqrt(1 - keep**2) * noise[:, k]
    tau = robot.gravity_vector(q) + np.multiply(torque, noise)
    qd = np.multiply(velocity, 1.0) * draw.normal(size=(ARMS, ROWS, 3))
    return PERIOD * np.arange(ROWS), q, qd, tau


CASES = {
    "white": dict(noise=[0.3, 0.1, 0.2]),
    "slow": dict(noise=[0.3, 0.1, 0.2], noise_time=0.01),
    "velocity": dict(noise=[1e-6, 1e-6, 1e-6], velocity_noise=[1e-4, 2e-4, 3e-4]),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_the_variance_of_the_filter_and_the_rate_of_false_alarms(robot, case):
    given = CASES[case]
    observer = armdyn.Observer(robot, [80.0, 120.0, 100.0], false_alarms=0.02, **given)
    draw = np.random.default_rng(len(case))
    torque = np.array(given["noise"])
    more = dict(time=given.get("noise_time", 0.0), velocity=given.get("velocity_noise", 0.0))
    t, q, qd, tau = rest(robot, draw, torque=torque, **more)
    seen = observer.run(t, q, qd, tau)
    settled = seen.torque[:, SETTLED:]
    expected = observer.deviation(PERIOD, q[0])
    np.testing.assert_allclose(settled.std((0, 1)), expected, rtol=0.03)
    alarms = seen.contact[:, SETTLED:].any(-1).mean()
    if case == "velocity":  # the joints have noise in common, so that there are fewer alarms
        assert 0.005 < alarms < 0.022
    else:
        assert alarms == pytest.approx(0.02, rel=0.15)


@pytest.mark.parametrize("case", ["white", "slow"])
def test_noise_is_found_in_a_log_without_contact(robot, case):
    given = CASES[case]
    log = rest(robot, np.random.default_rng(3), torque=given["noise"], time=0.01 * (case == "slow"))
    found = armdyn.Observer(robot, [30.0, 60.0, 45.0]).calibrated(*log)
    expected = armdyn.Observer(robot, [30.0, 60.0, 45.0], **given)
    np.testing.assert_allclose(found.thresholds(PERIOD), expected.thresholds(PERIOD), rtol=0.05)
    np.testing.assert_allclose(found.noise.torque, given["noise"], rtol=0.1)
    assert found.false_alarms == expected.false_alarms
    with pytest.raises(ArmdynError, match="100 samples or more, got 99"):
        found.calibrated(*(v[..., :99, :] if v.ndim > 1 else v[:99] for v in log))


def test_a_constant_error_of_the_model_keeps_its_size(robot):
    slow = armdyn.Observer(robot, 30.0, noise=[0.5, 0.2, 0.3], noise_time=1e9)
    np.testing.assert_allclose(slow.deviation(1e-3), [0.5, 0.2, 0.3], rtol=1e-6)
    white = armdyn.Observer(robot, 30.0, noise=[0.5, 0.2, 0.3])
    law = np.sqrt((1 - np.exp(-30e-3)) / 2)
    np.testing.assert_allclose(white.deviation(1e-3), law * np.array([0.5, 0.2, 0.3]), rtol=1e-12)


def test_thresholds_grow_as_alarms_get_rarer(robot):
    found = [
        armdyn.Observer(robot, noise=0.1, false_alarms=rate).thresholds(1e-3)
        for rate in (1e-2, 1e-6, 1e-30)
    ]
    assert (np.diff(found, axis=0) > 0).all()
