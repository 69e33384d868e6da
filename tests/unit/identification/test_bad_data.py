"""Bad data: each fault is found and named, with what to do about it."""

import re

import numpy as np
import pytest

import armdyn
from support.measured_arms import guessed, measured, worn

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def arm():
    return worn(armdyn.load("saha_3r"))


def changed(log, name, change):
    return log | {name: change(log[name].copy())}


def turned(j):
    def change(x):
        x[:, j] = -x[:, j]
        return x

    return change


def exchanged(j, k):
    def change(x):
        x[:, [j, k]] = x[:, [k, j]]
        return x

    return change


def stuck(x):
    x[1000:2200, 1] = x[1000, 1]
    return x


FAULTS = {
    "degrees": (lambda log: changed(log, "q", np.degrees), "degrees.*degrees=True"),
    "N mm": (lambda log: changed(log, "tau", lambda x: 1000 * x), "units of torque.*N mm"),
    "swapped torques": (
        lambda log: changed(log, "tau", exchanged(1, 2)),
        "swapped columns.*torques of joint2 and joint3 exchanged",
    ),
    "swapped positions": (
        lambda log: changed(log, "q", exchanged(0, 1)),
        "swapped columns.*positions of joint1 and joint2 exchanged",
    ),
    "sign of a torque": (
        lambda log: changed(log, "tau", turned(1)),
        "sign.*torque of joint2 turned round",
    ),
    "sign of a position": (
        lambda log: changed(log, "q", turned(2)),
        "sign.*position of joint3 turned round",
    ),
    "stuck torque": (
        lambda log: changed(log, "tau", stuck),
        "stuck sensor.*torque of joint2.*check the sensor",
    ),
    "velocities": (
        lambda log: log | {"qd": np.degrees(np.gradient(log["q"], log["t"], axis=0))},
        "velocities of joint1 are 57.* in degrees",
    ),
    "too short": (
        lambda log: {name: x[:450] for name, x in log.items()},
        "too short.*record longer",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_named_with_advice(arm, fault):
    change, message = FAULTS[fault]
    with pytest.warns(armdyn.errors.ArmdynWarning) as told:
        found = armdyn.identify(guessed(arm), change(measured(arm)), False, cutoff=5.0)
    texts = [str(w.message) for w in told]
    assert any(re.search(message, text) for text in texts), texts
    severe = [f for f in found.findings if f.severe]
    assert severe
    assert all(f.advice for f in severe)
    assert "NOT TO BE TRUSTED" in found.report()
