import numpy as np
import pytest
from typer.testing import CliRunner

import armdyn
from armdyn.cli import app
from armdyn.errors import TrajectoryError, WriteError
from armdyn.io.csv.table import write_csv
from armdyn.io.csv.trajectory import trajectory_from_csv
from armdyn.simulation.trajectories import from_csv, quintic, sampled, trapezoid
from support.trajectory_laws import assert_derivatives, assert_rests_outside, assert_vectorised

ARM = armdyn.load("two_link")
MOVE = quintic([0.1, -0.4], [1.3, 0.9], 1.25, end_velocity=[0.3, -0.2])


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "move.csv"
    sampled(MOVE, 0.1).save(path)
    return path


def test_samples_are_the_motion_from_start_to_end():
    t, q, qd, qdd = sampled(MOVE, 0.1)
    np.testing.assert_allclose(t, [*np.arange(13) / 10, 1.25], atol=1e-15)
    for column, values in zip((q, qd, qdd), MOVE(t), strict=True):
        np.testing.assert_array_equal(column, values)
    assert len(sampled(MOVE, 0.125).t) == 11
    assert len(sampled(MOVE, 9.0).t) == 2
    assert sampled(MOVE, 1.25 / 7).t[-1] == 1.25
    # 3 · 0.1 is more than 0.3, after which the motion would rest
    np.testing.assert_array_equal(
        sampled(quintic([0.0], [1.0], 0.3, end_velocity=2.0), 0.1).qd[-1], [2.0]
    )
    with pytest.raises(TrajectoryError, match="dt: expected a positive number"):
        sampled(MOVE, 0)


def test_a_saved_quintic_comes_back_as_itself(file):
    back = from_csv(file, ARM)
    assert (back.n, back.duration) == (2, 1.25)
    t = np.linspace(-0.2, 1.6, 400)
    for one, other, tolerance in zip(back(t), MOVE(t), (1e-11, 1e-9, 1e-7), strict=True):
        np.testing.assert_allclose(one, other, atol=tolerance)


def test_it_is_a_motion(file):
    back = from_csv(file, ARM)
    assert_derivatives(back, back.knots, 1e-8, 0.08)
    assert_rests_outside(back)
    assert_vectorised(back)


def test_at_the_lines_it_is_what_the_file_says(file):
    table, back = trajectory_from_csv(file, 2), from_csv(file, ARM)
    at = back(table.t)
    np.testing.assert_array_equal(at.q, table.q)
    np.testing.assert_allclose(at.qd, table.qd, rtol=1e-14)
    np.testing.assert_allclose(at.qdd, table.qdd, rtol=1e-14)


def test_time_is_counted_from_the_first_line(tmp_path):
    t, q, *_ = sampled(MOVE, 0.05)
    write_csv(tmp_path / "late.csv", {"t": t + 7, "q1": q[:, 0], "q2": q[:, 1]})
    late = from_csv(tmp_path / "late.csv", ARM)
    assert late.duration == pytest.approx(1.25, abs=1e-11)
    np.testing.assert_allclose(late(0.43).q, MOVE(0.43).q, atol=1e-8)


def test_the_command_line_reads_what_was_saved(tmp_path):
    move, path = trapezoid([0, 0], [1, -1], 1.0, 2.0), tmp_path / "move.csv"
    samples = sampled(move, 0.01)
    samples.save(path)
    run = CliRunner().invoke(app, ["torque", "two_link", str(path), "-o", str(tmp_path / "o.csv")])
    assert run.exit_code == 0, run.output
    assert "not in the file" not in run.output
    names = (tmp_path / "o.csv").read_text(encoding="utf-8").splitlines()[0].split(",")
    tau = np.loadtxt(tmp_path / "o.csv", delimiter=",", skiprows=1)
    wanted = ARM.inverse_dynamics(samples.q, samples.qd, samples.qdd)
    columns = [i for i, name in enumerate(names) if name in ("tau1", "tau2")]
    np.testing.assert_allclose(tau[:, columns], wanted, atol=1e-8)


def test_a_line_whose_time_does_not_increase_is_named(tmp_path):
    path = tmp_path / "bad.csv"
    path.write_text(
        "t,q1,q2,qd1,qd2,qdd1,qdd2\n" + "".join(f"{t},0,0,0,0,0,0\n" for t in (0, 1, 1))
    )
    with pytest.raises(TrajectoryError, match=r"bad.csv:4: time must increase"):
        from_csv(path, ARM)


def test_one_line_is_rest(tmp_path):
    path = tmp_path / "one.csv"
    path.write_text("t,q1,q2,qd1,qd2,qdd1,qdd2\n0,0.5,0.25,0,0,0,0\n")
    rest = from_csv(path, ARM)
    assert rest.duration == 0
    np.testing.assert_array_equal(rest([0.0, 3.0]).q, [[0.5, 0.25]] * 2)


def test_a_folder_that_does_not_exist_is_named(tmp_path):
    with pytest.raises(WriteError, match="cannot write"):
        sampled(MOVE, 0.1).save(tmp_path / "none" / "move.csv")
