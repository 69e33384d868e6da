import os
from pathlib import Path

import numpy as np
import pytest

import armdyn
from armdyn import simulation
from armdyn.errors import ArmdynWarning, TrajectoryError
from armdyn.io.csv.table import write_csv
from armdyn.io.csv.trajectory import trajectory_from_csv

LINES = "".join(f"{0.1 * k:.1f},{k * k},{-k}\n" for k in range(8))


@pytest.fixture
def file(tmp_path: Path):
    def write(content: str | bytes, name: str = "move.csv") -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write


def polynomials(t: np.ndarray, order: int) -> np.ndarray:
    """Two polynomials of degree five, or their derivatives."""
    both = ([1.0, -2.0, 0.5, 0.3, -0.2, 0.1], [0.0, 1.0, 0.0, -1.0, 0.4, -0.05])
    poly = np.polynomial.Polynomial
    return np.stack([poly(c).deriv(order)(t) if order else poly(c)(t) for c in both], -1)


def table(t: np.ndarray, *groups: str) -> dict[str, np.ndarray]:
    order = {"q": 0, "qd": 1, "qdd": 2}
    columns = {"t": t}
    for group in groups:
        values = polynomials(t, order[group])
        columns |= {f"{group}{i + 1}": values[:, i] for i in range(2)}
    return columns


@pytest.mark.parametrize(
    ("groups", "computed"),
    [
        (("q",), ("qd", "qdd")),
        (("q", "qd"), ("qdd",)),
        (("q", "qdd"), ("qd",)),
        (("q", "qd", "qdd"), ()),
    ],
)
def test_missing_rates_of_polynomials_up_to_degree_five_are_exact(tmp_path, groups, computed):
    t = np.cumsum(np.linspace(0.05, 0.2, 30))
    write_csv(tmp_path / "move.csv", table(t, *groups))
    move = trajectory_from_csv(tmp_path / "move.csv", 2)
    assert move.computed == computed
    assert all(group in move.note for group in computed)
    assert bool(move.note) == bool(computed)
    for order, values in enumerate((move.q, move.qd, move.qdd)):
        np.testing.assert_allclose(values, polynomials(t, order), rtol=1e-7, atol=1e-7)


def test_a_joint_that_keeps_its_position_is_exactly_at_rest(tmp_path):
    s = np.linspace(0, 1, 40)
    move, stay = s**3 * (10 - 15 * s + 6 * s**2), np.ones(30)
    q = np.concatenate([move, stay, move[::-1]])
    t = 0.01 * np.arange(len(q))
    write_csv(tmp_path / "move.csv", {"t": t, "q1": q, "q2": np.sin(t)})
    result = trajectory_from_csv(tmp_path / "move.csv", 2)
    assert not result.qd[40:70, 0].any()
    assert not result.qdd[40:70, 0].any()
    assert (result.qd[2:38, 0] > 0).all()
    assert (result.qd[72:-2, 0] < 0).all()
    np.testing.assert_allclose(result.qd[:, 1], np.cos(t), rtol=1e-7)


def test_columns_are_found_by_name_in_any_order(file):
    move = trajectory_from_csv(
        file("q2,qdd1,qdd2,t,q1,qd2,qd1\n2,5,6,0,1,4,3\n20,50,60,1,10,40,30\n"), 2
    )
    assert move.t.tolist() == [0, 1]
    assert move.q.tolist() == [[1, 2], [10, 20]]
    assert move.qd.tolist() == [[3, 4], [30, 40]]
    assert move.qdd.tolist() == [[5, 6], [50, 60]]


@pytest.mark.parametrize(
    "text",
    [
        "\ufeff" + "t,q1,q2\n" + LINES,
        ("t,q1,q2\n" + LINES).replace("\n", "\r\n"),
        't , "q1", q2\n\n' + LINES.replace(",", " , ") + "\n\n",
    ],
    ids=["byte order mark", "windows lines", "spaces, quotes and empty lines"],
)
def test_files_as_spreadsheets_write_them_are_read_alike(file, text):
    plain = trajectory_from_csv(file("t,q1,q2\n" + LINES, "plain.csv"), 2)
    other = trajectory_from_csv(file(text), 2)
    np.testing.assert_array_equal(other.q, plain.q)
    np.testing.assert_array_equal(other.qdd, plain.qdd)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"move\.csv: the file is empty; expected a header t,q1"),
        ("\n\n", r"the first line is empty"),
        ("t,q1,q2\n", r"a header but no line of numbers"),
        ("0,1,2\n" + LINES, r":1: the first line must name the columns, t,q1\.\.q2; it is '0,1,2'"),
        ("t;q1;q2\n0;1;2\n1;x;2\n", r":3: the text 'x' in column q1; expected a number"),
        ("t\tq1\tq2\n0\t1\n", r":2: 2 cells, but the header names 3 columns"),
        ("q1,q2\n1,2\n", r":1: the column t is missing; expected t,q1\.\.q2"),
        ("t,q2\n" + LINES, r":1: the positions of joint1 are missing; expected .* q1\.\.q2"),
        ("t,q1,q2,qd1\n", r":1: the velocities of joint2 are missing; .* qd1\.\.qd2"),
        ("t,q1,q2,qqd1,qqd2\n", r":1: the column 'qqd1' is not known; did you mean 'qd1'\?"),
        ("t,q1,q2,qd1,qd2,qdd1,qddt2\n", r":1: .* 'qddt2' is not known; did you mean 'qdd"),
        ("t,q1,q2,joint1.velocty\n", r":1: .* did you mean 'joint1\.velocity'\?"),
        ("t,q1,q2,qd1,qd2,qd3\n", r":1: .* velocities go up to qd3, but the robot has 2 joints"),
        ("t,q1,q2,q3\n", r":1: .* go up to q3, but the robot has 2 joints; expected q1\.\.q2"),
        ("t,q1\n", r":1: the positions of joint2 are missing; .* each of 2 joints"),
        ("t,q0,q1,q2\n", r":1: .* go up to q2, but the robot has 2 joints; expected q1\.\.q2"),
        ("t,q1,q1\n", r":1: the column 'q1' appears more than once"),
        ("t,q1,q2\n0,1,2\n\n1,2\n", r":4: 2 cells, but the header names 3 columns"),
        ("t,q1,q2\n0,1,2\n1,2,3,4\n", r":3: 4 cells, but the header names 3 columns"),
        ("t,q1,q2\n0,1,2\n\n1,fast,3\n", r":4: the text 'fast' in column q1; expected a number"),
        ("t,q1,q2\n0,1,2\n1,,3\n", r":3: an empty cell in column q1; expected a number"),
        ("t,q1,q2\n0,1,2\n1,2,nan\n", r":3: nan in column q2; expected a finite number"),
        ("t,q1,q2\n0,-inf,2\n1,2,3\n", r":2: -inf in column q1; expected a finite number"),
        ("t,q1,q2\n0,1,2\n\n1,1,2\n1,1,2\n", r":5: time must increase .* t = 1 follows t = 1"),
        ("t,q1,q2\n5,1,2\n4,1,2\n", r":3: time must increase .* t = 4 follows t = 5"),
        ("t,q1,q2\n0,1,2\n", r": 1 line of numbers cannot give the missing rates; .* 6 lines, or"),
        ("t,q1,q2,qd1,qd2\n0,1,2,0,0\n1,1,2,0,0\n", r"2 lines .* or the columns qdd1\.\.qdd2"),
        (b"t,q1,q2\n0,1,2\n1,\xb5,2\n", r":3: bytes that are not UTF-8 text in column q1"),
        ('t,"q1,q2\n0,1,2\n', r": 1 line of numbers cannot give"),
        ('t,"q1,q2\n0,"1,2\n', r":2: 2 cells, but the header names 3 columns"),
        ('"', r":1: the first line must name the columns"),
        ("t,q1,q2\n" + "1" * 200_000 + "\n", r":2: field larger than field limit"),
        (
            "t,q1,q2\n" + "".join(f"{i}e-320,{i * i},1\n" for i in range(9)),
            "the missing qd and qdd are no finite numbers; times are too close",
        ),
        (
            "t,q1,q2\n" + "".join(f"{i},{(-1) ** i}.7e308,1\n" for i in range(9)),
            "no finite numbers; .* or positions too large",
        ),
        ("t,q1,q2".encode("utf-16"), r":1: byte 1 is not UTF-8 text; save the table as CSV"),
    ],
)
def test_a_bad_file_is_refused_with_the_place_and_the_reason(file, text, message):
    with pytest.raises(TrajectoryError, match=message):
        trajectory_from_csv(file(text), 2)


DIALECTS = {
    "semicolons": "t;q1;q2",
    "tabs": "t\tq1\tq2",
    "joints from 0": "t,q0,q1",
    "capitals": "T,Q1,Q2",
    "underscores and units": "time [s],q_1 [rad],q_2 [rad]",
    "names of joints": "time,joint1,joint2",
    "topics": "__time,/joint_states/joint1/position,/joint_states/joint2/position",
    "as a robot controller": "timestamp,actual_q_0,actual_q_1",
    "marked as a comment": "%t,q1,q2",
}


@pytest.mark.parametrize("name", DIALECTS)
def test_dialects_of_recorders_are_read_alike(file, name):
    header = DIALECTS[name]
    separator = next((mark for mark in ";\t" if mark in header), ",")
    plain = trajectory_from_csv(file("t,q1,q2\n" + LINES, "plain.csv"), 2)
    other = trajectory_from_csv(file(header + "\n" + LINES.replace(",", separator)), 2)
    np.testing.assert_array_equal(other.t, plain.t)
    np.testing.assert_array_equal(other.q, plain.q)
    np.testing.assert_array_equal(other.qdd, plain.qdd)
    assert other.note == plain.note


@pytest.mark.parametrize("separator", [";", "\t"])
def test_decimals_may_have_a_comma_where_columns_are_separated_otherwise(file, separator):
    plain = trajectory_from_csv(file("t,q1,q2\n" + LINES, "plain.csv"), 2)
    text = LINES.replace(",", separator).replace(".", ",")
    other = trajectory_from_csv(file(f"t{separator}q1{separator}q2\n{text}"), 2)
    np.testing.assert_array_equal(other.t, plain.t)
    np.testing.assert_array_equal(other.q, plain.q)


def test_rates_of_any_dialect_are_used_and_not_computed(file):
    rows = "".join(f"{k};{k},5;1;2;3\n" for k in range(3))
    move = trajectory_from_csv(file("t;q_1;qd_1;qdd_1;temperature\n" + rows), 1)
    assert (move.computed, move.qdd[:, 0].tolist()) == ((), [2, 2, 2])
    assert move.note == "columns that are not known, and not used: 'temperature'"


@pytest.mark.parametrize(
    "use", [simulation.from_csv, lambda path, robot: armdyn.sweep(robot, "bias", over=path)]
)
def test_those_without_a_page_for_notes_warn_of_columns_that_are_not_known(file, use):
    path = file("t,q1,q2,mode\n" + "".join(f"{k},0,0,on\n" for k in range(6)))
    with pytest.warns(ArmdynWarning, match="not known, and not used: 'mode'"):
        use(path, armdyn.load("two_link"))


def test_columns_that_are_not_known_are_named_and_left_alone(file):
    rows = "".join(f"{k},base,{k * k},{-k},7,on\n" for k in range(8))
    move = trajectory_from_csv(file("t,frame_id,q1,q2,tau1,mode\n" + rows), 2)
    assert move.q[3].tolist() == [9, -3]
    assert "'frame_id', 'mode'" in move.note
    assert "tau1" not in move.note


def test_measured_columns_come_before_others_of_the_same_quantity(file):
    rows = "".join(f"{k},9,{k * k}\n" for k in range(8))
    move = trajectory_from_csv(file("t,target_q_0,actual_q_0\n" + rows), 1)
    assert move.q[3].tolist() == [9]


def test_trajectories_are_read_from_other_tables_too(file, tmp_path):
    plain = trajectory_from_csv(file("t,q1,q2\n" + LINES), 2)
    np.savez(tmp_path / "move.npz", t=plain.t, q=plain.q)
    other = trajectory_from_csv(tmp_path / "move.npz", 2)
    np.testing.assert_array_equal(other.qdd, plain.qdd)
    np.savez(tmp_path / "bad.npz", t=plain.t, q=np.where(plain.q == 4, np.nan, plain.q))
    with pytest.raises(TrajectoryError, match=r"bad\.npz: row 3: .* in column q1"):
        trajectory_from_csv(tmp_path / "bad.npz", 2)


def test_a_single_instant_needs_no_spline_when_the_rates_are_there(file):
    move = trajectory_from_csv(file("t,q1,qd1,qdd1\n0,1,2,3\n"), 1)
    assert (move.q.shape, move.qd.item(), move.qdd.item()) == ((1, 1), 2, 3)


def test_a_missing_file_is_named_with_files_like_it(file):
    path = file("t,q1\n", "pick.csv")
    with pytest.raises(TrajectoryError, match=r"there is no file .*pik\.csv.* Did you .*pick\.csv"):
        trajectory_from_csv(path.with_name("pik.csv"), 1)
    with pytest.raises(TrajectoryError, match="There is no folder"):
        trajectory_from_csv(path.parent / "nowhere" / "pick.csv", 1)


def test_a_folder_is_no_trajectory(tmp_path):
    with pytest.raises(TrajectoryError, match="is no regular file"):
        trajectory_from_csv(tmp_path, 1)


def test_a_pipe_is_refused_because_it_cannot_be_read_twice(tmp_path):
    os.mkfifo(tmp_path / "pipe.csv")
    with pytest.raises(TrajectoryError, match="is no regular file"):
        trajectory_from_csv(tmp_path / "pipe.csv", 1)


def test_a_misspelt_acceleration_beside_velocities_is_refused(file):
    rows = "".join(f"{k},{k * k},{2 * k},2\n" for k in range(8))
    with pytest.raises(
        TrajectoryError, match="the column 'qqd1' is not known; did you mean 'qdd1'"
    ):
        trajectory_from_csv(file("t,q1,qd1,qqd1\n" + rows), 1)


def test_times_that_may_be_milliseconds_are_warned_of(file):
    rows = "".join(f"{20 * k},{k / 50}\n" for k in range(30))
    with pytest.warns(ArmdynWarning, match=r"times are 20 s apart; .* call their column t \[ms\]"):
        trajectory_from_csv(file("t,q1\n" + rows), 1)
    move = trajectory_from_csv(file("t [ms],q1\n" + rows, "ms.csv"), 1)
    np.testing.assert_allclose(move.qd, 1.0, atol=1e-9)
    trajectory_from_csv(file("t [s],q1\n" + rows, "s.csv"), 1)


def test_positions_of_an_encoder_that_starts_anew_go_on(file):
    t = np.linspace(0, 4, 101)
    rows = "".join(f"{x},{(3 * x + np.pi) % (2 * np.pi) - np.pi},{3 * x}\n" for x in t)
    move = trajectory_from_csv(file("t,q1,q2\n" + rows), 2)
    np.testing.assert_allclose(move.q[:, 0], move.q[:, 1], atol=1e-9)
    np.testing.assert_allclose(move.qd, 3.0, atol=1e-6)
    assert "2 jumps of positions by a whole turn were taken out" in move.note
