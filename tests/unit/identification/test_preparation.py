"""From samples to motions with rates: filters, rates, gaps, what is left out, and how it is counted."""

from itertools import pairwise

import numpy as np
import pytest

import armdyn
from armdyn.errors import IdentificationError
from armdyn.identification import preparation
from armdyn.identification.data import check_sizes, motor_speeds, pilot, split
from armdyn.identification.preparation import (
    Cutoffs,
    Health,
    choose_cutoff,
    low_pass,
    pieces,
    spikes,
)
from armdyn.io.log import open_log

RATE, SECONDS, CUTOFFS = 400.0, 12.0, Cutoffs(5.0, 10.0)
END = 1.5 / CUTOFFS.equations
"""What is left out at each end [s]."""
T = 3.0 + np.arange(0, SECONDS, 1 / RATE)
FREE = np.full(2, np.inf)


def motion(t):
    """Positions of two joints, their rates, and torques, all slow."""
    w, phase = 2 * np.pi * np.array([0.3, 0.5]), np.array([0.4, 1.3])
    angle = t[:, None] * w + phase
    tau = np.cos(t[:, None] * [2.0, 1.1]) * [5.0, 3.0] + np.sin(0.9 * t)[:, None]
    return np.sin(angle), w * np.cos(angle), -(w**2) * np.sin(angle), tau


def recorded(t=T, **changed):
    q, _, _, tau = motion(t)
    return {"t": t, "q": q, "tau": tau} | changed


def opened(data):
    return open_log(data, ("one", "two"), (True, True))


def prepared(data, limits=FREE, cutoffs=CUTOFFS):
    health = Health()
    return list(pieces(opened(data), cutoffs, health, limits)), health


def assert_is_the_motion(piece, atol=1e-3, names=("q", "qd", "qdd", "tau")):
    true = dict(zip(("q", "qd", "qdd", "tau"), motion(piece.t), strict=True))
    for name in names:
        scale = np.abs(true[name]).max()
        found = getattr(piece, name)[piece.kept]
        np.testing.assert_allclose(found, true[name][piece.kept], atol=atol * scale, err_msg=name)


# filters


@pytest.mark.parametrize("rate", [100.0, 1000.0])
def test_a_filter_has_the_amplitudes_of_butterworth_twice_and_no_delay(rate):
    """Of order four, forwards and backwards: 1 / (1 + (tan(π f/r) / tan(π f_c/r))⁸)."""
    cutoff, t = 4.0, np.arange(0, 20, 1 / rate)
    middle = slice(len(t) // 4, -len(t) // 4)
    for f in (0.5, 4.0, 6.0, 12.0):
        ratio = np.tan(np.pi * f / rate) / np.tan(np.pi * cutoff / rate)
        x = np.column_stack([np.sin(2 * np.pi * f * t + 0.3), np.full_like(t, 2.0)])
        found = low_pass(x, cutoff, rate)[middle]
        np.testing.assert_allclose(found[:, 0], x[middle, 0] / (1 + ratio**8), atol=1e-7)
        np.testing.assert_allclose(found[:, 1], 2.0, atol=1e-9)
    assert low_pass(x, 0.49 * rate, rate) is x
    assert low_pass(x, 0.48 * rate, rate) is not x
    assert low_pass(x[:3], cutoff, rate).shape == (3, 2)
    assert low_pass(x[:0], cutoff, rate).shape == (0, 2)


def test_the_cutoff_is_five_times_the_highest_frequency_of_the_motion():
    t, noise = np.arange(0, 60, 0.01), np.random.default_rng(0).normal(size=(6000, 2))
    q = np.column_stack([np.sin(2 * np.pi * 0.5 * t), 0.2 * np.sin(2 * np.pi * 1.5 * t)])
    for given in (q, q[:, ::-1], q + 1e-5 * noise, 1e-3 * q, 1e3 * q):
        assert choose_cutoff(given, 100.0) == pytest.approx(7.5, rel=0.05)
    assert choose_cutoff(q[:, :1], 100.0) == pytest.approx(2.5, rel=0.1)
    assert choose_cutoff(q[:, :1] + 3 * t[:, None], 100.0) == pytest.approx(2.5, rel=0.1)
    fast = np.sin(2 * np.pi * 20.0 * t)[:, None]
    assert choose_cutoff(fast, 100.0) == pytest.approx(0.8 * 50)  # of half of the rate at most
    # slower than a motion of four periods in the log is not told
    assert choose_cutoff(1e-3 * q[:200, :1], 100.0) >= 4 * 5 * 100 / 200


# pieces


def test_a_piece_has_the_motion_with_its_rates():
    (piece,), health = prepared(recorded())
    assert_is_the_motion(piece)
    # twenty samples a period of the cut-off in the equations, of which ten are kept
    assert piece.rate == pytest.approx(100.0)
    np.testing.assert_allclose(piece.t, T[::4], atol=1e-12)
    assert piece.kept.step == 2
    kept = piece.t[piece.kept]
    assert END <= kept[0] - T[0] < END + 0.011
    assert T[-1] - END - 0.021 < kept[-1] <= T[-1] - END
    assert piece.good.all()
    assert health.duration == pytest.approx(T[-1] - T[0] - 2 * END)
    assert (health.rows, +health.counts, health.worst_jitter) == (len(T), {}, pytest.approx(0))
    np.testing.assert_array_equal(health.saturated, [0, 0])


def test_rates_that_were_measured_are_taken():
    _, qd, qdd, _ = motion(T)
    (piece,), _ = prepared(recorded(qd=2 * qd))
    for name, true in (("qd", qd), ("qdd", qdd)):
        found = getattr(piece, name)[piece.kept]
        np.testing.assert_allclose(found, 2 * true[::4][piece.kept], atol=0.02)
    (piece,), _ = prepared(recorded(qd=qd, qdd=3 * qdd))
    np.testing.assert_allclose(piece.qdd[piece.kept], 3 * qdd[::4][piece.kept], atol=0.03)
    (piece,), _ = prepared(recorded(qdd=3 * qdd))
    np.testing.assert_allclose(piece.qdd[piece.kept], 3 * qdd[::4][piece.kept], atol=0.03)
    assert_is_the_motion(piece, names=("q", "qd", "tau"))


def test_positions_and_torques_have_their_own_filters():
    """What is above the cut-off of the motion, and what is above that of the equations."""
    hum = 0.1 * np.sin(2 * np.pi * 14 * T)[:, None]
    data = recorded()
    data |= {"q": data["q"] + hum, "tau": data["tau"] + hum}
    (piece,), _ = prepared(data, cutoffs=Cutoffs(4.0, 7.0))
    assert_is_the_motion(piece, 1e-3, ("q", "tau"))
    (piece,), _ = prepared(data, cutoffs=Cutoffs(40.0, 7.0))
    seen = np.abs(piece.tau - motion(piece.t)[3])[piece.kept].max()
    assert seen == pytest.approx(0.1, rel=0.05)
    (piece,), _ = prepared(data, cutoffs=Cutoffs(4.0, 60.0))
    assert np.abs(piece.q - motion(piece.t)[0])[piece.kept].max() == pytest.approx(0.1, rel=0.05)


def test_steps_that_differ_are_counted_and_samples_are_put_on_a_grid():
    t = T.copy()
    t[1000] += 0.3 / RATE
    t[2000] -= 0.01 / RATE
    (piece,), health = prepared(recorded(t))
    assert_is_the_motion(piece)
    assert +health.counts == {"jitter": 2}
    assert health.worst_jitter == pytest.approx(0.3, rel=1e-3)
    np.testing.assert_allclose(np.diff(piece.t), 0.01, rtol=1e-6)


@pytest.mark.parametrize("lost", [1, 4, 5, 40])
def test_a_few_samples_are_filled_in_and_more_make_a_gap(lost):
    keep = np.ones(len(T), dtype=bool)
    keep[2000 : 2000 + lost] = False
    found, health = prepared(recorded(T[keep]))
    filled = lost < 5
    assert +health.counts == ({"filled": lost} if filled else {"gaps": 1})
    assert len(found) == (1 if filled else 2)
    for piece in found:
        assert_is_the_motion(piece)
    if not filled:  # the ends go on both sides
        edges = [found[0].t[found[0].kept][-1], found[1].t[found[1].kept][0]]
        assert edges[0] == pytest.approx(T[1999] - END, abs=0.021)
        assert edges[1] == pytest.approx(T[2000 + lost] + END, abs=0.021)
        lasted = T[1999] - T[0] + T[-1] - T[2000 + lost] - 4 * END
        assert health.duration == pytest.approx(lasted)


def test_rows_that_come_twice_or_late_change_nothing():
    data = recorded()
    (plain,), _ = prepared(data)
    order = np.arange(len(T))
    for rows, counts in (
        (np.insert(order, 700, 700), {"doubled": 1}),
        (np.r_[order[:900], 901, 900, order[902:]], {"backwards": 1}),
    ):
        (piece,), health = prepared({name: x[rows] for name, x in data.items()})
        assert +health.counts == counts
        for name in ("t", "q", "qd", "qdd", "tau", "good"):
            np.testing.assert_allclose(getattr(piece, name), getattr(plain, name), atol=1e-9)


def test_a_clock_that_starts_anew_begins_a_piece():
    t = np.concatenate([T, T - T[0] + 0.05])
    found, health = prepared(
        {name: np.concatenate([x, x]) for name, x in recorded().items()} | {"t": t}
    )
    assert +health.counts == {"gaps": 1}
    assert len(found) == 2
    assert_is_the_motion(found[0])


@pytest.mark.parametrize(
    ("name", "value", "kind"),
    [
        ("q", np.nan, "missing"),
        ("tau", np.inf, "missing"),
        ("tau", 1e4, "spikes"),
        ("q", -50, "spikes"),
    ],
)
def test_rows_with_something_wrong_are_left_out(name, value, kind):
    data = recorded()
    data[name][[300, 1500, 1501], [0, 1, 1]] = value
    (piece,), health = prepared(data)
    assert +health.counts == {kind: 3, "filled": 3}
    assert_is_the_motion(piece)


def test_what_sticks_out_of_all_that_lasts_is_a_spike():
    samples = opened(recorded())
    (block,) = samples.blocks()
    top = np.abs(block.tau[:, 1]).max()
    for share, rows, found in ((9.9, 1, 0), (10.2, 1, 1), (50.0, 2, 2), (50.0, 3, 0)):
        tau = block.tau.copy()
        tau[800 : 800 + rows, 1] += share * top
        assert spikes(armdyn.io.log.Samples(block.t, block.q, tau)).sum() == found
    few = block[:4]
    few.tau[2] = 1e9
    assert not spikes(few).any()


def test_whole_turns_of_an_encoder_are_taken_out():
    data = recorded()
    data["q"] = (2 * data["q"] + [2.0, 1.0] + np.pi) % (2 * np.pi) - np.pi
    jumps = int((np.abs(np.diff(data["q"], axis=0)) > np.pi).sum())
    (piece,), health = prepared(data)
    assert +health.counts == {"jumps": jumps}
    true = 2 * motion(piece.t)[0] + [2.0, 1.0]
    np.testing.assert_allclose(piece.q[piece.kept], true[piece.kept], atol=2e-3)


@pytest.mark.parametrize("size", [1300, 2000])
def test_a_long_log_is_worked_on_in_pieces_that_meet(size, monkeypatch):
    monkeypatch.setattr(preparation, "PIECE", size)
    found, health = prepared(recorded())
    assert len(found) > 2
    assert +health.counts == {}
    for piece in found:
        assert_is_the_motion(piece)
    times = [piece.t[piece.kept] for piece in found]
    assert END <= times[0][0] - T[0] < END + 0.02
    assert times[-1][-1] > T[-1] - END - 0.03
    joints = [later[0] - former[-1] for former, later in pairwise(times)]
    assert (np.abs(joints) < 0.031).all()  # a sample may be there twice, and none is missing
    assert health.duration == pytest.approx(T[-1] - T[0] - 2 * END, abs=0.01 * len(found))


def test_what_is_shorter_than_its_ends_gives_no_piece():
    for seconds, count in ((2 * END - 0.02, 0), (2 * END + 0.1, 1)):
        found, _ = prepared(recorded(3.0 + np.arange(0, seconds, 1 / RATE)))
        assert len(found) == count


# saturation


def test_torques_at_their_largest_value_are_left_out_with_their_neighbours():
    data = recorded()
    top = 0.9 * data["tau"][:, 0].max()
    data["tau"][:, 0] = np.minimum(data["tau"][:, 0], top)
    bad = data["tau"][:, 0] == top
    (piece,), health = prepared(data)
    np.testing.assert_array_equal(health.saturated, [bad.sum(), 0])
    away = np.abs(piece.t[:, None] - T[bad]).min(axis=1)
    sure = np.abs(away - 1 / CUTOFFS.equations) > 1e-9
    np.testing.assert_array_equal(piece.good[sure, 0], away[sure] > 1 / CUTOFFS.equations)
    assert piece.good[:, 1].all()


def saturated(column, limit=np.inf):
    return preparation._saturated(np.array(column, dtype=float)[:, None], np.array([limit]))[:, 0]


def test_a_largest_value_is_saturation_if_it_lasts_for_five_samples():
    wave = list(np.sin(np.linspace(0.1, 3, 40)))
    for count in (4, 5, 9):
        for sign in (1, -1):
            found = saturated([*wave, *[sign * 1.5] * count, *wave])
            assert found.sum() == (count if count >= 5 else 0)
            if count >= 5:
                assert found[40 : 40 + count].all()
    assert not saturated([*wave, *[-0.4] * 9, *wave]).any()  # far below the largest there is
    assert not saturated([1.5] * 90 + wave).any()  # a constant is none


def test_a_limit_that_is_known_is_saturation_unless_it_is_passed_by_far():
    wave = 2.0 * np.sin(np.linspace(0.1, 3, 40))
    top = wave.max()
    for share, found in ((0.9, 0), (0.9985, 0), (0.9995, 1), (1.019, 1), (1.021, 0)):
        for column in (wave, -wave):
            assert saturated(column, top / share).any() == found


# logs


@pytest.mark.parametrize(("share", "first"), [(0.3, True), (-0.3, False), (0.9, True)])
def test_a_log_is_split_into_what_is_held_out_and_the_rest(share, first):
    (training,), (held,) = split([opened(recorded())], share)
    assert held.rows == pytest.approx(abs(share) * len(T), abs=1)
    assert training.rows + held.rows == len(T)
    times = [next(log.blocks()).t for log in ((training, held) if first else (held, training))]
    np.testing.assert_array_equal(np.concatenate(times), T)


def test_the_first_samples_of_a_log_are_sound_and_go_on_over_whole_turns():
    data = recorded()
    data["q"] = (2 * data["q"] + [2.0, 1.0] + np.pi) % (2 * np.pi) - np.pi
    data["tau"][[5, 9]] = [[np.nan, 0], [1e7, 0]]
    found = pilot(opened(data), 1000)
    np.testing.assert_array_equal(found.t, np.delete(T[:1000], [5, 9]))
    true = 2 * motion(T)[0][:1000] + [2.0, 1.0]
    np.testing.assert_allclose(found.q, np.delete(true, [5, 9], axis=0), atol=1e-12)


@pytest.mark.parametrize(
    ("name", "factor", "message"),
    [
        ("q", 0.99e6, ""),
        ("q", 1.01e6, "position of one goes to 1.01e.06, which no arm has"),
        ("tau", 1.01e12, "torque of one goes to 1.01e.12, which no arm has"),
        ("tau", 0.99e12, ""),
        ("tau", 1.1e-12, ""),
        ("tau", 0.9e-12, "torque of one, two is zero throughout"),
    ],
)
def test_sizes_that_no_arm_has_are_refused(name, factor, message):
    data = recorded()
    data[name] = factor * data[name] / np.abs(data[name]).max(axis=0)
    if not message:
        check_sizes(opened(data), ("one", "two"))
        return
    with pytest.raises(IdentificationError, match=message):
        check_sizes(opened(data), ("one", "two"))


def test_the_speed_of_a_motor_is_the_root_mean_square_of_its_rate():
    ratios = np.array([[1.0, 0.0], [0.0, 1.0], [2.0, -1.0]])
    _, qd, _, _ = motion(T)
    true = np.sqrt(np.mean((qd @ ratios.T) ** 2, axis=0))
    for data, tolerance in ((recorded(), 1e-2), (recorded(qd=qd), 1e-12)):
        (samples,) = opened(data).blocks()
        np.testing.assert_allclose(motor_speeds(samples, 1 / RATE, 5.0, ratios), true, tolerance)
    still = recorded()
    still["q"][:, 1] = 0.3
    (samples,) = opened(still).blocks()
    found = motor_speeds(samples, 1 / RATE, 5.0, ratios[:2])
    assert found[1] == pytest.approx(1e-4 * found[0])  # none is zero, by which others are divided
