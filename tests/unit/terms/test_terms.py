"""Which terms matter: laws of the shares, and of the speed up to which a model suffices."""

import json
import warnings
from itertools import combinations

import numpy as np
import pytest

import armdyn
from armdyn.errors import ArmdynWarning, ModelError, ShapeError, TrajectoryError, UnknownNameError
from armdyn.io.csv.trajectory import SampledMotion
from armdyn.simulation import quintic
from armdyn.study.states import ENTRIES_AT_ONCE, Workspace, states_of
from armdyn.study.terms.terms import references
from support.paths import ROBOTS


@pytest.fixture(scope="module")
def robot() -> armdyn.Robot:
    return armdyn.load("saha_3r")


def test_the_terms_add_up_to_the_torque_and_the_shares_to_one(arm):
    found = armdyn.terms(arm.robot, Workspace(samples=50))
    peak = max(joint.peak for joint in found.joints)
    assert found.residual <= 1e-12 * peak
    centred = all(link.inertia.has_com for link in arm.model.links)
    for joint in found.joints:
        assert sum(term.share for term in joint.terms) == pytest.approx(1.0)
        assert sum(kind.share for kind in joint.kinds) == pytest.approx(1.0)
        ranked = [term.rms for term in joint.terms]
        assert ranked == sorted(ranked, reverse=True)
        moving = ("inertial", "centrifugal", "coriolis")
        inertia = sum(kind.share for kind in joint.kinds if kind.kind in moving)
        assert sum(part.share for part in joint.parts) == pytest.approx(inertia if centred else 0.0)


def test_what_rotors_take_that_spin_is_told_apart():
    robot = armdyn.load("puma560", spinning_rotors=True)
    motion = np.random.default_rng(0).uniform(-0.7, 0.7, (3, 30, 6))
    spin = robot.ledger(*motion).spin
    for i, joint in enumerate(armdyn.terms(robot, tuple(motion)).joints):
        part = joint.parts[-1]
        assert part.name == "spin of rotors"
        assert part.rms == pytest.approx(np.sqrt(np.mean(spin[:, i] ** 2)))
    assert len(armdyn.terms(armdyn.load("puma560"), tuple(motion)).joints[0].parts) == 2


def test_terms_are_those_of_mass_matrix_and_christoffel_symbols(robot):
    rng = np.random.default_rng(0)
    q, qd, qdd = rng.uniform(-1, 1, (3, 20, 3))
    D, h, g = robot.mass_matrix(q), robot.christoffel(q), robot.gravity_vector(q)
    for i, joint in enumerate(armdyn.terms(robot, (q, qd, qdd)).joints):
        expected = {f"D{i + 1}{m + 1} qdd{m + 1}": D[:, i, m] * qdd[:, m] for m in range(3)}
        expected |= {
            f"h{i + 1}{m + 1}{m + 1} qd{m + 1}^2": h[:, i, m, m] * qd[:, m] ** 2 for m in range(3)
        }
        for a, b in combinations(range(3), 2):
            name = f"2 h{i + 1}{a + 1}{b + 1} qd{a + 1} qd{b + 1}"
            expected[name] = 2 * h[:, i, a, b] * qd[:, a] * qd[:, b]
        expected["gravity"] = g[:, i]
        shares = {term.name: (term.peak, term.rms) for term in joint.terms}
        assert shares.keys() <= expected.keys()
        for name, values in expected.items():  # those that are zero are not told
            peak, rms = np.abs(values).max(), np.sqrt((values**2).mean())
            assert shares.get(name, (0.0, 0.0)) == pytest.approx((peak, rms), abs=1e-9)


def test_the_neglected_part_reaches_the_tolerance_at_the_speed_that_is_told(robot):
    path = quintic([0.0, 0.0, 0.0], [1.0, -2.0, 1.5], 1.0)
    found = armdyn.terms(robot, path, tolerance=0.03, friction=False)
    t = np.linspace(0, 1, 1001)
    q, qd, qdd = path(t)
    peak = np.abs(robot.inverse_dynamics(q, qd, qdd, friction=False)).max(0)
    for i, joint in enumerate(found.quasi_static):
        s = joint.speed
        scaled = robot.inverse_dynamics(q, s * qd, s**2 * qdd, friction=False)
        neglected = np.abs(scaled - robot.gravity_vector(q)).max(0)
        assert neglected[i] == pytest.approx(0.03 * peak[i])
        assert joint.basis == "peak torque"
    assert found.suffices == (found.speed >= 1)


def test_an_effort_limit_is_the_reference_where_asked_for_and_known():
    robot = armdyn.load(ROBOTS / "arm.urdf")
    peaks = np.arange(1.0, robot.n + 1)
    for joint, peak, found in zip(
        robot.model.joints, peaks, references(robot, peaks, "effort"), strict=True
    ):
        known = 0 < joint.limits.effort < np.inf
        expected = (joint.limits.effort, "effort limit") if known else (peak, "peak torque")
        assert found == expected
    assert references(robot, peaks, "peak") == [(peak, "peak torque") for peak in peaks]


def test_an_arm_at_rest_is_static(robot):
    found = armdyn.terms(robot, ([0.3, 0.4, 0.5], np.zeros(3), np.zeros(3)))
    assert found.speed == np.inf
    assert found.suffices
    assert json.loads(found.json())["quasi_static"]["speed"] is None
    assert "all there is" in found.report()


def test_many_joints_are_computed_a_few_states_at_once(robot):
    states = states_of(robot, Workspace(samples=50))
    parts = [*states.parts(ENTRIES_AT_ONCE // 20)]
    assert [len(states.q[part]) for part in parts] == [20, 20, 10]
    assert [len(states.q[part]) for part in states.parts(10 * ENTRIES_AT_ONCE)] == [1] * 50


def test_a_workspace_stays_within_limits_and_speeds():
    robot = armdyn.load("puma560")
    states = states_of(robot, Workspace(samples=100, speed=2.0, acceleration=[1, 2, 3, 4, 5, 6]))
    low, high = robot.limits.T
    assert ((states.q >= low) & (states.q <= high)).all()
    assert np.abs(states.qd).max() == 2.0
    np.testing.assert_array_equal(np.abs(states.qdd).max(0), [1, 2, 3, 4, 5, 6])
    again = states_of(robot, Workspace(samples=100, speed=2.0, acceleration=[1, 2, 3, 4, 5, 6]))
    np.testing.assert_array_equal(states.q, again.q)


def test_a_mean_weighs_states_by_time(robot):
    t = np.array([0.0, 1.0, 4.0])
    q = np.zeros((3, 3))
    move = SampledMotion(t, q, q, q)
    np.testing.assert_allclose(states_of(robot, move).weights, [0.125, 0.5, 0.375])


@pytest.mark.parametrize("tolerance", [0, -0.1, 1, 2, np.nan, np.inf, "5 %", None, True])
def test_a_tolerance_lies_between_0_and_1(robot, tolerance):
    with pytest.raises(ModelError, match="above 0 and below 1 .* got"):
        armdyn.terms(robot, tolerance=tolerance)


def test_a_motion_beyond_the_limits_is_refused_or_warned_of():
    robot = armdyn.load("puma560")
    motion = (np.full((2, 6), 4.0), np.zeros(6), np.zeros(6))
    with pytest.raises(TrajectoryError, match=r"joint1: position 4 rad beyond its limit of"):
        states_of(robot, motion)
    with pytest.warns(ArmdynWarning, match="leaves the limits"):
        states_of(robot, motion, "warn")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        states_of(robot, motion, "ignore")


@pytest.mark.parametrize(
    ("over", "error", "message"),
    [
        (3, TrajectoryError, "expected a motion"),
        ((np.zeros((0, 3)),) * 3, TrajectoryError, "no states"),
        ((np.full(3, np.nan),) * 3, TrajectoryError, "not finite"),
        ((np.zeros(2),) * 3, ShapeError, "3 joints"),
        (SampledMotion(np.zeros(2), *[np.zeros((2, 3))] * 3), TrajectoryError, "increase"),
        (Workspace(samples=0), ModelError, "samples: expected a whole number"),
        (Workspace(samples=10**9), ModelError, "from 1 to 10,000,000, got 1000000000"),
        (Workspace(seed=-1), ModelError, "seed"),
        (Workspace(speed=[1, 2]), ModelError, "or 3 of them, one for each joint"),
        (Workspace(acceleration=-1), ModelError, "acceleration"),
    ],
)
def test_what_is_no_set_of_states_is_refused(robot, over, error, message):
    with pytest.raises(error, match=message):
        armdyn.terms(robot, over)
    with pytest.raises(UnknownNameError, match="way to treat limits"):
        armdyn.terms(robot, limits="never")


def test_the_report_and_the_picture(robot, tmp_path):
    found = armdyn.terms(robot, Workspace(samples=20), listed=2)
    text, data = found.report(), json.loads(found.json())
    assert "Quasi-static model" in text
    assert data["joints"][0]["terms"][0]["name"] in text
    found.plot(tmp_path / "terms.svg")
    assert (tmp_path / "terms.svg").stat().st_size > 5000
