"""What samples show by themselves: each fault from its edge on, and nothing where there is none."""

from types import SimpleNamespace

import numpy as np
import pytest

import armdyn
from armdyn.identification.diagnosis import (
    Finding,
    _changed,
    _delayed,
    _enough,
    _jumps,
    _longest_run,
    _possible,
    _units,
    health_findings,
    sample_findings,
)
from armdyn.identification.equations import ROUGH, Equations
from armdyn.identification.preparation import Cutoffs, Health, Piece, pieces
from armdyn.identification.problem import Sums, prior_of, problem_of
from armdyn.io.log import Samples, open_log
from support.measured_arms import motion
from support.programs import EvaluatedRobot

RATE, CUTOFF = 200.0, 8.0


@pytest.fixture(scope="module")
def robot():
    """Three joints of which the first has limits; the others may go anywhere."""
    arm = armdyn.load("saha_3r").with_limits(position={"joint1": (-1.5, 1.0)})
    return EvaluatedRobot(arm.model)


@pytest.fixture(scope="module")
def log(robot):
    t = np.arange(0, 10, 1 / RATE)
    q, qd, qdd = motion(robot, t)
    tau = robot.inverse_dynamics(q, qd, qdd)
    return open_log({"t": t, "q": q, "qd": qd, "tau": tau}, robot.joint_names, [True] * 3)


@pytest.fixture
def samples(log):
    (block,) = log.blocks()
    return Samples(block.t, block.q.copy(), block.tau.copy(), block.qd.copy())


def told(robot, log, samples):
    found = list(sample_findings(robot, log, samples, CUTOFF))
    assert all(finding.severe and finding.advice for finding in found)
    return [str(finding) for finding in found]


def test_sound_samples_show_nothing(robot, log, samples):
    assert told(robot, log, samples) == []


@pytest.mark.parametrize(
    ("factor", "words"),
    [
        (-1.0, "velocities of joint2 have the sign opposite"),
        (180 / np.pi, "joint2 are 57.3 times .*one of the two is in degrees"),
        (np.pi / 180, "joint2 are 0.0175 times .*one of the two is in degrees"),
        (60 * 1.15, "one of the two is in degrees"),
        (2.2, "joint2 are 2.2 times the derivative of its positions; check the units of both"),
        (0.45, "joint2 are 0.45 times .*; check the units of both"),
        (1.8, ""),
        (0.55, ""),
        (3.0, "check the units of both"),
        (90.0, "check the units of both"),
    ],
)
def test_velocities_are_compared_with_the_slopes_of_positions(robot, log, samples, factor, words):
    samples.qd[:, 1] *= factor
    found = told(robot, log, samples)
    assert len(found) == bool(words)
    if words:
        with pytest.raises(AssertionError, match=words):
            raise AssertionError(found[0])


def test_velocities_of_another_joint_do_not_belong_to_the_positions(robot, log, samples):
    samples.qd[:, [0, 2]] = samples.qd[:, [2, 0]]
    found = told(robot, log, samples)
    assert [text.partition("joint")[2][0] for text in found] == ["1", "3"]
    assert all("do not belong to its positions; check the order" in text for text in found)
    few = samples[:29]
    assert not any("velocities" in text for text in told(robot, log, few))


def test_positions_far_beyond_the_limits_are_degrees_where_they_would_be_within(
    robot, log, samples
):
    within = np.abs(samples.q[:, 0]).max()
    for degrees, kind in ((1.0, "degrees"), (3.0, "positions")):
        scale = 180 / np.pi * degrees * 1.4 / within
        far = Samples(samples.t, samples.q * [scale, 1, 1], samples.tau)
        (text,) = told(robot, log, far)
        assert text.startswith(f"{kind}: data: joint1")
    # a reach of 1.5 rad: thrice as far is still believed
    for size, count in ((4.4, 0), (4.6, 1)):
        far = Samples(samples.t, samples.q * [size / within, 1, 1], samples.tau)
        assert len(told(robot, log, far)) == count
    # of several joints in degrees the one that goes farthest is named
    both = Samples(samples.t, np.degrees(samples.q * [0.5, 1, 1]), samples.tau)
    peak = np.abs(both.q).max(0)
    (text,) = told(robot, log, both)
    assert f"joint{1 + peak.argmax()} goes to {peak.max():.4g}" in text


@pytest.mark.parametrize("what", ["torque", "position"])
@pytest.mark.parametrize(("share", "severe"), [(0.09, 0), (0.12, 1)])
def test_a_sensor_is_stuck_that_keeps_its_value_while_the_arm_moves(
    robot, log, samples, what, share, severe
):
    column = samples.tau if what == "torque" else samples.q
    rows = slice(500, 500 + int(share * len(samples)))
    column[rows, 1] = column[rows.start, 1]
    with_rates = told(robot, log, samples)
    without = told(robot, log, Samples(samples.t, samples.q, samples.tau))
    for found in (with_rates, without):
        assert len(found) == severe
        if severe:
            assert f"the {what} of joint2 is {column[500, 1]:.6g} from 2.5 s to" in found[0]
            assert f"to {samples.t[rows.stop - 1]:.6g} s, 12 % of the samples" in found[0]


def test_a_joint_that_rests_is_not_stuck(robot, log, samples):
    """Its torque goes on, and its position stops smoothly."""
    t = samples.t
    swing = np.where(t < 4, 1 - np.cos(np.pi * t / 2), 0.0)
    samples.q[:, 1] = swing
    assert told(robot, log, Samples(t, samples.q, samples.tau)) == []
    rate = np.where(t < 4, np.pi / 2 * np.sin(np.pi * t / 2), 0.0)
    samples.qd[:, 1] = rate
    assert told(robot, log, samples) == []
    # all joints at rest: then nothing moves
    still = Samples(t[:400], np.repeat(samples.q[:1], 400, 0), samples.tau[:400])
    assert told(robot, log, still) == []


def test_the_longest_run_of_equal_values_is_found_wherever_it_is():
    column = np.arange(30.0)
    for start, stop in ((0, 7), (11, 20), (22, 30)):
        some = column.copy()
        some[start:stop] = some[start]
        assert _longest_run(some) == (start, stop)
    assert _longest_run(np.zeros(5)) == (0, 5)


def test_no_joint_stops_or_starts_within_a_sample():
    t = np.arange(0, 10, 0.01)
    column = np.sin(t)
    for start, stop in ((300, 460), (0, 100), (800, 1000)):
        stuck = column.copy()
        stuck[start:stop] = column[start if start else stop]
        assert _jumps(stuck, start, stop)
        late = np.concatenate([column[:start], np.full(stop - start, stuck[start]), column[start:]])
        assert _jumps(late[:1000], start, stop)
    rests = np.where((t > 2) & (t < 8), 0.0, 1 - np.cos(np.pi * t))
    start, stop = _longest_run(rests)
    assert not _jumps(rests, start, stop)


# what all samples together show


@pytest.fixture(scope="module")
def rough(robot):
    return Equations(robot, ROUGH, np.ones(3))


@pytest.fixture(scope="module")
def some(log):
    return list(pieces(log, Cutoffs(CUTOFF, CUTOFF), Health(), np.full(3, np.inf)))


@pytest.mark.parametrize("samples_late", [0, 12, -20])
def test_a_delay_is_found_where_it_is(rough, some, samples_late):
    late = [
        Piece(p.t, p.q, p.qd, p.qdd, np.roll(p.tau, samples_late, axis=0), p.good, p.kept, p.rate)
        for p in some
    ]
    finding, moved = _delayed(rough, late, CUTOFF)
    grid = (some[0].kept.step or 1) / some[0].rate
    seconds = samples_late / some[0].rate
    way = "earlier" if samples_late > 0 else "later"
    assert finding.kind == "delay"
    if samples_late:
        assert f"torques {abs(seconds):.2g} s {way}" in finding.text
        assert f"shift the torques by {abs(seconds):.2g} s" in finding.advice
    middle = slice(100, -100)
    gap = np.abs(moved[0].tau - some[0].tau)[middle].max()
    assert gap <= grid * np.abs(np.diff(some[0].tau, axis=0)).max() * some[0].rate


def test_each_change_of_columns_is_its_own_inverse_or_the_unit_of_degrees(rough, some):
    found = list(_possible(rough, [0, 2]))
    kinds = [finding.kind for finding, *_ in found]
    assert kinds == ["sign"] * 4 + ["swapped columns"] * 3 + ["degrees"]
    (piece,) = some
    for finding, torques, moves in found:
        (once,) = _changed(some, torques, moves)
        (twice,) = _changed([once], torques, moves)
        np.testing.assert_array_equal(once.qd, piece.qd @ moves)
        np.testing.assert_array_equal(once.qdd, piece.qdd @ moves)
        changed = {
            n for n in ("q", "tau") if not np.array_equal(getattr(once, n), getattr(piece, n))
        }
        if finding.kind == "degrees":
            np.testing.assert_allclose(once.q, np.radians(piece.q))
            continue
        np.testing.assert_array_equal(twice.q, piece.q)
        np.testing.assert_array_equal(twice.tau, piece.tau)
        words = {"torque": {"tau"}, "position": {"q"}, "columns": {"q", "tau"}}
        assert changed == next(v for w, v in words.items() if w in finding.text)
        named = [j for j in range(3) if f"joint{j + 1}" in finding.text]
        column = once.tau if "tau" in changed else once.q
        before = piece.tau if "tau" in changed else piece.q
        if finding.kind == "sign":
            np.testing.assert_array_equal(column[:, named], -before[:, named])
        else:
            np.testing.assert_array_equal(column[:, named], before[:, named[::-1]])
        others = [j for j in range(3) if j not in named]
        np.testing.assert_array_equal(column[:, others], before[:, others])


@pytest.mark.parametrize(
    ("factors", "kinds"),
    [
        ((1, 1, 1), []),
        ((90, 90, 90), []),
        ((1000, 1000, 1000), ["times those of the robot as it was given; they may be in N mm"]),
        ((1e-3, 1e-3, 1e-3), ["times those of the robot as it was given; they may be in kN m"]),
        ((1, 1000, 1), ["the torque of joint2 is 1e.03 times", "joints 1 times"]),
        ((1, 1e-3, 1), ["the torque of joint2 is 0.001 times"]),
        ((1, 50, 1), []),
    ],
)
def test_torques_far_from_those_of_the_robot_are_in_other_units(rough, some, factors, kinds):
    sums = Sums(rough)
    for piece in some:
        rows = rough.rows(piece, CUTOFF)
        scaled = type(rows)(rows.t, rows.q, rows.qd, rows.tau * factors, rows.good, rows.Z)
        sums.add(scaled)
    every = problem_of(sums, rough.motors)
    found = " ".join(map(str, _units(rough, every, prior_of(rough, every))))
    assert (found == "") == (not kinds)
    for words in kinds:
        with pytest.raises(AssertionError, match=words):
            raise AssertionError(found)


def enough(robot, *, duration=10.0, unknowns=12, shown=(7, 20), speeds=(1.0, 1.0, 1.0)):
    model = SimpleNamespace(robot=robot, speeds=np.array(speeds))
    health = SimpleNamespace(duration=duration)
    data = SimpleNamespace(equations=model, health=health, cutoffs=Cutoffs(2.0, 4.0))
    base = [SimpleNamespace(excited=k < shown[0]) for k in range(shown[1])]
    return list(_enough(data, SimpleNamespace(g=np.zeros((5, 3, unknowns))), base))


def test_a_motion_is_worth_two_measurements_a_period_of_the_cutoff_and_joint(robot):
    """Four for each unknown are needed: 2 · 4 s · 2 Hz · 3 joints are 48."""
    for duration, kinds in ((3.99, ["too short"]), (4.01, [])):
        assert [finding.kind for finding in enough(robot, duration=duration)] == kinds
    (finding,) = enough(robot, duration=1.0)
    assert "worth 12 independent measurements for 12 unknowns" in finding.text


def test_a_third_of_the_parameters_must_be_shown_and_every_joint_must_move(robot):
    assert [x.kind for x in enough(robot, shown=(6, 20))] == ["not exciting"]
    assert enough(robot, shown=(7, 20)) == []
    for speed, kinds in ((0.009, ["not exciting"]), (0.011, [])):
        found = enough(robot, speeds=(1.0, 1.0, speed))
        assert [x.kind for x in found] == kinds
        assert all("joint3 hardly moved" in x.text for x in found)
    assert "joint1, joint2, joint3" in enough(robot, speeds=(5e-5, 5e-5, 5e-5))[0].text
    assert enough(robot, speeds=(2e-4, 2e-4, 2e-4)) == []


def test_what_was_done_about_samples_is_told_once_each():
    health = Health(worst_jitter=0.27)
    kinds = ("missing", "doubled", "backwards", "filled", "spikes", "jumps", "gaps", "jitter")
    assert list(health_findings(health, ("a", "b"))) == []
    for k, kind in enumerate(kinds, 3):
        health.counts[kind] = 1000 * k
    health.saturated = np.array([0, 1234])
    found = list(health_findings(health, ("a", "b")))
    assert len(found) == len(kinds) + 1
    assert not any(finding.severe for finding in found)
    for k, (finding, kind) in enumerate(zip(found, kinds, strict=False), 3):
        assert finding.text.startswith(f"{k},000 ")
        stamps = kind in ("doubled", "backwards", "jitter")
        assert finding.kind == ("time stamps" if stamps else kind)
    assert "by up to 27 %" in found[7].text
    assert "b (1,234) samples" in found[8].text
    assert str(Finding("sign", "turned", "turn it")) == "sign: turned; turn it"
