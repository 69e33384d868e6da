"""Bad data: each fault is found and named, with what to do about it."""

import ctypes
import re
import warnings
from importlib import import_module

import numpy as np
import pytest

import armdyn
from support.measured_arms import guessed, measured, worn


@pytest.fixture(scope="module")
def robot():
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
    "stuck position": (
        lambda log: changed(log, "q", stuck),
        "stuck sensor.*position of joint2 is .* 30 % of the samples.*check the sensor",
    ),
    "stuck for good": (
        lambda log: changed(log, "q", lambda x: np.where([False, True, False], x[0], x)),
        "not exciting.*joint2 hardly moved, or the sensor is stuck.*armdyn excite",
    ),
    "velocities": (
        lambda log: log | {"qd": np.degrees(np.gradient(log["q"], log["t"], axis=0))},
        "velocities of joint1 are 57.* in degrees",
    ),
    "delayed torques": (
        lambda log: changed(log, "tau", lambda x: np.roll(x, 50, axis=0)),
        r"delay.*torques 0.2\d s earlier.*shift the torques",
    ),
    "too short": (
        lambda log: {name: x[:450] for name, x in log.items()},
        "too short.*record longer",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_named_with_advice(robot, fault):
    change, message = FAULTS[fault]
    with pytest.warns(armdyn.errors.ArmdynWarning) as told:
        found = armdyn.identify(guessed(robot), change(measured(robot)), False, cutoff=5.0)
    texts = [str(w.message) for w in told]
    assert any(re.search(message, text) for text in texts), texts
    severe = [f for f in found.findings if f.severe]
    assert severe
    assert all(f.advice for f in severe)
    assert "NOT TO BE TRUSTED" in found.report()


def spiked(x):
    x[1234, 1] = 1e6
    return x


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("q", lambda x: (x + np.pi) % (2 * np.pi) - np.pi, "jumps of positions by a whole turn"),
        ("tau", spiked, "1 rows with a number 10 times all that lasts; they were left out"),
        ("q", lambda x: np.ma.array(x, mask=x == x[77]), "1 rows with something missing"),
    ],
)
def test_what_can_be_taken_out_does_no_harm(robot, name, change, message):
    log = measured(robot, size=2.0)
    plain = armdyn.identify(guessed(robot), log)
    found = armdyn.identify(guessed(robot), changed(log, name, change))
    assert message in found.report()
    assert found.validation.relative_error < 1.01 * plain.validation.relative_error


@pytest.mark.slow
def test_columns_that_are_not_used_are_named(robot):
    log = measured(robot)
    found = armdyn.identify(guessed(robot), log | {"temperature": log["t"]}, friction="none")
    assert "columns that are not known, and not used: 'temperature'" in found.report()


@pytest.mark.slow
def test_a_validation_that_fails_is_severe(robot):
    other = measured(robot, seed=5)
    rng = np.random.default_rng(0)
    other["tau"] = rng.permutation(other["tau"])
    with pytest.warns(armdyn.errors.ArmdynWarning, match="bad fit: .* of the validation"):
        found = armdyn.identify(guessed(robot), measured(robot), other, friction="none")
    assert found.validation.relative_error > 0.3
    assert "NOT TO BE TRUSTED: bad fit" in found.report()


@pytest.mark.slow
def test_an_exchange_that_does_not_help_held_out_torques_is_not_advised(robot):
    """The third torque is tiny and goes with another joint: shares of joints would say exchange."""
    log = measured(robot)
    log["tau"][:, 2] = 1e-3 * np.gradient(log["q"][:, 1], log["t"])
    with pytest.warns(armdyn.errors.ArmdynWarning, match="units of torque"):
        found = armdyn.identify(guessed(robot), log)
    assert {finding.kind for finding in found.findings if finding.severe} == {"units of torque"}


@pytest.mark.slow
def test_linear_algebra_takes_one_thread_while_it_identifies(robot):
    """Threads of small matrices wait for each other, and took four times as long in all."""
    library = ctypes.CDLL(import_module("numpy.linalg._umath_linalg").__file__)
    threads = getattr(library, "scipy_openblas_get_num_threads64_", None)
    if threads is None:
        pytest.skip("another BLAS")
    seen, before = set(), threads()
    armdyn.identify(
        guessed(robot), measured(robot), progress=lambda *_: seen.add(threads()), friction="none"
    )
    assert (seen, threads()) == ({1}, before)


def test_joints_that_move_one_after_the_other_are_not_stuck(robot):
    t = np.arange(0.0, 24.0, 0.005)
    w = 2 * np.pi / 4
    turn = np.stack([(t // 8 == j) for j in range(3)], -1)
    q = turn * (1 - np.cos(w * t))[:, None]  # two swings of each, smoothly begun and ended
    qd, qdd = turn * (w * np.sin(w * t))[:, None], turn * (w * w * np.cos(w * t))[:, None]
    tau = robot.inverse_dynamics(q, qd, qdd)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = armdyn.identify(guessed(robot), {"t": t, "q": q, "tau": tau}, False, cutoff=5.0)
    assert "stuck sensor" not in [finding.kind for finding in found.findings]


def always(x, value):
    return np.full_like(x, value)


HOPELESS = {
    "no rows": (lambda log: {k: x[:0] for k, x in log.items()}, "no two samples"),
    "few rows": (lambda log: {k: x[:9] for k, x in log.items()}, "too few samples, 9"),
    "nothing but holes": (
        lambda log: changed(log, "tau", lambda x: x * np.nan),
        "too few samples, 0",
    ),
    "holes in the rates": (
        lambda log: log | {"qd": always(log["q"], np.nan)},
        "4,000 of 4,000 rows have something missing",
    ),
    "no torque": (
        lambda log: changed(log, "tau", lambda x: x * [1.0, 0.0, 1.0]),
        "torque of joint2 is zero throughout; check the columns",
    ),
    "huge torque": (
        lambda log: changed(log, "tau", lambda x: 1e200 * x),
        "torque of joint1 goes to .*which no arm has; check its column",
    ),
    "huge position": (
        lambda log: changed(log, "q", lambda x: 1e30 * x),
        "position of joint1 goes to .*which no arm has",
    ),
    "mixed rows": (
        lambda log: changed(log, "t", np.random.default_rng(0).permutation),
        "of the time stamps are before the one in front; rows come in the order of time",
    ),
    "time stands": (lambda log: changed(log, "t", lambda x: always(x, 3.0)), "increasing times"),
    "nanoseconds": (lambda log: changed(log, "t", lambda x: 1e9 * x), "time_unit='ns'"),
    "one column": (
        lambda log: changed(log, "q", lambda x: x[:, :1]),
        "the positions of joint2, joint3 are missing",
    ),
}


@pytest.mark.parametrize("fault", HOPELESS)
def test_what_cannot_be_used_is_refused(robot, fault):
    change, message = HOPELESS[fault]
    with pytest.raises(armdyn.errors.ArmdynError, match=message):
        armdyn.identify(guessed(robot), change(measured(robot)), False, friction="none")


def test_an_arm_at_rest_is_not_exciting(robot):
    log = measured(robot)
    log["q"][:] = log["q"][0]
    with pytest.warns(armdyn.errors.ArmdynWarning, match="joint1, joint2, joint3 hardly moved"):
        armdyn.identify(guessed(robot), log, False, friction="none", prior_weight=1.0)
