"""`armdyn simulate`: the report, the files and the exit codes."""

import json
import sys
from contextlib import contextmanager
from functools import partial

import numpy as np
import pyarrow.parquet
import pytest

import armdyn
from armdyn.cli import simulate as simulated
from armdyn.simulation import (
    CartesianImpedance,
    ComputedTorque,
    GravityPD,
    OperationalSpace,
    SlotineLi,
    quintic,
)
from armdyn.simulation.trajectories import sampled

pytestmark = pytest.mark.slow

ARM = armdyn.load("craig_two_link")
END = np.array([0.6, -0.4])


@pytest.fixture
def run(command):
    return partial(command, "simulate")


@pytest.fixture
def data(run):
    """The JSON of a run that finished."""

    def call(*words):
        code, out, err = run("craig_two_link", "--json", *words)
        assert (code, err) == (0, "")
        return json.loads(out)

    return call


def assert_same(found, expected):
    assert found["duration"] == pytest.approx(expected.t[-1])
    np.testing.assert_allclose(found["q"], expected.q[..., -1, :], atol=1e-9)
    np.testing.assert_allclose(found["qd"], expected.qd[..., -1, :], atol=1e-8)


@pytest.mark.slow
def test_the_report_tells_the_end_where_energy_went_and_what_happened(run):
    words = ("--q0", "0,0.8,-2.2,0,0.5,0", "--qd0", "1,1,1,1,1,1", "--stops", "--duration", 1.3)
    code, out, err = run("puma560", *words)
    assert (code, err) == (0, "")
    s = armdyn.simulate(
        armdyn.load("puma560"), [0, 0.8, -2.2, 0, 0.5, 0], np.ones(6), 1.3, stops=True
    )
    for part in ("Puma 560: 1.3 s by DOP853", "steps", "to friction", "to impacts", "unaccounted",
                 f"Events: {len(s.events)}", "joint2 hits a stop", f"{s.q[-1, 0]:.6g}"):  # fmt: skip
        assert part in out
    assert out.count(" sticks\n") == sum(event.kind == "sticks" for event in s.events)


@pytest.mark.slow
def test_only_the_first_events_are_listed(run, monkeypatch):
    monkeypatch.setattr("armdyn.simulation.result.MAX_LISTED_EVENTS", 2)
    _, out, _ = run("puma560", "--qd0", "1,1,1,1,1,1", "--json", "--duration", 0.6)
    events = json.loads(out)["events"]
    _, out, _ = run("puma560", "--qd0", "1,1,1,1,1,1", "--duration", 0.6)
    assert f"and {len(events) - 2} more" in out
    listed = [f"{event['joint']} {event['kind']}" in out for event in events]
    assert listed[:2] == [True, True]


def test_options_reach_the_simulation(data):
    found = data(
        "--q0", "-0.5,0.3", "--qd0", "1,-1", "--torque", "3,1", "--wrench", "1,2,3,0,0,0.5",
        "--no-friction", "--method", "RK45", "--rtol", "1e-6", "--atol", "1e-7", "--duration", 0.7,
        "--payload", "1,0,0,0.1", "--gravity", "0,-5,0", "--dt", 0.1,
    )  # fmt: skip
    arm = ARM.with_gravity((0, -5, 0)).with_payload(1.0, (0, 0, 0.1))
    assert_same(
        found,
        armdyn.simulate(
            arm, [-0.5, 0.3], [1, -1], 0.7, torque=[3, 1], external_wrench=[1, 2, 3, 0, 0, 0.5],
            friction=False, method="RK45", rtol=1e-6, atol=1e-7, dt=0.1,
        ),
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "law"),
    [
        (("gravity-pd", "--kp", 80, "--kd", "9,8"), lambda m: GravityPD(ARM, m, 80, [9, 8])),
        (
            ("computed-torque", "--compensate"),
            lambda m: ComputedTorque(ARM, m, friction=True),
        ),
        (("slotine-li", "--rate", "4,5", "--kd", 7), lambda m: SlotineLi(ARM, m, [4, 5], 7)),
        (
            ("impedance", "--kp", 60, "--kd", "9,9,9,1,1,1"),
            lambda m: CartesianImpedance(ARM, m, 60, [9, 9, 9, 1, 1, 1]),
        ),
        (("operational-space", "--kp", "90,60"), lambda m: OperationalSpace(ARM, m, [90, 60])),
    ],
)
def test_controllers_follow_a_move(data, words, law):
    options = ("--q0", "0.1,0.2", "--move", "0.6,-0.4", "--move-time", 0.3, "--duration", 0.4)
    found = data("--controller", *words, *options)
    move = quintic([0.1, 0.2], END, 0.3)
    assert_same(found, armdyn.simulate(ARM, [0.1, 0.2], None, 0.4, controller=law(move)))


@pytest.mark.parametrize("law", ["operational-space", "computed-torque"])
def test_a_straight_line_of_the_tool_is_followed(data, law):
    words = ("--q0", "0.3,0.9", "--line", "0.4,0.5,0", "--move-time", 0.2, "--no-friction")
    found = data("--controller", law, *words, "--duration", 0.25)
    np.testing.assert_allclose(ARM.forward_kinematics(found["q"])[:3, 3], [0.4, 0.5, 0], atol=1e-6)


@pytest.mark.slow
def test_controllers_hold_a_target_or_the_start_and_follow_a_file(data, tmp_path):
    held = data("--controller", "gravity-pd", "--q0", "0.1,0.2", "--duration", 0.2)
    np.testing.assert_allclose(held["q"], [0.1, 0.2], atol=1e-12)
    drawn = data("--controller", "gravity-pd", "--target", "0.6,-0.4", "--duration", 0.2)
    law = GravityPD(ARM, END)
    assert_same(drawn, armdyn.simulate(ARM, [0, 0], None, 0.2, controller=law))
    sampled(quintic([0, 0], END, 0.5), 0.01).save(tmp_path / "move.csv")
    followed = data(
        "--controller", "computed-torque", "--no-friction", "--target", tmp_path / "move.csv"
    )
    assert followed["duration"] == 0.5
    np.testing.assert_allclose(followed["q"], END, atol=1e-6)


@pytest.mark.slow
def test_a_simulation_given_back_as_torque_gives_the_same_motion(run, data, tmp_path):
    out = tmp_path / "first.csv"
    words = ("--q0", "0.5,0.3", "--controller", "computed-torque", "--move", "0.6,-0.4")
    first = data(*words, "--duration", 0.3, "--dt", 0.001, "-o", out)
    assert first["files"] == [str(out)]
    again = data("--q0", "0.5,0.3", "--torque", out, "--dt", 0.001)
    assert again["duration"] == 0.3
    np.testing.assert_allclose(again["q"], first["q"], atol=1e-4)


@pytest.mark.slow
def test_many_arms_start_within_their_limits_and_are_written_and_drawn(run, tmp_path):
    files = tmp_path / "arms.parquet", tmp_path / "arms.png"
    words = ("two_link", "--arms", 12, "--duration", 0.1, "--step", 0.01)
    code, out, err = run(*words, "--seed", 3, "-o", files[0], "--plot", files[1])
    assert (code, err) == (0, "")
    for part in ("12 arms: 0.1 s by rk4", "q median", "mean of the arms", f"wrote {files[1]}"):
        assert part in out
    read = pyarrow.parquet.read_table(files[0])
    starts = np.column_stack([read[name].to_numpy() for name in ("q1", "q2")])
    starts = starts[read["t"].to_numpy() == 0]
    assert len(np.unique(starts, axis=0)) == 12
    assert (np.abs(starts) <= np.pi).all()
    result = json.loads(run(*words, "--seed", 3, "--json")[1])
    arm = armdyn.load("two_link")
    again = armdyn.simulate(arm, starts, None, 0.1, method="rk4", step=0.01)
    np.testing.assert_allclose(result["q"], again.q[:, -1], atol=1e-10)
    other = json.loads(run(*words, "--seed", 4, "--json")[1])
    assert np.abs(np.subtract(other["q"], result["q"])).max() > 0.1
    scara = armdyn.load("scara")
    code, out, _ = run("scara", "--arms", 50, "--duration", 1e-9, "--json")
    lower, upper = scara.limits.T
    q = np.array(json.loads(out)["q"])
    assert ((lower - 1e-6 <= q) & (q <= upper + 1e-6)).all()
    assert (np.ptp(q, axis=0) > 0.7 * (upper - lower)).all()


def test_the_middle_of_the_limits_is_a_start(run):
    code, out, _ = run("scara", "--q0", "middle", "--duration", 1e-6, "--json")
    assert code == 0
    np.testing.assert_allclose(
        json.loads(out)["q"], armdyn.load("scara").limits.mean(axis=1), atol=1e-9
    )


@pytest.mark.slow
def test_ctrl_c_writes_what_was_computed_and_says_so(run, tmp_path, monkeypatch):
    @contextmanager
    def impatient(duration):
        def tell(t):
            if t > 0.5:
                raise KeyboardInterrupt

        yield tell

    monkeypatch.setattr(simulated, "telling", impatient)
    files = tmp_path / "part.csv", tmp_path / "part.png"
    code, out, err = run(
        "craig_two_link", "--duration", 100, "--dt", 0.01, "-o", files[0], "--plot", files[1]
    )
    assert (code, err) == (1, "")
    assert "interrupted at t = 0." in out
    assert "what was computed until then is kept" in out
    table = np.loadtxt(files[0], delimiter=",", skiprows=1)
    whole = armdyn.simulate(ARM, [0, 0], None, 1.0, dt=0.01)
    assert 0.5 <= table[-1, 0] < 1
    np.testing.assert_allclose(table[:, 1:3], whole.q[: len(table)], atol=1e-7)
    assert files[1].read_bytes().startswith(b"\x89PNG")


def test_a_motion_that_diverges_has_exit_code_1_and_the_time_and_state(run, tmp_path):
    code, out, err = run(
        "two_link", "--method", "rk4", "--step", 0.4, "--qd0", "50,80", "--duration", 40,
        "-o", tmp_path / "wild.csv",
    )  # fmt: skip
    assert (code, err) == (1, "")
    assert "diverged" in out
    assert "q = [" in out
    assert (tmp_path / "wild.csv").exists()


def test_a_bar_appears_on_a_terminal_and_tells_what_is_left(monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(simulated, "BAR_DELAY", 0.0)
    monkeypatch.setattr(simulated, "BAR_PERIOD", -1.0)
    monkeypatch.setenv("FORCE_COLOR", "1")
    with simulated.telling(8.0) as tell:
        tell(2.0)
        tell(4.0)
    err = capsys.readouterr().err
    assert "simulating" in err
    assert "4 of 8 s" in err
    with simulated.telling(8.0) as tell:
        pass
    assert capsys.readouterr().err == ""


def test_there_is_no_bar_elsewhere(capsys):
    with simulated.telling(8.0) as tell:
        assert tell is None


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--q0", "1"), "--q0: expected 2 numbers, got '1'"),
        (("--q0", "1,x"), "--q0: expected a number, got 'x'"),
        (("--q0", "nan,0"), "q0: expected finite numbers"),
        (("--qd0", "1,2,3"), "--qd0: expected 2 numbers"),
        (("--duration", "0"), "duration must be a positive number of seconds"),
        (("--duration", "-1"), "duration must be a positive number of seconds"),
        (("--torque", "1,2,3"), "--torque: expected 2 numbers"),
        (("--torque", "none.csv"), "there is no file none.csv"),
        (("--torque", "short.csv", "--duration", "3"), "give torques for all of it"),
        (("--torque", "1,2", "--controller", "gravity-pd"), "a torque or a controller, not both"),
        (("--controller", "pid"), "'pid' is not one of"),
        (("--kp", "3"), "--kp: the controller 'free' has no such gain"),
        (("--controller", "slotine-li", "--kp", "3"), "'slotine-li' has no such gain"),
        (("--controller", "gravity-pd", "--kd", "1,2,3"), "--kd: expected 1 or 2 numbers"),
        (
            ("--controller", "gravity-pd", "--kd", "-1"),
            "kd: expected a number that is not negative, or 2 of them, one for each joint",
        ),
        (("--controller", "impedance", "--compensate"), "does not follow a velocity"),
        (("--controller", "gravity-pd", "--target", "none.csv"), "there is no file none.csv"),
        (("--controller", "gravity-pd", "--target", "1,2", "--move", "1,2"), "not both"),
        (("--controller", "impedance", "--line", "1,1,0", "--move", "1,2"), "--move or a --line"),
        (("--controller", "impedance", "--line", "1,1"), "--line: expected 3 numbers"),
        (("--line", "1,1,0"), "--line needs a --controller"),
        (("--controller", "gravity-pd", "--line", "9,9,0"), "cannot follow the line"),
        (("--controller", "gravity-pd", "--move-time", "1"), "there is no --move"),
        (("--controller", "gravity-pd", "--arms", "3"), "need a --target"),
        (("--controller", "gravity-pd", "--arms", "3", "--move", "1,2"), "--move has one start"),
        (("--controller", "impedance", "--arms", "3", "--line", "1,2,0"), "--line has one start"),
        (("--target", "1,2"), "--target needs a --controller: gravity-pd, computed-torque"),
        (("--move", "1,2"), "--move needs a --controller"),
        (("--compensate",), "--compensate needs a --controller"),
        (("--wrench", "1,2,3"), "--wrench: expected 6 numbers"),
        (("--method", "rk5"), "or 'rk4'"),
        (("--step", "0.1"), "DOP853 chooses its own steps"),
        (("--arms", "3", "--q0", "1,2"), "leave out --q0"),
        (("--arms", "3", "--method", "RK45"), "RK45 simulates one arm"),
        (("--arms", "0"), "invalid value for '--arms'"),
        (("--dt", "0"), "dt"),
        (("--bounce", "2"), "bounce: expected a number from 0 to 1"),
        (("-o", "new.txt"), "the ending must be one of .csv, .parquet"),
        (("--plot", "new.txt"), "the ending must be one of .png, .pdf, .svg"),
        (("-o", "nowhere/new.csv"), "there is no folder nowhere"),
        (("-o", "folder.csv"), "it cannot be written there"),
        (("--torque", "short.csv", "-o", "short.csv"), "short.csv is read by this run"),
    ],
)
def test_bad_input_is_one_message_and_exit_code_2(run, words, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "short.csv").write_text("t,tau1,tau2\n0,1,1\n1,1,1\n")
    (tmp_path / "folder.csv").mkdir()
    before = sorted(tmp_path.iterdir())
    code, out, err = run("two_link", *words)
    assert (code, out) == (2, "")
    assert message in " ".join(err.replace("│", " ").split())
    assert "Traceback" not in err
    assert sorted(tmp_path.iterdir()) == before


def test_files_are_checked_before_the_robot_is_even_read(run, tmp_path):
    code, _, err = run("nobody", "-o", tmp_path / "new.txt")
    assert code == 2
    assert "the ending must be one of" in " ".join(err.replace("│", " ").split())
