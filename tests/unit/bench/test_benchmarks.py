"""The scripts in benchmarks/."""

import json
import shutil

import c_export
import c_export_sources
import numpy as np
import pinocchio as pin
import pytest
import speed_robots
from growth import growth, random_chain
from growth_picture import GAP, _spread, plot_growth
from growth_series import exponent
from speed import NAMES, Judged, print_speed, speed

from armdyn.bench.bench import Machine, Speed, kernel_flops, measured_arm, peak_loop
from armdyn.bench.peers import alternate
from armdyn.errors import UnknownNameError
from armdyn.kernels.llvm.trig import FLOPS
from armdyn.loading import load

pytestmark = pytest.mark.slow

SHORT = [name for name in NAMES if name != "chain" and not name.endswith("compile")]

# the table


@pytest.fixture(scope="module")
def table():
    return speed(SHORT, seconds=0.0, quick=True)


@pytest.mark.slow
def test_every_row_is_measured_and_compared(table):
    rows, _ = table
    assert {row.row.robot for row in rows} == {"panda", "ur5", "talos", "puma560"}
    for judged in rows:
        assert min(judged.row.ours, judged.row.theirs or 1.0, judged.value) > 0, judged
    assert sum(judged.limit is not None for judged in rows) == 17
    json.dumps([row.data() for row in rows], allow_nan=False)


def test_the_table_is_printed(table, capsys):
    print_speed(Machine.here(), *table)
    out = capsys.readouterr().out
    assert "load average" in " ".join(out.split())  # a processor with a long name breaks the line
    for part in (
        "cores",
        "pin ",
        "pin.rneaInParallel",
        "≥ 52",
        "GFLOP/s",
        "note: ",
    ):
        assert part in out


def test_goals_are_met_from_their_limit_on():
    row = Speed("", "", "", 1.0)

    def met(value, sense):
        return Judged(row, value, "", sense, 2.0).met

    assert [met(v, "≥") for v in (1.9, 2.0, None)] == [False, True, None]
    assert [met(v, "≤") for v in (1.9, 2.0, 2.1)] == [True, True, False]
    assert Judged(row, 3.0, "").met is None


def test_without_the_package_of_robots_the_catalog_stands_in(monkeypatch):
    monkeypatch.setattr(speed_robots, "package_file", lambda name: None)
    names = ["ur5_inverse_dynamics", "talos_inverse_dynamics"]
    rows, notes = speed(names, seconds=0.0, quick=True)
    assert {row.row.robot for row in rows} == {"ur5e"}
    assert "example-robot-data is not installed, so talos is not measured" in notes


def test_an_unknown_name_is_an_error():
    with pytest.raises(UnknownNameError, match="no benchmark 'x'"):
        speed(["x"])


# exported C


@pytest.mark.skipif(shutil.which("gcc") is None, reason="no C compiler")
@pytest.mark.parametrize("library", [None, pin])
def test_exported_c_is_measured_without_headers_and_without_pinocchio(library, monkeypatch):
    monkeypatch.setattr(c_export, "installed", lambda name: library)
    monkeypatch.setattr(c_export, "include_folders", lambda *_: [])
    rows = list(c_export.measure(["ur5e"], 1, None, lambda _: None))
    assert [row[1] for row in rows] == list(c_export.FLAGS)
    for _, _, time, peer, theirs in rows:
        assert 0 < time < 1e-4
        assert peer == ("pin.rneaInParallel" if library else "")
        assert (theirs is None) == (library is None)


@pytest.mark.skipif(shutil.which("gcc") is None, reason="no C compiler")
def test_a_step_of_the_observer_is_measured():
    rows = list(c_export.measure_observer(["two_link"], 1, lambda _: None))
    assert [row[1] for row in rows] == list(c_export.FLAGS)
    assert all(0 < row[2] < 1e-5 for row in rows)


def test_the_robot_of_the_loop_in_cpp_is_that_of_pinocchio(tmp_path):
    with measured_arm(load("ur5e")) as arm:
        c_export_sources.write_model(pin, arm, tmp_path / "model")
    words = (tmp_path / "model").read_text().split()
    assert words[:4] == ["6", "0.0", "0.0", "-9.81"]
    assert len(words) == 4 + 6 * (2 + 9 + 3 + 1 + 3 + 9)


# the peak


def test_the_peak_is_that_of_a_processor():
    (time,) = alternate([peak_loop()], 0.1)
    assert 1e9 < 1 / time < 1e13


def test_operations_are_those_of_the_program_and_of_its_angles():
    kernel = speed_robots.robot("ur5").kernel("inverse_dynamics", friction=False).__self__
    counted = kernel.operations
    needed = counted.mul + counted.add + counted.div + FLOPS["float64"] * counted.trig
    # a product that goes into two sums is computed in both
    assert needed <= kernel_flops(kernel)[0] <= 1.1 * needed


# growth


def test_exponents_are_fitted():
    sizes = [2, 3, 5, 8]
    for power in (1.0, 2.5, 4.0):
        assert exponent(sizes, [7.0 * n**power for n in sizes]) == pytest.approx(power)


def test_random_chains_are_general_and_the_same_every_time():
    robot = random_chain(4)
    # Gautier and Khalil: 7 n - 6 base parameters if nothing but the first axis is special
    assert robot.base_parameters().rank == 7 * 4 - 6
    state = np.ones((3, 4))
    np.testing.assert_array_equal(
        robot.inverse_dynamics(*state), random_chain(4).inverse_dynamics(*state)
    )


@pytest.fixture(scope="module")
def series():
    return growth(lambda _: None, sizes=(2, 3, 4), seconds=0.0)


@pytest.mark.slow
def test_costs_grow_with_the_powers_of_the_books(series):
    grown = {one.method: one for one in series if one.quantity == "inverse_dynamics"}
    for name in ("newton_euler", "newton_euler_link", "augmented_body"):
        steps = np.diff(grown[name].operations)
        assert len(set(steps)) == 1  # a n + b
    assert grown["lagrange_euler"].exponent > grown["dalembert"].exponent > 1.5
    for one in grown.values():
        assert one.timed == [2, 3, 4]
        assert all(t > 0 for t in one.seconds)
        assert set(one.data()) >= {"joints", "operations", "timed", "seconds", "exponent"}


def test_a_method_stops_where_it_takes_too_long():
    for one in growth(lambda _: None, sizes=(2, 3), patience=0.0, seconds=0.0):
        assert one.joints == [2]
        assert one.timed in ([], [2])


@pytest.mark.slow
def test_the_growth_is_drawn(series, tmp_path):
    plot_growth(series, tmp_path / "growth.png")
    assert (tmp_path / "growth.png").read_bytes().startswith(b"\x89PNG")


def test_labels_keep_their_order_and_distance():
    heights = [0.1, 0.5, 0.51, 0.52, 0.9]
    moved = _spread(heights)
    assert np.all(np.diff(moved) > GAP - 1e-12)
    assert (moved[0], moved[-1]) == (0.1, 0.9)
    assert np.mean(moved[1:4]) == pytest.approx(0.51)
