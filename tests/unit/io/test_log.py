"""Logs: whatever the format and whatever the columns are called, the same numbers come out."""

import re

import numpy as np
import pytest

from armdyn.errors import LogError
from armdyn.io.csv import table as csv_table
from armdyn.io.log import open_log

JOINTS = ("shoulder", "elbow")
ROWS = 40
T = 0.01 * np.arange(ROWS)
Q = np.column_stack([np.sin(T), np.cos(2 * T)])
TAU = np.column_stack([3 * np.cos(T), T])


def table(header, *columns, separator=","):
    rows = np.column_stack(columns)
    lines = (separator.join(map(repr, map(float, row))) for row in rows)
    return header + "\n" + "\n".join(lines) + "\n"


def read(path, **options):
    log = open_log(path, JOINTS, (True, True), **options)
    parts = list(log.blocks())
    whole = parts[0]
    for part in parts[1:]:
        whole = whole.joined(part)
    return whole


def check(samples, tau=TAU):
    np.testing.assert_allclose(samples.t - samples.t[0], T, atol=1e-6)
    np.testing.assert_allclose(samples.q, Q, atol=1e-9)
    np.testing.assert_allclose(samples.tau, tau, atol=1e-9)


HEADERS = {
    "numbered": "t,q1,q2,tau1,tau2",
    "spaced, with units": "time [s], q_1 [rad], q_2 [rad], torque 1 (N m), torque 2 (N m)",
    "from zero": "timestamp,actual_q_0,actual_q_1,effort[0],effort[1]",
    "by joint": "time,shoulder.position,elbow.position,shoulder.effort,elbow.effort",
    "by topic": "__time,/js/shoulder/position,/js/elbow/position,/js/shoulder/effort,/js/elbow/effort",
    "quantity first": "t,pos_shoulder,pos_elbow,torque_shoulder,torque_elbow",
}


@pytest.mark.parametrize("name", HEADERS)
def test_columns_are_known_by_number_and_by_joint(name, file):
    check(read(file(table(HEADERS[name], T, Q, TAU), "log.csv")))


def test_ros_exports_name_the_joints_in_their_own_order(file):
    header = (
        "%time,field.name0,field.name1,field.position0,field.position1,field.effort0,field.effort1"
    )
    lines = (
        f"{1.7e18 + 1e9 * t:.0f},elbow,shoulder,{q[1]!r},{q[0]!r},{u[1]!r},{u[0]!r}"
        for t, q, u in zip(T, Q.tolist(), TAU.tolist(), strict=True)
    )
    check(read(file("\n".join([header, *lines]), "log.csv"), time_unit="ns"))


def test_seconds_and_nanoseconds_are_one_time(file):
    header = "header.stamp.secs,header.stamp.nsecs,q1,q2,tau1,tau2"
    seconds, nano = np.full(ROWS, 1.7e9), np.round(T * 1e9)
    check(read(file(table(header, seconds, nano, Q, TAU), "log.csv")))


def test_other_separators_degrees_rates_and_currents(file):
    header = "t;q1 [deg];q2 [deg];qd1;qd2;current1;current2"
    text = table(header, T, np.degrees(Q), Q, TAU, separator=";")
    samples = read(file(text, "log.csv"), gains=[2.0, 5.0])
    check(samples, TAU * [2.0, 5.0])
    np.testing.assert_allclose(samples.qd, np.radians(Q))


def test_each_column_has_the_unit_in_its_name(file):
    header = "t,q1 [rad],q2 [deg],qd1 [rpm],qd2 [rad/s],tau1 [mNm],tau2 [N m]"
    scales = [1, 180 / np.pi, 30 / np.pi, 1, 1000, 1]
    values = np.hstack([Q, Q, TAU]) * scales
    samples = read(file(table(header, T, values[:, :2], values[:, 2:4], values[:, 4:]), "log.csv"))
    check(samples)
    np.testing.assert_allclose(samples.qd, Q)


def test_npz_and_parquet_and_arrays_hold_the_same(tmp_path):
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    np.savez(tmp_path / "log.npz", t=T, q=Q, tau=TAU)
    np.savez_compressed(tmp_path / "columns.npz", t=T, q=np.asfortranarray(Q), tau=TAU)
    columns = {"t": T, "q1": Q[:, 0], "q2": Q[:, 1], "tau1": TAU[:, 0], "tau2": TAU[:, 1]}
    pq.write_table(pa.table(columns), tmp_path / "log.parquet", row_group_size=7)
    for source in (tmp_path / "log.npz", tmp_path / "columns.npz", tmp_path / "log.parquet"):
        check(read(source))
    check(read({"t": T, "q": Q, "tau": TAU}))


def test_files_are_read_in_blocks_and_parts(file, monkeypatch):
    monkeypatch.setattr(csv_table, "BYTES_AT_ONCE", 300)
    path = file(table(HEADERS["numbered"], T, Q, TAU), "log.csv")
    log = open_log(path, JOINTS, (True, True))
    assert len(list(log.blocks())) > 5
    check(read(path))
    assert log.source.rows == ROWS
    part = log.part(7, 31)
    np.testing.assert_array_equal(np.concatenate([b.t for b in part.blocks()]), T[7:31])


def test_empty_cells_are_missing_numbers(file):
    lines = table(HEADERS["numbered"], T, Q, TAU).splitlines()
    cells = lines[3].split(",")
    lines[3] = ",".join([cells[0], "", *cells[2:]])
    samples = read(file("\n".join(lines), "log.csv"))
    assert np.isnan(samples.q[2, 0])
    assert np.isfinite(np.delete(samples.q, 2, axis=0)).all()


def test_time_without_stamps_needs_a_rate(file):
    path = file(table("q1,q2,tau1,tau2", Q, TAU), "log.csv")
    check(read(path, rate=100.0))
    with pytest.raises(LogError, match="no column of time .* rate="):
        read(path)


def test_columns_can_be_named(file):
    path = file(table("clock,a,b,c,d", T, Q, TAU), "log.csv")
    check(read(path, columns={"t": "clock", "q": ["a", "b"], "tau": ["c", "d"]}))
    with pytest.raises(LogError, match="no column of positions was recognised.*columns="):
        read(path)
    with pytest.raises(LogError, match="there is no column 'clok' for the time"):
        read(path, columns={"t": "clok", "q": ["a", "b"], "tau": ["c", "d"]})
    with pytest.raises(LogError, match="there is no column 'e'"):
        read(path, columns={"t": "clock", "q": ["e", "b"], "tau": ["c", "d"]})
    with pytest.raises(LogError, match="expected 2 names for q"):
        read(path, columns={"q": ["a"]})


def test_commands_beside_what_was_measured_are_no_misspelt_columns(file):
    header = "t,q1,q2,tau1,tau2,velocity_cmd_1,currents_ref_1,mode"
    samples = read(file(table(header, T, Q, TAU, T, T, T), "log.csv"))
    check(samples)
    assert samples.qd is None


FAULTS = {
    "did you mean 'qd1'?": "t,q1,q2,tau1,tau2,qqd1,qqd2\n0,0,0,0,0,0,0\n",
    "the file is empty": "",
    "log.csv:1: the first line must name the columns, t,q1": "1,2,3\n4,5,6\n",
    "the torques of elbow are missing": "t,q1,q2,tau1\n0,0,0,0\n1e-2,0,0,0\n",
    "log.csv:3: the text 'oops' in column q2": "t,q1,q2,tau1,tau2\n0,0,0,0,0\n0.1,0,oops,0,0\n",
    "log.csv:3: 2 cells, but the header names 5": "t,q1,q2,tau1,tau2\n0,0,0,0,0\n0.1,0\n",
    "too far for seconds; if they are in ms": "t,q1,q2,tau1,tau2\n0,0,0,0,0\n8,0,0,0,0\n16,0,0,0,0\n",
    "there are currents and no torques": "t,q1,q2,i1,i2\n0,0,0,0,0\n0.1,0,0,0,0\n",
    "no two samples with increasing times": "t,q1,q2,tau1,tau2\n0,0,0,0,0\n",
}


@pytest.mark.parametrize("message", FAULTS)
def test_faults_are_named_with_their_place(message, file):
    with pytest.raises(LogError, match=re.escape(message)):
        read(file(FAULTS[message], "log.csv"))


def test_what_is_no_log_is_refused(tmp_path, file):
    with pytest.raises(LogError, match="there is no file"):
        read(tmp_path / "none.csv")
    with pytest.raises(LogError, match="the ending must be one of"):
        read(file("x", "log.bag"))
    with pytest.raises(LogError, match="this is no NPZ file"):
        read(file("x", "log.npz"))
    with pytest.raises(LogError, match="expected a .csv, .parquet or .npz file"):
        read(3)
    with pytest.raises(LogError, match="arrays of one length"):
        read({"t": T, "q": Q[1:], "tau": TAU})
    with pytest.raises(LogError, match="gains: expected 2 numbers"):
        read({"t": T, "q": Q, "tau": TAU}, gains=[1.0, 0.0])
    with pytest.raises(LogError, match="time_unit: expected one of"):
        read({"t": T, "q": Q, "tau": TAU}, time_unit="h")
